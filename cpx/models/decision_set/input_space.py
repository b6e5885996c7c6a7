"""The input space of a black box: the attributes of a table, and rules as sets of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cpx.data.columns import CategoryColumn
from cpx.models.decision_set.attributes import Categories, fit_attribute
from cpx.models.rule_set.conditions import SetRule

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Domain:
    """The attributes of a table, each cut into cells.

    A *mask* is a rule: truth values for all cells of all attributes. An attribute whose cells
    are all true is free; of any other, the true cells are the condition.

    table: Real instances.
    n_cells: About as many cells has a continuous attribute at most.
    categorical: Numeric columns to treat as categories.
    max_categories: A column with more categories is refused.
    starts: First cell of each attribute, and the number of all cells.
    Raises DataError: For a table that cannot be used.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"state": ["CA", "NY", "TX"], "sex": ["f", "m", "f"]})
    >>> domain = Domain(table)
    >>> mask = domain.everything()
    >>> mask[[1, 3]] = False  # the second of three states, and what is none of them
    >>> mask[[4, 6]] = False  # the first of two sexes, and what is neither
    >>> print(domain.rule(mask))
    state in {CA, TX} and sex = m
    """

    def __init__(
        self,
        table: Any,
        n_cells: int = 32,
        categorical: Sequence[str | int] | None = None,
        max_categories: int = 100,
    ) -> None:
        from cpx.data.binarizer import Binarizer, as_table
        from cpx.data.other_frames import as_pandas

        # The checks of tables and names, and the kinds of columns, are the binarizer's.
        self._columns = Binarizer(2, categorical=categorical, max_categories=max_categories)
        table = as_pandas(table)
        frame = as_table(table)
        self._columns.fit(table)
        self.attributes = tuple(
            fit_attribute(
                column.name,
                frame.iloc[:, c],
                n_cells,
                isinstance(column, CategoryColumn),
                max_categories,
            )
            for c, column in enumerate(self._columns.columns_)
        )
        widths = [attribute.width for attribute in self.attributes]
        self.starts: IntArray = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        self._volumes = np.concatenate([attribute.volumes for attribute in self.attributes])
        self._dtype = None if isinstance(table, pd.DataFrame) else np.asarray(table).dtype
        self._keep_examples(frame)

    def _keep_examples(self, frame: pd.DataFrame) -> None:
        """Keep of each column its type, and an entry per category to copy from."""
        self._examples = []
        values = self.values(frame)
        for c, attribute in enumerate(self.attributes):
            column = frame.iloc[:, c]
            if isinstance(attribute, Categories):
                _, first = np.unique(values[:, c], return_index=True)
                column = column.iloc[first]
            else:
                column = column.iloc[:0]
            self._examples.append(column.reset_index(drop=True))

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return len(self.attributes)

    @property
    def n_cells(self) -> int:
        """Number of cells of all attributes."""
        return int(self.starts[-1])

    def span(self, attribute: int) -> slice:
        """Return where the cells of an attribute are."""
        return slice(int(self.starts[attribute]), int(self.starts[attribute + 1]))

    # ------------------------------------------------------------------ instances

    def values(self, table: Any) -> FloatArray:
        """Return a table as numbers, shape (n, m): values, and places of categories.

        Raises DataError: When the table does not have the columns of the domain.
        """
        frame = self._columns.aligned(table)
        pairs = zip(self.attributes, frame.items(), strict=True)
        return np.column_stack([attribute.values(column) for attribute, (_, column) in pairs])

    def cells(self, values: FloatArray) -> IntArray:
        """Return the cell of each value among all cells, shape (n, m)."""
        return np.column_stack(
            [a.cells(values[:, c]) + self.starts[c] for c, a in enumerate(self.attributes)]
        )

    def coordinates(self, values: FloatArray) -> npt.NDArray[np.float32]:
        """Return points whose squared distance sums the attributes' squared differences.

        A difference of numbers is a share of their range; two different categories are at
        distance 1.
        """
        parts = [a.coordinates(values[:, c]) for c, a in enumerate(self.attributes)]
        return np.hstack(parts).astype(np.float32)

    def rows(self, values: FloatArray) -> Any:
        """Return instances as the black box takes them: a table like the one of fit."""
        columns = {}
        for c, (attribute, example) in enumerate(zip(self.attributes, self._examples)):
            if isinstance(attribute, Categories):
                columns[c] = pd.Series(example.array.take(values[:, c].astype(np.int64)))
            else:
                columns[c] = pd.Series(values[:, c]).astype(example.dtype)
        frame = pd.DataFrame(columns)
        labels: Any = self._columns.column_labels_
        if labels is None:
            return frame.to_numpy(dtype=object).astype(self._dtype)
        frame.columns = pd.Index(labels)
        return frame

    # ---------------------------------------------------------------------- rules

    def everything(self) -> BoolArray:
        """Return the mask of the rule without conditions."""
        return np.ones(self.n_cells, dtype=bool)

    def constrained(self, mask: BoolArray) -> IntArray:
        """Return the attributes that a rule has conditions on."""
        return np.flatnonzero(~np.logical_and.reduceat(mask, self.starts[:-1]))

    def length(self, mask: BoolArray) -> int:
        """Return how many bounds and values it takes to say a rule."""
        constrained = self.constrained(mask).tolist()
        return sum(self.attributes[a].length(mask[self.span(a)]) for a in constrained)

    def volume(self, masks: BoolArray) -> FloatArray:
        """Return the share of the input space that rules cover; masks of shape (k, cells)."""
        shares = np.add.reduceat(masks * self._volumes, self.starts[:-1], axis=1)
        return np.asarray(shares.prod(axis=1))

    def rule(self, mask: BoolArray) -> SetRule:
        """Return a rule in words."""
        return SetRule(
            tuple(self.attributes[a].condition(mask[self.span(a)]) for a in self.constrained(mask))
        )
