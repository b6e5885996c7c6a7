"""Conditions on the columns of a table, to ask rows for them: as a mask, in SQL and in Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cpx.data.condition import DAYS
from cpx.data.other_frames import printed_names
from cpx.errors import DataError, InvalidOption, shown

if TYPE_CHECKING:
    from cpx.data.binarizer import Binarizer
    from cpx.data.columns import Column

__all__ = ["Cases", "Term", "labelled", "mask", "merged", "term", "to_python", "to_sql", "true_of"]


@dataclass(frozen=True)
class Term:
    """What one column must be: in some of its bins or categories, or in none of them.

    column: Fitted; see :mod:`cpx.data.columns`.
    place: Its position in the table.
    within: Whether a value must be in one of the ``bins``, else in none of them.
    bins: Bins of a number, or categories, by their position; increasing.
    null: Whether a missing value satisfies it.
    label: What the column is called in the table, where that is no text; see :func:`labelled`.
    """

    column: Column
    place: int
    within: bool
    bins: tuple[int, ...]
    null: bool
    label: Any = None

    def holds(self, values: Any) -> npt.NDArray[np.bool_]:
        """Return which values of the column satisfy it, shape (n,)."""
        import pandas as pd

        gone = np.asarray(pd.isna(values), dtype=bool)
        inside = np.isin(self.column.codes(values), self.bins)
        return np.where(gone, self.null, inside == self.within)

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Yield its alternatives: an interval ``(low, high)``, a value, or values it is not."""
        from cpx.data.columns import NumberColumn

        column = self.column
        if isinstance(column, NumberColumn) and column.thresholds:
            known = range(len(column.thresholds) + 1)
            allowed = [b for b in known if (b in self.bins) == self.within]
            cuts = (None, *column.thresholds, None)
            starts = [b for b in allowed if b - 1 not in allowed]
            ends = [b for b in allowed if b + 1 not in allowed]
            yield from (("between", (cuts[a], cuts[b + 1])) for a, b in zip(starts, ends))
            return
        values = getattr(column, "categories", None) or (getattr(column, "constant", None),)
        named = [values[b] for b in self.bins]
        if not self.within:
            yield "not in", named
        elif named:
            yield "in", named


Cases = tuple[tuple[Term, ...], ...]
"""Conjunctions of terms, any of which is enough."""


def term(column: Column, place: int, i: int, true: bool, null: bool = False) -> Term:
    """Return the term of one Boolean feature of a column, true or false.

    column, place: The column, and its position in the table.
    i: The feature; the one after all values is "is missing".
    true: Whether it holds.
    null: Whether a missing value satisfies it, where i is a value that is not there.
    """
    if i == len(column.value_names):
        return Term(column, place, true, (), null=true)
    return Term(column, place, true, (i,), null=null and not true)


def true_of(binarizer: Binarizer, bits: Any, features: Sequence[int]) -> tuple[Term, ...]:
    """Return the terms of chosen features, with the values that a row has.

    They mean what :meth:`Binarizer.conditions` says: an interval holds of no missing value.

    binarizer: Fitted.
    bits: The features of the row.
    """
    from cpx.data.columns import NumberColumn

    row, found = np.asarray(bits).astype(bool), []
    for j in features:
        group = int(binarizer.groups_[j])
        column, own = binarizer.columns_[group], np.flatnonzero(binarizer.groups_ == group)
        null = column.missing or not row[own].any()
        if not (isinstance(column, NumberColumn) and column.thresholds):
            null = True
        place = binarizer.places_[group]
        found.append(term(column, place, int(j - own[0]), bool(row[j]), null))
    return labelled(merged(found), binarizer)


def labelled(terms: Sequence[Term], binarizer: Binarizer) -> tuple[Term, ...]:
    """Return terms with the labels that columns of the fitted frame have; of an array ``x0``."""
    labels = binarizer.column_labels_
    if labels is None:
        return tuple(terms)
    return tuple(replace(one, label=labels[one.place]) for one in terms)


def merged(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Return a term per column, in the order of the columns, that means what they mean together.

    >>> from cpx.data import Binarizer
    >>> column = Binarizer(4).fit([[1.0], [2.0], [3.0], [4.0]]).columns_[0]
    >>> found = merged([term(column, 0, 0, False), term(column, 0, 3, False)])
    >>> to_sql((found,))
    '("x0" > 1.5 AND "x0" <= 3.5)'
    """
    found: dict[tuple[int, str], Term] = {}
    for one in terms:
        key = one.place, one.column.name
        found[key] = _both(found[key], one) if key in found else one
    return tuple(sorted(found.values(), key=lambda one: one.place))


def _both(one: Term, other: Term) -> Term:
    null = one.null and other.null
    if not one.within and not other.within:
        return replace(one, bins=tuple(sorted({*one.bins, *other.bins})), null=null)
    inside = [{*t.bins} for t in (one, other) if t.within]
    outside = {b for t in (one, other) if not t.within for b in t.bins}
    bins = tuple(sorted(set.intersection(*inside) - outside))
    return replace(one, within=True, bins=bins, null=null)


def mask(cases: Cases, X: Any) -> npt.NDArray[np.bool_]:
    """Return which rows of a table some case holds of, shape (n,).

    Raises DataError: When the table lacks a column.
    """
    from cpx.data.frames import as_table
    from cpx.data.other_frames import as_pandas

    table = as_table(as_pandas(X))
    names = printed_names(table.columns)
    found = np.zeros(len(table), dtype=bool)
    for case in cases:
        holds = np.ones(len(table), dtype=bool)
        for one in case:
            holds &= one.holds(table.iloc[:, _place(one, names)])
        found |= holds
    return found


def _place(one: Term, names: list[str]) -> int:
    name = one.column.source
    if names.count(name) == 1:
        return names.index(name)
    if names == [f"x{i}" for i in range(len(names))] and one.place < len(names):
        return one.place  # an array, whose columns have no names
    raise DataError(f"X has no column {shown(name)}, which the rule asks for")


# ------------------------------------------------------------------ SQL


def to_sql(cases: Cases) -> str:
    """Return the condition that stands behind WHERE.

    Names are those of the table, quoted as in the standard. What a column lacks is NULL.
    """
    if not cases:
        return "FALSE"
    each = [" AND ".join(map(_sql, case)) or "TRUE" for case in cases]
    if len(each) == 1:
        return each[0]
    return " OR ".join(f"({text})" if " AND " in text else text for text in each)


def _sql(one: Term) -> str:
    name = one.column.source if one.label is None else str(one.label)
    name = '"' + name.replace('"', '""') + '"'
    texts = [_sql_part(_sql_of(one, name), what, value) for what, value in _written(one, "'")]
    if one.null:
        texts.insert(0, f"{name} IS NULL")
    if not texts:
        return "FALSE"
    text = " OR ".join(texts)
    return f"({text})" if len(texts) > 1 else text


def _written(one: Term, quote: str) -> Iterator[tuple[str, Any]]:
    """Yield the alternatives of a term; ends of intervals as signs and texts, None for none."""
    for what, value in one.parts():
        if what == "between":
            column: Any = one.column
            signs = (">=", "<") if column.closed_left else (">", "<=")
            value = [
                None if end is None else (sign, column.literal(end, quote))
                for sign, end in zip(signs, value)
            ]
        yield what, value


_SQL = {"month": "EXTRACT(MONTH FROM {})", "hour": "EXTRACT(HOUR FROM {})"}
_PYTHON = {"month": "{}.month", "hour": "{}.hour", "weekday": f"{DAYS}[{{}}.weekday()]"}


def _sql_of(one: Term, name: str) -> str:
    """Return what is compared: the column, or a part of its dates."""
    part = getattr(one.column, "part", "")
    if part == "weekday":
        raise InvalidOption("days of the week have no name in standard SQL: use mask or to_python")
    return _SQL[part].format(name) if part else name


def _sql_part(name: str, what: str, value: Any) -> str:
    if what == "between":
        above, upto = ("" if end is None else f"{name} {' '.join(end)}" for end in value)
        both = " AND ".join(filter(None, (above, upto)))
        return f"({both})" if above and upto else both or f"{name} IS NOT NULL"
    listed = [_sql_value(v) for v in value]
    if what == "in":
        return f"{name} = {listed[0]}" if len(listed) == 1 else f"{name} IN ({', '.join(listed)})"
    if not listed:
        return f"{name} IS NOT NULL"
    return f"{name} <> {listed[0]}" if len(listed) == 1 else f"{name} NOT IN ({', '.join(listed)})"


def _sql_value(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).upper()
    if isinstance(value, int | float | np.number):
        return repr(value.item() if isinstance(value, np.number) else value)
    return "'" + str(value).replace("'", "''") + "'"


# --------------------------------------------------------------- Python


def to_python(cases: Cases, told: str) -> str:
    """Return a function in Python that says whether a row, a mapping by column, is covered."""
    each = [" and ".join(map(_python, case)) or "True" for case in cases] or ["False"]
    lines = " or\n        ".join(f"({text})" if len(each) > 1 else text for text in each)
    return (
        "def covers(row):\n"
        f"    {told!r}\n"
        "    def known(value):\n"
        "        return value is not None and value == value\n\n"
        f"    return bool(\n        {lines}\n    )\n"
    )


def _python(one: Term) -> str:
    value = f"row[{_python_label(one)}]"
    part = getattr(one.column, "part", "")
    asked = _PYTHON[part].format(value) if part else value
    if getattr(one.column, "closed_left", False):
        asked = f"str({value})"  # dates are texts in their order
    texts = [_python_part(asked, what, found) for what, found in _written(one, '"')]
    inside = " or ".join(texts) or "False"
    if len(texts) > 1:
        inside = f"({inside})"
    if one.null:
        return f"not known({value})" if not texts else f"(not known({value}) or {inside})"
    return f"(known({value}) and {inside})"


def _python_label(one: Term) -> str:
    """Return the label of a column as Python writes it.

    Raises InvalidOption: For a label that is no plain value.
    """
    label = one.column.source if one.label is None else one.label
    label = label.item() if isinstance(label, np.generic) else label
    try:
        if ast.literal_eval(repr(label)) == label:
            return repr(label)
    except (ValueError, SyntaxError):
        pass
    raise InvalidOption(
        f"the column {shown(label)} has a {type(label).__name__} for its name, which Python "
        "cannot write as text: use mask, or rename the column"
    )


def _python_part(value: str, what: str, found: Any) -> str:
    if what == "between":
        above, upto = found
        told = value if upto is None else f"{value} {' '.join(upto)}"
        if above is None:
            return told if upto else "True"
        sign, low = above
        return f"{low} {sign.replace('>', '<')} {told}" if upto else f"{value} {sign} {low}"
    listed = [v.item() if isinstance(v, np.generic) else v for v in found]
    if what == "in":
        return f"{value} == {listed[0]!r}" if len(listed) == 1 else f"{value} in {listed!r}"
    if not listed:
        return "True"
    return f"{value} != {listed[0]!r}" if len(listed) == 1 else f"{value} not in {listed!r}"
