"""Writer of the LP format of CPLEX, for MILP solvers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.export.linear import IntegerProgram, Terms, integer_program

if TYPE_CHECKING:
    from cpx.models.base import Problem, Statement

__all__ = ["lp"]

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
    for number, row in enumerate(program.rows, 1):
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
