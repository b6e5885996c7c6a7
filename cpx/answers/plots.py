"""Plots of rules against samples: those covered rightly, covered wrongly, and missed."""

from __future__ import annotations

import itertools
import textwrap
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from cpx.answers.axes import axes_or_new
from cpx.answers.rule import RuleSet
from cpx.errors import InvalidInstance, printable, shown
from cpx.support.shares import share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cpx.answers.explanation import Explanation
    from cpx.data.samples import Samples

__all__ = [
    "arranged",
    "plot_rules",
    "plot_selection",
]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

# Colours that readers with colour blindness tell apart, and of different lightness in print
# (Okabe, Ito).
_RIGHT, _WRONG, _MISSED = "#56B4E9", "#D55E00", "#E69F00"
_NOTHING, _PALE = "#8080801C", "#E69F0038"  # seen through, on light and on dark ground

_LEAST, _MOST = 0.4, 0.7  # share of the width that the samples of the class get
_GAP = 0.02  # between the two groups
# Of so many rules at most, each gets so many lines of so many characters, and inches.
_ROOM = ((6, 3, 58, 0.46), (15, 2, 58, 0.34), (10**9, 1, 66, 0.21))
_ABOVE = 0.14  # inches from the first row to the middle of the headings


def plot_rules(
    rules: RuleSet, covers: Any, same: Any, *, weights: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw rules against samples: a row for each rule, a column for each sample.

    On the left are the samples of the class, on the right the others, each group with its own
    scale; in a group, samples that the same rules cover are neighbours. Rules are sorted by the
    errors there would be without them. The last row is what all rules say together. A run of
    samples is at least a fine line wide, so that a single error among many samples is seen.

    Parameters
    ----------
    rules : RuleSet
    covers : (R, m) array of bool
        Which rules cover which samples, in the order of the set.
    same : (m,) array of bool
        Which samples are of the class.
    weights : (m,) array of numbers > 0, optional
        How wide each sample is; 1 when not given.
    ax : matplotlib axes, optional
        Where to draw; those of a new figure of pyplot when not given.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    InvalidInstance
        When the shapes do not fit one another, naming the argument.
    EngineMissing
        When matplotlib is not installed; with the pip line.

    Examples
    --------
    >>> from cpx import RuleSetSelection, Samples, solve
    >>> from matplotlib.figure import Figure
    >>> samples = Samples([[1, 0], [1, 1], [0, 1], [0, 0]], [1, 1, 0, 0], features=("a", "b"))
    >>> found = solve(RuleSetSelection(samples, rules=[(0,), (1,)])).explanation
    >>> ax = plot_rules(found.rule, samples.agreement[:, [0]].T, samples.same,
    ...                 ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'all rules']
    """
    covers, same, weights = _checked(rules, covers, same, weights)
    order = sorted(range(len(rules)), key=lambda r: (-rules.figures[r].marginal, r))
    covers = covers[order]
    columns = arranged(covers, same)
    covers, same = covers[:, columns], same[columns]
    edges = _edges(same, weights[columns])
    ax = axes_or_new(ax, 10, 0.8 + (len(rules) + 1) * _room(rules)[2])
    _draw_cells(ax, covers, same, edges)
    head = -0.4 - _ABOVE / _room(rules)[2]
    ax.set_ylim(len(rules) + 0.5, 2 * head + 0.4)
    _write_rules(ax, rules, order, head)
    _write_groups(ax, rules.says, same, weights[columns], edges, head)
    return ax


class CoveredSamples(Protocol):
    """A problem about sets of rules, as far as a picture needs it."""

    @property
    def samples(self) -> Samples:
        """What the rules are judged by."""

    def cover(self, rule: int) -> BoolArray:
        """Return which samples a rule covers."""


def plot_selection(
    problem: CoveredSamples, explanation: Explanation, *, ax: Axes | None = None
) -> Axes:
    """Draw a solution of a problem about sets of rules against its samples.

    See :func:`plot_rules`.

    Parameters
    ----------
    problem : RuleSetSelection or RuleSetLearning
        For what :func:`cpx.learn_rules` returns, its ``problem``.
    explanation : Explanation
        The rules selected.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from cpx import Samples, learn_rules
    >>> from matplotlib.figure import Figure
    >>> samples = Samples([[1, 0], [1, 1], [0, 1], [0, 0]], [1, 1, 0, 0], features=("a", "b"))
    >>> learned = learn_rules(samples, k=1, penalty=0)
    >>> ax = plot_selection(learned.problem, learned.explanation, ax=Figure().subplots())
    """
    rules = explanation.rule
    if not isinstance(rules, RuleSet):
        raise InvalidInstance(f"explanation must be of a set of rules, got {rules}")
    samples = problem.samples
    covers = np.zeros((len(explanation.features), samples.m), dtype=np.bool_)
    for place, rule in enumerate(explanation.features):
        covers[place] = problem.cover(rule)
    return plot_rules(rules, covers, samples.same, weights=samples.weights, ax=ax)


def arranged(covers: BoolArray, same: BoolArray) -> npt.NDArray[np.intp]:
    """Return an order of samples, shape (m,): by class, then by which rules cover them.

    >>> covers = np.array([[1, 0, 0, 1], [0, 1, 0, 1]], dtype=bool)
    >>> arranged(covers, np.array([True, True, True, False])).tolist()
    [0, 1, 2, 3]
    >>> arranged(covers, np.ones(4, dtype=bool)).tolist()
    [3, 0, 1, 2]
    """
    # The last key counts first, and true is to come before false.
    return np.lexsort([*~covers[::-1], ~same])


def _checked(
    rules: RuleSet, covers: Any, same: Any, weights: Any
) -> tuple[BoolArray, BoolArray, FloatArray]:
    if not isinstance(rules, RuleSet):
        raise InvalidInstance(f"rules must be a RuleSet, got {type(rules).__name__}")
    same = np.asarray(same)
    if same.ndim != 1 or not len(same) or same.dtype != np.bool_:
        raise InvalidInstance(f"same must be a vector of bool, got {same.dtype} {same.shape}")
    covers = np.asarray(covers)
    if covers.shape != (len(rules), len(same)) or covers.dtype != np.bool_:
        raise InvalidInstance(
            f"covers must be bool of shape {(len(rules), len(same))}, got {covers.dtype} "
            f"{covers.shape}"
        )
    wide = np.ones(len(same)) if weights is None else np.asarray(weights, dtype=np.float64)
    if wide.shape != same.shape or not (wide > 0).all() or not np.isfinite(wide).all():
        raise InvalidInstance(f"weights must be {len(same)} numbers > 0, got {shown(weights)}")
    return covers, same, wide


def _edges(same: BoolArray, weights: FloatArray) -> FloatArray:
    """Return where each sample begins and ends, shape (m, 2), in 0..1."""
    own, other = float(weights[same].sum()), float(weights[~same].sum())
    share = own / (own + other)
    if own and other:
        share = min(max(share, _LEAST), _MOST)
    gap = _GAP if own and other else 0.0
    scale = np.where(same, share / (own or 1.0), (1 - share) / (other or 1.0)) * (1 - gap)
    ends = np.cumsum(weights * scale) + np.where(same, 0.0, gap)
    return np.column_stack([ends - weights * scale, ends])


def _draw_cells(ax: Axes, covers: BoolArray, same: BoolArray, edges: FloatArray) -> None:
    from matplotlib.patches import Patch

    n = len(covers)
    any_rule = covers.any(axis=0)
    missed = same & ~any_rule
    for row in range(n + 1):
        covered = covers[row] if row < n else any_rule
        for cells, colour, name in (
            (np.ones_like(same), _NOTHING, ""),
            (missed, _PALE if row < n else _MISSED, "missed"),
            (covered & same, _RIGHT, "covered rightly"),
            (covered & ~same, _WRONG, "covered wrongly"),
        ):
            runs = _runs(cells, same, edges)
            # A run has an outline in its colour, and is seen however narrow it is.
            line = 0.4 if name else 0.0
            ax.broken_barh(runs, (row - 0.4, 0.8), color=colour, linewidth=line)
    if n:
        ax.axhline(n - 0.5, color="#999999", linewidth=0.8)
    ax.set_xlim(0, 1)
    for side in ("top", "right", "bottom", "left"):
        ax.spines[side].set_visible(False)
    handles = [
        Patch(color=_RIGHT, label="covered rightly"),
        Patch(color=_WRONG, label="covered wrongly"),
        Patch(color=_MISSED, label="missed"),
    ]
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=3,
        frameon=False,
        fontsize=8,
    )


def _runs(shown: BoolArray, same: BoolArray, edges: FloatArray) -> list[tuple[float, float]]:
    """Return start and width of each run of samples that are shown, within the groups."""
    padded = np.concatenate([[False], shown, [False]])
    changes = np.flatnonzero(padded[1:] != padded[:-1])
    # A run that goes from one group into the other is cut where the groups meet.
    border = int(same.sum())
    runs = []
    for first, end in changes.reshape(-1, 2).tolist():
        cuts = [first, border, end] if first < border < end else [first, end]
        for a, b in itertools.pairwise(cuts):
            runs.append((float(edges[a, 0]), float(edges[b - 1, 1] - edges[a, 0])))
    return runs


def _room(rules: RuleSet) -> tuple[int, int, float]:
    """Return lines, characters in a line, and inches of each rule."""
    lines, characters, inches = next(room[1:] for room in _ROOM if len(rules) <= room[0])
    return lines, characters, inches


def _write_rules(ax: Axes, rules: RuleSet, order: list[int], head: float) -> None:
    """Write each rule on the left, and its figures on the right."""
    n = len(order)
    lines, characters, _ = _room(rules)
    texts = [_short(rules.literals[r].text, lines, characters) for r in order]
    ax.set_yticks(range(n + 1), [*texts, "all rules"], fontsize=7)
    ax.tick_params(axis="y", length=0)
    if not n:
        return
    priced = rules.price is not None
    rows = [f"coverage precision {'contribution' if priced else 'errors without it'}"]
    for r in order:
        figures, precision = rules.figures[r], rules.figures[r].precision
        share = "none" if precision is None else share_text(precision)
        worth = f"{float(rules.contributions[r]):+12.1f}" if priced else f"{figures.marginal:+17}"
        rows.append(f"{share_text(figures.covered / rules.total):>8} {share:>9} {worth}")
    right = ax.secondary_yaxis("right")
    # Where an SVG is shown, several spaces may become one.
    rows = [row.replace(" ", "\u00a0") for row in rows]
    right.set_yticks([head, *range(n)], rows, fontsize=7, family="monospace")
    right.tick_params(axis="y", length=0)
    right.spines["right"].set_visible(False)


def _short(text: str, lines: int, characters: int) -> str:
    """Return a text in at most so many lines, broken before "and", with "..." for what is cut."""
    # No-break spaces keep a condition together.
    whole = printable(text).replace(" ", "\u00a0").replace("\u00a0and\u00a0", " and\u00a0")
    wrapped = textwrap.wrap(whole, characters, max_lines=lines, placeholder=" ...")
    return "\n".join(wrapped).replace("\u00a0", " ")


def _write_groups(
    ax: Axes,
    conclusion: str,
    same: BoolArray,
    weights: FloatArray,
    edges: FloatArray,
    head: float,
) -> None:
    """Write above each group what it is, and how many samples it has."""
    ax.set_xticks([])
    for group, name in ((same, conclusion), (~same, f"not {conclusion}")):
        if group.any():
            where = edges[group]
            middle = cast(float, (where[0, 0] + where[-1, 1]) / 2)
            ax.annotate(
                f"{name}: {weights[group].sum():,.0f} samples",
                (middle, head),
                ha="center",
                va="center",
                fontsize=8.5,
            )
