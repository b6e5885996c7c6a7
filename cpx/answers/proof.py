"""The proof of a result: what is claimed, the lines that a checker follows, and what they show.

What they show is known of minimum sufficient reasons: rows of another class are why no smaller
set is one, in words and as a picture.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from cpx.answers.axes import axes_or_new
from cpx.answers.html import Shown
from cpx.answers.text import Block, Paragraph, Table, as_text
from cpx.answers.values import Value, from_json, listed, plural
from cpx.support.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS, _MOST_CHANGES = 12, 6
"""Rows that are printed, and changes of each."""


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof as :func:`cpx.solve` makes it and :func:`cpx.check.proofs.proved` checks it.

    Attributes
    ----------
    header : dict
        Format, kind, fingerprint of the instance, and the claim: "The format of proofs" has them.
    lines : tuple of str
        The body.
    told : callable, optional
        Returns what a proof about a minimum sufficient reason says, in words.

    Examples
    --------
    >>> from cpx import KMonomial, Samples, solve
    >>> problem = KMonomial(Samples([[1, 0], [0, 1]], [1, 0], features=("a", "b")), k=1)
    >>> proof = solve(problem, "search", proof=True).proof
    >>> proof.bound, proof.complete, proof.lines
    (0, True, ('counted',))
    """

    header: Mapping[str, Any]
    lines: tuple[str, ...]
    told: Callable[[], ProofRows] | None = None

    @cached_property
    def rows(self) -> ProofRows | None:
        """What a proof about a minimum sufficient reason says, in words; of others None."""
        return None if self.told is None else self.told()

    @property
    def bound(self) -> Value | None:
        """The bound that is claimed; None where the claim is that there is no solution."""
        return from_json("bound", self.header["claim"].get("bound"))

    @property
    def complete(self) -> bool:
        """Whether the claim is all that was to be proved."""
        return "goal" not in self.header

    def to_bytes(self) -> bytes:
        """Return the proof as a file has it."""
        return "\n".join([json.dumps(self.header), *self.lines, ""]).encode("ascii")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the proof, gzipped when the name ends in ``.gz``; whole or not at all."""
        data = self.to_bytes()
        if str(path).endswith(".gz"):
            data = gzip.compress(data, mtime=0)
        write_atomic(path, data)

    def __str__(self) -> str:
        claimed = "no solution" if self.bound is None else f"bound {self.bound}"
        told = f"of {claimed}, {plural(len(self.lines), 'line')}"
        return told if self.rows is None else f"{told}: {self.rows.headline}"


class ProofRow(NamedTuple):
    """A row that shows that some features must be kept.

    Attributes
    ----------
    given : str
        The class that it gets.
    changes : dict of int to str
        What it has in the features in which it is not as x, by feature.
    one : bool
        Whether each feature alone is enough to exclude the row. Where it is not, many features
        count a little each, and the row asks for enough of them.
    """

    given: str
    changes: dict[int, str]
    one: bool


@dataclass(frozen=True)
class ProofRows(Shown):
    """The rows of a proof about a minimum sufficient reason.

    Attributes
    ----------
    headline : str
        What they show.
    rows : tuple of ProofRow
        Those with the fewest changes first.
    names : tuple of str
        Of all features.
    reason : tuple of int
        The features of the reason that is proved minimum.

    Examples
    --------
    >>> rows = ProofRows("1 row shows that something must be kept",
    ...                  (ProofRow("no", {0: "age <= 40"}, True),), ("age > 40",), (0,))
    >>> print(rows)
    1 row shows that something must be kept
    <BLANKLINE>
    class  only this is not as in x  to be kept
       no  age <= 40                 one of these
    """

    headline: str
    rows: tuple[ProofRow, ...]
    names: tuple[str, ...]
    reason: tuple[int, ...]

    def __str__(self) -> str:
        return as_text(self.blocks(), spaced=True)

    def blocks(self) -> Sequence[Block]:
        """Return the headline, and a table of the rows."""
        shown = tuple(
            (
                row.given,
                listed([*row.changes.values()], _MOST_CHANGES),
                f"{'one' if row.one else 'some'} of these",
            )
            for row in self.rows[:_MOST_ROWS]
        )
        out: list[Block] = [Paragraph(self.headline[:1].upper() + self.headline[1:])]
        if shown:
            out.append(Table(("class", "only this is not as in x", "to be kept"), shown, (1, 2)))
        if (more := len(self.rows) - _MOST_ROWS) > 0:
            out.append(Paragraph(f"and {plural(more, 'more row')}"))
        return out

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw which features each row changes: every reason has one in each row.

        The features of the reason are drawn in colour. Of rows of which each feature is not
        enough alone the cells are paler.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; those of a new figure of pyplot when not given.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        EngineMissing
            When matplotlib is not installed; with the pip line.
        """
        kept, used = {*self.reason}, {j for row in self.rows for j in row.changes}
        features = sorted(used, key=lambda j: (j not in kept, j))
        ax = axes_or_new(ax, 2 + 0.3 * len(features), 1.5 + 0.3 * len(self.rows))
        for y, row in enumerate(self.rows):
            for x, j in enumerate(features):
                if j in row.changes:
                    colour = "#3b7dd8" if j in kept else "#888888"
                    alpha = 1.0 if row.one else 0.4
                    ax.bar(x, 0.8, 0.8, y - 0.4, color=colour, alpha=alpha)
        ax.set_xticks(range(len(features)), [self.names[j] for j in features], rotation=90)
        ax.set_yticks(range(len(self.rows)), [row.given for row in self.rows])
        ax.set_xlim(-0.6, len(features) - 0.4)
        ax.set_ylim(len(self.rows) - 0.4, -0.6)
        ax.set_xlabel("changed, one must be kept")
        ax.set_ylabel("row of class")
        ax.set_title(self.headline, wrap=True)
        return ax
