"""From where to where the values of a change may go, and one of them for each column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.condition import ColumnCondition
from cpx.data.cuts import short_between
from cpx.trees import MISSING, Attribute, TreeModel
from cpx.trees.hold import values

__all__ = ["can_be", "changed", "new_values", "ranges_of_cells"]

_MOST = 4096
"""Rows that are asked about to say from where to where values may change."""


def ranges_of_cells(
    model: TreeModel,
    x: Sequence[float],
    changed: Sequence[int],
    cells: Sequence[int],
) -> tuple[int, dict[int, tuple[int, int]]]:
    """Return the new class, and for each column the cells that give it, whatever the others'.

    Columns whose own cell will do are left out. Each cell moves as near to that of x as the class
    allows; then ranges grow away from x, and what they give is asked of the trees, all
    combinations.
    """
    own = model.cells(np.array([x], dtype=np.float64))[0]
    now = own.copy()
    for a in changed:
        now[a] = cells[a]
    label = int(_classes(model, now[None, :])[0])
    for a in changed:
        # A value is told rather than that there is none, where one does.
        now[a] = _nearest(model, now, a, int(own[a]), label)
    ranges = {a: (int(now[a]), int(now[a])) for a in changed if now[a] != own[a]}
    for a in [*ranges]:
        if now[a] == MISSING:
            continue
        for step in (1, -1) if own[a] == MISSING else (1 if now[a] > own[a] else -1,):
            ranges[a] = _grown(model, now, ranges, a, step, label)
    return label, ranges


def _classes(model: TreeModel, cells: Any) -> Any:
    return model.decide(model.totals_of(cells))


def _nearest(model: TreeModel, now: Any, a: int, own: int, label: int) -> int:
    """Return the cell of a column next to that of x which keeps the new class."""
    options = np.flatnonzero(model.possible[a])
    options = options[np.argsort(np.abs(options - own), kind="stable")]
    rows = np.tile(now, (len(options), 1))
    rows[:, a] = options
    keeps = options[_classes(model, rows) == label]
    return int(keeps[0]) if len(keeps) else int(now[a])


def _grown(
    model: TreeModel, now: Any, ranges: dict[int, tuple[int, int]], a: int, step: int, label: int
) -> tuple[int, int]:
    """Return the range of a column, grown to one side while all rows of it give the class."""
    low, high = ranges[a]
    possible = np.flatnonzero(model.possible[a])
    edge, last = (high, int(possible[-1])) if step > 0 else (low, int(possible[0]))
    others = {b: range(first, end + 1) for b, (first, end) in ranges.items() if b != a}
    rest = np.array(list(product(*others.values())), dtype=now.dtype)
    beyond = np.arange(edge + step, last + step, step)
    beyond = beyond[: max(_MOST // len(rest) - (high - low), 0)]
    first, some = 0, 1
    while first < len(beyond):
        asked = beyond[first : first + some]
        rows = np.tile(now, (len(asked) * len(rest), 1))
        rows[:, [*others]] = np.tile(rest, (len(asked), 1))
        rows[:, a] = np.repeat(asked, len(rest))
        gives = (_classes(model, rows) == label).reshape(len(asked), -1).all(axis=1)
        first += int(np.argmin([*gives, False]))
        if not gives.all():
            break
        some *= 2
    reached = beyond[:first][np.isin(beyond[:first], possible)]
    edge = int(reached[-1]) if len(reached) else edge
    return (low, edge) if step > 0 else (edge, high)


def changed(model: TreeModel, a: int, cells: tuple[int, int], value: float) -> ColumnCondition:
    """Return the new values of a column that has a value now."""
    attribute = model.attributes[a]
    listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values or ()
    column = np.zeros((len(listed), model.n_attributes))
    column[:, a] = listed
    new = [v for v, c in zip(listed, model.cells(column)[:, a]) if cells[0] <= c <= cells[1]]
    return model.between(a, *cells, new[0] if new else value)


_ZERO = 1e-30
"""Cuts of LightGBM that stand for zero are 1.0000000180025095e-35 from it."""


def new_values(
    model: TreeModel,
    x: Sequence[float],
    ranges: Mapping[int, tuple[int, int]],
    seen: NDArray[np.float64] | None,
) -> dict[int, float]:
    """Return a value for each column that is in a range of cells: one seen, or a short one."""
    found, pools = {}, values(model)
    for a, (low, high) in ranges.items():
        if low == MISSING:
            found[a] = math.nan
            continue
        column = pools[a]
        if seen is not None:
            column = np.append(can_be(model.attributes[a], seen[:, a]), column)
        table = np.tile(np.array(x, dtype=np.float64), (len(column), 1))
        table[:, a] = column
        cells = model.cells(table)[:, a]
        inside = column[(low <= cells) & (cells <= high)]
        own = 0.0 if math.isnan(x[a]) else float(x[a])
        first = np.isin(inside, seen[:, a]) if seen is not None else np.zeros(len(inside), bool)
        if first.any():
            inside = inside[first]
        value = float(inside[np.argmin(np.abs(inside - own))])
        attribute, cuts = model.attributes[a], model.thresholds[a]
        plain = attribute.values is None and attribute.kind == "real"
        at_zero = low == 0 and high < len(cuts) and abs(cuts[high]) < _ZERO
        if not first.any() and plain and (low > 0 or at_zero):
            start = float(cuts[low - 1 if low else high])
            step = max(1.0, abs(start) / 100)
            if at_zero:
                start, end = start - step, start
            else:
                end = float(cuts[high]) if high < len(cuts) else start + step
            end = min(end, attribute.interval[1])
            # Next to zero no digits are of use: the middle is as good.
            short = short_between(start, end, value if abs(value) > _ZERO else math.nan)
            value = short if short <= end and _fits(model, x, a, short, (low, high)) else value
        elif not first.any() and plain and model.cast == "float32":
            short = float(str(np.float32(value)))  # rounded as the library does it, it is the same
            value = short if _fits(model, x, a, short, (low, high)) else value
        found[a] = value
    return found


def _fits(
    model: TreeModel, x: Sequence[float], a: int, value: float, cells: tuple[int, int]
) -> bool:
    """Whether a column may have a value, and it is in these cells."""
    row = np.array([x], dtype=np.float64)
    row[0, a] = value
    low, high = model.attributes[a].interval
    return bool(low <= value <= high and cells[0] <= model.cells(row)[0, a] <= cells[1])


def can_be(attribute: Attribute, column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a column that an attribute can have."""
    if attribute.values is not None:
        return column[np.isin(column, attribute.values)]
    low, high = attribute.interval
    able = (low <= column) & (column <= high)
    if attribute.kind == "integer":
        able &= column == np.floor(column)
    return column[np.isnan(column) | able]
