"""Limits on what a monomial covers, as linear constraints over the rows of a statement.

The constraints count a row by a literal. A limit from below is right when a counted row is
covered, a limit from above when a covered row is counted: :func:`needs` says of which rows
which direction matters, and an encoding need not state the other one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import InvalidOption, shown

if TYPE_CHECKING:
    from cpx.models.monomial.form import CoverageLimits, WeightedMonomial

__all__ = ["limit_constraints", "needs", "refuse_limits"]


def needs(form: WeightedMonomial) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for which rows "counted => covered", and "covered => counted", must hold.

    Returns
    -------
    under, over : ndarray of bool, shape (m,)
        All False without limits.
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

    Parameters
    ----------
    limits : CoverageLimits or None
    under, over : sequence of m literals
        Of each row, one that implies that it is covered and one that is implied by it, where
        :func:`needs` asks for it.
    """
    if limits is None:
        return []
    weights = limits.weights.tolist()
    constraints = []
    if limits.least > 0:
        constraints.append(_sum(weights, under) >= limits.least)
    if limits.most is not None:
        constraints.append(_sum(weights, over) <= limits.most)
    if limits.precision is not None:
        p, q = limits.precision.numerator, limits.precision.denominator
        terms = [
            ((q - p) * w, low) if same else (-p * w, high)
            for w, same, low, high in zip(weights, limits.same, under, over, strict=True)
        ]
        divisor = gcd(*(factor for factor, _ in terms))
        if divisor:  # else nothing disagrees
            factors = [factor // divisor for factor, _ in terms]
            constraints.append(_sum(factors, [x for _, x in terms]) >= 0)
    return constraints


def _sum(weights: Sequence[int], literals: Sequence[Any]) -> Any:
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    pairs = [(w, x) for w, x in zip(weights, literals, strict=True) if w]
    if all(w == 1 for w, _ in pairs):
        return cp.sum([x for _, x in pairs])
    return Operator("wsum", [[w for w, _ in pairs], [x for _, x in pairs]])
