"""Recognise CPMpy constraints that are already clauses, implications or linear.

CPMpy's chains of transformations take any expression and rebuild it several times over. A
constraint that already has the shape an engine wants need not pay for that: the compilers
ask :func:`recognise` first and hand to the chain only what it declines. No state and no
engine: one expression in, one normal form or None out.

Sources: the shapes are those of CPMpy's own flat normal form
(``cpmpy.transformations.flatten_model``).

Examples
--------
>>> import cpmpy as cp
>>> a, b, c = cp.boolvar(shape=3, name="v")
>>> recognise(a | ~b)
Clause(literals=(v[0], ~v[1]))
>>> recognise(a.implies(b & c))
Implication(premise=v[0], conclusions=(v[1], v[2]))
>>> recognise(a + 2 * b <= 2)
Linear(weights=[1, 2], variables=[v[0], v[1]], operator='<=', constant=2)
>>> recognise(cp.AllDifferent([a + b, c])) is None
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cpmpy.expressions.core import Comparison, Expression, Operator
from cpmpy.expressions.utils import is_int
from cpmpy.expressions.variables import _BoolVarImpl, _NumVarImpl

from cpx.modelling.literals import OfLiterals

_RELATIONS = frozenset(("<=", ">=", "==", "<", ">"))


@dataclass(slots=True)
class Clause:
    """At least one of the literals is true; literals are Boolean variables or views ``~b``."""

    literals: Sequence[Any]


@dataclass(slots=True)
class Implication:
    """If the literal ``premise`` is true, then all literals of ``conclusions`` are."""

    premise: Any
    conclusions: Sequence[Any]


@dataclass(slots=True)
class Linear:
    """``sum weights[i] * variables[i]  operator  constant`` over the integers.

    ``operator`` is one of ``<=``, ``>=`` and ``==``. Variables are Boolean or integer
    variables or views ``~b``; one variable may occur more than once.
    """

    weights: list[int]
    variables: list[Any]
    operator: str
    constant: int


class LinearSum(NamedTuple):
    """``sum weights[i] * variables[i] + constant``."""

    weights: list[int]
    variables: list[Any]
    constant: int


def recognise(constraint: Expression) -> Clause | Implication | Linear | None:
    """Return the normal form of one constraint, or None when it needs the full chain.

    constraint: A constraint as ``toplevel_list`` yields it. It is not changed; the lists of the
        normal form may be the expression's own.
    """
    if isinstance(constraint, _BoolVarImpl):
        return Clause((constraint,))
    name = constraint.name
    if isinstance(constraint, Operator):
        if name == "or":
            return Clause(constraint.args) if _of_literals(constraint) else None
        if name == "->":
            return _implication(*constraint.args)
    elif isinstance(constraint, Comparison) and name in _RELATIONS:
        return _linear(name, *constraint.args)
    return None


def linear_sum(expression: Any) -> LinearSum | None:
    """Return a linear expression with integer weights as flat lists, or None.

    >>> import cpmpy as cp
    >>> a, b = cp.boolvar(shape=2, name="v")
    >>> linear_sum(3 - (a + 2 * ~b))
    LinearSum(weights=[-1, -2], variables=[v[0], ~v[1]], constant=3)
    """
    weights: list[int] = []
    variables: list[Any] = []
    constant = _collect(expression, 1, weights, variables)
    return None if constant is None else LinearSum(weights, variables, constant)


def _of_literals(operator: Operator) -> bool:
    """Say whether all arguments are literals; what was made of literals is not looked through."""
    return isinstance(operator, OfLiterals) or all(
        isinstance(arg, _BoolVarImpl) for arg in operator.args
    )


def _implication(premise: Any, conclusion: Any) -> Clause | Implication | None:
    if not isinstance(premise, _BoolVarImpl):
        return None
    if isinstance(conclusion, _BoolVarImpl):
        return Implication(premise, (conclusion,))
    if isinstance(conclusion, Operator) and _of_literals(conclusion):
        if conclusion.name == "and":
            return Implication(premise, conclusion.args)
        if conclusion.name == "or":
            return Clause((~premise, *conclusion.args))
    return None


def _linear(operator: str, left: Any, right: Any) -> Linear | None:
    # A truth value compared with a constant means something else than its number does
    # ((a | b) == 1, or b == 2); _collect declines what is not numerical.
    total = linear_sum(left)
    if total is None:
        return None
    weights, variables, constant = total
    if is_int(right):
        constant = int(right) - constant
    else:
        moved = _collect(right, -1, weights, variables)
        if moved is None:
            return None
        constant = -moved - constant
    if operator == "<":
        operator, constant = "<=", constant - 1
    elif operator == ">":
        operator, constant = ">=", constant + 1
    return Linear(weights, variables, operator, constant)


def _collect(part: Any, factor: int, weights: list[int], variables: list[Any]) -> int | None:
    """Append ``factor * part`` to the lists; return its constant, None if it is not linear."""
    if isinstance(part, _NumVarImpl):
        weights.append(factor)
        variables.append(part)
        return 0
    if is_int(part):
        return factor * int(part)
    if not isinstance(part, Expression):
        return None
    name, args = part.name, part.args
    if name == "wsum":
        factors, parts = args
        if not all(map(is_int, factors)):
            return None
        scaled = [factor * int(f) for f in factors]
    elif name == "sum":
        parts, scaled = args, [factor] * len(args)
    elif name == "sub":
        parts, scaled = args, [factor, -factor]
    elif name == "-":
        parts, scaled = args, [-factor]
    elif name == "mul" and is_int(args[0]):
        parts, scaled = [args[1]], [factor * int(args[0])]
    else:
        return None
    constant = 0
    for own, each in zip(scaled, parts, strict=True):
        if isinstance(each, _NumVarImpl):  # by far the most frequent case
            weights.append(own)
            variables.append(each)
            continue
        nested = _collect(each, own, weights, variables)
        if nested is None:
            return None
        constant += nested
    return constant
