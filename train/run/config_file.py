"""Settings of a run, read back from its config.json: each is there, known and of its kind."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from agents.files import read_json, shown
from eval.run_files import CONFIG

Kind = TypeVar("Kind")


def read_settings(kind: type[Kind], run: Path) -> Kind:
    """The settings of the run in this folder, which may have been moved.

    Args:
        kind: A dataclass; its fields may be dataclasses again.
        run: The folder.

    Raises:
        ValueError: config.json cannot be read; or a setting is missing, not known or wrong, and is
            named.
    """
    path = run / CONFIG
    try:
        settings: Kind = _build(kind, {**read_json(path), "out": str(run)}, "")
        return settings
    except ValueError as error:
        said = str(error)
        raise ValueError(said if said.startswith(str(path)) else f"{path}: {said}") from None


def _build(kind: Any, values: Any, prefix: str) -> Any:
    """An instance of a dataclass from what JSON has of it; `prefix` is what its fields are in."""
    if not isinstance(values, dict):
        raise ValueError(f"setting {prefix.rstrip('.')} is {shown(values)}, not an object")
    hints = typing.get_type_hints(kind)
    known = [field.name for field in fields(kind)]
    if strange := sorted(set(values) - set(known)):
        raise ValueError(f"setting {prefix}{shown(strange[0])} is not known to this version")
    if missing := [name for name in known if name not in values]:
        raise ValueError(f"setting {prefix}{missing[0]} is missing; this version needs it")
    return kind(**{name: _value(hints[name], values[name], prefix + name) for name in known})


def _value(hint: Any, value: Any, name: str) -> Any:
    if is_dataclass(hint):
        return _build(hint, value, f"{name}.")
    if hint is Path and isinstance(value, str):
        return Path(value)
    if typing.get_origin(hint) is tuple:
        item = typing.get_args(hint)[0]
        if isinstance(value, list):
            return tuple(_value(item, one, name) for one in value)
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if bool not in kinds and isinstance(value, bool):
        kinds = ()
    if isinstance(value, tuple(int if kind is float else kind for kind in kinds) + kinds):
        return value
    raise ValueError(f"setting {name} is {shown(value)}, which is not of its kind")
