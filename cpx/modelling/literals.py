"""Disjunctions and conjunctions of literals, made without a look at each literal.

CPMpy asks of each argument of an operator whether it is Boolean, and whether it is a list: of a
statement with a hundred thousand clauses that is a third of the time. Here who states a clause
says that its parts are Boolean variables or their negations ``~x``, and compilers ask no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cpmpy.expressions.core import Expression, Operator

__all__ = ["OfLiterals", "all_of", "any_of"]


class OfLiterals(Operator):
    """An operator ``or`` or ``and`` whose arguments are literals, at least one."""

    def __init__(self, name: str, literals: Iterable[Any]) -> None:
        Expression.__init__(self, name, tuple(literals), has_subexpr=None)
        assert self.args, "a disjunction or conjunction of nothing"


def any_of(literals: Iterable[Any]) -> OfLiterals:
    """Return the clause of these literals.

    >>> import cpmpy as cp
    >>> a, b = cp.boolvar(shape=2, name="v")
    >>> any_of([a, ~b])
    (v[0]) or (~v[1])
    """
    return OfLiterals("or", literals)


def all_of(literals: Iterable[Any]) -> OfLiterals:
    """Return the conjunction of these literals.

    >>> import cpmpy as cp
    >>> a, b = cp.boolvar(shape=2, name="v")
    >>> a.implies(all_of([b, ~a]))
    (v[0]) -> ((v[1]) and (~v[0]))
    """
    return OfLiterals("and", literals)
