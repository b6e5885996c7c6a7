"""One-sided clauses, and what pairs of features and the size of the rule say about the costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cpx.modelling.statement import Statement, Values
from cpx.models.monomial.encodings.sizes import Choices, Excluded, blocks, row, say, sizes
from cpx.models.monomial.form import WeightedMonomial

if TYPE_CHECKING:
    from cpx.modelling.blocks import BlockModel

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
        self.uncovering = Excluded(form, form.cost_uncovered)
        self.covering = Excluded(form, form.cost_covered)

    def statement(self) -> Statement:
        """Return the statement of ``sizes`` with the rows."""
        model = blocks(self.base).extended(W=self.free.size * self.form.k, Y=self.first.size)
        self._structure(model)
        self._uncovered(model)
        self._covered(model)
        k, pairs = self.form.k, list(zip(self.first, self.second, strict=True))
        means = {
            "W": lambda at: f"feature {self.free[at // k]} at size {at % k + 1}",
            "Y": lambda at: f"features {pairs[at][0]} and {pairs[at][1]}",
        }
        return replace(
            self.base,
            model=model,
            lines=model.lines,
            means={**self.base.means, **means},
            variables=model.variables,
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

    def _structure(self, model: BlockModel) -> None:
        X, Y, Z, k = (*map(model.numbers, "XYZ"), self.form.k)
        W = model.numbers("W").reshape(self.free.size, k)
        ones = np.ones(max(W.shape[0], k, Y.size), dtype=np.int64)
        for r in range(1, k + 1):
            of_size = W[:, r - 1]
            say(model, "sum_j W_jr = r Z_r", (1, ones[: len(W)], of_size), (-r, [1], [Z[r]]))
            implied = np.ones((len(W), 1), dtype=np.bool_)
            model.clauses("W_jr <= Z_r", -of_size, implied, Z[r : r + 1])
        for at, j in enumerate(self.free):
            say(model, "sum_r W_jr = X_j", (1, ones[:k], W[at]), (-1, [1], [X[j]]))
            here = Y[(self.first == j) | (self.second == j)]
            fewer = -1, np.arange(k), W[at]
            say(model, "sum_l Y_jl = sum_r (r - 1) W_jr", (1, ones[: here.size], here), fewer)
        for line, ends in (("Y_jl <= X_j", self.first), ("Y_jl <= X_l", self.second)):
            model.clauses(line, -Y, ends[:, None] == np.arange(X.size), X)

    def _uncovered(self, model: BlockModel) -> None:
        costs = self.uncovering
        of_pairs = costs.both[self.first, self.second]
        for s in range(1, self.form.k):
            row(
                model,
                "s (s + 1) sum_i u_i U_i >= 2 s sum_j u_j X_j - 2 sum_jl u_jl Y_jl",
                (s * (s + 1), costs.priced, model.numbers("U")),
                (-2 * s, costs.each, model.numbers("X")),
                (2, of_pairs, model.numbers("Y")),
            )

    def _covered(self, model: BlockModel) -> None:
        costs, k = self.covering, self.form.k
        of_pairs, total = costs.both[self.first, self.second], costs.total
        for r in range(1, k + 1):
            excess = [total * _excess(r, q) for q in range(k + 1)]
            row(
                model,
                "r sum_i c_i C_i >= r c - r sum_j c_j X_j + 2 sum_jl c_jl Y_jl "
                "- sum_{q > r} M_qr Z_q",
                (r, costs.priced, model.numbers("C")),
                (r, costs.each, model.numbers("X")),
                (-2, of_pairs, model.numbers("Y")),
                (1, excess, model.numbers("Z")),
                least=r * total,
            )


def _excess(r: int, q: int) -> int:
    """Return r times what ``1 - t + t (t - 1) / r`` exceeds [t = 0] by, at most, for t <= q."""
    return max(r * (1 - t) + t * (t - 1) - r * (t == 0) for t in range(q + 1)) if q > r else 0
