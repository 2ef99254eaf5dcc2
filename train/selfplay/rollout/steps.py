"""The compiled loops of a rollout: observe, choose, play on to the next decision.

A *decision* is a turn with at least two legal actions; every other turn is played in passing. B
games, S sides, L live features, W numbers in a row, N live actions.
"""

# mypy: disallow-untyped-defs=False
# Compiled functions take records, which have no static type.
import numpy as np

from fives_env.actions import DRAW, PASS
from fives_env.engine import keys, turns
from fives_env.engine.bits import lowest, popcount
from fives_env.engine.deal import next_leader
from fives_env.engine.features import NUM_FEATURES, write_features
from fives_env.engine.layout import joinable
from fives_env.engine.scoring import side_of
from fives_env.jit import jit, jit_inline, jit_part
from fives_env.records import NOT_OVER, OPTIONAL_DRAW
from fives_env.tiles import NUM_TILES

NOBODY = -1
"""In a seating: the learner sits there. Among actions: none is played."""
_SAMPLING = np.uint64(1 << 44)


@jit_inline
def only_action(params, game):
    """The legal action of the seat to move if there is just one, else -1."""
    hand = game.hands[game.seat]
    number = 0
    action = -1
    for arm in range(4):
        tiles = joinable(game, game.lead_tile, hand, arm)
        if tiles:
            number += popcount(tiles)
            action = arm * NUM_TILES + lowest(tiles)
    if number == 0:
        return DRAW if turns.may_draw(params, game, hand) else PASS
    if number > 1 or (params.draw == OPTIONAL_DRAW and turns.may_draw(params, game, hand)):
        return -1
    return action


@jit_part
def equity(params, game, table, low):
    """How likely side 0 of two wins the match, as far as scores and the next leader say.

    The next leader is known in mid-round where the lead goes round; else both are as likely, until
    the round is over.
    """
    if game.match_over and game.winner >= 0:
        return 1.0 if game.winner == 0 else 0.0
    last = table.shape[1] - 1
    own = min(max(np.int64(game.scores[0]) - low, 0), last)
    other = min(max(np.int64(game.scores[1]) - low, 0), last)
    leader = next_leader(params, game)
    if leader < 0:
        return 0.5 * (np.float64(table[0, own, other]) + np.float64(table[1, own, other]))
    return np.float64(table[1 if side_of(params, leader) == 0 else 0, own, other])


@jit
def equities(params, games, table, low, out):
    """`equity` of each game: float64 [B]."""
    for row in range(len(games)):
        out[row] = equity(params[0], games[row], table, low)


@jit_inline
def act_and_pay(params, game, action, table, low, scale, gains):
    """Plays an action and writes what it brought each side to `gains`: float64 [S].

    Points: the side's gain less the mean gain of the others. With an equity table, of two sides:
    what the chance to win the match has risen by. Both times `scale`.
    """
    if len(table):
        before = equity(params, game, table, low)
        turns.act(params, game, action)
        gains[0] = scale * (equity(params, game, table, low) - before)
        gains[1] = -gains[0]
        return
    turns.act(params, game, action)
    others = np.int64(params.num_sides) - 1
    total = np.int64(game.points)
    for side in range(others + 1):
        total += game.settlement[side]
    mover = side_of(params, game.mover)
    for side in range(others + 1):
        gain = np.int64(game.settlement[side])
        if side == mover:
            gain += game.points
        gains[side] = scale * (gain - (total - gain) / others)


@jit_inline
def scale_at(game, scales, width):
    """What payments of the round that begins are multiplied by: a cell of `scales` [K, K]."""
    last = len(scales) - 1
    own = min(max(np.int64(game.scores[0]) // width, 0), last)
    other = min(max(np.int64(game.scores[1]) // width, 0), last)
    return scales[own, other]


@jit
def scales_at(games, scales, width, out):
    """`scale_at` of each game: float64 [B]."""
    for row in range(len(games)):
        out[row] = scale_at(games[row], scales, width)


@jit
def play_on(
    params, games, script, start, actions, seating, seating_next, table, low, scales, width,
    scale, paid, totals, results, ended, over, waiting,
):  # fmt: skip
    """Plays these actions (-1: none), then on to the next decision of somebody in every game.

    Where a round ends the next one is dealt at once, and the next match where a match ends.

    Args:
        params: PARAMS [1].
        games: GAME [B].
        script: SCRIPT [R].
        start: START [B].
        actions: int64 [B].
        seating: int8 [B, 4], by seat -1 for the learner, else the index of a frozen policy.
        seating_next: int8 [B, 4], the seating of the next match.
        table: Equity, float32 [2, N, N]; [0, 0, 0] for points.
        low: The lowest score in the table.
        scales: float64 [K, K], of the payments of a round, by what both sides had at its start.
        width: So many scores share a scale.
        scale: float64 [B], that of the running round.
        paid: float64 [B, S], to which payments are added until a round ends, none after.
        totals: float64 [B, S], the payments of the running match.
        results: float64 [B, S], of the first match that ends: 1 for the winner and -1 for others,
            or the payments where nobody won.
        ended: bool [B], set where a round ended.
        over: bool [B], set where a match ended.
        waiting: int64 [B], becomes the policy to ask, or -1 where the learner decides.

    Returns:
        How many rows wait for a frozen policy.
    """
    num_waiting = 0
    gains = np.zeros(4)
    sides = np.int64(params[0].num_sides)
    for row in range(len(games)):
        game = games[row]
        action = np.int64(actions[row])
        while True:
            if action < 0:
                action = only_action(params[0], game)
            if action < 0:
                break
            act_and_pay(params[0], game, action, table, low, scale[row], gains)
            action = np.int64(-1)
            for side in range(sides):
                totals[row, side] += gains[side]
                if not ended[row]:
                    paid[row, side] += gains[side]
            if game.round_over == NOT_OVER and not game.match_over:
                continue
            ended[row] = True
            if game.match_over:
                for side in range(sides):
                    if not over[row]:
                        results[row, side] = totals[row, side]
                        if game.winner >= 0:
                            results[row, side] = 1.0 if side == game.winner else -1.0
                    totals[row, side] = 0
                for seat in range(4):
                    seating[row, seat] = seating_next[row, seat]
                over[row] = True
                turns.start_next_match(params[0], game, script, start[row])
            else:
                turns.start_round(params[0], game, script)
            scale[row] = scale_at(game, scales, width)
        waiting[row] = seating[row, game.seat]
        num_waiting += waiting[row] >= 0
    return num_waiting


@jit
def observe(params, games, views, advice, columns, scale, actions, scratch, rows, legal, seats):
    """What the seat to move sees, and for the critic the other hands, clockwise.

    Args:
        params: PARAMS [1].
        games: GAME [B].
        views: VIEW [B], of the seats to move.
        advice: float32 [B, 114], or [0, 114] where none is taken.
        columns: int64 [L], the live features.
        scale: float32 [L].
        actions: int64 [N], the live actions.
        scratch: (float32 [F + 114], bool [114]).
        rows: float32 [B, W], filled.
        legal: bool [B, N], filled.
        seats: int64 [B], the seat to move, filled.
    """
    features, mask = scratch
    players = np.int64(params[0].num_players)
    live = len(columns)
    for row in range(len(games)):
        game = games[row]
        out = rows[row]
        write_features(views[row], features[:NUM_FEATURES])
        for index in range(len(mask) if len(advice) else 0):
            features[NUM_FEATURES + index] = advice[row, index]
        for index in range(live):
            out[index] = features[columns[index]] * scale[index]
        out[live:] = 0
        for offset in range(1, players):
            tiles = np.int64(game.hands[(np.int64(game.seat) + offset) % players])
            while tiles:
                out[live + (offset - 1) * NUM_TILES + lowest(tiles)] = 1
                tiles &= tiles - 1
        turns.write_mask(params[0], game, game.lead_tile, game.hands[game.seat], mask)
        for index in range(len(actions)):
            legal[row, index] = mask[actions[index]]
        seats[row] = game.seat


@jit
def choose(games, logits, legal, chosen, log_chances):
    """Draws one legal action a row by its chance; the draw is a function of the game alone.

    Args:
        games: GAME [B].
        logits: float32 [B, N].
        legal: bool [B, N].
        chosen: int64 [B], becomes the index of the action among the live ones.
        log_chances: float32 [B], becomes the logarithm of its chance.
    """
    for row in range(len(games)):
        best = -1
        for action in range(logits.shape[1]):
            if legal[row, action] and (best < 0 or logits[row, action] > logits[row, best]):
                best = action
        top = np.float64(logits[row, best])
        total = 0.0
        for action in range(logits.shape[1]):
            if legal[row, action]:
                total += np.exp(np.float64(logits[row, action]) - top)
        number = keys.mix(keys.turn_key(games[row]), _SAMPLING)
        left = total * np.float64(number >> np.uint64(11)) / 9007199254740992.0
        pick = best
        for action in range(logits.shape[1]):
            if legal[row, action]:
                left -= np.exp(np.float64(logits[row, action]) - top)
                if left < 0:
                    pick = action
                    break
        chosen[row] = pick
        log_chances[row] = np.float64(logits[row, pick]) - top - np.log(total)
