"""Columns of a table or row, matched with those of a model: by name, or by position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cpx.answers.values import listed
from cpx.data.other_frames import printed_names
from cpx.errors import DataError, nearest
from cpx.trees.form import TreeModel

# What the readers call columns of models that were trained without names.
_NUMBERED = re.compile(r"(?:x|f|Column_)(\d+)")


def names_of(labels: Iterable[object]) -> list[str] | None:
    """Return what columns are called, None for the numbers that pandas gives columns of arrays.

    >>> names_of(["a", 2]), names_of(range(3))
    (['a', 'x2'], None)
    """
    names = list(labels)
    return None if names == [*range(len(names))] else printed_names(names)


def column_order(
    model: TreeModel, columns: Sequence[str], holder: str = "x", keyed: bool = False
) -> list[int]:
    """Return where each attribute of the model is among the columns of a table or row.

    A model that was trained without names has its columns by position. One with names has them
    by name, in any order.

    columns: Names of the columns.
    holder: What has these columns, for errors.
    keyed: Whether they are keys of a mapping, which no library takes.
    Raises DataError: Naming the columns that are lacking, not of the model, or there twice; or
        when the names are the numbers of a model without names, in another order.

    >>> from cpx.trees import Attribute, Tree
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> names = [Attribute("a"), Attribute("b")]
    >>> model = TreeModel(names, [0, 1], [stump], [[2.5], []], "sum", "positive", [0])
    >>> column_order(model, ["b", "a"])
    [1, 0]
    """
    own = [a.name for a in model.attributes]
    if [*columns] == own:
        return [*range(len(own))]
    if not _has_names(model):
        if {*columns} == {*own} and (keyed or model.named is None):
            raise DataError(
                f"{holder} has the columns {listed([*columns])}, which are the numbers of a model "
                "that may have no names of columns: give an array, or say by attributes=[...] "
                "what its columns are called"
            )
        if model.named is not None or not {*columns} & {*own}:
            _refuse_count(model, columns, holder)
            return [*range(len(own))]
    if twins := _twins(own):
        raise DataError(
            f"{holder} must be without names: attributes of the model share a name: {twins[:5]}"
        )
    if twins := _twins(columns):
        raise DataError(f"{holder} has two columns named {twins[0]!r}: rename one")
    lacking = [name for name in own if name not in {*columns}]
    extra = [name for name in columns if name not in {*own}]
    told = []
    if lacking:
        told.append(f"lacks {listed([*map(repr, lacking)])}, columns of the model")
    if extra:
        near = nearest(extra[0], lacking)
        told.append(f"has {listed([*map(repr, extra)])}, no columns of the model{near}")
    if extra and not lacking:
        told.append("leave these out (in the shell the class by --target COLUMN)")
        raise DataError(f"{holder} {': '.join(told)}")
    if told:
        raise DataError(f"{holder} {', and '.join(told)}")
    return [columns.index(name) for name in own]


def _twins(names: Iterable[str]) -> list[str]:
    return sorted(name for name, n in Counter(names).items() if n > 1)


def renamed(
    model: TreeModel, columns: Sequence[str], holder: str = "x"
) -> tuple[TreeModel, tuple[str, ...]]:
    """Return the model with the names of a table or row, and what should be known of that.

    A model that was trained without names gets those of the columns, in their order, as the
    libraries take them.

    model, columns, holder: As for :func:`column_order`.
    Raises DataError: When there is another number of columns than of a model without names, or two
        have the same name, or one has none.
    """
    own = [a.name for a in model.attributes]
    if _has_names(model):
        # XGBoost and LightGBM call the column 10 by its digits.
        spelled = {name[1:]: name for name in columns if re.fullmatch(r"x-?\d+", name)}
        if model.source.startswith("lightgbm"):  # it writes spaces as underscores
            spelled |= {name.replace(" ", "_"): name for name in columns}
        names = [name if name in columns else spelled.get(name, name) for name in own]
        return _named(model, names), ()
    if [*columns] == own or (model.named is None and {*columns} & {*own}):
        return model, ()
    _refuse_count(model, columns, holder)
    if twins := _twins(columns):
        raise DataError(f"{holder} has two columns named {twins[0]!r}: rename one")
    if blank := [c for c, name in enumerate(columns) if not name.strip()]:
        raise DataError(
            f"column {blank[0]} of {holder} has no name but {columns[blank[0]]!r}: give it one"
        )
    told = "the model has no names of columns: those given are taken in their order"
    if {*columns} & {*own}:
        told += f", so that its column {own[0]} is what is called {columns[0]} here"
    return _named(model, columns), (told,)


def _has_names(model: TreeModel) -> bool:
    """Whether the names of the attributes are those of columns, as far as it is known."""
    if model.named is not None:
        return model.named
    numbers = [_NUMBERED.fullmatch(a.name) for a in model.attributes]
    return [match and int(match[1]) for match in numbers] != [*range(model.n_attributes)]


def _refuse_count(model: TreeModel, columns: Sequence[str], holder: str) -> None:
    if len(columns) != model.n_attributes:
        raise DataError(
            f"{holder} has {len(columns)} columns; the model was trained on "
            f"{model.n_attributes}, without names"
        )


def _named(model: TreeModel, names: Sequence[str]) -> TreeModel:
    if [*names] == [a.name for a in model.attributes]:
        return model  # itself, as what is known of a model is kept with it
    pairs = zip(model.attributes, names, strict=True)
    return model.with_attributes([replace(a, name=name) for a, name in pairs])
