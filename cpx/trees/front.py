"""Transformers in front of a model, asked what they make of rows of the table.

In rows of floats a category that is a text is its number among those that the transformers know;
the number after the last stands for any other one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import ModelError, UnsupportedModel, shortened
from cpx.trees.attribute import OTHER, label_of
from cpx.trees.dates import Days
from cpx.trees.transformers import Feature, Walk

NOT_TAKEN = (ValueError, TypeError, KeyError)
"""What transformers raise for values that they do not take."""

Block = tuple[Any, ...]
"""Transformers, one after the other."""


@dataclass(frozen=True, eq=False)
class Front:
    """Transformers in front of a model, and the columns of the table that they take.

    blocks: What they make stands side by side.
    names: Of the columns, None where the model was trained without.
    width: How many columns there are.
    orders: In which order the categories of some columns are numbered.
    absent: What a sparse row leaves out: 0, or NaN for models that take it as missing.
    dates: The days of columns of dates.
    """

    blocks: tuple[Block, ...]
    names: tuple[str, ...] | None
    width: int
    absent: float = 0.0
    orders: Mapping[int, Sequence[int]] = field(default_factory=dict)
    dates: Mapping[int, Days] = field(default_factory=dict)

    # ---------------------------------------------------------- their structure

    @cached_property
    def walk(self) -> Walk:
        """What the transformers say of the columns."""
        walk = self._start()
        for block in self.blocks:
            self._follow(walk, block)
        return walk

    def _start(self) -> Walk:
        days = {c: [*own.moments] for c, own in self.dates.items() if not own.why}
        return Walk(categories=days, dates=self.dates)

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """Of what each column is made that they make."""
        walk = self._start()
        return tuple(f for block in self.blocks for f in self._follow(walk, block))

    @cached_property
    def made_of(self) -> list[list[int]]:
        """The features that are made of each column."""
        found: list[list[int]] = [[] for _ in range(self.width)]
        for i, feature in enumerate(self.features):
            found[feature.column].append(i)
        return found

    def _follow(self, walk: Walk, block: Block) -> list[Feature]:
        features = [Feature(c) for c in range(self.width)]
        for step in block:
            try:
                features = walk.through(step, features)
            except AttributeError as error:
                raise ModelError(
                    f"{type(step).__name__} is not fitted: {shortened(error)}"
                ) from error
        return features

    def categories(self, column: int) -> tuple[Any, ...] | None:
        """Return the values that encoders know of a column, None of a column of numbers."""
        known = self.walk.categories.get(column)
        if known is None:
            return None
        return tuple(known[i] for i in self.orders.get(column, range(len(known))))

    def listed(self, column: int) -> tuple[float, ...] | None:
        """Return the values of a column of categories in rows of floats, None of others."""
        known = self.categories(column)
        if known is None:
            return None
        return (
            tuple(sorted(map(float, known)))
            if _numbers(known)
            else (*map(float, range(len(known))),)
        )

    def labels(self, column: int) -> tuple[str, ...] | None:
        """Return what these values are called."""
        known = self.categories(column)
        if known is None:
            return None
        return tuple(label_of(v) for v in (sorted(known) if _numbers(known) else known))

    def is_text(self, column: int) -> bool:
        """Whether rows of floats have numbers for the categories of a column."""
        return self._pools[column] is not None

    def days_told(self) -> list[str]:
        """Say which days columns of dates may have."""
        known = [(c, days) for c, days in self.dates.items() if self.made_of[c] and not days.why]
        return [f"{self.title(c)} may be any day {days.told}, as in X" for c, days in known]

    def title(self, column: int) -> str:
        """Return what a column is called."""
        return f"x{column}" if self.names is None else self.names[column]

    # --------------------------------------------------------------------- rows

    @cached_property
    def _pools(self) -> tuple[NDArray[Any] | None, ...]:
        """The categories of each column by their numbers, and one that is none of them."""
        found: list[NDArray[Any] | None] = []
        for column in range(self.width):
            known = self.categories(column)
            pool = None
            if known is not None and not _numbers(known):
                days = column in self.dates
                pool = np.empty(len(known) + 1 - days, dtype=object)
                pool[:] = known if days else [*known, OTHER]
            found.append(pool)
        return tuple(found)

    def table(self, rows: NDArray[np.float64]) -> Any:
        """Return rows as the first transformers take them: a frame, or an array without names."""
        columns = [self._column(c, rows[:, c]) for c in range(self.width)]
        if self.names is None:
            same = all(column.dtype == np.float64 for column in columns)
            table = np.empty(rows.shape, dtype=np.float64 if same else object)
            for c, column in enumerate(columns):
                table[:, c] = column
            return table
        import pandas as pd

        return pd.concat(
            [
                pd.Series(column, name=name, dtype=column.dtype)
                for name, column in zip(self.names, columns)
            ],
            axis=1,
        )

    def _column(self, c: int, numbers: NDArray[np.float64]) -> Any:
        pool = self._pools[c]
        if pool is None:
            return numbers
        gone = np.isnan(numbers)
        column = pool[np.where(gone, 0, numbers).astype(np.int64)]
        column[gone] = None if c in self.walk.none else np.nan
        if c in self.dates:
            import pandas as pd

            return pd.Series(column, dtype=self.dates[c].moments.dtype)
        return column

    def with_cell(self, row: NDArray[np.float64], column: int, value: Any) -> Any:
        """Return a table of one row in which a column has a value as a user has it."""
        table = self.table(row[None])
        if self.names is None:
            table = table.astype(object)
            table[0, column] = value
        else:
            table[self.names[column]] = np.array([value], dtype=object)
        return table

    def made(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the transformers make of rows, shape (n, features)."""
        return self.made_of_table(self.table(rows))

    def made_of_table(self, table: Any) -> NDArray[np.float64]:
        """Return what the transformers make of a table as a user has it."""
        parts = []
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for block in self.blocks:
                part = table
                for step in block:
                    part = part if _is_identity(step) else step.transform(part)
                parts.append(self._dense(part))
        made = np.hstack(parts) if len(parts) > 1 else parts[0]
        if made.shape[1] != len(self.features):
            raise UnsupportedModel(
                f"the transformers make {made.shape[1]} columns, cpx expected {len(self.features)}"
            )
        return made

    @cached_property
    def reference(self) -> NDArray[np.float64]:
        """A row that the transformers should take: ones, and categories that they know."""
        return np.array([(self.listed(c) or (1.0,))[0] for c in range(self.width)])

    def number_of(self, column: int, value: Any) -> float | None:
        """Return the number of a category of a column by what the transformers make of it.

        One that no encoder knows has that of any other, where that is taken; else None.
        """
        if column in self.dates:
            return None
        own, values = self.made_of[column], np.array(self.listed(column))
        other = float(len(values)) if self.is_text(column) else value
        made = self._made_or_none(self.with_cell(self.reference, column, value), own)
        row = self.reference.copy()
        for number in (*values.tolist(), other, np.nan):
            row[column] = number
            known = self._made_or_none(self.table(row[None]), own)
            if made is not None and known is not None and np.array_equal(known, made, True):
                return float(number)
        return None

    def _made_or_none(self, table: Any, own: Sequence[int]) -> NDArray[np.float64] | None:
        try:
            return self.made_of_table(table)[:, [*own]]
        except NOT_TAKEN:
            return None

    def _dense(self, part: Any) -> NDArray[np.float64]:
        if not hasattr(part, "tocoo"):
            return np.asarray(part, dtype=np.float64)
        stored = part.tocoo()
        dense = np.full(part.shape, self.absent)
        dense[stored.coords] = stored.data
        return dense


def _is_identity(step: Any) -> bool:
    steps = getattr(step, "steps", None)
    if steps:
        return all(_is_identity(one) for _, one in steps)
    return step is None or (isinstance(step, str) and step == "passthrough")


def _handed_on(model: Any) -> Iterator[Any]:
    """Yield a model and those in it that get the same columns, as what a pipeline begins with."""
    while model is not None and not _is_identity(model):
        yield model
        steps = [step for _, step in getattr(model, "steps", ())]
        held = steps or getattr(model, "estimators_", [])
        model = next(
            (one for one in held if not _is_identity(one)),
            getattr(model, "best_estimator_", getattr(model, "estimator", None)),
        )


def names_and_width(model: Any, blocks: Sequence[Block]) -> tuple[tuple[str, ...] | None, int]:
    """Return the columns that a model with transformers in front was trained on.

    Raises ModelError: When nothing says how many there are.
    """
    firsts = [step for block in blocks for step in block[:1]]
    for holder in (one for first in (model, *firsts) for one in _handed_on(first)):
        try:
            width = int(holder.n_features_in_)
        except AttributeError:
            continue
        names = getattr(holder, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names)), width
    raise ModelError(f"the {type(model).__name__} is not fitted")


def _numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values)
