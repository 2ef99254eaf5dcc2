"""Every id of a case from the field that a test names is explained in docs/field-cases.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "field-cases.md"
ROW = re.compile(r"^\| ([BX]\d\d) \| (.+) \| (.+) \|$", re.MULTILINE)
ID = re.compile(r"(?<![A-Za-z0-9])[BX]\d\d(?![A-Za-z0-9])")


def named() -> Iterator[str]:
    """The ids in names and docstrings of modules, classes and functions of the tests."""
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                yield from ID.findall(f"{getattr(node, 'name', '')} {text}".replace("_", " "))


def rows() -> list[str]:
    """The ids that the page explains, in its order."""
    return [found[0] for found in ROW.findall(PAGE.read_text("utf-8"))]


def test_every_id_that_a_test_names_has_a_row_and_every_row_a_test() -> None:
    assert set(named()) == set(rows())
    assert len(set(rows())) > 50


def test_rows_stand_once_and_in_order() -> None:
    assert rows() == sorted(set(rows()))
