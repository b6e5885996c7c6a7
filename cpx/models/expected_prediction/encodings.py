"""Encodings of sums of tables: by the products that they are made of, and by their entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Constraints, Statement, Values
from cpx.models.expected_prediction.form import TableSumForm
from cpx.models.monomial.encodings.common import bools, cost

__all__ = ["products", "tables"]

Pairs = list[tuple[int, Any]]
"""Terms of a sum, weight and literal."""


class _Stated:
    """A statement in the making: the choice of features, and the value as a weighted sum."""

    def __init__(self, form: TableSumForm) -> None:
        import cpmpy as cp

        self.form = form
        # CPMpy has no model without variables, so there is one feature at least.
        self.X = bools(max(1, form.n_features), "X")
        self.constraints = Constraints()
        self.constraints.under("X_j, j required", (self.X[j] for j in form.required))
        self.constraints.under("not X_j, j forbidden", (~self.X[j] for j in form.forbidden))
        if not form.n_features:
            self.constraints.under("not X_0, which is no feature", [~self.X[0]])
        if len({*form.required}) > form.k:
            self.constraints.under("false, more than k are required", [self.X[0], ~self.X[0]])
        elif form.k < form.n_features:
            self.constraints.under("sum_j X_j <= k", [cp.sum(list(self.X)) <= form.k])

    def possible(self, features: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the numbers of the sets of some features that may be chosen, increasing."""
        form = self.form
        numbers = np.arange(2 ** len(features))
        bits = (numbers[:, None] >> np.arange(len(features))) & 1
        small = bits.sum(axis=1) <= form.k
        wrong = (bits == 1) & np.isin(features, form.forbidden)
        return np.asarray(numbers[small & ~wrong.any(axis=1)])

    def finish(
        self,
        name: str,
        array: Any,
        terms: Pairs,
        values: Callable[[set[int]], list[int]],
        means: Callable[[int], str],
    ) -> Statement:
        """Return the statement with the auxiliary variables and the terms of the value.

        array: The auxiliary variables; means: what each stands for.
        values: Gives the values of the auxiliary variables for a set of features.
        """
        import cpmpy as cp
        from cpmpy.expressions.core import Operator

        form, X = self.form, self.X

        def complete(chosen: Sequence[int]) -> Values:
            found = {"X": np.zeros(len(X), dtype=np.int64)}
            found["X"][list(chosen)] = 1
            if len(array):
                found[name] = np.array(values({*chosen}), dtype=np.int64)
            return found

        variables = {"X": X, name: array} if len(array) else {"X": X}
        terms = [(w, v) for w, v in terms if w]
        if form.target is None:
            total = [w for w, _ in terms] or [0], [v for _, v in terms] or [X[0]]
            model = cp.Model(self.constraints, maximize=Operator("wsum", list(total)))
            return self._statement(model, variables, complete, means, "max")
        rest = form.target - form.constant
        if terms:
            total = [w for w, _ in terms], [v for _, v in terms]
            reached = Operator("wsum", list(total)) >= rest
            self.constraints.under("sum of the terms, at least the limit", [reached])
        elif rest > 0:
            self.constraints.under("false, no set reaches the limit", [X[0], ~X[0]])
        weights = form.penalties if form.likeliest else np.ones(form.n_features, dtype=np.int64)
        goal = cost(X, (weights if form.n_features else np.zeros(1, dtype=np.int64), X))
        model = cp.Model(self.constraints, minimize=goal)
        return self._statement(model, variables, complete, means, "min")

    def _statement(
        self,
        model: Any,
        variables: Mapping[str, Any],
        complete: Callable[[Sequence[int]], Values],
        means: Callable[[int], str],
        sense: Literal["min", "max"],
    ) -> Statement:
        return Statement(
            model,
            variables,
            complete,
            sense,
            offset=self.form.constant if sense == "max" else 0,
            lines=self.constraints.lines,
            means={name: means for name in variables if name != "X"},
        )


def products(form: TableSumForm) -> Statement:
    """Product encoding: the sum of tables as a polynomial, with a variable for each product.

    Every table is a polynomial in the choices, ``f_t(S) = sum_A m_tA prod_{j in A} X_j``, with
    ``m_tA = sum_{B <= A} (-1)^(|A| - |B|) f_t(B)``. Products of all tables are put together: let
    m_A be the sum of their weights. Variables: X_j, feature j is chosen; Y_A for each A of two
    features or more with m_A != 0, its product counts::

        maximise    sum_j m_j X_j  +  sum_A m_A Y_A
        subject to  Y_A -> AND_{j in A} X_j           where m_A > 0
                    Y_A  or  OR_{j in A} not X_j      where m_A < 0
                    sum_j X_j <= k

    The direction of the objective makes the other directions superfluous. A limit of the value
    from below has the same direction. Sets of more than k features, and of forbidden ones, are
    left out: they have no product.

    Size: A variables and one per product; for a tree of depth h with different tests
    everywhere, 3^h - 2^h - h products at most h deep below its root path instead of 2^(2^h - 1)
    entries. A clause, or an implication, for each product.

    Source: the usual linearisation of polynomials in 0-1 variables (Glover and Woolsey, 1974).
    """
    from cpx.modelling.literals import all_of, any_of

    stated, weights = _Stated(form), dict[tuple[int, ...], int]()
    for features, table in zip(form.features, form.tables, strict=True):
        numbers = stated.possible(features)
        coefficients = _polynomial(table)[numbers]
        for number, weight in zip(numbers.tolist(), coefficients.tolist(), strict=True):
            if weight:
                inside = _members(features, number)
                weights[inside] = weights.get(inside, 0) + weight
    weights = {inside: weight for inside, weight in weights.items() if weight}
    several = sorted(inside for inside in weights if len(inside) > 1)
    Y = bools(len(several), "Y")
    terms: Pairs = [(w, stated.X[inside[0]]) for inside, w in weights.items() if len(inside) == 1]
    for inside, y in zip(several, Y, strict=True):
        chosen = [stated.X[j] for j in inside]
        terms.append((weights[inside], y))
        if weights[inside] > 0:
            implied = y.implies(all_of(chosen))
            stated.constraints.under("Y_A -> AND_{j in A} X_j", [implied])
        else:
            counted = any_of([y, *(~x for x in chosen)])
            stated.constraints.under("Y_A or OR_{j in A} not X_j", [counted])

    def values(S: set[int]) -> list[int]:
        return [int(S.issuperset(inside)) for inside in several]

    def product(at: int) -> str:
        return f"the product of features {', '.join(map(str, several[at]))}"

    return stated.finish("Y", Y, terms, values, product)


def tables(form: TableSumForm) -> Statement:
    """Table encoding: a variable for each entry of each table, of which one is taken.

    Variables: X_j, feature j is chosen; L_tA, of the features F_t of table t just those of A
    are chosen, for A of at most k features, none forbidden::

        maximise    sum_t sum_A f_t(A) L_tA
        subject to  sum_A L_tA  =  1                     for each t
                    sum_{A with j} L_tA  =  X_j          for each t and j in F_t
                    sum_j X_j <= k

    Its linear relaxation is the product of the convex hulls of the single tables with the
    limit on the size. It is often tight, and need not be.

    Size: A variables and 2^|F_t| per table; 1 + |F_t| linear constraints per table.

    Source: the local polytope of graphical models, as in Werner, A Linear Programming Approach
    to Max-sum Problem (2007).
    """
    import cpmpy as cp

    stated, entries = _Stated(form), list[tuple[NDArray[np.int32], NDArray[np.int64]]]()
    for features in form.features:
        entries.append((features, stated.possible(features)))
    L = bools(sum(len(numbers) for _, numbers in entries), "L")
    terms: Pairs = []
    of_table = np.repeat(np.arange(len(entries)), [len(n) for _, n in entries])
    for (features, numbers), table, own in zip(
        entries, form.tables, _split(L, [len(n) for _, n in entries]), strict=True
    ):
        stated.constraints.under("sum_A L_tA = 1", [cp.sum(list(own)) == 1])
        for bit, j in enumerate(features.tolist()):
            having = [
                v for v, number in zip(own, numbers.tolist(), strict=True) if number >> bit & 1
            ]
            x = stated.X[j]
            same = cp.sum([*having, ~x]) == 1 if having else ~x
            stated.constraints.under("sum_{A with j} L_tA = X_j", [same])
        terms += zip(table[numbers].tolist(), own, strict=True)

    def values(S: set[int]) -> list[int]:
        found = []
        for features, numbers in entries:
            own = sum(1 << bit for bit, j in enumerate(features.tolist()) if j in S)
            found += [int(number == own) for number in numbers.tolist()]
        return found

    return stated.finish("L", L, terms, values, lambda at: f"table {of_table[at]}")


def _polynomial(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the weights of the products of the features of a table.

    >>> _polynomial(np.array([0, 2, 3, 10])).tolist()
    [0, 2, 3, 5]
    """
    cube = table.reshape((2,) * (len(table).bit_length() - 1)).copy()
    for axis in range(cube.ndim):
        without, chosen = np.split(cube, 2, axis=axis)
        chosen -= without
    return cube.reshape(-1)


def _members(features: NDArray[np.int32], number: int) -> tuple[int, ...]:
    return tuple(j for bit, j in enumerate(features.tolist()) if number >> bit & 1)


def _split(variables: Any, sizes: Sequence[int]) -> Iterator[list[Any]]:
    found, first = list(variables), 0
    for size in sizes:
        yield found[first : first + size]
        first += size
