"""A limit of one thread for linear algebra and OpenMP, where many threads wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock, _limits = threading.Lock(), list[Any]()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let each product of matrices, and each loop of OpenMP, take one thread.

    Threads that share the work of a small one wait for each other, on a busy machine most of
    the time. The limit is one of the process: of several contexts at a time the last to end
    lifts it.

    >>> import numpy as np
    >>> with one_thread():
    ...     print(np.eye(2) @ np.ones(2))
    [1. 1.]
    """
    with _lock:
        _limits.append(None if _limits else find_libraries().limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            if (last := _limits.pop()) is not None:
                last.restore_original_limits()


@cache
def find_libraries() -> Any:
    """Look for the libraries that are limited: milliseconds, the first time."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
