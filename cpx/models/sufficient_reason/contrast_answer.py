"""The answer to what would have to change: columns, new values, and what was proved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cpx.answers.explanation import Explanation, LeastExplanation
from cpx.answers.text import Block, Fact, Paragraph
from cpx.answers.values import class_words
from cpx.data.condition import Condition, from_json, to_json, told
from cpx.errors import printable
from cpx.support.cells import is_missing

__all__ = ["Contrast"]


@dataclass(frozen=True)
class Contrast(LeastExplanation):
    """The fewest columns whose change gives a row another class; its rule has the new values.

    Attributes
    ----------
    instead_of : str
        The class of x.
    values : mapping of str to value
        New values of the columns that change: with these, and x otherwise, the row has the class.
    told : tuple of condition
        The same as conditions on the columns, which are printed.
    sets : tuple of tuple of int
        Sets of columns, in each of which one must change: they show that no change is lighter.
    gains : bool
        Whether columns that weigh less, added up, gain too little; that shows it without sets.
    others : tuple of Contrast
        Further changes that were asked for, none with all columns of another.

    Examples
    --------
    >>> from cpx.answers import Rule
    >>> from cpx.answers.claim import Claim
    >>> rule = Rule.of([0], ["a > 1 (now 0.5)"], "yes")
    >>> claim = Claim("contrast", optimal=True, value=1, bound=1)
    >>> found = Contrast(rule, claim=claim, instead_of="no", values={"a": 1.5})
    >>> print(found)
    a > 1 (now 0.5) gives yes in place of no
    >>> found.proved, found.minimum
    ('1 column: no smaller change gives another class', True)
    """

    instead_of: str = field(kw_only=True)
    values: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    told: tuple[Condition, ...] = field(default=(), kw_only=True)
    sets: tuple[tuple[int, ...], ...] = field(default=(), kw_only=True)
    gains: bool = field(default=False, kw_only=True)
    others: tuple[Contrast, ...] = field(default=(), kw_only=True)

    @property
    def row_class(self) -> str:
        """What the class of the row is called: the one that the change is from."""
        return self.instead_of

    @property
    def bound_checked(self) -> bool:
        """Whether code that no engine uses found that no change is lighter."""
        return bool(self.sets) or self.gains

    def __str__(self) -> str:
        changed, now = " and ".join(self.rule.words), self.rule.says
        give = "give" + "s" * (len(self.rule.words) == 1)
        return printable(f"{changed} {give} {now} in place of {class_words(self.instead_of)}")

    def headline(self) -> list[Block]:
        """Return the sentences that say what gives another class."""
        return [Paragraph(str(self), "strong"), *(Paragraph(f"or {o}") for o in self.others)]

    def facts(self) -> list[Fact]:
        """Return what is known about it."""
        return [Fact("new values", self._new_values()), *super().facts()]

    def _new_values(self) -> str:
        return printable(", ".join(map(told, self.told)))

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain JSON values."""
        data = {**super().to_dict(), "instead_of": self.instead_of}
        if self.values:
            data["values"] = {name: _plain(value) for name, value in self.values.items()}
        if self.told:
            data["told"] = list(map(to_json, self.told))
        if self.sets:
            data["sets"] = [list(one) for one in self.sets]
        if self.gains:
            data["gains"] = True
        if self.others:
            data["others"] = [one.to_dict() for one in self.others]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Contrast:
        """Read what :meth:`to_dict` wrote."""
        plain = Explanation.from_dict(data)
        return cls(
            plain.rule,
            claim=plain.claim,
            remarks=plain.remarks,
            instead_of=data["instead_of"],
            values={n: _value(value) for n, value in data.get("values", {}).items()},
            told=tuple(map(from_json, data.get("told", ()))),
            sets=tuple(tuple(map(int, one)) for one in data.get("sets", ())),
            gains=bool(data.get("gains", False)),
            others=tuple(cls.from_dict(one) for one in data.get("others", ())),
        )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a date and the like as it is printed."""
    if is_missing(value):
        return None
    return value if isinstance(value, str | int | float) else str(value)


def _value(plain: Any) -> Any:
    """Return a value as it was; a missing one is always this NaN, so that answers compare."""
    return math.nan if plain is None else plain
