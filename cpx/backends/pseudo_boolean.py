"""The pseudo-Boolean form of a statement: linear constraints over Booleans, in exact integers.

Weights stay as they are; integer variables are written in bits. It is the integer program with
these bits for its columns, and what OPB files, and engines that read them, are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from cpx.backends.integer_program import Row, Terms, integer_program, without_empty
from cpx.backends.maxsat.linear import linear_clauses
from cpx.modelling.statement import Statement, Values

__all__ = ["PseudoBoolean"]


class PseudoBoolean:
    """A statement as rows over the Booleans ``x1 .. xn``.

    at_most: The encoding of cardinalities as clauses, which are rows then; None leaves them as the
        rows that they are.
    program: What it is made of.
    top: The number of Booleans.
    rows, origins: The constraints, and of each the place of its constraint in the statement.
    bits: Of each column the weights and the numbers of its bits; its minimum is to be added.
    objective: Weights and numbers, to minimise.
    sign, offset: The problem's objective is ``sign * value + offset``.

    >>> import cpmpy as cp
    >>> from cpx.modelling.base import Statement
    >>> a, k = cp.boolvar(name="a"), cp.intvar(1, 3, name="k")
    >>> statement = Statement(cp.Model(a + k <= 3, maximize=2 * a + k), {"v": [a, k]}, None, "max")
    >>> form = PseudoBoolean(statement)
    >>> list(form.lines())
    ['min: -2 x1 -1 x2 -2 x3 ;', '-1 x1 -1 x2 -2 x3 >= -2 ;', '-1 x2 -2 x3 >= -2 ;']
    >>> form.sign, form.offset
    (-1, 1)
    """

    def __init__(self, statement: Statement, at_most: str | None = None) -> None:
        self._at_most = at_most
        self.program = integer_program(statement)
        self._arrays = statement.variables
        self.bits: list[list[tuple[int, int]]] = []
        self._limits: list[Row] = []
        self.top = 0
        for column in self.program.columns:
            width = column.high - column.low
            bits = [(1 << i, self.top + 1 + i) for i in range(width.bit_length())]
            self.top += len(bits)
            self.bits.append(bits)
            if width & (width + 1):  # not all patterns of bits are values
                self._limits.append(Row([(-w, number) for w, number in bits], ">=", -width))
        self.sign = -1 if self.program.maximise else 1
        terms, constant = self._terms(self.program.objective)
        self.objective = [(self.sign * weight, number) for weight, number in terms]
        self.offset = self.program.offset + constant
        self.rows: list[Row] = []
        self.origins: list[int] = []
        self._add_rows()

    def _add_rows(self) -> None:
        """Enter the constraints, with >= or =, and where they come from."""
        from pysat.formula import IDPool

        pool = IDPool(start_from=self.top + 1)
        program = self.program
        said = [(origin, self._row(row)) for origin, row in zip(program.origins, program.rows)]
        for origin, row in [*said, *((-1, row) for row in self._limits)]:
            for one in without_empty(row, first=1):
                self.rows += [one] if self._at_most is None else self._in_clauses(one, pool)
            self.origins += [origin] * (len(self.rows) - len(self.origins))
        self.top = pool.top

    def _in_clauses(self, row: Row, pool: Any) -> list[Row]:
        """Return the clauses of a cardinality as rows, and any other row as it is."""
        if len({abs(weight) for weight, _ in row.terms}) != 1:
            return [row]
        operator = "==" if row.operator == "=" else row.operator
        clauses = linear_clauses(row.terms, operator, row.constant, pool, at_most=self._at_most)
        rows = (_clause(clause) for clause in clauses)
        return [one for clause in rows for one in without_empty(clause, first=1)]

    def _terms(self, terms: Terms) -> tuple[list[tuple[int, int]], int]:
        """Return terms over columns as terms over bits and a constant."""
        expanded, constant = [], 0
        for coefficient, place in terms:
            constant += coefficient * self.program.columns[place].low
            expanded += [(coefficient * w, number) for w, number in self.bits[place]]
        return expanded, constant

    def _row(self, row: Row) -> Row:
        terms, constant = self._terms(row.terms)
        side = row.constant - constant
        if row.operator != "<=":
            return Row(terms, row.operator, side)
        return Row([(-weight, number) for weight, number in terms], ">=", -side)

    @property
    def header(self) -> str:
        """The first line of an OPB file: two counts, all that clasp 3.3 lets it have."""
        return f"* #variable= {self.top} #constraint= {len(self.rows)}"

    def lines(self) -> Iterator[str]:
        """Yield the objective and the constraints in OPB."""
        yield f"min: {_sum(self.objective) or '+0 x1 '};"
        for row in self.rows:
            yield f"{_sum(row.terms)}{row.operator} {row.constant} ;"

    def values(self, holds: Callable[[int], bool]) -> Values:
        """Return the values of the statement's variables where ``holds`` says what is true."""
        return column_values(
            self._arrays,
            self.program.named,
            lambda place: (
                self.program.columns[place].low
                + sum(weight for weight, number in self.bits[place] if holds(number))
            ),
        )

    def bits_of(self, values: Values) -> dict[int, bool]:
        """Return what holds, by number, where the statement's variables have these values."""
        found: dict[int, bool] = {}
        for place, name, index in self.program.named:
            left = int(values[name][index]) - self.program.columns[place].low
            found |= {number: bool(left & weight) for weight, number in self.bits[place]}
        return found


def _clause(literals: list[int]) -> Row:
    terms = [(1 if literal > 0 else -1, abs(literal)) for literal in literals]
    return Row(terms, ">=", 1 - sum(literal < 0 for literal in literals))


def column_values(arrays: Mapping[str, Any], named: Any, value: Callable[[int], int]) -> Values:
    """Return the values of named arrays from those of columns; the rest are constants."""
    found = {
        name: np.array([getattr(v, "lb", v) for v in array], dtype=np.int64)
        for name, array in arrays.items()
    }
    for place, name, index in named:
        found[name][index] = value(place)
    return found


def _sum(terms: Terms) -> str:
    return "".join(f"{weight:+d} x{number} " for weight, number in terms if weight)
