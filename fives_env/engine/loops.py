"""The loops that map the engine over a batch: the compiled functions that Python calls.

``params`` is PARAMS [1], ``games`` GAME [B], ``script`` SCRIPT [R], ``start`` START [B].
"""

import numpy as np

from fives_env.engine import belief, choose, keys, turns
from fives_env.engine.features import write_features
from fives_env.engine.rewards import add_rewards
from fives_env.engine.view import write_view
from fives_env.jit import jit, jit_part
from fives_env.records import COUNTS

NOBODY, NO_ROOM = -1, -2
"""In `waiting`, instead of the policy to ask: the match is over, or it is a seat of the caller's;
the record is full."""


@jit
def keys_of_rows(seed, num_rows):
    """The streams of rows 0, 1, ... under one seed: uint64 [num_rows]."""
    row_keys = np.empty(num_rows, np.uint64)
    for row in range(num_rows):
        row_keys[row] = keys.row_key(seed, row)
    return row_keys


@jit
def keys_of_seeds(seeds):
    """The stream of row 0 under each seed: uint64 [B]."""
    row_keys = np.empty(len(seeds), np.uint64)
    for row in range(len(seeds)):
        row_keys[row] = keys.row_key(seeds[row], 0)
    return row_keys


@jit
def start_matches(params, games, script, start, row_keys):
    """Starts a match in every row on its stream."""
    for row in range(len(games)):
        turns.start_match(params[0], games[row], script, start[row], row_keys[row])


@jit
def start_next_matches(params, games, script, start, rows):
    """Starts the next match in the chosen rows (bool [B])."""
    for row in range(len(games)):
        if rows[row]:
            turns.start_next_match(params[0], games[row], script, start[row])


@jit
def write_masks(params, games, masks):
    """The legal actions of the seat to move: bool [B, 114]; none once the match is over."""
    for row in range(len(games)):
        game = games[row]
        if game.match_over:
            masks[row, :] = False
        else:
            turns.write_mask(params[0], game, game.lead_tile, game.hands[game.seat], masks[row])


@jit
def write_views(params, games, viewers, views):
    """What seat `viewers[row]` may know in each row."""
    for row in range(len(games)):
        write_view(params[0], games[row], viewers[row], views[row])


@jit
def first_illegal(params, games, actions, every):
    """The first row whose action is not legal (-1 is, unless in `every` game); -1 for none."""
    for row in range(len(games)):
        if actions[row] == -1 and not every:
            continue
        if not turns.is_legal(params[0], games[row], actions[row]):
            return row
    return -1


@jit
def step(params, games, script, actions, every):
    """Plays the actions if all are legal; else plays none and returns the first row at fault."""
    row = first_illegal(params, games, actions, every)
    if row >= 0:
        return row
    for row in range(len(games)):
        if actions[row] >= 0:
            turns.act(params[0], games[row], actions[row])
            if turns.goes_on(games[row]):
                turns.start_round(params[0], games[row], script)
    return -1


@jit
def rollout(params, games, script, start, row_keys, kind, num_steps):
    """Plays `num_steps` actions in every row, new matches included; COUNTS [1]."""
    counts = np.zeros(1, COUNTS)
    for row in range(len(games)):
        _play(params[0], games[row], script, start[row], row_keys[row], kind, num_steps, counts[0])
    return counts


@jit_part
def _play(params, game, script, start, key, kind, num_steps, counts):
    for number in range(num_steps):
        if game.match_over:
            turns.start_next_match(params, game, script, start)
        hand = game.hands[game.seat]
        # The chooser mixes its key, so consecutive ones will do.
        action = choose.choose(kind, params, game, game.lead_tile, hand, key + np.uint64(number))
        turns.act(params, game, action)
        if turns.goes_on(game):
            turns.start_round(params, game, script)
        if game.round_over:
            counts.rounds += 1
        if game.match_over:
            counts.matches += 1
            if game.winner >= 0:
                counts.wins[game.winner] += 1
    counts.steps += num_steps


@jit
def play_on(
    params, games, script, actions, kinds, seating, reward, rewards, records, lengths, waiting
):
    """Plays `actions`, then lets built-in policies play on until somebody else is to be asked.

    Args:
        params: PARAMS [1].
        games: GAME [B].
        script: SCRIPT [R].
        actions: int64 [B], legal ones; -1: none.
        kinds: int64 [P + 1], for each policy which built-in one it is, or -1; the last is -1.
        seating: int8 [B, 4], the policy at each seat, or -1.
        reward: The kind of reward.
        rewards: float64 [B, 4], to which every seat's are added; [0, 4] where none are paid.
        records: uint8 [B, R], to which all actions are written; [0, 0] where none are.
        lengths: int64 [B], how many are written.
        waiting: int64 [B], becomes the policy to ask, `NOBODY`, or `NO_ROOM` in the record.

    Returns:
        In how many rows somebody is to be asked, or room to be made.
    """
    num_waiting = 0
    for row in range(len(games)):
        game = games[row]
        waiting[row] = NOBODY
        action = actions[row]
        while True:
            if action < 0:
                if game.match_over:
                    break
                if len(records) and lengths[row] == records.shape[1]:
                    waiting[row] = NO_ROOM
                    break
                policy = seating[row, game.seat]
                kind = kinds[policy]
                if kind < 0:
                    waiting[row] = policy
                    break
                hand, key = game.hands[game.seat], keys.turn_key(game)
                action = choose.choose(kind, params[0], game, game.lead_tile, hand, key)
            turns.act(params[0], game, action)
            if turns.goes_on(game):
                turns.start_round(params[0], game, script)
            if len(rewards):
                add_rewards(params[0], game, reward, rewards[row])
            if len(records):
                records[row, lengths[row]] = action
                lengths[row] += 1
            action = np.int64(-1)
        num_waiting += waiting[row] != NOBODY
    return num_waiting


@jit
def show(params, games, rows, matches, salt, by_salt, views, masks, row_keys):
    """What the seats to move in `rows` may know, may do, and have as keys, side by side.

    `matches`, uint64 [B], are the numbers that keys know matches by, under the `salt`, uint64 [2];
    not `by_salt`, the key is the engine's own.
    """
    for out in range(len(rows)):
        row = rows[out]
        game = games[row]
        write_view(params[0], game, game.seat, views[out])
        turns.write_mask(params[0], game, game.lead_tile, game.hands[game.seat], masks[out])
        key = keys.policy_key(salt, matches[row], game) if by_salt else keys.turn_key(game)
        row_keys[out] = key


@jit
def all_legal(params, games, rows, actions):
    """Whether each action (int64 [N]) is legal in the game of its row (int64 [N])."""
    legal = True
    for at in range(len(rows)):
        legal = legal and turns.is_legal(params[0], games[rows[at]], actions[at])
    return legal


@jit
def pay(params, games, rewards, reward):
    """Adds what the last action of each game paid to `rewards`, float64 [B, 4]."""
    for row in range(len(games)):
        add_rewards(params[0], games[row], reward, rewards[row])


@jit
def turn_keys(games, salt, by_salt, row_keys):
    """The randomness of whoever acts next in each row: a policy's key, or the engine's own."""
    for row in range(len(games)):
        game = games[row]
        row_keys[row] = keys.policy_key(salt, game.key, game) if by_salt else keys.turn_key(game)


@jit
def choose_actions(kind, views, row_keys, actions):
    """The actions of a built-in policy on views: int64 [B]."""
    for row in range(len(views)):
        view = views[row]
        actions[row] = choose.choose(
            kind, view.rules, view, view.lead_tile, view.hand, row_keys[row]
        )


@jit
def encode(views, features):
    """The feature vector of each view."""
    for row in range(len(views)):
        write_features(views[row], features[row])


@jit
def sample_worlds(views, row_keys, scratch, games):
    """Fills GAME [B, W], working in KNOWN [1]; returns the first row with no deal, or -1."""
    known = scratch[0]
    for row in range(len(views)):
        view = views[row]
        belief.look(view, known)
        ways = belief.count_ways(known)
        if belief.num_ways(known, ways) == 0:
            return row
        for world in range(games.shape[1]):
            key = keys.mix(row_keys[row], world)
            boneyard = belief.draw_hands(known, ways, key)
            belief.write_world(view, known, boneyard, key, games[row, world])
    return -1


@jit
def draw_seats(games, rows, players, seats):
    """The learner's seat for each chosen row, drawn anew for each match."""
    for row in range(len(games)):
        if rows[row]:
            seats[row] = keys.below(keys.mix(games[row].key, keys.LEARNER_SEAT), players)


@jit
def look(params, games, rows, viewers, scratch, features, masks):
    """Features and legal actions as `viewers[row]` sees them, for the given rows only.

    `scratch` is VIEW [1], to work in.
    """
    view = scratch[0]
    for out in range(len(rows)):
        row = rows[out]
        game = games[row]
        write_view(params[0], game, viewers[row], view)
        write_features(view, features[out])
        if not game.match_over:
            turns.write_mask(params[0], game, game.lead_tile, game.hands[game.seat], masks[out])


@jit
def facts(games):
    """Public facts of the first game, as a tuple of ints that Python unpacks quickly."""
    game = games[0]
    scores = game.scores
    return (
        np.int64(game.seat),
        np.int64(game.match_over),
        np.int64(game.truncated),
        np.int64(game.round),
        np.int64(game.leader),
        np.int64(game.winner),
        np.int64(scores[0]),
        np.int64(scores[1]),
        np.int64(scores[2]),
        np.int64(scores[3]),
    )
