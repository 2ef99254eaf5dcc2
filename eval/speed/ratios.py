"""Speed ratios from one run, beside what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval.speed.timing import find
from eval.speed.workloads import library as ours
from eval.speed.workloads.training import SAME_NETWORK, SB3, SELFPLAY
from eval.terminal import quotient

Rows = Sequence[dict[str, Any]]
LARGEST = ours.BATCHES[-1]


@dataclass(frozen=True)
class Ratio:
    """One quotient of two speeds.

    Attributes:
        what: Of what to what.
        value: None where one of the two was not measured.
        at_least: What it should be; None where it is only told.
        at_most: Likewise.
    """

    what: str
    value: float | None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def wanted(self) -> str:
        """In words."""
        if self.at_least is not None:
            return f"at least {quotient(self.at_least)}"
        return "" if self.at_most is None else f"at most {quotient(self.at_most)}"

    @property
    def met(self) -> bool | None:
        """Whether it is; None where there is nothing to say."""
        if self.value is None or not self.wanted:
            return None
        return self.value >= (self.at_least or 0) and self.value <= (self.at_most or self.value)


def ratios(rows: Rows) -> list[Ratio]:
    """The ratios that these rows give."""
    rollout = find(
        rows, what=ours.ROLLOUT, rules=ours.FIVES_AND_THREES, batch=ours.BATCH, threads=1
    )
    at_largest = find(
        rows, what=ours.ROLLOUT, rules=ours.FIVES_AND_THREES, batch=LARGEST, threads=1
    )
    partners = find(rows, what=ours.ROLLOUT, rules=ours.PARTNERS, threads=1)
    step = find(rows, what=ours.STEP, batch=ours.BATCH, threads=1)
    copies = find(rows, what=ours.CLONE, rules=ours.FIVES_AND_THREES, batch=ours.BATCH)
    vector, aec, single = (find(rows, what=what) for what in (ours.VECTOR, ours.AEC, ours.SINGLE))
    dominoes = find(rows, what="OpenSpiel python_block_dominoes")
    pgx = find(rows, what="Pgx connect_four", batch=LARGEST)
    pettingzoo = find(rows, what="PettingZoo connect_four_v3")
    sb3, selfplay, same = (find(rows, what=what) for what in (SB3, SELFPLAY, SAME_NETWORK))
    cost = f"cost of a batch step, masks and views written, in rollout steps (batch {ours.BATCH:,})"
    return [
        Ratio("rollout / OpenSpiel python_block_dominoes", _over(rollout, dominoes), 1000),
        Ratio(f"rollout / Pgx connect_four (batch {LARGEST:,})", _over(at_largest, pgx), 20),
        Ratio(
            "rollout, all-fives, four partners / fives-and-threes", _over(partners, rollout), 1 / 3
        ),
        Ratio(cost, _over(rollout, step), at_most=4),
        Ratio("the same with the choice of actions", _with_choice(rollout, step)),
        Ratio(f"clones / batch steps (batch {ours.BATCH:,})", _over(copies, step), 1),
        Ratio("AEC env / PettingZoo connect_four_v3", _over(aec, pettingzoo), 3),
        Ratio("single env / PettingZoo connect_four_v3", _over(single, pettingzoo), 3),
        Ratio("vector env, learner's steps / rollout steps", _over(vector, rollout)),
        Ratio("training, selfplay without advice / sb3", _over(same, sb3), 2.5),
        Ratio("training, selfplay / sb3", _over(selfplay, sb3)),
    ]


def _over(above: dict[str, Any] | None, below: dict[str, Any] | None) -> float | None:
    if above is None or below is None:
        return None
    return float(above["per_second"] / below["per_second"])


def _with_choice(rollout: dict[str, Any] | None, step: dict[str, Any] | None) -> float | None:
    if rollout is None or step is None:
        return None
    return float(sum(step["parts_ns"].values()) * rollout["per_second"] / 1e9)
