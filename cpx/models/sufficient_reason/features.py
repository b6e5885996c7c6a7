"""What a sufficient reason is made of: the attributes of a model, or its conditions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.errors import InvalidInstance, nearest, shown
from cpx.models.sufficient_reason.conditions import conditional, conditions
from cpx.models.sufficient_reason.intervals import interval_text
from cpx.support.validation import feature_list
from cpx.trees.form import TreeModel

__all__ = ["LEVELS", "Features", "Level"]

Level = Literal["attributes", "conditions"]

LEVELS: tuple[Level, ...] = ("attributes", "conditions")


class Features:
    """The features of a model at a level, with their values for the row x.

    Parameters
    ----------
    model : TreeModel
    x : tuple of d floats
        NaN for a missing value.
    level : {"attributes", "conditions"}

    Raises
    ------
    InvalidInstance
        When the level is none of these, or a tested value is missing at the level of conditions.

    Examples
    --------
    >>> from cpx.trees import Attribute, Tree
    >>> tree = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [tree], [[2.5]], "sum", "positive", [0])
    >>> Features(model, (3.0,), "attributes").words, Features(model, (3.0,), "conditions").words
    (('a > 2.5',), ('a > 2.5',))
    """

    def __init__(self, model: TreeModel, x: tuple[float, ...], level: Level) -> None:
        if level not in LEVELS:
            raise InvalidInstance(f"level must be one of {', '.join(LEVELS)}, got {shown(level)}")
        self.tree_model, self.x = model, x
        self.columns = level == "attributes"
        if not self.columns:
            self._refuse_missing()

    def _refuse_missing(self) -> None:
        for a in self.tree_model.used:
            if np.isnan(self.x[a]):
                raise InvalidInstance(
                    f"level conditions is for rows without missing values, and "
                    f"{shown(self.tree_model.attributes[a].name)} of x is missing"
                )

    @cached_property
    def model(self) -> TreeModel:
        """The model whose attributes are the features: itself, or over its conditions."""
        return self.tree_model if self.columns else conditional(self.tree_model)

    @cached_property
    def cells(self) -> NDArray[np.int32]:
        """The cells of x in :attr:`model`, shape (n,)."""
        cells = self.tree_model.cells(np.array(self.x, dtype=np.float64))
        if self.columns:
            return cells
        return np.array([cells[a] > j for a, j in conditions(self.tree_model)], dtype=np.int32)

    @property
    def row(self) -> NDArray[np.float64]:
        """The row x of :attr:`model`, shape (n,)."""
        if self.columns:
            return np.array(self.x, dtype=np.float64)
        return self.cells.astype(np.float64)

    def __len__(self) -> int:
        return self.model.n_attributes

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What each feature means, with the values of x: true of x."""
        model, cells = self.tree_model, self.cells.tolist()
        if self.columns:
            return tuple(interval_text(model, a, c, c, self.x[a]) for a, c in enumerate(cells))
        tests = conditions(model)
        return tuple(model.condition(a, j, not c) for (a, j), c in zip(tests, cells))

    @property
    def unit(self) -> str:
        """What one feature is called."""
        return "attribute" if self.columns else "condition"

    # ----------------------------------------------------------------- names

    def numbers(self, which: str, given: Any) -> tuple[int, ...]:
        """Return features given by number or name, sorted.

        Parameters
        ----------
        which : str
            Name of the argument, for errors.
        given : iterable of int and str
            Attributes by their names, conditions as they are printed.

        Raises
        ------
        InvalidInstance
            When something is no feature, or a name is that of several.
        """
        if not isinstance(given, str) and isinstance(given, Iterable):
            given = [self._number(which, v) if isinstance(v, str) else v for v in given]
        return feature_list(which, given, len(self))

    def _number(self, which: str, name: str) -> int:
        names = [a.name for a in self.tree_model.attributes] if self.columns else list(self.words)
        if names.count(name) != 1:
            what = f"several {self.unit}s" if name in names else f"no {self.unit}"
            near = "" if name in names else nearest(name, names)
            raise InvalidInstance(f"{which}: {shown(name)} names {what} of the model{near}")
        return names.index(name)
