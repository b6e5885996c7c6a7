"""Writer of the free MPS format, for MILP solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.export.linear import Column, IntegerProgram, integer_program

if TYPE_CHECKING:
    from cpx.models.base import Problem, Statement

__all__ = ["mps"]

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
