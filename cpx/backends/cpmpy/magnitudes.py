"""How large the sums of a CPMpy model can become, for engines with small integers or floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from cpmpy.expressions.core import Comparison, Expression, Operator
from cpmpy.expressions.utils import is_int
from cpmpy.expressions.variables import _BoolVarImpl, _NumVarImpl
from cpmpy.transformations.normalize import toplevel_list


def largest_sum(model: Any) -> int:
    """Return the largest absolute value that a sum, or a part of one, can have in the model.

    >>> import cpmpy as cp
    >>> a, b = cp.boolvar(shape=2, name="v")
    >>> x = cp.intvar(0, 9, name="x")
    >>> largest_sum(cp.Model(a.implies(3 * b + 5 * x <= 7), minimize=2 * a + x))
    55
    """
    found = 0 if model.objective_ is None else _size(model.objective_)
    for constraint in toplevel_list(model.constraints):
        found = max(found, _largest(constraint))
    return found


def _largest(constraint: Any) -> int:
    if isinstance(constraint, Operator):
        return max((_largest(part) for part in constraint.args if _has_parts(part)), default=0)
    if isinstance(constraint, Comparison):
        # Moved to one side, as engines do.
        return sum(map(_size, constraint.args))
    # As many as all its numbers together, if its parts become one sum.
    return sum(map(_size, constraint.args)) if _has_parts(constraint) else 0


def _has_parts(part: Any) -> bool:
    return isinstance(part, Expression) and not isinstance(part, _NumVarImpl)


def _size(part: Any) -> int:
    """Return the sum of what the parts of an expression can be at most, in absolute value."""
    if isinstance(part, _BoolVarImpl):
        return 1
    if isinstance(part, _NumVarImpl):
        return max(abs(int(part.lb)), abs(int(part.ub)))
    if is_int(part):
        return abs(int(part))
    if isinstance(part, list | tuple | np.ndarray):
        return sum(map(_size, part))
    if not isinstance(part, Expression):
        return 0
    if part.name == "wsum":
        weights, parts = part.args
        return sum(abs(int(w)) * _size(each) for w, each in zip(weights, parts, strict=True))
    if part.name == "mul":
        sizes = [_size(each) for each in part.args]
        return sizes[0] * sizes[1]
    if part.is_bool():
        return max(1, _largest(part))
    return max(sum(map(_size, part.args)), *(abs(int(end)) for end in part.get_bounds()))
