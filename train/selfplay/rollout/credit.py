"""Credit: what each decision is worth more than expected (docs/credit.md draws the picture)."""

# mypy: disallow-untyped-defs=False
# Compiled functions take records, which have no static type.
import numpy as np

from fives_env.jit import jit


@jit
def credit_by_side(rewards, ended, values, seats, decay, advantages, targets):
    """Advantages and value targets over the decisions of a game, whoever makes them.

    Every decision has a value for every side, from the critic, and every reward counts for every
    side. So a seat's decision is followed by the next decision of anybody, whose values stand for
    the rest: of two sides this is the zero-sum form, the value of the next decision with its sign.

    Args:
        rewards: float64 [T, B, S], what each side was paid from a decision to the next one.
        ended: bool [T, B], whether the round ended in between.
        values: float32 [T + 1, B, S], by side counted from the one that decides.
        seats: int64 [T + 1, B], the seat that decides; it plays for side ``seat % S``.
        decay: The lambda of generalised advantage estimation, a decision.
        advantages: float32 [T, B], filled: of the side that decides.
        targets: float32 [T, B, S], filled: of `values`.
    """
    num_steps, num_games, num_sides = rewards.shape
    for game in range(num_games):
        for side in range(num_sides):
            carried = 0.0
            for step in range(num_steps - 1, -1, -1):
                own = (side - seats[step, game]) % num_sides
                value = values[step, game, own]
                later = 0.0
                if not ended[step, game]:
                    following = (side - seats[step + 1, game]) % num_sides
                    later = values[step + 1, game, following] + decay * carried
                carried = rewards[step, game, side] + later - value
                targets[step, game, own] = value + carried
                if own == 0:
                    advantages[step, game] = carried


@jit
def credit_by_seat(rewards, ended, values, seats, decay, advantages, targets):
    """The same over the decisions of each seat alone, as if the others were part of the game.

    A decision collects everything that reaches its seat's side until that seat decides again. Where
    the rollout stops in between, the values of its last row stand for the rest. Of the other sides
    nothing is learned beyond that values sum to 0.

    Args:
        rewards: As above, like all others.
        ended: See above.
        values: See above.
        seats: See above.
        decay: A decision of the same seat.
        advantages: Filled.
        targets: Filled.
    """
    num_steps, num_games, num_sides = rewards.shape
    later = np.zeros(4)  # by seat: the value of its next decision, what that one carries back,
    carried = np.zeros(4)  # and what is paid until then
    paid = np.zeros(4)
    for game in range(num_games):
        for seat in range(4):
            later[seat] = values[num_steps, game, (seat - seats[num_steps, game]) % num_sides]
            carried[seat] = 0
            paid[seat] = 0
        for step in range(num_steps - 1, -1, -1):
            for seat in range(4):
                if ended[step, game]:
                    later[seat] = 0
                    carried[seat] = 0
                    paid[seat] = 0
                paid[seat] += rewards[step, game, seat % num_sides]
            seat = seats[step, game]
            value = values[step, game, 0]
            advantage = paid[seat] + later[seat] + decay * carried[seat] - value
            advantages[step, game] = advantage
            targets[step, game, 0] = value + advantage
            for other in range(1, num_sides):
                share = advantage / (num_sides - 1)
                targets[step, game, other] = values[step, game, other] - share
            later[seat] = value
            carried[seat] = advantage
            paid[seat] = 0
