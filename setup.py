"""What setuptools cannot be told in pyproject.toml: packages from two folders, links by URL."""

import re
import tomllib
from pathlib import Path
from runpy import run_path

from setuptools import find_packages, setup

HOME = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
VERSION = run_path("fives_env/version.py")["__version__"]


def absolute(link: re.Match[str]) -> str:
    """A link or a picture of the README for an index, which shows that file by itself."""
    text, path = link.groups()
    home = f"{HOME}/blob"
    if text.startswith("!"):
        home = HOME.replace("github.com", "raw.githubusercontent.com")
    return f"{text}({home}/v{VERSION}/{path})"


readme = Path("README.md").read_text("utf-8")
setup(
    # The agents lie beside the library and are installed inside it: see fives_env/lab.py.
    packages=[
        *find_packages(include=["fives_env", "fives_env.*"]),
        *(f"fives_env.{name}" for name in find_packages(include=["agents", "agents.*"])),
    ],
    package_dir={"fives_env.agents": "agents"},
    long_description=re.sub(r"(!?\[[^]]*\])\((?!https?:|#)([^)]+)\)", absolute, readme),
    long_description_content_type="text/markdown",
)
