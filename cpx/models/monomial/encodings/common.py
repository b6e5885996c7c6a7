"""What all encodings of a monomial problem share: the choice of features, the cost, the limits.

Limits on what a monomial covers are linear constraints that count a row by a literal. A limit
from below is right when a counted row is covered, a limit from above when a covered row is
counted: :func:`needs` says of which rows which direction matters, and an encoding need not state
the other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import InvalidOption, shown
from cpx.modelling.statement import Constraints
from cpx.models.monomial.form import CoverageLimits, WeightedMonomial


def bools(n: int, name: str) -> Any:
    """Return an array of n Boolean variables ``name[0]`` .. ``name[n-1]``, n >= 0."""
    import cpmpy as cp

    if n == 0:
        return cp.cpm_array([])
    return cp.boolvar(shape=(n,), name=name)


def choice(form: WeightedMonomial, X: Any) -> Constraints:
    """Return the constraints on the choice of features other than their number.

    ``X_j`` for required j, ``not X_j`` for forbidden j, and ``sum X_j <= 1`` over each
    group of two features or more when groups restrict the choice.
    """
    import cpmpy as cp

    stated = Constraints()
    stated.under("X_j, j required", (X[j] for j in form.required))
    stated.under("not X_j, j forbidden", (~X[j] for j in form.forbidden))
    if form.groups is not None:
        for group in np.unique(form.groups):
            members = np.flatnonzero(form.groups == group)
            if members.size > 1:
                most = cp.sum([X[j] for j in members]) <= 1
                stated.under("sum_{j in G} X_j <= 1, G a column", [most])
    return stated


def cost(X: Any, *terms: tuple[NDArray[np.int64], Any]) -> Any:
    """Return the sum of weight times variable over all terms as one CPMpy expression.

    Each term is an array of weights and one of variables, of equal length. With nothing
    to sum the expression is ``0 X_0``: a model then still has an objective.
    """
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    weights = [int(w) for values, _ in terms for w in values]
    variables = [v for _, array in terms for v in array]
    if not weights:
        weights, variables = [0], [X[0]]
    if all(w == 1 for w in weights):
        return cp.sum(variables)
    return Operator("wsum", [weights, variables])


def needs(form: WeightedMonomial) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for which rows "counted => covered", and "covered => counted", must hold.

    Returns under, over (m,): All False without limits.
    """
    limits, (m, _) = form.limits, form.shape
    under, over = np.zeros(m, dtype=np.bool_), np.zeros(m, dtype=np.bool_)
    if limits is None:
        return under, over
    if limits.precision is not None:
        under |= limits.same
        over |= ~limits.same
    if limits.least > 0:
        under[:] = True
    if limits.most is not None:
        over[:] = True
    return under, over


def refuse_limits(limits: CoverageLimits | None, encoding: str) -> None:
    """Raise InvalidOption when there are limits: the encoding cannot state them."""
    if limits is not None:
        raise InvalidOption(
            f"encoding {shown(encoding)} cannot state limits on coverage and precision"
        )


def limit_constraints(
    limits: CoverageLimits | None, under: Sequence[Any], over: Sequence[Any]
) -> list[Any]:
    """Return the limits as linear constraints; none without limits.

    under, over: Of each row, one that implies that it is covered and one that is implied by it,
        where :func:`needs` asks for it.
    """
    constraints = []
    for weights, literals, operator, limit in limit_sums(limits, under, over):
        total = _sum(weights, literals)
        constraints.append(total <= limit if operator == "<=" else total >= limit)
    return constraints


def limit_sums(
    limits: CoverageLimits | None, under: Iterable[Any], over: Iterable[Any]
) -> Iterator[tuple[list[int], list[Any], str, int]]:
    """Yield weights, literals, operator and limit of each linear constraint of the limits."""
    if limits is None:
        return
    weights = limits.weights.tolist()
    if limits.least > 0:
        yield weights, list(under), ">=", limits.least
    if limits.most is not None:
        yield weights, list(over), "<=", limits.most
    if limits.precision is not None:
        p, q = limits.precision.numerator, limits.precision.denominator
        terms = [
            ((q - p) * w, low) if same else (-p * w, high)
            for w, same, low, high in zip(weights, limits.same, under, over, strict=True)
        ]
        divisor = gcd(*(factor for factor, _ in terms))
        if divisor:  # else nothing disagrees
            some = [(factor // divisor, x) for factor, x in terms if factor]
            yield [factor for factor, _ in some], [x for _, x in some], ">=", 0


def _sum(weights: Sequence[int], literals: Sequence[Any]) -> Any:
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    if all(weight == 1 for weight in weights):
        return cp.sum(literals)
    return Operator("wsum", [weights, literals])
