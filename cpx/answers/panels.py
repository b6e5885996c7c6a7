"""Pictures of what an explanation says of columns: their values, those it names, and the row's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.answers.axes import ACCENT, MARK, axes_or_new
from cpx.errors import InvalidOption, printable
from cpx.support.shares import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Panel", "Spread", "plot_panels"]

Span = tuple[float | None, float | None]

_BARS = 40
_LINE = 1.4  # from one line to the next
_CATEGORIES = 12
"""Categories that have a bar of their own, the most frequent ones."""

_TAIL = 0.5  # percent of numbers at each end that are drawn at the end


class Spread:
    """How the values of a column are distributed; counted when that is first looked at.

    >>> found = Spread(["b", "a", "b", None], numeric=False)
    >>> found.edges, found.values, found.counts
    ((), ('b', 'a'), (2, 1))
    """

    def __init__(self, cells: Any, numeric: bool) -> None:
        self._cells, self._numeric = cells, numeric

    @property
    def edges(self) -> tuple[float, ...]:
        """Where bars of numbers begin and end; empty for categories.

        Of far values few are left out: they are in the first and the last bar.
        """
        return self._counted[0]

    @property
    def values(self) -> tuple[str, ...]:
        """Categories, the most frequent first."""
        return self._counted[1]

    @property
    def counts(self) -> tuple[int, ...]:
        """Of each bar; missing values do not count."""
        return self._counted[2]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, for a page."""
        return {"edges": self.edges, "values": self.values, "counts": self.counts}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spread) and self._counted == other._counted

    def __getstate__(self) -> dict[str, Any]:
        # Other processes get the counts, and not the column.
        return {"_counted": self._counted}

    @cached_property
    def _counted(self) -> tuple[tuple[float, ...], tuple[str, ...], tuple[int, ...]]:
        import pandas as pd

        cells = np.asarray(self._cells, dtype=object)
        known = cells[~pd.isna(cells)]
        if self._numeric and known.size:
            numbers = known.astype(np.float64)
            low, high = np.percentile(numbers, [_TAIL, 100 - _TAIL])
            if low == high:
                low, high = float(numbers.min()), float(numbers.max())
            if low == high:
                low, high = low - 0.5, high + 0.5
            counts, edges = np.histogram(numbers.clip(low, high), bins=_BARS, range=(low, high))
            return tuple(edges.tolist()), (), tuple(counts.tolist())
        named: dict[str, int] = {}
        for value in known:
            named[str(value)] = named.get(str(value), 0) + 1
        order = sorted(named, key=lambda name: -named[name])
        return (), tuple(order), tuple(named[name] for name in order)


@dataclass(frozen=True)
class Panel:
    """What an explanation says of a column.

    name: Of the column.
    text: What is said, in words.
    value: Of the row; None where it is missing.
    spans: Intervals that it names, open below or above where an end is None.
    named: Categories that it names, or where ``within`` is False, excludes.
    spread: How the values of the column are distributed, where that is known.
    """

    name: str
    text: str
    value: float | str | None
    spans: tuple[Span, ...] = ()
    named: tuple[str, ...] = ()
    within: bool = True
    spread: Spread | None = None

    def says(self, low: float, high: float) -> bool:
        """Whether a bar is in one of the intervals for the most part, or has one in it."""
        middle = (low + high) / 2
        for a, b in self.spans:
            if (a is None or middle > a) and (b is None or middle <= b):
                return True
            start = self.spread.edges[0] if a is None and self.spread is not None else a
            if start is not None and b is not None and low <= start and b <= high:
                return True
        return False

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, for a page."""
        own = {name: getattr(self, name) for name in ("name", "text", "value", "within")}
        spread = self.spread
        return {
            **own,
            "spans": [list(span) for span in self.spans],
            "named": list(self.named),
            "spread": None if spread is None else spread.to_json(),
        }


def plot_panels(panels: Sequence[Panel], title: str = "", *, ax: Axes | None = None) -> Axes:
    """Draw a line for each column: its values, those that are named, and that of the row.

    Parameters
    ----------
    panels : sequence of Panel
    title : str
    ax : matplotlib axes, optional
        Where to draw; those of a new figure of pyplot when not given.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    InvalidOption
        When there is nothing to draw.
    EngineMissing
        When matplotlib is not installed; with the pip line.
    """
    if not panels:
        raise InvalidOption(
            "there is no column to draw: the explanation names none, or it was saved, and has no "
            "row any more"
        )
    ax = axes_or_new(ax, 6.4, 0.6 + 0.95 * len(panels))
    for place, panel in enumerate(panels):
        _draw(ax, panel, _LINE * (len(panels) - 1 - place))
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.4, _LINE * len(panels) - 0.35), xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set_visible(False)
    if title:
        ax.set_title(printable(title), fontsize=9, loc="left", parse_math=False)
    return ax


def _draw(ax: Axes, panel: Panel, base: float) -> None:
    """Draw one line, of height 1 from its base on."""
    inks: dict[str, Any] = {"fontsize": 8, "parse_math": False}
    ax.plot([0, 1], [base, base], color="0.5", linewidth=0.8)
    ax.text(0, base + 0.78, printable(panel.text), va="bottom", **inks)
    spread = panel.spread
    if spread is None or not spread.counts:
        return
    bars = [*_bars(panel, spread)]
    tallest = max(height for *_, height, _ in bars) or 1
    for left, width, height, named in bars:
        # A bar that is next to nothing is seen all the same.
        tall = 0.6 * max(height / tallest, 0.03 * (height > 0))
        colour = ACCENT if named else "0.6"
        ax.bar(left, tall, width, bottom=base, align="edge", color=colour, alpha=0.85)
    at = _place(panel, spread)
    ends = {**inks, "fontsize": 7, "va": "top", "alpha": 0.75}
    if spread.edges:
        if at is None or at > 0.15:
            ax.text(0, base - 0.08, significant(spread.edges[0]), **ends)
        if at is None or at < 0.85:
            ax.text(1, base - 0.08, significant(spread.edges[-1]), ha="right", **ends)
        for low, high in panel.spans:
            a, b = (_share(spread, end) for end in (low, high))
            ax.plot([a or 0.0, 1.0 if b is None else b], [base, base], color=ACCENT, linewidth=3)
    if at is not None:
        ax.plot([at, at], [base, base + 0.68], color=MARK, linewidth=1.6)
        ax.plot([at], [base + 0.7], color=MARK, marker="v", markersize=6)
        side = "left" if at < 0.1 else "right" if at > 0.9 else "center"
        told = significant(panel.value) if isinstance(panel.value, float) else str(panel.value)
        where = {**inks, "ha": side, "va": "top", "color": MARK, "fontweight": "bold"}
        ax.text(at, base - 0.08, printable(told), **where)


def _bars(panel: Panel, spread: Spread) -> Iterable[tuple[float, float, float, bool]]:
    """Yield left end, width, height of each bar, and whether it is named."""
    if spread.edges:
        low, width = spread.edges[0], spread.edges[-1] - spread.edges[0]
        for a, b, count in zip(spread.edges, spread.edges[1:], spread.counts):
            yield (a - low) / width, (b - a) / width, count, panel.says(a, b)
        return
    shown = spread.values[:_CATEGORIES]
    for place, (value, count) in enumerate(zip(shown, spread.counts)):
        named = bool(panel.named) and (value in panel.named) == panel.within
        yield place / len(shown) + 0.01, 0.98 / len(shown) - 0.01, count, named


def _place(panel: Panel, spread: Spread) -> float | None:
    """Return where the value of the row is, from 0 to 1; None where it has no place."""
    value = panel.value
    if value is None or isinstance(value, str) or not spread.edges:
        shown = spread.values[:_CATEGORIES]
        known = str(value) in shown
        return (shown.index(str(value)) + 0.5) / len(shown) if known else None
    return _share(spread, value)


def _share(spread: Spread, value: float | None) -> float | None:
    """Return how far along the bars a number is, from 0 to 1."""
    if value is None or math.isnan(value):
        return None
    low, high = spread.edges[0], spread.edges[-1]
    return min(1.0, max(0.0, (value - low) / (high - low)))
