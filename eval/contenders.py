"""Who plays in a tournament."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents import canonical, make_agent
from fives_env.policies import Policy


@dataclass(frozen=True)
class Contender:
    """An agent that plays.

    Attributes:
        name: Its spec, in canonical form.
        identity: What the store knows it by: the spec, and for a model a hash of its weights, so
            that results of a model that was trained on are not taken for those of the new one.
        policy: What plays.
    """

    name: str
    identity: str
    policy: Policy


def enter(spec: str) -> Contender:
    """The agent of this spec.

    Raises:
        ValueError: There is none; the message says what there is.
    """
    name, policy = canonical(spec), make_agent(spec)
    network = getattr(policy, "network", None)
    if network is None:
        return Contender(name, name, policy)
    digest = hashlib.sha256()
    for key, values in sorted(network.tensors().items()):
        digest.update(key.encode() + np.ascontiguousarray(values).tobytes())
    return Contender(name, f"{name}#{digest.hexdigest()[:12]}", policy)


def enter_as(name: str, identity: str) -> Contender:
    """The agent of this spec, which must still be the one that is known as `identity`.

    Raises:
        ValueError: As for `enter`; or it is another one by now.
    """
    contender = enter(name)
    if contender.identity != identity:
        raise ValueError(f"{name} has changed since the tournament began; start it again")
    return contender


def anchor(spec: str | None, entered: Sequence[Contender]) -> str:
    """The name of the agent whose rating is 0: random where it plays, else the first, by default.

    Raises:
        ValueError: The agent of this spec does not play.
    """
    names = [contender.name for contender in entered]
    if spec is None:
        return "random" if "random" in names else names[0]
    if canonical(spec) not in names:
        raise ValueError(f"--anchor {spec} does not play; --agents are: {' '.join(names)}")
    return canonical(spec)
