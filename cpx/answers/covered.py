"""Rows of a table by what an explanation says of them: covered, or one condition short of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.answers.html import Shown
from cpx.answers.text import Block, Fact, Table, as_text
from cpx.answers.values import listed, plural
from cpx.errors import printable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CoveredRows"]

_NAMES = "covered, of the class", "covered, of another class", "near miss"


@dataclass(frozen=True)
class CoveredRows(Shown):
    """Rows of X that an explanation covers, and near misses: rows that fail one condition.

    Attributes
    ----------
    agreeing, disagreeing : tuple
        Labels of the covered rows that the model gives the class, and of those that it does not.
    near : tuple
        Labels of the rows that fail exactly one condition.
    fails : tuple of str
        The condition that each of these fails.
    classes : tuple of str
        What the model says of agreeing, disagreeing and near rows, in this order.

    Examples
    --------
    >>> holds = np.array([[1, 1], [1, 1], [1, 0], [0, 0]], dtype=bool)
    >>> rows = CoveredRows.of(holds, ["a > 1", "b = x"], "pqrs", ["yes", "no", "no", "no"], "yes")
    >>> rows.agreeing, rows.disagreeing, rows.near, rows.fails
    (('p',), ('q',), ('r',), ('b = x',))
    >>> print(rows)
    rows                       count  labels
    covered, of the class          1  p
    covered, of another class      1  q
    near miss                      1  r
    """

    agreeing: tuple[Any, ...]
    disagreeing: tuple[Any, ...]
    near: tuple[Any, ...]
    fails: tuple[str, ...]
    classes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        holds: NDArray[np.bool_],
        conditions: Sequence[str],
        labels: Sequence[Any],
        classes: Sequence[str],
        called: str,
    ) -> CoveredRows:
        """Sort rows of a table by which conditions hold of each.

        holds: Which conditions hold of each row, shape (n, conditions).
        labels: Of the rows.
        classes: What the model says of each row.
        called: The class of the explanation.
        """
        failed = (~holds).sum(axis=1)
        covered, same = failed == 0, np.array([name == called for name in classes], dtype=bool)
        kinds = covered & same, covered & ~same, failed == 1
        places: list[list[int]] = [np.flatnonzero(some).tolist() for some in kinds]
        agreeing, disagreeing, near = (tuple(labels[i] for i in some) for some in places)
        fails = tuple(conditions[int(np.argmin(holds[i]))] for i in places[2])
        said = tuple(classes[i] for some in places for i in some)
        return cls(agreeing, disagreeing, near, fails, said)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each, with the labels as index.

        Its columns are ``rows`` (of the three kinds that are printed), ``class`` (by the model)
        and ``fails`` (the condition that a near miss fails).
        """
        import pandas as pd

        each = self.agreeing, self.disagreeing, self.near
        kinds = [name for name, some in zip(_NAMES, each) for _ in some]
        fails = [*[""] * (len(kinds) - len(self.fails)), *self.fails]
        index = pd.Index([label for some in each for label in some])
        table = {"rows": kinds, "class": [*self.classes], "fails": fails}
        return pd.DataFrame(table, index=index)

    def fact(self) -> Fact:
        """Return the counts in a sentence."""
        told, others = [f"covers {plural(len(self.agreeing), 'row')} of the class"], ""
        if self.disagreeing:
            others = f" ({listed([*map(printable, self.disagreeing)], 3)})"
        told.append(f"{len(self.disagreeing)} of another one{others}")
        fail = "fails" if len(self.near) == 1 else "fail"
        told.append(f"{len(self.near)} more {fail} just one condition")
        return Fact("rows", ", ".join(told))

    def __str__(self) -> str:
        return as_text(self.blocks())

    def blocks(self) -> list[Block]:
        """Return what is printed and shown."""
        each = zip(_NAMES, (self.agreeing, self.disagreeing, self.near))
        rows = [(name, str(len(some)), listed([*map(printable, some)], 8)) for name, some in each]
        return [Table(("rows", "count", "labels"), tuple(rows), left=(0, 2))]
