"""Weights of rows, counted in whole parts so that sums of them are exact."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.weights import MAX_TOTAL_WEIGHT
from cpx.errors import DataError, shown

__all__ = ["RowWeights"]

_PARTS = 2**30  # of the sum of weights that have no common unit large enough to count in


@dataclass(frozen=True, eq=False)
class RowWeights:
    """How much rows count.

    kept: Rows with a weight above 0; the others are left out of everything.
    counts: Of each row that is kept, its weight in units.
    unit: Weight that is counted as 1.

    >>> weights = RowWeights.of([1, 0, 2.5], 3)
    >>> weights.kept, weights.counts, weights.unit
    (array([ True, False,  True]), array([2, 5]), Fraction(1, 2))
    """

    kept: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.int64]
    unit: Fraction = Fraction(1)

    @classmethod
    def of(cls, sample_weight: Any, rows: int) -> RowWeights:
        """Check weights as scikit-learn takes them.

        Whole weights are counted as they are. Others are decimal numbers, as they are printed,
        and counted in the largest unit in which all are whole; where their sum is more than 2**30
        of these units they are rounded to parts of it, 2**30 in all, and at least to one part.

        sample_weight: 1 each when not given.
        rows: Number of weights that is right.
        Raises DataError: For another shape, negative, infinite or missing weights, for none above
            0, and for whole ones with a sum above 2**40.
        """
        if sample_weight is None:
            return cls(np.ones(rows, dtype=bool), np.ones(rows, dtype=np.int64))
        given = _checked(sample_weight, rows)
        kept = given > 0
        weights = given[kept]
        if not weights.size:
            raise DataError("sample_weight is zero for every row: there is nothing to learn from")
        if (weights == np.floor(weights)).all():
            if weights.sum() > MAX_TOTAL_WEIGHT:
                raise DataError(
                    f"sample_weight has the sum {weights.sum():g}, at most {MAX_TOTAL_WEIGHT} is "
                    "allowed: divide the weights"
                )
            return cls(kept, weights.astype(np.int64))
        exact = [Fraction(repr(float(weight))) for weight in weights]
        unit = _unit(exact)
        if unit is None:
            unit = sum(exact, Fraction(0)) / _PARTS
        counts = [max(1, round(weight / unit)) for weight in exact]
        return cls(kept, np.array(counts, dtype=np.int64), unit)

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The weights of the rows that are kept."""
        return np.asarray(self.counts * float(self.unit), dtype=np.float64)


def _checked(sample_weight: Any, rows: int) -> npt.NDArray[np.float64]:
    from sklearn.utils import check_array

    try:
        given = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight cannot be used: {error}") from error
    if given.shape != (rows,):
        raise DataError(f"sample_weight has shape {given.shape}, expected ({rows},)")
    if (given < 0).any():
        place = int(np.flatnonzero(given < 0)[0])
        raise DataError(f"sample_weight is {shown(float(given[place]))} at {place}, below 0")
    return np.asarray(given, dtype=np.float64)


def _unit(weights: Iterable[Fraction]) -> Fraction | None:
    """Return the largest unit in which weights are whole, None where they sum to too many."""
    parts, total = 1, Fraction(0)
    for weight in weights:
        total += weight
        parts = math.lcm(parts, weight.denominator)
        if total * parts > _PARTS:
            return None
    return Fraction(1, parts)
