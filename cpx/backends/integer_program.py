"""The linear program of a statement in exact integers: for OPB, LP, MPS and FlatZinc.

PuLP's own writers of files round coefficients to 12 digits (LP) and drop the constant of
the objective; weights of samples may have 13 digits, so the files are written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cpx.errors import EngineError, shown
from cpx.modelling.statement import Statement

Terms = Sequence[tuple[int, int]]
"""Coefficients and places of columns."""


@dataclass(frozen=True)
class Column:
    """An integer variable: its name, and its minimum and maximum."""

    name: str
    low: int
    high: int

    @property
    def binary(self) -> bool:
        """Whether the values are 0 and 1."""
        return self.low == 0 and self.high == 1


@dataclass(frozen=True)
class Row:
    """``sum of coefficient * column  operator  constant``; the operator is <=, >= or =."""

    terms: Terms
    operator: str
    constant: int


@dataclass(frozen=True)
class IntegerProgram:
    """A linear program over integers.

    columns: First those of the statement, in the order of its arrays, then auxiliary ones.
    rows: The constraints; none is empty.
    objective: Coefficients and columns, without constant.
    offset: What is to be added to the objective to have the problem's.
    maximise: The sense.
    named: Column, array and index of each variable of the statement.
    origins: Of each row, the place of the constraint of the statement that it is of; -1 for those
        that the objective brings.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    objective: Terms
    offset: int
    maximise: bool
    named: Sequence[tuple[int, str, int]]
    origins: Sequence[int] = ()

    @property
    def sizes(self) -> str:
        """Sizes in words."""
        nonzeros = sum(len(row.terms) for row in self.rows)
        return f"{len(self.columns)} columns, {len(self.rows)} rows, {nonzeros} nonzeros"


def integer_program(statement: Statement) -> IntegerProgram:
    """Compile a statement with the MILP interface and read the rows back exactly.

    Raises EngineError: When a coefficient is not an integer or a variable not bounded, which no
        statement of ours brings about.
    """
    from cpx.backends.milp.pulp_solver import CPM_pulp

    compiled = CPM_pulp(statement.model, traced=True)
    named = [
        (compiled.solver_var(variable), array, index)
        for array, index, variable in variable_names(statement)
    ]
    # A constant in place of a variable (a domain of one value) is no column.
    named = [entry for entry in named if hasattr(entry[0], "lowBound")]
    native = {variable.name: variable for variable, _, _ in named}
    n_native = len(native)
    objective, constraints = compiled.lp.objective, compiled.lp.constraints()
    for expression in (*constraints, *([] if objective is None else [objective])):
        native.update((variable.name, variable) for variable in expression)
    places = {name: place for place, name in enumerate(native)}
    columns = []
    for place, (name, variable) in enumerate(native.items()):
        # CPMpy numbers auxiliary variables through all models of the process; numbers of
        # our own make equal files of equal problems.
        outside = name if place < n_native else f"aux{place - n_native}"
        columns.append(Column(outside, _integer(variable.lowBound), _integer(variable.upBound)))

    if not columns:
        columns.append(Column("unused", 0, 1))
    rows: list[Row] = []
    origins: list[int] = []
    for constraint, origin in zip(constraints, compiled.origins, strict=True):
        rows += without_empty(_row(constraint, places), first=0)
        origins += [origin] * (len(rows) - len(origins))
    return IntegerProgram(
        columns=columns,
        rows=rows,
        objective=[] if objective is None else _terms(objective, places),
        offset=statement.offset + (0 if objective is None else _integer(objective.constant)),
        maximise=statement.sense == "max",
        named=[(places[variable.name], array, index) for variable, array, index in named],
        origins=origins,
    )


def variable_names(statement: Statement) -> list[tuple[str, int, Any]]:
    """Return array, index and CPMpy variable of each element of the statement's arrays."""
    return [
        (array, index, variable)
        for array, variables in statement.variables.items()
        for index, variable in enumerate(variables)
    ]


def without_empty(row: Row, first: int) -> list[Row]:
    """Return the row, or what says the same where it has no terms.

    Not all readers take an empty row: a true one is left out, a false one is said with the
    variable ``first``, which would have to be 0 and 1.
    """
    if row.terms:
        return [row]
    holds = {"<=": row.constant >= 0, ">=": row.constant <= 0, "=": row.constant == 0}
    if holds[row.operator]:
        return []
    return [Row([(1, first)], ">=", 1), Row([(-1, first)], ">=", 0)]


def _row(constraint: Any, places: dict[str, int]) -> Row:
    operator = {-1: "<=", 0: "=", 1: ">="}[constraint.sense]
    return Row(_terms(constraint, places), operator, -_integer(constraint.constant))


def _terms(expression: Any, places: dict[str, int]) -> list[tuple[int, int]]:
    pairs = [(_integer(weight), places[v.name]) for v, weight in expression.items()]
    return sorted(((w, place) for w, place in pairs if w), key=lambda pair: pair[1])


def _integer(value: Any) -> int:
    if value is None or int(value) != value:
        raise EngineError(f"no integer in the linear program: {shown(value)}")
    return int(value)
