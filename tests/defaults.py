"""The time limit of calls that solve: tests have none unless they say one.

What is right must not depend on how busy the machine is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

from cpx.explainers.solutions import solutions
from cpx.models.monomial import rivals
from cpx.options import TIME_LIMIT
from cpx.solving import clash, solve

_CLASH_SECONDS = clash._SECONDS


def limit_calls(seconds: float | None) -> None:
    """Give the calls of this process another time limit than they are written with."""
    for call in (solve, solutions, rivals):
        call.__kwdefaults__["time_limit"] = seconds
    clash._SECONDS = inf if seconds is None else _CLASH_SECONDS


@contextmanager
def as_written() -> Iterator[None]:
    """Have the calls as people have them."""
    limit_calls(TIME_LIMIT)
    try:
        yield
    finally:
        limit_calls(None)
