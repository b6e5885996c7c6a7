"""Recognise definitions of a literal by a clause or a conjunction.

Complements :mod:`cpx.backends.normal_forms`: clauses are their own normal form here, so both
directions can be written down at once. Imports CPMpy: to be imported only where something
is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cpmpy.expressions.core import Comparison, Expression, Operator
from cpmpy.expressions.variables import _BoolVarImpl

__all__ = ["Equivalence", "equivalence"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """``literal`` holds exactly when one of the arguments does, or all in a conjunction.

    With ``negated``, exactly when that is not so.
    """

    literal: Any
    negated: bool
    conjunction: bool
    arguments: Sequence[Any]


def equivalence(constraint: Expression) -> Equivalence | None:
    """Return the definition that a constraint is, or None.

    Examples
    --------
    >>> import cpmpy as cp
    >>> a, b, c = cp.boolvar(shape=3, name="v")
    >>> equivalence(a == ~(b | c))
    Equivalence(literal=v[0], negated=True, conjunction=False, arguments=(v[1], v[2]))
    """
    if not isinstance(constraint, Comparison) or constraint.name != "==":
        return None
    literal, definition = constraint.args
    if not isinstance(literal, _BoolVarImpl):
        literal, definition = definition, literal
    negated = False
    while isinstance(definition, Operator) and definition.name == "not":
        negated = not negated
        (definition,) = definition.args
    if (
        isinstance(literal, _BoolVarImpl)
        and isinstance(definition, Operator)
        and definition.name in ("or", "and")
        and all(isinstance(argument, _BoolVarImpl) for argument in definition.args)
    ):
        return Equivalence(literal, negated, definition.name == "and", definition.args)
    return None
