"""What names in a constraint stand for: conditions, features, rules, and the columns they test."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from cpx.errors import InvalidInstance, nearest, shortened, shown

_MOST_LISTED = 12

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_BETWEEN = re.compile(rf"({_NUMBER}) (<=|<) (.+) (<=|<) ({_NUMBER})")
_COMPARED = re.compile(r"(.+?) (<=|>=|!=|=|<|>) (.+)")
_STATE = re.compile(r"(.+) is (missing|known)")
_JOINED = re.compile(r" (?:and|or) |^not \(")
_NEGATED = re.compile(r"not \(([^()]*(?:\([^()]*\)[^()]*)*)\)")


class Condition(NamedTuple):
    """A condition on a column, in a form that does not depend on how numbers are written.

    ``test`` has an operator and a value, two of them for a condition with two sides.
    """

    column: str
    test: tuple[str, ...]


def value_of(text: str) -> str:
    """Return a value as it is compared: numbers that are equal have the same text."""
    try:
        return repr(float(text))
    except ValueError:
        return text


def condition_of(text: str) -> Condition | None:
    """Return what a condition as it is printed tests; None for another text.

    >>> condition_of("39 < age <= 60.0")
    Condition(column='age', test=('>', '39.0', '<=', '60.0'))
    >>> condition_of("sex = male"), condition_of("x0")
    (Condition(column='sex', test=('=', 'male')), None)
    >>> condition_of("not (1 < width (cm) <= 2)")
    Condition(column='width (cm)', test=('not', '>', '1.0', '<=', '2.0'))
    """
    if (match := _NEGATED.fullmatch(text)) and (inner := condition_of(match[1])) is not None:
        return Condition(inner.column, ("not", *inner.test))
    if _JOINED.search(text):
        return None
    if match := _BETWEEN.fullmatch(text):
        low, above, column, below, high = match.groups()
        return Condition(column, (above.replace("<", ">"), value_of(low), below, value_of(high)))
    if match := _COMPARED.fullmatch(text):
        column, sign, value = match.groups()
        return Condition(column, (sign, value_of(value)))
    if match := _STATE.fullmatch(text):
        return Condition(match[1], ("is", match[2]))
    return None


class Vocabulary:
    """The names that the constraints of a problem can have.

    names: What an answer is made of, as it is printed, in the order of its numbers; a name that
        stands for several indices means one of them or more.
    parts: What is in these in turn, such as the conditions of rules. A name in quotes that is
        among ``names`` too keeps its meaning there; conditions and columns mean all that have
        them.
    untrue: Conditions that exist and that no answer contains, since they are not true of x.
    what: What one of the names is called, such as ``"condition"``.
    """

    def __init__(
        self,
        names: Iterable[tuple[str, Iterable[int]]],
        parts: Iterable[tuple[str, Iterable[int]]] = (),
        untrue: Iterable[str] = (),
        what: str = "feature",
    ) -> None:
        self.what = what
        self.untrue = frozenset(untrue)
        listed = [(name, set(some)) for name, some in names]
        self.numbered = [some for _, some in listed]
        own = _merged(listed)
        inside = _merged(parts)
        derived = {name: some for name, some in inside.items() if name not in own}
        self.names: dict[str, set[int]] = {**{name: set() for name in self.untrue}, **derived}
        self.names |= own
        self.conditions: dict[Condition, str] = {}
        self.tested: dict[Condition, set[int]] = {}
        self.columns: dict[str, set[int]] = {}
        for name, some in (*self.names.items(), *inside.items()):
            if (condition := condition_of(name)) is not None:
                self.conditions.setdefault(condition, name)
                self.tested.setdefault(condition, set()).update(some)
                self.columns.setdefault(condition.column, set()).update(some)

    def resolved(self, name: str) -> tuple[str, set[int]]:
        """Return the name as it is known, and what it stands for.

        A name, a condition however its numbers are written, or any condition on a column.

        Raises InvalidInstance: For a name that stands for nothing, with the nearest one.
        """
        if name in self.names:
            return name, self.names[name]
        if name in self.columns:
            return name, self.columns[name]
        condition = condition_of(name)
        if condition is not None and condition.column in self.columns:
            known = self.name_of(condition, name)
            return known, self.names[known]
        near = nearest(name, [*self.names, *self.columns])
        raise InvalidInstance(f"{shown(name)} names nothing{near}{self._known()}")

    def number(self, j: int) -> set[int]:
        """Return what the name of a number stands for."""
        if not 0 <= j < len(self.numbered):
            raise InvalidInstance(
                f"{j} is no number of a {self.what}: 0 to {len(self.numbered) - 1}"
            )
        return self.numbered[j]

    def has(self, condition: Condition) -> bool:
        """Whether there is a condition with this test."""
        return condition in self.conditions

    def name_of(self, condition: Condition, text: str) -> str:
        """Return the name of a condition.

        Raises InvalidInstance: For one that is not there: with the nearest column, or the
            conditions of the column.
        """
        if condition in self.conditions:
            return self.conditions[condition]
        if condition.column not in self.columns:
            near = nearest(condition.column, self.columns)
            raise InvalidInstance(
                f"{shown(condition.column)} is no column of a condition{near}{self._known()}"
            )
        there = [n for c, n in self.conditions.items() if c.column == condition.column]
        raise InvalidInstance(
            f"there is no {self.what} {shown(text)}{nearest(text, there)}; on "
            f"{shown(condition.column)} there {'is' if len(there) == 1 else 'are'} "
            + _listed(there)
        )

    def _known(self) -> str:
        return "; there are " + _listed(self.names) if self.names else ""


def _merged(names: Iterable[tuple[str, Iterable[int]]]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for name, some in names:
        found.setdefault(name, set()).update(some)
    return found


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    told = ", ".join(shortened(name) for name in every[:_MOST_LISTED])
    left = len(every) - _MOST_LISTED
    return f"{told}, and {left} more" if left > 0 else told
