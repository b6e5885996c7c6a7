"""All rows of a distribution, with what a classifier says of them, as each class sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.base import Distribution
from cpx.data.oracle import labels
from cpx.data.samples import Samples

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Labelled:
    """All rows of a distribution by their features, and what a classifier says of them.

    bits (n, d): Their features.
    said (n,): Their labels.
    """

    bits: BoolArray
    said: npt.NDArray[Any]
    _merged: dict[Any, Samples] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, classifier: Any, distribution: Distribution) -> Labelled | None:
        """Ask the classifier about all rows; None where the distribution has no list of them."""
        rows = distribution.population()
        return None if rows is None else cls(rows.bits, labels(classifier, rows.rows))

    def seen_from(self, label: Any, merge: bool = True) -> Samples:
        """Return the rows and which of them have the label; equal ones merged into weights."""
        if merge and label in self._merged:
            return self._merged[label]
        seen = Samples(self.bits, np.asarray(self.said == label, dtype=bool))
        if merge:
            seen = self._merged[label] = seen.merged()
        return seen
