"""The explained row of a tree model, and the model made to fit its columns."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cpx.answers.values import listed
from cpx.errors import DataError, shown
from cpx.support.validation import real
from cpx.trees.attribute import Attribute
from cpx.trees.form import TreeModel

# What the readers call columns of models that were trained without names.
_NUMBERED = re.compile(r"(?:x|f|Column_)(\d+)")

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
        raise DataError(f"x lacks {listed([*map(repr, missing)])}, columns of the model")
    if extra := [name for name in given if name not in set(names)]:
        raise DataError(f"x has {listed([*map(repr, extra)])}, no columns of the model")
    return [given[name] for name in names]


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


# -------------------------------------------------- a model for the row


def fitted_to(model: TreeModel, x: Row) -> tuple[TreeModel, tuple[str, ...]]:
    """Return the model with the names of the columns of x, and what should be known of that.

    A model that was trained without names gets those of x, in their order, as the libraries
    take them. Where x has no value, rows may have none.

    Parameters
    ----------
    model : TreeModel
    x : row
        As for :func:`~cpx.models.sufficient_reason.row.row_values`.

    Raises
    ------
    DataError
        When x has another number of columns than a model without names.

    Examples
    --------
    >>> from cpx.trees import Attribute, Tree
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("x0")], [0, 1], [stump], [[2.5]], "sum", "positive", [0])
    >>> named, notes = fitted_to(model, {"size": float("nan")})
    >>> named.attributes[0], len(notes)
    (Attribute(name='size', kind='real', lower=None, upper=None, values=None, missing=True), 2)
    """
    notes = []
    columns = _columns(x)
    if columns is not None:
        model = respelled(model, columns)
        if _without_names(model) and not {*columns} & {a.name for a in model.attributes}:
            if len(columns) != model.n_attributes:
                raise DataError(
                    f"x has {len(columns)} columns; the model was trained on "
                    f"{model.n_attributes}, without names"
                )
            model = _named(model, columns)
            notes.append("the model has no names of columns: those given are taken in their order")
    gone = [a for a in missing_values(model, x) if not model.refuses_missing(a)]
    new = [a for a in gone if not model.attributes[a].missing]
    if new:
        attributes = list(model.attributes)
        for a in new:
            attributes[a] = replace(attributes[a], missing=True)
        model = model.with_attributes(attributes)
        names = ", ".join(attributes[a].name for a in new)
        notes.append(f"missing in x, so that other rows may lack it too: {names}")
    return model, tuple(notes)


def respelled(model: TreeModel, columns: list[str]) -> TreeModel:
    """Return the model with the names of columns that LightGBM wrote with underscores."""
    spelled = {name.replace(" ", "_"): name for name in columns}
    known = [a.name for a in model.attributes]
    names = [name if name in columns else spelled.get(name, name) for name in known]
    return model if names == known or len({*names}) < len(names) else _named(model, names)


def _named(model: TreeModel, names: list[str]) -> TreeModel:
    pairs = zip(model.attributes, names, strict=True)
    return model.with_attributes([replace(a, name=name) for a, name in pairs])


def _without_names(model: TreeModel) -> bool:
    numbers = [_NUMBERED.fullmatch(a.name) for a in model.attributes]
    return [match and int(match[1]) for match in numbers] == list(range(model.n_attributes))


def _columns(x: Row) -> list[str] | None:
    """Return the names of what has names, by which its values are then looked up."""
    named: Any = x if isinstance(x, Mapping) else getattr(x, "columns", None)
    if named is None and hasattr(x, "to_dict"):  # a column of pandas
        named = x.index
    return None if named is None else [str(name) for name in named]
