"""Draws the picture of the README: value and bound of every engine over time, on one instance.

    python docs/picture.py

gives every exact engine that comes with cpx one minute for the central instance of the benchmarks,
one after the other, each in the encoding that it chooses, and writes ``engines-light.svg``,
``engines-dark.svg`` and their data, ``engines/runs.jsonl``, to ``docs/_static``. It takes some
minutes, and wants an idle machine. With ``--redraw`` the pictures are drawn anew from the data.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # benchmarks is not installed

from benchmarks.instances import central
from cpx.compare import Comparison, compare, store
from cpx.compare.plots import DARK, LIGHT, Theme, draw_runs, drawn, written
from cpx.support.files import write_atomic

STATIC = ROOT / "docs" / "_static"
NAME = "Breast cancer, 1000 samples, 90 features, k = 5"
ENGINES = "search,cpsat,maxsat:rc2,maxsat:stratified,maxsat:lsu,milp:highs,milp:cbc"
SECONDS = 60


def draw(comparison: Comparison, theme: Theme) -> str:
    """Return the picture as SVG."""
    order = [str(name) for name in comparison.scores().index]
    best = comparison.best(NAME).objective
    assert best is not None
    figure = drawn(draw_runs, comparison.cases(), order, theme, (8.4, 4.2), problem=0)
    ax = figure.axes[0]
    # First values are several times the best one, and of no interest.
    ax.set(title=NAME, ylim=(-0.03 * float(best), 1.6 * float(best)))
    ax.set_ylabel("loss: best value, and proven bound (thin)")
    encodings = {run.configuration: run.result.encoding for run in comparison.runs}
    for text, name in zip(ax.get_legend().get_texts(), order, strict=True):
        text.set_text(f"{name}, {encodings[name]}" if encodings[name] else name)
    # Texts stay texts.
    svg = written(figure, "svg", svg_fonttype="none").decode()
    return re.sub(r"[ \t]+\n", "\n", svg)


def main(arguments: list[str]) -> None:
    """Run the engines, and draw."""
    if arguments != ["--redraw"]:
        problems = {NAME: central()}
        made = compare(
            problems, ENGINES, time_limit=SECONDS, on_result=lambda run, _: print(run.engine)
        )
        write_atomic(STATIC / "engines" / store.NAME, store.as_lines(made.stored()))
    comparison = Comparison.load(STATIC / "engines")
    print(comparison)
    for name, theme in (("light", LIGHT), ("dark", DARK)):
        path = STATIC / f"engines-{name}.svg"
        path.write_text(draw(comparison, theme), encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
