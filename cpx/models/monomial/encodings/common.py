"""What all encodings of a monomial problem share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cpx.models.monomial.form import WeightedMonomial

__all__ = ["bools", "choice", "cost"]


def bools(n: int, name: str) -> Any:
    """Return an array of n Boolean variables ``name[0]`` .. ``name[n-1]``, n >= 0."""
    import cpmpy as cp

    if n == 0:
        return cp.cpm_array([])
    return cp.boolvar(shape=(n,), name=name)


def choice(form: WeightedMonomial, X: Any) -> list[Any]:
    """Return the constraints on the chosen features other than their number.

    ``X_j`` for required j, ``not X_j`` for forbidden j, and ``sum X_j <= 1`` over each
    group of two features or more when groups restrict the choice.
    """
    import cpmpy as cp

    constraints = [X[j] for j in form.required] + [~X[j] for j in form.forbidden]
    if form.groups is not None:
        for group in np.unique(form.groups):
            members = np.flatnonzero(form.groups == group)
            if members.size > 1:
                constraints.append(cp.sum([X[j] for j in members]) <= 1)
    return constraints


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
