"""What cells of an attribute of a tree model mean: bounds, a value, or categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.condition import Bounds, ColumnCondition, Equals, OneOf, bound
from cpx.trees.attribute import Attribute, cells_of
from cpx.trees.tree import MISSING


def in_cells(
    attribute: Attribute,
    cells: NDArray[np.bool_],
    cuts: NDArray[np.float64],
    strict: bool,
    cast: type[np.floating[Any]],
) -> Bounds | OneOf:
    """Return what it means that the value of an attribute is in some cells.

    cells: Those, shape (t + 1,); neither all nor none.
    cuts (t,): What cells are between.
    strict, cast: Of the model.
    """
    if attribute.labels is not None:
        own = cells[cells_of(np.array(attribute.values), cuts, cast)]
        named = (label for label, inside in zip(attribute.labels, own, strict=True) if inside)
        return OneOf(attribute.name, tuple(named), **attribute.words)

    def side(j: int, holds: bool) -> tuple[str, float]:
        return bound(float(cuts[j]), holds, strict, cast.__name__)

    within = []
    for first, end in runs(cells):
        above = (side(first - 1, False),) if first else ()
        within.append((*above, side(end, True)) if end < len(cuts) else above)
    return Bounds(attribute.name, tuple(within), **attribute.words)


def between_cells(
    attribute: Attribute,
    span: tuple[int, int],
    value: float,
    cuts: NDArray[np.float64],
    strict: bool,
    cast: type[np.floating[Any]],
) -> ColumnCondition:
    """Return what a span of cells of an attribute means, such as ``"1 < a <= 2"``.

    span: First and last cell; -1 for a missing value.
    value: The value of x, where nothing is cut, or where it is the only one listed in these
        cells; NaN for none.

    >>> cuts, of = np.array([1.0, 2.0]), (False, np.float64)
    >>> spans = (0, 0), (1, 1), (1, 2), (0, 2)
    >>> [str(between_cells(Attribute("a"), span, 1.5, cuts, *of)) for span in spans]
    ['a <= 1', '1 < a <= 2', 'a > 1', 'a = 1.5']
    """
    low, high = span
    if low == MISSING:
        return Equals(attribute.name, None, **attribute.words)
    listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values
    alone = False
    if listed is not None and len(cuts):
        cells = cells_of(np.array(listed), cuts, cast)
        alone = int(((low <= cells) & (cells <= high)).sum()) == 1
    if alone or not len(cuts) or (low == 0 and high == len(cuts)):
        return has_value(attribute, value)
    some = np.zeros(len(cuts) + 1, dtype=np.bool_)
    some[low : high + 1] = True
    return in_cells(attribute, some, cuts, strict, cast)


def has_value(attribute: Attribute, value: float) -> ColumnCondition:
    """Return that an attribute has a value, by its label; that it has some value for NaN."""
    if np.isnan(value):
        return Bounds(attribute.name, (), **attribute.words)
    label = attribute.called(value)
    named = attribute.labels is not None and label in attribute.labels
    if named:
        return OneOf(attribute.name, (label,), **attribute.words)
    return Equals(attribute.name, float(value), **attribute.words)


def holds(
    condition: ColumnCondition, attribute: Attribute, values: NDArray[np.float64], cast: str
) -> NDArray[np.bool_]:
    """Return of which values of an attribute a condition holds; NaN for a missing one.

    cast: What the model rounds values to before it compares them.

    >>> some = np.array([0.5, 1.0, 3.0, np.nan])
    >>> holds(Bounds("a", (((">", 0.5), ("<=", 1.0)),)), Attribute("a"), some, "float32").tolist()
    [False, True, False, False]
    """
    kind, gone = np.dtype(cast).type, np.isnan(values)
    if isinstance(condition, OneOf):
        known = dict(zip(attribute.labels or (), attribute.values or ()))
        if not condition.labels:
            return ~gone & ~np.isin(values, [*known.values()])
        # Of a category that a row alone has, no row that was read before is.
        return np.isin(values, [known[label] for label in condition.labels if label in known])
    if isinstance(condition, Equals):
        return gone if condition.value is None else values == condition.value
    assert isinstance(condition, Bounds)  # groups of columns are no attributes
    found = ~gone if not condition.within else np.zeros(len(values), dtype=bool)
    with np.errstate(over="ignore"):
        numbers = values.astype(kind)
        for ends in condition.within:
            inside = ~gone
            for sign, end in ends:
                inside &= _COMPARE[sign](numbers, kind(end))
            found |= inside
    return found


_COMPARE: dict[str, Any] = {"<": np.less, "<=": np.less_equal, ">": np.greater}
_COMPARE[">="] = np.greater_equal


def runs(cells: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and the last cell of each run of cells.

    >>> runs(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    steps = np.diff(np.concatenate([[False], cells, [False]]).astype(np.int8))
    return [*zip(np.flatnonzero(steps > 0).tolist(), (np.flatnonzero(steps < 0) - 1).tolist())]
