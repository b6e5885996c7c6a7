"""Tables on the terminal, in Markdown, so that they can be pasted into the docs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LEAST_WIDTH = 8
"""Of a column whose rows are not known yet."""


def show(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table: with aligned columns, or row by row as a generator makes them."""
    widths = [max(len(text), LEAST_WIDTH) for text in head]
    if isinstance(rows, Sequence):
        cells = [list(head), *([_text(value) for value in row] for row in rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(text.rjust(width) for text, width in zip(row, widths)) + " |"

    print(f"\n### {title}\n")
    print(line(head))
    print("|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|", flush=True)
    for row in rows:
        print(line([_text(value) for value in row]), flush=True)


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table whose first column is flush left, for a file."""
    lines = [
        head,
        ["---", *["---:"] * (len(head) - 1)],
        *([_text(v) for v in row] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
