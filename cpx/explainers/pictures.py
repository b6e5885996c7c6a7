"""What pictures show of any explanation: the columns that it names, and their values in X."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any, TypeVar

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.answers.panels import Panel, Span, Spread
from cpx.data.condition import Bounds, Equals, OneOf, day_spans, told
from cpx.data.other_frames import as_pandas, printed_names
from cpx.support.cells import is_missing, plain

Found = TypeVar("Found", bound=Explanation)


class Pictures:
    """Pictures of explanations that are not drawn by who found them.

    X: The background, whose columns show how values are distributed; None where there is none.
    """

    def __init__(self, X: Any) -> None:
        table = as_pandas(X)
        self._table = table if hasattr(table, "columns") else None
        self._spreads: dict[str, Spread] = {}

    def of(self, found: Found, x: Any) -> Found:
        """Return an explanation of a row with what a picture shows of it."""
        if found.panels or found.why:
            return found
        return replace(found, panels=tuple(self._panels(found, _named(x))))

    def _panels(self, found: Explanation, row: dict[str, Any]) -> Iterator[Panel]:
        rule = found.rule
        for one in rule.conditions or [literal.means for literal in rule.literals]:
            name = self._column(one, row)
            if name is None:
                continue
            value = plain(row.get(name))
            value = value.item() if isinstance(value, np.generic) else value
            spans, named = _spans(one), one.labels if isinstance(one, OneOf) else ()
            if isinstance(value, date) and not is_missing(value):
                value, spans, named = _in_years([value])[0], _spans_of_days(named), ()
            number = isinstance(value, int | float) and not isinstance(value, bool)
            shown: float | str | None = float(value) if number else str(value)
            if is_missing(value):
                shown = None
            if isinstance(one, Equals) and not number and shown is not None:
                named = (str(shown),)
            yield Panel(name, told(one), shown, spans, named, spread=self._spread(name))

    def _column(self, condition: Any, row: dict[str, Any]) -> str | None:
        """Return the column that a condition is about, None where it is about several."""
        if isinstance(condition, Bounds | Equals | OneOf):
            return condition.column if condition.column in row else None
        # Words: of a name in another one, the longer one is meant.
        inside = [name for name in row if isinstance(condition, str) and name in condition]
        return max(inside, key=len, default=None)

    def _spread(self, name: str) -> Spread | None:
        table = self._table
        if table is None or (names := printed_names(table.columns)).count(name) != 1:
            return None
        if name not in self._spreads:
            column = table.iloc[:, names.index(name)].copy()
            kind = getattr(column.dtype, "kind", "O")
            own = _in_years(column) if kind == "M" else column
            self._spreads[name] = Spread(own, kind in "iufM")
        return self._spreads[name]


def _named(x: Any) -> dict[str, Any]:
    """Return the values of a row by the names of its columns; none of an array."""
    x = as_pandas(x)
    if getattr(x, "ndim", 1) == 2 and hasattr(x, "iloc"):
        x = x.iloc[0]
    if not hasattr(x, "items"):
        return {}
    names, values = zip(*x.items(), strict=True)
    return dict(zip(printed_names(names), values))


def _in_years(values: Any) -> Any:
    from cpx.data.date_columns import moments, years  # loads pandas

    return years(moments("", values))


def _spans_of_days(labels: tuple[str, ...]) -> tuple[Span, ...]:
    """Return from when to when days are, in years."""
    ends = ([span[0], span[-1] + np.timedelta64(1, "D")] for span in day_spans(labels))
    return tuple((low, high) for low, high in (_in_years(pair).tolist() for pair in ends))


def _spans(condition: Any) -> tuple[Span, ...]:
    if isinstance(condition, Equals):
        return () if condition.value is None else ((condition.value, condition.value),)
    if not isinstance(condition, Bounds):
        return ()
    found = []
    for ends in condition.within:
        low = next((number for sign, number in ends if sign.startswith(">")), None)
        high = next((number for sign, number in ends if sign.startswith("<")), None)
        found.append((low, high))
    return tuple(found)
