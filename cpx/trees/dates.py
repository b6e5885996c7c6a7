"""Columns of dates for a model behind transformers: each day that there can be is a category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpx.errors import UnsupportedModel, shown

MOST_DAYS = 5000
"""Days of a column, each of which is asked of the transformers; fourteen years."""


@dataclass(frozen=True)
class Days:
    """The days of a column, from the first to the last of some rows.

    moments: They, as a column of pandas of the type that the rows have.
    why: Why it has none that can be listed; empty where it has.
    """

    moments: Any
    why: str = ""

    def __len__(self) -> int:
        return len(self.moments)

    @property
    def told(self) -> str:
        """The first and the last day."""
        first, last = self.moments.iloc[[0, -1]].dt.strftime("%Y-%m-%d")
        return f"from {first} to {last}"


def days_of(rows: Any, names: tuple[str, ...] | None) -> Mapping[int, Days]:
    """Return the days of those columns of a table that hold dates.

    rows: The table, None for none.
    names: Of the columns of a model, in its order; None where it was trained without.
    """
    if rows is None or names is None:
        return {}
    from cpx.data.date_columns import is_date  # loads pandas
    from cpx.data.frames import as_table

    table = as_table(rows)
    labels = [*map(str, table.columns)]
    there = {c: labels.index(name) for c, name in enumerate(names) if labels.count(name) == 1}
    columns = {c: table.iloc[:, place] for c, place in there.items()}
    return {c: _days(names[c], column) for c, column in columns.items() if is_date(column)}


def _days(name: str, column: Any) -> Days:
    import pandas as pd

    known = column.dropna()
    if not len(known):
        return Days(known, f"{shown(name)} has no date in X")
    if (known != known.dt.normalize()).any():
        return Days(
            known,
            f"{shown(name)} has times of day: give the hour as a column of its own in the table, "
            "and the day without it",
        )
    every = pd.date_range(known.min(), known.max(), freq="D")
    days = pd.Series(every, name=name).astype(column.dtype)
    if len(days) > MOST_DAYS:
        return Days(days, f"{shown(name)} has more than {MOST_DAYS:,} days from first to last")
    return Days(days)


def width_of_days(step: Any, days: Days) -> int:
    """Return how many columns a transformer makes of a column of dates.

    Raises UnsupportedModel: Where the days cannot be listed, and where what is made of a day
        depends on the others.
    """
    if days.why:
        raise UnsupportedModel(f"{days.why}. {_RULES}")
    made = _made(step, days.moments)
    for i in (0, len(days) // 2, len(days) - 1):
        if not np.array_equal(_made(step, days.moments.iloc[[i]]), made[[i]]):
            raise UnsupportedModel(
                f"what {type(step).__name__} makes of a day of {shown(days.moments.name)} depends "
                f"on the other days that it is given. {_RULES}"
            )
    return int(made.shape[1])


def _made(step: Any, moments: Any) -> Any:
    """Return what is made of some days, as texts."""
    try:
        made = step.transform(moments.to_frame())
    except Exception:  # it is given the column alone, and not a table of it
        made = step.transform(moments)
    made = made.toarray() if hasattr(made, "toarray") else np.asarray(made)
    return made.reshape(len(moments), -1).astype(str)


_RULES = "kind='rule' explains any classifier by its predict alone"
