"""Minimum subsets of features as plain arrays: what a set must exclude, and what it may lose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.bits import minimal_sets
from cpx.errors import InvalidInstance

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.sufficiency.row_oracle import RowOracle

_MOST_BITS = 62


@dataclass(frozen=True, eq=False)
class LossForm:
    """A problem to choose features of least weight, as plain arrays.

    A leaf is reached unless a chosen feature excludes it. By each requirement, a tree loses
    the greatest loss among its leaves that are reached, and nothing when none is. A set of
    features holds when by each requirement all trees together lose no more than the slack.

    Minimise the weight of a set that holds, contains ``required`` and avoids ``forbidden``.

    Attributes
    ----------
    excludes : ndarray of bool, shape (N, n)
        Whether feature j excludes leaf l.
    tree : ndarray of int64, shape (N,)
        The tree of each leaf, not decreasing.
    losses : ndarray of int64, shape (R, N)
        Not negative; a loss above the slack of its requirement is the slack plus 1.
    slacks : tuple of R integers
        A negative slack is kept by no set.
    weights : ndarray of int64, shape (n,)
        Positive.
    required, forbidden : tuple of int
        Features that must, and must not, be chosen.
    """

    excludes: NDArray[np.bool_]
    tree: NDArray[np.int64]
    losses: NDArray[np.int64]
    slacks: tuple[int, ...]
    weights: NDArray[np.int64]
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        excludes: NDArray[np.bool_],
        tree: NDArray[np.int64],
        losses: Sequence[NDArray[Any]],
        slacks: Sequence[int],
        weights: NDArray[np.int64],
        required: tuple[int, ...] = (),
        forbidden: tuple[int, ...] = (),
    ) -> LossForm:
        """Return the form of exact losses, which may be of any size, as small as it gets.

        Losses are cut off above the slack and divided by their greatest common divisor, and
        leaves without a loss are left out: the same sets hold.

        Examples
        --------
        >>> form = LossForm.of(np.eye(3, dtype=bool), np.arange(3),
        ...                    [np.array([4, 10**30, 0])], [6], np.ones(3, dtype=np.int64))
        >>> form.losses.tolist(), form.slacks, form.excludes.shape
        ([[1, 2]], (1,), (2, 3))
        """
        rows = [reduced(row, slack) for row, slack in zip(losses, slacks, strict=True)]
        trees = len(set(tree.tolist()))
        for _, most in rows:
            if most.bit_length() + trees.bit_length() > _MOST_BITS:
                raise InvalidInstance(
                    f"losses of {trees} trees up to {most} do not add up in {_MOST_BITS} bits"
                )
        table = np.array([row for row, _ in rows], dtype=np.int64).reshape(len(rows), len(tree))
        some = table.any(axis=0)
        return cls(
            excludes[some],
            tree[some],
            table[:, some],
            tuple(most for _, most in rows),
            weights,
            required,
            forbidden,
        )

    @property
    def n_features(self) -> int:
        """Number n of features."""
        return len(self.weights)

    # ------------------------------------------------------------- measuring

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.diff(self.tree, prepend=-1)).astype(np.int64)

    def excluded(self, chosen: Iterable[int]) -> NDArray[np.bool_]:
        """Say of each leaf whether the features exclude it, shape (N,)."""
        return np.asarray(self.excludes[:, list(chosen)].any(axis=1), dtype=np.bool_)

    def lost(self, excluded: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return what all trees together lose, by requirement, shape (R,)."""
        if not len(self.tree):
            return np.zeros(len(self.slacks), dtype=np.int64)
        reached = np.where(excluded, 0, self.losses)
        worst = np.maximum.reduceat(reached, self._starts, axis=1)
        return np.asarray(worst.sum(axis=1), dtype=np.int64)

    def keeps(self, excluded: NDArray[np.bool_]) -> bool:
        """Say whether every slack is kept when exactly these leaves are excluded."""
        return bool((self.lost(excluded) <= np.array(self.slacks, dtype=np.int64)).all())

    def holds(self, chosen: Iterable[int]) -> bool:
        """Say whether a set of features holds, ``required`` and ``forbidden`` aside."""
        return self.keeps(self.excluded(chosen))

    # ------------------------------------------------------ for the encodings

    @cached_property
    def essential(self) -> LossForm:
        """The form without leaves that others speak for; the same sets hold.

        A leaf goes when all that exclude some leaf that must be excluded exclude it too, or all
        that exclude a leaf of the same tree by which as much is lost. Not for sets of
        excluded leaves that no features exclude.

        Examples
        --------
        >>> form = LossForm.of(np.array([[1, 1], [0, 1]], dtype=bool), np.zeros(2, dtype=int),
        ...                    [np.array([1, 2])], [2], np.ones(2, dtype=np.int64))
        >>> form.essential.excludes.tolist(), form.essential.losses.tolist()
        ([[False, True]], [[2]])
        """
        must = np.flatnonzero(self.must_exclude)
        must = must[minimal_sets(self.excludes[must])]
        free = np.flatnonzero(~self.must_exclude)
        for leaf in must:
            free = free[(self.excludes[leaf] & ~self.excludes[free]).any(axis=1)]
        cuts = np.flatnonzero(np.diff(self.tree[free])) + 1
        parts = [
            part[minimal_sets(self.excludes[part], self.losses[:, part])]
            for part in np.split(free, cuts)
        ]
        some = np.sort(np.concatenate([must, *parts]))
        return replace(
            self, excludes=self.excludes[some], tree=self.tree[some], losses=self.losses[:, some]
        )

    @cached_property
    def must_exclude(self) -> NDArray[np.bool_]:
        """The leaves that alone lose more than the slack of a requirement, shape (N,)."""
        slacks = np.array(self.slacks, dtype=np.int64).reshape(-1, 1)
        return np.asarray((self.losses > slacks).any(axis=0))

    @cached_property
    def groups(self) -> tuple[tuple[NDArray[np.int64], ...], ...]:
        """For each requirement, the leaves of each tree that may be reached at a loss.

        Without those that must be excluded; empty for a requirement that is then kept
        whatever is chosen.
        """
        groups = []
        for row, slack in zip(self.losses, self.slacks):
            free = np.flatnonzero((row > 0) & ~self.must_exclude)
            cuts = np.flatnonzero(np.diff(self.tree[free])) + 1
            parts = tuple(part for part in np.split(free, cuts) if part.size)
            worst = sum(int(row[part].max()) for part in parts)
            groups.append(parts if slack < worst else ())
        return tuple(groups)


@dataclass(frozen=True, eq=False)
class SubsetForm:
    """A problem to choose features of least weight that are enough, by what decides sets.

    weights (n,): Positive.
    required, forbidden: Features that must, and must not, be chosen.
    arrays: What decides sets as plain arrays, where the problem has a statement.
    oracle: Where all rows of a tree model decide, makes what asks the model; a solve begins with a
        new one, so that it gives the same answer each time.
    stricter: Where all rows decide, makes plain arrays of a definition that asks for more, if one
        has them: what is enough by them is enough.
    """

    weights: NDArray[np.int64]
    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    arrays: LossForm | None
    oracle: Callable[[], RowOracle] | None
    stricter: Callable[[], LossForm] | None = None

    @property
    def contradicts(self) -> bool:
        """Whether a required feature is forbidden."""
        return not set(self.required).isdisjoint(self.forbidden)


def reduced(losses: NDArray[Any], slack: int) -> tuple[NDArray[Any], int]:
    """Return losses and slack that mean the same, as small as they get.

    losses (N,): Integers, also of any size.

    >>> losses, slack = reduced(np.array([4, 10**30, 0]), 6)
    >>> losses.tolist(), slack
    ([1, 2, 0], 1)
    """
    kept = losses <= max(slack, 0)
    divisor = int(np.gcd.reduce(losses[kept], initial=0))
    most = slack // divisor if divisor else min(slack, 0)
    return np.where(kept, losses // (divisor or 1), max(most, 0) + 1), most


def ceiling(a: int, b: int) -> int:
    """Return a / b rounded up, b > 0."""
    return -(-a // b)
