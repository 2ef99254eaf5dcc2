"""The one place that configures Numba: `jit` and its kin, and the first-use notice.

Functions that Python calls are `jit`: they are kept on disk (code_cache.py). Those that only other
compiled functions call are `jit_part` or `jit_inline`: they are compiled into the former, without
the way in from Python, which costs a third of the time that compiling takes.
"""

import sys
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.core.registry import CPUDispatcher

from fives_env.code_cache import CodeCache, say

config: Any = numba.config  # its attributes are made at run time
_OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
if config.DISABLE_JIT:
    config.DISABLE_JIT = 0
    say("NUMBA_DISABLE_JIT is taken back: the engine's records need the compiler")


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles `function` on first use: nopython, without the GIL, cached on disk."""
    compiled = _compiler(function)
    compiled._cache = CodeCache(function)
    return compiled  # type: ignore[no-any-return]


def jit_part(function: Callable[..., Any]) -> Callable[..., Any]:
    """For what only compiled code calls."""
    return _part(function)


def jit_inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """`jit_part`, and compiled into every caller: for what a rollout does at each step."""
    return _part(function, forceinline=True)


class _Part(CPUDispatcher):  # type: ignore[misc]
    """Has no way in from Python."""

    def __call__(self, *arguments: Any) -> Any:
        name = self.py_func.__name__
        raise TypeError(f"{name} is called by compiled code alone; jit({name}.py_func) by all")


def _part(function: Callable[..., Any], **options: bool) -> Callable[..., Any]:
    compiled = _compiler(function, no_cpython_wrapper=True, **options)
    compiled.__class__ = _Part
    return compiled  # type: ignore[no-any-return]


def _compiler(function: Callable[..., Any], **options: bool) -> Any:
    compile_: Any = numba.njit
    return compile_(function, **_OPTIONS, **options)


_OURS = ("fives_env", "agents", "eval", "train")


class _FirstUseNotice(event.Listener):
    """Says once on stderr that code is being compiled, since the first call then takes a while."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.said and module.split(".")[0] in _OURS:
            self.said = True
            print("fives_env: compiling, once (up to 30 s) ...", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Nothing is said when it is done."""


event.register("numba:compile", _FirstUseNotice())  # type: ignore[no-untyped-call]
