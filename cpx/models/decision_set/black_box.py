"""A black box with a query counter and a check whether its answers change."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.oracle import classifier_name, labels
from cpx.errors import DataError, InvalidOption, shown
from cpx.models.decision_set.input_space import Domain

__all__ = ["BlackBox"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

RECHECKED = 100
"""Rows of the table that are asked a second time at the end."""


class BlackBox:
    """A binary classifier, the labels it gave to a table, and a count of what it was asked.

    With every query goes a row that was labelled before, so that a black box that changes its
    mind is seen. These rows are not counted as queries: they bring nothing new.

    table: Real instances; all are labelled at once.
    domain: Of this table.
    positive: The class that rules describe; the greater of the two labels when not given.
    rng: Chooses the rows that are asked again.
    classes: The negative and the positive one.
    labels: Which rows of the table are positive.
    queries: Instances labelled since.
    rechecked, changed: Rows asked again, and how many of them got another label.
    Raises ClassifierError: When f fails, or answers with something that is not one label per row.
    Raises DataError: When the labels are not of two classes.
    Raises InvalidOption: When ``positive`` is not one of them.

    >>> rows = np.array([[1.0], [2.0], [3.0]])
    >>> box = BlackBox(lambda z: z[:, 0] > 1, rows, Domain(rows), None, np.random.default_rng(0))
    >>> box.labels, box.ask(np.array([[0.5]])), box.queries
    (array([False,  True,  True]), array([False]), 1)
    """

    def __init__(
        self, f: Any, table: Any, domain: Domain, positive: Any, rng: np.random.Generator
    ) -> None:
        self._f = f
        self._domain = domain
        self._rng = rng
        self.name = classifier_name(f)
        answers = labels(f, table)
        self.classes = _two_classes(answers, positive, self.name)
        self.labels: BoolArray = np.asarray(answers == self.classes[1], dtype=bool)
        self._values = domain.values(table)
        self.queries = self.rechecked = self.changed = 0

    def ask(self, values: FloatArray) -> BoolArray:
        """Return which instances are positive; values of shape (n, m) as the domain has them.

        Raises ClassifierError: When f fails, or answers with a label it has not used before.
        """
        self.queries += len(values)
        return self._asked(values, 1)

    def recheck(self) -> None:
        """Ask some rows of the table again."""
        self._asked(self._values[:0], min(RECHECKED, len(self._values)))

    def _asked(self, values: FloatArray, again: int) -> BoolArray:
        rows = self._rng.choice(len(self._values), again, replace=False)
        asked = np.vstack([values, self._values[rows]])
        answers = labels(self._f, self._domain.rows(asked))
        unknown = ~np.isin(answers, self.classes)
        if unknown.any():
            strange = answers[unknown].tolist()[0]
            raise DataError(
                f"the black box {self.name} gave a query the label {shown(strange)}: on "
                "the table it "
                f"had only {shown(self.classes[0])} and {shown(self.classes[1])}"
            )
        found = np.asarray(answers == self.classes[1], dtype=bool)
        self.rechecked += again
        self.changed += int((found[len(values) :] != self.labels[rows]).sum())
        return found[: len(values)]

    @property
    def remark(self) -> str:
        """Say that labels changed; empty when none did."""
        if not self.changed:
            return ""
        return (
            f"the black box {self.name} changed its mind: {self.changed} of {self.rechecked} rows "
            "asked again got another label. No rule set can be faithful to it, and the figures "
            "are those of its first answers"
        )


def _two_classes(answers: npt.NDArray[Any], positive: Any, name: str) -> tuple[Any, Any]:
    found = np.unique(answers).tolist()
    if len(found) == 1:
        raise DataError(
            f"the black box {name} gives all {len(answers)} rows the label {shown(found[0])}: "
            "there is nothing for rules to tell apart"
        )
    if len(found) > 2:
        raise DataError(
            f"the black box {name} has {len(found)} classes on the table, a decision set "
            "describes one: pass lambda rows: predict(rows) == label"
        )
    if positive is None:
        return found[0], found[1]
    if positive not in found:
        raise InvalidOption(f"positive must be one of the labels {found}, got {shown(positive)}")
    return found[1 - found.index(positive)], found[found.index(positive)]
