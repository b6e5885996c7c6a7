"""The labelled instances, and a decision set with what it covers of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cpx.models.decision_set.input_space import Domain

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


class Evidence:
    """Real instances and, after them, the synthetic ones, with their labels.

    values: The real instances, as :meth:`Domain.values` has them.
    max_queries: How many synthetic instances can be added.
    n_real, size: Real instances; all instances so far.
    positive_weight: What a positive instance counts, a negative one counting 1.
    """

    def __init__(
        self, domain: Domain, values: FloatArray, labels: BoolArray, max_queries: int
    ) -> None:
        self.domain = domain
        self.n_real = len(values)
        self.size = 0
        self.positive_weight = 1.0
        points = domain.coordinates(values)
        total = self.n_real + max_queries
        self._values = np.empty((total, values.shape[1]))
        self._cells = np.empty((values.shape[1], total), dtype=np.intp)
        self._points = np.empty((total, points.shape[1]), dtype=np.float32)
        self._labels = np.empty(total, dtype=bool)
        self.add(values, labels)

    def add(self, values: FloatArray, labels: BoolArray) -> None:
        """Append labelled instances."""
        new = slice(self.size, self.size + len(values))
        self._values[new] = values
        self._cells[:, new] = self.domain.cells(values).T
        self._points[new] = self.domain.coordinates(values)
        self._labels[new] = labels
        self.size = new.stop

    @property
    def values(self) -> FloatArray:
        """The instances, shape (size, m)."""
        return self._values[: self.size]

    @property
    def cells(self) -> npt.NDArray[np.intp]:
        """Their cells, one row per attribute: shape (m, size)."""
        return self._cells[:, : self.size]

    @property
    def points(self) -> npt.NDArray[np.float32]:
        """Their coordinates, in which distances are measured, shape (size, c)."""
        return self._points[: self.size]

    @property
    def labels(self) -> BoolArray:
        """Which are positive, shape (size,)."""
        return self._labels[: self.size]

    @property
    def weights(self) -> FloatArray:
        """What each counts, shape (size,)."""
        return np.where(self.labels, self.positive_weight, 1.0)

    @property
    def gains(self) -> FloatArray:
        """What it is worth to cover each, shape (size,): negative where its label is."""
        return np.where(self.labels, self.positive_weight, -1.0)

    @property
    def total(self) -> float:
        """The weight of all instances."""
        return float(self.weights.sum())

    def misses(self, mask: BoolArray, first: int = 0) -> npt.NDArray[np.int8]:
        """Return how many conditions of a rule each instance from ``first`` on violates."""
        count = np.zeros(self.size - first, dtype=np.int8)
        for a in self.domain.constrained(mask):
            count += ~mask[self.cells[a, first:]]
        return count

    def covered(self, mask: BoolArray, first: int = 0) -> BoolArray:
        """Return which instances from ``first`` on satisfy a rule."""
        return np.asarray(self.misses(mask, first) == 0)


class State:
    """A decision set, and what each rule covers of the evidence.

    masks: The rules.
    misses: How many conditions of each rule each instance violates.
    count: How many rules cover each instance.
    """

    def __init__(self, evidence: Evidence, masks: Sequence[BoolArray] = ()) -> None:
        self.evidence = evidence
        self.masks: list[BoolArray] = []
        self.misses: list[npt.NDArray[np.int8]] = []
        self.count = np.zeros(evidence.size, dtype=np.int16)
        for mask in masks:
            self.append(mask)

    def append(self, mask: BoolArray) -> None:
        """Add a rule."""
        misses = self.evidence.misses(mask)
        self.masks.append(mask)
        self.misses.append(misses)
        self.count += misses == 0

    def remove(self, i: int) -> None:
        """Remove rule i."""
        self.count -= self.misses[i] == 0
        del self.masks[i], self.misses[i]

    def replace(self, i: int, mask: BoolArray) -> None:
        """Put another rule in the place of rule i."""
        misses = self.evidence.misses(mask)
        self.count += misses == 0
        self.count -= self.misses[i] == 0
        self.masks[i], self.misses[i] = mask, misses

    def catch_up(self) -> None:
        """Take in the instances that the evidence got since."""
        first = len(self.count)
        new = [self.evidence.misses(mask, first) for mask in self.masks]
        self.misses = [np.append(old, more) for old, more in zip(self.misses, new)]
        covered = np.zeros(self.evidence.size - first, dtype=np.int16)
        for more in new:
            covered += more == 0
        self.count = np.append(self.count, covered)

    @property
    def right(self) -> BoolArray:
        """Which instances the decision set gives the label of the black box."""
        return np.asarray((self.count > 0) == self.evidence.labels)

    @property
    def right_weight(self) -> float:
        """Their weight."""
        return float(self.evidence.weights[self.right].sum())
