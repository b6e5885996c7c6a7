"""The text of an integer program in LP, the format of CPLEX, and in free MPS, part by part."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from cpx.backends.integer_program import Column, IntegerProgram, Row, Terms

# Readers may refuse lines of more than 510 characters.
_WIDTH = 100

_KINDS = {"<=": "L", ">=": "G", "=": "E"}


class Part(NamedTuple):
    """Items of one kind, each one line or a few; what is shown whole has no noun."""

    items: Iterable[str]
    size: int
    noun: str = ""


def lp_parts(
    program: IntegerProgram, comments: Sequence[str] = (), *, in_order: bool = False
) -> list[Part]:
    """Return the parts of an LP file.

    comments: Lines, one for each row, to stand above the rows; an equal one not again.
    in_order: Whether the objective has all columns in their order, for programs that number them
        as they come.
    """
    columns = program.columns
    weights = dict.fromkeys(range(len(columns)), 0) if in_order else {}
    weights.update((place, weight) for weight, place in program.objective)
    # Readers make columns of the names they meet in the objective and the rows.
    used = {place for row in program.rows for _, place in row.terms}
    weights.update((place, 0) for place in range(len(columns)) if place not in used | {*weights})
    objective = [(weight, place) for place, weight in weights.items()]
    # There are readers (GLPK) that want a row.
    rows = program.rows or [Row([(1, 0)], ">=", columns[0].low)]
    parts = [
        _whole(
            "Maximize" if program.maximise else "Minimize", _linear("value", objective, columns)
        ),
        _whole("Subject To"),
        Part(_commented(_rows(rows, columns), comments), len(rows), "rows"),
    ]
    if general := [column for column in columns if not column.binary]:
        bounds = [f" {column.low} <= {column.name} <= {column.high}" for column in general]
        integers = [f" {column.name}" for column in general]
        parts += [_whole("Bounds"), Part(bounds, len(bounds), "bounds")]
        parts += [_whole("Generals"), Part(integers, len(integers), "integers")]
    if binary := [column.name for column in columns if column.binary]:
        lines = textwrap.wrap(" ".join(binary), _WIDTH, initial_indent=" ", subsequent_indent=" ")
        parts += [_whole("Binaries"), Part(lines, len(lines), "lines of names")]
    return [*parts, _whole("End")]


def _commented(items: Iterable[str], comments: Sequence[str]) -> Iterator[str]:
    last = ""
    for item, comment in zip_longest(items, comments, fillvalue=""):
        yield item if comment == last else f"{comment}\n{item}"
        last = comment


def _whole(*lines: str) -> Part:
    return Part(lines, len(lines))


def _rows(rows: Iterable[Row], columns: Sequence[Column]) -> Iterator[str]:
    for number, row in enumerate(rows, 1):
        yield _linear(f"c{number}", row.terms, columns, f" {row.operator} {row.constant}")


def _linear(name: str, terms: Terms, columns: Sequence[Column], relation: str = "") -> str:
    words = []
    for coefficient, place in terms:
        size = "" if abs(coefficient) == 1 else f"{abs(coefficient)} "
        sign = "-" if coefficient < 0 else "+"
        words.append(f"{sign} {size}{columns[place].name}")
    text = " ".join(words or [f"0 {columns[0].name}"]).removeprefix("+ ")
    lines = textwrap.wrap(
        f"{name}: {text}{relation}",
        _WIDTH,
        initial_indent=" ",
        subsequent_indent="   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def mps_parts(program: IntegerProgram, comments: Sequence[str] = ()) -> list[Part]:
    """Return the parts of a free MPS file.

    comments: Lines, one for each row, to stand above the rows; an equal one not again.

    A maximisation is written as the minimisation of the negated objective: there are readers that
    overlook ``OBJSENSE``.
    """
    columns, rows = program.columns, program.rows
    kinds = [f" {_KINDS[row.operator]}  c{number}" for number, row in enumerate(rows, 1)]
    entries = _entries(program)
    sides = [
        _fields("RHS", f"c{n}", row.constant) for n, row in enumerate(rows, 1) if row.constant
    ]
    return [
        _whole("NAME          cpx", "ROWS", " N  value"),
        Part(_commented(kinds, comments), len(kinds), "rows"),
        _whole("COLUMNS", _fields("M1", "'MARKER'", "'INTORG'")),
        Part(entries, len(entries), "entries of columns"),
        _whole(_fields("M2", "'MARKER'", "'INTEND'"), "RHS"),
        Part(sides, len(sides), "right-hand sides"),
        _whole("BOUNDS"),
        Part((_bounds(column) for column in columns), len(columns), "bounds"),
        _whole("ENDATA"),
    ]


def _entries(program: IntegerProgram) -> list[str]:
    sign = -1 if program.maximise else 1
    entries: list[list[tuple[str, int]]] = [[] for _ in program.columns]
    for coefficient, place in program.objective:
        entries[place].append(("value", sign * coefficient))
    for number, row in enumerate(program.rows, 1):
        for coefficient, place in row.terms:
            entries[place].append((f"c{number}", coefficient))
    return [
        _fields(column.name, row_name, coefficient)
        for column, own in zip(program.columns, entries, strict=True)
        for row_name, coefficient in own or [("value", 0)]
    ]


def _bounds(column: Column) -> str:
    if column.binary:
        return f" BV BND       {column.name}"
    return "\n".join(
        f" {kind} BND       {column.name:<8}  {value:>12}"
        for kind, value in (("LO", column.low), ("UP", column.high))
    )


def _fields(first: str, second: str, third: object) -> str:
    # The columns of fixed MPS: blanks separate the fields for readers of free MPS, and the
    # readers that look at columns (CBC) find names of up to 8 characters where they expect.
    return f"    {first:<8}  {second:<8}  {third:>12}"
