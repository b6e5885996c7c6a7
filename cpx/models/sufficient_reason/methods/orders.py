"""Orders in which deletion leaves out features, and sets that a stricter statement holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.methods.deletion import lightest_last
from cpx.models.sufficient_reason.minimum_subset.form import LossForm, SubsetForm
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped
from cpx.models.sufficient_reason.sufficiency.set_family import places

__all__ = ["ByForm", "SubsetOracle", "few_by_statement", "in_orders"]

# How far orders after the first stray from it. With half of the other features to begin with, of
# what was tried on forests of 11 to 50 trees, this found the smallest majoritary reasons.
_NOISE = 0.5

# Orders by a statement before all rows are asked: they cost little beside these.
_FIRST = 8


class SubsetOracle(Protocol):
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


def in_orders(
    oracle: SubsetOracle,
    weights: NDArray[np.int64],
    start: int,
    required: int,
    seed: int,
    orders: int,
    best: Callable[[], int],
) -> Iterator[tuple[int, list[int]]]:
    """Go through orders of deletion, each with the places that it begins with.

    The first begins with the best set so far, others with it and a random half of the start.
    """
    random = np.random.default_rng(seed)
    for done in range(orders):
        half = int.from_bytes(random.bytes(len(oracle.feature) // 8 + 1), "little")
        kept = best() | (start & half) if done else best()
        noise = _NOISE if done else 0.0
        yield kept, lightest_last(weights, oracle, kept & ~required, random, noise)


def few_by_statement(
    form: SubsetForm, seed: int, stop: Callable[[], bool], orders: int = _FIRST
) -> list[int] | None:
    """Return features that are enough by the stricter statement of a problem, where it has one.

    None can be left out by that statement. Plain arrays decide it, in a fraction of the time that
    all rows of a model take.

    Returns: None where there is no such statement, or what is not forbidden is not enough by it.
    Raises Stopped: When told to stop.
    """
    if form.stricter is None or form.contradicts:
        return None
    oracle = ByForm(form.stricter(), stop)
    best = start = oracle.everything & ~oracle.bits(form.forbidden)
    if not oracle.enough(start):
        return None

    def note(kept: int) -> None:
        nonlocal best
        if form.weights[places(kept)].sum() <= form.weights[places(best)].sum():
            best = kept

    required = oracle.bits(form.required)
    tried = in_orders(oracle, form.weights, start, required, seed, orders, lambda: best)
    for kept, order in tried:
        oracle.shrink(kept, order, note)
    return places(best)


class ByForm:
    """Decides by the plain arrays of a problem; places are its features."""

    def __init__(self, form: LossForm, stop: Callable[[], bool]) -> None:
        from cpx.models.sufficient_reason.methods.deletion_kernels import LossDeletion

        self._deletion, self._stop = LossDeletion(form), stop
        self.everything = (1 << form.n_features) - 1
        self.feature: Sequence[int] = range(form.n_features)
        self.tells = self._deletion.sizes

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
