"""The independent checker: recompute an answer from the saved instance alone.

It reads the plain JSON objects of an instance and a result and shares no code with
``cpx.models`` and ``cpx.backends``: a mistake there cannot hide itself here. What it can
decide, it decides exactly: the constraints, the objective, precision and coverage of rules,
sufficiency of reasons, the consistency of status, bound, gap and trace. It takes a bound as
the engine's word, but a bound that the found solution contradicts is a failure. A claim that
nothing satisfies the constraints is decided for reasons and certificates; for rules of at most
k features it is refuted by the required features alone, or by up to two more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cpx.check import certificates, kernel_rules, monomials, reasons, rule_sets
from cpx.check.minimum_subset import UNDECIDED

__all__ = ["SECONDS", "UNDECIDED", "complaints", "complaints_each"]

_Judge = Callable[[Mapping[str, Any]], list[str]]

_READERS: dict[str, Callable[[Mapping[str, Any]], _Judge]] = {
    **dict.fromkeys(monomials.KINDS, monomials.judge),
    "min-certificate": certificates.judge,
    **dict.fromkeys(rule_sets.KINDS, rule_sets.judge),
    "kernel-rule": kernel_rules.judge,
}
_REASON = "sufficient-reason"

SECONDS = 10.0
"""Time the checker takes for one answer unless it is given another one."""


def complaints(
    instance: Mapping[str, Any], result: Mapping[str, Any], seconds: float = SECONDS
) -> list[str]:
    """Return what is wrong with a result, nothing if all can be confirmed.

    Parameters
    ----------
    instance : dict
        A saved instance, as :meth:`cpx.models.Problem.to_dict` returns it; the samples of a
        problem of one rule may be an array of bool.
    result : dict
        A saved result, as :meth:`cpx.Result.to_dict` returns it.
    seconds : float
        After so many, what takes long is left undecided: whether a set of features is a
        sufficient reason of several trees. The other checks take little time and are not
        limited.

    Returns
    -------
    list of str
        One sentence per disagreement.

    Examples
    --------
    >>> instance = {"problem": "k-monomial", "parameters": {"k": 1}, "samples": ["10", "01"],
    ...             "labels": "10", "features": ["a", "b"]}
    >>> wrong = {"status": "FEASIBLE", "objective": 1, "bound": None, "gap": None, "trace": [],
    ...          "explanation": {"features": [0], "precision": "1", "coverage": "1/2"}}
    >>> complaints(instance, wrong)
    ['objective: the result says 1, the data give 0']
    """
    return complaints_each(instance, [result], seconds)[0]


def complaints_each(
    instance: Mapping[str, Any],
    results: Iterable[Mapping[str, Any]],
    seconds: float = SECONDS,
) -> list[list[str]]:
    """Return what :func:`complaints` says of each result, reading the instance once."""
    kind = instance.get("problem")
    if kind == _REASON:
        judge = reasons.judge(instance, seconds)
        return [judge(result) for result in results]
    if not isinstance(kind, str) or kind not in _READERS:
        known = ", ".join([*_READERS, _REASON])
        told = f"problem: the checker does not know {kind!r}; it knows {known}"
        return [[told] for _ in results]
    judge = _READERS[kind](instance)
    return [judge(result) for result in results]
