"""docs/versions.md says what the code says: numbers and messages."""

import ast
import re

import pytest

from fives_env.envs.registration import IDS
from tests.docs.pages import ROOT, TEXTS

TEXT = TEXTS["docs/versions.md"]
ROWS = re.findall(r"^\| [^|]+ \| `(\w+)` in `(\S+)` \| `([^`]+)` \|", TEXT, re.MULTILINE)
REFUSED = re.findall(r"^\| [^|]+ \| `(\S+\.py)` \| (.+) \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("name", "path", "now"), ROWS)
def test_numbers_are_those_of_the_code(name: str, path: str, now: str) -> None:
    if name == "IDS":
        assert all(env_id.endswith(now) for env_id in IDS)
        return
    found = re.search(rf"^{name} = (.+)$", (ROOT / path).read_text("utf-8"), re.MULTILINE)
    assert found is not None
    assert str(ast.literal_eval(found[1])) == now


@pytest.mark.parametrize(("path", "messages"), REFUSED)
def test_messages_are_those_of_the_code(path: str, messages: str) -> None:
    """Pieces between their values, as they stand in texts of the module."""
    source = ast.parse((ROOT / path).read_text("utf-8"))
    texts = [node.value for node in ast.walk(source) if isinstance(node, ast.Constant)]
    said = [text for text in texts if isinstance(text, str)]
    for message in re.findall(r"`([^`]+)`", messages):
        for piece in message.split("…"):
            piece = piece.strip(" .")
            assert any(piece in text for text in said), piece


def test_the_page_has_them_all() -> None:
    assert len(ROWS) == 8
    assert len(REFUSED) == 12
