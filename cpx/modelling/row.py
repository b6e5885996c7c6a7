"""The explained row of a tree model, and the model made to fit its columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from cpx.answers.values import listed
from cpx.data.other_frames import row_as_pandas
from cpx.errors import DataError, InvalidOption, shown
from cpx.modelling.columns import column_order, names_of, renamed
from cpx.support.cells import as_float, is_missing, key_of, plain
from cpx.support.validation import real
from cpx.trees.attribute import Attribute, label_of
from cpx.trees.categories import value_of
from cpx.trees.form import Missing, TreeModel

Row = Any
"""A sequence of d numbers, or a mapping or a pandas Series or one-row table by column name."""


def row_values(model: TreeModel, x: Row) -> tuple[float, ...]:
    """Return the values of a row, in the order of the attributes of the model.

    x: NaN or None for a missing value. What has names is read by them, in any order. What a sparse
        row leaves out is missing to models of XGBoost, and 0 to others.
    Raises DataError: Naming columns that are missing or extra, a value that is no number, that its
        attribute cannot have, or that is missing where the model takes no missing values.

    >>> from cpx.trees import Attribute, Tree, TreeModel
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [stump], [[2.5]], "sum", "positive", [0])
    >>> row_values(model, {"a": 3})
    (3.0,)
    """
    values = _in_order(model, x)
    if len(values) != model.n_attributes:
        raise DataError(f"x must have {model.n_attributes} values, got {len(values)}")
    numbers = tuple(number_in(model, a, value, "x") for a, value in enumerate(values))
    for i, (attribute, value) in enumerate(zip(model.attributes, numbers)):
        if math.isnan(value):
            _refuse_missing(model, i)
        elif not _has(attribute, value):
            called = isinstance(values[i], str) or attribute.labels is not None
            given = shown(values[i]) if called else f"{value:g}"
            raise DataError(f"x: {shown(attribute.name)} is {given}, no value of the attribute")
    return numbers


def missing_values(model: TreeModel, x: Row) -> tuple[int, ...]:
    """Return the attributes that have no value in a row; see :func:`row_values`."""
    values = _in_order(model, x)
    missing = (is_missing(value) for value in values)
    return tuple(a for a, gone in zip(range(model.n_attributes), missing) if gone)


def _in_order(model: TreeModel, x: Row) -> list[Any]:
    # XGBoost takes what a sparse row leaves out as missing.
    absent = np.nan if model.source.startswith("xgboost") else 0.0
    columns, values = _columns_and_values(x, absent)
    if columns is None:
        return [plain(value) for value in values]
    keyed = isinstance(x, Mapping)
    return [plain(values[c]) for c in column_order(model, columns, keyed=keyed)]


def _columns_and_values(x: Row, absent: float = 0.0) -> tuple[list[str] | None, list[Any]]:
    """Return the names of the columns of a row, None where they have none, and its values."""
    if hasattr(x, "tocsr"):
        return None, _filled(x, absent)
    x = row_as_pandas(x)
    if hasattr(x, "columns"):  # a table of pandas
        if len(x) != 1:
            raise DataError(f"x must be one row, got a table of {len(x)}")
        x = x.iloc[0]
    if hasattr(x, "index") and hasattr(x, "to_dict"):  # a column of pandas
        return names_of(x.index), list(x.tolist())
    if isinstance(x, Mapping):
        return names_of(x), list(x.values())
    if isinstance(x, str) or not isinstance(x, Iterable):
        raise DataError(f"x must be a row of numbers, got {shown(x)}")
    array = np.asarray(x, dtype=object)
    if array.ndim == 2 and len(array) == 1:
        array = array[0]
    if array.ndim != 1:
        raise DataError(f"x must be one row, got an array of shape {array.shape}")
    return None, list(array)


def _filled(x: Any, absent: float) -> list[float]:
    """Return a sparse row with a value for what it leaves out."""
    if x.shape[0] != 1:
        raise DataError(f"x must be one row, got a sparse matrix of {x.shape[0]}")
    stored = x.tocsr().tocoo()
    row = np.full(x.shape[1], absent)
    row[stored.coords[-1]] = stored.data
    return list(row)


def number_in(model: TreeModel, a: int, value: Any, holder: str) -> float:
    """Return a value of a column as rows of the model have it: a category by its number.

    holder: What has the value, for errors.
    Raises DataError: When it is no number and no category.
    """
    attribute, name = model.attributes[a], shown(model.attributes[a].name)
    if attribute.labels is None and _is_idle(model, a):
        return _number_or_none(value)
    front = None if model.live is None else model.live.front
    labels, said = attribute.labels or (), label_of(value)
    if isinstance(value, str | bool | np.bool_ | date) and said in labels:
        return value_of(attribute, said)
    dated = isinstance(value, str | date) and not is_missing(value)
    if dated and front is not None and a in front.dates:
        raise DataError(f"{holder}: {name} is {said}, and X has the days {front.dates[a].told}")
    # Whoever has a live model asks with rows of its table: in a column of texts all are texts.
    other = front is not None and front.is_text(a) and real(value) is not None
    other = other and not is_missing(value)
    if labels and front is not None and (value is None or isinstance(value, str) or other):
        known = front.number_of(a, value)
        if known is not None:
            return known
    if is_missing(value):
        return math.nan
    if other or (labels and isinstance(value, bool | np.bool_)):
        raise DataError(
            f"{holder}: {name} is {shown(value)}, none of its {len(labels)} categories"
        )
    if isinstance(value, str) and attribute.kind == "categorical":
        return value_of(attribute, value)
    number = float(value) if isinstance(value, bool | np.bool_) else real(value)
    if number is None or math.isinf(number):
        taken = "a category" if labels else "a finite number"
        raise DataError(f"{holder}: {name} must be {taken} or missing, got {shown(value)}")
    as_float(f"{holder}: {name}", value)
    return number + 0.0


def _number_or_none(value: Any) -> float:
    """Return the number that a value of an idle column is, NaN for whatever is none."""
    if is_missing(value) or (number := real(value)) is None or not math.isfinite(number):
        return math.nan
    return math.nan if number != value else float(number) + 0.0


def _is_idle(model: TreeModel, a: int) -> bool:
    """Whether nothing is known of a column, and nothing asked of it."""
    return a not in model.used and model.attributes[a].missing


def _refuse_missing(model: TreeModel, i: int) -> None:
    attribute = model.attributes[i]
    if model.refuses_missing(i):
        raise DataError(
            f"x: {shown(attribute.name)} is missing, and the model has no branch for that"
        )
    if not attribute.missing:
        raise DataError(
            f"x: {shown(attribute.name)} is missing, and its attribute says that no value is; "
            "missing= says which values may be missing, as TreeModel.with_missing does"
        )


def _has(attribute: Attribute, value: float) -> bool:
    if attribute.kind == "boolean":
        return value in (0, 1)
    if attribute.values is not None:
        return value in attribute.values
    low, high = attribute.interval
    return low <= value <= high and (attribute.kind != "integer" or value == math.floor(value))


# -------------------------------------------------- a model for the row


def fitted_to(
    model: TreeModel, x: Row, missing: Missing = "auto", of_data: bool = False
) -> tuple[TreeModel, tuple[str, ...]]:
    """Return the model with the names of the columns of x, and what should be known of that.

    A model that was trained without names gets those of x, in their order, as the libraries
    take them. Where x has no value, rows may have none, unless ``missing`` says
    otherwise.

    x: As for :func:`~cpx.modelling.row.row_values`.
    missing: Which values rows may lack, see :meth:`TreeModel.with_missing`; with ``"auto"`` also
        those that x lacks.
    of_data: Whether the model says which values the data lack.
    Raises DataError: When x has other columns than the model.
    Raises InvalidOption: When ``missing`` does not fit the model, or x.

    >>> from cpx.trees import Attribute, Tree
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("x0")], [0, 1], [stump], [[2.5]], "sum", "positive", [0])
    >>> named, notes = fitted_to(model, {"size": float("nan")})
    >>> named.attributes[0].name, named.attributes[0].missing, len(notes)
    ('size', True, 2)
    """
    columns, _ = _columns_and_values(x)
    told: tuple[str, ...] = ()
    if columns is not None:
        model, told = renamed(model, columns)
    model, auto = model.with_missing(missing), isinstance(missing, str) and missing == "auto"
    model, unknown = _with_unknown(model, x)
    notes = [*told, *unknown]
    values = [number_in(model, a, v, "x") for a, v in enumerate(_in_order(model, x))]
    model = model.covering(values)
    gone = [a for a in missing_values(model, x) if not model.refuses_missing(a)]
    new = [a for a in gone if not model.attributes[a].missing]
    if new and not auto:
        names = listed([repr(model.attributes[a].name) for a in new])
        raise InvalidOption(f"missing is {shown(missing)}, and x has no value of {names}")
    if new:
        attributes = list(model.attributes)
        for a in new:
            attributes[a] = replace(attributes[a], missing=True)
        model = model.with_attributes(attributes)
        names = ", ".join(attributes[a].name for a in new)
        notes.append(f"missing in x, so that other rows may lack it too: {names}")
    if auto and not of_data:
        notes += _left_out(model)
    return model, tuple(notes)


def _with_unknown(model: TreeModel, x: Row) -> tuple[TreeModel, tuple[str, ...]]:
    """Return the model with the categories of x that it does not know, and a note of them."""
    if model.live is None or model.live.front is None:
        return model, ()
    values = _in_order(model, x)
    attributes, found = list(model.attributes), []
    for a, (attribute, value) in enumerate(zip(attributes, values)):
        if attribute.labels is None:
            continue
        number = number_in(model, a, value, "x")
        if not math.isnan(number) and number not in (attribute.values or ()):
            attributes[a] = attribute.knowing(number)
            found.append(attribute.name)
    if not found:
        return model, ()
    told = f"categories of x that the model does not know: {', '.join(found)}"
    return model.with_attributes(attributes), (told,)


def table_in(model: TreeModel, frame: Any, holder: str) -> tuple[Any, TreeModel]:
    """Return a frame with the columns of a model as floats, and the model with its categories.

    Raises DataError: When there is something that is no number and no category.
    """
    from cpx.data.fitted.number_tables import numbers_and_names  # loads pandas

    read, attributes = frame.copy(), list(model.attributes)
    for a, attribute in enumerate(attributes):
        if attribute.labels is None and not _is_idle(model, a):
            continue
        known: dict[Any, float] = {}
        column = []
        for value in frame.iloc[:, a].astype(object).tolist():
            if (key := key_of(value)) not in known:
                known[key] = number_in(model, a, value, holder)
            column.append(known[key])
        read.isetitem(a, np.array(column, dtype=np.float64))
        if attribute.labels is not None:
            for number in {*known.values()}:
                if not math.isnan(number):
                    attributes[a] = attributes[a].knowing(number)
    return numbers_and_names(read, None)[0], model.with_attributes(attributes)


def refuse_missing_conditions(level: str | None, missing: Missing) -> None:
    """Raise where some values may be missing and features are conditions, which speak of none."""
    if level == "conditions" and not (isinstance(missing, str) and missing in ("auto", "never")):
        raise InvalidOption(
            f"missing is {shown(missing)}, and level conditions is for rows without missing values"
        )


def _left_out(model: TreeModel) -> list[str]:
    """Say that rows are left out which nothing shows to be there, though the model takes them."""
    taken = [a for a in model.used if not model.refuses_missing(a)]
    if all(model.attributes[a].missing for a in taken):
        return []
    known = [a.name for a in model.attributes if a.missing]
    where, rest = (f" but in {listed(known)}", "others") if known else ("", "a value")
    return [
        f"missing values: neither x nor the model shows any{where}; rows that lack {rest} are "
        "left out, unless the option missing (--missing-in) says otherwise"
    ]
