"""Validation of the fields of samples: arrays, weights, context."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import InvalidInstance, shown
from cpx.support.validation import integer

__all__ = [
    "MAX_TOTAL_WEIGHT",
    "boolean_array",
    "json_context",
    "require_length",
    "weight_array",
]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

MAX_TOTAL_WEIGHT = 2**40
"""Largest total weight: sums stay exact in every engine, floats of 53 bits included."""


def _array(name: str, value: object) -> npt.NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InvalidInstance(f"{name}: rows of different lengths ({error})") from error


def require_length(name: str, value: Sequence[Any] | npt.NDArray[Any], n: int, of: str) -> None:
    """Raise InvalidInstance unless there is one entry for each of n samples or features."""
    if len(value) != n:
        raise InvalidInstance(f"{name}: {len(value)} entries for {n} {of}")


def boolean_array(name: str, value: object, ndim: int) -> BoolArray:
    """Return a fresh Boolean array of 0/1 values with ``ndim`` dimensions, none of them empty."""
    array = _array(name, value)
    if array.size == 0 and array.ndim <= ndim:
        what = "samples" if array.ndim < 2 or array.shape[0] == 0 else "features"
        raise InvalidInstance(f"{name}: there are no {what} (shape {array.shape})")
    if array.ndim != ndim:
        raise InvalidInstance(f"{name}: {ndim} dimensions expected, got shape {array.shape}")
    if array.dtype == np.bool_:
        return array.copy()
    if array.dtype.kind not in "iuf":
        raise InvalidInstance(f"{name}: entries must be 0 or 1, got {_kind(array)}")
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = where[0] if ndim == 1 else where
        raise InvalidInstance(
            f"{name}: entries must be 0 or 1, got {shown(array[where].item())} at {place}"
        )
    return array.astype(bool)


def _kind(array: npt.NDArray[Any]) -> str:
    """Name the entries of an array that holds no numbers, with an example."""
    return f"{array.dtype} such as {shown(array.flat[0])}" if array.size else str(array.dtype)


def weight_array(value: object, m: int) -> IntArray:
    """Return m positive integers whose sum is at most ``MAX_TOTAL_WEIGHT``; 1 for None."""
    if value is None:
        return np.ones(m, dtype=np.int64)
    # NumPy turns [True, 2] into integers, so a list is looked at before it is converted.
    if isinstance(value, (list, tuple)) and any(isinstance(w, (bool, np.bool_)) for w in value):
        raise InvalidInstance("weights: a weight is True or False; positive integers expected")
    array = _array("weights", value)
    if array.ndim != 1:
        raise InvalidInstance(f"weights: 1 dimension expected, got shape {array.shape}")
    require_length("weights", array, m, "samples")
    if array.dtype == object and all(integer(w) is not None for w in array):
        array = array.astype(float)  # integers beyond 64 bits: refused below as huge
    if array.dtype.kind not in "iuf":
        raise InvalidInstance(f"weights: positive integers expected, got {_kind(array)}")
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


def json_context(value: object) -> dict[str, Any]:
    """Return a deep copy of a mapping that JSON can hold."""
    if not isinstance(value, Mapping):
        raise InvalidInstance(f"context: a mapping expected, got {shown(value)}")
    context = copy.deepcopy(dict(value))
    for key in context:
        if not isinstance(key, str):
            raise InvalidInstance(f"context: key {shown(key)} is no string")
    try:
        json.dumps(context, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInstance(f"context: not JSON values ({error})") from error
    return context
