"""Compilation of CPMpy models to weighted clauses (weighted partial MaxSAT).

Constraints that are clauses, implications or linear already go straight to clauses; CPMpy's
chain of transformations takes the rest. The constant of the objective stays a Python
integer throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.backends.maxsat.linear import linear_clauses, normalised
from cpx.modelling.statement import Statement, Values

_CHECK_EVERY = 256


@dataclass(frozen=True)
class _Array:
    """Values of a named array: ``constants``, and ``weights`` where ``literals`` hold."""

    constants: NDArray[np.int64]
    elements: NDArray[np.int64]
    weights: NDArray[np.int64]
    literals: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Compiled:
    """A statement as hard clauses and costs of literals.

    clauses: Hard clauses.
    costs: Literal to the weight > 0 that is paid where it is true: soft clauses ``-literal``.
    base, sign, offset: The objective of the statement is ``sign * (base + cost) + offset``.
    top: Greatest variable.
    origins: First clause and greatest variable before it, and the place of the constraint of the
        statement that the clauses from there on say; -1 for those that define values of integers.
    """

    clauses: list[list[int]]
    costs: dict[int, int]
    base: int
    sign: int
    offset: int
    top: int
    origins: list[tuple[int, int, int]]
    _arrays: Mapping[str, _Array]
    _fix: Callable[[str, int, int], list[int]]

    @property
    def sizes(self) -> dict[str, int]:
        """Variables, hard clauses and soft clauses."""
        return {"variables": self.top, "clauses": len(self.clauses), "soft": len(self.costs)}

    def objective(self, cost: int) -> int:
        """Return the statement's objective, offset included, of a cost of soft clauses."""
        return self.sign * (self.base + cost) + self.offset

    def cost_of_objective(self, objective: int) -> int:
        """Return the inverse of :meth:`objective`."""
        return self.sign * (objective - self.offset) - self.base

    def cost(self, model: list[int]) -> int:
        """Return the weight of the soft clauses that a SAT model breaks."""
        literals, weights = self._cost_arrays
        return int(weights[self._holds(literals, self._truth(model))].sum())

    def values(self, model: list[int]) -> Values:
        """Return the values of the statement's variables in a SAT model."""
        truth = self._truth(model)
        found = {}
        for name, array in self._arrays.items():
            values = array.constants.copy()
            np.add.at(values, array.elements, array.weights * self._holds(array.literals, truth))
            found[name] = values
        return found

    def literals(self, values: Values) -> list[int]:
        """Return the literals that say that the variables have these values."""
        return [
            literal
            for name in self._arrays
            for element, value in enumerate(values[name])
            for literal in self._fix(name, element, int(value))
        ]

    def named_variables(self) -> list[int]:
        """Return the variables of the statement, or those that say its integer ones."""
        named = (abs(x) for array in self._arrays.values() for x in array.literals.tolist())
        return list(dict.fromkeys(named))

    def free_variables(self) -> list[int]:
        """Return the named variables that cost nothing; all named ones if all cost."""
        variables = self.named_variables()
        free = [v for v in variables if v not in self.costs and -v not in self.costs]
        return free or variables

    def wcnf(self) -> Any:
        """Return a new PySAT ``WCNF``, for export and for other tools."""
        from pysat.formula import WCNF

        formula = WCNF()
        formula.nv = self.top
        formula.hard = [list(clause) for clause in self.clauses]
        formula.soft = [[-literal] for literal in self.costs]
        formula.wght = list(self.costs.values())
        formula.topw = 1 + sum(formula.wght)
        return formula

    @cached_property
    def _cost_arrays(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        small = sum(self.costs.values()) < 2**62
        weights = np.array(list(self.costs.values()), dtype=np.int64 if small else object)
        return np.array(list(self.costs), dtype=np.int64), weights

    def _truth(self, model: list[int]) -> NDArray[np.bool_]:
        # Variables in no clause are unknown to the solver; false is as good as true.
        truth = np.zeros(self.top + 1, dtype=np.bool_)
        true = np.asarray(model, dtype=np.int64)
        truth[true[(true > 0) & (true <= self.top)]] = True
        return truth

    @staticmethod
    def _holds(literals: NDArray[np.int64], truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        holds: NDArray[np.bool_] = truth[np.abs(literals)] ^ (literals < 0)
        return holds


def compile_statement(
    statement: Statement,
    check: Callable[[], None] = lambda: None,
    at_most: str | None = None,
) -> Compiled:
    """Compile a statement to weighted clauses.

    statement: A minimisation, a maximisation or a model without objective.
    check: Called often; may raise to abandon the work.
    at_most: The encoding of cardinalities, of :data:`cpx.backends.maxsat.cardinality.AT_MOST`;
        None for the one that is small.

    >>> import cpmpy as cp
    >>> from cpx.modelling.base import Statement
    >>> a, b = cp.boolvar(shape=2, name="v")
    >>> model = cp.Model(a | b, minimize=3 * a + b)
    >>> compiled = compile_statement(Statement(model, {"v": cp.cpm_array([a, b])}, complete=None))
    >>> compiled.clauses, compiled.costs
    ([[1, 2]], {1: 3, 2: 1})
    """
    return _Compiler(statement, check, at_most).compiled()


class _Compiler:
    def __init__(
        self, statement: Statement, check: Callable[[], None], at_most: str | None
    ) -> None:
        from pysat.formula import IDPool

        from cpx.backends.maxsat.chain import Chain

        self._statement, self._check, self._at_most = statement, check, at_most
        self._pool = IDPool()
        self._clauses: list[list[int]] = []
        self._origins: list[tuple[int, int, int]] = []
        self._chain = Chain(self._pool, self._add, at_most)
        # Literals by the id() of variables, which the model keeps alive. Views ~b come and
        # go, so theirs may be taken over by another object: they are never entered.
        self._known: dict[int, int] = {}

    def compiled(self) -> Compiled:
        statement = self._statement
        arrays = {name: list(array) for name, array in statement.variables.items()}
        # Numbers in the order of the arrays make compiled formulas readable.
        self._enter([v for array in arrays.values() for v in array])
        # First, because CPMpy would choose encodings by the first constraint: cardinalities
        # such as sum X == K stay without weights when K is in unary (order) encoding.
        self._from(-1)
        decoded = {name: self._array(array) for name, array in arrays.items()}
        self._constraints(statement.model.constraints)
        sign = 1 if statement.sense == "min" else -1
        terms, constant = self._objective(statement.model.objective_)
        costs, base = normalised((sign * weight, literal) for weight, literal in terms)
        return Compiled(
            clauses=self._clauses,
            costs=costs,
            base=base + sign * constant,
            sign=sign,
            offset=statement.offset,
            top=self._pool.top,
            origins=self._origins,
            _arrays=decoded,
            _fix=lambda name, element, value: self._fixed(arrays[name][element], value),
        )

    def _add(self, clause: list[int]) -> None:
        if not clause:  # SAT solvers disagree on what adding an empty clause means
            variable = self._pool._next()
            self._clauses.append([variable])
            clause = [-variable]
        self._clauses.append(clause)

    # ------------------------------------------------------------ literals

    def _enter(self, variables: list[Any]) -> None:
        from cpmpy.expressions.variables import NegBoolView, _BoolVarImpl

        for variable in variables:
            if isinstance(variable, _BoolVarImpl) and not isinstance(variable, NegBoolView):
                self._known[id(variable)] = self._pool.id(variable.name)

    def _literals(self, variables: Any) -> list[int]:
        known = self._known
        literals: list[Any] = list(map(known.get, map(id, variables)))
        if None in literals:
            for place, literal in enumerate(literals):
                if literal is None:
                    literals[place] = self._chain.solver_var(variables[place])
        return literals

    # --------------------------------------------------------- constraints

    def _constraints(self, constraints: Any) -> None:
        from cpmpy.expressions.variables import _BoolVarImpl
        from cpmpy.transformations.normalize import toplevel_list

        from cpx.backends.maxsat.chain import equivalence
        from cpx.backends.normal_forms import Clause, Implication, Linear, recognise

        rest = []
        each = ((place, c) for place, one in enumerate(constraints) for c in toplevel_list(one))
        for count, (place, constraint) in enumerate(each):
            if count % _CHECK_EVERY == 0:
                self._check()
            self._from(place)
            form = recognise(constraint)
            if isinstance(form, Clause):
                self._add(self._literals(form.literals))
            elif isinstance(form, Implication):
                (premise,) = self._literals([form.premise])
                self._clauses += [[-premise, x] for x in self._literals(form.conclusions)]
            elif isinstance(form, Linear) and all(
                isinstance(v, _BoolVarImpl) for v in form.variables
            ):
                terms = zip(form.weights, self._literals(form.variables), strict=True)
                for clause in linear_clauses(
                    terms, form.operator, form.constant, self._pool, at_most=self._at_most
                ):
                    self._add(clause)
            elif (found := equivalence(constraint)) is not None:
                (literal,) = self._literals([found.literal])
                others = self._literals(found.arguments)
                literal = -literal if found.negated else literal
                if found.conjunction:  # literal <-> and(others)  is  -literal <-> or(-others)
                    literal, others = -literal, [-other for other in others]
                self._add([-literal, *others])
                self._clauses += [[-other, literal] for other in others]
            else:
                rest.append((place, constraint))
        for count, (place, constraint) in enumerate(rest):
            if count % _CHECK_EVERY == 0:
                self._check()
            self._from(place)
            self._chain.post(constraint)
        self._from(-1)

    def _from(self, place: int) -> None:
        """Say which constraint the next clauses are of."""
        self._origins.append((len(self._clauses), self._pool.top, place))

    # ----------------------------------------------------------- objective

    def _objective(self, expression: Any) -> tuple[list[tuple[int, int]], int]:
        from cpmpy.expressions.variables import _BoolVarImpl

        from cpx.backends.normal_forms import linear_sum

        if expression is None:
            return [], 0
        total = linear_sum(expression)
        if total is None:
            return self._chain.objective_terms(expression)
        weights, variables, constant = total
        if all(isinstance(v, _BoolVarImpl) for v in variables):
            return list(zip(weights, self._literals(variables), strict=True)), constant
        terms: list[tuple[int, int]] = []
        for weight, variable in zip(weights, variables, strict=True):
            if isinstance(variable, _BoolVarImpl):
                terms.append((weight, self._chain.solver_var(variable)))
            else:
                own, shift = self._chain.integer_terms(variable, weight)
                terms += own
                constant += shift
        return terms, constant

    # ------------------------------------------------------ named variables

    def _array(self, variables: list[Any]) -> _Array:
        from cpmpy.expressions.variables import _BoolVarImpl, _NumVarImpl

        constants = np.zeros(len(variables), dtype=np.int64)
        terms: list[tuple[int, int, int]] = []
        for element, variable in enumerate(variables):
            if isinstance(variable, _BoolVarImpl):
                terms.append((element, 1, self._chain.solver_var(variable)))
            elif isinstance(variable, _NumVarImpl):
                own, constants[element] = self._chain.integer_terms(variable, 1)
                terms += [(element, weight, literal) for weight, literal in own]
            else:
                constants[element] = int(variable)
        table = np.array(terms, dtype=np.int64).reshape(-1, 3)
        return _Array(constants, table[:, 0], table[:, 1], table[:, 2])

    def _fixed(self, variable: Any, value: int) -> list[int]:
        from cpmpy.expressions.variables import _BoolVarImpl, _NumVarImpl

        if isinstance(variable, _BoolVarImpl):
            literal = int(self._chain.solver_var(variable))
            return [literal if value else -literal]
        if isinstance(variable, _NumVarImpl):
            return self._chain.integer_equals(variable, value)
        return []
