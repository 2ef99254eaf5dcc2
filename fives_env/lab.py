"""The agents, which the library makes by their spec, and imports only when one is asked for.

What pip installs has them inside, as `fives_env.agents`. In a checkout they are the folder `agents`
beside the library; they are imported from there under the same name, and `agents` is a second name
for these modules. So no process has two copies, from whatever folder it is started, and compiled
code that is kept on disk names its modules alike everywhere.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from fives_env.code_cache import CHECKOUT as CHECKOUT

NAME, SHORT = "fives_env.agents", "agents"
PROGRAM = SHORT if CHECKOUT else NAME
"""What stands behind ``python -m``."""
_BESIDE = Path(__file__).parents[1] / "agents/__init__.py"


def make_agent(spec: str) -> Any:
    """The agent of this spec (agents/registry.py).

    Raises:
        ValueError: One line that names the fault and says what there is.
    """
    return importlib.import_module(NAME).make_agent(spec)


class _Checkout(MetaPathFinder, Loader):
    """Finds the agents beside the library; for a module under its short name, the one there is."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == NAME and _BESIDE.is_file():
            return spec_from_file_location(NAME, _BESIDE)
        # Only ours: somebody else's package may be called agents too.
        is_ours = name.startswith(f"{SHORT}.") and sys.modules[SHORT] is sys.modules.get(NAME)
        real = find_spec(f"fives_env.{name}") if is_ours else None
        if real is None:
            return None
        package = real.submodule_search_locations is not None
        return ModuleSpec(name, self, origin=real.origin, is_package=package)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(f"fives_env.{name}")

    def get_code(self, name: str) -> CodeType | None:
        """What ``python -m`` runs."""
        real = find_spec(f"fives_env.{name}")
        return real.loader.get_code(real.name)  # type: ignore[union-attr, no-any-return]


if CHECKOUT:
    sys.meta_path.insert(0, _Checkout())
