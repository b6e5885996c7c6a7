"""How much work a part of a solve may take, known to the functions below without an argument."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

OPTIONAL = 0.1
"""Share of a limit that stating may take where less would do."""

_seconds: ContextVar[float] = ContextVar("seconds", default=math.inf)


@contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Let what is optional in the block take so many seconds of processor time.

    >>> with allowing(2.0):
    ...     allowed()
    2.0
    """
    before = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(before)


def allowed() -> float:
    """Return the seconds of processor time for what is optional; infinite where nobody said."""
    return _seconds.get()
