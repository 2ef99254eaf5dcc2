"""Ratings on synthetic truth, and against an independent maximiser."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from eval import ratings
from eval.ratings import ELO, rate

STRENGTHS = np.array([0.0, 0.8, 1.5, -0.4])
ROUND_ROBIN = list(itertools.combinations(range(4), 2))


def played(rng: Any, num_pairs: int, num_others: int = 1) -> Any:
    """Shares [N, P] of two matches a pair, drawn by the model."""
    odds = np.array([STRENGTHS[a] - STRENGTHS[b] for a, b in ROUND_ROBIN])
    chance = 1 / (1 + num_others * np.exp(-odds))
    return rng.binomial(2, chance, (num_pairs, len(chance))) / 2


@pytest.mark.parametrize("num_others", [1, 3])
def test_truth_is_found(num_others: int) -> None:
    shares = played(np.random.default_rng(1), 4000, num_others)
    found = rate(4, ROUND_ROBIN, shares, 0, num_others)
    assert [rating.value for rating in found] == pytest.approx(ELO * STRENGTHS, abs=12)
    for rating in found[1:]:
        assert rating.low < rating.value < rating.high
    assert found[0] == (0, 0, 0)


def test_equals_another_maximiser() -> None:
    shares = played(np.random.default_rng(2), 50)

    def loss(free: Any) -> float:
        theta = np.insert(free, 2, 0.0)
        total = 0.0
        for (a, b), share in zip(ROUND_ROBIN, shares.T, strict=True):
            won = share.sum() + 0.5
            total -= won * -np.log1p(np.exp(theta[b] - theta[a]))
            total -= (len(share) + 1 - won) * -np.log1p(np.exp(theta[a] - theta[b]))
        return total

    best = minimize(loss, np.zeros(3), tol=1e-10).x
    found = [rating.value for rating in rate(4, ROUND_ROBIN, shares, anchor=2)]
    assert found == pytest.approx(ELO * np.insert(best, 2, 0.0), abs=0.05)


def test_intervals_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "NUM_RESAMPLES", 200)
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(150):
        found = rate(4, ROUND_ROBIN, played(rng, 60), anchor=0)[1:]
        truth = ELO * STRENGTHS[1:]
        covered += [r.low <= true <= r.high for r, true in zip(found, truth, strict=True)]
    assert 0.90 <= np.mean(covered) <= 0.985


def test_order_of_agents_pairings_and_pairs_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    shares = played(rng, 80)
    before = [rating.value for rating in rate(4, ROUND_ROBIN, shares, anchor=0)]
    renamed = [2, 0, 3, 1]
    turned = [(renamed[b], renamed[a]) for a, b in reversed(ROUND_ROBIN)]
    other = (1 - shares)[rng.permutation(80)][:, ::-1]
    after = [rating.value for rating in rate(4, turned, other, anchor=renamed[0])]
    assert [after[number] for number in renamed] == pytest.approx(before, abs=1e-6)


def test_unbroken_row_of_wins_has_a_finite_rating_and_a_wide_interval() -> None:
    better, worse = rate(2, [(0, 1)], np.ones((20, 1)), anchor=1)
    assert worse == (0, 0, 0)
    assert 400 < better.low < better.value < better.high < 2000


def test_mirror_matches_tell_nothing() -> None:
    shares = np.column_stack([np.full(30, 0.5), np.full(30, 0.75)])
    alone = rate(2, [(0, 1)], shares[:, 1:], anchor=1)
    assert rate(2, [(0, 0), (0, 1)], shares, anchor=1) == alone
    assert rate(1, [(0, 0)], shares[:, :1], anchor=0) == [(0, 0, 0)]
