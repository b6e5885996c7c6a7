"""The independent checker: recompute an answer from the saved instance alone.

It reads the plain JSON objects of an instance and a result and shares no code with
``cpx.models`` and ``cpx.backends``: a mistake there cannot hide itself here. What it can
decide, it decides exactly: the constraints, the objective, precision, coverage and figures of
rules, sufficiency of reasons and of the intervals they are printed with, every word and
sentence, the consistency of status, bound, gap and trace. The rest is taken on trust, and
:func:`on_trust` says what that is. A bound is the engine's word, but one that the found solution
contradicts is a failure. A claim that nothing satisfies the constraints is decided for reasons,
certificates and sets of rules; for rules of at most k features it is refuted by the required
features alone, or by up to two more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cpx.check import certificates, kernel_rules, monomials, reasons, rule_sets
from cpx.check.minimum_subset import UNDECIDED
from cpx.check.shape import malformed, shown

__all__ = ["SECONDS", "UNDECIDED", "complaints", "complaints_each", "on_trust"]

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
        A saved result, as :meth:`cpx.Result.to_dict` returns it, or any other JSON value: what
        is no result is told, never an exception.
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
    ...          "explanation": {"features": [0], "rule": {"literals": [[0, "a"]]}}}
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
    if not isinstance(kind, str) or kind not in (*_READERS, _REASON):
        known = ", ".join([*_READERS, _REASON])
        told = f"problem: the checker does not know {shown(kind)}; it knows {known}"
        return [[told] for _ in results]
    judge = reasons.judge(instance, seconds) if kind == _REASON else _READERS[kind](instance)
    return [malformed(result) or judge(result) for result in results]


def on_trust(instance: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    """Return what :func:`complaints` did not decide of a result that it had nothing against.

    Parameters
    ----------
    instance, result : dict
        As for :func:`complaints`.

    Returns
    -------
    list of str
        Fields of the result, the claims among them with their values.

    Examples
    --------
    >>> instance = {"problem": "k-monomial", "parameters": {"k": 1}, "samples": ["10", "01"],
    ...             "labels": "10", "features": ["a", "b"]}
    >>> right = {"status": "OPTIMAL", "objective": 0, "bound": 0, "gap": 0.0, "trace": [],
    ...          "explanation": {"features": [0], "rule": {"literals": [[0, "a"]]}},
    ...          "backend": "search"}
    >>> complaints(instance, right), on_trust(instance, right)
    ([], ["bound 0 (the engine's word)", 'trace', 'backend'])
    """
    status, found = result["status"], result["explanation"] or {}
    out = []
    if status in ("UNKNOWN", "ERROR") or (
        status == "INFEASIBLE" and instance["problem"] in monomials.KINDS
    ):
        out.append(f"status {status} (the engine's word)")
    if result["bound"] is not None:
        out.append(f"bound {result['bound']} (the engine's word)")
    # Words of rules that were explained, not only solved: they speak of more than the samples.
    words = {"conditions": found and found["rule"].get("conditions")}
    words |= {name: found.get(name) for name in ("guarantee", "notes")}
    if instance["problem"] in monomials.KINDS:
        out += [f"{name} ({shown(said)})" for name, said in words.items() if said]
    if fresh := found.get("fresh"):
        out.append(f"fresh ({fresh['agreeing']} of {fresh['drawn']} samples)")
    return out + [key for key in result if key not in _DECIDED]


_DECIDED = ("format", "version", "status", "objective", "bound", "gap", "explanation")
