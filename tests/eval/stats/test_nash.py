"""Who beats whom, cycles, and the Nash average, on games whose answer is known."""

import itertools

import numpy as np
import pytest

from eval.stats.nash import between, cycles, nash
from tests.eval.stats import synthetic
from tests.eval.stats.synthetic import RULES

ROCK_PAPER_SCISSORS = np.array([[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]])
BIASED = np.array([[0.5, 0.9, 0.4], [0.1, 0.5, 0.6], [0.6, 0.4, 0.5]])
"""The gains 4, 1 and -1 tenths give the weights of the opposite pairings: 1, 1 and 4 sixths."""


def test_rock_paper_scissors_are_all_needed() -> None:
    found = nash(ROCK_PAPER_SCISSORS)
    assert found.weights == pytest.approx([1 / 3] * 3)
    assert found.shares == pytest.approx([0.5] * 3)
    assert nash(BIASED).weights == pytest.approx([1 / 6, 1 / 6, 4 / 6])


def test_the_one_whom_nobody_beats_has_it_all() -> None:
    found = nash(np.array([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]))
    assert found.weights.tolist() == [1, 0, 0]
    assert found.shares == pytest.approx([0.5, 0.2, 0.1])


def test_equals_share_alike_by_greatest_entropy() -> None:
    assert nash(np.full((4, 4), 0.5)).weights == pytest.approx([0.25] * 4)
    assert nash(np.full((1, 1), 0.5)).weights.tolist() == [1]


@pytest.mark.parametrize("share", [ROCK_PAPER_SCISSORS, BIASED])
def test_an_agent_entered_twice_changes_nothing(share: np.ndarray) -> None:
    once = nash(share).weights
    twice = nash(share[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]).weights
    assert twice[:2] == pytest.approx([once[0] / 2] * 2, abs=1e-5)
    assert twice[2:] == pytest.approx(once[1:], abs=1e-5)


def test_no_agent_beats_the_mixture_whatever_the_shares() -> None:
    rng = np.random.default_rng(0)
    for size in (2, 5, 12):
        strength = rng.normal(size=(size, size))
        share = 1 / (1 + np.exp(strength.T - strength))
        found = nash(share)
        assert found.weights.sum() == pytest.approx(1)
        assert found.shares.max() == pytest.approx(0.5, abs=1e-6)
        order = rng.permutation(size)
        assert nash(share[np.ix_(order, order)]).weights == pytest.approx(
            found.weights[order], abs=1e-5
        )


def test_gap_in_the_table_is_refused() -> None:
    share = BIASED.copy()
    share[0, 1] = share[1, 0] = np.nan
    with pytest.raises(ValueError, match="must be there"):
        nash(share)


def test_cycles() -> None:
    better = np.zeros((6, 6), bool)
    for first, second in [(2, 0), (0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 0), (5, 1)]:
        better[first, second] = True
    assert cycles(better) == [(0, 1, 2), (0, 1, 2, 3, 4)]
    assert cycles(np.triu(np.ones((5, 5), bool), 1)) == []


@pytest.mark.parametrize("num_sides", [2, 3, 4])
def test_a_cycle_among_agents_is_found_with_evidence(num_sides: int) -> None:
    rng = np.random.default_rng(num_sides)
    meetings = []
    for a, b in [(0, 1), (1, 2), (2, 0)]:
        strengths = np.zeros(3)
        strengths[a] = 0.7
        meetings.append(((a, b), synthetic.play(rng, (a, b), strengths, num_sides, 400)))
    found = between(3, meetings, RULES[num_sides])
    chance = 1 / (1 + np.exp(-0.7))
    assert found.share[[0, 1, 2], [1, 2, 0]] == pytest.approx(chance, abs=0.06)
    assert cycles(found.low > 0.5) == [(0, 1, 2)]
    few = [(who, synthetic.play(rng, who, np.zeros(3), num_sides, 60)) for who, _ in meetings]
    assert cycles(between(3, few, RULES[num_sides]).low > 0.5) == []


@pytest.mark.parametrize(("num_sides", "num_agents"), [(2, 2), (3, 2), (3, 3), (4, 2), (4, 4)])
def test_intervals_between_two_cover(num_sides: int, num_agents: int) -> None:
    rng = np.random.default_rng([num_sides, num_agents])
    strengths = np.array([0.6, 0.0, 0.2, -0.3])[:num_agents]
    who = tuple(range(num_agents))
    truth = 1 / (1 + np.exp(-0.6))
    covered = 0
    for _ in range(300):
        meetings = [(who, synthetic.play(rng, who, strengths, num_sides, 50))]
        if num_agents == 2 and num_sides > 2:  # the same deals once more, the other one alone
            meetings.append((who[::-1], synthetic.play(rng, who[::-1], strengths, num_sides, 50)))
        found = between(num_agents, meetings, RULES[num_sides])
        assert found.share + found.share.T == pytest.approx(1)
        covered += found.low[0, 1] <= truth <= found.high[0, 1]
    assert 0.915 <= covered / 300 <= 0.985


def test_names_do_not_matter_and_gaps_stay_gaps() -> None:
    rng = np.random.default_rng(9)
    pairs = list(itertools.combinations(range(3), 2))[:2]
    meetings = [(who, synthetic.play(rng, who, [0, 1, 2], 2, 40)) for who in pairs]
    found = between(3, meetings, RULES[2])
    assert np.isnan(found.share[1, 2])
    assert np.isnan(found.high[2, 1])
    renamed = [((2 - a, 2 - b), matches) for (a, b), matches in meetings]
    other = between(3, renamed, RULES[2])
    np.testing.assert_allclose(other.low, found.low[::-1, ::-1])
