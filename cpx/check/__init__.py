"""The independent checker: an answer recomputed from the saved instance alone.

It reads the plain JSON objects of an instance and a result and shares no code with
``cpx.models`` and ``cpx.backends``: a mistake there cannot hide itself here. What it can
decide, it decides exactly: the constraints, the objective, precision, coverage and figures of
rules, sufficiency of reasons and of the intervals they are printed with, all figures that
words are made of, the consistency of status, bound, gap and trace. The rest is taken on trust, and
:func:`on_trust` says what that is. A bound is the engine's word where no proof comes with it
(:mod:`cpx.check.proofs`), but one that the found solution contradicts is a failure. A claim that
nothing satisfies the constraints is decided for reasons, certificates and sets of rules; for rules
of at most k features it is refuted by the required features alone, or by up to two more, and for
thresholds of expected predictions by sets that are tried, all of them where they are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any

from cpx.check.claims import UNDECIDED, wrong_claim
from cpx.check.proofs import Claim, covers
from cpx.check.result_fields import malformed, plain, shown
from cpx.support.families import family_of
from cpx.support.lazy_imports import named_object

__all__ = [
    "SECONDS",
    "UNDECIDED",
    "UNJUDGED",
    "on_trust",
    "register",
    "violations",
    "violations_each",
]

_Judge = Callable[[Mapping[str, Any]], list[str]]
_Reader = Callable[..., _Judge]

_registered: dict[str, _Reader] = {}

UNJUDGED = "no judge is registered for this kind of problem"
"""The only violation where nothing was checked."""

SECONDS = 10.0
"""Time the checker takes for one answer unless it is given another one."""


def violations(
    instance: Mapping[str, Any], result: Mapping[str, Any], seconds: float = SECONDS
) -> list[str]:
    """Return what is wrong with a result, nothing if all can be confirmed.

    Parameters
    ----------
    instance : dict
        A saved instance, as :meth:`cpx.models.Problem.to_dict` returns it; the samples of a
        problem of rules may be an array of bool.
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
        One sentence per disagreement; :data:`UNJUDGED` alone where the kind has no judge, and
        :data:`UNDECIDED` alone where the time was too short.

    Examples
    --------
    >>> instance = {"problem": "k-monomial", "parameters": {"k": 1}, "samples": ["10", "01"],
    ...             "labels": "10", "features": ["a", "b"]}
    >>> wrong = {"status": "FEASIBLE", "objective": 1, "bound": None, "gap": None, "trace": [],
    ...          "explanation": {"features": [0], "rule": {"literals": [[0, "a"]]}}}
    >>> violations(instance, wrong)
    ['objective: the result says 1, the data give 0']
    """
    return violations_each(instance, [result], seconds)[0]


def violations_each(
    instance: Mapping[str, Any],
    results: Iterable[Mapping[str, Any]],
    seconds: float = SECONDS,
) -> list[list[str]]:
    """Return what :func:`violations` says of each result, reading the instance once."""
    kind = instance.get("problem")
    reader = _reader(kind) if isinstance(kind, str) else None
    if not isinstance(kind, str) or reader is None:
        return [[UNJUDGED] for _ in results]
    limit = (seconds,) if len(signature(reader).parameters) > 1 else ()
    family = family_of(kind)
    arrays = family is not None and family.reads_arrays
    judge = reader(instance if arrays else plain(instance), *limit)
    trusted = () if family is None else family.trusts
    return [
        malformed(result) or [*judge(result), *_wrong_claims(instance, result, trusted)]
        for result in results
    ]


def _wrong_claims(
    instance: Mapping[str, Any], result: Mapping[str, Any], trusted: Sequence[str]
) -> list[str]:
    """Return what is wrong in claims of any kind; an error has none."""
    found, status, out = result["explanation"], result["status"], list[str]()
    if status == "ERROR":
        bounds = [result["bound"], *(point[2] for point in result["trace"])]
        out += ["bound: an ERROR has none"] if any(b is not None for b in bounds) else []
        out += ["claim: an ERROR has none"] if found is not None and "claim" in found else []
    elif found is not None:
        out += wrong_claim(instance, result, trusted)
    source = result.get("statement") or {}
    # A bound may also be met that needs no statement.
    if status == "INFEASIBLE" and isinstance(source, Mapping) and source.get("wrong"):
        out.append("status: INFEASIBLE by a statement that is another problem")
    return out


def on_trust(
    instance: Mapping[str, Any], result: Mapping[str, Any], claim: Claim | None = None
) -> list[str]:
    """Return what :func:`violations` did not decide of a result that it had nothing against.

    Parameters
    ----------
    instance, result : dict
        As for :func:`violations`.
    claim : Claim, optional
        What a proof proves, from :func:`cpx.check.proofs.proved`.

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
    >>> violations(instance, right), on_trust(instance, right)
    ([], ["bound 0 (the engine's word)", 'trace', 'backend'])
    """
    status, found = result["status"], result["explanation"] or {}
    kind, family = instance["problem"], family_of(instance["problem"])
    out = []
    word, proved = "the engine's word", claim is not None and covers(claim, result)
    if claim is not None and claim.bound is not None:
        word += f", proved is {claim.bound}"
    if status in ("UNKNOWN", "ERROR") or (
        status == "INFEASIBLE"
        and (family is None or kind in family.trusts_infeasible or instance.get("where"))
        and not proved
    ):
        out.append(f"status {status} ({word})")
    told = None if family is None else family.bounds.get(kind)
    proved = proved or (
        told is not None and named_object(told, f"judge of bounds of {kind}", ImportError)(result)
    )
    if result["bound"] is not None and not proved:
        out.append(f"bound {result['bound']} ({word})")
    claimed = {**(found.get("expectation") or {}), **(found.get("claim") or {})}
    claimed["remarks"] = found.get("remarks")
    rule = found.get("rule") or {}
    words = {"literals": [said for _, said in rule.get("literals", ())]}
    words["conditions"] = rule.get("conditions") or []
    # Where families have data now, files of earlier versions have words.
    claimed |= {
        name: [one for one in all_ if isinstance(one, str)] for name, all_ in words.items()
    }
    data = [one for one in words["conditions"] if isinstance(one, Mapping)]
    claimed["labels"] = [one[key] for one in data for key in ("label", "unit") if key in one]
    others = [(one.get("claim") or {}).get("bound") for one in found.get("others", ())]
    claimed["bounds of others"] = [bound for bound in others if bound is not None]
    trusted = (*(() if family is None else family.trusts), "remarks")
    out += [f"{name} ({shown(claimed[name])})" for name in trusted if claimed.get(name)]
    if (fresh := found.get("fresh")) and fresh["confidence"] < 1:
        out.append(f"fresh ({fresh['agreeing']} of {fresh['drawn']} samples)")
    return out + [key for key in result if key not in _DECIDED]


_DECIDED = ("format", "version", "status", "objective", "bound", "gap", "explanation")


def register(kind: str, reader: _Reader) -> None:
    """Register a judge for this process, without an entry point.

    Parameters
    ----------
    kind : str
        The kind of problem it is for.
    reader : callable
        Takes a saved instance, and returns what says of a saved result what is wrong with it: a
        list of sentences, none where all is right. One with a second parameter gets the seconds
        that it may take. It should share no code with the problem.
    """
    _registered[kind] = reader


def _reader(kind: str) -> _Reader | None:
    return _registered.get(kind) or _named(kind)


@cache
def _named(kind: str) -> _Reader | None:
    """Return the judge that the family of a kind names."""
    family = family_of(kind)
    if family is None or kind not in family.judges:
        return None
    try:
        reader: _Reader = named_object(family.judges[kind], f"judge of {kind}", ImportError)
    except ImportError as error:
        return _broken(str(error))
    return reader


def _broken(told: str) -> _Reader:
    return lambda instance: lambda result: [told]
