"""Validation of rows of states, and of events over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import DataError
from cpx.support.validation import index_set

Bools = npt.NDArray[np.bool_]


def checked_codes(
    codes: npt.NDArray[Any], dimensions: int, cardinalities: Sequence[int]
) -> npt.NDArray[np.int64]:
    """Return codes of one row or of several that are all in range."""
    if codes.ndim != dimensions or codes.shape[-1] != len(cardinalities):
        raise DataError(
            f"codes must have {len(cardinalities)} columns and {dimensions} dimension(s), got "
            f"an array of shape {codes.shape}"
        )
    if codes.dtype.kind not in "iu":
        raise DataError(f"codes must be integers, got {codes.dtype}")
    wrong = (codes < 0) | (codes >= np.array(cardinalities))
    if wrong.any():
        where = tuple(np.argwhere(wrong)[0])
        a = int(where[-1])
        raise DataError(
            f"attribute {a} has no state {int(codes[where])}: its states go from 0 to "
            f"{cardinalities[a] - 1}"
        )
    return codes.astype(np.int64)


def checked_observed(observed: npt.ArrayLike, n_attributes: int) -> Bools:
    """Return which attributes are observed, for one row or several, as rows."""
    seen = np.atleast_2d(np.asarray(observed))
    if seen.dtype != np.bool_ or seen.ndim != 2 or seen.shape[1] != n_attributes:
        raise DataError(
            f"observed must be an (N, {n_attributes}) array of bool, got {seen.dtype} of "
            f"shape {seen.shape}"
        )
    return seen


def agreement(
    x: npt.ArrayLike, S: Iterable[int], cardinalities: Sequence[int]
) -> list[Bools | None]:
    """Return the masks of the rows that have the states of x in S."""
    row = checked_codes(np.asarray(x), 1, cardinalities)
    masks: list[Bools | None] = [None] * len(cardinalities)
    for a in index_set("S", S, len(cardinalities), "attribute", error=DataError):
        masks[a] = np.arange(cardinalities[a]) == row[a]
    return masks


def checked_masks(masks: Sequence[Any], cardinalities: Sequence[int]) -> dict[int, Bools]:
    """Return the masks that are not None, by attribute."""
    if len(masks) != len(cardinalities):
        raise DataError(f"masks must have {len(cardinalities)} entries, got {len(masks)}")
    result = {}
    for a, (mask, size) in enumerate(zip(masks, cardinalities)):
        if mask is None:
            continue
        array = np.asarray(mask)
        if array.dtype != np.bool_ or array.ndim not in (1, 2) or array.shape[-1] != size:
            raise DataError(
                f"masks[{a}] must be an array of bool over {size} states, got {array.dtype} "
                f"of shape {array.shape}"
            )
        result[a] = array
    return result
