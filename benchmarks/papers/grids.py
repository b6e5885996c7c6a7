"""Tables of texts: in the terminal, as plain text, as Markdown."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Grid", "as_markdown", "as_text", "renderables"]

# Lines below the header and between sections, nothing else.
_LINES = "    \n    \n ── \n    \n ── \n    \n    \n    \n"


@dataclass(frozen=True)
class Grid:
    """A table of texts: a title, the heads of the columns, the rows.

    The first column is set to the left, the others to the right; ``total`` says whether the
    last row sums up the others.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: bool = False


def renderables(grid: Grid, ascii_only: bool = False) -> list[RenderableType]:
    """Return a table as things that rich can print."""
    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    lines = Box(_LINES.replace("─", "-") if ascii_only else _LINES)
    table = Table(box=lines, show_edge=False, pad_edge=False, padding=(0, 1))
    for i, name in enumerate(grid.header):
        table.add_column(name, justify="right" if i else "left")
    for number, row in enumerate(grid.rows, start=1):
        last = number == len(grid.rows)
        style = "red" if any("FAILED" in text for text in row) else ""
        table.add_row(
            *(Text(text) for text in row),
            style="bold" if last and grid.total else style,
            end_section=grid.total and number == len(grid.rows) - 1,
        )
    return [Text(grid.title, style="bold"), table, Text("")]


def as_text(tables: Sequence[Grid], lines: Sequence[str], width: int = 160) -> str:
    """Return tables and notes as plain text, for files and pipes."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, highlight=False)
    for grid in tables:
        for part in renderables(grid, ascii_only=True):
            console.print(part)
    text = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    return "\n".join([text, *lines])


def as_markdown(tables: Sequence[Grid], lines: Sequence[str]) -> str:
    """Return tables and notes as Markdown."""
    parts = []
    for grid in tables:
        rule = ["---", *["---:"] * (len(grid.header) - 1)]
        rows = [grid.header, tuple(rule), *grid.rows]
        parts.append(f"**{grid.title}**\n")
        # A bar would end the cell.
        cells = [[text.replace("|", r"\|") for text in row] for row in rows]
        parts += ["| " + " | ".join(row) + " |" for row in cells]
        parts.append("")
    parts += [f"- {line}" for line in lines]
    return "\n".join(parts) + "\n"
