"""How columns are called for people: labels, units, and cut points of one's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

from cpx.data.condition import ColumnCondition, Condition
from cpx.data.other_frames import as_pandas
from cpx.errors import InvalidOption, nearest, printable, shown
from cpx.support.validation import integer

__all__ = [
    "ATTRS",
    "ColumnWords",
    "Words",
    "called",
    "columns_of",
    "cuts_of",
    "read_words",
    "with_label",
    "words_file",
    "words_of",
    "words_of_table",
]

ATTRS = "words"
"""Where a frame of pandas has the words of its columns, in its ``attrs``."""


@dataclass(frozen=True)
class ColumnWords:
    """What is said of a column in words.

    label: What it is called for people; empty for its name.
    unit: What its numbers are in.
    cuts: Where conditions of rules may cut it, as given; None for cuts that suit the data.
    """

    label: str = ""
    unit: str = ""
    cuts: tuple[Any, ...] | None = None


Words = Mapping[str, ColumnWords]
"""The words of columns, by their names."""


T = TypeVar("T")


def words_of(given: object, X: Any, names: Sequence[str]) -> Words:
    """Return the words that are given of the columns of a table; else those of its ``attrs``.

    names: Of all columns.
    Raises InvalidOption: As :func:`read_words`.
    """
    if given is not None:
        return read_words(given, names)
    attrs = getattr(X, "attrs", None)
    if not isinstance(attrs, Mapping) or ATTRS not in attrs:
        return {}
    return read_words(attrs[ATTRS], names, f"X.attrs[{ATTRS!r}]")


def words_of_table(given: object, X: Any) -> Words:
    """Return the words that are given of the columns of a table; else those of its ``attrs``."""
    return words_of(given, X, columns_of(X))


def columns_of(X: Any) -> list[str]:
    """Return the names of the columns of a table as they are printed; none of no table."""
    if X is None:
        return []
    from cpx.data.frames import as_table, column_names  # loads pandas

    table = as_pandas(X)
    return column_names(as_table(table), hasattr(table, "columns"))


def read_words(given: object, names: Sequence[str], what: str = "words") -> Words:
    """Read the words of columns: of each a label, or a mapping with label, unit and cuts.

    names: Of all columns; those of an array may be given by position.
    what: Names the argument in errors.
    Raises InvalidOption: For a column that is not there, a key that is unknown, what is no text,
        and two columns that are called alike.

    >>> read_words({"plas": {"label": "glucose", "unit": "mg/dl"}}, ["plas", "age"])["plas"].unit
    'mg/dl'
    >>> read_words({"plas": "age"}, ["plas", "age"])
    Traceback (most recent call last):
    ...
    cpx.errors.InvalidOption: words: 'plas' and 'age' would both be called 'age'
    """
    if not isinstance(given, Mapping):
        raise InvalidOption(
            f"{what} must map columns to what they are called, such as "
            f"{{'plas': {{'label': 'glucose', 'unit': 'mg/dl'}}}}, got {shown(given)}"
        )
    found = {}
    for key, value in given.items():
        name = _name(key, names)
        if name is None:
            raise InvalidOption(
                f"{what}: {shown(key)} is no column{nearest(str(key), names)}"
                if names
                else f"{what}: {shown(key)} is no column: there are none"
            )
        if name in found:
            raise InvalidOption(f"{what}: the column {shown(name)} is there twice")
        found[name] = _of_column(f"{what}[{shown(name)}]", value)
    called: dict[str, str] = {}
    for name in names:
        title = found[name].label or name if name in found else name
        if title in called:
            both = f"{shown(called[title])} and {shown(name)}"
            raise InvalidOption(f"{what}: {both} would both be called {shown(title)}")
        called[title] = name
    return found


def _name(key: object, names: Sequence[str]) -> str | None:
    place = integer(key)
    for name in (str(key), *([] if place is None else [f"x{place}"])):
        if name in names:
            return name
    return None


def _of_column(what: str, given: object) -> ColumnWords:
    if isinstance(given, str):
        given = {"label": given}
    if not isinstance(given, Mapping):
        told = "must be a label, or have label, unit or cuts"
        raise InvalidOption(f"{what} {told}, got {shown(given)}")
    known = [one.name for one in fields(ColumnWords)]
    for key in given:
        if key not in known:
            raise InvalidOption(
                f"{what} has no {shown(key)}{nearest(str(key), known)}; known: {', '.join(known)}"
            )
    texts = {}
    for key in ("label", "unit"):
        text = given.get(key, "")
        if not isinstance(text, str) or (key in given and not text.strip()):
            raise InvalidOption(f"{what}: {key} must be a text, got {shown(text)}")
        texts[key] = printable(text).strip()
    cuts, own = given.get("cuts"), None
    if cuts is not None:
        several = isinstance(cuts, Iterable) and not isinstance(cuts, str | Mapping)
        own = tuple(cuts) if several else ()
        if not own:
            raise InvalidOption(f"{what}: cuts must be a list of numbers, got {shown(cuts)}")
    return ColumnWords(**texts, cuts=own)


def cuts_of(words: Words) -> dict[str, tuple[Any, ...]]:
    """Return the cuts that are given of columns, as a binarizer takes them."""
    return {name: one.cuts for name, one in words.items() if one.cuts is not None}


def called(condition: Condition, words: Words) -> Condition:
    """Return a condition on a column with what the column is called."""
    if not isinstance(condition, ColumnCondition):
        return condition
    return with_label(condition, condition.column, words)


def with_label(thing: T, name: str, words: Words) -> T:
    """Return what has a label and a unit with those of a column."""
    own = words.get(name)
    if own is None:
        return thing
    worded: Any = thing  # a dataclass
    return cast(T, replace(worded, label=own.label, unit=own.unit))


def words_file(path: str | os.PathLike[str]) -> Any:
    """Read the words of columns from a JSON or TOML file.

    Raises InvalidOption: When it cannot be read, with what is wrong.
    """
    import tomllib
    from pathlib import Path

    from cpx.support.files import parse_json, read_text

    text = read_text(Path(path), InvalidOption)
    try:
        if Path(path).suffix == ".toml":
            return tomllib.loads(text)
        return parse_json(text, InvalidOption)
    except (InvalidOption, tomllib.TOMLDecodeError) as error:
        raise InvalidOption(f"{path}: {error}") from error
