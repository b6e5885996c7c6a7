"""Compilation of CPMpy models to weighted clauses (weighted partial MaxSAT).

Constraints that are clauses, implications or linear already go straight to clauses, and blocks of
them without expressions; CPMpy's chain of transformations takes the rest. The constant of the
objective stays a Python integer throughout.
"""

from __future__ import annotations

from array import array as compact
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.backends.maxsat.linear import has_many_sums, linear_clauses, normalised
from cpx.modelling.statement import Statement, Values

if TYPE_CHECKING:
    from cpx.backends.normal_forms import Linear
    from cpx.modelling.blocks import BlockModel, Sum

_CHECK_EVERY = 256


@dataclass(frozen=True)
class _Array:
    """Values of a named array: ``constants``, and ``weights`` where ``literals`` hold."""

    constants: NDArray[np.int64]
    elements: NDArray[np.int64]
    weights: NDArray[np.int64]
    literals: NDArray[np.int64]


class WideSum(NamedTuple):
    """A linear constraint of too many partial sums for a decision diagram.

    first, end: Its clauses.
    """

    first: int
    end: int
    terms: list[tuple[int, int]]
    operator: str
    bound: int


def _booleans(numbers: NDArray[np.int64]) -> _Array:
    n = numbers.size
    return _Array(np.zeros(n, dtype=np.int64), np.arange(n), np.ones(n, dtype=np.int64), numbers)


@dataclass(frozen=True, eq=False)
class Compiled:
    """A statement as hard clauses and costs of literals.

    clauses: Hard clauses.
    costs: Literal to the weight > 0 that is paid where it is true: soft clauses ``-literal``.
    base, sign, offset: The objective of the statement is ``sign * (base + cost) + offset``.
    top: Greatest variable.
    wide: Sums that are added up in binary.
    origins: First clause and greatest variable before it, and the place of the constraint of the
        statement that the clauses from there on say; -1 for those that define values of integers.
    """

    clauses: list[list[int]]
    costs: dict[int, int]
    base: int
    sign: int
    offset: int
    top: int
    wide: list[WideSum]
    _origins: compact[int]
    _arrays: Mapping[str, _Array]
    _fix: Callable[[str, int, int], list[int]]

    @property
    def origins(self) -> list[tuple[int, int, int]]:
        """First clauses, greatest variables before them, and places."""
        numbers = self._origins.tolist()
        return list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))

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

    def without_wide_sums(self) -> list[list[int]]:
        """Return the hard clauses of everything else."""
        places = [0, *(place for row in self.wide for place in row[:2]), len(self.clauses)]
        return [
            clause
            for first, end in zip(places[::2], places[1::2], strict=True)
            for clause in self.clauses[first:end]
        ]

    def rounded(self, parts: int, pool: Any) -> list[list[int]]:
        """Return clauses of the wide sums with rounded weights, which say less.

        parts: Of the bound, which weights are multiples of, rounded down.
        pool: Where variables are taken from.
        """
        return [
            clause
            for row in self.wide
            for clause in linear_clauses(row.terms, row.operator, row.bound, pool, parts=parts)
        ]

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
        from cpx.modelling.blocks import blocks_of

        self._statement, self._check, self._at_most = statement, check, at_most
        self._blocks = blocks_of(statement.model)
        # The variables of blocks have their numbers.
        taken = 0 if self._blocks is None else self._blocks.variables.size
        self._pool = IDPool(start_from=taken + 1)
        self._clauses: list[list[int]] = []
        self._origins = compact("q")
        self._wide: list[WideSum] = []
        self._chain = Chain(self._pool, self._add, at_most)
        # Literals by the id() of variables, which the model keeps alive. Views ~b come and
        # go, so theirs may be taken over by another object: they are never entered.
        self._known: dict[int, int] = {}

    def compiled(self) -> Compiled:
        statement, blocks = self._statement, self._blocks
        numbered = {} if blocks is None else {n: blocks.numbers(n) for n in blocks.variables}
        others = [name for name in statement.variables if name not in numbered]
        arrays = {name: list(statement.variables[name]) for name in others}
        # Numbers in the order of the arrays make compiled formulas readable.
        self._enter([v for array in arrays.values() for v in array])
        # First, because CPMpy would choose encodings by the first constraint: cardinalities
        # such as sum X == K stay without weights when K is in unary (order) encoding.
        self._from(-1)
        decoded = {name: _booleans(numbers) for name, numbers in numbered.items()}
        decoded |= {name: self._array(array) for name, array in arrays.items()}
        sign = 1 if statement.sense == "min" else -1
        if blocks is None:
            self._constraints(statement.model.constraints)
            terms, constant = self._objective(statement.model.objective_)
        else:
            self._post_blocks(blocks)
            terms, constant = list(zip(*blocks.costs, strict=True)), 0
        costs, base = normalised((sign * weight, literal) for weight, literal in terms)

        def fix(name: str, element: int, value: int) -> list[int]:
            if name in arrays:
                return self._fixed(arrays[name][element], value)
            number = int(numbered[name][element])
            return [number if value else -number]

        return Compiled(
            clauses=self._clauses,
            costs=costs,
            base=base + sign * constant,
            sign=sign,
            offset=statement.offset,
            top=self._pool.top,
            wide=self._wide,
            _origins=self._origins,
            _arrays=decoded,
            _fix=fix,
        )

    def _post_blocks(self, model: BlockModel) -> None:
        from cpx.modelling.blocks import Implications, Sum

        n = model.variables.size
        # One object for each number, however many clauses have it.
        numbers = np.array([*range(n + 1), *range(-n, 0)], dtype=object)
        place = 0
        for block in model.blocks:
            rows = [block.literals] if isinstance(block, Sum) else block.rows.lists(numbers)
            for row in rows:
                if place % _CHECK_EVERY == 0:
                    self._check()
                self._from(place)
                place += 1
                if isinstance(block, Sum):
                    self._linear(zip(block.weights, row, strict=True), block)
                elif isinstance(block, Implications):
                    unless = numbers[-row[0]]
                    self._clauses += [[unless, literal] for literal in row[1:]]
                else:
                    self._clauses.append(row)
        if model.added:
            for number, variable in enumerate(model.variables.in_order, 1):
                self._known[id(variable)] = number
                self._pool.obj2id[variable.name] = number
                self._pool.id2obj[number] = variable.name
            self._constraints(model.added, place)
        else:
            self._from(-1)

    def _linear(self, terms: Iterable[tuple[int, int]], row: Linear | Sum) -> None:
        terms, first = list(terms), len(self._clauses)
        for clause in linear_clauses(
            terms, row.operator, row.constant, self._pool, at_most=self._at_most
        ):
            self._add(clause)
        if has_many_sums(terms, row.operator, row.constant):
            end = len(self._clauses)
            self._wide.append(WideSum(first, end, terms, row.operator, row.constant))

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

    def _constraints(self, constraints: Any, first: int = 0) -> None:
        from cpmpy.expressions.variables import _BoolVarImpl
        from cpmpy.transformations.normalize import toplevel_list

        from cpx.backends.maxsat.chain import equivalence
        from cpx.backends.normal_forms import Clause, Implication, Linear, recognise

        rest = []
        each = (
            (place, c) for place, one in enumerate(constraints, first) for c in toplevel_list(one)
        )
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
                self._linear(terms, form)
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
        self._origins.extend((len(self._clauses), self._pool.top, place))

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
