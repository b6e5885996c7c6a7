"""The explained row of a tree model, checked against its attributes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cpx.errors import DataError, shown
from cpx.support.validation import real
from cpx.trees.attribute import Attribute
from cpx.trees.form import TreeModel

__all__ = ["Row", "missing_values", "row_values"]

Row = Any
"""A sequence of d numbers, or a mapping or a pandas Series or one-row table by column name."""


def row_values(model: TreeModel, x: Row) -> tuple[float, ...]:
    """Return the values of a row, in the order of the attributes of the model.

    Parameters
    ----------
    model : TreeModel
    x : sequence of d numbers, mapping, pandas.Series or pandas.DataFrame of one row
        NaN or None for a missing value. What has names is read by them, in any order.

    Raises
    ------
    DataError
        Naming columns that are missing or extra, a value that is no number, that its
        attribute cannot have, or that is missing where the model takes no missing values.

    Examples
    --------
    >>> from cpx.trees import Attribute, Tree, TreeModel
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [stump], [[2.5]], "sum", "positive", [0])
    >>> row_values(model, {"a": 3})
    (3.0,)
    """
    values = _in_order(model, x)
    if len(values) != model.n_attributes:
        raise DataError(f"x must have {model.n_attributes} values, got {len(values)}")
    numbers = tuple(_number(a, value) for a, value in zip(model.attributes, values))
    for i, (attribute, value) in enumerate(zip(model.attributes, numbers)):
        if math.isnan(value):
            _refuse_missing(model, i)
        elif not _has(attribute, value):
            raise DataError(f"x: {shown(attribute.name)} is {value:g}, no value of the attribute")
    return numbers


def missing_values(model: TreeModel, x: Row) -> tuple[int, ...]:
    """Return the attributes that have no value in a row; see :func:`row_values`."""
    values = _in_order(model, x)
    missing = (value is None or value != value for value in values)
    return tuple(a for a, gone in zip(range(model.n_attributes), missing) if gone)


def _in_order(model: TreeModel, x: Row) -> list[Any]:
    if hasattr(x, "columns"):  # a table of pandas
        if len(x) != 1:
            raise DataError(f"x must be one row, got a table of {len(x)}")
        x = x.iloc[0]
    if hasattr(x, "index") and hasattr(x, "to_dict"):  # a column of pandas
        x = dict(zip(map(str, x.index), x.tolist(), strict=True))
    if isinstance(x, Mapping):
        return _by_name(model, x)
    if isinstance(x, str) or not isinstance(x, Iterable):
        raise DataError(f"x must be a row of numbers, got {shown(x)}")
    array = np.asarray(x, dtype=object)
    if array.ndim == 2 and len(array) == 1:
        array = array[0]
    if array.ndim != 1:
        raise DataError(f"x must be one row, got an array of shape {array.shape}")
    return list(array)


def _by_name(model: TreeModel, x: Mapping[Any, Any]) -> list[Any]:
    names = [a.name for a in model.attributes]
    if twins := sorted(name for name, n in Counter(names).items() if n > 1):
        raise DataError(f"x must be a sequence: attributes of the model share a name: {twins[:5]}")
    given = {str(name): value for name, value in x.items()}
    if missing := [name for name in names if name not in given]:
        raise DataError(f"x lacks {_listed(missing)}, columns of the model")
    if extra := [name for name in given if name not in set(names)]:
        raise DataError(f"x has {_listed(extra)}, no columns of the model")
    return [given[name] for name in names]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more


def _number(attribute: Attribute, value: Any) -> float:
    if value is None:
        return math.nan
    number = float(value) if isinstance(value, bool | np.bool_) else real(value)
    if number is None or math.isinf(number):
        raise DataError(
            f"x: {shown(attribute.name)} must be a finite number or missing, got {shown(value)}"
        )
    return number + 0.0


def _refuse_missing(model: TreeModel, i: int) -> None:
    attribute = model.attributes[i]
    if model.refuses_missing(i):
        raise DataError(
            f"x: {shown(attribute.name)} is missing, and the model has no branch for that"
        )
    if not attribute.missing:
        raise DataError(
            f"x: {shown(attribute.name)} is missing, and its attribute says that no value is; "
            "give the model attributes with missing=True (with_attributes)"
        )


def _has(attribute: Attribute, value: float) -> bool:
    if attribute.kind == "boolean":
        return value in (0, 1)
    if attribute.values is not None:
        return value in attribute.values
    low, high = attribute.interval
    return low <= value <= high and (attribute.kind != "integer" or value == math.floor(value))
