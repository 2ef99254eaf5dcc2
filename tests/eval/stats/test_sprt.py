"""The sequential test: it errs no more often than it says, and blocks decide nothing."""

from typing import Any

import numpy as np
import pytest

from eval.stats.sprt import STEP, Decision, Hypotheses, decide, share


def pairs(rng: Any, mean: float, shared_luck: float, num_pairs: int) -> Any:
    """Shares of pairs; with shared luck the deals decide, and each agent wins one match."""
    alone = (mean - 0.5 * shared_luck) / (1 - shared_luck)
    shares = rng.binomial(2, alone, num_pairs) / 2
    return np.where(rng.random(num_pairs) < shared_luck, 0.5, shares)


@pytest.mark.parametrize("shared_luck", [0.0, 0.25])
@pytest.mark.parametrize(
    ("low", "high", "limit"), [(0, 50, 2000), (-40, 40, 1000), (200, 300, 900)]
)
def test_errors_are_no_more_frequent_than_stated(
    low: float, high: float, limit: int, shared_luck: float
) -> None:
    test, repeats = Hypotheses(low, high, alpha=0.05, beta=0.1), 200
    rng = np.random.default_rng([limit, int(10 * shared_luck)])
    for truth, wrong, most in ((low, "stronger", 0.05), (high, "not stronger than +50 Elo", 0.1)):
        found = [decide(pairs(rng, share(truth), shared_luck, limit), test) for _ in range(repeats)]
        errors = sum(one.verdict == wrong for one in found) / repeats
        assert errors <= most + 2.6 * np.sqrt(most * (1 - most) / repeats)
        assert np.mean([one.pairs for one in found]) < 0.5 * limit


def test_error_rates_hold_for_three_sides() -> None:
    test, rng = Hypotheses(0, 60), np.random.default_rng(1)
    chance = share(0, even=1 / 3)
    assert chance == pytest.approx(1 / 3)
    found = [decide(rng.binomial(3, chance, 1500) / 3, test, 1 / 3).verdict for _ in range(300)]
    assert found.count("stronger") / 300 <= 0.05 + 0.033


def test_clear_cases_end_early() -> None:
    test = Hypotheses(0, 50)
    assert decide(np.ones(500), test).verdict == "stronger"
    assert decide(np.zeros(500), test) == decide(np.zeros(60), test)
    assert decide(np.zeros(500), test).verdict == "not stronger than +50 Elo"
    assert decide(np.ones(500), test).pairs <= 60


def test_verdict_depends_on_the_pairs_in_their_order_alone() -> None:
    test, rng = Hypotheses(0, 50), np.random.default_rng(2)
    shares = pairs(rng, share(50), 0.3, 1000)
    whole = decide(shares, test)
    assert whole.pairs < 1000
    by_block = [decide(shares[:seen], test) for seen in range(7, 1001, 7)]
    first = next(one for one in by_block if one.verdict)
    assert first == whole
    open_ones = [one for one in by_block if not one.verdict]
    assert all(one.pairs < whole.pairs for one in open_ones)


def test_too_few_pairs_leave_it_open() -> None:
    assert decide(np.ones(STEP - 1), Hypotheses(0, 20)) == Decision(None, STEP - 1, 0.0)
    assert decide(np.full(300, 0.5), Hypotheses(-50, 50)).verdict is None


def test_stated_differences_are_shares() -> None:
    assert share(0) == 0.5
    assert share(400) == pytest.approx(10 / 11)
    assert share(400, even=1 / 4) == pytest.approx(10 / 13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((20, 0), r"--sprt 20 0: give two differences"),
        ((0, 0), r"--sprt 0 0"),
        ((0, float("nan")), r"--sprt 0 nan"),
        ((0, 20, 0.0), r"--alpha 0 is not a rate between 0 and 0.5"),
        ((0, 20, 0.05, 0.7), r"--beta 0.7 is not"),
    ],
)
def test_bad_options_are_named(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hypotheses(*arguments)
