"""A model made to fit a row of a table: the names of its columns, and what may be missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cpx.errors import DataError
from cpx.models.sufficient_reason.row import Row, missing_values
from cpx.trees.form import TreeModel

__all__ = ["fitted_to", "respelled"]

# What the readers call columns of models that were trained without names.
_NUMBERED = re.compile(r"(?:x|f|Column_)(\d+)")


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
            notes.append("the model has no names of columns: those of x are taken in their order")
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
