"""Python's search for garbage, paused while much is made that is kept."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage() -> Iterator[None]:
    """Pause the search for unreachable cycles: nothing of what the block makes is garbage.

    The search goes through all that was made again and again. To compile 100,000 samples to
    weighted clauses took three times as long with it. A thread that finds it paused leaves it so.

    >>> import gc
    >>> with no_garbage():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
