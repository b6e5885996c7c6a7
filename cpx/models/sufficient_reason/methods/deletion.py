"""Inclusion-minimal sets by deletion: elements are left out while the rest is still sufficient.

An oracle decides sets, which are integers whose bits are places of attributes among the used ones
(:meth:`cpx.models.sufficient_reason.methods.SufficiencyOracle.change`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.sufficiency.oracle import GaveUp
from cpx.models.sufficient_reason.sufficiency.set_family import places

__all__ = [
    "SetOracle",
    "delete_from_change",
    "delete_from_reason",
    "lightest_last",
]


class Telling(Protocol):
    """What says how much the model looks at features."""

    @property
    def feature(self) -> Sequence[int]:
        """The feature that each place stands for."""

    @property
    def tells(self) -> NDArray[np.int64]:
        """How many tests of the model, or leaves of the statement, are about each feature."""


class SetOracle(Protocol):
    """What decides sets of places: :class:`cpx.models.sufficient_reason.methods.SufficiencyOracle`
    is one.
    """

    everything: int
    core: int
    stop: Callable[[], bool] | None

    def change(self, free: int, /) -> int | None:
        """Return free places without which the rest is not enough, or None: ``core`` is."""

    def bits(self, features: Iterable[int], /) -> int:
        """Return features as places."""

    def features(self, bits: int, /) -> frozenset[int]:
        """Return places as features."""


def lightest_last(
    weights: NDArray[Any],
    oracle: Telling,
    some: int,
    random: np.random.Generator,
    noise: float = 0.0,
) -> list[int]:
    """Order places: what weighs most and tells least comes first, with so much noise.

    weights: Of the features.
    """
    order = random.permutation(np.array(places(some), dtype=np.int64))
    features = np.array(oracle.feature, dtype=np.int64)[order]
    own, tells = weights[features], oracle.tells[features]
    if noise:
        keys = np.log(tells + 0.5) - np.log(own) + noise * random.standard_normal(len(order))
        ranks = np.argsort(keys)
    else:
        ranks = np.lexsort((tells, -own))
    first: list[int] = order[ranks].tolist()
    return first


def delete_from_reason(
    oracle: SetOracle, reason: int, order: Sequence[int], note: Callable[[int], None]
) -> tuple[int, list[int]]:
    """Drop places of a sufficient reason until none can be dropped.

    A run of places is dropped at once while that goes well: its length doubles after each success
    and is halved after each failure.

    reason: A sufficient reason; this is not checked.
    order: The places that may be dropped, the first to be tried first.
    note: Called with each smaller reason.
    Returns: A sufficient reason; without any one place of ``order`` it is none, unless the oracle
        gave up on that.
    Returns: Changes met on the way.
    Raises Stopped: See :meth:`SufficiencyOracle.counterexample`.
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


def delete_from_change(oracle: SetOracle, change: int, order: Sequence[int]) -> int:
    """Restore places of a change to x until none can be restored.

    change: Some counterexample differs from x in some of these places, and in no others.
    order: The places that may be restored, the first to be tried first.
    Returns: A change; without any one place of ``order`` it is none, unless the oracle gave up on
        that.
    Raises Stopped: See :meth:`SufficiencyOracle.counterexample`.
    """
    freed, needed = change, 0
    for place in order:
        bit = 1 << place
        if freed & bit and not needed & bit:
            try:
                found = oracle.change(freed & ~bit)
            except GaveUp:
                found = None
            if found is None:
                needed |= bit
            else:
                freed &= found
    return freed
