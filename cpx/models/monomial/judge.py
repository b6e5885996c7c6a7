"""The check of single rules on samples: k-monomials, best precision, best coverage."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.claims import (
    beaten,
    broken_by,
    class_name,
    compare,
    compare_shares,
    names_of,
    nothing_found,
    number,
    proof,
    wrong_features,
    wrong_figures,
    wrong_rule,
    wrong_types,
)
from cpx.models.monomial.judge_beyond import Counts, count_rules, wrong_beyond
from cpx.models.monomial.judge_conditions import wrong_conditions
from cpx.support.one_thread import one_thread


@dataclass(frozen=True)
class Monomial:
    """A monomial instance as it is in its JSON object."""

    agrees: NDArray[np.bool_]
    same: NDArray[np.bool_]
    weights: NDArray[np.int64]
    names: list[str]
    called: str
    k: int
    required: set[int]
    forbidden: set[int]
    groups: list[int] | None
    min_coverage: Fraction | None
    max_coverage: Fraction | None
    min_precision: Fraction | None
    covers_something: bool
    side: Callable[[list[int]], list[str]]
    instance: Mapping[str, Any]
    unseen: Mapping[str, Any] | None


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    kind, data = instance["problem"], read(instance)
    return lambda result: _violations(kind, data, result)


def _violations(kind: str, data: Monomial, result: Mapping[str, Any]) -> list[str]:
    found = result["explanation"]
    out: list[str] = []
    if result["status"] == "INFEASIBLE" and _has_solution(data):
        out.append("status: INFEASIBLE, but the constraints have a solution")
    if found is None:
        return out + nothing_found(result)
    if out := out + (
        wrong_features(found["features"], data.agrees.shape[1])
        or _broken_constraints(data, found["features"])
    ):
        return out
    covered = np.asarray(data.agrees[:, found["features"]].all(axis=1), dtype=np.bool_)
    out += _broken_limits(data, covered)
    out += wrong_types(result, str if kind == _RATIO else int)
    if out:
        return out
    objective = _OBJECTIVES[kind](data, covered)
    compare(out, "objective", number(result["objective"]), objective)
    weight, right, total = _weights(data, covered)
    share = Fraction(right, weight) if weight else None
    compare_shares(out, found, share, Fraction(weight, total))
    fresh = found.get("fresh")
    if fresh and fresh["confidence"] == 1:
        compare(out, "fresh", [fresh["agreeing"], fresh["drawn"]], [right, weight])
    if "unseen" in found:
        compare(out, "unseen", found.get("unseen"), _unseen(data.unseen, found["features"]))
    sign = 1 if kind in _MINIMISED else -1
    out += proof(result, objective, sign)
    other = None
    if result["bound"] is not None and (rival := _small_rule(kind, data)) is not None:
        covers = np.asarray(data.agrees[:, rival].all(axis=1), dtype=np.bool_)
        out += beaten(result, rival, _OBJECTIVES[kind](data, covers), sign)
        other = _weights(data, covers)[:2]
    names = {j: data.names[j] for j in found["features"]}
    out += wrong_rule(found, names, data.called, conditions=None)
    said = found["rule"].get("conditions") or []
    out += wrong_conditions(said, found["features"], data.names) if said else []
    figures = {"covered": weight, "agreeing": right, "total": total}
    out += wrong_figures(found, figures)
    if kind != _RATIO and (found.get("claim") or {}).get("best_of_ties"):
        out.append("claim: best_of_ties is said of precision only")
    rules = count_rules(data.agrees.shape[1], data.k, data.required, data.forbidden, data.groups)
    return out or wrong_beyond(
        kind, data.instance, result, Counts(total, rules, (weight, right), other)
    )


def read(instance: Mapping[str, Any]) -> Monomial:
    """Read an instance from its JSON object."""
    agrees, same, weights = table(instance)
    kind, parameters = instance["problem"], instance["parameters"]
    shares = {**_DEFAULTS.get(kind, {}), **parameters}
    limits = {
        name: Fraction(str(shares[name])) if name in shares else None
        for name in ("min_coverage", "max_coverage", "min_precision")
    }
    return Monomial(
        agrees=agrees,
        same=same,
        weights=weights,
        names=names_of(instance),
        called=class_name(instance),
        k=parameters["k"],
        required=set(parameters.get("required", ())),
        forbidden=set(parameters.get("forbidden", ())),
        groups=instance["groups"] if parameters.get("one_per_group") else None,
        # A precision is asked of rules that have one.
        covers_something=kind == _RATIO or limits["min_precision"] is not None,
        side=broken_by(instance),
        instance=instance,
        unseen=instance.get("unseen"),
        **limits,
    )


def _unseen(data: Mapping[str, Any] | None, features: list[int]) -> dict[str, int] | None:
    """Return what a rule is worth on the samples that no engine saw."""
    if data is None:
        return None
    agrees, same, weights = table(data)
    covered = agrees[:, features].all(axis=1)
    return {
        "agreeing": int(weights[covered & same].sum()),
        "covered": int(weights[covered].sum()),
        "total": int(weights.sum()),
    }


def table(
    data: Mapping[str, Any],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
    """Return where samples agree with x, which have its class, and their weights."""
    rows = data["samples"]
    if isinstance(rows, np.ndarray):
        agrees = rows
    else:
        flat = np.frombuffer("".join(rows).encode(), dtype=np.uint8)
        agrees = (flat == 49).reshape(len(rows), -1)
    same = np.frombuffer(data["labels"].encode(), dtype=np.uint8) == 49
    weights = data.get("weights") or np.ones(len(rows))
    return agrees, same, np.array(weights, dtype=np.int64)


def _loss(data: Monomial, covered: NDArray[np.bool_]) -> int:
    wrong = covered != data.same
    return int(data.weights[wrong].sum())


def _negative_loss(data: Monomial, covered: NDArray[np.bool_]) -> int:
    return int(data.weights[covered & ~data.same].sum())


def _coverage(data: Monomial, covered: NDArray[np.bool_]) -> int:
    return int(data.weights[covered].sum())


def _precision(data: Monomial, covered: NDArray[np.bool_]) -> Fraction:
    return Fraction(int(data.weights[covered & data.same].sum()), _coverage(data, covered))


_OBJECTIVES: dict[str, Callable[[Monomial, NDArray[np.bool_]], int | Fraction]] = {
    "k-monomial": _loss,
    "negative-only": _negative_loss,
    "max-precision": _precision,
    "max-coverage": _coverage,
}
KINDS = tuple(_OBJECTIVES)
"""Kinds of problem that are judged here."""

_MINIMISED = ("k-monomial", "negative-only")
_RATIO = "max-precision"
_DEFAULTS = {
    "max-precision": {"min_coverage": "1/20"},
    "max-coverage": {"min_precision": "19/20"},
}
# Work on refuting a claim of infeasibility, and a bound: products of bits.
_MOST_PRODUCTS, _FEWER_PRODUCTS = 10**10, 5 * 10**7


def _has_solution(data: Monomial) -> bool:
    """Try the required features alone, and with one or two more; True is a proof."""
    base = sorted(data.required)
    # Every candidate contains the required features: if they break a constraint all do.
    if wrong_features(base, data.agrees.shape[1]) or _broken_choice(data, base):
        return False
    rows = np.asarray(data.agrees[:, base].all(axis=1), dtype=np.bool_)
    if _allowed(data, base):
        return True
    d = data.agrees.shape[1]
    if len(base) == data.k or rows.sum() * d * d > _MOST_PRODUCTS:
        return False
    possible = _may_keep_limits(data, *_pairs(data, rows))
    return any(
        _allowed(data, sorted({*base, *map(int, pair)})) for pair in np.argwhere(np.triu(possible))
    )


def _pairs(
    data: Monomial, rows: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what pairs of features cover of some rows, and how much of it agrees.

    The diagonal is for one feature. Weights add up to less than 2**53: floats are exact, and
    fast.
    """
    bits, weights = data.agrees[rows].astype(np.float64), data.weights[rows]
    with one_thread():
        return (bits.T * weights) @ bits, (bits.T * (weights * data.same[rows])) @ bits


def _may_keep_limits(
    data: Monomial, covered: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Say which pairs may keep the limits: all that do, and perhaps others by rounding."""
    possible = covered >= float(data.covers_something)
    total = int(data.weights.sum())
    if data.min_coverage is not None:
        possible &= covered >= math.ceil(data.min_coverage * total)
    if data.max_coverage is not None:
        possible &= covered <= math.floor(data.max_coverage * total)
    if data.min_precision is not None:
        # Nothing that is precise enough is lost to rounding; _broken_limits decides.
        possible &= right >= float(data.min_precision) * covered * (1 - 1e-9)
    return np.asarray(possible)


def _allowed(data: Monomial, features: list[int]) -> bool:
    covered = np.asarray(data.agrees[:, features].all(axis=1), dtype=np.bool_)
    return not _broken_constraints(data, features) and not _broken_limits(data, covered)


def _small_rule(kind: str, data: Monomial) -> list[int] | None:
    """Return a good rule of the required features and up to two more, None where none is met."""
    base = sorted(data.required)
    rows = np.asarray(data.agrees[:, base].all(axis=1), dtype=np.bool_)
    rules = [base]
    d = data.agrees.shape[1]
    if len(base) < data.k and rows.sum() * d * d <= _FEWER_PRODUCTS:
        covered, right = _pairs(data, rows)
        cost = {
            "k-monomial": covered - 2 * right,
            "negative-only": covered - right,
            "max-coverage": -covered,
            "max-precision": -right / np.maximum(covered, 1),
        }[kind]
        possible = np.triu(_may_keep_limits(data, covered, right))
        if len(base) + 1 == data.k:
            possible &= np.eye(d, dtype=np.bool_)
        free = np.array([j not in data.forbidden for j in range(d)])
        possible &= free & free[:, None]
        if data.groups is not None:
            groups = np.array(data.groups)
            fresh = ~np.isin(groups, groups[base])
            possible &= fresh & fresh[:, None]
            possible &= (groups != groups[:, None]) | np.eye(d, dtype=np.bool_)
        best = np.where(possible, cost, np.inf).argmin()
        rules.append(sorted({*base, *(int(j) for j in np.unravel_index(best, (d, d)))}))
    rules = [rule for rule in rules if _allowed(data, rule)]

    def worth(rule: list[int]) -> int | Fraction:
        value = _OBJECTIVES[kind](data, np.asarray(data.agrees[:, rule].all(axis=1)))
        return value if kind in _MINIMISED else -value

    return min(rules, key=worth, default=None)


def _weights(data: Monomial, covered: NDArray[np.bool_]) -> tuple[int, int, int]:
    """Return what is covered, what of it agrees, and everything."""
    agreeing = data.weights[covered & data.same]
    return int(data.weights[covered].sum()), int(agreeing.sum()), int(data.weights.sum())


def _broken_limits(data: Monomial, covered: NDArray[np.bool_]) -> list[str]:
    weight, right, total = _weights(data, covered)
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


def _broken_constraints(data: Monomial, features: list[int]) -> list[str]:
    return _broken_choice(data, features) or data.side(features)


def _broken_choice(data: Monomial, features: list[int]) -> list[str]:
    out, chosen = list[str](), set(features)
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
