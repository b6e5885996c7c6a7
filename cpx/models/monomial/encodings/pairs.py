"""One-sided clauses, and what pairs of features and the size of the rule say about the costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cpx.modelling.statement import Constraints, Statement, Values
from cpx.models.monomial.encodings.common import bools
from cpx.models.monomial.encodings.sizes import Choices, Excluded, row, sizes
from cpx.models.monomial.form import WeightedMonomial

MOST_PAIRS = 10_000
"""With more pairs one relaxation takes a solver longer than people wait for an answer."""


def pairs(form: WeightedMonomial) -> Statement:
    """Clauses with the size of the rule and the pairs of its features: strong relaxations.

    All of :func:`~cpx.models.monomial.encodings.sizes.sizes`, and what follows from it for
    whole numbers, but not for fractions. Variables beside X, C, U and Z: W_jr, the rule has r
    features and j is one; Y_jl for j < l, it has j and l::

        minimise    sum_i cost_covered_i C_i + sum_i cost_uncovered_i U_i
        subject to  the constraints of sizes
                    sum_r W_jr = X_j,    sum_j W_jr = r Z_r,    W_jr <= Z_r
                    Y_jl <= X_j,  Y_jl <= X_l,    sum_l Y_jl = sum_r (r - 1) W_jr
        for each s in 1 .. k - 1
                    s (s + 1) sum_i u_i U_i >= 2 s sum_j u_j X_j - 2 sum_jl u_jl Y_jl
        for each r in 1 .. k
                    r sum_i c_i C_i >= r c - r sum_j c_j X_j + 2 sum_jl c_jl Y_jl
                                       - sum_{q > r} M_qr Z_q

    u_i and c_i are the costs of not covering and of covering i, u_j, c_j and u_jl, c_jl what the
    rows that j excludes, and that both exclude, cost in all, and c is the sum of the c_i.

    Let t of the features of a rule exclude row i; t (t - 1) / 2 pairs of them do. Row i is
    uncovered when t > 0, and for whole t both [t > 0] >= 2 t / (s + 1) - t (t - 1) / (s (s + 1))
    and [t = 0] >= 1 - t + t (t - 1) / r, the latter for t <= r (D. A. Dawson, D. Sankoff: An
    inequality for probabilities, 1967). Summed over the rows these are the rows for s and for r;
    M_qr is r c times the greatest excess of the right side over the left for a t up to q > r.

    With more than 10,000 pairs it is ``sizes``, and where that is ``clausal`` this is as well.
    Rows whose coefficients add up to 2**20 or more are left out: solvers that count in floats
    could not be trusted with them.

    Size: that of ``sizes``, d (d - 1) / 2 + d k variables more, d (d - 1) + d k + 2 d + 3 k - 1
    constraints more.

    Source: bounds of Bonferroni's kind, here as rows of a relaxation; no paper states it so.
    """
    choices = Choices(form)
    if not choices.counted:
        return sizes(form)
    if choices.first.size > MOST_PAIRS:
        # Relaxations of so many features take long, and sizes adds little to them.
        return replace(sizes(form), core=None)
    return _Pairs(form, choices).statement()


class _Pairs:
    """The variables that are added, and the rows between them."""

    def __init__(self, form: WeightedMonomial, choices: Choices) -> None:
        self.form, self.base = form, sizes(form)
        self.free, self.first, self.second = choices.free, choices.first, choices.second
        self.X, self.Z = self.base.variables["X"], self.base.variables["Z"]
        self.W = bools(self.free.size * form.k, "W")
        self.Y = bools(self.first.size, "Y")
        self.uncovering = Excluded(form, form.cost_uncovered)
        self.covering = Excluded(form, form.cost_covered)

    def statement(self) -> Statement:
        """Return the statement of ``sizes`` with the rows."""
        from cpx.modelling.blocks import extended

        added = self._structure()
        added.under(
            "s (s + 1) sum_i u_i U_i >= 2 s sum_j u_j X_j - 2 sum_jl u_jl Y_jl", self._uncovered()
        )
        added.under(
            "r sum_i c_i C_i >= r c - r sum_j c_j X_j + 2 sum_jl c_jl Y_jl - sum_{q > r} M_qr Z_q",
            self._covered(),
        )
        k, pairs = self.form.k, list(zip(self.first, self.second, strict=True))
        means = {
            "W": lambda at: f"feature {self.free[at // k]} at size {at % k + 1}",
            "Y": lambda at: f"features {pairs[at][0]} and {pairs[at][1]}",
        }
        return replace(
            self.base,
            model=extended(self.base.model, added),
            lines=[*self.base.lines, *added.lines],
            means={**self.base.means, **means},
            variables={**self.base.variables, "W": self.W, "Y": self.Y},
            complete=self._complete,
            core=self.base,
        )

    def _complete(self, chosen: Sequence[int]) -> Values:
        values = dict(self.base.complete(chosen))
        chosen_at = values["X"]
        # Feature by feature, sizes 1 .. k.
        values["W"] = np.outer(chosen_at[self.free], values["Z"][1:]).ravel()
        values["Y"] = chosen_at[self.first] * chosen_at[self.second]
        return values

    # ------------------------------------------------------------------ rows

    def _structure(self) -> Constraints:
        import cpmpy as cp

        X, Y, Z, W, k = self.X, self.Y, self.Z, self.W, self.form.k
        rows = Constraints()
        for r in range(1, k + 1):
            of_size = [W[at * k + r - 1] for at in range(self.free.size)]
            rows.under("sum_j W_jr = r Z_r", [cp.sum([*of_size, -r * Z[r]]) == 0])
            rows.under("W_jr <= Z_r", (~w | Z[r] for w in of_size))
        for at, j in enumerate(self.free):
            by_size = [W[at * k + r - 1] for r in range(1, k + 1)]
            rows.under("sum_r W_jr = X_j", [cp.sum([*by_size, -X[j]]) == 0])
            here = Y[np.flatnonzero((self.first == j) | (self.second == j))]
            others = [-(r - 1) * w for r, w in enumerate(by_size, start=1) if r > 1]
            rows.under("sum_l Y_jl = sum_r (r - 1) W_jr", [cp.sum([*here, *others]) == 0])
        for y, j, n in zip(Y, self.first, self.second, strict=True):
            rows.under("Y_jl <= X_j", [~y | X[j]])
            rows.under("Y_jl <= X_l", [~y | X[n]])
        return rows

    def _uncovered(self) -> list[Any]:
        costs, U = self.uncovering, self.base.variables["U"]
        of_pairs = costs.both[self.first, self.second]
        return [
            found
            for s in range(1, self.form.k)
            for found in row(
                (s * (s + 1), costs.priced, U),
                (-2 * s, costs.each, self.X),
                (2, of_pairs, self.Y),
                least=0,
            )
        ]

    def _covered(self) -> list[Any]:
        costs, C, k = self.covering, self.base.variables["C"], self.form.k
        of_pairs, total = costs.both[self.first, self.second], costs.total
        rows = []
        for r in range(1, k + 1):
            excess = [total * _excess(r, q) for q in range(k + 1)]
            rows += row(
                (r, costs.priced, C),
                (r, costs.each, self.X),
                (-2, of_pairs, self.Y),
                (1, excess, self.Z),
                least=r * total,
            )
        return rows


def _excess(r: int, q: int) -> int:
    """Return r times what ``1 - t + t (t - 1) / r`` exceeds [t = 0] by, at most, for t <= q."""
    return max(r * (1 - t) + t * (t - 1) - r * (t == 0) for t in range(q + 1)) if q > r else 0
