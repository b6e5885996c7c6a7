"""Where the clauses and rows of a file come from: lines of the mathematics, samples, features."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from cpx.answers.text import one_line
from cpx.backends.integer_program import IntegerProgram, Row, variable_names
from cpx.export.document import Section
from cpx.export.legend import legend_items

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.modelling.statement import Statement

Named = tuple[str, int]
"""Array and index of a variable of the statement."""

_MOST = 5000
"""With more clauses or rows, only lines of the mathematics are named, not samples."""

_TOLD = 3
"""Of more samples or features none is named."""

_EACH = re.compile(r"(?:^|not |-> )X_")
"""Lines that speak of a feature each, not of a sum or a disjunction of all."""


class Origins:
    """What a comment says of each clause or row.

    count: The number of clauses or rows: of many, only the lines are named.
    """

    def __init__(self, problem: Problem, statement: Statement, count: int) -> None:
        self._problem, self._statement = problem, statement
        self._detailed = count <= _MOST
        self._of_constraint = lru_cache(maxsize=1)(self._named_in)

    def text(self, place: int, named: Iterable[Named] = ()) -> str:
        """Return where a clause or row of a constraint comes from.

        place: Of the constraint in the statement; below 0 for what no constraint says.
        named: The variables of the statement in it.
        """
        subject = self.subject(place, named)
        return f"{self.line(place)}: {subject}" if subject else self.line(place)

    def subject(self, place: int, named: Iterable[Named] = ()) -> str:
        """Return the samples or features that a clause or row is of; empty where of no few."""
        if not self._detailed:
            return ""
        if subject := self._line(place).partition("; ")[2]:
            return subject
        line = self.line(place)
        told = self._subjects(line, list(named))
        if not told and place >= 0:
            told = self._subjects(line, self._of_constraint(place))
        return ", ".join(told)

    def line(self, place: int) -> str:
        """Return the line of the mathematics alone."""
        return self._line(place).partition("; ")[0]

    def _line(self, place: int) -> str:
        lines = self._statement.lines
        if place < 0:
            return "values of integer variables"
        if place < len(lines):
            return lines[place]
        if lines and self._problem.side_constraints:
            return "side constraint"
        return f"constraint {place}"

    def _subjects(self, line: str, named: Sequence[Named]) -> list[str]:
        """Return what variables stand for: samples and the like, features of a line for each."""
        means, words = self._statement.means, self._problem.feature_names
        features = {i for a, i in named if a == "X" and i < len(words) and _EACH.search(line)}
        others = dict.fromkeys(means[a](i) for a, i in named if a in means)
        # What there is only one of, such as the size of the rule, has no number.
        others = {text: None for text in others if text[-1:].isdigit()}
        parts = ([one_line(words[i]) for i in sorted(features)], list(others))
        return [text for part in parts if len(part) <= _TOLD for text in part]

    def _named_in(self, place: int) -> list[Named]:
        from cpmpy.transformations.get_variables import get_variables

        names = {str(v): (a, i) for a, i, v in variable_names(self._statement)}
        stated = get_variables(self._statement.model.constraints[place])
        return [names[str(v)] for v in stated if str(v) in names]


def commented(items: Iterable[str], comments: Iterable[str], mark: str) -> Iterator[str]:
    r"""Yield each item, below a comment where its comment is not that of the item before.

    >>> list(commented(["1 0", "2 0", "3 0"], ["a", "a", "b"], "c "))
    ['c a\n1 0', '2 0', 'c b\n3 0']
    """
    last = None
    for item, comment in zip(items, comments, strict=True):
        yield item if comment == last else f"{mark}{comment}\n{item}"
        last = comment


def ranges(names: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for all names in a row that have the same text.

    >>> list(ranges([("aux0", "a"), ("aux1", "a"), ("aux2", "b")]))
    ['aux0 to aux1: auxiliary, of a', 'aux2: auxiliary, of b']
    """
    first = last = text = ""
    for name, own in names:
        if first and own == text:
            last = name
            continue
        if first:
            yield _range(first, last, text)
        first = last = name
        text = own
    if first:
        yield _range(first, last, text)


def _range(first: str, last: str, text: str) -> str:
    return f"{first if first == last else f'{first} to {last}'}: auxiliary, of {text}"


class ProgramOrigins(Origins):
    """What is said of the rows of an integer program, and of its auxiliary columns."""

    def __init__(self, problem: Problem, statement: Statement, program: IntegerProgram) -> None:
        super().__init__(problem, statement, len(program.rows))
        self._program = program
        self._named = {place: (array, index) for place, array, index in program.named}

    def rows(self) -> list[str]:
        """Return what is said of each row."""
        pairs = zip(self._program.rows, self._program.origins, strict=True)
        return [self.text(place, self._in(row)) for row, place in pairs]

    def legend(self, mark: str, names: Sequence[str] | None = None) -> Section:
        """Return the lines that name the columns, by their names or others."""
        names = names or [column.name for column in self._program.columns]
        named = [(names[place], array, index) for place, array, index in self._program.named]
        items = legend_items(mark, self._problem, self._statement, named)
        return Section(items, len(named), "variables", mark)

    def auxiliary(self, names: Sequence[str] | None = None) -> list[str]:
        """Return a line for each range of auxiliary columns of the same origin."""
        names = names or [column.name for column in self._program.columns]
        known, found = set(self._named), []
        for row, text in zip(self._program.rows, self.rows(), strict=True):
            for _, place in row.terms:
                if place not in known:
                    known.add(place)
                    found.append((place, text))
        return list(ranges((names[place], text) for place, text in sorted(found)))

    def _in(self, row: Row) -> list[Named]:
        return [self._named[place] for _, place in row.terms if place in self._named]
