"""Integer weights of samples: positive, and together small enough that all sums are exact."""

from __future__ import annotations

from collections.abc import Sized

import numpy as np
import numpy.typing as npt

from cpx.errors import InvalidInstance, shown
from cpx.support.validation import integer

MAX_TOTAL_WEIGHT = 2**40
"""Maximum total weight: sums stay exact in every engine, floats of 53 bits included."""


def require_length(name: str, value: Sized, m: int) -> None:
    """Raise unless there is an entry for each of m samples."""
    if len(value) != m:
        raise InvalidInstance(f"{name}: {len(value)} entries for {m} samples")


def weight_array(value: object, m: int) -> npt.NDArray[np.int64]:
    """Return m positive integers whose sum is at most ``MAX_TOTAL_WEIGHT``; 1 for None."""
    if value is None:
        return np.ones(m, dtype=np.int64)
    # NumPy turns [True, 2] into integers, so a list is looked at before it is converted.
    if isinstance(value, (list, tuple)) and any(isinstance(w, (bool, np.bool_)) for w in value):
        raise InvalidInstance("weights: a weight is True or False; positive integers expected")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidInstance(f"weights: lists among numbers ({error})") from error
    if array.ndim != 1:
        raise InvalidInstance(f"weights: 1 dimension expected, got shape {array.shape}")
    require_length("weights", array, m)
    if array.dtype == object and all(integer(w) is not None for w in array):
        array = array.astype(float)  # integers beyond 64 bits: refused below as huge
    if array.dtype.kind not in "iuf":
        raise InvalidInstance(
            f"weights: positive integers expected, got {array.dtype} such as "
            f"{shown(array.flat[0])}"
        )
    for wrong, what in (
        (~np.isfinite(array), "not a finite number"),
        (array <= 0, "not positive"),
        (array != np.floor(array), "fractional"),
        (array > MAX_TOTAL_WEIGHT, "huge: more than 2**40"),
    ):
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise InvalidInstance(f"weights: {shown(array[i].item())} at {i} is {what}")
    total = float(array.sum(dtype=np.float64))
    if total > MAX_TOTAL_WEIGHT:
        raise InvalidInstance(f"weights: their sum {total:.6g} is huge: more than 2**40")
    return array.astype(np.int64)
