"""Axes of matplotlib that plots are drawn on, and the colours of what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.errors import EngineMissing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ACCENT", "MARK", "axes_or_new", "require_matplotlib"]

ACCENT, MARK = "#3b8fd8", "#e06c10"
"""What is said, and the row it is said of: seen on a light and on a dark ground."""


def require_matplotlib() -> None:
    """Raise EngineMissing with the pip line unless matplotlib is installed."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise EngineMissing("figures need matplotlib: pip install matplotlib")


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return axes that are given, or those of a new figure of pyplot, of so many inches."""
    require_matplotlib()
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]
