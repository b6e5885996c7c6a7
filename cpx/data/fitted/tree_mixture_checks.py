"""Validation of the numbers of a mixture of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.message_passing import ONE, downward
from cpx.errors import DataError, shown
from cpx.support.validation import integer


def probabilities(name: str, values: Any) -> npt.NDArray[np.int64]:
    """Return rows of positive integers that sum to ``ONE``, or raise DataError."""
    try:
        array = np.array(values)
    except ValueError as error:
        raise DataError(f"{name} must be rows of integers of one length: {error}") from error
    if array.ndim != 2 or not array.size or array.dtype.kind not in "iu":
        raise DataError(f"{name} must be rows of integers, got {shown(values)}")
    if (array <= 0).any() or (array > ONE).any():
        wrong = array[(array <= 0) | (array > ONE)][0]
        raise DataError(f"{name} has {int(wrong)}: entries go from 1 to 2**30")
    result = array.astype(np.int64)
    if (result.sum(axis=1) != ONE).any():
        found = result.sum(axis=1)
        raise DataError(f"{name} has the sum {int(found[found != ONE][0])}, 2**30 is expected")
    result.setflags(write=False)
    return result


def parent_array(value: Any, components: int, attributes: int) -> npt.NDArray[np.int32]:
    """Return parents as a checked array; -1 for all of None."""
    if value is None:
        array = np.full((components, attributes), -1)
    else:
        try:
            array = np.array(value)
        except ValueError as error:
            raise DataError(f"parents must be rows of integers of one length: {error}") from error
    if array.shape != (components, attributes) or array.dtype.kind not in "iu":
        raise DataError(
            f"parents must be a ({components}, {attributes}) array of integers, got {shown(value)}"
        )
    if (array < -1).any() or (array >= attributes).any():
        wrong = integer(array[(array < -1) | (array >= attributes)][0])
        raise DataError(f"parents has {wrong}: attributes go from 0 to {attributes - 1}")
    for c, row in enumerate(array.tolist()):
        if len(list(downward(row))) < attributes:
            raise DataError(f"parents[{c}] has a circle: {shown(row)}")
    result = array.astype(np.int32)
    result.setflags(write=False)
    return result
