"""Input files of solver programs in their formats, and the values of the solutions they print."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from cpx.backends.integer_program import IntegerProgram, Terms, integer_program
from cpx.backends.linear_formats import lp_parts, mps_parts
from cpx.backends.maxsat.wcnf import compile_statement
from cpx.backends.pseudo_boolean import PseudoBoolean, column_values
from cpx.modelling.statement import Statement, Values


class Form(ABC):
    """A statement in a format of files.

    sign, offset: The problem's objective is ``sign * value + offset`` of what the file minimises.
    """

    suffix: ClassVar[str]
    sign: int
    offset: int

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""

    @abstractmethod
    def values(self, assignment: Mapping[str, Fraction]) -> Values:
        """Return the values of the statement's variables; names as they are in the file."""

    @property
    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Sizes for the result."""

    @property
    def largest(self) -> int:
        """The largest sum of weights in the file."""
        return 0


class _Wcnf(Form):
    """Weighted clauses: the format since 2022, or the classic one with a ``p`` line."""

    suffix = ".wcnf"

    def __init__(self, statement: Statement, classic: bool) -> None:
        self._compiled, self._classic = compile_statement(statement), classic
        self.sign = self._compiled.sign
        self.offset = self._compiled.offset + self.sign * self._compiled.base

    @property
    def sizes(self) -> dict[str, int]:
        return self._compiled.sizes

    def lines(self) -> Iterator[str]:
        compiled = self._compiled
        hard = "h"
        if self._classic:
            top = 1 + sum(compiled.costs.values())
            hard, count = str(top), len(compiled.clauses) + len(compiled.costs)
            yield f"p wcnf {compiled.top} {count} {top}"
        for clause in compiled.clauses:
            yield " ".join(map(str, (hard, *clause, 0)))
        for literal, weight in compiled.costs.items():
            yield f"{weight} {-literal} 0"

    def values(self, assignment: Mapping[str, Fraction]) -> Values:
        return self._compiled.values([int(name) for name, value in assignment.items() if value])


class _Opb(Form):
    """Pseudo-Boolean constraints."""

    suffix = ".opb"

    def __init__(self, statement: Statement) -> None:
        self._form = PseudoBoolean(statement)
        self.sign, self.offset = self._form.sign, self._form.offset

    @property
    def sizes(self) -> dict[str, int]:
        return {"variables": self._form.top, "constraints": len(self._form.rows)}

    def lines(self) -> Iterator[str]:
        yield self._form.header
        yield from self._form.lines()

    def values(self, assignment: Mapping[str, Fraction]) -> Values:
        return self._form.values(lambda number: bool(assignment.get(f"x{number}", 0)))


class _Integers(Form):
    """The integer program, columns named ``x1 .. xn``."""

    def __init__(self, statement: Statement) -> None:
        given = integer_program(statement)
        self._arrays = statement.variables
        self.sign, self.offset = -1 if given.maximise else 1, given.offset
        self.objective = [(self.sign * weight, place) for weight, place in given.objective]
        columns = [replace(c, name=f"x{place}") for place, c in enumerate(given.columns, 1)]
        self.program: IntegerProgram = replace(
            given, columns=columns, objective=self.objective, maximise=False
        )

    @property
    def sizes(self) -> dict[str, int]:
        rows = self.program.rows
        return {"variables": len(self.program.columns), "constraints": len(rows)}

    @property
    def largest(self) -> int:
        rows = [[weight for weight, _ in row.terms] for row in self.program.rows]
        rows.append([weight for weight, _ in self.objective])
        return max(sum(map(abs, row)) for row in rows)

    def values(self, assignment: Mapping[str, Fraction]) -> Values:
        columns = self.program.columns
        return column_values(
            self._arrays,
            self.program.named,
            lambda place: round(assignment.get(f"x{place + 1}", columns[place].low)),
        )


class _Lp(_Integers):
    suffix = ".lp"

    def lines(self) -> Iterator[str]:
        # The solutions of some programs number the columns as they come.
        for part in lp_parts(self.program, in_order=True):
            yield from part.items


class _Mps(_Integers):
    suffix = ".mps"

    def lines(self) -> Iterator[str]:
        for part in mps_parts(self.program):
            yield from part.items


class FlatZinc(_Integers):
    """Constraints ``int_lin_le`` and ``int_lin_eq`` over integer variables."""

    suffix = ".fzn"

    def lines(self) -> Iterator[str]:
        program = self.program
        for place, column in enumerate(program.columns, 1):
            yield f"var {column.low}..{column.high}: x{place} :: output_var;"
        low, high = self._limits(self.objective)
        yield f"var {low}..{high}: value :: output_var :: is_defined_var;"
        for row in program.rows:
            sign = -1 if row.operator == ">=" else 1
            kind = "eq" if row.operator == "=" else "le"
            terms = [(sign * weight, f"x{place + 1}") for weight, place in row.terms]
            yield self._linear(kind, terms, sign * row.constant) + ";"
        terms = [(weight, f"x{place + 1}") for weight, place in self.objective]
        yield self._linear("eq", [*terms, (-1, "value")], 0) + " :: defines_var(value);"
        yield "solve minimize value;"

    def _limits(self, terms: Terms) -> tuple[int, int]:
        columns = self.program.columns
        ends = [(w * columns[place].low, w * columns[place].high) for w, place in terms]
        return sum(min(pair) for pair in ends), sum(max(pair) for pair in ends)

    @staticmethod
    def _linear(kind: str, terms: list[tuple[int, str]], constant: int) -> str:
        weights = ",".join(str(weight) for weight, _ in terms)
        names = ",".join(name for _, name in terms)
        return f"constraint int_lin_{kind}([{weights}],[{names}],{constant})"


def form_of_statement(statement: Statement, form: str) -> Form:
    """Return a statement in one of the formats of a definition."""
    if form in ("wcnf", "wcnf-classic"):
        return _Wcnf(statement, classic=form == "wcnf-classic")
    makers: dict[str, type[_Opb | _Integers]] = {
        "opb": _Opb,
        "lp": _Lp,
        "mps": _Mps,
        "flatzinc": FlatZinc,
    }
    return makers[form](statement)
