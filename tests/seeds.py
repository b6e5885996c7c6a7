"""Many random instances in one test: to set a test up takes longer than most of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def each(seeds: Sequence[int], few: int | None = None) -> Callable[[Test], Test]:
    """Run a test for each seed, one after the other; a failure tells which seed it was.

    Where it is said how many are enough in every run, the first few, the others are slow.
    """
    parts = [pytest.param(seeds[:few], id="first" if few else "all")]
    if few:
        parts.append(pytest.param(seeds[few:], id="others", marks=pytest.mark.slow))
    return lambda test: pytest.mark.parametrize("seeds", parts)(of_each("seed")(test))


def of_each(name: str) -> Callable[[Test], Test]:
    """Let a test take several values of an argument, whose name then ends in s, in turn."""

    def decorated(test: Test) -> Test:
        @wraps(test)
        def for_each(**given: Any) -> None:
            for value in given.pop(f"{name}s"):
                try:
                    test(**{name: value}, **given)
                except BaseException as error:
                    told = ", ".join(map(str, value)) if isinstance(value, tuple) else value
                    error.add_note(f"{name} {told}")
                    raise

        signature = inspect.signature(test)
        kept = [
            one.replace(name=f"{name}s") if one.name == name else one
            for one in signature.parameters.values()
        ]
        for_each.__signature__ = signature.replace(parameters=kept)
        return for_each

    return decorated


def some(few: int, many: int) -> list[Any]:
    """Return how many instances are enough in every run, and how many before a release."""
    return [few, pytest.param(many, marks=pytest.mark.slow)]


def every_other(first: Collection[Any], second: Collection[Any]) -> list[Any]:
    """Return the pairs of two lists, each with half of the other; the rest is slow."""
    return [
        pytest.param(a, b, marks=() if (i + j) % 2 == 0 else pytest.mark.slow)
        for i, a in enumerate(first)
        for j, b in enumerate(second)
    ]
