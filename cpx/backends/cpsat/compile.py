"""CPMpy statements to native CP-SAT models.

CPMpy's interface compiles everything; constraints that already are clauses, implications
or linear skip its chain of transformations and are posted as they stand, which is what
makes compilation about as fast as a hand-written model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cpmpy.expressions.variables import NegBoolView
from cpmpy.solvers.ortools import CPM_ortools
from cpmpy.transformations.normalize import toplevel_list
from ortools.sat.python.cp_model import LinearExpr

from cpx.backends.normal_forms import Clause, Implication, Linear, linear_sum, recognise
from cpx.modelling.statement import Statement


class DirectOrtools(CPM_ortools):
    """CPMpy's OR-Tools interface with a short cut for constraints in normal form."""

    def __init__(self, model: Any = None) -> None:
        self._met: dict[int, Any] = {}
        self._alive: list[Any] = []
        super().__init__(model)

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

    def _post(self, form: Clause | Implication | Linear) -> None:
        model = self.ort_model
        match form:
            case Clause(literals):
                model.add_bool_or(self._many(literals))
            case Implication(premise, conclusions):
                model.add_bool_and(self._many(conclusions)).only_enforce_if(
                    self.solver_var(premise)
                )
            case Linear(weights, variables, operator, constant):
                total = LinearExpr.weighted_sum(self._many(variables), weights)
                if operator == "<=":
                    model.add(total <= constant)
                elif operator == ">=":
                    model.add(total >= constant)
                else:
                    model.add(total == constant)

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
    return {
        name: [compiled.solver_var(v) for v in array]
        for name, array in statement.variables.items()
    }


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
