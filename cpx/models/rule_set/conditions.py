"""Conditions and rules of a decision set, and their text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cpx.data.columns import number
from cpx.data.condition import Bounds
from cpx.data.words import Words


@dataclass(frozen=True)
class Interval:
    """A condition on a continuous attribute: ``low < value <= high``.

    Attributes
    ----------
    attribute : str
    low, high : float or None
        None where the interval reaches the end of the domain.

    Examples
    --------
    >>> print(Interval("price", 2.33, 10.0))
    2.33 < price <= 10
    >>> print(Interval("age", 30.0, None))
    age > 30
    """

    attribute: str
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.low is None and self.high is None:
            return f"{self.attribute} is known"
        if self.high is None:
            return f"{self.attribute} > {number(self.low)}"
        if self.low is None:
            return f"{self.attribute} <= {number(self.high)}"
        return f"{number(self.low)} < {self.attribute} <= {number(self.high)}"


@dataclass(frozen=True)
class OneOf:
    """A condition on a categorical attribute: the value is in a list.

    Attributes
    ----------
    attribute : str
    values : tuple
        The values as they are in the table; None for a missing value.

    Examples
    --------
    >>> print(OneOf("state", ("California", "Texas")))
    state in {California, Texas}
    >>> print(OneOf("sex", ("Female",)))
    sex = Female
    """

    attribute: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        texts = ["(missing)" if value is None else str(value) for value in self.values]
        if len(texts) == 1:
            return f"{self.attribute} = {texts[0]}"
        return f"{self.attribute} in {{{', '.join(texts)}}}"


Condition = Interval | OneOf


def in_words(condition: Condition, words: Words) -> str:
    """Return a condition as people read it, where its column has words.

    >>> from cpx.data.words import read_words
    >>> words = read_words({"pay": {"label": "yearly pay", "unit": "EUR"}}, ["pay"])
    >>> in_words(Interval("pay", 2e4, 5e4), words), in_words(Interval("age", 3.0, None), words)
    ('20,000 < yearly pay <= 50,000 EUR', 'age > 3')
    """
    own = words.get(condition.attribute)
    if own is None:
        return str(condition)
    title = own.label or condition.attribute
    if isinstance(condition, OneOf) or condition.low is condition.high is None:
        return str(replace(condition, attribute=title))
    low, high = condition.low, condition.high
    ends = [(sign, end) for sign, end in ((">", low), ("<=", high)) if end is not None]
    return Bounds(condition.attribute, (tuple(ends),), label=own.label, unit=own.unit).words


@dataclass(frozen=True)
class SetRule:
    """A rule of a decision set: all its conditions hold, so the class is positive.

    Parameters
    ----------
    conditions : tuple of Interval and OneOf
        At most one per attribute, in the order of the columns.

    Examples
    --------
    >>> print(SetRule((Interval("age", 30.0, None), OneOf("sex", ("Female",)))))
    age > 30 and sex = Female
    >>> print(SetRule(()))
    (always)
    """

    conditions: tuple[Condition, ...]

    def __len__(self) -> int:
        return len(self.conditions)

    def __str__(self) -> str:
        return " and ".join(str(condition) for condition in self.conditions) or "(always)"
