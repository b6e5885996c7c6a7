"""RowOracle: what the search for sufficient sets asks about a row, whatever its model is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowOracle"]


class RowOracle(Protocol):
    """Decides whether columns force the class of a row, with a counterexample where they do not.

    What is what is told at
    :class:`~cpx.models.sufficient_reason.sufficiency.oracle.SufficiencyOracle`, the oracle of tree
    models.
    """

    everything: int
    core: int
    calls: int
    patience: int | None
    restores: bool
    deadline: float | None
    stop: Callable[[], bool] | None

    @property
    def feature(self) -> Sequence[int]:
        """The feature that each place stands for."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def tells(self) -> NDArray[np.int64]:
        """How much the model looks at each feature, for orders."""

    @property
    def changes(self) -> Sequence[int] | None:
        """All minimal changes, where these are known."""

    @property
    def searches(self) -> bool:
        """Whether branch and cut can go on from what it found."""

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""

    def look(self) -> None:
        """Raise Stopped when the time is up."""

    def change(self, free: int, /) -> int | None:
        """Return free places without which the rest is not enough, or None: ``core`` is."""

    def counterexample(self, fixed: Iterable[int], /) -> NDArray[Any] | None:
        """Return a row of another class that agrees with x on these features, or None."""

    def bits(self, features: Iterable[int], /) -> int:
        """Return features as places."""

    def features(self, bits: int, /) -> frozenset[int]:
        """Return places as features."""
