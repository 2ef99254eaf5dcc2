"""A view as SVG: text that every browser shows, with no package needed."""

from html import escape

import numpy as np

from fives_env.rendering.picture import HEIGHT, WIDTH, Box, Dot, Shape, draw


def render_svg(view: np.void) -> str:
    """What the viewer sees, as one SVG document.

    Args:
        view: One VIEW record.
    """
    shapes = "\n".join(map(_element, draw(view)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-weight="bold">\n'
        f"{shapes}\n</svg>\n"
    )


def _element(shape: Shape) -> str:
    if isinstance(shape, Box):
        edge = f' stroke="{shape.edge}"' if shape.edge else ""
        return (
            f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.wide:.1f}" '
            f'height="{shape.high:.1f}" rx="{shape.radius:.1f}" fill="{shape.fill}"{edge}/>'
        )
    if isinstance(shape, Dot):
        middle = f'cx="{shape.x:.1f}" cy="{shape.y:.1f}"'
        return f'<circle {middle} r="{shape.radius:.1f}" fill="{shape.fill}"/>'
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:.0f}" '
        f'fill="{shape.fill}" text-anchor="{shape.anchor}" dominant-baseline="central">'
        f"{escape(shape.text)}</text>"
    )
