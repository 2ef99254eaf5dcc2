"""What the README and the pages of docs/ show in Python is run here, as printed."""

from collections import Counter
from dataclasses import fields

import pytest

from fives_env.rules import PRESETS, Rules
from tests.docs.pages import EXAMPLES, TEXTS


def test_there_is_an_example_for_each_api() -> None:
    """PettingZoo, Gymnasium, a learner by id; the batch."""
    found = Counter(name.partition(",")[0] for name in EXAMPLES)
    assert (found["README.md"], found["docs/envs.md"]) == (3, 1)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run_as_printed(name: str) -> None:
    """In a namespace of their own."""
    exec(compile(EXAMPLES[name], name, "exec"), {})


def test_every_option_and_preset_is_named() -> None:
    """A new option must be in the table."""
    named = [*PRESETS, *(field.name for field in fields(Rules) if field.name != "game")]
    assert [name for name in named if f"`{name}`" not in TEXTS["docs/envs.md"]] == []
