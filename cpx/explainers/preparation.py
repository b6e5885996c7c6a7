"""The time limit of an explanation, of which preparation takes its part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from time import monotonic
from typing import Any

from cpx.answers.result import Result
from cpx.solving.run import solve_with
from cpx.support.validation import seconds

_LEAST = 0.1  # the share of a limit that is left to the engine, however long preparation took

_began: ContextVar[float | None] = ContextVar("began", default=None)


@contextmanager
def counted() -> Iterator[None]:
    """Count what is done within towards the time limit, from the outermost of these on."""
    token = _began.set(monotonic()) if _began.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _began.reset(token)


def left_of(limit: float | None) -> float | None:
    """Return what preparation has left of a time limit, a tenth of it at least."""
    limit, began = seconds(limit), _began.get()
    if limit is None or began is None:
        return limit
    return max(_LEAST * limit, limit - (monotonic() - began))


def solve_in_time(problem: Any, backend: str | None, seed: int, options: dict[str, Any]) -> Result:
    """Solve in what preparation has left of the time limit, which the result has as its own."""
    left = left_of(options.get("time_limit"))
    return solve_with(problem, backend, seed, {**options, "time_limit": left})


def with_limit(result: Result, limit: float | None) -> Result:
    """Return a result with the time limit that was asked for."""
    return replace(result, options={**result.options, "time_limit": limit})
