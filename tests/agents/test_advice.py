"""Advice: what a network is shown of the rules of thumb."""

import hashlib

import numpy as np
import pytest

from agents.heuristics import Tactic
from agents.heuristics.tactic import advise
from tests.agents.material import ALL_RULES, positions

KNOWN = "93221c98e402"


@pytest.mark.parametrize("rules", ALL_RULES)
def test_the_best_advice_is_what_tactic_plays(rules: str) -> None:
    views, masks, keys = positions(rules)
    advice, played = advise(views), Tactic().act(views, masks, keys)
    assert (advice.dtype, advice.shape) == (np.float32, (len(views), 114))
    choice = masks[:, :112].sum(axis=1) > 1
    assert choice.any()
    rows = np.flatnonzero(choice)
    assert (advice[rows, played[rows]] > -1e-4).all()
    assert (np.where(masks, advice, -np.inf)[rows].max(axis=1) == 0).all()
    assert advice[rows].min(axis=1).mean() < -1
    assert advice.min() >= -10
    assert (advice[~masks] == 0).all(), "nothing of what is illegal"
    assert (advice[~choice] == 0).all(), "nothing where there is no choice"


def test_a_row_is_advised_alone() -> None:
    views = positions(ALL_RULES[3])[0]
    kept, together = views.tobytes(), advise(views).tobytes()
    assert b"".join(advise(views[row : row + 1]).tobytes() for row in range(len(views))) == together
    assert views.tobytes() == kept


def test_B55_models_know_this_advice() -> None:
    """Trained networks depend on it: where it changes, the kind in agents/network.py must too."""
    digest = hashlib.sha256()
    for rules in ALL_RULES:
        digest.update(np.round(advise(positions(rules)[0]), 2).tobytes())
    assert digest.hexdigest()[:12] == KNOWN
