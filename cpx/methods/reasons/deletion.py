"""Inclusion-minimal sets by deletion: elements are left out while the rest is still sufficient.

An oracle decides sets, which are integers whose bits are places of attributes among the used ones
(:meth:`cpx.methods.reasons.SufficiencyOracle.change`); or plain arrays do
(:mod:`~cpx.methods.reasons.deletion_kernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cpx.methods.reasons.deletion_kernels import LossDeletion
from cpx.models.minimum_subset.problem import MinimumSubset
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.trees.sufficiency.oracle import GaveUp, Stopped
from cpx.trees.sufficiency.set_family import places

__all__ = ["Deleting", "SetOracle", "delete_from_change", "delete_from_reason", "deleting"]


class Deleting(Protocol):
    """Decides and shrinks sets of places, the bits of integers, that stand for features."""

    everything: int
    feature: Sequence[int]
    """The feature that each place stands for."""
    tells: NDArray[np.int64]
    """How many tests of the model, or leaves of the statement, are about each feature."""

    def bits(self, features: Iterable[int], /) -> int:
        """Return features as places."""

    def features(self, bits: int, /) -> Iterable[int]:
        """Return places as features."""

    def enough(self, kept: int, /) -> bool:
        """Say whether these places are enough."""

    def shrink(self, kept: int, order: list[int], note: Callable[[int], None], /) -> None:
        """Leave out places in this order, and note what is left."""


class _ByModel:
    """Asks the oracle of a tree model; places are the attributes that the model tests."""

    def __init__(self, problem: SufficientReason, stop: Callable[[], bool]) -> None:
        self._oracle, self._stop = problem.oracle_of_rows(), stop
        self.everything = self._oracle.everything
        self.feature: Sequence[int] = self._oracle.grid.used
        self.bits, self.features = self._oracle.bits, self._oracle.attributes
        trees = problem.features.model.trees
        tested = np.concatenate([tree.attribute[tree.attribute >= 0] for tree in trees])
        self.tells = np.bincount(tested, minlength=problem.n_features)

    def enough(self, kept: int) -> bool:
        with self._stopping():
            return self._oracle.change(self.everything & ~kept) is None

    def shrink(self, kept: int, order: list[int], note: Callable[[int], None]) -> None:
        with self._stopping():
            delete_from_reason(self._oracle, kept, order, note)

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        self._oracle.stop = self._stop
        try:
            yield
        finally:
            self._oracle.stop = None


class _ByForm:
    """Decides by the plain arrays of a problem; places are its features."""

    def __init__(self, problem: MinimumSubset, stop: Callable[[], bool]) -> None:

        self._deletion, self._stop = LossDeletion(problem.form), stop
        self.everything = (1 << problem.n_features) - 1
        self.feature: Sequence[int] = range(problem.n_features)
        self.tells = problem.form.excludes.sum(axis=0)

    def bits(self, features: Iterable[int]) -> int:
        return sum(1 << j for j in features)

    def features(self, bits: int) -> Iterable[int]:
        return places(bits)

    def enough(self, kept: int) -> bool:
        return self._deletion.begin(places(kept))

    def shrink(self, kept: int, order: list[int], note: Callable[[int], None]) -> None:
        self._deletion.begin(places(kept))
        ended = self._deletion.drop(order, self._stop)
        note(self.bits(self._deletion.kept))
        if not ended:
            raise Stopped


def deleting(problem: MinimumSubset, stop: Callable[[], bool]) -> Deleting:
    """Return what decides the sets of a problem; it raises ``Stopped`` when told to stop."""
    if isinstance(problem, SufficientReason) and not problem.stated:
        return _ByModel(problem, stop)
    return _ByForm(problem, stop)


class SetOracle(Protocol):
    """What decides sets of places: :class:`cpx.methods.reasons.SufficiencyOracle` is one."""

    everything: int
    core: int
    stop: Callable[[], bool] | None

    def change(self, free: int, /) -> int | None:
        """Return free places without which the rest is not enough, or None: ``core`` is."""

    def bits(self, features: Iterable[int], /) -> int:
        """Return features as places."""

    def attributes(self, bits: int, /) -> frozenset[int]:
        """Return places as features."""


def delete_from_reason(
    oracle: SetOracle, reason: int, order: Sequence[int], note: Callable[[int], None]
) -> tuple[int, list[int]]:
    """Drop places of a sufficient reason until none can be dropped.

    Several are dropped at once while that goes well: the number doubles after each success
    and is halved after each failure.

    Parameters
    ----------
    oracle : SetOracle
    reason : int
        A sufficient reason; this is not checked.
    order : sequence of int
        The places that may be dropped, the first to be tried first.
    note : callable
        Called with each smaller reason.

    Returns
    -------
    int
        A sufficient reason; without any one place of ``order`` it is none, unless the oracle
        gave up on that.
    list of int
        Changes met on the way.

    Raises
    ------
    Stopped
        See :meth:`SufficiencyOracle.counterexample`.
    """
    waiting = [place for place in order if reason >> place & 1]
    kept = reason & ~sum(1 << place for place in waiting)
    changes = []
    chunk = 1
    while waiting:
        tried = waiting[:chunk]
        dropped = sum(1 << place for place in tried)
        try:
            change = oracle.change(oracle.everything & ~(reason & ~dropped))
        except GaveUp:
            change = 0
        if change is None:
            reason = kept | oracle.core
            waiting = [place for place in waiting[chunk:] if reason >> place & 1]
            chunk *= 2
            note(reason)
        elif len(tried) == 1:
            changes += [change] if change else []
            del waiting[0]
        else:
            chunk = len(tried) // 2
    return reason, changes


def delete_from_change(
    oracle: SetOracle, change: int, order: Sequence[int], always: int = 0
) -> int:
    """Restore places of a change to x until none can be restored.

    Parameters
    ----------
    oracle : SetOracle
    change : int
        Some counterexample differs from x in some of these places, and in no others.
    order : sequence of int
        The places that may be restored, the first to be tried first.
    always : int
        Places that may change in any case; they are not in the answer.

    Returns
    -------
    int
        A change; without any one place of ``order`` it is none, unless the oracle gave up on
        that.

    Raises
    ------
    Stopped
        See :meth:`SufficiencyOracle.counterexample`.
    """
    freed, needed = change & ~always, 0
    for place in order:
        bit = 1 << place
        if freed & bit and not needed & bit:
            try:
                found = oracle.change(freed & ~bit | always)
            except GaveUp:
                found = None
            if found is None:
                needed |= bit
            else:
                freed &= found
    return freed
