"""The values of a row in words: the states of its attributes, true of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.features import between
from cpx.trees.attribute import condition_text
from cpx.trees.tree import MISSING

if TYPE_CHECKING:
    from cpx.data.coding import Coding
    from cpx.trees.form import TreeModel

__all__ = ["state_words"]


def state_words(
    model: TreeModel, coding: Coding, x: tuple[float, ...], codes: NDArray[np.int32]
) -> tuple[str, ...]:
    """Return for each attribute what is known when the state of x is known.

    A column is said to be between the cuts around its value; to have its value where it is the
    only one listed there, or where nothing is cut. A group of columns is said to have those that
    are not 0.

    Parameters
    ----------
    model : TreeModel
    coding : Coding
        Of the columns of the model.
    x : tuple of d floats
    codes : (A,) array of int
        The states of x.

    Examples
    --------
    >>> from cpx.data.coding import Coding
    >>> from cpx.trees import Attribute, Tree, TreeModel
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> attributes = [Attribute(name) for name in ("size", "hue_red", "hue_blue")]
    >>> model = TreeModel(attributes, [0, 1], [stump], [[2.5], [], []], "sum", "positive", [0])
    >>> rows = np.array([[1.0, 0, 1], [3.0, 1, 0]])
    >>> coding = Coding.fit(rows, names=[a.name for a in attributes], cuts=model.thresholds,
    ...                     groups={"hue": ["hue_red", "hue_blue"]}, max_states=2)
    >>> state_words(model, coding, (3.0, 1.0, 0.0), coding.codes(rows[1])[0])
    ('size > 2.5', 'hue = red')
    """
    return tuple(
        _column(model, coding, columns[0], int(coding.states[a][codes[a], 0]), x[columns[0]])
        if len(columns) == 1
        else _group(coding, a, x)
        for a, columns in enumerate(coding.columns)
    )


def _column(model: TreeModel, coding: Coding, c: int, cell: int, value: float) -> str:
    name, cuts, attribute = coding.column_names[c], coding.cuts[c], model.attributes[c]
    if cell == MISSING:
        return f"{name} is missing"
    listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values
    alone = False
    if listed is not None:
        values = np.array(listed, dtype=coding.cast)
        alone = int((np.searchsorted(cuts, values, side="left") == cell).sum()) == 1
    if alone or not len(cuts):
        return f"{name} = {value:g}"
    above, upto = (
        condition_text(name, float(cuts[i]), holds, model.strict, model.cast)
        if 0 <= i < len(cuts)
        else ""
        for i, holds in ((cell - 1, False), (cell, True))
    )
    return between(name, above, upto)


def _group(coding: Coding, a: int, x: tuple[float, ...]) -> str:
    name, columns = coding.names[a], coding.columns[a]
    if any(math.isnan(x[c]) for c in columns):
        return f"{name} is missing"
    present = [(coding.column_names[c], x[c]) for c in columns if x[c] != 0]
    if len(present) == 1 and present[0][1] == 1:
        title = present[0][0]
        return f"{name} = {title.removeprefix(name).lstrip('_=: ') or title}"
    if not present:
        return f"{name} = none of its {len(columns)} columns"
    return f"{name}: " + ", ".join(f"{title} = {value:g}" for title, value in present)
