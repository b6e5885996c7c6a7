"""The spanning forest along which the terms of a sum of tables are joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.table_sums.terms import Terms

__all__ = ["copied", "ranges", "spanning_forest"]

Ints = NDArray[np.int64]


def spanning_forest(features: Sequence[Sequence[int]], tables: Sequence[Ints]) -> Terms:
    """Join terms that share many features; return them laid out for the kernels.

    The forest is a maximum spanning forest, by Prim's algorithm: neighbours agree about the
    features that they share, so the more they share, the fewer copies of features there are.

    Parameters
    ----------
    features : sequence of sequences of int
        Of each term.
    tables : sequence of ndarray of int64
        The values of each term: bit i of the index says whether its i-th feature is chosen.
    """
    count = len(features)
    order, parents = _grown([sum(1 << j for j in members) for members in features])
    number = {t: count - 1 - n for n, t in enumerate(order)}  # children first
    terms = sorted(number, key=number.__getitem__)
    parent = np.array([number.get(parents[t], -1) for t in terms], dtype=np.int64)
    shared, feature, values = [], [], []
    for t in terms:
        above = set(features[parents[t]]) if parents[t] >= 0 else set[int]()
        bits = sorted(range(len(features[t])), key=lambda i: (features[t][i] not in above, i))
        shared.append(len(above & set(features[t])))
        feature += [features[t][i] for i in bits]
        # The last axis of the table is the first bit.
        axes = [len(bits) - 1 - i for i in reversed(bits)]
        values.append(tables[t].reshape((2,) * len(bits)).transpose(axes).reshape(-1))
    child, sibling = np.full(count, -1), np.full(count, -1)
    for t in range(count):
        if parent[t] >= 0:
            sibling[t], child[parent[t]] = child[parent[t]], t
    size = np.array([len(features[t]) for t in terms], dtype=np.int64)
    maps = np.where(parent >= 0, 1 << size[parent], 0)
    return Terms(
        parent=parent,
        child=child,
        sibling=sibling,
        first=_starts(size),
        size=size,
        shared=np.array(shared, dtype=np.int64),
        feature=np.array(feature, dtype=np.int64),
        origin=np.arange(len(feature)),
        start=_starts(1 << size),
        table=np.ascontiguousarray(np.concatenate(values), dtype=np.int64),
        place=_starts(maps),
        map=np.zeros(int(maps.sum()), dtype=np.int64),
    )


def copied(whole: Terms) -> Terms:
    """Return terms of the same forest with arrays of their own, for a node."""
    fixed = {"parent", "child", "sibling"}
    return Terms(**{k: v if k in fixed else v.copy() for k, v in whole._asdict().items()})


def ranges(whole: Terms) -> Ints:
    """Return, for each copy of a feature, by how much the terms that have it range in all.

    No multiplier need be greater: it would decide the copy whatever the terms say.
    """
    own = np.maximum.reduceat(whole.table, whole.start)
    own -= np.minimum.reduceat(whole.table, whole.start)
    result = np.repeat(own, whole.size)
    feature, first = whole.feature.tolist(), whole.first.tolist()
    place = [
        {feature[i]: i for i in range(begin, begin + size)}
        for begin, size in zip(first, whole.size.tolist())
    ]
    # Children first, so that each passes on what those below it have.
    for t, (begin, shared) in enumerate(zip(first, whole.shared.tolist())):
        for i in range(begin, begin + shared):
            result[place[whole.parent[t]][feature[i]]] += result[i]
    return result


def _starts(sizes: Ints) -> Ints:
    return np.cumsum(sizes) - sizes


def _grown(members: list[int]) -> tuple[list[int], list[int]]:
    """Return the terms, parents first, and the parent of each; -1 for a root.

    Terms are given by their features, as bits of an integer. Of terms that share nothing with any
    before, the largest is the next root.
    """
    count = len(members)
    nearest = np.full(count, -1)
    weight = np.array([bits.bit_count() for bits in members]) - 1000
    order: list[int] = []
    for _ in range(count):
        t = int(weight.argmax())
        order.append(t)
        weight[t] = _TAKEN
        common = np.array([(bits & members[t]).bit_count() for bits in members])
        closer = (common > np.maximum(weight, 0)) & (weight > _TAKEN)
        nearest[closer] = t
        weight[closer] = common[closer]
    return order, nearest.tolist()


_TAKEN = -10_000
