"""Tables 1 and 2 and the figures of Wang et al. as grids, the paper's values below ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers.grids import Grid
from benchmarks.papers.sufficient.threads import seconds_grid

if TYPE_CHECKING:
    from benchmarks.papers.sufficient.records import Row
    from benchmarks.papers.sufficient.threads import Seconds

__all__ = ["PUBLISHED_ADULT", "PUBLISHED_MNIST", "grids"]

# E. Wang, P. Khosravi, G. Van den Broeck: Probabilistic Sufficient Explanations, IJCAI 2021.
PUBLISHED_MNIST = {
    "Anchors": ("0.75 ± 0.37", "0.66 ± 0.08", "-3.29 ± 0.88"),
    "MLSE_s": ("1.57 ± 0.29", "0.86 ± 0.05", "-3.05 ± 0.65"),
    "MLSE_10": ("3.11 ± 0.23", "0.99 ± 0.01", "-6.98 ± 1.37"),
    "MLSE_20": ("3.60 ± 0.15", "1.00 ± 0.00", "-9.90 ± 2.14"),
    "MLSE_30": ("3.75 ± 0.13", "1.00 ± 0.00", "-11.77 ± 2.88"),
}
"""Table 1: absolute expected log-odds, same-decision probability, logarithm of Pr."""

PUBLISHED_ADULT = {
    "Logical": ("1.0", "-7.12 ± 2.11", "4.30 ± 1.13"),
    "Anchors": ("0.98 ± 0.02", "-4.27 ± 2.61", "2.02 ± 1.26"),
    "MLSE_s": ("0.97 ± 0.03", "-3.85 ± 2.37", "2.17 ± 1.18"),
    "MLSE_1": ("0.88 ± 0.19", "-2.23 ± 1.34", "1.0 ± 0.0"),
    "MLSE_2": ("0.95 ± 0.08", "-3.88 ± 1.88", "2.0 ± 0.0"),
    "MLSE_3": ("0.98 ± 0.05", "-4.77 ± 2.31", "2.99 ± 0.06"),
    "MLSE_4": ("0.99 ± 0.03", "-5.63 ± 2.59", "3.96 ± 0.22"),
}
"""Table 2: same-decision probability, logarithm of Pr, size."""


def grids(rows: Sequence[Row], seconds: Seconds | None = None) -> list[Grid]:
    """Return all tables of what was measured, and of the time by threads."""
    found: list[Grid] = []
    mnist = [row for row in rows if row.task.table == "mnist"]
    adult = [row for row in rows if row.task.table == "adult"]
    if mnist:
        found.append(_digits(mnist))
        found.append(_curve(mnist))
        found.append(_classes(mnist))
    if seconds is not None:
        found.append(seconds_grid(seconds))
    if adult:
        found.append(_census(adult))
        found.append(_surest(adult))
    found += [_gaps(group) for group in (mnist, adult) if group]
    found += [_distributions(group) for group in (mnist, adult) if group]
    return found


def _digits(rows: Sequence[Row]) -> Grid:
    lines = []
    for name, paper in PUBLISHED_MNIST.items():
        some = [row.found[name] for row in rows if name in row.found]
        if some:
            figures = (
                _spread([abs(f.expected) for f in some]),
                _spread([f.same for f in some]),
                _spread([f.log_probability for f in some]),
                _mean([float(len(f.features)) for f in some]),
                _mean([f.seconds for f in some]),
            )
            lines.append((name, *figures))
        lines.append((f"  paper: {name}" if some else f"paper: {name}", *paper, "", ""))
    head = ("method", "|expected log-odds|", "same decision", "log Pr", "size", "CPU s")
    return Grid(f"Table 1: MNIST 3 against 5, {len(rows)} test images", head, tuple(lines))


def _census(rows: Sequence[Row]) -> Grid:
    lines = []
    for name, paper in PUBLISHED_ADULT.items():
        some = [row.found[name] for row in rows if name in row.found]
        if some:
            figures = (
                _spread([f.same for f in some]),
                _spread([f.log_probability for f in some]),
                _spread([float(len(f.features)) for f in some]),
                _mean([f.seconds for f in some]),
            )
            lines.append((name, *figures))
        lines.append((f"  paper: {name}" if some else f"paper: {name}", *paper, ""))
    head = ("method", "same decision", "log Pr", "size", "CPU s")
    return Grid(f"Table 2: Adult, {len(rows)} test rows", head, tuple(lines))


def _curve(rows: Sequence[Row]) -> Grid:
    """Figure 2: probability and bounds by size."""
    lines = []
    for size in (1, 2, 3, 5, 10, 15, 20, 25, 30):
        levels = [row.levels[size] for row in rows if size < len(row.levels)]
        if levels:
            figures = [
                _spread([level.same for level in levels]),
                _spread([level.log_odds_bound for level in levels]),
                _spread([level.probability_bound for level in levels]),
            ]
            lines.append((str(size), *figures))
    head = ("size", "same decision", "bound by log-odds", "first-order bound")
    return Grid("Figure 2: MNIST, sets of the beam", head, tuple(lines))


def _classes(rows: Sequence[Row]) -> Grid:
    """Figure 3: first-order expected prediction of a five against Pr, per class."""
    lines = []
    for positive, name in ((True, "5"), (False, "3")):
        own = [row for row in rows if row.positive == positive]
        for size in (1, 5, 10, 20, 30):
            levels = [row.levels[size] for row in own if size < len(row.levels)]
            if levels:
                sign = 1 if positive else -1
                predictions = [1 / (1 + np.exp(-sign * level.expected)) for level in levels]
                logs = [level.log_probability for level in levels]
                lines.append((f"{name}, size {size}", _spread(predictions), _spread(logs)))
    head = ("class of x", "expected prediction, first order", "log Pr")
    return Grid("Figure 3: MNIST, what is expected against how likely it is", head, tuple(lines))


def _gaps(rows: Sequence[Row]) -> Grid:
    """The beam against the proved optimum, under independent attributes."""
    lines = []
    sizes = sorted({lv.size for row in rows for lv in row.levels if lv.best is not None})
    for size in sizes:
        levels = [row.levels[size] for row in rows if size < len(row.levels)]
        gaps = [max(0.0, (lv.best or 0.0) - (lv.beam or 0.0)) for lv in levels]
        lines.append(
            (
                str(size),
                f"{sum(bool(lv.proved) for lv in levels)} of {len(levels)}",
                f"{sum(gap > 1e-9 for gap in gaps)}",
                f"{np.mean(gaps):.4f}",
                f"{max(gaps):.4f}",
                f"{np.median([lv.proof_seconds or 0.0 for lv in levels]):.3f}",
                f"{max(lv.proof_seconds or 0.0 for lv in levels):.3f}",
            )
        )
    head = ("at most", "proved", "beam misses", "mean gap", "largest", "CPU s, median", "most")
    name = rows[0].task.table
    return Grid(f"Beam and proved optimum, independent attributes: {name}", head, tuple(lines))


def _distributions(rows: Sequence[Row]) -> Grid:
    overlap = [row.other["overlap"] for row in rows]
    lost = [row.other["ours_under_ours"] - row.other["theirs_under_ours"] for row in rows]
    line = (
        rows[0].task.table,
        _spread(overlap),
        f"{sum(v == 1 for v in overlap)} of {len(rows)}",
        _spread(lost),
    )
    head = ("table", "overlap", "the same set", "log-odds lost")
    title = f"Explanations under a Chow-Liu tree instead of {rows[0].task.distribution}"
    return Grid(title, head, (line,))


def _surest(rows: Sequence[Row]) -> Grid:
    def values(key: str) -> list[float]:
        return [row.other[key] for row in rows]

    lines = (
        ("greatest expectation (MLSE_2)", _spread(values("ours_same"))),
        ("greatest probability, all sets tried", _spread(values("surest_same"))),
        ("the same set", f"{sum(values('agree')):.0f} of {len(rows)}"),
    )
    return Grid(
        "Adult, at most 2 attributes: by expectation and by probability",
        ("set", "same decision"),
        lines,
    )


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.2f}"


_format: Callable[[float], str] = "{:.2f}".format


def _spread(values: Sequence[float]) -> str:
    return f"{_format(float(np.mean(values)))} ± {_format(float(np.std(values)))}"
