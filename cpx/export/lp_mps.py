"""Writers of LP, the format of CPLEX, and of free MPS, for MILP solvers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from cpx.backends.integer_program import (
    Column,
    IntegerProgram,
    Row,
    Terms,
    integer_program,
)
from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement

# Readers may refuse lines of more than 510 characters.
_WIDTH = 100


def lp(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as an LP file; its objective lacks the offset in the legend."""
    program = integer_program(statement)
    columns = program.columns
    named = [(columns[place].name, array, index) for place, array, index in program.named]
    comments = ["format: LP", program.sizes]
    general = [column for column in columns if not column.binary]
    binary = [column.name for column in columns if column.binary]
    sections = [
        head("\\ ", problem, encoding, comments, program.offset),
        Section(legend_items("\\ ", problem, named), len(named), "variables", "\\ "),
        Section.of(["Maximize" if program.maximise else "Minimize", _objective(program)]),
        Section.of(["Subject To"]),
        Section(_rows(program), len(program.rows), "rows", "\\ "),
    ]
    if general:
        bounds = [f" {column.low} <= {column.name} <= {column.high}" for column in general]
        sections += [Section.of(["Bounds"]), Section.of(bounds, "bounds", "\\ ")]
        integers = [f" {column.name}" for column in general]
        sections += [Section.of(["Generals"]), Section.of(integers, "integers", "\\ ")]
    if binary:
        lines = textwrap.wrap(" ".join(binary), _WIDTH, initial_indent=" ", subsequent_indent=" ")
        sections += [Section.of(["Binaries"]), Section.of(lines, "lines of names", "\\ ")]
    return Document([*sections, Section.of(["End"])])


def _objective(program: IntegerProgram) -> str:
    # Readers make columns of the names they meet in the objective and the rows.
    used = {place for row in program.rows for _, place in row.terms}
    used.update(place for _, place in program.objective)
    unused = [(0, place) for place in range(len(program.columns)) if place not in used]
    return _linear("value", [*program.objective, *unused], program)


def _rows(program: IntegerProgram) -> Iterator[str]:
    # There are readers (GLPK) that want a row.
    anything = [Row([(1, 0)], ">=", program.columns[0].low)]
    for number, row in enumerate(program.rows or anything, 1):
        yield _linear(f"c{number}", row.terms, program, f" {row.operator} {row.constant}")


def _linear(name: str, terms: Terms, program: IntegerProgram, relation: str = "") -> str:
    columns = program.columns
    words = []
    for coefficient, place in terms:
        size = "" if abs(coefficient) == 1 else f"{abs(coefficient)} "
        sign = "-" if coefficient < 0 else "+"
        words.append(f"{sign} {size}{columns[place].name}")
    if not words:
        words = [f"0 {columns[0].name}"]
    text = " ".join(words).removeprefix("+ ")
    lines = textwrap.wrap(
        f"{name}: {text}{relation}",
        _WIDTH,
        initial_indent=" ",
        subsequent_indent="   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


_KINDS = {"<=": "L", ">=": "G", "=": "E"}


def mps(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as a free MPS file; its objective lacks the offset in the legend.

    A maximisation is written as the minimisation of the negated objective, which the legend
    says: there are readers that overlook ``OBJSENSE``.
    """
    program = integer_program(statement)
    sign = -1 if program.maximise else 1
    comments = ["format: free MPS", program.sizes]
    columns, rows = program.columns, program.rows
    named = [(columns[place].name, array, index) for place, array, index in program.named]
    kinds = [f" {_KINDS[row.operator]}  c{number}" for number, row in enumerate(rows, 1)]
    sides = [
        _fields("RHS", f"c{n}", row.constant) for n, row in enumerate(rows, 1) if row.constant
    ]
    return Document(
        [
            head("* ", problem, encoding, comments, program.offset, sign),
            Section(legend_items("* ", problem, named), len(named), "variables", "* "),
            Section.of(["NAME          cpx", "ROWS", " N  value"]),
            Section.of(kinds, "rows", "* "),
            Section.of(["COLUMNS", _fields("M1", "'MARKER'", "'INTORG'")]),
            Section.of(_entries(program, sign), "entries of columns", "* "),
            Section.of([_fields("M2", "'MARKER'", "'INTEND'"), "RHS"]),
            Section.of(sides, "right-hand sides", "* "),
            Section.of(["BOUNDS"]),
            Section((_bounds(column) for column in columns), len(columns), "bounds", "* "),
            Section.of(["ENDATA"]),
        ]
    )


def _entries(program: IntegerProgram, sign: int) -> list[str]:
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
