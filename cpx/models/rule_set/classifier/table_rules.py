"""Rules over the columns of a table: their words, and the rows they cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.binarizer import Binarizer
from cpx.data.columns import CategoryColumn, Column, NumberColumn
from cpx.data.date_columns import DateColumn
from cpx.data.terms import Cases, Term, labelled, merged, term
from cpx.data.words import Words
from cpx.models.rule_set.conditions import Interval, in_words
from cpx.models.rule_set.methods.candidates.literals import Literals

__all__ = ["TableRules"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TableRules:
    """Conjunctions of the literals of a binarized table.

    binarizer: Fitted.
    rules: Literals of each rule, as :class:`~cpx.models.rule_set.methods.candidates.Literals`
        numbers them.
    words: What columns are called.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "tint": list("aabb")})
    >>> rules = TableRules(Binarizer(4).fit(table), ((1, 4, 6),))
    >>> rules.conditions
    (('1.5 < size <= 3.5', 'tint = a'),)
    >>> rules.covers(table)
    array([[False,  True, False, False]])
    """

    binarizer: Binarizer
    rules: tuple[tuple[int, ...], ...]
    words: Words = field(default_factory=dict)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Rules that were pickled when columns had no words have none.
        self.__dict__.update({"words": {}, **state})

    def covers(self, X: Any) -> BoolArray:
        """Return which rules cover which rows, shape (rules, n).

        A rule with a condition on a number does not cover a row in which the number is missing,
        unless the condition says otherwise: that it is missing, or ``not (a <= t)``.
        """
        bits = self.binarizer.transform(X)
        literals = Literals.of_bits(bits, self.binarizer)
        lost = self._lost(bits)
        covers = self.hold(literals)
        for r, rule in enumerate(self.rules):
            about = sorted({literals.columns[j // 2] for j in rule})
            covers[r] &= ~lost[:, about].any(axis=1)
        return covers

    def hold(self, literals: Literals) -> BoolArray:
        """Return which rules the rows of fit satisfy, from their literals, shape (rules, n)."""
        holds = np.empty((len(self.rules), len(literals.features)), dtype=bool)
        for r, rule in enumerate(self.rules):
            holds[r] = _holds(literals, rule)
        return holds

    def shortened(self, literals: Literals) -> TableRules:
        """Drop literals, the last first, without which a rule covers the same rows.

        Of two categories, "is not the one" becomes "is the other".

        literals: Of the rows.
        """
        rules = []
        for rule in self.rules:
            covered, kept = _holds(literals, rule), rule
            for j in reversed(rule):
                rest = tuple(i for i in kept if i != j)
                if np.array_equal(_holds(literals, rest), covered):
                    kept = rest
            rules.append(tuple(sorted(self._named(j, literals) for j in kept)))
        return replace(self, rules=tuple(rules))

    def _named(self, j: int, literals: Literals) -> int:
        """Return the literal that names a category where there are two and j excludes one."""
        c = literals.columns[j // 2]
        column = self.binarizer.columns_[c]
        if not isinstance(column, CategoryColumn) or column.missing or j % 2 == 0:
            return j
        place = j // 2 - literals.columns.index(c)
        return j + 1 - 4 * place if len(column.categories) == 2 else j

    def _lost(self, bits: BoolArray) -> BoolArray:
        """Return where a number is missing in a column that had all in fit, shape (n, columns)."""
        lost = np.zeros((len(bits), len(self.binarizer.columns_)), dtype=bool)
        for c, column in enumerate(self.binarizer.columns_):
            if isinstance(column, NumberColumn) and column.thresholds:
                # Some bin is true of every number, and "is missing" of what is missing.
                lost[:, c] = ~bits[:, self.binarizer.groups_ == c].any(axis=1)
        return lost

    @property
    def cases(self) -> Cases:
        """The rules as terms over columns: what :meth:`covers` says, for any table."""
        literals = self._literals
        return tuple(
            labelled(merged([self._term(j, literals) for j in sorted(rule)]), self.binarizer)
            for rule in self.rules
        )

    def _term(self, j: int, literals: Literals) -> Term:
        c, true = literals.columns[j // 2], j % 2 == 0
        i, column = j // 2 - literals.columns.index(c), self.binarizer.columns_[c]
        place = self.binarizer.places_[c]
        if not (isinstance(column, NumberColumn) and column.thresholds):
            return term(column, place, i, true, null=True)
        if i == len(column.thresholds):
            return term(column, place, len(column.value_names), true)
        below = tuple(range(i + 1))
        return Term(column, place, true, below, null=column.missing and not true)

    @property
    def conditions(self) -> tuple[tuple[str, ...], ...]:
        """The rules in words, the limits of a column joined to an interval."""
        literals = self._literals
        return tuple(tuple(self._words(sorted(rule), literals)) for rule in self.rules)

    @property
    def literal_names(self) -> tuple[tuple[str, ...], ...]:
        """The literals of the rules, each by its own name."""
        names = self._literals.names
        return tuple(tuple(names[j] for j in rule) for rule in self.rules)

    @property
    def _literals(self) -> Literals:
        """The literals, of no rows."""
        nothing = np.zeros((0, len(self.binarizer.groups_)), dtype=bool)
        return Literals.of_bits(nothing, self.binarizer)

    def _words(self, rule: Sequence[int], literals: Literals) -> Iterable[str]:
        for c in sorted({literals.columns[j // 2] for j in rule}):
            first = literals.columns.index(c)
            own = [j for j in rule if literals.columns[j // 2] == c]
            column = self.binarizer.columns_[c]
            if isinstance(column, NumberColumn) and column.thresholds:
                joined = self._interval(column, [(j // 2 - first, j % 2 == 0) for j in own])
                if joined:
                    yield joined
                    continue
            title = self._title(column)
            # The name of the column is the first word, or the first after "not (".
            yield from (literals.names[j].replace(column.name, title, 1) for j in own)

    def _title(self, column: Column) -> str:
        """Return what a column is called; of a part of dates, with the label of the dates."""
        own = self.words.get(column.source)
        return column.name.replace(column.source, own.label) if own and own.label else column.name

    def _interval(self, column: NumberColumn, chosen: Sequence[tuple[int, bool]]) -> str | None:
        """Join literals of thresholds, and "is known", to a condition; None of others."""
        k = len(column.thresholds)
        if (k, True) in chosen:
            return None
        first = max((i + 1 for i, below in chosen if i < k and not below), default=0)
        last = min((i for i, below in chosen if i < k and below), default=k)
        if not column.missing or last < k or (k, False) in chosen:
            return self._between(column, first, last)
        return f"not ({self._between(column, 0, first - 1)})"

    def _between(self, column: NumberColumn, first: int, last: int) -> str:
        """Return in words that a value is in the bins from the first to the last."""
        title = self._title(column)
        if isinstance(column, DateColumn) and (first, last) != (0, len(column.thresholds)):
            return column.between(first, last, title if title != column.name else "")
        cuts = (None, *column.thresholds, None)
        name = column.name if column.source == column.name else title
        return in_words(Interval(name, cuts[first], cuts[last + 1]), self.words)


def _holds(literals: Literals, rule: Sequence[int]) -> BoolArray:
    """Return which rows satisfy a rule, shape (n,)."""
    holds = np.ones(len(literals.features), dtype=bool)
    for j in rule:
        holds &= literals.features[:, j // 2] ^ bool(j % 2)
    return holds
