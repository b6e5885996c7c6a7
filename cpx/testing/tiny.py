"""Tiny instances of a kind of problem for grading, as saved: by size, and how to make one smaller.

Kinds whose data are samples get all tables of samples of the smallest sizes and some of each size
up to four samples and five features. Each is taken with two values of its integers, and once more
with one optional parameter. Between them come the cases of the family and random instances.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, cycle, islice, product
from math import comb
from typing import TypeVar

import numpy as np

from cpx.modelling.base import Problem
from cpx.modelling.parameters import (
    Flag,
    Indices,
    Integer,
    Parameter,
    ShareOf,
    given_parameters,
    parameters_of,
)
from cpx.modelling.registry import problem_class
from cpx.testing.cases import cases
from cpx.testing.drawing import Instance, Random, count
from cpx.testing.random_instances import draw, kinds_drawn

__all__ = ["size", "smaller", "tiny", "traits"]

_MOST_SAMPLES, _MOST_FEATURES = 4, 5
_TABLES = 5  # of each size
_RANDOM = 24
_Values = TypeVar("_Values", list[object], str)
_OPTIONAL = (Indices, Flag, ShareOf)

Table = tuple[list[str], str]
"""Samples as rows of bits, and their labels."""


def tiny(kind: str, seed: int = 0) -> Iterator[Instance]:
    """Yield tiny instances of a kind; the same seed yields the same ones.

    >>> first = next(tiny("k-monomial"))
    >>> first["samples"], first["labels"], first["parameters"]
    (['0'], '0', {'k': 0})
    """
    rng = np.random.default_rng(seed)
    known = (case.problem.to_dict() for case in cases() if case.problem.kind == kind)
    drawn = (draw(kind, rng) for _ in range(_RANDOM if kind in kinds_drawn() else 0))
    streams = [(_by_size(kind, seed), 16), (known, 2), (drawn, 1)]
    while streams:
        for stream, n in list(streams):
            block = list(islice(stream, n))
            yield from block
            if len(block) < n:
                streams.remove((stream, n))


def size(instance: Instance) -> tuple[int, ...]:
    """Return what makes one instance smaller than another: what it has, then its numbers."""
    rows, parameters = instance.get("samples", ()), instance["parameters"]
    given = [value for value in parameters.values() if type(value) is not int]
    optional = sum(key in instance for key in ("weights", "groups", "where"))
    text = str(instance)
    return (
        len(rows) + len(rows[0] if rows else text),
        len(given) + optional,
        sum(value for value in parameters.values() if type(value) is int),
        len(text),
    )


def traits(problem: Problem) -> tuple[str, ...]:
    """Return what is special about an instance: what its encoding must take care of.

    >>> from cpx import KMonomial, Samples
    >>> samples = Samples([[1, 0]], [1], weights=[3])
    >>> traits(KMonomial(samples, k=0, required=(1,)))
    ('k = 0', 'required', 'weights')
    """
    found = []
    for declared, value in given_parameters(problem):
        if isinstance(declared.kind, Integer) and declared.required and value == 0:
            found.append(f"{declared.name} = 0")
        elif isinstance(declared.kind, Indices | Flag) and not declared.required:
            found.append(declared.name)
    if getattr(problem, "limits", None) is not None:
        found.append("limits")
    if (getattr(getattr(problem, "samples", None), "weights", np.ones(1)) != 1).any():
        found.append("weights")
    if problem.side_constraints:
        found.append("side_constraints")
    return tuple(found)


# ------------------------------------------------------------------ by size


def _by_size(kind: str, seed: int) -> Iterator[Instance]:
    """Yield instances with one table of samples, each followed by one that asks for more."""
    declared = parameters_of(problem_class(kind))
    if "samples" not in declared:
        return
    rng = np.random.default_rng(seed)
    integers = [p for p in declared.values() if isinstance(p.kind, Integer) and p.required]
    optional = [p for p in declared.values() if isinstance(p.kind, _OPTIONAL) and not p.required]
    more = cycle([*optional, None])
    shapes = product(range(1, _MOST_SAMPLES + 1), range(1, _MOST_FEATURES + 1))
    turn = 0
    for m, d in sorted(shapes, key=lambda shape: (sum(shape), shape[1])):
        for rows, labels in _tables(m, d, rng):
            for _ in range(2):
                instance: Instance = {
                    "format": "cpx-instance",
                    "version": 1,
                    "problem": kind,
                    "samples": rows,
                    "labels": labels,
                    "parameters": {p.name: _integer(p, turn, d) for p in integers},
                }
                turn += 1
                yield instance
                yield _asking_more(instance, next(more), rng)


def _integer(declared: Parameter, turn: int, d: int) -> int:
    """Return a value of an integer: all small ones come in turn."""
    assert isinstance(declared.kind, Integer)
    least = declared.kind.least
    most = d if declared.kind.most else least + 2
    return least + turn % (most - least + 1)


def _tables(m: int, d: int, rng: Random) -> Iterator[Table]:
    """Yield all tables of m samples of d features, or some where there are many.

    The order of samples makes no difference.
    """
    if comb(2 ** (d + 1) + m - 1, m) <= _TABLES:
        chosen = list(combinations_with_replacement(range(2 ** (d + 1)), m))
    else:
        chosen = [tuple(sorted(rng.integers(0, 2 ** (d + 1), m).tolist())) for _ in range(_TABLES)]
    for codes in chosen:
        texts = [f"{code:0{d + 1}b}" for code in codes]
        yield [text[1:] for text in texts], "".join(text[0] for text in texts)


def _asking_more(instance: Instance, asked: Parameter | None, rng: Random) -> Instance:
    """Return an instance with one optional parameter; None stands for weights."""
    m, d = len(instance["samples"]), len(instance["samples"][0])
    if asked is None:
        return {**instance, "weights": rng.integers(1, 5, m).tolist()}
    more: Instance = {}
    value: object = True
    if isinstance(asked.kind, Indices):
        value = sorted(rng.permutation(d)[: count(rng, 1, max(1, d // 2))].tolist())
    elif isinstance(asked.kind, ShareOf):
        value = f"{count(rng, 0, m)}/{m}"
    else:
        more["groups"] = rng.integers(0, max(1, d // 2), d).tolist()
    return {**instance, **more, "parameters": {**instance["parameters"], asked.name: value}}


# ------------------------------------------------------------------ smaller ones


def smaller(instance: Instance) -> Iterator[Instance]:
    """Yield instances that have one thing less; not all of them are valid."""
    parameters = instance["parameters"]
    for key in ("where", "weights", "groups"):
        if key in instance:
            yield {name: value for name, value in instance.items() if name != key}
    for key in parameters:
        yield {**instance, "parameters": {k: v for k, v in parameters.items() if k != key}}
    rows = instance.get("samples", [])
    if len(rows) > 1:
        yield from (_without_sample(instance, i) for i in range(len(rows)))
    if rows and len(rows[0]) > 1 and "where" not in instance:
        yield from (_without_feature(instance, j) for j in range(len(rows[0])))
    for key, value in parameters.items():
        if type(value) is int and value > 0:
            yield {**instance, "parameters": {**parameters, key: value - 1}}
    weights = instance.get("weights", [])
    if any(weight > 2 for weight in weights):
        yield {**instance, "weights": [min(weight, 2) for weight in weights]}


def _without(values: _Values, place: int) -> _Values:
    return values[:place] + values[place + 1 :]


def _without_sample(instance: Instance, i: int) -> Instance:
    keys = [key for key in ("samples", "labels", "weights") if key in instance]
    return {**instance, **{key: _without(instance[key], i) for key in keys}}


def _without_feature(instance: Instance, j: int) -> Instance:
    keys = [key for key in ("features", "groups") if key in instance]
    rows = [_without(row, j) for row in instance["samples"]]
    d = len(rows[0])
    parameters = {
        key: [x - (x > j) for x in value if x != j]
        if isinstance(value, list)
        else min(value, d)
        if type(value) is int
        else value
        for key, value in instance["parameters"].items()
    }
    shorter: Instance = {key: _without(instance[key], j) for key in keys}
    return {**instance, **shorter, "samples": rows, "parameters": parameters}
