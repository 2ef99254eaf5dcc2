"""Pieces of a self-contained HTML page: text, tables, and figures as SVG. Nothing is fetched."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from eval import plots

CSS = Path(__file__).with_name("page.css")


def page(title: str, body: Iterable[str]) -> str:
    """A whole page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{CSS.read_text(encoding='utf-8')}</style>\n"
        f"</head>\n<body>\n<main>\n{''.join(body)}</main>\n</body>\n</html>\n"
    )


def section(heading: str, *content: str) -> str:
    """A section under a heading."""
    return f"<section>\n<h2>{escape(heading)}</h2>\n{''.join(content)}</section>\n"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f"<p{f' class={kind}' if kind else ''}>{escape(text)}</p>\n"


def cards(numbers: Iterable[tuple[str, str, str]]) -> str:
    """Big numbers, each with what it is and a line that explains it."""
    each = (
        f'<div class="card"><div class="label">{escape(label)}</div>'
        f'<div class="number">{escape(number)}</div><div class="note">{escape(note)}</div></div>\n'
        for number, label, note in numbers
    )
    return f'<div class="cards">\n{"".join(each)}</div>\n'


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table whose first columns (`words` of them) hold words, and the others numbers."""
    kinds = ["word" if column < words else "figure" for column in range(len(headings))]
    head = _row("th", headings, kinds)
    lines = "".join(_row("td", row, kinds) for row in rows)
    whole = f"<table>\n<thead>{head}</thead>\n<tbody>\n{lines}</tbody>\n</table>"
    return f'<div class="wide">{whole}</div>\n'


def details(summary: str, content: str) -> str:
    """Content that is folded away."""
    return f"<details>\n<summary>{escape(summary)}</summary>\n{content}</details>\n"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values."""
    each = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n" for name, value in pairs)
    return f"<dl>\n{each}</dl>\n"


def picture(draw: Callable[[], Figure], name: str, caption: str) -> str:
    """A figure drawn in the page's own colours.

    Args:
        draw: Makes the figure.
        name: Unique on the page; the ids within the SVG begin with it.
        caption: What is to be seen, for those too who cannot see it.
    """
    with plots.style(ink=plots.INK):
        written = io.StringIO()
        draw().savefig(written, format="svg", transparent=True, metadata={"Date": None})
    svg = _inline(written.getvalue(), name, caption)
    return f"<figure>\n{svg}<figcaption>{escape(caption)}</figcaption>\n</figure>\n"


def _row(tag: str, cells: Sequence[str], kinds: Sequence[str]) -> str:
    pairs = zip(cells, kinds, strict=True)
    return "<tr>" + "".join(f'<{tag} class="{k}">{escape(c)}</{tag}>' for c, k in pairs) + "</tr>\n"


def _inline(svg: str, name: str, label: str) -> str:
    """Matplotlib's file as an element of the page: no prologue, no addresses, ids of its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = svg.replace("xlink:href", "href")
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = svg.replace(plots.INK, "currentColor")
    width = re.search(r'width="([\d.]+)pt"', svg)
    style = f"max-width:{float(width[1]) / 0.75:.0f}px" if width else ""
    opening = f'<svg role="img" aria-label="{escape(label)}" style="{style}"'
    return re.sub(
        r'<svg height="[\d.]+pt"|<svg width="[\d.]+pt" height="[\d.]+pt"', opening, svg, count=1
    )
