"""Inclusion-minimal sets by deletion: elements are left out while the rest is still sufficient.

An oracle decides sets, which are integers whose bits are places of attributes among the used ones
(:meth:`cpx.models.sufficient_reason.methods.SufficiencyOracle.change`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Protocol

from numpy.typing import ArrayLike

from cpx.models.sufficient_reason.sufficiency.oracle import GaveUp, Stopped, SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.set_family import places, shuffled
from cpx.support.validation import positive_integer, valid_seed, weight_map
from cpx.trees import TreeModel
from cpx.trees.hold import hold_reason

__all__ = [
    "MinimalReason",
    "SetOracle",
    "delete_from_change",
    "delete_from_reason",
    "minimal_reason",
]


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

    def attributes(self, bits: int, /) -> frozenset[int]:
        """Return places as features."""


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


@dataclass(frozen=True)
class MinimalReason:
    """A sufficient reason from which attributes were deleted while it stayed one.

    attributes: Increasing.
    weight: What they weigh, their number when there are no weights.
    minimal: Whether no attribute can be dropped: not so only when the time was over.
    calls: Sets asked about.
    """

    attributes: tuple[int, ...]
    weight: int
    minimal: bool
    calls: int
    seconds: float


def minimal_reason(
    model: TreeModel,
    x: ArrayLike,
    *,
    weights: Mapping[int, int] | Iterable[int] | None = None,
    orders: int = 1,
    time_limit: float | None = None,
    seed: int = 0,
) -> MinimalReason:
    """Find a sufficient reason that needs each of its attributes, by deletion.

    What a sufficient reason is, says
    :class:`cpx.models.sufficient_reason.methods.SufficiencyOracle`. The first order of deletion
    begins with the heaviest attributes, and among them with those that the fewest nodes test; the
    others are drawn at random.

    Parameters
    ----------
    model : TreeModel
    x : (d,) array of numbers
    weights : mapping or sequence of d positive integers, optional
        See :func:`minimum_reason`.
    orders : int
        How many orders of deletion are tried; the lightest reason is returned.
    time_limit : float, optional
        Seconds after which the best reason so far is returned, minimal or not.
    seed : int
        Of the random orders.

    Returns
    -------
    MinimalReason

    Raises
    ------
    DataError, InvalidInstance, InvalidOption
        When x, the weights or another argument makes no sense.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from cpx.trees import read_model
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    >>> found = minimal_reason(read_model(forest), X[50])
    >>> found.weight, found.minimal
    (2, True)
    """
    count, random = positive_integer("orders", orders), Random(valid_seed(seed))
    weight = weight_map(weights, model.n_attributes)
    oracle = SufficiencyOracle.of_row(model, x, time_limit)
    cost = [weight[a] for a in oracle.grid.used]
    best, minimal = oracle.everything, False

    def note(reason: int) -> None:
        nonlocal best, minimal
        if _weight(reason, cost) < _weight(best, cost):
            best, minimal = reason, False

    with suppress(Stopped):
        for i in range(count):
            order = shuffled(oracle.everything, random)
            if not i:
                used, tests = oracle.grid.used, model.tests
                order.sort(key=lambda place: (-cost[place], tests[used[place]]))
            delete_from_reason(oracle, oracle.everything, order, note)
            minimal = True
    attributes = tuple(sorted(oracle.attributes(best)))
    hold_reason(model, x, attributes)
    return MinimalReason(
        attributes,
        _weight(best, cost),
        minimal,
        oracle.calls,
        oracle.seconds,
    )


def _weight(reason: int, cost: list[int]) -> int:
    return sum(cost[place] for place in places(reason))
