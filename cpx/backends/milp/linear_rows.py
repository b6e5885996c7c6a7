"""Constraints and objectives of any kind as linear ones, by CPMpy's transformations.

The chain is that of CPMpy's own MILP interfaces (``cpmpy/solvers/highs.py``). Import this module
lazily: it imports CPMpy.
"""

from __future__ import annotations

from typing import Any

from cpmpy.exceptions import NotSupportedError
from cpmpy.transformations.comparison import only_numexpr_equality
from cpmpy.transformations.flatten_model import flatten_constraint, flatten_objective
from cpmpy.transformations.linearize import (
    decompose_linear,
    decompose_linear_objective,
    linearize_constraint,
    linearize_reified_variables,
    only_positive_bv,
    only_positive_bv_wsum_const,
)
from cpmpy.transformations.negation import push_down_negation, push_down_negation_objective
from cpmpy.transformations.normalize import toplevel_list
from cpmpy.transformations.reification import only_bv_reifies, only_implies, reify_rewrite
from cpmpy.transformations.safening import no_partial_functions, safen_objective

from cpx.backends.normal_forms import LinearSum, linear_sum

__all__ = ["linear_constraints", "linear_objective"]

_NATIVE: frozenset[str] = frozenset()  # global constraints that a linear solver knows
_LINEAR = frozenset({"sum", "wsum", "sub"})


def linear_constraints(cpm_expr: Any, csemap: Any) -> list[Any]:
    """Return equivalent linear constraints over positive variables.

    ``csemap`` has the subexpressions that have a variable already; it grows.
    """
    cons = toplevel_list(cpm_expr)
    cons = no_partial_functions(cons)
    cons = push_down_negation(cons)
    cons = decompose_linear(cons, supported=_NATIVE, supported_reified=_NATIVE, csemap=csemap)
    cons = flatten_constraint(cons, csemap=csemap)
    cons = reify_rewrite(cons, supported=_LINEAR, csemap=csemap)
    cons = only_numexpr_equality(cons, supported=_LINEAR, csemap=csemap)
    cons = linearize_reified_variables(cons, min_values=2, csemap=csemap)
    cons = only_bv_reifies(cons, csemap=csemap)
    cons = only_implies(cons, csemap=csemap)
    cons = linearize_constraint(cons, supported=frozenset({"sum", "wsum"}), csemap=csemap)
    linear: list[Any] = only_positive_bv(cons, csemap=csemap)
    return linear


def linear_objective(expr: Any, csemap: Any) -> tuple[LinearSum, list[Any]]:
    """Return an objective as a linear sum, and the constraints that make it one."""
    expr, safe = safen_objective(expr)
    expr, decomposed = decompose_linear_objective(
        push_down_negation_objective(expr),
        supported=_NATIVE,
        supported_reified=_NATIVE,
        csemap=csemap,
    )
    expr, flat = flatten_objective(expr, csemap=csemap)
    expr, constant = only_positive_bv_wsum_const(expr)
    total = linear_sum(expr)
    if total is None:
        raise NotSupportedError(f"objective is not linear: {expr}")
    return total._replace(constant=total.constant + constant), safe + decomposed + flat
