"""Sets from which features are left out: by the oracle of a model, or by plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cpx.methods.reasons.deletion_kernels import Dropping
from cpx.methods.reasons.shrink import shrunk_reason
from cpx.models.minimum_subset.problem import SmallestSet
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.trees.sufficiency.oracle import Stopped
from cpx.trees.sufficiency.set_family import places

__all__ = ["Deleting", "deleting"]


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
            shrunk_reason(self._oracle, kept, order, note)

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        self._oracle.stop = self._stop
        try:
            yield
        finally:
            self._oracle.stop = None


class _ByForm:
    """Decides by the plain arrays of a problem; places are its features."""

    def __init__(self, problem: SmallestSet, stop: Callable[[], bool]) -> None:

        self._dropping, self._stop = Dropping(problem.form), stop
        self.everything = (1 << problem.n_features) - 1
        self.feature: Sequence[int] = range(problem.n_features)
        self.tells = problem.form.excludes.sum(axis=0)

    def bits(self, features: Iterable[int]) -> int:
        return sum(1 << j for j in features)

    def features(self, bits: int) -> Iterable[int]:
        return places(bits)

    def enough(self, kept: int) -> bool:
        return self._dropping.begin(places(kept))

    def shrink(self, kept: int, order: list[int], note: Callable[[int], None]) -> None:
        self._dropping.begin(places(kept))
        ended = self._dropping.drop(order, self._stop)
        note(self.bits(self._dropping.kept))
        if not ended:
            raise Stopped


def deleting(problem: SmallestSet, stop: Callable[[], bool]) -> Deleting:
    """Return what decides the sets of a problem; it raises ``Stopped`` when told to stop."""
    if isinstance(problem, SufficientReason) and not problem.stated:
        return _ByModel(problem, stop)
    return _ByForm(problem, stop)
