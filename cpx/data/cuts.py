"""Where numbers are cut into bins: thresholds of a column, and short numbers between two."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cpx.errors import DataError, shown
from cpx.support.validation import real

__all__ = ["own_cuts", "short_between", "thresholds_of"]

FloatArray = npt.NDArray[np.float64]


def own_cuts(name: str, given: Sequence[Any]) -> tuple[float, ...]:
    """Return the cuts that a person gives of a column, which must be increasing numbers."""
    cuts = [real(cut) for cut in given]
    found = tuple(cut + 0.0 for cut in cuts if cut is not None and math.isfinite(cut))
    if not given or len(found) < len(cuts) or any(a >= b for a, b in itertools.pairwise(found)):
        raise DataError(
            f"the cuts of column {shown(name)} must be increasing numbers, got {shown([*given])}"
        )
    return found


def thresholds_of(
    numbers: FloatArray,
    n_bins: int,
    strategy: Literal["quantile", "uniform"],
    weights: npt.NDArray[np.int64] | None = None,
    between: Callable[[float, float, float], float] | None = None,
) -> tuple[float, ...]:
    """Return increasing thresholds, at most ``n_bins - 1``, each splitting the numbers.

    A split lies between two neighbouring distinct values and is neither of them. Quantiles
    take the gap whose share of values below comes closest to i / n_bins, equal widths the gap
    in which the i-th limit lies; equal gaps are merged. With at most n_bins distinct values, every
    gap is a split. A number of weight w counts as w equal ones do.

    between: Returns the split, of the two neighbours and the number wanted between them.
    """
    between = between or short_between
    distinct, counts = np.unique(numbers, return_counts=True)
    if weights is not None:
        counts = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counts, np.searchsorted(distinct, numbers), weights)
    gaps = len(distinct) - 1
    if gaps < 1:
        return ()
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    wanted: dict[int, float] = {}
    if gaps < n_bins:
        wanted = dict(enumerate(middle.tolist()))
    elif strategy == "quantile":
        below, total = np.cumsum(counts)[:-1] * n_bins, int(counts.sum())
        for i in range(1, n_bins):
            gap = int(np.argmin(np.abs(below - i * total)))
            wanted[gap] = float(middle[gap])
    else:
        low, high = float(distinct[0]), float(distinct[-1])
        for i in range(1, n_bins):
            limit = low * (1 - i / n_bins) + high * (i / n_bins)
            gap = min(int(np.searchsorted(distinct, limit, side="right")) - 1, gaps - 1)
            gap = max(gap, 0)
            # Two limits in one gap are one split, at the first of them.
            wanted.setdefault(gap, limit)
    return tuple(
        between(float(distinct[gap]), float(distinct[gap + 1]), wanted[gap])
        for gap in sorted(wanted)
    )


@lru_cache(maxsize=2**14)  # columns of the same numbers have the same cuts
def short_between(low: float, high: float, wanted: float) -> float:
    """Return the number t with ``low < t < high`` of the fewest digits near ``wanted``.

    Of the numbers with as few significant digits as possible next to ``wanted``, and 0,
    the one that is shortest to write is taken, and of these the closest to ``wanted``. Where
    ``wanted`` is no number between the two, the one in the middle takes its place. Between two
    neighbouring floats there is none: the lower one is returned.

    >>> short_between(14.87, 14.95, 14.91)
    14.9
    >>> short_between(1.0, 2.0, 1.5), short_between(0.0, 1.0, 0.0)
    (1.5, 0.5)
    """
    exact = Decimal(wanted if low < wanted < high else low / 2 + high / 2)
    for digits in range(1, 18):
        near = [
            float(Context(prec=digits, rounding=rounding).plus(exact))
            for rounding in (ROUND_FLOOR, ROUND_CEILING)
        ]
        fitting = [t for t in (*near, 0.0) if low < t < high]
        if fitting:
            return min(fitting, key=lambda t: (_digits(t), abs(t - wanted)))
    return low


def _digits(t: float) -> int:
    """Count the digits to write, zeros after the point included: 1 for 400, 3 for 0.04."""
    _, digits, exponent = Decimal(repr(t)).normalize().as_tuple()
    places = -int(exponent)
    return max(len(digits), places + 1)
