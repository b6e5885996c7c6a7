"""One-sided clauses, and what pairs of features and the size of the rule say about the costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.base import Statement, Values
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.encodings.common import bools

if TYPE_CHECKING:
    from cpx.models.monomial.form import WeightedMonomial

__all__ = ["pairs"]

_MOST_PAIRS = 10_000
"""With more pairs one relaxation takes a solver longer than people wait for an answer."""

_LARGEST_ROW = 2**20
"""Sums of coefficients from which the numbers of a row are no longer safe in floats."""


def pairs(form: WeightedMonomial) -> Statement:
    """Clauses with the size of the rule and the pairs of its features: strong relaxations.

    All of :func:`~cpx.models.monomial.encodings.clausal.clausal`, and what follows from it for
    whole numbers, but not for fractions. Variables beside X, C and U: Z_r, the rule has r
    features; W_jr, it has r features and j is one; Y_jl for j < l, it has j and l::

        minimise    sum_i cost_covered_i C_i + sum_i cost_uncovered_i U_i
        subject to  the constraints of clausal
                    sum_r Z_r = 1,    sum_r W_jr = X_j,    sum_j W_jr = r Z_r,    W_jr <= Z_r
                    Y_jl <= X_j,  Y_jl <= X_l,    sum_l Y_jl = sum_r (r - 1) W_jr
        for each s in 1 .. k - 1
                    s (s + 1) sum_i u_i U_i >= 2 s sum_j u_j X_j - 2 sum_jl u_jl Y_jl
        for each r in 1 .. k
                    r sum_i c_i C_i >= r c - r sum_j c_j X_j + 2 sum_jl c_jl Y_jl
                                       - sum_{q > r} M_qr Z_q
                    objective >= v_0 Z_0 + v_1 Z_1 + v_2 Z_2

    u_i and c_i are the costs of not covering and of covering i, u_j, c_j and u_jl, c_jl what the
    rows that j excludes, and that both exclude, cost in all, c is the sum of the c_i, and v_r
    the least cost of the rules with r features.

    Let t of the features of a rule exclude row i; t (t - 1) / 2 pairs of them do. Row i is
    uncovered when t > 0, and for whole t both [t > 0] >= 2 t / (s + 1) - t (t - 1) / (s (s + 1))
    and [t = 0] >= 1 - t + t (t - 1) / r, the latter for t <= r (D. A. Dawson, D. Sankoff: An
    inequality for probabilities, 1967). Summed over the rows these are the rows for s and for r;
    M_qr is r c times the greatest excess of the right side over the left for a t up to q > r.

    With more than 10,000 pairs, and where k < 2, it is ``clausal``. Rows whose coefficients add
    up to 2**20 or more are left out: solvers that count in floats could not be trusted with them.

    Size: that of ``clausal``, d (d - 1) / 2 + d k + k + 1 variables more, d (d - 1) + d k + 2 d +
    3 k + 1 constraints more.

    Source: bounds of Bonferroni's kind, here as rows of a relaxation; no paper states it so.
    """
    statement = clausal(form)
    free = np.setdiff1d(np.arange(form.shape[1]), form.forbidden)
    chosen_from = [(int(j), int(n)) for j, n in combinations(free, 2) if _together(form, j, n)]
    if form.k < 2 or not chosen_from or len(chosen_from) > _MOST_PAIRS:
        return statement
    return _Pairs(form, statement, free, chosen_from).statement()


def _together(form: WeightedMonomial, j: int, n: int) -> bool:
    return form.groups is None or bool(form.groups[j] != form.groups[n])


class _Pairs:
    """The variables that are added, and the rows between them."""

    def __init__(
        self,
        form: WeightedMonomial,
        statement: Statement,
        free: NDArray[np.int64],
        chosen_from: list[tuple[int, int]],
    ) -> None:
        self.form, self.base, self.free = form, statement, free
        self.first, self.second = np.array(chosen_from, dtype=np.int64).T
        self.X = statement.variables["X"]
        self.Z = bools(form.k + 1, "Z")
        self.W = bools(free.size * form.k, "W")
        self.Y = bools(len(chosen_from), "Y")
        excluded = ~form.agreement
        self.uncovering = _Excluded(excluded, form.cost_uncovered)
        self.covering = _Excluded(excluded, form.cost_covered)

    def statement(self) -> Statement:
        """Return the statement of ``clausal`` with the rows."""
        import cpmpy as cp

        model = self.base.model
        added = [*self._structure(), *self._uncovered(), *self._covered(), *self._least()]
        return replace(
            self.base,
            model=cp.Model([*model.constraints, *added], minimize=model.objective_),
            variables={**self.base.variables, "Z": self.Z, "W": self.W, "Y": self.Y},
            complete=self._complete,
            core=self.base,
        )

    def _complete(self, chosen: Sequence[int]) -> Values:
        values = dict(self.base.complete(chosen))
        chosen_at = values["X"]
        values["Z"] = (np.arange(self.form.k + 1) == len(chosen)).astype(np.int64)
        # Feature by feature, sizes 1 .. k.
        values["W"] = np.outer(chosen_at[self.free], values["Z"][1:]).ravel()
        values["Y"] = chosen_at[self.first] * chosen_at[self.second]
        return values

    # ------------------------------------------------------------------ rows

    def _structure(self) -> list[Any]:
        import cpmpy as cp

        X, Y, Z, W, k = self.X, self.Y, self.Z, self.W, self.form.k
        rows = [cp.sum(Z) == 1]
        for r in range(1, k + 1):
            of_size = [W[at * k + r - 1] for at in range(self.free.size)]
            rows.append(cp.sum([*of_size, -r * Z[r]]) == 0)
            rows += [~w | Z[r] for w in of_size]
        for at, j in enumerate(self.free):
            sizes = [W[at * k + r - 1] for r in range(1, k + 1)]
            rows.append(cp.sum([*sizes, -X[j]]) == 0)
            here = Y[np.flatnonzero((self.first == j) | (self.second == j))]
            others = [-(r - 1) * w for r, w in enumerate(sizes, start=1) if r > 1]
            rows.append(cp.sum([*here, *others]) == 0)
        for y, j, n in zip(Y, self.first, self.second, strict=True):
            rows += [~y | X[j], ~y | X[n]]
        return rows

    def _uncovered(self) -> list[Any]:
        costs, U = self.uncovering, self.base.variables["U"]
        of_pairs = costs.both(self.first, self.second)
        return [
            row
            for s in range(1, self.form.k)
            for row in _row(
                (s * (s + 1), costs.priced, U),
                (-2 * s, costs.each, self.X),
                (2, of_pairs, self.Y),
                least=0,
            )
        ]

    def _covered(self) -> list[Any]:
        costs, C, k = self.covering, self.base.variables["C"], self.form.k
        of_pairs, total = costs.both(self.first, self.second), costs.total
        rows = []
        for r in range(1, k + 1):
            excess = [total * _excess(r, q) for q in range(k + 1)]
            rows += _row(
                (r, costs.priced, C),
                (r, costs.each, self.X),
                (-2, of_pairs, self.Y),
                (1, excess, self.Z),
                least=r * total,
            )
        return rows

    def _least(self) -> list[Any]:
        """Return the row with the least costs of the rules of at most two features."""
        free, u, c = self.free, self.uncovering, self.covering
        of_pairs = u.both(self.first, self.second) - c.both(self.first, self.second)
        each = u.each - c.each
        costs = [
            c.total,
            c.total + int(each[free].min()),
            c.total + int((each[self.first] + each[self.second] - of_pairs).min()),
        ]
        variables = self.base.variables
        return _row(
            (1, u.priced, variables["U"]),
            (1, c.priced, variables["C"]),
            (-1, costs, self.Z[:3]),
            least=0,
        )


class _Excluded:
    """What the rows that features exclude cost in all."""

    def __init__(self, excluded: NDArray[np.bool_], costs: NDArray[np.int64]) -> None:
        rows = np.flatnonzero(costs)
        self.priced: list[int] = [int(cost) for cost in costs[rows]]
        table, exact = excluded[rows], np.array(self.priced, dtype=np.int64)
        self._of_both = table.T.astype(np.int64) @ (table * exact[:, None])
        self.each: NDArray[np.int64] = np.diag(self._of_both)
        self.total = sum(self.priced)

    def both(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the rows that both features of each pair exclude cost."""
        costs: NDArray[np.int64] = self._of_both[first, second]
        return costs


def _excess(r: int, q: int) -> int:
    """Return r times what ``1 - t + t (t - 1) / r`` exceeds [t = 0] by, at most, for t <= q."""
    return max(r * (1 - t) + t * (t - 1) - r * (t == 0) for t in range(q + 1)) if q > r else 0


def _row(*terms: tuple[int, Any, Any], least: int) -> list[Any]:
    """Return ``sum of factor * weights * variables >= least`` as a constraint, or none."""
    from cpmpy.expressions.core import Operator

    found = [
        (factor * int(weight), variable)
        for factor, weights, variables in terms
        for weight, variable in zip(weights, variables, strict=True)
        if weight
    ]
    if not found or sum(abs(weight) for weight, _ in found) + abs(least) >= _LARGEST_ROW:
        return []
    weights, variables = zip(*found, strict=True)
    return [Operator("wsum", [list(weights), list(variables)]) >= least]
