"""Draws which room of ``cpx/`` imports which, from the imports: ``docs/_static/house.svg``.

    python docs/house_picture.py

Rooms stand in the order of ``tests/test_layers.py``, each family below the core. A mark in a row
says that the room imports from the room of the column. All marks below the diagonal means that
no two rooms import each other; a mark above it would be a circle, and is drawn in another colour.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from cpx.models import FAMILIES
from tests.test_layers import LAYERS, imports_of_modules

PATH = Path(__file__).parent / "_static" / "house.svg"
CELL, LEFT, TOP = 16, 196, 196
INK, CORE, FAMILY, WRONG = "#7d8590", "#2f8fd8", "#23a67a", "#d9482b"


def rooms() -> list[str]:
    """Return the rooms from the lowest on, and the families in their order."""
    core = [room for layer in LAYERS for room in layer if room and room != "models"]
    return [room for room in core if not room.startswith("__")] + [
        f"models/{name}" for name in FAMILIES
    ]


def used() -> set[tuple[str, str]]:
    """Return the pairs of rooms of which the first imports from the second."""
    return {
        (_room(name), _room(other))
        for name, others in imports_of_modules().items()
        for other in others
        if _room(name) != _room(other)
    }


def _room(module: str) -> str:
    parts = module.split(".")
    return "/".join(parts[1:3]) if parts[1:2] == ["models"] else "".join(parts[1:2])


def drawn() -> str:
    """Return the picture as SVG."""
    names, pairs = rooms(), used()
    size = len(names) * CELL
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + size + 8} {TOP + size + 8}"'
        f' font-family="sans-serif" font-size="12" fill="{INK}">',
        "<title>Which room of cpx imports which</title>",
    ]
    for at, name in enumerate(names):
        x, y = LEFT + at * CELL, TOP + at * CELL
        lines += [
            f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{name}</text>',
            f'<text transform="translate({x + 12},{TOP - 8}) rotate(-90)">{name}</text>',
            f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{INK}" opacity="0.35"/>',
            f'<path d="M{LEFT} {y}h{size}M{x} {TOP}v{size}" stroke="{INK}" opacity="0.2"/>',
        ]
    for row, name in enumerate(names):
        for column, other in enumerate(names):
            if (name, other) in pairs:
                colour = FAMILY if name.startswith("models/") else CORE
                colour = colour if column < row else WRONG
                x, y = LEFT + column * CELL + 3, TOP + row * CELL + 3
                lines.append(
                    f'<rect x="{x}" y="{y}" width="10" height="10" rx="2" fill="{colour}">'
                    f"<title>{name} imports {other}</title></rect>"
                )
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    PATH.write_text(drawn(), encoding="utf-8")
    print(f"wrote {PATH}")
