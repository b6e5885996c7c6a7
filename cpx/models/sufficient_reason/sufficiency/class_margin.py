"""The margin of one class over another: their score difference as trees over positions.

A :class:`ClassMargin` has all that the search reads, as plain arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import Ints, Shorts, Words
from cpx.models.sufficient_reason.sufficiency.grid import Grid
from cpx.trees import TreeModel

__all__ = ["ClassMargin", "class_margin", "differences"]


# Sums of so many bits, and half of it again, are safe in 64 bits.
_BITS = 61


class Arrays(NamedTuple):
    """What the kernels read of a margin, and call t; a named tuple, as kernels take."""

    values: Ints
    base: Ints
    tree_word: Ints
    entry_of: Ints
    entry_tree: Ints
    segment_of: Shorts
    segment_at: Ints
    mask_at: Ints
    starts: Ints
    starts_at: Ints
    below: Words
    above: Words
    here: Words
    absent: Words
    absent_at: Ints
    last: Ints
    tested: Ints
    tests_at: Ints
    tests: Ints


@dataclass(frozen=True)
class ClassMargin:
    """The score of a rival less the score of the class of x, as arrays for the search.

    Totals are integers. They are exact (``slack`` 0), or were divided by a power of two and
    rounded up, each tree and the base, so that they are upper bounds that exceed the exact
    ones by less than ``slack``.

    need: The rival wins where the total is at least this: 0 or 1, as ties are broken.
    arrays:
        What the kernels call t:

        - values (64 W,) int64, of each bit; the leaves of a tree from the greatest value down;
        - base (1,) int64;
        - tree_word (T + 1,) int64, the first word of each tree;
        - entry_of (A + 1,), entry_tree (E,): an entry is a tree and an attribute it tests, and
          these are sorted by attribute;
        - segment_of, segment_at (E,): the segment of each position, from ``segment_at[e]`` in
          steps of the entries of the attribute; a segment is a run of positions that the tree does
          not tell apart;
        - mask_at (E,): where the masks of an entry begin;
        - starts, starts_at (E,): the first position of each segment, from ``starts_at[e]``;
        - below, above: masks of the leaves that begin at or before a segment, and of those
          that end at or after it;
        - here: masks of the leaves that a segment reaches: both together, but for leaves whose
          positions have gaps;
        - absent, absent_at (E,): masks of the leaves that a missing value reaches;
        - last (64 W,) int64, of each bit the last one of the same tree and value;
        - tested (E,), the attribute of each entry;
        - tests_at (T + 1,), tests (E,): the entries of each tree.
    full: The leaves that some position reaches.
    trees: Where these trees are in the model; the others give all rows the same.
    """

    need: int
    slack: int
    arrays: Arrays
    full: Words
    trees: tuple[int, ...]


def differences(model: TreeModel, own: int, rival: int) -> tuple[list[NDArray[Any]], int, int]:
    """Return the value of each leaf for the rival, the base, and the least winning total."""
    exact = model.exact
    if model.decision != "first":
        sign = 1 if rival == 1 else -1
        least = {("positive", 1): 1, ("positive", 0): 0, ("nonnegative", 1): 0}
        need = least.get((model.decision, rival), 1)
        values = [sign * v[:, 0] for v in exact.leaf_values]
        return values, sign * exact.base_values[0], need
    values = []
    for tree, leaves in zip(model.trees, exact.leaf_values):
        value = np.zeros(len(leaves), dtype=object)
        for output, sign in ((rival, 1), (own, -1)):
            if output in tree.outputs:
                value = value + sign * leaves[:, tree.outputs.index(output)]
        values.append(value)
    return values, exact.base_values[rival] - exact.base_values[own], int(rival > own)


def _in_words(values: Sequence[NDArray[Any]], base: int) -> tuple[list[Any], int, int]:
    """Return integers whose sums fit into 64 bits, and what they are too much by at most."""
    greatest = abs(base) + sum(max(abs(v) for v in value.tolist()) for value in values)
    shift = max(greatest.bit_length() - _BITS, 0)
    if not shift:
        return [v.astype(np.int64) for v in values], base, 0
    up = [(-((-v) >> shift)).astype(np.int64) for v in values]
    return up, -((-base) >> shift), len(values) + 1


def _packed(rows: NDArray[np.bool_], words: int) -> Words:
    """Return the rows as words, bit b of word k being column 64 k + b; (n, words)."""
    packed = np.zeros((len(rows), 8 * words), dtype=np.uint8)
    packed[:, : -(-rows.shape[1] // 8)] = np.packbits(rows, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def class_margin(model: TreeModel, grid: Grid, own: int, rival: int) -> ClassMargin:
    """Return the margin of a rival class over another one.

    grid: Of the model.
    own, rival: Indices of classes.
    """
    values, base, need = differences(model, own, rival)
    small, base, slack = _in_words(values, base)
    tree_word, full, by_bit, last, trees = [0], [], [], [], []
    entries: list[list[tuple[int, Words, Words, Words, Words, Any, Any]]] = [[] for _ in grid.used]
    for tree, (value, reach) in enumerate(zip(small, grid.trees)):
        if not reach.attributes or value.min() == value.max():
            base += int(value[0])
            continue
        trees.append(tree)
        order = np.argsort(-value, kind="stable")
        words = -(-len(value) // 64)
        bits = np.zeros(64 * words, dtype=np.int64)
        bits[: len(value)] = ordered = value[order]
        by_bit.append(bits)
        ends = np.zeros(64 * words, dtype=np.int64)
        ends[: len(value)] = np.searchsorted(-ordered, -ordered, side="right") - 1
        last.append(64 * tree_word[-1] + ends)
        full.append(_packed(reach.reachable[np.newaxis, order], words)[0])
        for entry in reach.attributes:
            below = _packed(entry.below(order), words).ravel()
            above = _packed(entry.above(order), words).ravel()
            gaps = entry.gaps
            here = below & above if gaps is None else _packed(gaps[:, order], words).ravel()
            entries[entry.attribute].append(
                (
                    len(tree_word) - 1,
                    below,
                    above,
                    here,
                    _packed(entry.absent[np.newaxis, order], words)[0],
                    entry.starts,
                    entry.segment_of,
                )
            )
        tree_word.append(tree_word[-1] + words)
    flat = [entry for group in entries for entry in group]
    lengths = [sum(len(entry[6]) for entry in group) for group in entries]
    segment_at = [at + np.arange(len(group)) for group, at in zip(entries, _offsets(lengths))]
    segment_of = [
        np.transpose([entry[6] for entry in group]).ravel() for group in entries if group
    ]
    tree_of = np.array([entry[0] for entry in flat], dtype=np.int64)
    arrays = Arrays(
        _joined(by_bit, np.int64),
        np.array([base], dtype=np.int64),
        np.array(tree_word, dtype=np.int64),
        np.append(_offsets([len(group) for group in entries]), len(flat)).astype(np.int64),
        tree_of,
        _joined(segment_of, np.int32),
        _joined(segment_at, np.int64),
        _offsets([len(entry[1]) for entry in flat]),
        _joined([entry[5] for entry in flat], np.int64),
        _offsets([len(entry[5]) for entry in flat]),
        _joined([entry[1] for entry in flat], np.uint64),
        _joined([entry[2] for entry in flat], np.uint64),
        _joined([entry[3] for entry in flat], np.uint64),
        _joined([entry[4] for entry in flat], np.uint64),
        _offsets([len(entry[4]) for entry in flat]),
        _joined(last, np.int64),
        np.repeat(np.arange(len(entries)), [len(group) for group in entries]),
        np.searchsorted(np.sort(tree_of), np.arange(len(tree_word))),
        np.argsort(tree_of, kind="stable"),
    )
    return ClassMargin(need, slack, arrays, _joined(full, np.uint64), tuple(trees))


def _offsets(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)[:-1]


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=dtype), *parts]).astype(dtype)
