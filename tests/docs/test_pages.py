"""What the pages name is there: files, links, headings, commands, targets, pictures."""

import re
import shlex
from pathlib import Path

import pytest

from agents import command_line
from eval.commands import options_of_all
from tests.docs.pages import BLOCK, ROOT, TEXTS, blocks
from train.__main__ import COMMANDS, _options

PRODUCT = ("agents", "eval", "fives_env", "train")
FOLDERS = (*PRODUCT, "docs", "seeds", "tests")
NAMED = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/[\w./*-]*)")
LINK = re.compile(r"\]\(([^)]+)\)")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([\w./-]+):(?!=)", MAKEFILE, re.MULTILINE))
SHELL = [
    (page, line)
    for page, text in TEXTS.items()
    for line in "\n".join(blocks(text, "")).splitlines()
    if line.startswith("python -m")
]
EACH = pytest.mark.parametrize("page", TEXTS)


NOT_A_FILE = re.compile(r"-v\d+$|NAME")
"""Ids of envs, and what a reader is to name."""


def told(text: str) -> str:
    """A page without its diffs, which name files that are to be made, and without addresses."""
    text = BLOCK.sub(lambda found: "" if found[1] == "diff" else found[0], text)
    return re.sub(r"https?://\S+", "", text)


def anchors(text: str) -> set[str]:
    """What GitHub makes of the headings."""
    heads = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@EACH
def test_every_file_that_is_named_is_there(page: str) -> None:
    found = {name.rstrip(".") for name in NAMED.findall(told(TEXTS[page]))}
    named = [name for name in found if not NOT_A_FILE.search(name)]
    missing = [name for name in named if not list(ROOT.glob(name.rstrip("/")))]
    assert sorted(missing) == []


@EACH
def test_every_link_leads_somewhere(page: str) -> None:
    for link in LINK.findall(told(TEXTS[page])):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text("utf-8")), link


def test_every_page_can_be_reached_from_the_readme() -> None:
    linked = set(LINK.findall(TEXTS["README.md"]))
    assert {page for page in TEXTS if page.startswith("docs/")} <= linked


def test_the_readme_is_for_a_first_visit() -> None:
    assert len(TEXTS["README.md"].splitlines()) <= 170


def test_every_room_is_in_the_architecture() -> None:
    """In a few pages: whoever adds a room says there in one line what is in it."""
    text = TEXTS["docs/architecture.md"]
    rooms = [path.parent for name in PRODUCT for path in (ROOT / name).glob("*/__init__.py")]
    named = [f"`{room.relative_to(ROOT).as_posix()}/`" for room in rooms]
    assert [room for room in named if room not in text] == []
    assert len(text.splitlines()) <= 120


@pytest.mark.parametrize(("page", "line"), SHELL)
def test_every_command_that_is_shown_can_be_given(page: str, line: str) -> None:
    """With its options; what is written in capitals is the reader's."""
    room, *words = shlex.split(line.replace(" AGENT", " greedy"), comments=True)[2:]
    if room == "eval":
        command_line.read(options_of_all(), "eval", "", words)
    elif room == "train":
        (row,) = [row for row in COMMANDS if row.name == words[0]]
        command_line.read(_options(row, words[1:]), "train", "", words[1:])
    else:
        assert (ROOT / room / "__main__.py").exists() or room == "fives_env.agents"


def test_every_target_that_is_named_is_there() -> None:
    for page, text in TEXTS.items():
        shown = "\n".join([*blocks(text, ""), *re.findall(r"`([^`\n]+)`", text)])
        for name in re.findall(r"^make ([\w./-]+)", shown, re.MULTILINE):
            assert name in TARGETS, f"{page}: make {name}"


def test_every_picture_is_shown_and_has_a_target_that_makes_it() -> None:
    pictures = [path for path in (ROOT / "docs").iterdir() if path.suffix in (".png", ".svg")]
    shown = {Path(link).name for text in TEXTS.values() for link in LINK.findall(text)}
    assert {path.name for path in pictures} <= shown
    assert {f"docs/{path.name}" for path in pictures} <= TARGETS
