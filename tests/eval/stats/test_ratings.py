"""Ratings on synthetic truth, and beside choix."""

import itertools
from typing import Any

import choix
import numpy as np
import pytest

from eval.stats import ratings
from eval.stats.ratings import ELO, Meetings, fit, rate, rate_results
from tests.eval.stats import synthetic
from tests.eval.stats.synthetic import RULES

STRENGTHS = np.array([0.0, 0.8, 1.5, -0.4])
ROUND_ROBIN = list(itertools.combinations(range(4), 2))


def played(rng: Any, num_pairs: int, num_sides: int = 2, lead: float = 0.0) -> Meetings:
    """A round robin."""
    return [
        (who, synthetic.play(rng, who, STRENGTHS, num_sides, num_pairs, lead))
        for who in ROUND_ROBIN
    ]


@pytest.mark.parametrize("num_sides", [2, 3, 4])
def test_truth_is_found(num_sides: int) -> None:
    meetings = played(np.random.default_rng(1), 3000, num_sides)
    found = rate(4, meetings, RULES[num_sides], 0)
    assert [rating.value for rating in found.agents] == pytest.approx(ELO * STRENGTHS, abs=14)
    for rating in found.agents[1:]:
        assert rating.low < rating.value < rating.high
    assert found.agents[0] == (0, 0, 0)
    assert rate_results("abcd", meetings, RULES[num_sides], 0) == found.agents
    assert all(place.low < 0 < place.high for place in found.places)


@pytest.mark.parametrize("num_sides", [2, 3, 4])
def test_first_lead_is_estimated_and_does_not_bend_the_ratings(num_sides: int) -> None:
    lead = 0.5
    found = rate(4, played(np.random.default_rng(2), 3000, num_sides, lead), RULES[num_sides], 0)
    first, *others = found.places
    assert first.value - others[0].value == pytest.approx(ELO * lead, abs=14)
    assert first.low > 0 > others[-1].high
    assert sum(place.value for place in found.places) == pytest.approx(0, abs=1e-9)
    assert [rating.value for rating in found.agents] == pytest.approx(ELO * STRENGTHS, abs=14)


def test_tables_of_different_agents_are_rated_by_the_winner_among_those_present() -> None:
    rng = np.random.default_rng(3)
    tables = [(0, 1, 2), (1, 2, 3), (0, 3, 2)]
    meetings = [(who, synthetic.play(rng, who, STRENGTHS, 3, 4000)) for who in tables]
    found = rate(4, meetings, RULES[3], 0).agents
    assert [rating.value for rating in found] == pytest.approx(ELO * STRENGTHS, abs=14)


def test_equals_choix_for_two() -> None:
    won = np.random.default_rng(4).integers(1, 60, (4, 4)) + 0.5
    np.fill_diagonal(won, 0)
    expected = choix.ilsr_pairwise_dense(won, tol=1e-12)
    design = np.array([np.eye(4)[list(pair)] for pair in ROUND_ROBIN])
    wins = np.array([[won[a, b], won[b, a]] for a, b in ROUND_ROBIN])
    (found,) = fit(design[:, :, 1:], wins[None])
    assert found == pytest.approx((expected - expected[0])[1:], abs=1e-6)


def test_equals_choix_for_the_winner_among_several() -> None:
    rng = np.random.default_rng(5)
    tables = [(0, 1, 1, 1), (2, 0, 0, 0), (3, 1, 0, 2), (2, 3, 3, 3)]
    wins = rng.integers(1, 30, (len(tables), 4))
    data = [
        (table[winner], table[:winner] + table[winner + 1 :])
        for table, row in zip(tables, wins, strict=True)
        for winner, number in enumerate(row)
        for _ in range(number)
    ]
    expected = choix.ilsr_top1(4, data, tol=1e-12)
    design = np.eye(4)[np.array(tables)]
    (found,) = fit(design[:, :, 1:], wins[None].astype(float))
    assert found == pytest.approx((expected - expected[0])[1:], abs=1e-6)


def test_intervals_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "NUM_RESAMPLES", 200)
    rng = np.random.default_rng(6)
    covered, lead_covered = [], []
    for _ in range(150):
        found = rate(4, played(rng, 60, lead=0.3), RULES[2], anchor=0)
        truth = ELO * STRENGTHS[1:]
        covered += [
            r.low <= true <= r.high for r, true in zip(found.agents[1:], truth, strict=True)
        ]
        lead_covered.append(found.places[0].low <= ELO * 0.15 <= found.places[0].high)
    assert 0.90 <= np.mean(covered) <= 0.985
    assert 0.88 <= np.mean(lead_covered) <= 0.99


def test_order_of_agents_meetings_and_pairs_does_not_matter() -> None:
    meetings = played(np.random.default_rng(7), 80)
    before = rate(4, meetings, RULES[2], anchor=0)
    renamed = [2, 0, 3, 1]
    mixed = np.random.default_rng(8).permutation(80)
    turned = []
    for (a, b), found in reversed(meetings):
        fields = {
            name: values if name == "sides" else values[mixed]
            for name, values in vars(found.swapped()).items()
        }
        turned.append(((renamed[b], renamed[a]), type(found)(**fields)))
    after = rate(4, turned, RULES[2], anchor=renamed[0])
    for number, rating in zip(renamed, before.agents, strict=True):
        assert after.agents[number] == pytest.approx(rating, abs=1e-6)
    assert after.places == [pytest.approx(place, abs=1e-6) for place in before.places]


def test_unbroken_row_of_wins_has_a_finite_rating_and_a_wide_interval() -> None:
    won = synthetic.matches([[0, 1]] * 20)
    better, worse = rate(2, [((0, 1), won)], RULES[2], anchor=1).agents
    assert worse == (0, 0, 0)
    assert 400 < better.low < better.value < better.high < 2000


def test_meetings_may_have_different_pairs() -> None:
    rng = np.random.default_rng(9)
    meetings = [
        (who, synthetic.play(rng, who, STRENGTHS, 2, num_pairs))
        for who, num_pairs in zip(ROUND_ROBIN, (2000, 10, 1500, 1000, 1, 3000), strict=True)
    ]
    found = rate(4, meetings, RULES[2], 0).agents
    assert [rating.value for rating in found] == pytest.approx(ELO * STRENGTHS, abs=40)


def test_who_is_tied_to_the_anchor_by_no_result_is_not_rated() -> None:
    rng = np.random.default_rng(10)
    apart = [((a, b), synthetic.play(rng, (0, 1), STRENGTHS, 2, 30)) for a, b in ((0, 1), (2, 3))]
    found = rate(5, apart, RULES[2], 0).agents
    assert [bool(np.isnan(rating.value)) for rating in found] == [False, False, True, True, True]
    alone = rate(2, [], RULES[2], 1)
    assert alone.agents[1] == (0, 0, 0)
    assert np.isnan(alone.agents[0].low)


def test_mirror_matches_tell_of_the_lead_alone() -> None:
    rng = np.random.default_rng(11)
    mirror = synthetic.play(rng, (0, 0), STRENGTHS, 2, 3000, lead=0.5)
    found = rate(1, [((0, 0), mirror)], RULES[2], anchor=0)
    assert found.agents == [(0, 0, 0)]
    assert found.places[0].value - found.places[1].value == pytest.approx(ELO * 0.5, abs=20)
