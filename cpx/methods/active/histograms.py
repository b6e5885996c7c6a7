"""Gains of all conditions on an attribute at once, from one histogram over its cells.

Of the instances that a rule covers, or would cover without its condition on an attribute, let
each count +1 where covering it helps, -1 where it harms, and 0 where another rule covers it
anyway. Summed per cell, these numbers value every condition on the attribute: the gain of a
condition is the sum over its cells.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["best_interval", "best_list", "histogram"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


def histogram(cells: IntArray, weights: npt.NDArray[Any], n_cells: int) -> FloatArray:
    """Sum weights per cell.

    Parameters
    ----------
    cells : (m, k) array of int
        The cells of k instances, one row per attribute.
    weights : (k,) array
    n_cells : int

    Returns
    -------
    (n_cells,) array of float64

    Examples
    --------
    >>> histogram(np.array([[0, 1], [2, 2]]), np.array([1, 5]), 4)
    array([1., 5., 6., 0.])
    """
    repeated = np.broadcast_to(weights.astype(np.float64), cells.shape)
    summed: FloatArray = np.bincount(
        cells.ravel(), weights=repeated.ravel(), minlength=n_cells
    ).astype(np.float64, copy=False)
    return summed


def best_interval(
    gains: FloatArray,
    *,
    current: BoolArray | None = None,
    wider: bool = False,
    must: int | None = None,
    price: float = 0.0,
) -> BoolArray | None:
    """Return the interval of cells of the greatest gain; of equal ones, the widest.

    Parameters
    ----------
    gains : (k,) array
        Gain of each cell that an interval can have.
    current : (k,) array of bool, optional
        An interval that is not wanted again.
    wider : bool
        Whether the interval must include the current one.
    must : int, optional
        A cell that the interval must include.
    price : float
        What each bound of an interval costs.

    Returns
    -------
    (k,) array of bool, or None when there is no such interval
        Never all cells: that would be no condition.

    Examples
    --------
    >>> best_interval(np.array([-1.0, 2.0, -1.0, 3.0, -5.0])).astype(int)
    array([0, 1, 1, 1, 0])
    """
    k = len(gains)
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    # Of the interval from row to column.
    value = sums[1:] - sums[:-1, None] + _intervals(k)
    if price:
        value[1:] -= price
        value[:, :-1] -= price
    least, most = k - 1, 0
    if current is not None:
        inside = np.flatnonzero(current)
        value[inside[0], inside[-1]] = -np.inf
        if wider:
            least, most = int(inside[0]), int(inside[-1])
    if must is not None:
        least, most = min(least, must), max(most, must)
    region = value[: least + 1, most:]
    i, j = divmod(int(np.argmax(region)), region.shape[1])
    if region[i, j] == -np.inf:
        return None
    chosen = np.zeros(k, dtype=bool)
    chosen[i : most + j + 1] = True
    return chosen


@cache
def _intervals(k: int) -> FloatArray:
    """Return what to add to the gains of intervals (first, last): -inf where there is none.

    Otherwise so little that it only decides between equal gains, which count instances, for
    the wider one.
    """
    first, last = np.ogrid[:k, :k]
    bonus = np.where(first <= last, 1e-6 * (last - first) / k, -np.inf)
    bonus[0, k - 1] = -np.inf
    return bonus


def best_list(
    gains: FloatArray,
    *,
    current: BoolArray | None = None,
    wider: bool = False,
    must: int | None = None,
    price: float = 0.0,
) -> BoolArray | None:
    """Return the list of cells of the greatest gain, with the arguments of intervals.

    A wider list has one cell more than the current one. No list has no cell, or all. The price
    is that of each cell in the list, or, where these are fewer, of each one that is not.

    Examples
    --------
    >>> best_list(np.array([-1.0, 2.0, 0.0, 3.0])).astype(int)
    array([0, 1, 0, 1])
    >>> best_list(np.array([-1.0, 2.0, 0.0, 3.0]), must=2).astype(int)
    array([0, 1, 1, 1])
    >>> best_list(np.array([-1.0, 2.0, -5.0, 3.0]), price=2.0).astype(int)
    array([1, 1, 0, 1])
    """
    k = len(gains)
    if wider and current is not None:
        if current.sum() >= k - 1:
            return None
        chosen = current.copy()
        chosen[int(np.argmax(np.where(current, -np.inf, gains)))] = True
        return chosen
    # The price is that of the cells in the list, or of those that are not.
    forms = [gains - price, gains + price] if price else [gains]
    found = [_best_list(net, current, must) for net in forms]
    costs = [0.0, price * k]
    options = [
        (float(net[chosen].sum()) - cost, chosen)
        for net, cost, chosen in zip(forms, costs, found)
        if chosen is not None
    ]
    return max(options, key=lambda option: option[0])[1] if options else None


def _best_list(gains: FloatArray, current: BoolArray | None, must: int | None) -> BoolArray | None:
    chosen = gains > 0
    if must is not None:
        chosen[must] = True

    def wanted() -> bool:
        if not chosen.any() or chosen.all():
            return False
        return current is None or bool((chosen != current).any())

    if wanted():
        return chosen
    for j in np.argsort(np.abs(gains), kind="stable"):
        if j != must:
            chosen[j] ^= True
            if wanted():
                return chosen
            chosen[j] ^= True
    return None
