"""Exact sums of floating-point leaf values: scaled to integers, added in 32-bit limbs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.trees.tree import Tree

_BITS = 32
_MASK = 2**_BITS - 1


def common_exponent(values: Iterable[float]) -> int:
    """Return the least e >= 0 for which every value times 2**e is an integer.

    >>> common_exponent([0.75, 3.0]), common_exponent([])
    (2, 0)
    """
    return max((v.as_integer_ratio()[1].bit_length() - 1 for v in set(values)), default=0)


def scaled(values: NDArray[np.float64], exponent: int) -> NDArray[Any]:
    """Return values times 2**exponent as an array of Python integers, of the same shape.

    >>> scaled(np.array([[0.75], [-2.0]]), 2).tolist()
    [[3], [-8]]
    """
    distinct, which = np.unique(values, return_inverse=True)
    result = np.empty(distinct.size, dtype=object)
    for i, value in enumerate(distinct.tolist()):
        numerator, denominator = value.as_integer_ratio()
        result[i] = (numerator << exponent) // denominator
    return result[which].reshape(values.shape)


def limbs(integers: NDArray[Any]) -> NDArray[np.int64]:
    """Split integers into limbs of 32 bits, the lowest first and the highest signed.

    Up to 2**31 such arrays can be added limb by limb in 64 bits; :func:`joined` carries.
    """
    longest = max((abs(v).bit_length() for v in integers.ravel().tolist()), default=0)
    parts = []
    for k in range(count := longest // _BITS + 1):
        part = integers >> (_BITS * k)
        parts.append((part if k == count - 1 else part & _MASK).astype(np.int64))
    return np.stack(parts)


def joined(parts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the integers of (sums of) limbs, as Python integers.

    >>> numbers = np.array([-(2**70), 5], dtype=object)
    >>> joined(limbs(numbers) + limbs(numbers)).tolist() == [-(2**71), 10]
    True
    """
    total = parts[-1].astype(object)
    for part in parts[-2::-1]:
        total = total * (_MASK + 1) + part
    return np.asarray(total, dtype=object)


class ExactSums:
    """The numbers of a model as integers, and their sums.

    exponent: The least e for which all leaves and the base times 2**e are integers.
    leaf_values: Values of the leaves of each tree times 2**exponent.
    base_values: The base times 2**exponent.

    >>> tree = Tree([-1], [0], [0], [[0.75]], (0,))
    >>> exact = ExactSums([tree, tree], [1.0])
    >>> exact.exponent, exact.base_values, exact.add(np.array([[0, 0]])).tolist()
    (2, (4,), [[10]])
    """

    def __init__(self, trees: Sequence[Tree], base: Sequence[float]) -> None:
        start = np.array(base, dtype=np.float64)
        # Many leaves have the same value: each is scaled and split into limbs once.
        parts = [start, *(tree.values.ravel() for tree in trees)]
        distinct, which = np.unique(np.concatenate(parts), return_inverse=True)
        self.exponent = common_exponent(distinct.tolist())
        integers = scaled(distinct, self.exponent)
        ends = np.cumsum([part.size for part in parts])[:-1]
        first, *own = np.split(which.ravel(), ends)
        shapes = [tree.values.shape for tree in trees]
        self.leaf_values = tuple(integers[w].reshape(shape) for w, shape in zip(own, shapes))
        self.base_values: tuple[int, ...] = tuple(integers[first].tolist())
        every = tuple(range(len(base)))
        # A slice is faster than a list of all indices.
        self._outputs = [
            slice(None) if tree.outputs == every else list(tree.outputs) for tree in trees
        ]
        # One split into limbs for all, so that all have as many.
        cut = limbs(integers)
        self._base = cut[:, first]
        self._leaves = [cut[:, w].reshape(-1, *shape) for w, shape in zip(own, shapes)]

    def add(self, leaves: NDArray[np.int32]) -> NDArray[Any]:
        """Return base plus leaves times 2**exponent for rows given by their leaves."""
        sums = np.repeat(self._base[:, np.newaxis], len(leaves), axis=1)
        for i, (outputs, values) in enumerate(zip(self._outputs, self._leaves)):
            sums[:, :, outputs] += values.take(leaves[:, i], axis=1)
        return joined(sums)
