"""Writers of WCNF, weighted clauses for MaxSAT solvers, and of CNF, for reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.export.origins import Origins, commented, ranges

if TYPE_CHECKING:
    from cpx.backends.maxsat.wcnf import Compiled
    from cpx.modelling.base import Problem
    from cpx.modelling.statement import Statement

# Integer variables with more values than this are not spelled out in the legend.
_MOST = 64


def wcnf(
    problem: Problem, statement: Statement, encoding: str, at_most: str | None = None
) -> Document:
    """Return the problem as weighted clauses, in the format of MaxSAT Evaluations since 2022.

    Lines ``h <literals> 0`` are hard clauses, ``<weight> <literals> 0`` soft ones, and there
    is no ``p`` line.
    """
    compiled = _compiled(statement, at_most)
    variables = Variables(problem, statement, compiled)
    sign = compiled.sign
    comments = [
        "format: weighted partial MaxSAT, 2022 and later: 'h' begins a hard clause, no p line",
        f"{compiled.top} variables, {len(compiled.clauses)} hard clauses, "
        f"{len(compiled.costs)} soft clauses",
        "value = the weight of the soft clauses that are not satisfied",
    ]
    return Document(
        [
            head("c ", problem, encoding, comments, compiled.offset + sign * compiled.base, sign),
            *variables.legend(),
            Section(
                commented(
                    (f"h {_row(clause)}" for clause in compiled.clauses),
                    variables.origins(),
                    "c ",
                ),
                len(compiled.clauses),
                "hard clauses",
                "c ",
            ),
            Section(
                (f"{weight} {-literal} 0" for literal, weight in compiled.costs.items()),
                len(compiled.costs),
                "soft clauses",
                "c ",
            ),
        ]
    )


def cnf(
    problem: Problem, statement: Statement, encoding: str, at_most: str | None = None
) -> Document:
    """Return the hard clauses, each in DIMACS and with the names of its variables."""
    compiled = _compiled(statement, at_most)
    variables = Variables(problem, statement, compiled)
    sign = compiled.sign
    comments = ["the hard clauses only"]
    offset = compiled.offset + sign * compiled.base
    return Document(
        [
            head("c ", problem, encoding, comments, offset, sign),
            *variables.legend(),
            Section.of([f"p cnf {compiled.top} {len(compiled.clauses)}"]),
            Section(
                commented(
                    (f"{_row(c):<24}  c {variables.words(c)}" for c in compiled.clauses),
                    variables.origins(),
                    "c ",
                ),
                len(compiled.clauses),
                "clauses",
                "c ",
            ),
        ]
    )


def _compiled(statement: Statement, at_most: str | None) -> Compiled:
    from cpx.backends.maxsat.wcnf import compile_statement

    return compile_statement(statement, at_most=at_most)


def _row(clause: Iterable[int]) -> str:
    return " ".join(map(str, (*clause, 0)))


class Variables:
    """Numbers and names of the variables of the statement, and where clauses come from."""

    def __init__(self, problem: Problem, statement: Statement, compiled: Compiled) -> None:
        from cpmpy.expressions.variables import _BoolVarImpl, _IntVarImpl

        self._problem, self._statement, self._compiled = problem, statement, compiled
        self._origins = Origins(problem, statement, len(compiled.clauses))
        self.numbers: dict[int, tuple[str, int]] = {}
        self.labels: dict[int, str] = {}
        self.integers: list[str] = []
        for array, variables in statement.variables.items():
            listed = list(variables)
            booleans = [isinstance(variable, _BoolVarImpl) for variable in listed]
            lowest = [int(getattr(variable, "lb", variable)) for variable in listed]
            # One literal for each Boolean that is said to be true, in their order.
            values = [1 if boolean else low for boolean, low in zip(booleans, lowest, strict=True)]
            literals = _literals(compiled, statement, array, values)
            if all(booleans):
                pairs = zip(literals, range(len(listed)), strict=True)
                self.numbers.update((literal, (array, index)) for literal, index in pairs)
                continue
            for index, variable in enumerate(listed):
                start = len(_literals(compiled, statement, array, values[:index]))
                if booleans[index]:
                    self.numbers[literals[start]] = (array, index)
                elif isinstance(variable, _IntVarImpl):
                    bits = {}
                    for value in range(variable.lb, min(variable.ub, variable.lb + _MOST) + 1):
                        say = _literals(compiled, statement, array, [*values[:index], value])
                        bits[value] = say[start:]
                    self._integer(f"{array}[{index}]", bits)
        for number, (array, index) in self.numbers.items():
            self.labels[number] = f"{array}[{index}]"

    def _integer(self, name: str, bits: dict[int, list[int]]) -> None:
        """Enter an integer variable by the literals that say each of its values."""
        for value, literals in bits.items():
            where = " ".join(map(str, literals)) or "always"
            self.integers.append(f"c {name} is {value} where {where}")
            for literal in literals:
                if literal > 0 and -literal in bits.get(value - 1, ()):
                    self.labels[literal] = f"{name}>={value}"
                elif literal > 0 and len(literals) == 1:
                    self.labels[literal] = f"{name}={value}"

    def legend(self) -> Iterator[Section]:
        """Yield the lines that name the variables."""
        named = [(number, *place) for number, place in self.numbers.items()]
        items = legend_items("c ", self._problem, self._statement, named)
        yield Section(items, len(named), "variables", "c ")
        yield Section.of(self.integers, "values of integer variables", "c ")
        auxiliary = [f"c {line}" for line in ranges(self._auxiliary())]
        yield Section.of(auxiliary, "ranges of auxiliary variables", "c ")

    def _auxiliary(self) -> Iterator[tuple[str, str]]:
        """Yield each variable that the statement does not have, and where it comes from."""
        named = {*self._compiled.named_variables()}
        origins = self._compiled.origins
        ends = [top for _, top, _ in origins[1:]] + [self._compiled.top]
        for (_, top, place), end in zip(origins, ends, strict=True):
            for number in range(top + 1, end + 1):
                if number not in named:
                    yield str(number), self._origins.text(place)

    def origins(self) -> Iterator[str]:
        """Yield for each clause where it comes from."""
        starts = self._compiled.origins
        ends = [first for first, _, _ in starts[1:]] + [len(self._compiled.clauses)]
        for (first, _, place), end in zip(starts, ends, strict=True):
            for clause in self._compiled.clauses[first:end]:
                named = [self.numbers[abs(x)] for x in clause if abs(x) in self.numbers]
                yield self._origins.text(place, named)

    def words(self, clause: Iterable[int]) -> str:
        """Return a clause with names for numbers."""
        return " or ".join(self.word(literal) for literal in clause)

    def word(self, literal: int) -> str:
        """Return the name of a literal."""
        name = self.labels.get(abs(literal), f"aux{abs(literal)}")
        return name if literal > 0 else f"not {name}"


def _literals(
    compiled: Compiled, statement: Statement, array: str, values: list[int]
) -> list[int]:
    # Compiled.literals says an assignment; empty arrays elsewhere leave just this array's.
    assignment: dict[str, Any] = {name: [] for name in statement.variables}
    assignment[array] = values
    return compiled.literals(assignment)
