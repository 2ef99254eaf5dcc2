"""The pages: README.md and docs/*.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in PAGES}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text: str, language: str) -> list[str]:
    """What stands between fences of this language; of none, "" is its name."""
    return [code for named, code in BLOCK.findall(text) if named == language]


EXAMPLES = {
    f"{page}, example {number}": code
    for page, text in TEXTS.items()
    for number, code in enumerate(blocks(text, "python"))
}
"""Every example in Python by where it stands."""
