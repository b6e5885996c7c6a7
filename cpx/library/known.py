"""The best values known of the instances of the suites, by fingerprint."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from cpx.answers.values import Value, from_json
from cpx.modelling.base import Problem
from cpx.modelling.instances import fingerprint


class Known(NamedTuple):
    """The value of the best solution known, and the best bound: equal where it is proved."""

    value: Value
    bound: Value | None

    @property
    def proved(self) -> bool:
        """Whether the value is the optimum."""
        return self.value == self.bound


def best_known(problem: Problem) -> Known | None:
    """Return what is known of an instance of the library; None of others.

    Examples
    --------
    >>> from cpx.library import make
    >>> best_known(make("planted")).proved
    True
    """
    return known_of(fingerprint(problem))


def known_of(mark: str) -> Known | None:
    """Return what is known of the instance with this fingerprint."""
    return _table().get(mark)


@cache
def _table() -> dict[str, Known]:
    text = files("cpx.library").joinpath("known.json").read_text(encoding="utf-8")
    found = {}
    for mark, (value, bound) in json.loads(text).items():
        least = from_json("value", value)
        assert least is not None
        found[mark] = Known(least, from_json("bound", bound))
    return found
