"""The figures of a comparison: what they show, and their drawings by matplotlib.

The report draws the same figures so that they can be touched; see :mod:`cpx.compare.report`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpx.answers.axes import require_matplotlib
from cpx.compare.cases import Cases
from cpx.compare.growth import Curves, growth
from cpx.compare.summary import in_seconds
from cpx.errors import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "DARK",
    "LIGHT",
    "Theme",
    "anytime",
    "cactus",
    "draw_runs",
    "drawn",
    "figures",
    "main_size",
    "profile",
    "written",
]

FloatArray = NDArray[np.float64]

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#999999")
"""Colours that readers with colour blindness tell apart (Okabe, Ito), without the two that are
not seen on a light or on a dark ground."""

_DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (9, 2)),
)
_MARKERS = "osD^vPX*p"

_LEAST_SECONDS = 0.001  # nothing is measured more finely
_LONGEST = 40  # characters of a name
_MOMENTS = 80  # at which distances are averaged
_MOST_RUNS = 20  # figures of single instances


class Theme(NamedTuple):
    """Colours of a drawing."""

    ground: str = "#ffffff"
    ink: str = "#24292e"
    faint: str = "#d8dadd"


LIGHT, DARK = Theme(), Theme("#0d1117", "#e6edf3", "#30363d")


class Anytime(NamedTuple):
    """Mean distances from the best known values, at moments."""

    seconds: FloatArray
    value: dict[str, FloatArray]
    bound: dict[str, FloatArray]


def cactus(cases: Cases) -> dict[str, FloatArray]:
    """Return the seconds of the proofs of each configuration, increasing."""
    proved = cases.frame.loc[cases.frame["proved"]]
    times = {
        str(name): np.sort(group) for name, group in proved.groupby("configuration")["seconds"]
    }
    return {name: times.get(name, np.empty(0)) for name in cases.configurations}


def profile(cases: Cases) -> dict[str, FloatArray]:
    """Return how many times the fastest proof each configuration takes, increasing.

    Only proofs count; the cases that nobody proves have no fastest one.
    """
    names = cases.ranked
    seconds = np.maximum(cases.per_case("to_proof", names), _LEAST_SECONDS)
    fastest = np.nanmin(seconds, axis=1, initial=np.inf, keepdims=True)
    with np.errstate(invalid="ignore"):
        ratios = seconds / fastest
    return {name: np.sort(ratios[np.isfinite(ratios[:, c]), c]) for c, name in enumerate(names)}


def anytime(cases: Cases) -> Anytime:
    """Return the mean distance of values and of bounds from the best known value over time."""
    horizon = cases.frame["horizon"].max() if len(cases.frame) else 0.0
    seconds = np.geomspace(_LEAST_SECONDS, max(horizon, 10 * _LEAST_SECONDS), _MOMENTS)
    value, bound = {}, {}
    for name in cases.configurations:
        own = [cases.curves[i] for i in np.flatnonzero(cases.frame["configuration"] == name)]
        value[name] = np.mean([[c.value.at(s) for s in seconds] for c in own], axis=0)
        bound[name] = np.mean([[c.bound.at(s) for s in seconds] for c in own], axis=0)
    return Anytime(seconds, value, bound)


def main_size(cases: Cases) -> str:
    """Return the size that most runs have: of clauses, constraints or variables."""
    counts = pd.Series([size for run in cases.runs for size in run.result.sizes]).value_counts()
    order = ("nonzeros", "clauses", "constraints", "variables")
    return max(order, key=lambda size: counts.get(size, 0)) if len(counts) else ""


def figures(cases: Cases, order: Sequence[str]) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of a comparison with their names.

    order: The configurations, the best one first.
    """
    if not cases.runs:
        return
    yield "cactus", drawn(_draw_cactus, cases, order)
    yield "profile", drawn(_draw_profile, cases, order)
    yield "anytime", drawn(_draw_anytime, cases, order)
    if len(order) > 1:
        yield "scatter", drawn(_draw_scatter, cases, order)
    yield "heatmap", drawn(_draw_heatmap, cases, order)
    if main_size(cases):
        yield "sizes", drawn(_draw_sizes, cases, order)
    for family, panels in growth(cases, order).items():
        size = (2.6 * len(panels) + 1.4, 2.8)
        yield (
            f"growth-{_safe(family)}",
            drawn(_draw_growth, cases, order, size=size, panels=panels),
        )
    if len(cases.problems) <= _MOST_RUNS:
        for problem, (name, _) in enumerate(cases.problems):
            title = f"runs-{problem + 1}-{_safe(name)}".rstrip("-")
            yield title, drawn(draw_runs, cases, order, problem=problem)


def _labels(cases: Cases, names: Sequence[str]) -> list[str]:
    return [cases.labels[name] for name in names]


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]


def drawn(
    draw: Callable[..., None],
    cases: Cases,
    order: Sequence[str],
    theme: Theme = LIGHT,
    size: tuple[float, float] = (6.4, 4.0),
    **more: Any,
) -> Figure:
    """Return a figure in the colours of a theme; no name in it is taken for mathematics."""
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        "text.parse_math": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 9,
        "legend.frameon": False,
        "grid.color": theme.faint,
        "grid.linewidth": 0.6,
        "axes.grid": True,
        "axes.axisbelow": True,
    }
    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    grounds = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    settings |= dict.fromkeys(inks, theme.ink) | dict.fromkeys(grounds, theme.ground)
    with rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure, cases, order, **more)
    return figure


def written(figure: Figure, form: str, **settings: Any) -> bytes:
    """Return a figure as a file: ``pdf``, ``png`` or ``svg``; the same results make the same file.

    **settings: Parameters of matplotlib, with underscores for points.
    """
    from matplotlib import rc_context

    dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form, {})
    own: dict[Any, Any] = {name.replace("_", ".", 1): v for name, v in settings.items()}
    file = BytesIO()
    with rc_context({"svg.hashsalt": "cpx", **own}):
        figure.savefig(file, format=form, dpi=200, metadata=dated)
    return file.getvalue()


def _draw_cactus(figure: Figure, cases: Cases, order: Sequence[str]) -> None:
    ax, lines = figure.subplots(), []
    times = cactus(cases)
    for name in order:
        count = np.arange(1, len(times[name]) + 1)
        seconds = np.maximum(times[name], _LEAST_SECONDS)
        lines += ax.plot(count, seconds, **_line(order, name, len(count)))
    _logarithmic(ax, "y")
    ax.set(xlabel="cases proved", ylabel="seconds, each case")
    ax.set_xlim(0, max(1, cases.frame["case"].nunique()))
    _legend(ax, lines, _labels(cases, order))


def _draw_profile(figure: Figure, cases: Cases, order: Sequence[str]) -> None:
    ax, lines = figure.subplots(), []
    ratios, total = profile(cases), max(1, cases.frame["case"].nunique())
    names = [name for name in order if name in ratios]
    last = max([2.0, *(found[-1] for found in ratios.values() if len(found))])
    for name in names:
        found = np.append(ratios[name], last)
        share = np.append(np.arange(1, len(found)), len(found) - 1) / total
        lines += ax.step(found, share, where="post", **_line(order, name, len(found)))
    _logarithmic(ax, "x")
    ax.set(xlabel="times the fastest proof", ylabel="share of cases", ylim=(0, 1.02))
    _legend(ax, lines, _labels(cases, names))


def _draw_anytime(figure: Figure, cases: Cases, order: Sequence[str]) -> None:
    figure.set_size_inches(9.6, 4.0)
    curves, lines = anytime(cases), []
    left, right = figure.subplots(1, 2, sharey=True)
    for ax, means, what in ((left, curves.value, "value"), (right, curves.bound, "bound")):
        lines = [
            ax.plot(curves.seconds, means[name], **_line(order, name, len(curves.seconds)))[0]
            for name in order
        ]
        _logarithmic(ax, "x")
        ax.set(xlabel="seconds", title=what, ylim=(-0.02, 1.02))
    left.set_ylabel("mean distance from the best known value")
    _legend(right, lines, _labels(cases, order))


def draw_runs(figure: Figure, cases: Cases, order: Sequence[str], problem: int) -> None:
    """Draw value and bound of each configuration on one instance against the time."""
    ax, lines, shown = figure.subplots(), [], []
    rows = cases.frame.loc[cases.frame["problem"] == problem].drop_duplicates("configuration")
    place = {str(rows.at[i, "configuration"]): i for i in rows.index}
    for name in order:
        points = cases.runs[place[name]].result.trace if name in place else ()
        seconds = [max(point.seconds, _LEAST_SECONDS) for point in points]
        look = _line(order, name, 0)
        drawn = []
        for which, style in (("objective", {}), ("bound", {"linewidth": 1.0, "alpha": 0.8})):
            values = [getattr(point, which) for point in points]
            heights = [np.nan if v is None else float(v) for v in values]
            drawn += ax.step(seconds, heights, where="post", **(look | style))
        if seconds and rows.at[place[name], "proved"]:
            ax.plot(seconds[-1:], heights[-1:], look["marker"], color=look["color"], markersize=6)
        lines.append(drawn[0])
        shown.append(name)
    _logarithmic(ax, "x")
    ax.set(xlabel="seconds", ylabel="value, and bound (thin)")
    ax.set_title(_short(cases.problems[problem][0]))
    _legend(ax, lines, _labels(cases, shown))


def _draw_scatter(figure: Figure, cases: Cases, order: Sequence[str]) -> None:
    """Draw the seconds of the second best against those of the best."""
    figure.set_size_inches(4.6, 4.6)
    ax = figure.subplots()
    seconds = np.maximum(cases.per_case("to_proof", order[:2]), _LEAST_SECONDS)
    seconds = seconds[~np.isnan(seconds).any(axis=1)]
    known = seconds[np.isfinite(seconds)]
    edge = 3 * (known.max() if len(known) else 1.0)
    least = known.min() / 2 if len(known) else edge / 100
    open_ = ~np.isfinite(seconds).all(axis=1)
    spots = np.where(np.isfinite(seconds), seconds, edge)
    ax.plot([least, edge], [least, edge], color="#888888", linewidth=0.8)
    for line in (ax.axvline, ax.axhline):
        line(edge, color="#888888", linewidth=0.8, linestyle=":")
    ax.plot(*spots[~open_].T, "o", color=COLOURS[0], markersize=4, alpha=0.7)
    ax.plot(*spots[open_].T, "x", color=COLOURS[3], markersize=5)
    for side in "xy":
        _logarithmic(ax, side)
    across, upwards = (_short(label) for label in _labels(cases, order[:2]))
    ax.set(xlabel=f"{across}: seconds", ylabel=f"{upwards}: seconds")
    ax.set_title("dotted line: no proof", fontsize=8)
    ax.set_aspect("equal")


def _draw_heatmap(figure: Figure, cases: Cases, order: Sequence[str]) -> None:
    names = list(order)
    seconds = np.log10(np.maximum(cases.per_case("to_proof", names), _LEAST_SECONDS))
    cells = np.ma.masked_invalid(seconds)
    figure.set_size_inches(max(4.0, 1.6 + 0.55 * len(names)), min(20.0, 2.4 + 0.16 * len(cells)))
    ax = figure.subplots()
    ax.grid(visible=False)
    mesh = ax.pcolormesh(cells, cmap="cividis_r")
    ax.set_facecolor("#dddddd")
    ax.set_xticks(
        np.arange(len(names)) + 0.5,
        [_short(label) for label in _labels(cases, names)],
        rotation=40,
        ha="right",
    )
    first = cases.frame.drop_duplicates("case").set_index("case")["problem"].sort_index()
    labels = [_short(cases.problems[p][0]) for p in first]
    step = max(1, len(labels) // 60)
    ax.set_yticks(np.arange(0, len(labels), step) + 0.5, labels[::step], fontsize=6)
    ax.invert_yaxis()
    bar = figure.colorbar(mesh, ax=ax, label="seconds until proved; grey: no proof")
    bar.ax.yaxis.set_major_formatter(lambda power, _: in_seconds(10**power, ""))


def _draw_sizes(figure: Figure, cases: Cases, order: Sequence[str]) -> None:
    ax, spots, names = figure.subplots(), [], []
    size = main_size(cases)
    sizes = np.array([run.result.sizes.get(size, 0) for run in cases.runs])
    for name in order:
        own = (cases.frame["configuration"] == name).to_numpy() & (sizes > 0)
        if not own.any():
            continue
        seconds = np.maximum(cases.frame.loc[own, "seconds"], _LEAST_SECONDS)
        look = _line(order, name, 0)
        spots += ax.plot(
            sizes[own], seconds, look["marker"], color=look["color"], markersize=4, alpha=0.7
        )
        names.append(name)
    _logarithmic(ax, "x")
    _logarithmic(ax, "y")
    ax.set(xlabel=size, ylabel="seconds")
    _legend(ax, spots, _labels(cases, names))


def _draw_growth(
    figure: Figure, cases: Cases, order: Sequence[str], panels: Mapping[str, Curves]
) -> None:
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    limits = cases.frame["limit"]
    lines: dict[str, Any] = {}
    for ax, (letter, curves) in zip(axes, panels.items(), strict=True):
        for name, (sizes, seconds) in curves.items():
            look = {**_line(order, name, 0), "markevery": None, "linewidth": 1.2}
            (lines[name],) = ax.plot(sizes, np.maximum(seconds, _LEAST_SECONDS), **look)
        for limit in np.unique(limits[np.isfinite(limits)]):
            ax.axhline(limit, linestyle=":", linewidth=1, color="#888888")
        _logarithmic(ax, "x")
        _logarithmic(ax, "y")
        every = sorted({size for sizes, _ in curves.values() for size in sizes})
        ax.set_xticks(every, [f"{size}" for size in every])
        ax.set_xticks([], minor=True)
        ax.set_xlabel(letter)
    axes[0].set_ylabel("median seconds")
    _legend(axes[-1], list(lines.values()), _labels(cases, list(lines)))


def _line(order: Sequence[str], name: str, points: int) -> dict[str, Any]:
    i = order.index(name)
    return {
        "color": COLOURS[i % len(COLOURS)],
        "linestyle": _DASHES[i % len(_DASHES)],
        "linewidth": 1.8,
        "marker": _MARKERS[i % len(_MARKERS)],
        "markersize": 4,
        "markevery": [] if not points else max(1, points // 8),
    }


def _logarithmic(ax: Axes, side: str) -> None:
    """Make an axis logarithmic, labelled by plain numbers."""
    getattr(ax, f"set_{side}scale")("log")
    axis = getattr(ax, f"{side}axis")

    def between(x: float, _: int) -> str:
        low, high = axis.get_view_interval()
        return f"{x:g}" if high < 30 * low and f"{x:e}"[0] in "25" else ""

    axis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.set_minor_formatter(between)


def _legend(ax: Axes, lines: Sequence[Any], names: Sequence[str]) -> None:
    if not lines:
        return
    below = len(names) > 8
    legend = ax.legend(
        lines,
        ["-"] * len(names),
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        fontsize=6 if below else 8,
        ncols=1 + len(names) // 30,
        borderaxespad=0,
    )
    # Given as labels, names that start with an underscore would be left out.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(_short(name))


def _short(name: str) -> str:
    name = printable(name)
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
