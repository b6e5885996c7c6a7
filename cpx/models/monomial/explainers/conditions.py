"""The conditions that are true of one instance, as people write them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.answers.rule import Literal, Rule
from cpx.data.condition import told
from cpx.data.oracle import Oracle
from cpx.data.words import Words, called
from cpx.errors import InvalidOption, shown
from cpx.support.validation import integer

if TYPE_CHECKING:
    from cpx.data.binarizer import Binarizer
    from cpx.data.columns import NumberColumn


class Conditions:
    """The conditions that are true of one instance x, by their texts.

    oracle: The explained instance x, and the distribution whose features are the conditions.
    binarizer: Where the features come from: then the intervals that rules are printed with are
        read as well, such as ``2 < a <= 5`` over several bins.
    words: What columns are called in rules; conditions are read by their names, too.

    >>> from cpx.data import Oracle, Uniform
    >>> names = ["wings", "fins", "fur"]
    >>> conditions = Conditions(Oracle(len, [1, 0, 0], Uniform(3, names)))
    >>> conditions.features("wings and not fur")
    (0, 2)
    >>> conditions.features(["not fins", 0])
    (0, 1)
    >>> conditions.features("fur")
    Traceback (most recent call last):
    ...
    cpx.errors.InvalidOption: rule: the condition 'fur' is false of x
    """

    def __init__(
        self, oracle: Oracle, binarizer: Binarizer | None = None, words: Words | None = None
    ) -> None:
        self._oracle, self._binarizer, self._words = oracle, binarizer, words or {}
        self.literals = oracle.literals
        """The condition of each feature, true of x."""

    def features(self, given: object, what: str = "rule") -> tuple[int, ...]:
        """Return the features of a rule, or of a list of conditions.

        given: Text is conditions joined by "and", as they are printed; ``"(always)"`` is the rule
            without conditions. Numbers are feature indices.
        what: Name of the argument, for errors.
        Returns: Increasing, each once.
        Raises InvalidOption: For a condition that is unknown, with the nearest ones, or false of
            x; for an index out of range; for anything else than is said above.
        """
        if isinstance(given, Explanation):
            given = given.rule
        if isinstance(given, Rule):
            given = given.literals
        elif isinstance(given, str):
            given = [] if given.strip() in ("", Rule.empty) else [given]
        elif integer(given) is not None:
            given = [given]
        if not isinstance(given, Iterable):
            raise InvalidOption(
                f"{what} must be conditions or feature indices, got {shown(given)}"
            )
        return tuple(sorted({j for part in given for j in self._read(part, what)}))

    def _read(self, part: object, what: str) -> Sequence[int]:
        if isinstance(part, str):
            return self._text(" ".join(part.split()), what)
        if isinstance(part, Literal):
            index = self._index(part.feature, what)
            if self.literals[index] != part.text:
                raise InvalidOption(
                    f"{what}: feature {index} of x is {shown(self.literals[index])}, the rule has "
                    f"{shown(part.text)}: it was made for another instance or other conditions"
                )
            return [index]
        number = integer(part)
        if number is None:
            raise InvalidOption(
                f"{what}: a condition or a feature index expected, got {shown(part)}"
            )
        return [self._index(number, what)]

    def _index(self, j: int, what: str) -> int:
        if not 0 <= j < len(self.literals):
            raise InvalidOption(
                f"{what} has the feature {j}, indices go from 0 to {len(self.literals) - 1}"
            )
        return j

    def _text(self, text: str, what: str) -> list[int]:
        """Read conditions joined by "and"; names of columns may have an "and" themselves."""
        known, words = self._known(), text.split(" and ")
        found: list[int] = []
        while words:
            for end in range(len(words), 0, -1):
                features = known.get(" and ".join(words[:end]))
                if features is not None:
                    break
            else:
                raise self._refused(words, what)
            found += features
            words = words[end:]
        return [self._index(j, what) for j in found]

    def _known(self) -> dict[str, tuple[int, ...]]:
        """Return the features of every text that is true of x."""
        known: dict[str, tuple[int, ...]] = {}
        for j, text in enumerate(self.literals):
            known.setdefault(_spaced(text), (j,))
        for column, first, bin_of_x in self._number_columns():
            if bin_of_x is not None:
                for text, own in _intervals(column, bin_of_x).items():
                    chosen = tuple(first + j for j in own)
                    known.setdefault(_spaced(text), chosen)
                    known.setdefault(self._told(chosen), chosen)
        if self._binarizer is not None:
            for j in range(len(self.literals)):
                known.setdefault(self._told((j,)), (j,))
        for j in range(len(self.literals)):
            known.setdefault(str(j), (j,))
        return known

    def _told(self, features: Sequence[int]) -> str:
        """Return features as rules are printed."""
        assert self._binarizer is not None  # else features have their names alone
        said = self._binarizer.said(self._oracle.bits, features)
        return _spaced(" and ".join(told(called(one, self._words)) for one in said))

    def _number_columns(self) -> list[tuple[NumberColumn, int, int | None]]:
        """Return the numeric columns, their first feature, and the bin of x unless it has none."""
        if self._binarizer is None:
            return []
        from cpx.data.columns import NumberColumn  # loads pandas

        found = []
        for group, column in enumerate(self._binarizer.columns_):
            if isinstance(column, NumberColumn):
                own = np.flatnonzero(self._binarizer.groups_ == group)
                hit = np.flatnonzero(self._oracle.bits[own[: len(column.value_names)]])
                found.append((column, int(own[0]), int(hit[0]) if hit.size else None))
        return found

    def untrue(self) -> set[str]:
        """Return the texts of conditions that are false of x."""
        opposites = self._oracle.distribution.literal_names(~self._oracle.bits)
        false = {_spaced(opposite) for opposite in opposites}
        for column, _, _ in self._number_columns():
            for i in range(len(column.value_names)):
                false.update(map(_spaced, _intervals(column, i)))
        return false - self._known().keys()

    def _refused(self, words: list[str], what: str) -> InvalidOption:
        """Say what is wrong with the first of the words, or the first few together."""
        known, false = self._known(), self.untrue()
        for end in range(len(words), 0, -1):
            text = " and ".join(words[:end])
            if text in false:
                return InvalidOption(f"{what}: the condition {shown(text)} is false of x")
        if text.isdecimal():
            last = len(self.literals) - 1
            return InvalidOption(f"{what} has the feature {text}, indices go from 0 to {last}")
        names = [name for name in known if not name.isdecimal()]
        near = difflib.get_close_matches(text, [*names, *sorted(false)], n=3, cutoff=0.5)
        hint = f"; the nearest are {', '.join(map(repr, near))}" if near else ""
        return InvalidOption(f"{what}: unknown condition {shown(text)}{hint}")


def _intervals(column: NumberColumn, i: int) -> dict[str, tuple[int, ...]]:
    """Return the intervals around bin i as they are printed, with the features to choose."""
    texts: dict[str, tuple[int, ...]] = {}
    bins = len(column.value_names)
    for low in range(i + 1):
        for high in range(i, bins):
            outside = [j for j in range(bins) if not low <= j <= high]
            chosen = {i: True} if low == high else dict.fromkeys(outside, False)
            text = column.joined(chosen) if chosen else None
            if text is not None:
                texts[text] = tuple(chosen)
    return texts


def _spaced(text: str) -> str:
    return " ".join(text.split())
