"""The text of an agent, ``name[:value][,key=value]``: what may stand in it, and reading it.

An `Entry` says what one kind of agent takes, and as what it is tried and measured; all else follows
from that, so a new agent is one entry in registry.py.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fives_env.policies import Policy


class Field(NamedTuple):
    """One value in a spec.

    Attributes:
        form: What to write there, for people: ``NAME|PATH``, ``yes|no``.
        read: Text to value; a ValueError says what would be right.
        default: Of an option that is left out.
    """

    form: str
    read: Callable[[str], Any]
    default: Any = None


@dataclass(frozen=True)
class Entry:
    """One kind of agent.

    Attributes:
        name: What its specs begin with.
        help: One line.
        make: Builds it; called with the value, if there is one, and the options by name.
        value: What stands behind the colon; None where nothing may.
        options: What may stand behind the commas.
        family: What it is called together with others like it, in the ladder's picture.
        tried: What stands behind the name in specs that answer at once and between them play in
            every way there is; all agents are tested as these.
        ladder: The same of what ``python -m eval ladder`` measures.
        timed: The same of what ``python -m eval benchmark`` times.
        work: What a search makes as many of as its value says, for the speed of the last `timed`.
    """

    name: str
    help: str
    make: Callable[..., Policy]
    value: Field | None = None
    options: Mapping[str, Field] = field(default_factory=dict)
    family: str = "rules of thumb"
    tried: tuple[str, ...] = ("",)
    ladder: tuple[str, ...] = ("",)
    timed: tuple[str, ...] = ("",)
    work: str = ""

    @property
    def form(self) -> str:
        """How its spec is written, as in ``model:NAME|PATH[,sample=yes|no]``."""
        value = "" if self.value is None else f":{self.value.form}"
        options = (f"[,{name}={option.form}]" for name, option in self.options.items())
        return self.name + value + "".join(options)


class Spec(NamedTuple):
    """A spec that was read.

    Attributes:
        entry: The kind of agent.
        value: Behind the colon; None where nothing may stand there.
        options: Every option of the entry, with its default where it was left out.
    """

    entry: Entry
    value: Any
    options: dict[str, Any]

    @property
    def text(self) -> str:
        """The shortest text of this agent; two specs of one agent give the same."""
        value = "" if self.value is None else f":{_text(self.value)}"
        return f"{self.entry.name}{value}" + "".join(
            f",{name}={_text(self.options[name])}"
            for name, option in self.entry.options.items()
            if self.options[name] != option.default
        )


def read_spec(text: str, entries: Mapping[str, Entry]) -> Spec:
    """Reads the spec `text` of one of `entries`.

    Raises:
        ValueError: One line that names the fault and says what there is.
    """
    if not isinstance(text, str):
        raise ValueError(f"an agent spec is text like 'greedy', not {text!r}")
    head, *tail = text.strip().split(",")
    name, colon, value = (part.strip() for part in head.partition(":"))
    if name not in entries:
        raise ValueError(f"unknown agent {name!r} in {text!r}{_nearest(name, entries)}")
    entry = entries[name]
    if entry.value is None and colon:
        raise ValueError(f"agent {text!r}: {name} takes no value; write {entry.form}")
    if entry.value is not None and not value:
        raise ValueError(f"agent {text!r}: {name} needs a value; write {entry.form}")
    read = None if entry.value is None else _read(entry.value, value, entry.form, text)
    return Spec(entry, read, _read_options(tail, entry, text))


def yes_or_no(text: str) -> bool:
    """Reads ``yes`` or ``no``."""
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r} is not yes or no")
    return text == "yes"


def whole(low: int, high: int) -> Callable[[str], int]:
    """What reads a whole number from `low` to `high`."""

    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
        if not low <= number <= high:
            raise ValueError(f"{text!r} is not a whole number from {low} to {high}")
        return number

    return read


def one_of(*words: str) -> Callable[[str], str]:
    """What reads one of `words`."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"{text!r} is not one of {', '.join(words)}")
        return text

    return read


def some_of(known: Callable[[], tuple[str, ...]]) -> Callable[[str], tuple[str, ...]]:
    """What reads words joined by ``+``, into the order in which `known()` has them."""

    def read(text: str) -> tuple[str, ...]:
        words = [word.strip() for word in text.split("+")]
        for word in words:
            if word not in known():
                raise ValueError(f"{word!r} is not known{_nearest(word, known())}")
        return tuple(word for word in known() if word in words)

    return read


def _read_options(parts: Iterable[str], entry: Entry, text: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise ValueError(f"agent {text!r}: {part!r} is not of the form key=value")
        if name not in entry.options:
            options = _nearest(name, entry.options) if entry.options else "; it takes none"
            raise ValueError(f"agent {text!r}: {entry.name} has no option {name!r}{options}")
        if name in given:
            raise ValueError(f"agent {text!r}: option {name!r} stands twice")
        given[name] = _read(entry.options[name], value, entry.form, text, f"{name}=")
    return {name: given.get(name, option.default) for name, option in entry.options.items()}


def _read(field_: Field, value: str, form: str, text: str, of: str = "") -> Any:
    try:
        return field_.read(value)
    except ValueError as error:
        raise ValueError(f"agent {text!r}: {of}{error}; write {form}") from None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "+".join(value)
    return str(value)


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return (f"; did you mean {near[0]}?" if near else ";") + f" there are: {', '.join(known)}"
