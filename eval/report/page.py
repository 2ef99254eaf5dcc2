"""A report as one HTML page, whole in itself: text, tables, and figures as SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import singledispatch
from html import escape as html_escape
from pathlib import Path

from agents.terminal import printable
from eval.report.blocks import (
    Block,
    Cards,
    Cell,
    Details,
    Facts,
    Heading,
    HeatMap,
    Picture,
    Report,
    Section,
    Table,
    Text,
)
from eval.style import INK, style

CSS = Path(__file__).with_name("page.css")


def escape(text: str) -> str:
    """Any text for a page: what could be markup, and what does not print, stands as written."""
    return html_escape(printable(text))


def page(report: Report) -> str:
    """The page as text."""
    sections = "".join(map(_section, report.sections))
    links = "".join(
        f'<a href="#{section.name}">{escape(section.heading)}</a>\n' for section in report.sections
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n"
        f"<style>\n{CSS.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(report.heading)}</h1>\n{_all(report.blocks)}"
        f"<nav>\n{links}</nav>\n{sections}</main>\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    heading = f'<h2 id="{section.name}">{escape(section.heading)}</h2>'
    return f"<section>\n{heading}\n{_all(section.blocks)}</section>\n"


def _all(blocks: Sequence[Block]) -> str:
    return "".join(map(html, blocks))


@singledispatch
def html(block: Block) -> str:
    """A block as HTML."""
    raise TypeError(f"{type(block).__name__} is no block")


@html.register
def _(block: Heading) -> str:
    return f"<h3>{escape(block.text)}</h3>\n"


@html.register
def _(block: Text) -> str:
    kind = f' class="{block.kind}"' if block.kind else ""
    return f"<p{kind}>{escape(block.text)}</p>\n"


@html.register
def _(block: Cards) -> str:
    each = (
        f'<div class="card"><div class="label">{escape(label)}</div>'
        f'<div class="number">{escape(number)}</div><div class="note">{escape(note)}</div></div>\n'
        for number, label, note in block.numbers
    )
    return f'<div class="cards">\n{"".join(each)}</div>\n'


@html.register
def _(block: Table) -> str:
    kinds = ["word" if at < block.words else "figure" for at in range(len(block.headings))]
    head = _row("th", block.headings, kinds)
    lines = "".join(_row("td", row, kinds) for row in block.rows)
    whole = f"<table>\n<thead>{head}</thead>\n<tbody>\n{lines}</tbody>\n</table>"
    return f'<div class="wide">{whole}</div>\n'


@html.register
def _(block: HeatMap) -> str:
    named = [
        f'<span class="dot" style="background:{color}"></span>{escape(name)}'
        for name, color in zip(block.names, block.colors, strict=True)
    ]
    across = "".join(f'<th scope="col"><div>{name}</div></th>' for name in named)
    lines = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(map(_heat_cell, row))}</tr>\n'
        for name, row in zip(named, block.cells, strict=True)
    )
    return (
        f'<figure>\n<div class="wide"><table class="heat">\n<thead><tr><td></td>{across}</tr>'
        f"</thead>\n<tbody>\n{lines}</tbody>\n</table></div>\n"
        f"<figcaption>{escape(block.caption)}</figcaption>\n</figure>\n"
    )


@html.register
def _(block: Picture) -> str:
    """A figure drawn in the page's own colours."""
    with style(ink=INK):
        written = io.StringIO()
        block.draw().savefig(written, format="svg", transparent=True, metadata={"Date": None})
    svg = _inline(written.getvalue(), block.name, block.caption)
    return f"<figure>\n{svg}<figcaption>{escape(block.caption)}</figcaption>\n</figure>\n"


@html.register
def _(block: Facts) -> str:
    each = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n" for name, value in block.pairs)
    return f"<dl>\n{''.join(each)}</dl>\n"


@html.register
def _(block: Details) -> str:
    summary = escape(block.summary)
    return f"<details>\n<summary>{summary}</summary>\n{_all(block.blocks)}</details>\n"


def _row(tag: str, cells: Sequence[str], kinds: Sequence[str]) -> str:
    pairs = zip(cells, kinds, strict=True)
    return "<tr>" + "".join(f'<{tag} class="{k}">{escape(c)}</{tag}>' for c, k in pairs) + "</tr>\n"


def _heat_cell(cell: Cell) -> str:
    if not cell.text:
        return '<td class="none"></td>'
    kind = "won" if cell.heat > 0 else "lost"
    strength = f"{70 * min(1.0, abs(cell.heat)) ** 0.8:.0f}%"  # ink stays readable on it
    faint = " faint" if cell.faint else ""
    note = f' title="{escape(cell.note)}"' if cell.note else ""
    return f'<td class="{kind}{faint}" style="--heat:{strength}"{note}>{escape(cell.text)}</td>'


def _inline(svg: str, name: str, label: str) -> str:
    """Matplotlib's file as an element of the page: no prologue, no addresses, ids of its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = svg.replace("xlink:href", "href")
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = svg.replace(INK, "currentColor")
    width = re.search(r'width="([\d.]+)pt"', svg)
    style = f"max-width:{float(width[1]) / 0.75:.0f}px" if width else ""
    opening = f'<svg role="img" aria-label="{escape(label)}" style="{style}"'
    return re.sub(
        r'<svg height="[\d.]+pt"|<svg width="[\d.]+pt" height="[\d.]+pt"', opening, svg, count=1
    )
