"""Writer of OPB, the format of pseudo-Boolean solvers.

The rows of the linear program, with integer variables written in bits. CPMpy's own writer
loses the constant of the objective and writes ``max:``, which readers refuse.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.export.linear import IntegerProgram, Row, Terms, integer_program, without_empty

if TYPE_CHECKING:
    from cpx.models.base import Problem, Statement

__all__ = ["opb"]


def opb(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as an OPB file: ``min:``, ``>=`` and ``=``, integer coefficients.

    The first line is the header of the pseudo-Boolean competitions. A maximisation is
    written as the minimisation of the negated objective, which the legend says.
    """
    program = integer_program(statement)
    bits = _Bits(program)
    rows = [part for row in program.rows for part in without_empty(bits.row(row), first=1)]
    rows += bits.limits
    terms, constant = bits.terms(program.objective)
    sign = -1 if program.maximise else 1
    objective = [(sign * weight, number) for weight, number in terms]

    named = []
    for place, array, index in program.named:
        if program.columns[place].binary:
            named.append((f"x{bits.numbers[place][0][1]}", array, index))
    equal = sum(row.operator == "=" for row in rows)
    # What the competitions ask for: the bits of the largest sum a solver may meet.
    sizes = [sum(abs(w) for w, _ in row.terms) + abs(row.constant) for row in rows]
    largest = max([*sizes, sum(abs(w) for w, _ in objective), 1])
    header = (
        f"* #variable= {bits.top} #constraint= {len(rows)} #equal= {equal} "
        f"intsize= {largest.bit_length()}"
    )
    return Document(
        [
            Section.of([header]),
            head("* ", problem, encoding, ["format: OPB"], program.offset + constant, sign),
            Section(legend_items("* ", problem, named), len(named), "variables", "* "),
            Section.of(bits.words(), "integer variables", "* "),
            Section.of([f"min: {_sum(objective)};".replace(": ;", ": +0 x1 ;")]),
            Section((_line(row) for row in rows), len(rows), "constraints", "* "),
        ]
    )


class _Bits:
    """Columns as sums of Boolean variables: ``low + sum of weight * bit``."""

    def __init__(self, program: IntegerProgram) -> None:
        self.program = program
        self.numbers: list[list[tuple[int, int]]] = []
        self.limits: list[Row] = []
        self.top = 0
        for column in program.columns:
            width = column.high - column.low
            bits = [(1 << i, self.top + 1 + i) for i in range(width.bit_length())]
            self.top += len(bits)
            self.numbers.append(bits)
            if width & (width + 1):  # not all patterns of bits are values
                self.limits.append(Row([(-w, number) for w, number in bits], ">=", -width))

    def terms(self, terms: Terms) -> tuple[list[tuple[int, int]], int]:
        """Return terms over columns as terms over bits and a constant."""
        expanded, constant = [], 0
        for coefficient, place in terms:
            constant += coefficient * self.program.columns[place].low
            expanded += [(coefficient * w, number) for w, number in self.numbers[place]]
        return expanded, constant

    def row(self, row: Row) -> Row:
        """Return a row over bits, with >= or =."""
        terms, constant = self.terms(row.terms)
        side = row.constant - constant
        if row.operator != "<=":
            return Row(terms, row.operator, side)
        return Row([(-weight, number) for weight, number in terms], ">=", -side)

    def words(self) -> list[str]:
        """Return a comment for each integer variable of the statement."""
        lines = []
        for place, array, index in self.program.named:
            column = self.program.columns[place]
            if not column.binary:
                shift = [str(column.low)] if column.low or not self.numbers[place] else []
                bits = [f"{weight} x{number}" for weight, number in self.numbers[place]]
                lines.append(f"* {array}[{index}] is {' + '.join(shift + bits)}")
        return lines


def _sum(terms: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{weight:+d} x{number} " for weight, number in terms if weight)


def _line(row: Row) -> str:
    return f"{_sum(row.terms)}{row.operator} {row.constant} ;"
