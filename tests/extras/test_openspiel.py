"""Our games in OpenSpiel: they pass its own test, and its solvers agree with ours."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")
from open_spiel.python import policy as policies  # noqa: E402
from open_spiel.python.algorithms import exploitability, ismcts, mcts  # noqa: E402

from eval.exact.game import SmallGame, build  # noqa: E402
from eval.exact.policies import probabilities, tabulate  # noqa: E402
from eval.openspiel.equilibrium import equilibrium, gambit_text, load_game  # noqa: E402
from fives_env.actions import NUM_ACTIONS  # noqa: E402
from fives_env.encoding import encode  # noqa: E402
from fives_env.engine import loops  # noqa: E402
from fives_env.policies import BuiltIn  # noqa: E402
from fives_env.rules import PRESETS, Rules  # noqa: E402
from tests.core.material import assert_uniform  # noqa: E402

NO_DRAWS = "fives-and-threes:max_pip=2,deal=2,mode=round"
DRAWS = "all-fives:max_pip=2,deal=2,mode=round"
ROUNDS = [
    f"{preset}:players={players},mode=round{extra}"
    for preset in PRESETS
    for players in (2, 3, 4)
    for extra in ("", ",partners=yes", ",partners=no")
    if players == 4 or not extra
]
MATCHES = [
    "fives-and-threes:target=20",
    "threes-and-fives:target=80,lead=highest-double,draw=optional,reserve=yes",
    "all-fives:players=4,target=15,target_check=round-end",
]


@pytest.mark.parametrize("rules", ROUNDS + MATCHES)
def test_random_sim_test(rules: str) -> None:
    for reward in ("points", "outcome"):
        game = load_game(rules, reward)
        pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("rules", [*ROUNDS, *MATCHES, NO_DRAWS])
def test_name_loads_the_same_game(rules: str) -> None:
    game = load_game(rules)
    again = pyspiel.load_game(str(game))
    assert str(again) == str(game)
    assert again.num_players() == Rules.from_spec(rules).players


def random_state(game: Any, rng: np.random.Generator, steps: int) -> Any:
    state = game.new_initial_state()
    while steps and not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=chances)))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
            steps -= 1
    return state


def test_returns_are_our_scores() -> None:
    rng = np.random.default_rng(5)
    game = load_game("all-fives:mode=round")
    for _ in range(20):
        state = random_state(game, rng, 1000)
        first, second = state.data["scores"][0, :2].tolist()
        assert state.returns() == [first - second, second - first]


def test_copies_share_nothing() -> None:
    rng = np.random.default_rng(6)
    state = random_state(load_game("threes-and-fives"), rng, 4)
    before, record = str(state), state.data.tobytes()
    copy = state.clone()
    assert (str(copy), copy.data.tobytes()) == (before, record)
    while not copy.is_terminal() and copy.rounds < 3:
        outcomes = copy.legal_actions()
        copy.apply_action(int(rng.choice(outcomes)))
    assert (str(state), state.data.tobytes()) == (before, record)


def test_observation_is_that_of_our_envs() -> None:
    state = random_state(load_game("all-fives:players=3"), np.random.default_rng(7), 6)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    seat = state.current_player()
    features = encode(state.view(seat))[0]
    assert state.observation_tensor(seat) == pytest.approx(features.tolist())
    assert state.information_state_tensor(seat)[: len(features)] == pytest.approx(features.tolist())
    assert "your hand" in state.observation_string(seat)


def test_hidden_tiles_do_not_show() -> None:
    game = load_game(NO_DRAWS)
    states = []
    for theirs in ((2, 7), (8, 13)):
        state = game.new_initial_state()
        for outcome in (0, 0, 1, *theirs):  # seat 0 leads with 0|0 and 0|1
            state.apply_action(outcome)
        states.append(state)
    one, other = states
    assert one.information_state_string(0) == other.information_state_string(0)
    assert one.information_state_tensor(0) == other.information_state_tensor(0)
    assert one.observation_string(0) == other.observation_string(0)
    assert one.observation_tensor(0) == other.observation_tensor(0)
    assert one.information_state_string(1) != other.information_state_string(1)
    assert one.information_state_tensor(1) != other.information_state_tensor(1)


def test_hands_are_dealt_evenly() -> None:
    """The chances on the way to each deal multiply to one over the number of deals."""
    game, found = load_game(NO_DRAWS), {}

    def walk(state: Any, chance: float) -> None:
        if not state.is_chance_node():
            found[str(state)] = chance
            return
        for outcome, part in state.chance_outcomes():
            walk(state.child(outcome), chance * part)

    walk(game.new_initial_state(), 1.0)
    assert len(found) == 180
    assert list(found.values()) == pytest.approx([1 / 180] * 180)


class OurPolicy(policies.Policy):
    """An agent of ours, asked in OpenSpiel's states."""

    def __init__(self, game: Any, agent: BuiltIn) -> None:
        super().__init__(game, list(range(game.num_players())))
        self.agent = agent

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        view = state.view(state.current_player())
        mask = np.zeros((1, NUM_ACTIONS), np.bool_)
        loops.write_masks(state.params, state.data, mask)
        chances = probabilities(self.agent, view, mask, 16, 0)[0]
        return {action: chances[action] for action in state.legal_actions()}


@pytest.mark.parametrize(
    ("rules", "agent"), [(NO_DRAWS, "random"), (NO_DRAWS, "greedy"), (DRAWS, "greedy")]
)
def test_openspiel_finds_the_same_exploitability(rules: str, agent: str) -> None:
    """Its own walk of its own states, and its own best response."""
    theirs = load_game(rules)
    ours = build(Rules.from_spec(rules))
    policy = OurPolicy(theirs, BuiltIn(agent))
    found = exploitability.nash_conv(theirs, policy)
    assert found > 0.1
    expected = 2 * ours.exploitability(tabulate(ours, BuiltIn(agent), 16, 0))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.fixture(scope="module", params=[NO_DRAWS, DRAWS])
def solved(request: pytest.FixtureRequest) -> tuple[SmallGame, Any]:
    game = build(Rules.from_spec(request.param))
    return game, equilibrium(game, 60, lambda iteration: None)


def test_equilibrium_is_hardly_exploitable(solved: tuple[SmallGame, Any]) -> None:
    game, policy = solved
    assert np.bincount(game.info_of_action, policy) == pytest.approx(1)
    assert 0 <= game.exploitability(policy) < 0.01 * game.exploitability(game.uniform())
    assert game.versus(policy, game.uniform()) > 0.1
    greedy = tabulate(game, BuiltIn("greedy"), 16, 0)
    assert game.versus(greedy, policy) < game.exploitability(policy)


def test_equilibrium_on_the_adapter_is_the_same() -> None:
    """CFR+ on OpenSpiel's own walk of our game and on our tree go through the same policies."""
    game = build(Rules.from_spec(NO_DRAWS))
    theirs = pyspiel.convert_to_cached_tree(load_game(game.rules))
    solver = pyspiel.CFRPlusSolver(theirs)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    found = pyspiel.nash_conv(theirs, solver.average_policy())
    ours = game.exploitability(equilibrium(game, 20, lambda iteration: None))
    assert found / 2 == pytest.approx(ours, abs=1e-9)


def test_tree_in_gambits_format(solved: tuple[SmallGame, Any]) -> None:
    game, _ = solved
    theirs = pyspiel.load_efg_game(gambit_text(game))
    uniform = pyspiel.UniformRandomPolicy(theirs)
    found = pyspiel.nash_conv(theirs, uniform)
    assert found == pytest.approx(2 * game.exploitability(game.uniform()), abs=1e-9)


@pytest.mark.parametrize(
    ("rules", "reward", "message"),
    [
        ("fives-and-threes:players=5", "points", "players=5"),
        ("chess", "points", "unknown game"),
        (NO_DRAWS, "money", "reward='money' is not one of"),
    ],
)
def test_bad_input(rules: str, reward: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_game(rules, reward)


def test_X13_nothing_of_the_command_line_is_loaded() -> None:
    code = "import sys, eval.openspiel; print({'tyro', 'rich', 'choix', 'torch'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("rules", [*ROUNDS[:6], *MATCHES])
def test_X12_resampled_states_cannot_be_told_apart(rules: str) -> None:
    """By the seat that asks, in any form; each is a match that can be played from its start."""
    game, rng = load_game(rules), np.random.default_rng(8)
    sampler, moves, unlike = pyspiel.UniformProbabilitySampler(0.0, 1.0), 0, 0
    for steps in range(0, 40, 3):
        state = random_state(game, rng, steps)
        while state.is_chance_node():
            state.apply_action(state.legal_actions()[0])
        if state.is_terminal():
            continue
        for seat in range(game.num_players()):
            other = state.resample_from_infostate(seat, sampler)
            assert other.current_player() == state.current_player()
            assert other.information_state_string(seat) == state.information_state_string(seat)
            assert other.information_state_tensor(seat) == state.information_state_tensor(seat)
            assert other.observation_tensor(seat) == state.observation_tensor(seat)
            again = game.new_initial_state()
            for action in other.history():
                assert action in again.legal_actions()
                again.apply_action(action)
            assert str(again) == str(other)
            unlike += str(other) != str(state)
            moves = max(moves, len(other.history()))
    assert unlike > 5
    assert moves > 20


def test_X12_resampling_draws_hidden_hands_evenly() -> None:
    """With nothing drawn, every deal of the unseen tiles is equally likely."""
    state = load_game(NO_DRAWS).new_initial_state()
    for outcome in (0, 0, 1, 2, 7):  # seat 0 leads with 0|0 and 0|1: four tiles are unseen
        state.apply_action(outcome)
    rng = np.random.default_rng(9)
    hands = [state.resample_from_infostate(0, rng.random).history()[3:5] for _ in range(3000)]
    _, counts = np.unique(hands, axis=0, return_counts=True)
    assert len(counts) == 6
    assert_uniform(counts)


def test_X12_resampling_is_refused_where_nobody_moves() -> None:
    state = load_game(NO_DRAWS).new_initial_state()
    with pytest.raises(ValueError, match="where a seat is to move"):
        state.resample_from_infostate(0, lambda: 0.5)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="player 2 is not a seat from 0 to 1"):
        state.resample_from_infostate(2, lambda: 0.5)


@pytest.mark.parametrize("rules", ["fives-and-threes:mode=round", "all-fives:mode=round"])
def test_X12_openspiels_ismcts_plays_our_game(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is no fool: over some rounds it makes points against random play."""
    game, rng = load_game(rules), np.random.RandomState(3)
    # The bot draws worlds by numbers that no seed reaches; so the rounds would differ each time.
    monkeypatch.setattr(
        pyspiel, "UniformProbabilitySampler", lambda low, high: lambda: rng.uniform(low, high)
    )
    bot = ismcts.ISMCTSBot(
        game=game,
        evaluator=mcts.RandomRolloutEvaluator(1, rng),
        uct_c=10.0,
        max_simulations=30,
        random_state=rng,
    )
    points = []
    for _ in range(12):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(rng.choice(outcomes, p=chances)))
            elif state.current_player() == 0:
                state.apply_action(int(bot.step(state)))
            else:
                state.apply_action(int(rng.choice(state.legal_actions())))
        points.append(state.returns()[0])
    assert np.mean(points) > 0
