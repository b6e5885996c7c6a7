"""Figures of papers: panels side by side, as files that are equal where the figures are."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cpx.answers.axes import require_matplotlib
from cpx.support.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

__all__ = ["draw_panels"]


def draw_panels(
    paths: Sequence[Path], count: int, width: float, draw: Callable[[Sequence[Axes]], None]
) -> list[Path]:
    """Draw panels that share their vertical axis, and write them in each format.

    Parameters
    ----------
    paths : sequence of Path
        The files; their suffixes say in which format.
    count : int
        The number of panels.
    width : float
        Of the figure, in inches.
    draw : callable
        Draws on the panels.

    Raises
    ------
    EngineMissing
        When matplotlib is not installed; with the pip line.
    OutputError
        When a file cannot be written.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Equal figures are equal files: no random names, and no date below.
    settings: dict[Any, Any] = {
        "svg.hashsalt": paths[0].stem,
        "font.size": 9,
        "svg.fonttype": "none",
    }
    with mpl.rc_context(settings):
        figure = Figure(figsize=(width, 3.0), layout="constrained")
        panels = figure.subplots(1, count, sharey=True, squeeze=False)[0]
        for panel in panels:
            panel.grid(alpha=0.3, linewidth=0.5)
        draw(panels)
        for path in paths:
            out, form = io.BytesIO(), path.suffix[1:]
            dated: dict[str, Any] | None = {"Date": None} if form == "svg" else None
            figure.savefig(out, format=form, dpi=100, metadata=dated)
            write_atomic(path, out.getvalue())
    return [*paths]
