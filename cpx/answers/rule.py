"""Rules and sets of rules: what a person reads, and the figures of each rule of a set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cpx.answers.html import Shown
from cpx.answers.text import Block, Table, as_text
from cpx.answers.values import class_words
from cpx.data.condition import Condition, from_json, to_json, told
from cpx.data.terms import Cases, mask, to_python, to_sql
from cpx.errors import InvalidOption, printable
from cpx.support.shares import ExactFloat, share_text


@dataclass(frozen=True)
class Literal:
    """One condition of a rule: feature ``feature`` has the value it has in x.

    Attributes
    ----------
    feature : int
        Index of the feature, from 0.
    means : str, tuple of str, or condition of a column
        What is true of the explained instance: a Boolean feature by its name, such as
        ``"worst radius <= 14.9"``, the names of several, or what a column is; see
        :mod:`cpx.data.condition`.
    """

    feature: int
    means: Condition

    @property
    def text(self) -> str:
        """The condition in words."""
        return told(self.means)

    def __str__(self) -> str:
        return printable(self.text)


@dataclass(frozen=True)
class Rule(Shown):
    """A conjunction of literals and the class it stands for.

    Attributes
    ----------
    literals : tuple of Literal
        By increasing feature.
    conclusion : str
        Name of the class; empty where the data do not say what it is called.
    conditions : tuple
        The same conjunction as it is printed, with the literals of one column joined;
        empty when the literals are printed themselves. Each is as in a literal.
    cases : tuple, optional
        What columns of a table must be, for :meth:`mask`, :meth:`to_sql` and :meth:`to_python`;
        see :mod:`cpx.data.terms`. It is not saved, and not compared.

    Examples
    --------
    >>> print(Rule.of([3, 0], ["a <= 1", "b", "c", "d > 2"], "yes"))
    a <= 1 and d > 2 => yes
    >>> print(Rule.of([], ["a"], "1"))
    (always) => class 1
    """

    literals: tuple[Literal, ...]
    conclusion: str = ""
    conditions: tuple[Condition, ...] = ()
    cases: Cases | None = field(default=None, compare=False, repr=False)

    joint: ClassVar[str] = "and"
    empty: ClassVar[str] = "(always)"
    unnamed: ClassVar[str] = "same class as x"

    @classmethod
    def of(cls, features: Iterable[int], names: Sequence[Condition], conclusion: str) -> Rule:
        """Build the rule of the given feature indices, in increasing order."""
        return cls(tuple(Literal(j, names[j]) for j in sorted(set(features))), conclusion)

    @cached_property
    def features(self) -> tuple[int, ...]:
        """Indices of the features, increasing."""
        return tuple(literal.feature for literal in self.literals)

    def __len__(self) -> int:
        return len(self.literals)

    @property
    def text(self) -> str:
        """The rule as it is saved: with all characters of its names."""
        return f"{f' {self.joint} '.join(self.words) or self.empty} => {self.says}"

    def __str__(self) -> str:
        return printable(self.text)

    def blocks(self) -> list[Block]:
        """Return what is printed and shown."""
        return [self]

    @property
    def words(self) -> tuple[str, ...]:
        """The conditions as they are printed."""
        return tuple(map(told, self.conditions)) or tuple(one.text for one in self.literals)

    @property
    def says(self) -> str:
        """The class in words."""
        return class_words(self.conclusion) or self.unnamed

    def mask(self, X: Any) -> npt.NDArray[np.bool_]:
        """Return which rows of a table are covered, shape (n,).

        Parameters
        ----------
        X : DataFrame or array of shape (n, columns)

        Raises
        ------
        DataError
            When the table lacks a column.
        InvalidOption
            When the rule is not about columns of a table any more: it was saved, or its features
            are Boolean from the start.
        """
        return mask(self._of_columns(), X)

    def to_sql(self) -> str:
        """Return the rule as the condition behind WHERE; what has no value is NULL there.

        Raises
        ------
        InvalidOption
            As for :meth:`mask`.
        """
        return to_sql(self._of_columns())

    def to_python(self) -> str:
        """Return a function ``covers(row)`` in Python, of rows as mappings by column.

        Raises
        ------
        InvalidOption
            As for :meth:`mask`.
        """
        return to_python(self._of_columns(), self.text)

    def to_text(self) -> str:
        """Return the rule in words, as it is printed."""
        return str(self)

    def _of_columns(self) -> Cases:
        if self.cases is None:
            raise InvalidOption(
                "this rule has no test of a table's columns: those of kind='rule' and of "
                "RuleSetClassifier have one until they are saved; the rows of the others are "
                "listed by explanation.rows"
            )
        return self.cases

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain JSON values."""
        return {
            "literals": [[one.feature, to_json(one.means)] for one in self.literals],
            "conclusion": self.conclusion,
            "conditions": list(map(to_json, self.conditions)),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Rule:
        """Read what :meth:`to_dict` wrote."""
        conditions = tuple(map(from_json, data["conditions"]))
        return cls(_literals(data), str(data["conclusion"]), conditions)


def _literals(data: Mapping[str, Any]) -> tuple[Literal, ...]:
    return tuple(Literal(int(j), from_json(means)) for j, means in data["literals"])


@dataclass(frozen=True)
class RuleFigures:
    """What one rule of a set does on the samples, as weights.

    Attributes
    ----------
    literals : int
        Number of its conditions.
    covered, agreeing : int
        Weight of the samples it covers, and of those of the class among them.
    marginal : int
        By how much the weight of the errors of the set would rise without the rule; negative
        where it would fall.
    """

    literals: int
    covered: int
    agreeing: int
    marginal: int

    @property
    def precision(self) -> ExactFloat | None:
        """Share of the class in what is covered; ``None`` when nothing is."""
        return ExactFloat.of(self.agreeing, self.covered)


@dataclass(frozen=True)
class RuleSet(Rule):
    """Rules any of which is enough: a disjunction of conjunctions.

    What reads a :class:`Rule` reads a set as well: each of its ``literals`` is a
    rule, its number and its text, and they are joined by "or".

    Attributes
    ----------
    figures : tuple of RuleFigures
        One per rule.
    total : int
        Weight of all samples.
    price : Fraction, optional
        What a rule costs, in errors; where it is known, the table has the *contribution* of
        each rule: by how much errors and price would rise without it.

    Examples
    --------
    >>> figures = (RuleFigures(2, 50, 48, 40), RuleFigures(1, 10, 10, 3))
    >>> rules = RuleSet((Literal(4, "a <= 1 and b"), Literal(7, "c")), "yes",
    ...                 figures=figures, total=100)
    >>> print(rules)
    (a <= 1 and b) or c => yes
    >>> print(rules.table())
    coverage  precision  errors without it  rule
       0.500      0.960                +40  a <= 1 and b
       0.100      1.000                 +3  c
    >>> priced = RuleSet(rules.literals, "yes", figures=figures, total=100, price=Fraction(5))
    >>> print(priced.table())
    coverage  precision  errors without it  contribution  rule
       0.500      0.960                +40        +35.00  a <= 1 and b
       0.100      1.000                 +3         -2.00  c
    """

    figures: tuple[RuleFigures, ...] = ()
    total: int = 0
    price: Fraction | None = None

    joint: ClassVar[str] = "or"
    empty: ClassVar[str] = "(never)"
    unnamed: ClassVar[str] = "the class"

    @property
    def words(self) -> tuple[str, ...]:
        """The rules as they are printed."""
        several = len(self.literals) > 1
        return tuple(
            f"({literal.text})" if several and f.literals > 1 else literal.text
            for literal, f in zip(self.literals, self.figures, strict=True)
        )

    @property
    def contributions(self) -> tuple[Fraction, ...]:
        """By how much errors and price would rise without each rule."""
        return tuple(f.marginal - (self.price or Fraction(0)) for f in self.figures)

    def table(self, texts: Sequence[str] | None = None) -> str:
        """Return a line per rule: coverage, precision, and the errors it prevents.

        With a price, also its contribution.

        Parameters
        ----------
        texts : sequence of str, optional
            Other words for the rules.
        """
        return as_text([self.figures_table(texts)])

    def figures_table(self, texts: Sequence[str] | None = None) -> Table:
        """Return the lines of :meth:`table` as a block."""
        names = [literal.text for literal in self.literals] if texts is None else list(texts)
        priced = self.price is not None
        rows = []
        for name, f, worth in zip(names, self.figures, self.contributions, strict=True):
            precision = "none" if f.precision is None else share_text(f.precision)
            figures = [share_text(Fraction(f.covered, self.total)), precision, f"{f.marginal:+}"]
            rows.append((*figures, *[f"{float(worth):+.2f}"] * priced, name))
        head = ("coverage", "precision", "errors without it", *["contribution"] * priced, "rule")
        return Table(head, tuple(rows), left=(len(head) - 1,))

    def blocks(self) -> list[Block]:
        """Return the set, and its table."""
        return [*super().blocks(), self.figures_table()] if self.literals else super().blocks()

    def to_dict(self) -> dict[str, Any]:
        """Return the set as plain JSON values."""
        figures = [[f.literals, f.covered, f.agreeing, f.marginal] for f in self.figures]
        priced = {} if self.price is None else {"price": str(self.price)}
        return {**super().to_dict(), "figures": figures, "total": self.total, **priced}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RuleSet:
        """Read what :meth:`to_dict` wrote."""
        return cls(
            _literals(data),
            str(data["conclusion"]),
            figures=tuple(RuleFigures(*map(int, row)) for row in data["figures"]),
            total=int(data["total"]),
            price=Fraction(data["price"]) if "price" in data else None,
        )
