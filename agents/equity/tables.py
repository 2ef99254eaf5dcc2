"""Match-equity tables: how likely a side is to win the match, given both scores and who leads.

A table is one file, NAME.safetensors beside this module; what is known of it stands in the file's
metadata, as JSON text. Neither can hold code.
"""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from fives_env.lab import PROGRAM
from fives_env.rules import CHOICES, PRESETS, Rules

from ..files import parse_json, replace_file, shown
from ..tensors import read_tensors

Array = npt.NDArray[Any]
FOLDER = Path(__file__).parent
FORMAT = 1
"""Rises when the files change in a way that older code cannot read."""
MOST_SCORES = 4_000
"""From the lowest to the target: a table with more takes more than 128 MB."""
_TENSOR, _CARD = "leader_wins", "equity"
_FACTS = (
    "rules",
    "agent",
    "rounds",
    "seed",
    "standard_error",
    "largest_error",
    "step_error",
    "command",
)
_PLAIN = Rules("fives-and-threes")


@dataclass(frozen=True)
class EquityTable:
    """The probability to win the match, before a round is dealt.

    A match is taken to go on until a side wins: `max_rounds` is not looked at.

    Attributes:
        rules: What is played.
        low: The lowest score in the table; lower ones count like it.
        values: float32 [2, N, N], the probability that a side wins, at ``[leads, own - low,
            other - low]``; leads is 1 if that side leads the next round, else 0. N is
            ``rules.target - low + 1``; a side whose score is the target has won.
        facts: How it was made: ``agent``, ``rounds``, ``seed``, ``command``; and how far it may be
            off: ``standard_error`` of a value, as the root of the mean square over the table, and
            ``largest_error``, the largest of those estimates, and ``step_error``, the same as the
            first of what the next score up is worth.
    """

    rules: Rules
    low: int
    values: Array
    facts: Mapping[str, str]

    @classmethod
    def from_leader(
        cls, rules: Rules, low: int, step: int, leader_wins: Array, facts: Mapping[str, str]
    ) -> Self:
        """The whole table from the probability that the leader wins at every `step`-th score.

        Args:
            rules: What is played.
            low: The lowest score.
            step: Scores that all points are multiples of: those between two play like the lower.
            leader_wins: [L, L] by the leader's and the other side's score, from `low` up to the
                last below the target.
            facts: As in the class.
        """
        levels = len(leader_wins)
        known = np.zeros((levels + 1, levels + 1), np.float32)
        known[:levels, :levels] = leader_wins
        known[levels] = 1
        known[levels, levels] = 0.5  # cannot be; the two sides still sum to one
        index = np.arange(step * levels + 1) // step
        leads = known[np.ix_(index, index)]
        values = np.stack([1 - leads.T, leads])
        values.flags.writeable = False  # one table serves all who load it
        return cls(rules, low, values, facts)

    def win_probability(
        self, own: npt.ArrayLike, other: npt.ArrayLike, leads: npt.ArrayLike
    ) -> Array:
        """The values at these scores, which are clipped into the table.

        Args:
            own: Scores of the side that asks.
            other: Scores of the other side.
            leads: Whether the side that asks leads the next round.
        """
        top = self.values.shape[1] - 1
        rows, columns = (np.clip(np.asarray(score) - self.low, 0, top) for score in (own, other))
        found: Array = self.values[np.asarray(leads, np.int64), rows, columns]
        return found


def load(rules: "Rules | Array", folder: Path = FOLDER) -> EquityTable:
    """The table for these rules; `mode` and `max_rounds` may be any.

    Args:
        rules: `Rules`, or a PARAMS record or array of one.
        folder: Where the tables are.

    Raises:
        ValueError: There is none for exactly these rules (the message lists those there are), or
            its file cannot be used.
    """
    asked = plain(rules if isinstance(rules, Rules) else rules_of(rules))
    return _read(folder / file_name(asked), asked)


def save_table(
    rules: Rules,
    low: int,
    step: int,
    leader_wins: Array,
    facts: Mapping[str, str],
    folder: Path = FOLDER,
) -> Path:
    """Writes a table, whole or not at all; the arguments are those of `EquityTable.from_leader`."""
    path = folder / file_name(plain(rules))
    # One text, so that equal tables are equal files: safetensors does not keep the order of more.
    card = json.dumps({**facts, "format": FORMAT, "low": low, "step": step}, indent=1)
    content = save({_TENSOR: np.ascontiguousarray(leader_wins, np.float32)}, {_CARD: card})
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(path, content)
    _read.cache_clear()
    return path


def plain(rules: Rules) -> Rules:
    """The rules of a whole match, which tables are made for and named by."""
    return replace(rules, mode="match", max_rounds=_PLAIN.max_rounds)


def file_name(rules: Rules) -> str:
    """The file of the table for these rules."""
    return re.sub("[:,]", ".", rules.spec) + ".safetensors"


def rules_of(params: Any) -> Rules:
    """The `Rules` that PARAMS, a record or an array of one, was made from."""
    record = np.asarray(params).reshape(-1)[0]
    sizes = {(pip + 1) * (pip + 2) // 2: pip for pip in range(1, 7)}
    return Rules(
        list(PRESETS)[record["game"]],
        players=int(record["num_players"]),
        partners=bool(record["partners"]),
        target=int(record["target"]),
        deal=int(record["hand_size"]),
        draw=CHOICES["draw"][record["draw"]],
        reserve=int(record["reserve"]),
        spinner="first-double" if record["spinner"] else "none",
        lead=CHOICES["lead"][record["lead"]],
        target_check="round-end" if record["check_at_round_end"] else "immediate",
        max_pip=sizes[int(record["num_tiles"])],
    )


@functools.cache
def _read(path: Path, rules: Rules) -> EquityTable:
    if not path.is_file():
        raise ValueError(_missing(path.parent, rules))
    try:
        tensors, metadata = read_tensors(path)
        try:
            low, step, facts = _read_card(metadata.get(_CARD, "{}"), rules)
            _check(tensors, low, step, rules)
        except ValueError as error:
            raise ValueError(f"{path} {error}") from None
    except ValueError as error:
        raise ValueError(f"{error}; {_remedy(rules)}") from None
    return EquityTable.from_leader(rules, low, step, tensors[_TENSOR], facts)


def _read_card(text: str, rules: Rules) -> tuple[int, int, dict[str, str]]:
    """Low, step and facts of a table for `rules`."""
    try:
        card = parse_json(text)
    except ValueError:
        card = None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ValueError(f"is not an equity table of format {FORMAT}")
    if card.get("rules") != rules.spec:
        raise ValueError(f"is for {shown(card.get('rules'))}, not for {rules.spec}")
    low, step = card.get("low"), card.get("step")
    lowest = rules.target - MOST_SCORES
    if not (type(low) is int and type(step) is int and lowest <= low < rules.target and step > 0):
        raise ValueError(
            f"has scores from low={shown(low)} in steps of step={shown(step)}, not whole numbers "
            f"from {lowest} up in steps from 1 up"
        )
    return low, step, {name: str(card.get(name, "")) for name in _FACTS}


def _check(tensors: Mapping[str, Array], low: int, step: int, rules: Rules) -> None:
    """Whether the values are what the card says."""
    if set(tensors) != {_TENSOR}:
        raise ValueError(f"holds tensors {shown(sorted(tensors))}, not just {_TENSOR!r}")
    values = tensors[_TENSOR]
    levels = (rules.target - low) // step
    if values.shape != (levels, levels) or low + step * levels != rules.target:
        raise ValueError(
            f"has tensor {_TENSOR!r} of shape {list(values.shape)}, which does not reach from "
            f"{low} in steps of {step} to the target {rules.target}"
        )
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError(f"has tensor {_TENSOR!r} with values that are no probabilities")


def _missing(folder: Path, rules: Rules) -> str:
    files = sorted(folder.glob("*.safetensors"))
    known = [path.stem.replace(".", ":", 1).replace(".", ",") for path in files]
    return (
        f"there is no equity table for {rules.spec}; there are: {'; '.join(known) or 'none'}; "
        f"{_remedy(rules)}"
    )


def _remedy(rules: Rules) -> str:
    if rules.num_sides != 2:
        return "tables are for two sides alone"
    return f"make it with: python -m {PROGRAM}.equity --rules {rules.spec}"
