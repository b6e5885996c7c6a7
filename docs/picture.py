"""Draws the picture of the README: a terminal with the real output of ``cpx demo``.

    python docs/picture.py

runs the demo and writes ``docs/_static/demo.svg``, by the SVG export of rich.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

TARGET = Path(__file__).parent / "_static" / "demo.svg"
WIDTH = 98

THEME = TerminalTheme(
    (251, 251, 250),
    (36, 41, 46),
    [(36, 41, 46), (179, 29, 40), (22, 120, 60), (140, 90, 0)] + [(59, 125, 216)] * 4,
)


def demo() -> str:
    """Return what ``cpx demo`` writes to standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "cpx.cli", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": str(WIDTH)},
    )
    return done.stdout


def styled(line: str) -> Iterator[Text]:
    """Yield a line with the colours it has on a terminal, in parts that fit into it."""
    label = re.match(r"[a-z]+ {2,}", line)
    indent = " " * (label.end() if label else 0)
    # A table's line is never longer than the terminal and keeps its blanks.
    parts = textwrap.wrap(line, WIDTH, subsequent_indent=indent) if len(line) > WIDTH else [line]
    for part in parts:
        text = Text(part)
        if "=>" in line:
            text.stylize("bold")
        text.highlight_words(["proved"], "green")
        if line.startswith("$ "):
            text.stylize("bold blue")
        yield text


def draw(output: str) -> str:
    """Return the terminal as SVG."""
    with open(os.devnull, "w") as sink:
        console = Console(record=True, width=WIDTH, file=sink, highlight=False)
        for line in ["$ cpx demo", "", *output.rstrip().splitlines(), ""]:
            for part in styled(line):
                console.print(part)
        svg = console.export_svg(title="cpx demo", theme=THEME, font_aspect_ratio=0.61)
    # rich asks for a font from the network; a picture should need none.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", "Menlo, Consolas, 'DejaVu Sans Mono', monospace")


if __name__ == "__main__":
    TARGET.write_text(draw(demo()), encoding="utf-8")
    print(f"wrote {TARGET}")
