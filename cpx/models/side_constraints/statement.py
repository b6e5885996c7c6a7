"""Side constraints stated in CPMpy, for every encoding and every engine that solves one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cpx.models.base import Statement, Values
    from cpx.models.side_constraints.form import LinearConstraint, SideConstraints

__all__ = ["constrained"]

_NAME = "SC"


def constrained(statement: Statement, side: SideConstraints) -> Statement:
    """Add the constraints to a statement whose array ``X`` says what is chosen.

    A term of several indices T has a variable of its own, ``SC_T``, in a sum that is no clause::

        X_j  ->  SC_T      for j in T,  where it counts against the constraint
        SC_T ->  OR_{j in T} X_j        where it counts for it

    Size: a linear constraint, or a clause, for each linear constraint; for each such term a
    variable and its clauses. Statements without side constraints are as they were.
    """
    if not side:
        return statement
    import cpmpy as cp

    several = [T for linear in side.linear for _, T in linear.terms if len(T) > 1]
    terms = list(dict.fromkeys(several))
    numbered = {T: i for i, T in enumerate(terms)}
    made = cp.boolvar(shape=(len(terms),), name=_NAME) if terms else cp.cpm_array([])

    def added(given: Statement) -> Statement:
        X = given.variables["X"]
        literals: dict[tuple[int, ...], Any] = {T: made[i] for T, i in numbered.items()}
        constraints = _linking(X, side.linear, literals)
        constraints += [_stated(linear, X, literals) for linear in side.linear]
        model = given.model
        goal = {"minimize" if given.sense == "min" else "maximize": model.objective_}
        return replace(
            given,
            model=cp.Model([*model.constraints, *constraints], **goal),
            variables={**given.variables, **({_NAME: made} if terms else {})},
            complete=complete(given) if terms else given.complete,
            core=None if given.core is None else added(given.core),
        )

    def complete(given: Statement) -> Any:
        def values(chosen: Sequence[int]) -> Values:
            there = {int(j) for j in np.flatnonzero(given.complete(chosen)["X"])}
            any_of = [int(not there.isdisjoint(T)) for T in terms]
            return {**given.complete(chosen), _NAME: np.array(any_of, dtype=np.int64)}

        return values

    return added(statement)


def _linking(
    X: Any, linear: Sequence[LinearConstraint], literals: dict[tuple[int, ...], Any]
) -> list[Any]:
    """Return what ties the variables of terms to those of their indices."""
    from cpmpy.expressions.core import Operator

    against = {T for row in linear for factor, T in row.terms if factor < 0}
    towards = {T for row in linear for factor, T in row.terms if factor > 0}
    found: list[Any] = []
    for T, y in literals.items():
        if T in against:
            found += [X[j].implies(y) for j in T]
        if T in towards:
            found.append(Operator("or", [~y, *(X[j] for j in T)]))
    return found


def _stated(row: LinearConstraint, X: Any, literals: dict[tuple[int, ...], Any]) -> Any:
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    pairs = [(factor, X[T[0]] if len(T) == 1 else literals[T]) for factor, T in row.terms]
    if not pairs:
        return X[0] & ~X[0] if row.at_least > 0 else X[0] | ~X[0]
    if row.is_clause:
        clause = [literal if factor > 0 else ~literal for factor, literal in pairs]
        return clause[0] if len(clause) == 1 else Operator("or", clause)
    if all(factor == 1 for factor, _ in pairs):
        return cp.sum([literal for _, literal in pairs]) >= row.at_least
    if all(factor == -1 for factor, _ in pairs):
        return cp.sum([literal for _, literal in pairs]) <= -row.at_least
    return Operator("wsum", [[f for f, _ in pairs], [x for _, x in pairs]]) >= row.at_least
