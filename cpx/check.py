"""The independent checker: recompute an answer from the saved instance alone.

It reads the plain JSON objects of an instance and a result and shares no code with
``cpx.models`` and ``cpx.backends``: a mistake there cannot hide itself here. What it can
decide, it decides exactly: the constraints, the objective, precision and coverage, the
consistency of status, bound, gap and trace. It takes a bound as the engine's word, but a
bound that the found solution contradicts is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["complaints"]


@dataclass(frozen=True)
class _Monomial:
    """A monomial instance as read from its JSON object."""

    agrees: NDArray[np.bool_]
    same: NDArray[np.bool_]
    weights: NDArray[np.int64]
    names: list[str]
    k: int
    required: set[int]
    forbidden: set[int]
    groups: list[int] | None


def complaints(instance: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a result, nothing if all can be confirmed.

    Parameters
    ----------
    instance : dict
        A saved instance, as :meth:`cpx.models.Problem.to_dict` returns it.
    result : dict
        A saved result, as :meth:`cpx.Result.to_dict` returns it.

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
    kind = instance.get("problem")
    if kind not in _LOSSES:
        return [f"problem: the checker does not know {kind!r}; it knows {', '.join(_LOSSES)}"]
    data = _read(instance)
    status, found = result["status"], result["explanation"]
    out: list[str] = []
    if status == "INFEASIBLE":
        if _has_solution(data):
            out.append("status: INFEASIBLE, but the constraints have a solution")
        if found is not None:
            out.append("explanation: an infeasible problem has none")
        return out
    if found is None:
        if status in ("OPTIMAL", "FEASIBLE"):
            out.append(f"status: {status} without an explanation")
        return out
    out += _broken_constraints(data, found["features"])
    if out:
        return out
    covered = np.asarray(data.agrees[:, found["features"]].all(axis=1), dtype=np.bool_)
    objective = _LOSSES[kind](data, covered)
    _compare(out, "objective", result["objective"], objective)
    out += _figures(data, covered, found)
    out += _proof(result, objective)
    return out


def _read(instance: Mapping[str, Any]) -> _Monomial:
    rows, labels, parameters = instance["samples"], instance["labels"], instance["parameters"]
    flat = np.frombuffer("".join(rows).encode(), dtype=np.uint8)
    agrees = (flat == 49).reshape(len(rows), -1)
    weights = instance.get("weights") or [1] * len(rows)
    return _Monomial(
        agrees=agrees,
        same=np.frombuffer(labels.encode(), dtype=np.uint8) == 49,
        weights=np.array(weights, dtype=np.int64),
        names=list(instance.get("features") or ()),
        k=parameters["k"],
        required=set(parameters.get("required", ())),
        forbidden=set(parameters.get("forbidden", ())),
        groups=instance["groups"] if parameters.get("one_per_group") else None,
    )


def _loss(data: _Monomial, covered: NDArray[np.bool_]) -> int:
    wrong = covered != data.same
    return int(data.weights[wrong].sum())


def _negative_loss(data: _Monomial, covered: NDArray[np.bool_]) -> int:
    return int(data.weights[covered & ~data.same].sum())


_LOSSES: dict[str, Callable[[_Monomial, NDArray[np.bool_]], int]] = {
    "k-monomial": _loss,
    "negative-only": _negative_loss,
}


def _compare(out: list[str], what: str, said: object, given: object) -> None:
    if said != given:
        out.append(f"{what}: the result says {said}, the data give {given}")


def _has_solution(data: _Monomial) -> bool:
    # The required features alone are the smallest candidate, and every candidate contains
    # them: if they break a constraint all do.
    return not _broken_constraints(data, sorted(data.required))


def _broken_constraints(data: _Monomial, features: list[int]) -> list[str]:
    d, chosen = data.agrees.shape[1], set(features)
    if any(isinstance(j, bool) or not isinstance(j, int) or not 0 <= j < d for j in features):
        return [f"features: {features} are not all indices from 0 to {d - 1}"]
    out = []
    if len(features) != len(chosen):
        out.append(f"features: {features} names a feature twice")
    if len(chosen) > data.k:
        out.append(f"features: {len(chosen)} chosen, at most k = {data.k} allowed")
    if missing := sorted(data.required - chosen):
        out.append(f"features: the required {missing} are not chosen")
    if present := sorted(data.forbidden & chosen):
        out.append(f"features: the forbidden {present} are chosen")
    if data.groups is not None:
        groups = [data.groups[j] for j in sorted(chosen)]
        if len(set(groups)) < len(groups):
            out.append("features: two of one group are chosen")
    return out


def _figures(data: _Monomial, covered: NDArray[np.bool_], found: Mapping[str, Any]) -> list[str]:
    out: list[str] = []
    weight = int(data.weights[covered].sum())
    right = int(data.weights[covered & data.same].sum())
    precision = Fraction(right, weight) if weight else None
    coverage = Fraction(weight, int(data.weights.sum()))
    for what, given in (("precision", precision), ("coverage", coverage)):
        said = found.get(what)
        _compare(out, what, None if said is None else Fraction(said), given)
    literals = found.get("rule", {}).get("literals")
    if literals is not None:
        _compare(out, "rule", [j for j, _ in literals], sorted(found["features"]))
        for j, text in literals:
            if data.names:
                _compare(out, f"literal {j}", text, data.names[j])
    return out


def _proof(result: Mapping[str, Any], objective: int) -> list[str]:
    out: list[str] = []
    status, bound = result["status"], result["bound"]
    if bound is not None and bound > objective:
        out.append(f"bound: {bound} exceeds the value {objective} of the solution")
    if status == "OPTIMAL" and bound != objective:
        out.append(f"status: OPTIMAL with bound {bound} and value {objective}")
    gap = None if bound is None else abs(objective - bound) / max(1, abs(objective))
    if not out:
        _compare(out, "gap", result["gap"], gap)
    values = [value for _, value, _ in result["trace"] if value is not None]
    bounds = [value for _, _, value in result["trace"] if value is not None]
    if values != sorted(values, reverse=True) or bounds != sorted(bounds):
        out.append("trace: values must fall and bounds must rise")
    if values and values[-1] < objective:
        out.append(f"trace: ends below the value {objective} of the solution")
    return out
