"""Inclusion-minimal sufficient reasons, by deletion."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from numpy.typing import ArrayLike

from cpx.methods.reasons.deletion import delete_from_reason
from cpx.support.validation import positive_integer, valid_seed, weight_map
from cpx.trees import TreeModel
from cpx.trees.sufficiency.oracle import Stopped, SufficiencyOracle
from cpx.trees.sufficiency.set_family import places, shuffled

__all__ = ["MinimalReason", "minimal_reason"]


@dataclass(frozen=True)
class MinimalReason:
    """A sufficient reason from which attributes were deleted while it stayed one.

    Attributes
    ----------
    attributes : tuple of int
        Increasing.
    weight : int
        What they weigh, their number when there are no weights.
    minimal : bool
        Whether no attribute can be dropped: not so only when the time was over.
    calls : int
        Sets asked about.
    seconds : float
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

    What a sufficient reason is, says :class:`cpx.methods.reasons.SufficiencyOracle`. The first
    order of deletion begins with the heaviest attributes, and among them with those that the
    fewest nodes test; the others are drawn at random.

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
    start = time.monotonic()
    count, random = positive_integer("orders", orders), Random(valid_seed(seed))
    weight = weight_map(weights, model.n_attributes)
    oracle = SufficiencyOracle.of_row(model, x, time_limit)
    cost = [weight[a] for a in oracle.grid.used]
    best, minimal = oracle.everything, False

    def note(reason: int) -> None:
        nonlocal best, minimal
        if _weight(reason, cost) < _weight(best, cost):
            best, minimal = reason, False

    try:
        for i in range(count):
            order = shuffled(oracle.everything, random)
            if not i:
                used, tests = oracle.grid.used, model.tests
                order.sort(key=lambda place: (-cost[place], tests[used[place]]))
            delete_from_reason(oracle, oracle.everything, order, note)
            minimal = True
    except Stopped:
        pass
    return MinimalReason(
        tuple(sorted(oracle.attributes(best))),
        _weight(best, cost),
        minimal,
        oracle.calls,
        time.monotonic() - start,
    )


def _weight(reason: int, cost: list[int]) -> int:
    return sum(cost[place] for place in places(reason))
