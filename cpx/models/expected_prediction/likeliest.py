"""Ties of expected predictions: the problem of the most probable of the optimal sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.modelling.base import Problem
from cpx.modelling.encodings import find_encoding
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Encoding, Statement, Values
from cpx.models.expected_prediction.encodings import products, tables
from cpx.models.expected_prediction.form import TableSumForm


class Likeliest(Problem):
    """Minimise the penalty of sets of at most k attributes whose tables sum up to a target.

    asked: Whose sets and words these are.
    form: Its plain arrays.
    target: In units.
    """

    encodings: ClassVar[tuple[Encoding[TableSumForm], ...]] = (
        Encoding("products", products),
        Encoding("tables", tables),
    )

    def __init__(self, asked: Problem, form: TableSumForm, k: int, target: int) -> None:
        self.asked = asked
        self.table_sum = replace(form, k=k, target=target, likeliest=True)

    def form(self) -> TableSumForm:
        """Return the sum of tables."""
        return self.table_sum

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in an encoding; the default is the first."""
        return constrained(
            find_encoding(self, encoding).build(self.table_sum), self.table_sum.side
        )

    def decode(self, values: Values) -> Explanation:
        """Return the explanation by the attributes whose X is true."""
        return self.asked.decode(values)

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the explanation by these attributes."""
        return self.asked.explanation(features)

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the penalty, and whether the set is as good as it must be."""
        S = explanation.features
        return Evaluation(self.table_sum.penalty(S), feasible=self.table_sum.allows(S))

    def _trivial_bound(self) -> int:
        """Return 0: no penalty is negative."""
        return 0
