"""Side constraints stated in CPMpy, for every encoding and every engine that solves one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cpx.modelling.side_constraints.form import LinearConstraint, SideConstraints
from cpx.modelling.statement import Statement, Values

_NAME = "SC"


def constrained(statement: Statement, side: SideConstraints) -> Statement:
    """Add the constraints to a statement whose array ``X`` says what is chosen.

    A term of several indices T has a variable of its own, ``SC_T``, in a sum that is no clause::

        X_j  ->  SC_T               for j in T
        SC_T ->  OR_{j in T} X_j

    Size: a linear constraint, or a clause, for each linear constraint; for each such term a
    variable and its clauses. Statements without side constraints are as they were.
    """
    if not side:
        return statement
    prepared, groups = stated_apart(statement, side)
    return _with(prepared, [constraint for group in groups for constraint in group])


def stated_apart(statement: Statement, side: SideConstraints) -> tuple[Statement, list[list[Any]]]:
    """Return a statement with the variables of terms, and what each side constraint says."""
    import cpmpy as cp

    from cpx.modelling.literals import any_of

    X = statement.variables["X"]
    several = (T for linear in side.linear for _, T in linear.terms if len(T) > 1)
    terms = list(dict.fromkeys(several))
    made = cp.boolvar(shape=(len(terms),), name=_NAME) if terms else []
    literals = dict(zip(terms, made, strict=True))
    linking: list[Any] = []
    for T, y in literals.items():
        linking += [X[j].implies(y) for j in T]
        linking.append(any_of([~y, *(X[j] for j in T)]))
    groups = [[_stated(linear, X, literals) for linear in one.means] for one in side]
    if not terms:
        return statement, groups

    def completed(given: Statement) -> Statement:
        def values(chosen: Sequence[int]) -> Values:
            found = given.complete(chosen)
            # Of what the statement says is chosen, which may not be numbered as it was.
            there = set(np.flatnonzero(found["X"]).tolist())
            any_of = [int(not there.isdisjoint(T)) for T in terms]
            return {**found, _NAME: np.array(any_of, dtype=np.int64)}

        variables = {**given.variables, _NAME: made}
        core = None if given.core is None else completed(given.core)
        return replace(given, variables=variables, complete=values, core=core)

    return _with(completed(statement), linking), groups


def _with(statement: Statement, constraints: Sequence[Any]) -> Statement:
    """Return a statement, and its core, with further constraints."""
    from cpx.modelling.blocks import extended

    core = None if statement.core is None else _with(statement.core, constraints)
    return replace(statement, model=extended(statement.model, constraints), core=core)


def _stated(row: LinearConstraint, X: Any, literals: dict[tuple[int, ...], Any]) -> Any:
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    from cpx.modelling.literals import any_of

    pairs = [(factor, X[T[0]] if len(T) == 1 else literals[T]) for factor, T in row.terms]
    if not pairs:
        return X[0] & ~X[0]  # only what never holds is left without terms
    if row.is_clause:
        clause = [literal if factor > 0 else ~literal for factor, literal in pairs]
        return clause[0] if len(clause) == 1 else any_of(clause)
    if all(factor == 1 for factor, _ in pairs):
        return cp.sum([literal for _, literal in pairs]) >= row.at_least
    if all(factor == -1 for factor, _ in pairs):
        return cp.sum([literal for _, literal in pairs]) <= -row.at_least
    return Operator("wsum", [[f for f, _ in pairs], [x for _, x in pairs]]) >= row.at_least
