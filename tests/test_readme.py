"""What the README shows is run here, as printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_readme_has_an_example_for_each_api() -> None:
    """The batch, PettingZoo, Gymnasium, a learner by id."""
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize("index", range(len(EXAMPLES)))
def test_readme_examples_run_as_printed(index: int) -> None:
    """In a namespace of their own."""
    exec(compile(EXAMPLES[index], f"README example {index}", "exec"), {})


def test_readme_names_every_option_and_preset() -> None:
    """A new option must be in the table."""
    from dataclasses import fields

    from fives_env.rules import PRESETS, Rules

    text = README.read_text(encoding="utf-8")
    named = [*PRESETS, *(field.name for field in fields(Rules) if field.name != "game")]
    assert [name for name in named if f"`{name}`" not in text] == []
