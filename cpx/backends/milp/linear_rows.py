"""Linear rows of constraints, objectives, and implications between literals.

The former go through the chain of transformations of CPMpy's own MILP interfaces
(``cpmpy/solvers/highs.py``). Import this module lazily: it imports CPMpy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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

from cpx.backends.normal_forms import Implication, Linear, LinearSum, linear_sum

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


class AtMost(NamedTuple):
    """At most ``most`` of the literals with these names are true."""

    names: frozenset[str]
    most: int

    @classmethod
    def of(cls, form: Linear) -> AtMost | None:
        """Read a linear constraint as a limit on the number of true literals, or None."""
        if form.operator == ">=" or any(weight != 1 for weight in form.weights):
            return None
        names = frozenset(literal.name for literal in form.variables)
        if len(names) < len(form.variables) or not all(v.is_bool() for v in form.variables):
            return None
        return cls(names, form.constant)


def implication_rows(
    implications: Sequence[Implication], limits: Sequence[AtMost], tight_nonzeros: int
) -> Iterator[tuple[list[int], list[Any]]]:
    """Yield rows ``sum weights[i] * literals[i] <= 0`` that say the same as the implications.

    Where a limit lets at most k of p_1 .. p_n be true, k < n, the implications
    ``p_1 -> q, .., p_n -> q`` become the one row ``sum p_i <= k q``. At fractional p_i,
    none of them large, it forces q much further up than n rows ``p_i <= q`` do: on a
    k-monomial of 1000 samples, 90 features and k = 5, the bound of the linear relaxation
    is 52 instead of 8, with a twelfth of the rows.

    The others, ``p -> (q_1 and .. and q_n)``, become n rows ``p <= q_i`` as long as all of
    these have at most ``tight_nonzeros`` nonzeros, and else one row ``n p <= sum q_i`` each,
    which is weaker and shorter.

    >>> import cpmpy as cp
    >>> p, q = cp.boolvar(shape=3, name="p"), cp.boolvar(name="q")
    >>> forms = [Implication(v, (q,)) for v in p]
    >>> list(implication_rows(forms, [AtMost(frozenset(v.name for v in p), 2)], 100))
    [([1, 1, 1, -2], [p[0], p[1], p[2], q])]
    >>> list(implication_rows([Implication(p[0], (q, p[1]))], [], tight_nonzeros=0))
    [([2, -1, -1], [p[0], q, p[1]])]
    """
    grouped: dict[str, tuple[Any, list[Any]]] = {}
    for form in implications if limits else ():
        for conclusion in form.conclusions:
            grouped.setdefault(conclusion.name, (conclusion, []))[1].append(form.premise)
    limited = set()
    for name, (conclusion, premises) in grouped.items():
        most = _most_true(premises, limits)
        if most < len(premises):
            limited.add(name)
            yield [*[1] * len(premises), -most], [*premises, conclusion]
    others = [
        (form.premise, [q for q in form.conclusions if q.name not in limited])
        for form in implications
    ]
    tight = 2 * sum(len(conclusions) for _, conclusions in others) <= tight_nonzeros
    for premise, conclusions in others:
        if tight:
            for conclusion in conclusions:
                yield [1, -1], [premise, conclusion]
        elif conclusions:
            yield [len(conclusions), *[-1] * len(conclusions)], [premise, *conclusions]


def _most_true(literals: Sequence[Any], limits: Sequence[AtMost]) -> int:
    """Return a bound on how many of the literals, each counted, can be true at once."""
    names = {literal.name for literal in literals}
    if len(names) < len(literals):
        return len(literals)
    within = (k for known, k in limits if k < len(names) and names <= known)
    return max(0, min(within, default=len(literals)))
