"""CPMpy statements to native CP-SAT models.

CPMpy's interface compiles everything; constraints that already are clauses, implications
or linear skip its chain of transformations and are posted as they stand, and those that are
kept as arrays are never made into expressions, which is what makes compilation as fast as a
hand-written model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from cpmpy.expressions.variables import NegBoolView
from cpmpy.solvers.ortools import CPM_ortools
from cpmpy.transformations.normalize import toplevel_list
from numpy.typing import NDArray
from ortools.sat.python.cp_model import LinearExpr

from cpx.backends.normal_forms import Clause, Implication, Linear, linear_sum, recognise
from cpx.modelling.blocks import (
    BlockModel,
    Clauses,
    Implications,
    NamedBooleans,
    Sum,
    blocks_of,
)
from cpx.modelling.statement import Statement

_BOTH = (0, 1)


class DirectOrtools(CPM_ortools):
    """CPMpy's OR-Tools interface with a short cut for constraints in normal form."""

    def __init__(self, model: Any = None) -> None:
        self._met: dict[int, Any] = {}
        self._alive: list[Any] = []
        self._numbered: dict[str, range] = {}
        blocks = None if model is None else blocks_of(model)
        super().__init__(model if blocks is None else None)
        if blocks is not None:
            self._post_blocks(blocks)

    def add(self, cpm_expr: Any) -> DirectOrtools:
        """Add constraints: those in normal form at once, the others through CPMpy."""
        others = []
        for constraint in toplevel_list(cpm_expr):
            form = recognise(constraint)
            if form is None:
                others.append(constraint)
            else:
                self._post(form)
        if others:
            super().add(others)
        return self

    __add__ = add

    def objective(self, expr: Any, minimize: bool) -> None:
        """Set the objective; a linear one at once."""
        total = linear_sum(expr)
        if total is None:
            super().objective(expr, minimize)
            return
        self.objective_ = expr
        sense = self.ort_model.minimize if minimize else self.ort_model.maximize
        sense(LinearExpr.weighted_sum(self._many(total.variables), total.weights) + total.constant)

    def array(self, name: str, variables: Any) -> list[Any]:
        """Return the native variables of an array of a statement."""
        if name in self._numbered:
            return list(map(self.ort_model.get_bool_var_from_proto_index, self._numbered[name]))
        return [self.solver_var(variable) for variable in variables[name]]

    def number(self, arrays: NamedBooleans) -> None:
        """Make the variables of arrays, the first ones: number n has the place n - 1."""
        add = self.ort_model.proto.variables.add
        for name, size in arrays.sizes.items():
            for element in range(size):
                variable = add()
                variable.name = f"{name}[{element}]"
                variable.domain.extend(_BOTH)
            self._numbered[name] = range(arrays.before(name), arrays.before(name) + size)

    def meet(self, arrays: NamedBooleans) -> None:
        """Enter the variables of arrays for expressions that have them."""
        for name, array in arrays.items():
            for variable, native in zip(array, self.array(name, arrays), strict=True):
                self._varmap[variable.name] = native

    def _post_blocks(self, model: BlockModel) -> None:
        self.number(model.variables)
        # At n and at -n the place of the variable, and what OR-Tools has for its negation.
        n = model.variables.size
        places = np.concatenate([[0], np.arange(n), np.arange(-n, 0)])
        for block in model.blocks:
            self._post_block(block, places)
        if model.added:
            self.meet(model.variables)
            self.add(model.added)
        weights, variables = model.costs
        sense = self.ort_model.minimize if model.objective_is_min else self.ort_model.maximize
        sense(LinearExpr.weighted_sum(self._natives(variables), weights))

    def _post_block(self, block: Clauses | Implications | Sum, places: NDArray[np.int64]) -> None:
        add = self.ort_model.proto.constraints.add
        match block:
            case Clauses(rows=rows):
                for row in rows.lists(places):
                    add().bool_or.literals.extend(row)
            case Implications(rows=rows):
                for premise, *conclusions in rows.lists(places):
                    constraint = add()
                    constraint.enforcement_literal.append(premise)
                    constraint.bool_and.literals.extend(conclusions)
            case Sum():
                self._sum(block.weights, self._natives(block.literals), block)

    def _natives(self, literals: Iterable[int]) -> list[Any]:
        native = self.ort_model.get_bool_var_from_proto_index
        return [native(n - 1) if n > 0 else native(-n - 1).negated() for n in literals]

    def _post(self, form: Clause | Implication | Linear) -> None:
        model = self.ort_model
        match form:
            case Clause(literals):
                model.add_bool_or(self._many(literals))
            case Implication(premise, conclusions):
                model.add_bool_and(self._many(conclusions)).only_enforce_if(
                    self.solver_var(premise)
                )
            case Linear(weights, variables):
                self._sum(weights, self._many(variables), form)

    def _sum(self, weights: Sequence[int], variables: Sequence[Any], row: Linear | Sum) -> None:
        total = LinearExpr.weighted_sum(variables, weights)
        if row.operator == "<=":
            self.ort_model.add(total <= row.constant)
        elif row.operator == ">=":
            self.ort_model.add(total >= row.constant)
        else:
            self.ort_model.add(total == row.constant)

    def _many(self, variables: Sequence[Any]) -> list[Any]:
        """Return native variables; those met before by the identity of the objects."""
        get, found = self._met.get, []
        for variable in variables:
            native = get(id(variable))
            if native is None:
                native = self.solver_var(variable)
                if not isinstance(variable, NegBoolView):
                    self._met[id(variable)] = native
                    self._alive.append(variable)  # so that its identity stays its own
            found.append(native)
        return found


def compile_cp_model(statement: Statement) -> tuple[Any, dict[str, list[Any]]]:
    """Compile a statement to a native ``CpModel``.

    Returns model: The model; its objective lacks ``statement.offset``.
    Returns variables: The native variables of each array of the statement.
    """
    compiled = DirectOrtools(statement.model)
    return compiled.ort_model, native_variables(compiled, statement)


def native_variables(compiled: DirectOrtools, statement: Statement) -> dict[str, list[Any]]:
    """Return the native variables of each array of a statement."""
    return {name: compiled.array(name, statement.variables) for name in statement.variables}


def safe_parameters(model: Any) -> dict[str, int]:
    """Return the parameters that keep CP-SAT from wrong optima of a ``CpModel``.

    As of OR-Tools 9.15 a part of its presolve goes wrong with linear constraints of unequal
    weights: on 48 of 6,000 random coverages a worse value was called optimal. The part is left
    out of such models, and of no others.
    """
    weighted = any(
        constraint.has_linear() and len({abs(weight) for weight in constraint.linear.coeffs}) > 1
        for constraint in model.proto.constraints
    )
    return {"presolve_inclusion_work_limit": 0} if weighted else {}


def counted(response: Any) -> dict[str, int]:
    """Return what a search counted, by our names."""
    return {
        "conflicts": response.num_conflicts,
        "decisions": response.num_branches,
        "propagations": response.num_binary_propagations + response.num_integer_propagations,
        "restarts": response.num_restarts,
        "lp_iterations": response.num_lp_iterations,
    }
