"""Every agent of the lab by name, and `make_agent`, which builds one from its spec text.

What an agent is made of is imported when one is made, so that listing them loads nothing.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from fives_env.policies import BuiltIn, Policy

from .specs import Entry, Field, one_of, read_spec, some_of, whole, yes_or_no

MODELS = Path(__file__).resolve().parent / "models"
"""The models that come with the library."""


def make_agent(spec: str) -> Policy:
    """The agent that `spec` describes.

    Args:
        spec: ``name[:value][,key=value]``, as in ``greedy`` or ``model:runs/a,sample=yes``.

    Raises:
        ValueError: One line that names the fault and says what there is.
    """
    entry, value, options = read_spec(spec, AGENTS)
    return entry.make(*(() if value is None else (value,)), **options)


def canonical(spec: str) -> str:
    """The shortest text of the same agent: two specs of one agent give the same.

    Raises:
        ValueError: As for `make_agent`; whether a model is there is not looked at.
    """
    return read_spec(spec, AGENTS).text


def specs(use: Literal["tried", "ladder", "timed"]) -> tuple[str, ...]:
    """The specs as which the agents are tried, measured or timed, in the order of the registry."""
    return tuple(entry.name + rest for entry in AGENTS.values() for rest in getattr(entry, use))


def shipped() -> list[str]:
    """The names of the models that come with the library."""
    return sorted(card.parent.name for card in MODELS.glob("*/card.json"))


def _model_text(text: str) -> str:
    """The name of a shipped model, also where its path is given; else the path of a folder.

    A name is the shipped model wherever the program runs; ``./NAME`` is a folder.
    """
    path, names = Path(text), shipped()
    if path.name in names and path.resolve().parent == MODELS:
        return path.name
    folder = path.as_posix()
    return f"./{folder}" if folder in names and text not in names else folder


def _model(text: str, sample: bool) -> Policy:
    from .model import load_model

    if text in shipped():
        return load_model(MODELS / text, sample=sample)
    try:
        return load_model(text, sample=sample)
    except ValueError as error:
        if len(Path(text).parts) > 1 or Path(text).exists():
            raise
        raise ValueError(f"{error}; shipped are: {', '.join(shipped())}") from None


def _load(place: str) -> Any:
    """What is called ``module:name`` in this package."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f".{module}", __package__), name)


def _class(place: str) -> Callable[..., Policy]:
    """What makes an agent of the class ``module:name``."""
    return lambda *value, **options: _load(place)(*value, **options)


_INFER = Field("none|odds", one_of("none", "odds"), "none")
_VALUE = Field("points|equity", one_of("points", "equity"), "points")

_ENTRIES = (
    Entry("random", "every legal action is equally likely", lambda: BuiltIn("random")),
    Entry(
        "greedy",
        "most points now; then the heavier tile; draws only where it must",
        lambda: BuiltIn("greedy"),
    ),
    Entry(
        "careful",
        "points now, less the best reply of the next seat, averaged over what it may hold",
        _class("heuristics.careful:Careful"),
    ),
    Entry(
        "tactic",
        "a stack of named rules that look two placements ahead; each can be switched off",
        _class("heuristics.tactic:Tactic"),
        options={
            "off": Field("RULE+RULE", some_of(lambda: tuple(_load("heuristics.tactic:RULES"))), ()),
            "infer": Field("yes|no", yes_or_no, False),
        },
        tried=("", ",off=win+reply+follow-up", ",infer=yes"),
        ladder=("", ",infer=yes"),
    ),
    Entry(
        "pimc",
        "solves W worlds that agree with the view, all hands open; the best mean",
        _class("search.pimc:Pimc"),
        value=Field("W", whole(1, 10_000)),
        options={"value": _VALUE, "infer": _INFER},
        family="perfect-information Monte Carlo",
        tried=(":4", ":4,value=equity", ":4,infer=odds"),
        ladder=(":4", ":16", ":64", ":64,value=equity"),
        timed=(":16", ":64"),
        work="worlds",
    ),
    Entry(
        "ismcts",
        "tree search over information sets, N iterations, each in another such world",
        _class("search.ismcts:Ismcts"),
        value=Field("N", whole(1, 1_000_000)),
        options={
            "value": _VALUE,
            "playout": Field("greedy|random", one_of("greedy", "random"), "greedy"),
            "infer": _INFER,
        },
        family="information-set tree search",
        tried=(":30", ":30,playout=random", ":30,value=equity", ":30,infer=odds"),
        ladder=(":300", ":3000"),
        timed=(":1000",),
        work="iterations",
    ),
    Entry(
        "rollout",
        "each action in W worlds that agree with the view and with what was played, policies play "
        "the round out; the best mean",
        _class("search.rollout:Rollout"),
        value=Field("W", whole(1, 100_000)),
        options={
            "infer": _INFER._replace(default="odds"),
            "playout": Field("greedy|tactic", one_of("greedy", "tactic"), "tactic"),
            "value": _VALUE,
        },
        family="policy rollouts",
        tried=(":4", ":20,infer=none,playout=greedy", ":4,value=equity"),
        ladder=(":64,playout=greedy", ":64", ":256,value=equity"),
        timed=(":64",),
        work="worlds",
    ),
    Entry(
        "model",
        "a trained network, its best action or a sample: one that is shipped, a model folder, or "
        "the run that made it",
        _model,
        value=Field("NAME|PATH", _model_text),
        options={"sample": Field("yes|no", yes_or_no, False)},
        family="trained network",
        tried=(),  # a model plays one game alone; tests make one of each kind of network for each
        ladder=(":fives-and-threes-2", ":all-fives-2", ":fives-and-threes-4-partners"),
        timed=(),
    ),
)

AGENTS = {entry.name: entry for entry in _ENTRIES}
"""Name -> `Entry`. Who lists agents, or measures all of them, reads this."""
