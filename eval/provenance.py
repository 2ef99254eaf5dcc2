"""What the numbers were measured on."""

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "stable-baselines3",
    "sb3-contrib",
    "torch",
)


def facts() -> dict[str, str]:
    """Processor, cores, system, Python, packages and commit, as far as they can be found out."""
    commit = _commit()
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count() or "unknown"),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        **{name: found for name in PACKAGES if (found := _version(name))},
        **({"commit": commit} if commit else {}),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of this checkout, with a + where files differ from it."""
    here = Path(__file__).parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def pin(cpu: int | None) -> None:
    """Keeps the calling thread to one core, or with None lets it use all; on Linux alone."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, _ALLOWED if cpu is None else {cpu})


if sys.platform == "linux":
    _ALLOWED = os.sched_getaffinity(0)
    LAST_CORE: int | None = max(_ALLOWED)
else:
    LAST_CORE = None
