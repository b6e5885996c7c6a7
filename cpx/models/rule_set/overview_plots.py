"""Drawings of an overview: rows by rules, and explanations by columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cpx.answers.axes import ACCENT, MARK, axes_or_new
from cpx.errors import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 20  # columns


def _plot_rules(told: Any, ax: Axes | None) -> Axes:
    """Draw how many rows 1, 2, ... rules explain, and what is proved of it."""
    ax = axes_or_new(ax, 6, 3.4)
    numbers = [step.rules for step in told.steps]
    rows = [step.rows for step in told.steps]
    ax.plot(numbers, rows, color=ACCENT, marker="o", label="rows explained")
    open_ = [step for step in told.steps if step.most > step.rows]
    if open_:
        ax.plot(
            [step.rules for step in open_],
            [step.most for step in open_],
            color=ACCENT,
            marker="_",
            linestyle="none",
            label="proved: no more than",
        )
    ax.axhline(told.total, color="0.5", linewidth=0.8)
    ax.annotate(f"all {told.total} rows", (1, told.total), va="bottom", fontsize=8)
    ax.set(xlabel="rules", ylabel="rows explained", ylim=(0, 1.12 * told.total))
    ax.locator_params(axis="x", integer=True)
    ax.spines[["top", "right"]].set_visible(False)
    if open_:
        ax.legend(frameon=False, fontsize=8)
    return ax


def _plot_columns(told: Any, ax: Axes | None) -> Axes:
    """Draw in how many explanations each column is."""
    named = [*told.columns.items()][:_MOST]
    ax = axes_or_new(ax, 6, 0.9 + 0.24 * max(1, len(named)))
    counts = [count for _, count in named]
    bars = ax.barh(range(len(named)), counts, color=ACCENT, height=0.7)
    ax.bar_label(bars, padding=3, fontsize=8)
    ax.set_yticks(range(len(named)), [printable(name) for name, _ in named], parse_math=False)
    ax.set(xlabel=f"explanations, of {told.total}", ylim=(len(named) - 0.4, -0.6))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _plot_rows(told: Any, ax: Axes | None) -> Axes:
    """Draw how precise the rule of each row is, and which rows no good rule explains."""
    ax = axes_or_new(ax, 6, 3.4)
    order = sorted(told.precisions, key=lambda one: -(one[0] or 0.0))
    for known, colour, name in (
        (True, ACCENT, "explained by a good rule"),
        (False, MARK, "explained by none"),
    ):
        own = [(i + 1, p or 0.0) for i, (p, good) in enumerate(order) if good is known]
        if own:
            x, y = zip(*own)
            marker = "." if known else "x"
            ax.plot(x, y, marker, color=colour, markersize=5, label=f"{name}: {len(own)}")
    ax.axhline(float(told.limit), color="0.5", linewidth=0.8)
    ax.set(xlabel="rows, those of the most precise rule first", ylabel="precision of the rule")
    ax.spines[["top", "right"]].set_visible(False)
    if order:
        ax.legend(frameon=False, fontsize=8)
    return ax


PLOTS: Mapping[str, Callable[[Any, Any], Any]] = {
    "rules": _plot_rules,
    "columns": _plot_columns,
    "rows": _plot_rows,
}
