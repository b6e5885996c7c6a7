"""The independent checker: recompute an answer from the saved instance alone.

It reads the plain JSON objects of an instance and a result and shares no code with
``cpx.models`` and ``cpx.backends``: a mistake there cannot hide itself here. What it can
decide, it decides exactly: the constraints, the objective, precision and coverage, the
consistency of status, bound, gap and trace. It takes a bound as the engine's word, but a
bound that the found solution contradicts is a failure. A claim that nothing satisfies the
constraints is refuted by the required features alone, or by up to two more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["complaints", "complaints_each"]


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
    min_coverage: Fraction | None
    max_coverage: Fraction | None
    min_precision: Fraction | None
    covers_something: bool


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
    return complaints_each(instance, [result])[0]


def complaints_each(
    instance: Mapping[str, Any], results: Iterable[Mapping[str, Any]]
) -> list[list[str]]:
    """Return what :func:`complaints` says of each result, reading the instance once."""
    kind = instance.get("problem")
    if kind not in _OBJECTIVES:
        told = f"problem: the checker does not know {kind!r}; it knows {', '.join(_OBJECTIVES)}"
        return [[told] for _ in results]
    data = _read(instance)
    return [_complaints(kind, data, result) for result in results]


def _complaints(kind: str, data: _Monomial, result: Mapping[str, Any]) -> list[str]:
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
    out += _broken_limits(data, covered)
    out += _wrong_types(result, str if kind == _RATIO else int)
    if out:
        return out
    objective = _OBJECTIVES[kind](data, covered)
    _compare(out, "objective", _number(result["objective"]), objective)
    out += _figures(data, covered, found)
    out += _proof(result, objective, 1 if kind in _MINIMISED else -1)
    return out


def _read(instance: Mapping[str, Any]) -> _Monomial:
    rows, labels, parameters = instance["samples"], instance["labels"], instance["parameters"]
    flat = np.frombuffer("".join(rows).encode(), dtype=np.uint8)
    agrees = (flat == 49).reshape(len(rows), -1)
    weights = instance.get("weights") or [1] * len(rows)
    kind = instance["problem"]
    shares = {**_DEFAULTS.get(kind, {}), **parameters}
    limits = {
        name: Fraction(str(shares[name])) if name in shares else None
        for name in ("min_coverage", "max_coverage", "min_precision")
    }
    return _Monomial(
        agrees=agrees,
        same=np.frombuffer(labels.encode(), dtype=np.uint8) == 49,
        weights=np.array(weights, dtype=np.int64),
        names=list(instance.get("features") or ()),
        k=parameters["k"],
        required=set(parameters.get("required", ())),
        forbidden=set(parameters.get("forbidden", ())),
        groups=instance["groups"] if parameters.get("one_per_group") else None,
        # A precision is asked of rules that have one.
        covers_something=kind == _RATIO or limits["min_precision"] is not None,
        **limits,
    )


def _loss(data: _Monomial, covered: NDArray[np.bool_]) -> int:
    wrong = covered != data.same
    return int(data.weights[wrong].sum())


def _negative_loss(data: _Monomial, covered: NDArray[np.bool_]) -> int:
    return int(data.weights[covered & ~data.same].sum())


def _coverage(data: _Monomial, covered: NDArray[np.bool_]) -> int:
    return int(data.weights[covered].sum())


def _precision(data: _Monomial, covered: NDArray[np.bool_]) -> Fraction:
    return Fraction(int(data.weights[covered & data.same].sum()), _coverage(data, covered))


_OBJECTIVES: dict[str, Callable[[_Monomial, NDArray[np.bool_]], int | Fraction]] = {
    "k-monomial": _loss,
    "negative-only": _negative_loss,
    "max-precision": _precision,
    "max-coverage": _coverage,
}
_MINIMISED = ("k-monomial", "negative-only")
_RATIO = "max-precision"
_DEFAULTS = {
    "max-precision": {"min_coverage": "1/20"},
    "max-coverage": {"min_precision": "19/20"},
}
# Work on refuting a claim of infeasibility: products of bits.
_MOST_PRODUCTS = 10**10


def _compare(out: list[str], what: str, said: object, given: object) -> None:
    if said != given:
        out.append(f"{what}: the result says {said}, the data give {given}")


def _has_solution(data: _Monomial) -> bool:
    """Try the required features alone, and with one or two more; True is a proof."""
    base = sorted(data.required)
    # Every candidate contains the required features: if they break a constraint all do.
    if _broken_constraints(data, base):
        return False
    rows = np.asarray(data.agrees[:, base].all(axis=1), dtype=np.bool_)
    if not _broken_limits(data, rows):
        return True
    agrees, same, weights = data.agrees[rows], data.same[rows], data.weights[rows]
    m, d = agrees.shape
    if len(base) == data.k or m * d * d > _MOST_PRODUCTS:
        return False
    # Entry (i, j) is for the features i and j, the diagonal for one feature. Weights add up
    # to less than 2**53: floats are exact, and fast.
    bits = agrees.astype(np.float64)
    covered = (bits.T * weights) @ bits
    right = (bits.T * (weights * same)) @ bits
    possible = covered >= float(data.covers_something)
    total = int(data.weights.sum())
    if data.min_coverage is not None:
        possible &= covered >= math.ceil(data.min_coverage * total)
    if data.max_coverage is not None:
        possible &= covered <= math.floor(data.max_coverage * total)
    if data.min_precision is not None:
        # Nothing that is precise enough is lost to rounding; _broken_limits decides.
        possible &= right >= float(data.min_precision) * covered * (1 - 1e-9)
    for pair in np.argwhere(np.triu(possible)):
        features = sorted({*base, *map(int, pair)})
        if not _broken_constraints(data, features) and not _broken_limits(
            data, np.asarray(data.agrees[:, features].all(axis=1))
        ):
            return True
    return False


def _broken_limits(data: _Monomial, covered: NDArray[np.bool_]) -> list[str]:
    weight = int(data.weights[covered].sum())
    right = int(data.weights[covered & data.same].sum())
    total = int(data.weights.sum())
    out = []
    if data.covers_something and weight == 0:
        out.append("coverage: nothing is covered")
    if data.min_coverage is not None and weight < data.min_coverage * total:
        out.append(f"coverage: {weight} of {total}, at least {data.min_coverage} wanted")
    if data.max_coverage is not None and weight > data.max_coverage * total:
        out.append(f"coverage: {weight} of {total}, at most {data.max_coverage} wanted")
    if data.min_precision is not None and right < data.min_precision * weight:
        out.append(f"precision: {right} of {weight}, at least {data.min_precision} wanted")
    return out


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


def _wrong_types(result: Mapping[str, Any], wanted: type) -> list[str]:
    values = [("objective", result["objective"]), ("bound", result["bound"])]
    values += [("trace", value) for point in result["trace"] for value in point[1:]]
    return [
        f"{name}: {value!r} is no {'fraction' if wanted is str else 'integer'}"
        for name, value in values
        if value is not None and (isinstance(value, bool) or not isinstance(value, wanted))
    ]


def _number(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) else value


def _proof(result: Mapping[str, Any], objective: int | Fraction, sign: int) -> list[str]:
    """Check bound, gap and trace; ``sign`` is 1 where less is better, and else -1."""
    out: list[str] = []
    status, bound = result["status"], _number(result["bound"])
    if bound is not None and sign * bound > sign * objective:
        out.append(f"bound: {bound} is beyond the value {objective} of the solution")
    if status == "OPTIMAL" and bound != objective:
        out.append(f"status: OPTIMAL with bound {bound} and value {objective}")
    gap = None
    if bound is not None:
        gap = float(Fraction(abs(objective - bound)) / max(Fraction(1), abs(Fraction(objective))))
    if not out:
        _compare(out, "gap", result["gap"], gap)
    points = [(_number(value), _number(limit)) for _, value, limit in result["trace"]]
    values = [sign * value for value, _ in points if value is not None]
    bounds = [sign * limit for _, limit in points if limit is not None]
    if values != sorted(values, reverse=True) or bounds != sorted(bounds):
        out.append("trace: values must get better and bounds come closer")
    if values and values[-1] < sign * objective:
        out.append(f"trace: ends beyond the value {objective} of the solution")
    return out
