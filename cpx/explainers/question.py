"""Which rule is wanted: the question, and the conditions in it as people write them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.answers.rule import Literal, Rule
from cpx.data.binarizer import Binarizer
from cpx.data.bits import require_rows_fit
from cpx.data.columns import NumberColumn
from cpx.data.oracle import Oracle
from cpx.errors import InvalidOption, UnknownName, nearest, shown
from cpx.explainers.arguments import Objective
from cpx.models import KMonomial, MaxCoverage, MaxPrecision, NegativeOnly
from cpx.models.monomial.problem import MonomialProblem
from cpx.models.side_constraints.parameter import texts_of
from cpx.support.validation import Share, integer, open_unit, positive_integer, share

if TYPE_CHECKING:
    from cpx.data.samples import Samples

__all__ = ["OBJECTIVES", "Conditions", "Question", "size_to_compare"]

OBJECTIVES: dict[str, type[MonomialProblem]] = {
    "precision": MaxPrecision,
    "coverage": MaxCoverage,
    "loss": KMonomial,
    "negative-only": NegativeOnly,
}
"""What the best rule is best in, and the problem that asks for it."""

_SAMPLES = 1000
_LIMITS = ("min_coverage", "max_coverage", "min_precision")
_EMPTY = "(always)"


@dataclass(frozen=True)
class Question:
    """Which rule is wanted; the parameters are explained at :func:`cpx.explain`.

    Conditions that are required or forbidden are in any form that
    :meth:`Conditions.features` reads. The name is that of the problem.

    Raises
    ------
    InvalidOption, InvalidInstance, UnknownName
        Naming what is wrong, as far as it can be told without data.

    Examples
    --------
    >>> Question.of({"k": 3, "epsilon": 0.1, "delta": 0.05}).draws(d=90)
    3577
    """

    k: int = 5
    objective: Objective = "precision"
    m: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    max_queries: int | None = None
    min_coverage: Share | None = None
    max_coverage: Share | None = None
    min_precision: Share | None = None
    required: object = ()
    forbidden: object = ()
    where: str | Sequence[str] = ()
    one_per_group: bool = False
    name: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Self:
        """Build a question from named parameters; an unknown name is refused."""
        known = [field.name for field in fields(cls)]
        for name in asked:
            if name not in known:
                raise InvalidOption(f"there is no option {shown(name)}{nearest(name, known)}")
        return cls(**asked)

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise UnknownName("objective", self.objective, OBJECTIVES)
        if (self.epsilon is None) != (self.delta is None):
            missing = "epsilon" if self.epsilon is None else "delta"
            raise InvalidOption(f"epsilon and delta belong together: {missing} is missing")
        if self.epsilon is not None:
            if self.m is not None:
                raise InvalidOption(
                    f"m = {shown(self.m)} and epsilon = {shown(self.epsilon)} both say "
                    "how many samples "
                    "are drawn: give one of the two"
                )
            open_unit("epsilon", self.epsilon)
            open_unit("delta", self.delta)
        elif self.m is not None:
            positive_integer("m", self.m)
        if self.max_queries is not None:
            positive_integer("max_queries", self.max_queries)
            if not self.adaptive:
                raise InvalidOption(
                    "max_queries is for epsilon and delta with the objective 'precision', which "
                    "draw samples until they are enough"
                )
        for name in _LIMITS:
            if getattr(self, name) is not None:
                share(name, getattr(self, name))

    @property
    def adaptive(self) -> bool:
        """Whether samples can be drawn in rounds, until the precision is known up to epsilon."""
        return self.objective == "precision" and self.epsilon is not None

    def without_sampling(self) -> Self:
        """Return the same question, of all rows there are."""
        return replace(self, m=None, epsilon=None, delta=None, max_queries=None)

    @property
    def figures(self) -> int:
        """How many figures of a rule a guarantee speaks about: a loss, or two shares."""
        return 2 if self.objective in ("precision", "coverage") else 1

    def draws(self, d: int, rows: int | None = None) -> int | None:
        """Return how many samples are drawn, for d features.

        Parameters
        ----------
        d : int
        rows : int, optional
            How many rows the distribution has, where they are known. They are all used, and
            nothing is drawn, unless fewer samples are asked for.

        Returns
        -------
        int or None
            None when all rows are used.

        Raises
        ------
        InvalidOption
            When k is out of range.
        """
        k = integer(self.k)
        if k is None or not 0 <= k <= d:
            raise InvalidOption(
                f"k must be between 0 and the number of features {d}, got {shown(self.k)}"
            )
        if self.epsilon is None or self.delta is None:
            if rows is not None and self.m is None:
                return None
            name, count = "m", _SAMPLES if self.m is None else int(self.m)
        else:
            from cpx.data import sample_size

            name = "epsilon"
            count = sample_size(k, d, self.epsilon, self.delta / self.figures)
            if rows is not None and count >= rows:
                return None
        require_rows_fit(name, count, d)
        return count

    def problem(self, samples: Samples, conditions: Conditions) -> MonomialProblem:
        """State the problem on samples.

        Raises
        ------
        InvalidInstance, InvalidOption
            When k or a condition does not fit the samples.
        """
        limits = {name: getattr(self, name) for name in _LIMITS}
        stated = OBJECTIVES[self.objective](
            samples,
            k=self.k,
            required=conditions.features(self.required, "required"),
            forbidden=conditions.features(self.forbidden, "forbidden"),
            one_per_group=self.one_per_group,
            name=self.name,
            **{name: value for name, value in limits.items() if value is not None},
        )
        if isinstance(self.where, tuple) and not self.where:
            return stated
        return stated.where(*texts_of(self.where), untrue=conditions.untrue())


class Conditions:
    """The conditions that are true of one instance x, by their texts.

    Parameters
    ----------
    oracle : Oracle
        The explained instance x, and the distribution whose features are the conditions.
    binarizer : Binarizer, optional
        Where the features come from: then the intervals that rules are printed with are
        read as well, such as ``2 < a <= 5`` over several bins.

    Examples
    --------
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

    def __init__(self, oracle: Oracle, binarizer: Binarizer | None = None) -> None:
        self._oracle, self._binarizer = oracle, binarizer
        self.literals = oracle.literals
        """The condition of each feature, true of x."""

    def features(self, given: object, what: str = "rule") -> tuple[int, ...]:
        """Return the features of a rule, or of a list of conditions.

        Parameters
        ----------
        given : str, int, Rule, Explanation, or a sequence of int, str and Literal
            Text is conditions joined by "and", as they are printed; ``"(always)"`` is the
            rule without conditions. Numbers are feature indices.
        what : str
            Name of the argument, for errors.

        Returns
        -------
        tuple of int
            Increasing, each once.

        Raises
        ------
        InvalidOption
            For a condition that is unknown, with the nearest ones, or false of x; for an
            index out of range; for anything else than is said above.
        """
        if isinstance(given, Explanation):
            given = given.rule
        if isinstance(given, Rule):
            given = given.literals
        elif isinstance(given, str):
            given = [] if given.strip() in ("", _EMPTY) else [given]
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
                    known.setdefault(_spaced(text), tuple(first + j for j in own))
        for j in range(len(self.literals)):
            known.setdefault(str(j), (j,))
        return known

    def _number_columns(self) -> list[tuple[NumberColumn, int, int | None]]:
        """Return the numeric columns, their first feature, and the bin of x unless it has none."""
        if self._binarizer is None:
            return []
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


def size_to_compare(features: Sequence[int], k: int | None) -> int:
    """Return the size of the rules that a given one is compared with: k, or its own.

    Raises
    ------
    InvalidOption
        When the rule has more than k conditions.
    """
    if k is None:
        return max(1, len(features))
    if len(features) > k:
        raise InvalidOption(f"the rule has {len(features)} conditions, k is {k}")
    return k
