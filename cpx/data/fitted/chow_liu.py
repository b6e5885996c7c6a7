"""Chow-Liu trees: the tree of attributes that keeps the most mutual information."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_ROWS = 4096
_NO_INFORMATION = 1e-9
_NO_WEIGHT = 1e-12


def chow_liu_parents(information: FloatArray) -> npt.NDArray[np.int32]:
    """Return the parents in a maximum spanning forest, -1 for roots.

    Of all distributions in which each attribute depends on at most one other, along a tree, this
    tree has the one of the highest likelihood (Chow and Liu, 1968). Attributes that say nothing
    of each other are not joined; the first attribute of each tree is its root.

    information: The mutual information of each two attributes.

    >>> chow_liu_parents(np.array([[0, 0.1, 0.2], [0.1, 0, 0.3], [0.2, 0.3, 0]])).tolist()
    [-1, 2, 0]
    """
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    # The library looks for the least sum, and takes 0 for no edge.
    joined = np.triu(information, 1) > _NO_INFORMATION
    costs = np.where(joined, information.max() + 1.0 - information, 0.0)
    tree = minimum_spanning_tree(costs)
    parents = np.full(len(information), -1, dtype=np.int32)
    reached = np.zeros(len(information), dtype=bool)
    for a in range(len(information)):
        if not reached[a]:
            order, before = breadth_first_order(tree, a, directed=False)
            reached[order] = True
            parents[order[1:]] = before[order[1:]]
    return parents


def mutual_information(
    states: IntArray, weights: FloatArray, starts: IntArray, prior: FloatArray, pseudo_rows: float
) -> FloatArray:
    """Return the mutual information, in nats, of each two attributes among weighted rows.

    states: The state of each attribute in each row, numbered from ``starts[a]`` on.
    starts: The first state of each attribute.
    prior: Probabilities of all states, attribute by attribute.
    pseudo_rows: Weight of further rows, in which attributes are independent and distributed like
        this.
    """
    total = weights.sum() + pseudo_rows
    some = weights > _NO_WEIGHT
    shares = _pair_counts(states[some], weights[some], starts, len(prior))
    alone = (shares.diagonal() + pseudo_rows * prior) / total
    shares += pseudo_rows * prior[:, None] * prior
    shares /= total
    entropy = np.add.reduceat(-alone * np.log(alone), starts)
    joint = np.add.reduceat(-shares * np.log(shares), starts, axis=0)
    joint = np.add.reduceat(joint, starts, axis=1)
    information = np.maximum(entropy[:, None] + entropy - joint, 0.0)
    np.fill_diagonal(information, 0.0)
    return np.asarray(information)


def _pair_counts(
    states: IntArray, weights: FloatArray, starts: IntArray, n_states: int
) -> FloatArray:
    """Return the weight of the rows that have each two states, shape (S, S)."""
    from scipy.sparse import csr_array

    # The last state of an attribute is where its others are not. Leaving it out of the products
    # makes them four times cheaper where attributes have two states.
    last = np.append(starts[1:], n_states) - 1
    kept = np.setdiff1d(np.arange(n_states), last)
    every, nowhere = len(kept), len(kept) + 1
    column = np.full(n_states, nowhere)
    column[kept] = np.arange(len(kept))
    products = np.zeros((nowhere, nowhere))
    for begin in range(0, len(states), _ROWS):
        chunk = column[states[begin : begin + _ROWS]]
        rows = np.zeros((len(chunk), nowhere + 1))
        rows[np.arange(len(chunk))[:, None], chunk] = 1.0
        rows[:, every] = 1.0
        rows = rows[:, :nowhere]
        products += (rows * weights[begin : begin + _ROWS, None]).T @ rows
    owner = np.searchsorted(starts, kept, side="right") - 1
    line = np.concatenate([kept, last, last[owner]])
    place = np.concatenate([column[kept], np.full(len(last), every), column[kept]])
    sign = np.concatenate([np.ones(len(kept) + len(last)), -np.ones(len(kept))])
    expand = csr_array((sign, (line, place)), shape=(n_states, nowhere))
    counts: FloatArray = expand @ (expand @ products).T
    return np.maximum(counts, 0.0)  # differences may be rounded below 0
