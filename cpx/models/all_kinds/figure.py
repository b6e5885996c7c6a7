"""The figure: which kind names which column, value and bound, and what is then expected."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from cpx.answers.axes import ACCENT, MARK, require_matplotlib
from cpx.answers.values import class_words, plural
from cpx.errors import InvalidOption, printable
from cpx.models.all_kinds.parts import OneKind
from cpx.models.expected_prediction.text import SHARES
from cpx.support.shares import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE, _LONG, _LINE = 22, 28, 0.34
"""Characters of a cell in one line, of each of two, and inches of a line of columns."""

_MOST = 16
"""Columns drawn; of more, those of most kinds, and how many there are beside."""

_COLOURS = {"proved": ACCENT, "not proved": MARK}


def figure(found: Any, title: str = "") -> Figure:
    """Draw it in the colours of the style of matplotlib; see :meth:`AllKinds.plot`."""
    require_matplotlib()
    if not found.answered:
        raise InvalidOption("there is nothing to draw: no kind has an answer")
    import matplotlib.pyplot as plt

    columns = [*found.columns.items()][:_MOST]
    below = 1.9 if found.known else 0.0
    tall = 1.25 + _LINE * (len(columns) + 1) + below
    ratios = [tall - below, below] if below else [1]
    drawn, axes = plt.subplots(
        len(ratios),
        1,
        figsize=(1.9 + 1.45 * len(found.kinds), tall),
        height_ratios=ratios,
        layout="constrained",
        squeeze=False,
    )
    _matrix(axes[0, 0], found, columns)
    if below:
        _steps(axes[1, 0], found)
    heading = title or found.headline()
    drawn.suptitle(printable(heading), fontsize=10, x=0.01, ha="left", parse_math=False)
    return drawn


def _matrix(ax: Axes, found: Any, columns: list[Any]) -> None:
    """Draw a line for each column and what each kind says of it."""
    inks: dict[str, Any] = {"va": "center", "parse_math": False}
    of_names = {**inks, "fontsize": 7.5, "ha": "right"}
    lines, rest = len(columns), len(found.columns) - len(columns)
    for place, one in enumerate(found.kinds):
        _head(ax, one, place)
        for line, (name, of) in enumerate(columns):
            if one.kind not in of:
                continue
            colour = _COLOURS.get(one.told, "0.5")
            box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "alpha": 0.22, "lw": 0}
            text = _in_two(_without(printable(one.columns[name]), printable(name)))
            size = 6 if "\n" in text else 7.5
            ax.text(place, line, text, ha="center", bbox=box, fontsize=size, **inks)
    for line, (name, _) in enumerate(columns):
        ax.axhline(line + 0.5, color="0.5", lw=0.4, alpha=0.4)
        ax.text(-0.6, line, _short(printable(name), 26), **of_names)
    if rest > 0:
        told = f"{rest} more column{'s' * (rest > 1)}"
        ax.text(-0.6, lines, told, alpha=0.7, **of_names)
    ax.set(xlim=(-0.55, len(found.kinds) - 0.45), ylim=(lines + 0.6, -2.6))
    ax.axhline(-0.5, color="0.5", lw=0.9)
    ax.set_axis_off()


def _head(ax: Axes, one: OneKind, place: int) -> None:
    """Draw name, value, bound and status of a kind above its line."""
    inks: dict[str, Any] = {"ha": "center", "va": "center", "parse_math": False}
    value, bound = one.figures()
    ax.text(place, -2.3, one.kind, fontsize=9, fontweight="bold", **inks)
    colour = _COLOURS.get(one.told, "0.5")
    if one.why:
        ax.text(place, -1.35, "no answer", fontsize=7.5, alpha=0.7, **inks)
        return
    ax.text(place, -1.6, value, fontsize=8, **inks)
    told = f"{one.told}, bound {bound}" if bound else one.told
    ax.text(place, -0.95, told, fontsize=7, color=colour, **inks)


def _steps(ax: Axes, found: Any) -> None:
    """Draw what is expected, and how probable the class is, with columns of each kind known."""
    places = range(len(found.known))
    expected = [one.expected for one in found.known]
    ax.plot(places, expected, marker="o", color=ACCENT, lw=1.4, label=f"expected {found.measure}")
    if found.measure in SHARES:  # a score has another scale
        shares = [one.share for one in found.known]
        ax.plot(
            places, shares, marker="s", color=MARK, lw=1.1, ls="--", label="share of the class"
        )
    names = [f"{one.of}\n{plural(one.columns, 'column')}" for one in found.known]
    ax.set_xticks([*places], names, fontsize=7.5)
    ax.tick_params(axis="y", labelsize=7.5)
    for place, one in enumerate(found.known):
        ax.annotate(
            significant(one.expected, 3),
            (place, one.expected),
            xytext=(0, -11),
            textcoords="offset points",
            ha="center",
            fontsize=7,
        )
    ax.margins(x=0.06, y=0.22)
    if found.measure in SHARES:
        ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1])
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    called = class_words(found.label) or "the class"
    heading = f"When only these values are known: {printable(called)}"
    ax.set_title(heading, fontsize=8, loc="left", parse_math=False)
    ax.legend(fontsize=7, frameon=False, loc="lower right")


def _without(text: str, name: str) -> str:
    """Return a condition without its column, which stands at the line.

    >>> _without("2 <= a <= 4", "a"), _without("a is one of 2 (a, b)", "a"), _without("low", "a")
    ('2 <= · <= 4', 'is one of 2 (a, b)', 'low')
    """
    own = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    rest = re.sub(r"^· ?", "", own.sub("·", text, count=1))
    return rest or name


def _in_two(text: str) -> str:
    """Return a condition in two lines where it is too long for one.

    >>> _in_two("not (0.0787 < · <= 0.0912)").splitlines(), _in_two("> 4.5")
    (['not (0.0787 < ·', '<= 0.0912)'], '> 4.5')
    """
    if len(text) <= _WIDE:
        return text
    # As even as words allow; what is cut then is longer than two lines.
    lines = textwrap.wrap(text, max(_WIDE // 2 + 4, -(-len(text) // 2) + 2))
    if len(lines) > 2 or max(map(len, lines)) > _LONG:
        lines = textwrap.wrap(text, _LONG, max_lines=2, placeholder=" ...")
    return "\n".join(lines)


def _short(text: str, most: int) -> str:
    return textwrap.shorten(text, most, placeholder=" ...") if len(text) > most else text
