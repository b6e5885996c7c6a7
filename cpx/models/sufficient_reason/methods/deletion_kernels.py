"""Deletion on plain arrays: drop features while the sum of leaf losses stays within its limit.

For problems whose features are judged by plain arrays
(:class:`~cpx.models.sufficient_reason.minimum_subset.form.LossForm`). How many kept features
exclude each leaf is counted, and the worst leaf that each tree may reach is known; so leaving one
out costs only a look at the leaves that it excludes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import Bytes, Ints, Ints2, kernel

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.minimum_subset.form import LossForm

__all__ = ["LossDeletion"]

# Leaves looked at between two looks at the clock: some milliseconds.
_PLACES = 1 << 22


class LossDeletion:
    """A set of features of a loss form, from which features are left out.

    sizes (n,): How many leaves each feature excludes.

    >>> from cpx.models.sufficient_reason.minimum_subset.form import LossForm
    >>> form = LossForm.of(np.array([[1, 1, 0], [0, 1, 1]], dtype=bool), np.arange(2),
    ...                    [np.array([1, 1])], [0], np.ones(3, dtype=np.int64))
    >>> deletion = LossDeletion(form)
    >>> deletion.begin([0]), deletion.begin([0, 1, 2])
    (False, True)
    >>> deletion.drop([1, 0, 2])
    True
    >>> deletion.kept
    [0, 2]
    """

    def __init__(self, form: LossForm) -> None:
        # By feature, the leaves that it excludes.
        leaf, feature = np.nonzero(form.excludes)
        order = np.argsort(feature, kind="stable")
        self._feature, self._leaves = feature[order], leaf[order].astype(np.int64)
        self.sizes = sizes = np.bincount(feature, minlength=form.n_features).astype(np.int64)
        self._starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        trees, tree = np.unique(form.tree, return_inverse=True)
        self._tree = tree.reshape(-1).astype(np.int64)
        self._slacks = np.array(form.slacks, dtype=np.int64)
        self._losses = np.ascontiguousarray(form.losses)
        shape = len(form.slacks), len(trees)
        self._worst = np.zeros(shape, dtype=np.int64)
        self._total = np.zeros(shape[0], dtype=np.int64)
        self._times = np.zeros(len(tree), dtype=np.int64)
        self._kept = np.zeros(form.n_features, dtype=np.uint8)
        self._state: tuple[NDArray[Any], ...] = self._worst, self._total, self._times, self._kept
        self._begun: list[int] | None = None
        self._first: list[NDArray[Any]] = []
        most = shape[0] * int(sizes.max(initial=0))
        self._undo = np.zeros((2, most), dtype=np.int64)
        self._slice = max(1, _PLACES // max(1, int(sizes.max(initial=0))))

    def begin(self, features: Iterable[int]) -> bool:
        """Keep these features and no others; say whether they hold."""
        chosen = sorted(set(features))
        if chosen == self._begun:  # many orders begin with the same set
            for state, first in zip(self._state, self._first, strict=True):
                state[...] = first
            return bool((self._total <= self._slacks).all())
        self._kept[:] = 0
        self._kept[chosen] = 1
        excluding = self._leaves[self._kept[self._feature] > 0]
        self._times[:] = np.bincount(excluding, minlength=len(self._times))
        self._worst[:] = 0
        reached = np.flatnonzero(self._times == 0)
        for worst, losses in zip(self._worst, self._losses):
            np.maximum.at(worst, self._tree[reached], losses[reached])
        self._total[:] = self._worst.sum(axis=1)
        self._begun, self._first = chosen, [state.copy() for state in self._state]
        return bool((self._total <= self._slacks).all())

    def drop(self, order: Sequence[int], stop: Callable[[], bool] = lambda: False) -> bool:
        """Leave out, one after the other, what is kept and can be left out of a set that holds.

        Returns: False if it was stopped before the end of the order.
        """
        places = np.array(order, dtype=np.int64)
        for first in range(0, len(places), self._slice):
            if stop():
                return False
            _drop(
                self._starts,
                self._leaves,
                self._tree,
                self._losses,
                self._slacks,
                places[first : first + self._slice],
                self._times,
                self._worst,
                self._total,
                self._undo,
                self._kept,
            )
        return True

    @property
    def kept(self) -> list[int]:
        """The features that are kept, in increasing order."""
        kept: list[int] = np.flatnonzero(self._kept).tolist()
        return kept


@kernel
def _drop(
    starts: Ints,
    leaves: Ints,
    tree: Ints,
    losses: Ints2,
    slacks: Ints,
    order: Ints,
    times: Ints,
    worst: Ints2,
    total: Ints,
    undo: Ints2,
    kept: Bytes,
) -> int:
    """Drop the features of ``order`` that are kept and idle.

    starts: Feature j excludes ``leaves[starts[j]:starts[j + 1]]``.
    tree: The tree of each leaf, below T.
    times: How many kept features exclude each leaf; kept up to date, as all below.
    worst: The greatest loss among the reached leaves of each tree.
    total: The sums of ``worst``, within the slacks.
    undo: Space for what to undo: places in ``worst``, and what was there.
    Returns: How many features were dropped.
    """
