"""B37: what a seat is shown does not depend on anything that it cannot know, in any phase.

Every test plays games beside their paired states, in which all that a seat cannot see is dealt
anew: other hands, the boneyard, its order, the random stream (material.shuffle_hidden).
"""

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

import fives_env
from fives_env import BuiltIn, Games, encode
from fives_env.actions import DRAW
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from fives_env.records import BLOCKED, OUT
from fives_env.rendering.text import render_text
from tests.core.material import (
    ALL,
    Array,
    play_randomly,
    played_on,
    restart,
    seats_of,
    seeded_from,
    shuffle_hidden,
    tile_bits,
)


def shown(games: Games, viewers: Array) -> tuple[Array, Array, Array]:
    """Everything a seat is shown: its views, its features, its masks where it is to move."""
    views = games.view(seat=viewers)
    masks = games.action_mask()
    masks[games.data["seat"] != viewers] = False
    return views, encode(views), masks


def assert_shown_alike(
    games: Games, paired: Games, viewers: Array, rows: Any = slice(None)
) -> None:
    for one, two in zip(shown(games, viewers), shown(paired, viewers), strict=True):
        assert one[rows].tobytes() == two[rows].tobytes()


def assert_rendered_alike(games: Games, paired: Games, viewers: Array, row: int) -> None:
    texts = [render_text(g[row].view(seat=int(viewers[row]))[0]) for g in (games, paired)]
    assert texts[0] == texts[1]


def phases(games: Games) -> dict[str, Array]:
    """Which rows are in which phase."""
    data, four = games.data, games.rules.players == 4
    last = data["moves"][np.arange(len(data)), np.maximum(data["num_moves"].astype(int) - 1, 0), 1]
    goes_on = (data["match_over"] == 0) & (data["num_moves"] > 0)
    return {
        "before the lead": (data["played"] == 0) & (data["num_moves"] == 0),
        "in a draw chain": goes_on & (last == DRAW),
        "after a knock": goes_on & (last == DRAW + 1),
        "a partner is out": goes_on & (data["hand_sizes"] == 0).any(axis=1) & four,
        "next round, after going out": (data["match_over"] == 0) & (data["round_over"] == OUT),
        "next round, after a block": (data["match_over"] == 0) & (data["round_over"] == BLOCKED),
        "match won": (data["match_over"] == 1) & (data["winner"] >= 0),
        "truncated": data["truncated"] == 1,
    }


def pairs_of_games(spec: str) -> Iterator[tuple[int, Games, Games, Array]]:
    """Games as they are played on, others that differ in hidden tiles alone, and who looks."""
    for number, (games, rng) in enumerate(played_on(spec, 48, 90)):
        viewers = seats_of(games, rng)
        yield number, games, shuffle_hidden(games, viewers, rng), viewers


@pytest.mark.parametrize("spec", ALL)
def test_B37_view_features_mask_and_rendering_do_not_depend_on_hidden_tiles(spec: str) -> None:
    seen = set[str]()
    for number, games, paired, viewers in pairs_of_games(spec):
        others = np.arange(4) != viewers[:, None]
        if number == 0 and games.rules.max_pip == 6:
            assert (games.data["hands"] != paired.data["hands"])[others].any(), "nothing was moved"
        assert_shown_alike(games, paired, viewers)
        for phase, rows in phases(games).items():
            if rows.any() and (number < 12 or phase not in seen):
                seen.add(phase)
                assert_rendered_alike(games, paired, viewers, int(np.argmax(rows)))


def test_B37_every_phase_is_seen_there() -> None:
    seen: dict[str, set[str]] = {}
    for spec in ALL:
        for _, games, _, _ in pairs_of_games(spec):
            for phase, rows in phases(games).items():
                if rows.any():
                    seen.setdefault(phase, set()).add(spec)
    assert set(seen) == set(phases(seeded_from(ALL[0], 1)))
    assert any("partners=yes" in spec for spec in seen["a partner is out"])
    assert all("all-fives" not in spec for spec in seen["a partner is out"])
    assert {"optional" in spec for spec in seen["in a draw chain"]} == {True, False}


@pytest.mark.parametrize("spec", ALL)
def test_B37_what_an_own_placement_leads_to_does_not_depend_on_hidden_tiles(spec: str) -> None:
    """The seat that placed sees the same afterwards, unless hidden tiles end the round."""
    for games, rng in played_on(spec, 48, 30):
        restart(games)
        viewers = games.data["seat"].astype(np.int64)
        paired, after = shuffle_hidden(games, viewers, rng), games.clone()
        actions = play_randomly(after, rng)[1]
        paired.step(actions)
        ended = (after.data["round_over"] > 0) | (paired.data["round_over"] > 0)
        assert_shown_alike(after, paired, viewers, (actions < DRAW) & ~ended)


@pytest.mark.parametrize("spec", [spec for spec in ALL if "highest-double" in spec])
def test_B37_highest_double_lead_tells_who_leads_and_nothing_of_the_tile(spec: str) -> None:
    """T11, D4: who holds it is public (that seat is to move); which tile it is, its owner knows."""
    games = seeded_from(spec, 300)
    leaders = games.data["leader"].astype(np.int64)
    assert (games.data["seat"] == leaders).all()
    own = games.view(seat=leaders)
    assert (own["lead_tile"] == games.data["lead_tile"]).all()
    assert (own["lead_tile"] < 28).all()
    for offset in range(1, games.rules.players):
        assert (games.view(seat=(leaders + offset) % games.rules.players)["lead_tile"] == 28).all()
    placeable = encode(own)[:, fives_env.engine.features.FEATURES["placeable"]]
    assert (placeable.sum(axis=1) == 1).all()


def test_B37_a_view_carries_no_hidden_field() -> None:
    view = Games("all-fives").view()
    assert not {"hands", "deck", "key", "next_draw"} & set(view.dtype.names or ())


@pytest.mark.parametrize("name", ["random", "greedy"])
@pytest.mark.parametrize("spec", ALL)
def test_B37_built_in_policies_choose_alike_in_paired_states(spec: str, name: str) -> None:
    """Both as `act` and inside a rollout, which runs on the games themselves."""
    for games, rng in played_on(spec, 40, 30):
        restart(games)
        viewers = games.data["seat"].astype(np.int64)
        paired = shuffle_hidden(games, viewers, rng)
        keys = rng.integers(0, 2**64, 40, dtype=np.uint64)
        actions = [
            BuiltIn(name).act(g.view(), g.action_mask(), keys).tolist() for g in (games, paired)
        ]
        assert actions[0] == actions[1]
        rollouts = games.clone(), paired
        at = games.data["num_moves"].astype(int)
        for batch in rollouts:
            batch.rollout(1, name, seed=9)
        chosen = [batch.data["moves"][np.arange(40), at] for batch in rollouts]
        in_play = [batch.data["round_over"] == 0 for batch in rollouts]
        both = in_play[0] & in_play[1]
        assert (chosen[0][both] == chosen[1][both]).all()


def set_games(env: Any, games: Games) -> None:
    """Puts other records under an env."""
    inner = env.unwrapped
    (inner.games if hasattr(inner, "games") else inner._tables.games).data[:] = games.data


AEC_SPECS = [
    "fives-and-threes:players=4,mode=round",
    "threes-and-fives:players=3,max_rounds=1",
    "all-fives:players=2,draw=optional,max_rounds=2",
    "threes-and-fives:players=2,lead=highest-double,mode=round",
    "all-fives:players=4,partners=no,target=30",
]


@pytest.mark.parametrize("spec", AEC_SPECS)
def test_B37_aec_shows_no_hidden_tile_to_the_last_dead_step(spec: str) -> None:
    env = fives_env.env(rules=spec, render_mode="ansi", reward="points")
    rng = np.random.default_rng(1)
    for seed in range(2):
        env.reset(seed=seed)
        while env.agents:
            for agent in env.agents:
                seat = int(agent[-1])
                other = copy.deepcopy(env)
                set_games(other, shuffle_hidden(env.unwrapped.games, np.array([seat]), rng))
                one, two = env.observe(agent), other.observe(agent)
                assert one["observation"].tobytes() == two["observation"].tobytes()
                assert one["action_mask"].tobytes() == two["action_mask"].tobytes()
                assert one["action_mask"].any() == (
                    agent == env.agent_selection
                    and not env.terminations[agent]
                    and not env.truncations[agent]
                )
                if agent == env.agent_selection:
                    assert env.render() == other.render()
            agent = env.agent_selection
            observation, _, *ends, _ = env.last()
            legal = np.flatnonzero(observation["action_mask"])
            env.step(None if any(ends) else rng.choice(legal))


@pytest.mark.parametrize("spec", AEC_SPECS)
def test_B37_aec_infos_after_a_step_do_not_depend_on_hidden_tiles(spec: str) -> None:
    """A placement that ends no round publishes the same in both of a pair of states."""
    rng, compared = np.random.default_rng(1), 0
    env = fives_env.raw_env(rules=spec)
    for seed in range(5):
        env.reset(seed=seed)
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            agent = env.agent_selection
            seat = int(agent[-1])
            other = copy.deepcopy(env)
            set_games(other, shuffle_hidden(env.games, np.array([seat]), rng))
            action = rng.choice(np.flatnonzero(env.observe(agent)["action_mask"]))
            env.step(action)
            other.step(action)
            ended = env.games.data["round_over"][0] or other.games.data["round_over"][0]
            if action < DRAW and not ended:
                compared += 1
                assert env.infos == other.infos
                assert env.rewards == other.rewards
                assert env.agent_selection == other.agent_selection
    assert compared > 20


FORFEITING = {
    "env": fives_env.env,
    "flat env": lambda **given: fives_env.env(observe="flat", **given),
    "raw_env under PettingZoo's own": lambda **given: TerminateIllegalWrapper(
        fives_env.raw_env(**given), illegal_reward=-1
    ),
    "flat raw_env under PettingZoo's own": lambda **given: TerminateIllegalWrapper(
        fives_env.raw_env(observe="flat", **given), illegal_reward=-1
    ),
}


def seen_by(env: Any, agent: str) -> list[Any]:
    """Everything that an AEC env shows `agent`, as bytes and text; and its mask."""
    observation, info = env.observe(agent), dict(env.infos[agent])
    last = env.last() if agent == env.agent_selection else ()
    text = env.render() if agent == env.agent_selection else ""
    mask = info["action_mask"] if "action_mask" in info else observation["action_mask"]
    public = str((info, last, env.rewards, env.terminations, env.truncations))
    return [pickle.dumps(observation), public, text, mask.any()]


@pytest.mark.parametrize(
    ("spec", "kind"),
    [(spec, "env") for spec in ALL] + [(s, kind) for s in AEC_SPECS for kind in FORFEITING],
)
def test_X42_after_a_forfeit_no_seat_is_shown_hidden_tiles(spec: str, kind: str) -> None:
    """Whoever forfeits and whoever looks, to the last dead step; and no mask is left."""
    env, rng = FORFEITING[kind](rules=spec, render_mode="ansi"), np.random.default_rng(1)
    for seed, moves in ((1, 0), (2, 6)):
        for viewer in env.possible_agents:
            env.reset(seed=seed)
            for _ in range(moves):
                if not any(env.terminations.values()) and not any(env.truncations.values()):
                    env.step(int(rng.choice(np.flatnonzero(env.unwrapped.games.action_mask()[0]))))
            if any(env.terminations.values()) or any(env.truncations.values()):
                continue
            other, seat = copy.deepcopy(env), int(viewer[-1])
            set_games(other, shuffle_hidden(env.unwrapped.games, np.array([seat]), rng))
            legal = env.unwrapped.games.action_mask()[0] | other.unwrapped.games.action_mask()[0]
            action = int(rng.choice(np.flatnonzero(~legal)))
            env.step(action)
            other.step(action)
            assert all(env.terminations.values())
            while env.agents:
                assert env.agent_selection == other.agent_selection
                if viewer in env.agents:
                    one, two = seen_by(env, viewer), seen_by(other, viewer)
                    assert one == two
                    assert not one[-1]
                env.step(None)
                other.step(None)


def looked(env: Any) -> tuple[Any, ...]:
    """What a Gymnasium env shows now: observation, mask, info, rendering."""
    if isinstance(env, FivesEnv):
        observation, info = env._observe()
    else:
        observation, masks = env._tables.observe()
        info = env._info(masks)
    return observation.tobytes(), str(sorted(info.items(), key=str)), str(env.render())


@pytest.mark.parametrize("spec", AEC_SPECS)
@pytest.mark.parametrize("kind", [FivesEnv, FivesVectorEnv])
def test_B37_gymnasium_envs_show_no_hidden_tile(kind: Any, spec: str) -> None:
    many = {} if kind is FivesEnv else {"num_envs": 3}
    env = kind(rules=spec, seat="random", opponent="random", render_mode="ansi", **many)
    rng = np.random.default_rng(1)
    env.reset(seed=4)
    for _ in range(25):
        tables = env._tables
        other = copy.deepcopy(env)
        set_games(other, shuffle_hidden(tables.games, tables.seats.astype(np.int64), rng))
        assert looked(env) == looked(other)
        masks = np.atleast_2d(env.action_masks())
        if not masks.any():
            env.reset()
            continue
        actions = [rng.choice(np.flatnonzero(mask)) for mask in masks]
        env.step(actions[0] if kind is FivesEnv else np.array(actions))


@pytest.mark.parametrize("spec", ALL)
@pytest.mark.parametrize("kind", [FivesEnv, FivesVectorEnv])
def test_X42_gymnasium_envs_show_no_hidden_tile_after_a_forfeit(kind: Any, spec: str) -> None:
    many = {} if kind is FivesEnv else {"num_envs": 3, "autoreset_mode": "Disabled"}
    env = kind(rules=spec, opponent="random", illegal="lose", render_mode="ansi", **many)
    rng = np.random.default_rng(1)
    for seed, moves in ((1, 0), (2, 2), (3, 5)):
        env.reset(seed=seed)
        tables = env._tables
        for _ in range(moves):
            if (tables.games.data["match_over"] == 0).all():
                actions = env.action_space.sample()
                env.step(actions)
        if tables.games.data["match_over"].any():
            continue
        other = copy.deepcopy(env)
        set_games(other, shuffle_hidden(tables.games, tables.seats.astype(np.int64), rng))
        masks = np.atleast_2d(env.action_masks())
        actions = (rng.random(masks.shape) * ~masks).argmax(axis=1)
        steps = [e.step(actions[0] if kind is FivesEnv else actions) for e in (env, other)]
        assert str(steps[0]) == str(steps[1])
        assert looked(env) == looked(other)
        assert not env.action_masks().any()
        assert not steps[0][-1]["action_mask"].any()


def test_B37_a_paired_state_is_a_game() -> None:
    """The pairs of these tests keep the set, the hand sizes and what the viewer holds."""
    for spec in ALL:
        for games, rng in played_on(spec, 8, 20):
            viewers = seats_of(games, rng)
            paired = shuffle_hidden(games, viewers, rng)
            data, rules, rows = paired.data, games.rules, np.arange(8)
            assert (data["hands"][rows, viewers] == games.data["hands"][rows, viewers]).all()
            assert (tile_bits(data["hands"]).sum(axis=2) == data["hand_sizes"]).all()
            for row in rows:
                rest = data["deck"][row, int(data["next_draw"][row]) : rules.num_tiles]
                held = [np.flatnonzero(bits) for bits in tile_bits(data["hands"][row])]
                table = np.flatnonzero(tile_bits(data["played"][row]))
                everywhere = np.concatenate([rest, table, *held])
                assert len(everywhere) == len(set(everywhere.tolist())) == rules.num_tiles
                assert sorted(data["deck"][row, : rules.num_tiles]) == sorted(everywhere)
