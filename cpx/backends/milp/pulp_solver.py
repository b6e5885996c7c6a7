"""CPMpy models on every MILP solver PuLP knows: the solver class ``CPM_pulp``.

A general solver interface in the manner of CPMpy's own, which has none for PuLP. Import
this module lazily: it imports CPMpy and PuLP.

Install: ``pip install cpmpy pulp highspy``; CBC comes with PuLP.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, ClassVar

import pulp
from cpmpy.exceptions import NotSupportedError
from cpmpy.expressions.core import BoolVal
from cpmpy.expressions.globalconstraints import DirectConstraint
from cpmpy.expressions.globalfunctions import FloatSum
from cpmpy.expressions.utils import argval, flatlist
from cpmpy.expressions.variables import NegBoolView, _NumVarImpl
from cpmpy.solvers.solver_interface import ExitStatus, SolverInterface, SolverStatus
from cpmpy.transformations.get_variables import get_variables
from cpmpy.transformations.normalize import toplevel_list
from pulp import constants

from cpx.backends.milp.linear_rows import (
    AtMost,
    implication_rows,
    linear_constraints,
    linear_objective,
)
from cpx.backends.milp.subsolvers import SUBSOLVERS, native_solver, runs
from cpx.backends.milp.watch import Watch
from cpx.backends.normal_forms import Clause, Implication, Linear, linear_sum, recognise
from cpx.modelling.blocks import blocks_of

TIGHT_NONZEROS = 400_000
"""Most nonzeros that grouped implications may take as one row per conclusion."""

_SENSES = {
    "<=": constants.LpConstraintLE,
    ">=": constants.LpConstraintGE,
    "==": constants.LpConstraintEQ,
}
_UNSAFE = re.compile(r"[^A-Za-z0-9_]")
# The LP file format reads e12 or 2x as numbers.
_NUMBER_LIKE = re.compile(r"[0-9]|[eE][0-9]*$")


class CPM_pulp(SolverInterface):
    """Interface from CPMpy to PuLP.

    Parameters
    ----------
    cpm_model : cpmpy.Model, optional
        Its constraints and objective are posted at once.
    subsolver : str, optional
        Engine :meth:`solve` uses unless it is given a PuLP solver: highs, cbc, scip, glpk,
        gurobi, cplex, copt, xpress or mosek. Default: HiGHS where highspy is installed, else CBC.
    tight_nonzeros : int
        ``p -> (q_1 and .. and q_n)`` is either n rows ``p <= q_i``, the tightest that can
        be said of it alone, or one row ``n p <= sum q_i``, which is weaker and shorter.
        The implications of one call of :meth:`add` become rows of the first kind as long
        as they have at most this many nonzeros together.
    traced : bool
        Whether ``origins`` says where the rows of implications come from.

    Attributes
    ----------
    lp : pulp.LpProblem
        The native model.
    origins : list of int
        Of each row, the place of its constraint in what was added; -1 for the objective.

    Notes
    -----
    Constraints that are clauses, implications or linear already
    (:func:`cpx.backends.normal_forms.recognise`) become rows directly; all others go through
    the chain of transformations of CPMpy's own MILP interfaces
    (``cpmpy/solvers/highs.py``).

    Implications whose premises a posted constraint counts become fewer and stronger rows;
    see :func:`cpx.backends.milp.linear_rows.implication_rows`.

    Examples
    --------
    >>> import cpmpy as cp
    >>> x = cp.intvar(0, 9, shape=2, name="x")
    >>> solver = CPM_pulp(cp.Model(x[0] != x[1], cp.sum(x) <= 8, maximize=2 * x[0] + x[1]))
    >>> solver.solve(), solver.objective_value(), x.value().tolist()
    (True, 16, [8, 0])
    """

    # None of CPMpy's global constraints is native to a linear solver.
    supported_global_constraints: ClassVar[frozenset[str]] = frozenset()
    supported_reified_global_constraints: ClassVar[frozenset[str]] = frozenset()

    @staticmethod
    def supported() -> bool:
        """Whether PuLP is installed."""
        return find_spec("pulp") is not None

    @staticmethod
    def solvernames(installed: bool = True) -> list[str]:
        """Names of the subsolvers; only those that can run when ``installed``."""
        return [name for name in SUBSOLVERS if not installed or runs(name)]

    @classmethod
    def version(cls) -> str | None:
        """Return the version of PuLP."""
        try:
            return version("pulp")
        except PackageNotFoundError:
            return None

    def __init__(
        self,
        cpm_model: Any = None,
        subsolver: str | None = None,
        *,
        tight_nonzeros: int = TIGHT_NONZEROS,
        traced: bool = False,
    ) -> None:
        if subsolver not in (None, *self.solvernames(installed=False)):
            raise ValueError(f"unknown subsolver {subsolver!r}; known: {', '.join(SUBSOLVERS)}")
        self.lp = pulp.LpProblem("cpmpy", constants.LpMinimize)
        self.lp.setObjective(pulp.LpAffineExpression())
        self.subsolver = subsolver or ("highs" if runs("highs") else "cbc")
        self.tight_nonzeros = tight_nonzeros
        self.objective_: Any = None
        self._names: set[str] = set()
        self._hint: dict[Any, int] = {}
        self._at_most: list[AtMost] = []
        self._traced = traced
        self.origins: list[int] = []
        self._place = -1
        blocks = None if cpm_model is None else blocks_of(cpm_model)
        super().__init__(name="pulp", cpm_model=cpm_model if blocks is None else None)
        if blocks is not None:
            self.add(blocks.expressions())  # which nobody keeps
            self.objective(blocks.objective_, minimize=blocks.objective_is_min)

    @property
    def native_model(self) -> Any:
        """The ``pulp.LpProblem``."""
        return self.lp

    # ------------------------------------------------------------- variables

    def solver_var(self, cpm_var: Any) -> Any:
        """Return the ``LpVariable`` of a CPMpy variable, made when first asked for."""
        if not isinstance(cpm_var, _NumVarImpl):
            return cpm_var
        known = self._varmap.get(cpm_var.name)
        if known is not None:
            return known
        if isinstance(cpm_var, NegBoolView):
            raise NotSupportedError(f"a negated literal is no column: {cpm_var}")
        column = self.lp.add_variable(
            self._column_name(cpm_var.name), int(cpm_var.lb), int(cpm_var.ub), constants.LpInteger
        )
        self._varmap[cpm_var.name] = column
        return column

    def _column_name(self, name: str) -> str:
        # PuLP turns X[1] and X_1_ into the same name and then takes the one for the other.
        base = _UNSAFE.sub("_", name)
        if _NUMBER_LIKE.match(base):
            base = f"v_{base}"
        unique, count = base, 1
        while unique in self._names:
            count += 1
            unique = f"{base}_{count}"
        self._names.add(unique)
        return unique

    # ----------------------------------------------------------- constraints

    def transform(self, cpm_expr: Any) -> list[Any]:
        """Return equivalent linear constraints over positive variables."""
        return linear_constraints(cpm_expr, self._csemap)

    def add(self, cpm_expr: Any) -> CPM_pulp:
        """Post a constraint, nested lists of them, or what yields them."""
        given = cpm_expr if isinstance(cpm_expr, list | tuple | Iterator) else [cpm_expr]
        self._add((place, c) for place, one in enumerate(given) for c in toplevel_list(one))
        return self

    __add__ = add

    def _add(self, constraints: Iterable[tuple[int, Any]]) -> None:
        """Post constraints with the places that their rows come from."""
        implications: list[Implication] = []
        said: dict[tuple[str, str], int] = {}
        others: list[tuple[int, Any]] = []
        for self._place, constraint in constraints:
            form = recognise(constraint)
            if form is None:
                others.append((self._place, constraint))
                continue
            match form:
                case Clause(literals):
                    self.user_vars.update(map(_variable, literals))
                    self._post([1] * len(literals), literals, ">=", 1)
                case Linear(weights, variables, operator, constant):
                    self.user_vars.update(map(_variable, variables))
                    self._post(weights, variables, operator, constant)
                    limit = AtMost.of(form)
                    if limit is not None:
                        self._at_most.append(limit)
                case Implication(premise, conclusions):
                    self.user_vars.add(_variable(premise))
                    self.user_vars.update(map(_variable, conclusions))
                    implications.append(form)
                    if self._traced:
                        said |= {(premise.name, q.name): self._place for q in conclusions}
        for weights, literals in implication_rows(
            implications, self._at_most, self.tight_nonzeros
        ):
            self._place = said.get((literals[0].name, literals[-1].name), -1)
            self._post(weights, literals, "<=", 0)
        for self._place, constraint in others:
            get_variables(constraint, collect=self.user_vars)
            for part in self.transform(constraint):
                self._post_transformed(part)

    def _post_transformed(self, constraint: Any) -> None:
        if isinstance(constraint, BoolVal):
            if not constraint.args[0]:
                self._post((), (), ">=", 1)
            return
        if isinstance(constraint, DirectConstraint):
            constraint.callSolver(self, self.lp)
            return
        form = recognise(constraint)
        if not isinstance(form, Linear):
            raise NotSupportedError(f"not linear after all transformations: {constraint}")
        self._post(form.weights, form.variables, form.operator, form.constant)

    def _post(
        self, weights: Iterable[int], variables: Iterable[Any], operator: str, constant: int
    ) -> None:
        terms, offset = self._terms(weights, variables)
        row = pulp.LpConstraint(terms, _SENSES[operator], rhs=constant - offset)
        self.lp.addConstraint(row)
        self.origins.append(self._place)

    def _terms(self, weights: Iterable[Any], variables: Iterable[Any]) -> tuple[Any, Any]:
        """Return an ``LpAffineExpression`` and the constant that negations leave over."""
        terms, offset = pulp.LpAffineExpression(), 0
        columns = self._varmap
        for weight, variable in zip(weights, variables, strict=True):
            if isinstance(variable, NegBoolView):
                offset += weight
                weight, variable = -weight, variable._bv
            column = columns.get(variable.name)
            if column is None:
                column = self.solver_var(variable)
            # Filled as the dictionary that it is: PuLP's operators copy it for each term.
            terms[column] = terms.get(column, 0) + weight
        return terms, offset

    # ------------------------------------------------------------- objective

    def objective(self, expr: Any, minimize: bool) -> None:
        """Set the objective; its constant is kept in ``lp.objective.constant``."""
        self.objective_ = expr
        total = expr.components() if isinstance(expr, FloatSum) else linear_sum(expr)
        if total is None:
            get_variables(expr, collect=self.user_vars)
            total, rest = linear_objective(expr, self._csemap)
            self._add((-1, c) for c in toplevel_list(rest))
        weights, variables, constant = total
        self.user_vars.update(map(_variable, variables))
        terms, offset = self._terms(weights, variables)
        terms.constant = constant + offset
        self.lp.setObjective(terms)
        self.lp.sense = constants.LpMinimize if minimize else constants.LpMaximize

    def has_objective(self) -> bool:
        """Whether an objective was set."""
        return self.objective_ is not None

    # ----------------------------------------------------------------- solve

    def solution_hint(self, cpm_vars: Any, vals: Any) -> None:
        """Give values to start from, for all variables or for a part; replaces the last.

        Where nothing is optimised, values for all variables that are a solution are the answer.
        """
        self._hint = {}
        for variable, value in zip(flatlist(cpm_vars), flatlist(vals), strict=True):
            number = 1 - int(value) if isinstance(variable, NegBoolView) else int(value)
            self._hint[self.solver_var(_variable(variable))] = number

    def pulp_solver(self, watch: Watch | None = None, **options: Any) -> Any:
        """Return a PuLP solver for the chosen subsolver.

        Parameters
        ----------
        watch : Watch, optional
            Told of solutions and bounds while it runs.
        **options
            ``timeLimit``, ``threads``, ``gapRel``, ``gapAbs`` and options of the engine.
            ``gapRel`` is 0 unless given: an answer is called optimal when it is.
        """
        options = {"gapRel": 0.0, "warm_start": bool(self._hint), **options}
        return native_solver(self.subsolver, watch, **options)

    def run(self, solver: Any) -> None:
        """Solve ``lp`` with a PuLP solver, starting from the hint where it can."""
        for column in self.lp.variables():
            column.varValue = self._hint.get(column)
        self.lp.solve(solver)

    def solve(self, time_limit: float | None = None, solver: Any = None, **options: Any) -> bool:
        """Solve and give the user's variables their values.

        Parameters
        ----------
        time_limit : float, optional
            Seconds.
        solver : pulp.LpSolver, optional
            Any solver of PuLP; default is the subsolver.
        **options
            See :meth:`pulp_solver`; only without ``solver``.

        Returns
        -------
        bool
            Whether there is a solution; :meth:`status` says what was proved.
        """
        if time_limit is not None and not time_limit > 0:
            raise ValueError(f"time limit must be positive, got {time_limit!r}")
        if solver is None:
            solver = self.pulp_solver(timeLimit=time_limit, **options)
        elif options:
            raise ValueError(f"give these to the solver itself: {', '.join(options)}")
        elif time_limit is not None:
            solver.timeLimit = time_limit
        started = time.perf_counter()
        if not self._hint_solves(solver):
            self.run(solver)

        self.cpm_status = SolverStatus(self.name)
        self.cpm_status.solve_time = time.perf_counter() - started
        self.cpm_status.exitstatus = self._exit_status()
        found: bool = self._solve_return(self.cpm_status)
        for variable in self.user_vars:
            variable._value = self._value(variable) if found else None
        self.objective_value_ = None
        if found and self.has_objective():
            value = argval(self.objective_)
            # CPMpy's objective values are integers; ask a FloatSum for its own value.
            self.objective_value_ = int(value) if value == round(value) else None
        return found

    def _hint_solves(self, solver: Any) -> bool:
        """Whether the hint is an answer: a solution where nothing is optimised.

        An engine need not return its start, as what presolve solves alone never meets it. So
        the hinted values are fixed; with values for all variables, that takes no time.
        """
        columns = [self.solver_var(variable) for variable in self.user_vars]
        if self.has_objective() or not self._hint or {*columns} - {*self._hint}:
            return False
        if not all(c.lowBound <= value <= c.upBound for c, value in self._hint.items()):
            return False
        limits = [(c, c.lowBound, c.upBound) for c in self._hint]
        for column, value in self._hint.items():
            column.lowBound = column.upBound = value
        try:
            self.run(solver)
        finally:
            for column, low, high in limits:
                column.lowBound, column.upBound = low, high
        if self.lp.sol_status != constants.LpSolutionOptimal:
            return False
        for column, value in self._hint.items():
            column.varValue = value
        return True

    def _exit_status(self) -> Any:
        # LpProblem.status says "Optimal" for any solution; only sol_status tells.
        match self.lp.sol_status:
            case constants.LpSolutionOptimal:
                return ExitStatus.OPTIMAL if self.has_objective() else ExitStatus.FEASIBLE
            case constants.LpSolutionIntegerFeasible:
                return ExitStatus.FEASIBLE
            case constants.LpSolutionInfeasible:
                return ExitStatus.UNSATISFIABLE
        return ExitStatus.UNKNOWN

    def _value(self, variable: Any) -> bool | int:
        column = self._varmap.get(variable.name)
        value = None if column is None else column.varValue
        # A variable of no constraint is no column of the matrix; any value will do.
        number = int(variable.lb) if value is None else round(value)
        return number >= 1 if variable.is_bool() else number


def _variable(literal: Any) -> Any:
    return literal._bv if isinstance(literal, NegBoolView) else literal
