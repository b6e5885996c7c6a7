"""What mixtures of trees and circuits share: exact probabilities of events, and draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.row_checks import agreement, checked_masks
from cpx.errors import DataError


class ExactDistribution(ABC):
    """A distribution of states: A attributes, of which number a has K_a states.

    Events are masks: for each attribute an array of bool of shape (K_a,), or None for all states.
    """

    cardinalities: tuple[int, ...]

    @abstractmethod
    def _exactly(self, asked: Mapping[int, npt.NDArray[np.bool_]]) -> Fraction:
        """Return the exact probability that these attributes are in their masks."""

    @abstractmethod
    def sample_event(
        self, m: int, masks: Sequence[Any], rng: np.random.Generator
    ) -> npt.NDArray[np.int32]:
        """Draw m rows of codes given that every attribute is in its mask."""

    def exact_marginal(self, x: npt.ArrayLike, S: Iterable[int]) -> Fraction:
        """Return the exact probability that the attributes in S have the states of x."""
        return self.exact_event_probability(agreement(x, S, self.cardinalities))

    def exact_event_probability(self, masks: Sequence[Any]) -> Fraction:
        """Return the exact probability that every attribute is in its mask.

        Parameters
        ----------
        masks : sequence of A arrays of bool of shape (K_a,), or None
        """
        asked = checked_masks(masks, self.cardinalities)
        if any(mask.ndim != 1 for mask in asked.values()):
            raise DataError("masks must be of one event here, arrays of one dimension")
        return self._exactly(asked)

    def sample(self, m: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Draw m rows of codes, shape (m, A)."""
        return self.sample_event(m, [None] * len(self.cardinalities), rng)

    def sample_given(
        self, m: int, x: npt.ArrayLike, S: Iterable[int], rng: np.random.Generator
    ) -> npt.NDArray[np.int32]:
        """Draw m rows of codes that have the states of x in the attributes S."""
        return self.sample_event(m, agreement(x, S, self.cardinalities), rng)
