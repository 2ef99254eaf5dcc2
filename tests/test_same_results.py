"""Equal seeds give equal results, from one version to the next.

The hashes in same_results.json were written down once. A redesign must not change them; what
changes play on purpose writes them anew, by ``python -m tests.test_same_results``, and CHANGELOG.md
says so. Whether results are right is for other tests.
"""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from eval.__main__ import main
from fives_env import Games, encode
from tests.core.material import ALL

KNOWN = Path(__file__).with_name("same_results.json")
IDS = [f"fives_env/{game}-v0" for game in ("FivesAndThrees", "ThreesAndFives", "AllFives")]
TOURNAMENTS = [
    "fives-and-threes --agents random greedy careful tactic pimc:4 pimc:4,value=equity ismcts:30",
    "threes-and-fives:players=4 --agents greedy tactic pimc:2",
    "all-fives:players=3 --agents careful tactic ismcts:30 --schedule tables",
]


class Hash:
    """Of all that it was told."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, *values: Any) -> None:
        for value in values:
            self._hash.update(np.ascontiguousarray(value).tobytes())

    def text(self) -> str:
        return self._hash.hexdigest()[:16]


def games(spec: str) -> str:
    """Random play, match after match: masks, features, scores."""
    seen, rng = Hash(), np.random.default_rng(7)
    table = Games(spec, num_games=6)
    table.reset(seed=1)
    for _ in range(120):
        masks = table.action_mask()
        seen.add(masks, encode(table.view()), table.data["scores"])
        table.step((masks * rng.random(masks.shape)).argmax(axis=1))
        table.restart(table.data["match_over"] == 1)
    counts = table.rollout(500, "greedy", seed=2)
    seen.add(counts.rounds, counts.matches, counts.wins)
    return seen.text()


def vector_env(env_id: str) -> str:
    """A few matches against an agent that makes use of its keys."""
    seen, rng = Hash(), np.random.default_rng(7)
    envs = gymnasium.make_vec(env_id, num_envs=3, opponent="tactic", salt=5)
    observations, infos = envs.reset(seed=3)
    for _ in range(100):
        masks = np.asarray(infos["action_mask"])
        seen.add(observations, masks)
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        observations, rewards, over, _, infos = envs.step(actions)
        seen.add(rewards, over)
    return seen.text()


def tournament(line: str) -> str:
    """What is stored of every match."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "cup")
        play = f"--pairs 4 --block 4 --seed 1 --salt 2 --out {out}".split()
        assert main(["tournament", "--rules", *line.split(), *play]) == 0
        file = Path(folder) / "matches.csv"
        assert main(["export", "--results", out, "--out", str(file)]) == 0
        return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


CASES = (
    [("games", spec) for spec in ALL]
    + [("vector_env", env_id) for env_id in IDS]
    + [("tournament", line) for line in TOURNAMENTS]
)
KINDS = {"games": games, "vector_env": vector_env, "tournament": tournament}


@pytest.mark.parametrize(("kind", "of"), CASES, ids=lambda value: value.split(" ")[0])
def test_equal_seeds_give_equal_results(kind: str, of: str) -> None:
    assert KINDS[kind](of) == json.loads(KNOWN.read_text("utf-8"))[kind][of]


if __name__ == "__main__":
    found: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    for kind, of in CASES:
        found[kind][of] = KINDS[kind](of)
    KNOWN.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
