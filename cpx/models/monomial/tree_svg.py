"""A tree as a picture: boxes below each other, as text of an SVG file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _BESIDE, _BELOW, _EDGE = 148, 66, 14, 40, 12
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2430; text-anchor: middle }
.chosen { font-weight: 600 }
.small, .edge { font-size: 11px; fill: #5a6272 }
rect { fill: #ffffff; stroke: #6b7484; stroke-width: 1.2 }
.best rect { fill: #dff3e4; stroke: #1f7a3d; stroke-width: 2 }
.beaten rect { fill: #f0f1f4; stroke-dasharray: 4 3 }
path { fill: none; stroke: #9aa2b1; stroke-width: 1.2 }
.page { fill: #ffffff; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e8eaf0 } .small, .edge { fill: #a9b1c2 } rect { fill: #232833; stroke: #8b94a7 }
  .best rect { fill: #17402a; stroke: #58c27d } .beaten rect { fill: #1b1f27 }
  .page { fill: #14171d }
}
"""


@dataclass(frozen=True)
class Box:
    """A box: its parent's place in the list, a kind for its colours, three lines, a title."""

    parent: int | None
    kind: str
    lines: tuple[str, str, str]
    title: str


def svg_of(boxes: Sequence[Box], title: str) -> str:
    """Return the picture of a tree; it follows the colours of the page's scheme.

    boxes: Each after its parent, the root first.
    """
    children: dict[int | None, list[int]] = {}
    for place, box in enumerate(boxes):
        children.setdefault(box.parent, []).append(place)
    centres: dict[int, tuple[float, float]] = {}
    width = _layout(children, centres, 0, _EDGE, 0) if boxes else _EDGE
    depth = max((y for _, y in centres.values()), default=0.0)
    wide, high = width - _BESIDE + _EDGE, depth + _HEIGHT + _EDGE
    size = f'width="{wide:g}" height="{high:g}" viewBox="0 0 {wide:g} {high:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{wide:g}" height="{high:g}"/>',
    ]
    for place, box in enumerate(boxes):
        if box.parent is not None:
            (x, y), (to_x, to_y) = centres[box.parent], centres[place]
            start, middle = y + _HEIGHT, (y + _HEIGHT + to_y) / 2
            lines.append(f'<path d="M{x:g} {start:g}V{middle:g}H{to_x:g}V{to_y:g}"/>')
    lines += [_drawn(box, *centres[place]) for place, box in enumerate(boxes)]
    return "\n".join([*lines, "</svg>", ""])


def _layout(
    children: dict[int | None, list[int]],
    centres: dict[int, tuple[float, float]],
    place: int,
    left: float,
    top: float,
) -> float:
    """Place a node above the middle of its children; return where the next one may begin."""
    below = children.get(place, [])
    right = left
    for child in below:
        right = _layout(children, centres, child, right, top + _HEIGHT + _BELOW)
    right = max(right, left + _WIDTH + _BESIDE)
    middle = (left + right - _BESIDE) / 2
    if below:
        middle = (centres[below[0]][0] + centres[below[-1]][0]) / 2
    centres[place] = (middle, top + _EDGE)
    return right


def _drawn(box: Box, x: float, y: float) -> str:
    """Return a box with its lines."""
    texts = "".join(
        f'<text class="{style}" x="{x:g}" y="{y + 19 + 18 * i:g}">{escape(text)}</text>'
        for i, (style, text) in enumerate(zip(("chosen", "", "small"), box.lines, strict=True))
    )
    corner = f'x="{x - _WIDTH / 2:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"'
    return f'<g class="{box.kind}"><title>{escape(box.title)}</title><rect {corner}/>{texts}</g>'
