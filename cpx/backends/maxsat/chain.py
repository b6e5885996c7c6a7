"""Compile constraints that are not clauses, with CPMpy's transformations to CNF.

Definitions of a literal by a clause or a conjunction are recognised here: clauses are their own
normal form, so both directions can be written down at once.

Imports CPMpy: to be imported only where something is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cpmpy.expressions.core import BoolVal, Comparison, Expression, Operator
from cpmpy.expressions.variables import _BoolVarImpl
from cpmpy.solvers.rc2 import CPM_rc2
from cpmpy.transformations.int2bool import _decide_encoding, _encode_int_var

from cpx.backends.maxsat.linear import linear_clauses


class _Sink:
    """The part of PySAT's solver interface that CPMpy posts to."""

    def __init__(self, add: Callable[[list[int]], None]) -> None:
        self.add_clause = add

    def append_formula(self, clauses: Iterable[list[int]]) -> None:
        for clause in clauses:
            self.add_clause(list(clause))

    def supports_atmost(self) -> bool:
        return False


class Chain(CPM_rc2):
    """CPMpy's MaxSAT interface, collecting clauses instead of solving.

    Linear constraints are encoded by :mod:`cpx.backends.maxsat.linear`: CPMpy's own code
    asks for a package that no longer goes with PySAT.

    pool: Numbers of the variables, by name.
    add: Takes each clause.
    at_most: The encoding of cardinalities; None for what is small.
    """

    def __init__(
        self, pool: Any, add: Callable[[list[int]], None], at_most: str | None = None
    ) -> None:
        super().__init__()
        self._at_most = at_most
        self.pysat_vpool = pool
        self.pysat_solver = _Sink(add)
        self._add = add

    @staticmethod
    def supported() -> bool:
        """Say yes without CPMpy's test, which imports what we do not use."""
        return True

    def post(self, constraint: Any) -> None:
        """Transform and add a constraint."""
        for part in self.transform(constraint):
            self._post_constraint(part)

    def integer(self, variable: Any) -> Any:
        """Return CPMpy's Boolean encoding of an integer variable."""
        if variable.name not in self.ivarmap:
            kind = _decide_encoding(variable, None, encoding=self.encoding)
            _, constraints = _encode_int_var(self.ivarmap, variable, kind)
            for constraint in self.transform(constraints):
                self._post_constraint(constraint)
        return self.ivarmap[variable.name]

    def integer_terms(self, variable: Any, factor: int) -> tuple[list[tuple[int, int]], int]:
        """Return ``factor * variable`` as terms ``weight * literal`` and a constant."""
        terms, constant = self.integer(variable).encode_term(factor)
        return [(int(w), self.solver_var(literal)) for w, literal in terms], int(constant)

    def integer_equals(self, variable: Any, value: int) -> list[int]:
        """Return literals that hold exactly when the variable has the value."""
        literals = self.integer(variable).eq(value)
        if isinstance(literals, _BoolVarImpl | BoolVal):
            literals = [literals]
        return [self.solver_var(x) for x in literals if isinstance(x, _BoolVarImpl)]

    def objective_terms(self, expression: Any) -> tuple[list[tuple[int, int]], int]:
        """Return any objective as terms ``weight * literal`` and a constant."""
        weights, variables, constant = self.transform_objective(expression)
        return list(zip(map(int, weights), self.solver_vars(list(variables)), strict=True)), int(
            constant
        )

    def _post_constraint(self, constraint: Any) -> None:
        # CPMpy's own puts a premise into each clause of the encoding; ours only where the
        # bound is enforced.
        premise, comparison = constraint.args if constraint.name == "->" else (None, constraint)
        if not isinstance(comparison, Comparison):
            super()._post_constraint(constraint)
            return
        total, bound = comparison.args
        if not isinstance(total, Operator):
            weights, variables = [1], [total]
        elif total.name == "wsum":
            weights, variables = total.args
        else:
            weights, variables = [1] * len(total.args), total.args
        terms = [(int(w), self.solver_var(v)) for w, v in zip(weights, variables, strict=True)]
        unless = None if premise is None else self.solver_var(premise)
        for clause in linear_clauses(
            terms, comparison.name, bound, self.pysat_vpool, unless, self._at_most
        ):
            self._add(clause)


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
