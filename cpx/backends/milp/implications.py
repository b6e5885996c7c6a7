"""Which linear rows to write for implications between literals; knows no engine.

Needs CPMpy for the forms of :mod:`cpx.backends.normal_forms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cpx.backends.normal_forms import Implication, Linear

__all__ = ["AtMost", "implication_rows"]


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

    Examples
    --------
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
