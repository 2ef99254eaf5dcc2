"""Intervals on synthetic truth: they cover it about as often as they say."""

import numpy as np
import pytest

from eval.stats.intervals import ratio_interval, share_interval

REPEATS = 2000


@pytest.mark.parametrize("num_pairs", [12, 40, 300])
@pytest.mark.parametrize("strength", [0.5, 0.7, 0.93])
@pytest.mark.parametrize("shared_luck", [0.0, 0.6])
def test_share_interval_covers(num_pairs: int, strength: float, shared_luck: float) -> None:
    """Pairs of matches, independent of each other or bound by the luck of their deals."""
    rng = np.random.default_rng([num_pairs, int(100 * strength), int(10 * shared_luck)])
    luck = rng.random((REPEATS, num_pairs)) < shared_luck
    first = rng.random((REPEATS, num_pairs)) < strength
    second = np.where(luck, first, rng.random((REPEATS, num_pairs)) < strength)
    found = [share_interval(shares) for shares in 0.5 * first + 0.5 * second]
    covered = np.mean([low <= strength <= high for _, low, high in found])
    assert 0.925 <= covered <= 0.995


def test_share_interval_ignores_what_pairing_cancels() -> None:
    """Deals that decide every match: each side wins one, and nothing is left to doubt."""
    assert share_interval(np.full(50, 0.5)) == (0.5, 0.5, 0.5)
    assert share_interval(np.full(50, 1 / 3)) == pytest.approx([1 / 3] * 3, abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_unbroken_row_is_no_certainty(share: float) -> None:
    value, low, high = share_interval(np.full(20, share))
    assert value == share
    assert (low, high) == pytest.approx((0, 0.18) if share == 0 else (0.82, 1), abs=0.01)


def test_one_pair_says_nothing() -> None:
    assert share_interval(np.array([1.0])) == (1, 0, 1)
    assert ratio_interval(np.array([3.0]), np.array([6])) == (0.5, -np.inf, np.inf)


def test_share_interval_of_the_other_agent_is_the_mirror_image() -> None:
    shares = np.random.default_rng(3).choice([0, 0.5, 1], size=80, p=[0.2, 0.3, 0.5])
    value, low, high = share_interval(shares)
    assert share_interval(1 - shares) == pytest.approx((1 - value, 1 - high, 1 - low))


@pytest.mark.parametrize("num_pairs", [15, 200])
def test_ratio_interval_covers_points_a_round(num_pairs: int) -> None:
    """Short matches bring more points a round; the truth is still that of all rounds together."""
    rng = np.random.default_rng(num_pairs)
    rounds = rng.integers(2, 12, (REPEATS, num_pairs))
    points = rng.normal(0.5 * rounds + 4, 3)
    truth = 0.5 + 4 / 6.5
    found = [ratio_interval(*each) for each in zip(points, rounds, strict=True)]
    covered = np.mean([low <= truth <= high for _, low, high in found])
    assert 0.925 <= covered <= 0.975
