"""One-sided clauses, and what a rule of each size costs at least."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Statement, Values
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.form import WeightedMonomial

if TYPE_CHECKING:
    from cpx.modelling.blocks import BlockModel

_LARGEST_ROW = 2**20
"""Sums of coefficients from which the numbers of a row are no longer safe in floats."""

MOST_WORK = 5 * 10**9
"""Products of two numbers in counting what pairs exclude, and in counting what three do."""

_FEW = 500
"""Samples: with fewer, the number of pairs decides how long their statement takes."""


def sizes(form: WeightedMonomial) -> Statement:
    """Clauses, and the least cost of the rules of each size: a bound without any search.

    All of :func:`~cpx.models.monomial.encodings.clausal.clausal`, and variables Z_r, the rule
    has r features::

        minimise    sum_i cost_covered_i C_i + sum_i cost_uncovered_i U_i
        subject to  the constraints of clausal
                    sum_r Z_r = 1,    sum_j X_j = sum_r r Z_r
                    objective >= v_0 Z_0 + v_1 Z_1 + v_2 Z_2 + v_3 (Z_3 + .. + Z_k)

    v_0, v_1 and v_2 are the least costs of the rules with so many features, and v_3 the least
    cost of not covering the rows that three features exclude, or min(v_0, v_1, v_2) where that is
    less: a rule with more features excludes these rows as well. Three features exclude seven
    eighths of uniform samples, so that larger rules often lose more than small ones cost.

    Where k < 2, or no two features can be chosen together, it is ``clausal``. So it is where
    costs add up to 2**20 or more, as solvers that count in floats could not be trusted with them,
    and where max(m, 500) d^2 is above 5 * 10**9.

    Size: that of ``clausal``, k + 1 variables and 3 constraints more. v_2 takes time
    proportional to m d^2, v_3 to m d^3 at most: pairs that already lose min(v_0, v_1, v_2) are
    left out, and where too many remain v_3 is the least loss of the pairs not looked at.

    Source: folklore (a bound from the smallest parts of a solution); no paper states it so.
    """
    return _Sizes(form).statement() if Choices(form).counted else clausal(form)


class Choices:
    """The features that may be chosen, and the pairs that may be chosen together.

    free, first, second: The features, and the first and second features of the pairs; none where
        to count them takes long, or costs are not safe.
    counted: Whether there are pairs, and rules may have two features.
    """

    def __init__(self, form: WeightedMonomial) -> None:
        m, d = form.shape
        total = (form.cost_covered + form.cost_uncovered).sum(dtype=np.float64)
        safe = bool(total < _LARGEST_ROW) and max(m, _FEW) * d**2 <= MOST_WORK
        self.free = np.setdiff1d(np.arange(d), form.forbidden)
        pairs = np.triu_indices(self.free.size if safe else 0, 1)
        self.first, self.second = (self.free[at] for at in pairs)
        if form.groups is not None:
            together = form.groups[self.first] != form.groups[self.second]
            self.first, self.second = self.first[together], self.second[together]
        self.counted = form.k >= 2 and self.first.size > 0


class Excluded:
    """What the rows that features exclude cost in all; exact where costs are ``counted``."""

    def __init__(self, form: WeightedMonomial, costs: NDArray[np.int64]) -> None:
        self.priced: NDArray[np.int64] = costs[costs > 0]
        self.table: NDArray[np.bool_] = ~form.agreement[costs > 0]
        self.total = int(self.priced.sum())
        table = self.table.astype(np.float32)
        self.both = (table.T @ (table * self.priced[:, None].astype(np.float32))).astype(np.int64)
        """Of each two features, the cost of the rows that both exclude."""
        self.each: NDArray[np.int64] = np.diag(self.both)


class _Sizes:
    """The variables that are added, and the rows with them."""

    def __init__(self, form: WeightedMonomial) -> None:
        self.form, self.base, self.choices = form, clausal(form), Choices(form)

    def statement(self) -> Statement:
        """Return the statement of ``clausal`` with the rows."""
        model = blocks(self.base).extended(Z=self.form.k + 1)
        X, Z = model.numbers("X"), model.numbers("Z")
        model.sum("sum_r Z_r = 1", np.ones_like(Z), Z, "==", 1)
        say(model, "sum_j X_j = sum_r r Z_r", (1, np.ones_like(X), X), (-1, np.arange(Z.size), Z))
        self._least(model)
        return replace(
            self.base,
            model=model,
            lines=model.lines,
            means={**self.base.means, "Z": lambda r: f"size {r}"},
            variables=model.variables,
            complete=self._complete,
            core=self.base,
        )

    def _complete(self, chosen: Sequence[int]) -> Values:
        size = np.arange(self.form.k + 1) == len(chosen)
        return {**self.base.complete(chosen), "Z": size.astype(np.int64)}

    def _least(self, model: BlockModel) -> None:
        """Say the row with the least costs of the rules of each size."""
        u = Excluded(self.form, self.form.cost_uncovered)
        c = Excluded(self.form, self.form.cost_covered)
        first, second = self.choices.first, self.choices.second
        each, both = u.each - c.each, (u.both - c.both)[first, second]
        costs = [
            c.total,
            c.total + int(each[self.choices.free].min()),
            c.total + int((each[first] + each[second] - both).min()),
        ]
        costs += [_least_of_three(u, self.choices, min(costs))] * (self.form.k - 2)
        row(
            model,
            "objective >= sum_r v_r Z_r",
            (1, u.priced, model.numbers("U")),
            (1, c.priced, model.numbers("C")),
            (-1, costs, model.numbers("Z")),
        )


def _least_of_three(costs: Excluded, choices: Choices, most: int) -> int:
    """Return the least cost of the rows that three features exclude, or ``most`` if that is less.

    Any two of the three may be chosen together. They are visited by the first of them; once there
    is no time for more, the least cost of the pairs that were not visited is a bound.
    """
    first, second = choices.first, choices.second
    of_pairs = np.full(costs.both.shape, most)
    of_pairs[first, second] = costs.each[first] + costs.each[second] - costs.both[first, second]
    least, work = most, 0
    for j in range(len(of_pairs)):
        others = np.flatnonzero(of_pairs[j] < least)
        rows = ~costs.table[:, j]
        work += int(rows.sum()) * others.size**2
        if work > MOST_WORK:
            return min(least, int(of_pairs[j:].min()))
        # Costs below 2**24 are exact.
        table = costs.table[np.ix_(rows, others)].astype(np.float32)
        both = table.T @ (table * costs.priced[rows, None].astype(np.float32))
        each = np.diag(both)
        lost = costs.each[j] + each[:, None] + each[None, :] - both
        together = of_pairs[np.ix_(others, others)] < least
        least = min(least, int(lost[together].min(initial=least)))
    return least


def blocks(statement: Statement) -> BlockModel:
    """Return the model of ``clausal``, or of what extends it."""
    from cpx.modelling.blocks import BlockModel

    model = statement.model
    assert isinstance(model, BlockModel)
    return model


Term = tuple[int, Any, Any]
"""A factor, and weights and literals that are multiplied by it."""


def _joined(terms: Iterable[Term]) -> tuple[list[int], list[int]]:
    """Return the weights that are not 0, and their literals."""
    found = [
        (factor * int(weight), int(literal))
        for factor, weights, literals in terms
        for weight, literal in zip(weights, literals, strict=True)
        if weight
    ]
    return [weight for weight, _ in found], [literal for _, literal in found]


def say(model: BlockModel, line: str, *terms: Term, operator: str = "==", limit: int = 0) -> None:
    """Say ``sum of factor * weights * literals  operator  limit``."""
    model.sum(line, *_joined(terms), operator, limit)


def row(model: BlockModel, line: str, *terms: Term, least: int = 0) -> None:
    """Say ``sum of factor * weights * literals >= least``, unless its numbers are large."""
    weights, literals = _joined(terms)
    if weights and sum(map(abs, weights)) + abs(least) < _LARGEST_ROW:
        model.sum(line, weights, literals, ">=", least)
