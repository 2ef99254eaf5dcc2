"""Who plays in a tournament."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents import canonical, make_agent
from fives_env.play import checked
from fives_env.policies import Policy
from fives_env.records import VIEW


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

    @property
    def content(self) -> str:
        """As `content_of`."""
        return content_of(self.identity)


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


def answer(agent: tuple[str, str], handed: tuple[bytes, bytes, int]) -> int:
    """What an agent does in one decision; for a process that has nothing of any game.

    Args:
        agent: Its spec and identity.
        handed: The view and the legal actions, as bytes, and the key.

    Raises:
        ValueError: There is no such agent, or it did not return one legal action.
    """
    policy, (view, mask, key) = _agent(*agent), handed
    views = np.frombuffer(bytearray(view), VIEW)
    masks = np.frombuffer(bytearray(mask), np.bool_)[None]
    actions = policy.act(views, masks, np.array([key], np.uint64))
    return int(checked(policy, actions, views, masks)[0])


@functools.cache
def _agent(name: str, identity: str) -> Policy:
    return enter_as(name, identity).policy


def name_of(identity: str) -> str:
    """The spec of the agent of this identity."""
    return re.sub(r"#[0-9a-f]{12}$", "", identity)


def content_of(identity: str) -> str:
    """What an agent is, whatever the folder of its model is called.

    Keys and the order at a table follow from it, so that a new name changes no result.
    """
    return re.sub(r"^(\w+):[^,]*?(,.*)?#([0-9a-f]{12})$", r"\1:\3\2", identity)


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
