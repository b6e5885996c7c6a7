"""The rules of a decision set as a table: what each covers, and what it is good for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from cpx.methods.active.conditions import SetRule

__all__ = ["RuleRow", "as_text", "measure"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RuleRow:
    """A rule and its figures on the real instances.

    Attributes
    ----------
    rule : SetRule
    covered, positive : int
        Instances that it covers, and those of the positive class among them.
    marginal : int
        By how many the errors of the decision set would rise without the rule.
    total : int
        All real instances.
    """

    rule: SetRule
    covered: int
    positive: int
    marginal: int
    total: int

    @property
    def coverage(self) -> Fraction:
        """Share of the instances that the rule covers."""
        return Fraction(self.covered, self.total)

    @property
    def precision(self) -> Fraction | None:
        """Positive share of what the rule covers; None when it covers nothing."""
        return Fraction(self.positive, self.covered) if self.covered else None


def measure(rules: Sequence[SetRule], covers: BoolArray, labels: BoolArray) -> tuple[RuleRow, ...]:
    """Return the figures of rules from what they cover, of shape (rules, n).

    Examples
    --------
    >>> rows = measure([SetRule(()), SetRule(())], np.array([[1, 1, 0], [0, 1, 0]], dtype=bool),
    ...                np.array([True, False, True]))
    >>> [(row.covered, row.positive, row.marginal) for row in rows]
    [(2, 1, 1), (1, 0, 0)]
    """
    alone = covers.sum(axis=0) == 1
    return tuple(
        RuleRow(
            rule,
            int(own.sum()),
            int((own & labels).sum()),
            int(np.where(labels, 1, -1)[own & alone].sum()),
            len(labels),
        )
        for rule, own in zip(rules, covers, strict=True)
    )


def as_text(rows: Sequence[RuleRow]) -> str:
    """Return the table as text, a line per rule."""
    lines = ["coverage  precision  errors without it  rule"]
    for row in rows:
        precision = "none" if row.precision is None else f"{float(row.precision):.3f}"
        lines.append(
            f"{float(row.coverage):8.3f}  {precision:>9}  {row.marginal:>+17}  {row.rule}"
        )
    return "\n".join(lines)
