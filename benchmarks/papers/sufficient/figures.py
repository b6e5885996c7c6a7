"""Figures 2, 3 and 4 of Wang et al.: bounds by size, expectation against likelihood, time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.panels import draw_panels

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.papers.sufficient.published_circuit import Image
    from benchmarks.papers.sufficient.records import Level, Row
    from benchmarks.papers.sufficient.threads import Seconds

__all__ = ["draw", "draw_published"]

# Colours that readers with colour blindness tell apart (Okabe, Ito).
_GREEN, _BLUE, _RED = "#009E73", "#0072B2", "#D55E00"
_COLOURS = (_BLUE, _RED, _GREEN, "#CC79A7", "#E69F00")


def draw(rows: Sequence[Row], seconds: Seconds | None, directory: Path) -> list[Path]:
    """Draw the figures of the digits, each as one file.

    Parameters
    ----------
    rows : sequence of Row
        Of both tables; those of the digits are drawn.
    seconds : Seconds or None
        Of the digits, by threads.
    directory : Path

    Returns
    -------
    list of Path
        ``bounds-by-size.svg``, ``expected-by-likelihood.png`` and, with seconds,
        ``seconds-by-size.svg``; none without rows of the digits.

    Raises
    ------
    EngineMissing
        When matplotlib is not installed; with the pip line.
    OutputError
        When a file cannot be written.
    """
    digits = [row for row in rows if row.task.table == "mnist"]
    if not digits:
        return []
    found = [
        *_drawn(directory / "bounds-by-size.svg", 1, digits, _bounds),
        # Of some 1500 points, pixels are the smaller file.
        *_drawn(directory / "expected-by-likelihood.png", 2, digits, _likelihoods),
    ]
    if seconds is not None:
        found += _drawn(directory / "seconds-by-size.svg", 1, seconds, _seconds)
    return found


def draw_published(images: Sequence[Image], directory: Path) -> list[Path]:
    """Draw Figures 3 and 4 as the authors' own circuit, forest and images make them.

    images: That are explained, one line of each.
    Returns ``published-likelihoods.png`` and ``published-seconds.svg``.
    """
    return [
        *_drawn(directory / "published-likelihoods.png", 2, images, _likelihoods),
        *_drawn(directory / "published-seconds.svg", 1, images, _processor_seconds),
    ]


def _drawn(path: Path, panels: int, data: Any, draws: Callable[[Any, Any], None]) -> list[Path]:
    return draw_panels([path], panels, 3.4 * panels + 1.2, lambda axes: draws(axes, data))


def _bounds(axes: Sequence[Axes], rows: Sequence[Row]) -> None:
    """Figure 2: sampled probability and both lower bounds, mean and one standard deviation."""
    drawn = rows[0].task.samples
    curves: tuple[tuple[str, str, Callable[[Level], float]], ...] = (
        (f"share of {drawn:,} rows drawn", _GREEN, lambda level: level.same),
        ("bound by log-odds", _BLUE, lambda level: level.log_odds_bound),
        ("first-order bound", _RED, lambda level: level.probability_bound),
    )
    for name, colour, value in curves:
        sizes, mean, deviation = _by_size(rows, value)
        axes[0].plot(sizes, mean, color=colour, label=name)
        low, high = mean - deviation, np.minimum(1, mean + deviation)
        axes[0].fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
    axes[0].set(xlabel="pixels known", ylabel="probability of the same class", ylim=(0, 1.02))
    axes[0].legend(loc="lower right", frameon=False)


def _likelihoods(axes: Sequence[Axes], rows: Sequence[Row | Image]) -> None:
    """Figure 3: what is expected against how likely it is, for each class."""
    for panel, positive, name in ((axes[0], True, "5"), (axes[1], False, "3")):
        sign = 1 if positive else -1
        levels = [level for row in rows if row.positive == positive for level in row.levels]
        expected = [1 / (1 + math.exp(-sign * level.expected)) for level in levels]
        logs, sizes = [lv.log_probability for lv in levels], [lv.size for lv in levels]
        points = panel.scatter(logs, expected, c=sizes, cmap="viridis", s=7, linewidths=0)
        panel.set(title=f"images taken for a {name}", xlabel="log Pr", ylim=(0, 1))
    axes[0].set_ylabel("expected prediction, first order")
    axes[1].figure.colorbar(points, ax=axes[1], label="pixels known")


def _seconds(axes: Sequence[Axes], seconds: Seconds) -> None:
    """Figure 4: time until each size of the beam is done, by threads."""
    for colour, (count, until) in zip(_COLOURS, seconds.until.items(), strict=False):
        name = f"{count} thread{'' if count == '1' else 's'}"
        axes[0].plot(range(1, len(until)), until[1:], color=colour, label=name)
    axes[0].set(xlabel="pixels known", ylabel="seconds", ylim=(0, None))
    axes[0].legend(loc="upper left", frameon=False)


def _processor_seconds(axes: Sequence[Axes], images: Sequence[Image]) -> None:
    """Figure 4 in seconds of the processor: median and quartiles."""
    table = np.array([[level.seconds for level in image.levels] for image in images])
    sizes = np.arange(1, table.shape[1] + 1)
    low, middle, high = np.percentile(table, (25, 50, 75), axis=0)
    axes[0].plot(sizes, middle, color=_BLUE)
    axes[0].fill_between(sizes, low, high, color=_BLUE, alpha=0.15, linewidth=0)
    axes[0].set(xlabel="pixels known", ylabel="seconds of one core", ylim=(0, None))


def _by_size(rows: Sequence[Row], value: Callable[[Level], float]) -> tuple[Any, Any, Any]:
    """Return sizes from 1 on, with the mean and the standard deviation over the rows."""
    most = min(len(row.levels) for row in rows)
    table = np.array([[value(level) for level in row.levels[1:most]] for row in rows])
    return np.arange(1, most), table.mean(axis=0), table.std(axis=0)
