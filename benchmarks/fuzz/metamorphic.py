"""Metamorphic relations: what the optimum of a changed instance says of the first one's.

They judge instances that no brute force can try whole: an engine solves the instance, other
engines solve what a relation makes of it, and the intervals of value and bound must agree.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.fuzz.asking import Ask
from cpx import check
from cpx.answers.result import Result, Status
from cpx.backends import backend
from cpx.backends.base import takes
from cpx.modelling import instances
from cpx.solving.run import run

__all__ = ["RELATIONS", "Interval", "Relation", "faults_of_a_relation", "interval", "relation"]

Instance = dict[str, Any]
Number = int | Fraction | float

MAXIMISED = ("max-precision", "max-coverage", "kernel-rule")
_SAMPLED = (
    "k-monomial",
    "negative-only",
    "max-precision",
    "max-coverage",
    "min-certificate",
    "precise-certificate",
    "rule-set",
    "rule-set-learning",
    "kernel-rule",
)
_MONOMIALS = _SAMPLED[:4]
_HEAVY = 2**28  # beyond four times that, sums leave what some kinds allow
_CERTIFICATES = ("min-certificate", "precise-certificate")
_BRANCHED = (*_MONOMIALS, *_CERTIFICATES, "sufficient-reason", "rule-set")


@dataclass(frozen=True)
class Interval:
    """Where an optimum lies; of an infeasible instance both ends are the worst value."""

    low: Number
    high: Number

    def meets(self, other: Interval) -> bool:
        """Say whether both can hold."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        return f"[{self.low}, {self.high}]"


@dataclass(frozen=True)
class Relation:
    """An instance changed in a way that says something of its optimum.

    Attributes
    ----------
    name : str
    instances : list of dict
        The changed instances.
    read : callable
        Takes the intervals of their optima, returns that of the first instance's optimum.
    """

    name: str
    instances: list[Instance]
    read: Callable[[list[Interval]], Interval]


def interval(result: Result, instance: Instance) -> Interval:
    """Return where the optimum lies by a result."""
    worst = -math.inf if instance["problem"] in MAXIMISED else math.inf
    if result.status is Status.INFEASIBLE:
        return Interval(worst, worst)
    value: Number = worst if result.objective is None else result.objective
    bound: Number = -worst if result.bound is None else result.bound
    return Interval(min(value, bound), max(value, bound))


def relation(instance: Instance, rng: np.random.Generator, name: str = "") -> Relation:
    """Return a relation of that name, or a random one that an instance's kind has."""
    able = [name for name, (kinds, _) in RELATIONS.items() if instance["problem"] in kinds]
    name = name or str(rng.choice(able))
    changed, read = RELATIONS[name][1](copy.deepcopy(instance), rng)
    return Relation(name, changed, read)


def faults_of_a_relation(
    instance: Instance, related: Relation, how: Ask, others: Sequence[str]
) -> tuple[Result, list[str]]:
    """Solve an instance, and the changed ones with other engines; return what is wrong."""
    # In workers: what an engine does within a library is not stopped in this process.
    first = run(instances.from_dict(instance), how.engine, how.options, isolate=True)
    engines = itertools.cycle(others or (how.engine,))
    found, spans = _wrong_alone(instance, first), []
    for changed, engine in zip(related.instances, engines):
        options = replace(how, engine=engine, hint=None, encoding="").options
        problem = instances.from_dict(changed)
        if not takes(backend(engine), problem):  # it has grown too large to be stated
            return first, found
        result = run(problem, engine, options, isolate=True)
        found += _wrong_alone(changed, result)
        spans.append(interval(result, changed))
    own, implied = interval(first, instance), related.read(spans)
    if not found and not own.meets(implied):
        found = [
            f"{related.name}: {how.engine} says {own}, what {', '.join(others)} say of the "
            f"changed instances means {implied}"
        ]
    return first, found


def _wrong_alone(instance: Instance, result: Result) -> list[str]:
    if result.status is Status.ERROR:
        return [f"error: {result.engine}: {result.raw_status}; {'; '.join(result.warnings)}"]
    # A drawn instance has the texts of its side constraints, a saved one what they mean.
    saved = instances.from_dict(instance).to_dict()
    violations = check.violations(saved, json.loads(result.to_json()))
    return [f"check: {result.engine}: {violation}" for violation in violations]


Changed = tuple[list[Instance], Callable[[list[Interval]], Interval]]
Change = Callable[[Instance, np.random.Generator], Changed]


def _first(found: list[Interval]) -> Interval:
    return found[0]


def _best(maximised: bool) -> Callable[[list[Interval]], Interval]:
    """Return what reads the better of several optima."""
    better = max if maximised else min
    return lambda found: Interval(better(i.low for i in found), better(i.high for i in found))


def _reordered_samples(instance: Instance, rng: np.random.Generator) -> Changed:
    _take_rows(instance, rng.permutation(len(instance["samples"])).tolist())
    return [instance], _first


def _take_rows(instance: Instance, rows: list[int]) -> None:
    for key in ("samples", "weights"):
        if key in instance:
            instance[key] = [instance[key][i] for i in rows]
    if "labels" in instance:
        instance["labels"] = "".join(instance["labels"][i] for i in rows)


def _reordered_features(instance: Instance, rng: np.random.Generator) -> Changed:
    order = rng.permutation(len(instance["samples"][0])).tolist()
    place = {old: new for new, old in enumerate(order)}
    if instance["problem"] != "rule-set":
        for entry in instance.get("where", ()):
            moved = re.sub(r"\[(\d+)\]", lambda at: f"[{place[int(at[1])]}]", entry["text"])
            entry.clear()
            entry["text"] = moved
    instance["samples"] = ["".join(row[j] for j in order) for row in instance["samples"]]
    parameters = instance["parameters"]
    if "groups" in instance:
        instance["groups"] = [instance["groups"][j] for j in order]
    if instance["problem"] == "rule-set":
        # Its features are the candidates, whose literals move.
        parameters["rules"] = [sorted(place[j] for j in rule) for rule in parameters["rules"]]
        return [instance], _first
    if "weights" in parameters:
        parameters["weights"] = [parameters["weights"][j] for j in order]
    for key in ("required", "forbidden"):
        if key in parameters:
            parameters[key] = sorted(place[j] for j in parameters[key])
    return [instance], _first


def _split_samples(instance: Instance, rng: np.random.Generator) -> Changed:
    """Put two samples of half the weight in the place of one, or samples of weight 1."""
    m = len(instance["samples"])
    weights = instance.setdefault("weights", [1] * m)
    heavy = [i for i in range(m) if abs(weights[i]) > 1]
    rows = list(range(m))
    for i in rng.permutation(heavy).tolist()[:3]:
        half = int(weights[i] / 2)
        weights[i] -= half
        _take_rows(instance, [*range(len(instance["samples"])), i])
        weights = instance["weights"]
        weights[-1] = half
        rows.append(i)
    return [instance], _first


def _heavier(instance: Instance, rng: np.random.Generator) -> Changed:
    """Multiply all weights by a factor; a ratio stays, a sum is multiplied."""
    weights = instance.get("weights", [1] * len(instance["samples"]))
    factor = int(rng.integers(2, 5)) if sum(map(abs, weights)) < _HEAVY else 1
    instance["weights"] = [w * factor for w in weights]
    ratio = instance["problem"] in ("max-precision", *_CERTIFICATES)
    by = 1 if ratio else factor
    return [instance], lambda found: Interval(
        _divided(found[0].low, by), _divided(found[0].high, by)
    )


def _heavier_changes(instance: Instance, rng: np.random.Generator) -> Changed:
    """Multiply what the change of each column costs."""
    parameters, factor = instance["parameters"], int(rng.integers(2, 5))
    costs = parameters.get("weights") or [1] * _size(instance)
    if sum(costs) * factor >= 2**31:  # no costs that a problem takes
        factor = 1
    parameters["weights"] = [w * factor for w in costs]
    return [instance], lambda found: Interval(
        _divided(found[0].low, factor), _divided(found[0].high, factor)
    )


def _divided(value: Number, by: int) -> Number:
    return value if by == 1 or isinstance(value, float) else Fraction(value) / by


def _branched(instance: Instance, rng: np.random.Generator) -> Changed:
    """Require a feature in one copy, forbid it in the other: the better optimum is the first's."""
    parameters = instance["parameters"]
    decided = {*(parameters.get("required") or ()), *(parameters.get("forbidden") or ())}
    free = [j for j in range(_size(instance)) if j not in decided]
    if not free:
        return [instance], _first
    j = int(rng.choice(free))
    both = []
    for key in ("required", "forbidden"):
        branch = copy.deepcopy(instance)
        branch["parameters"][key] = sorted([*(parameters.get(key) or ()), j])
        both.append(branch)
    return both, _best(instance["problem"] in MAXIMISED)


def _size(instance: Instance) -> int:
    problem: Any = instances.from_dict(instance)
    return int(problem.n_features)


def _longer(instance: Instance, rng: np.random.Generator) -> Changed:
    """Allow one more condition, literal or clause: the optimum is no worse."""
    parameters = instance["parameters"]
    key = next(k for k in ("k", "max_literals", "max_clauses") if k in parameters)
    most = len(instance["samples"][0])
    if parameters[key] < most:
        parameters[key] += 1
    if instance["problem"] in MAXIMISED:
        return [instance], lambda found: Interval(-math.inf, found[0].high)
    return [instance], lambda found: Interval(found[0].low, math.inf)


RELATIONS: dict[
    str, tuple[tuple[str, ...], Callable[[Instance, np.random.Generator], Changed]]
] = {
    "samples reordered": (_SAMPLED, _reordered_samples),
    "features reordered": (_SAMPLED, _reordered_features),
    "samples split": (_SAMPLED, _split_samples),
    "weights multiplied": ((*_MONOMIALS, *_CERTIFICATES, "kernel-rule"), _heavier),
    "costs multiplied": (("contrast",), _heavier_changes),
    "one feature decided": (_BRANCHED, _branched),
    "one more allowed": ((*_MONOMIALS, "kernel-rule", "rule-set-learning"), _longer),
}
"""Each relation's kinds, and what makes it."""
