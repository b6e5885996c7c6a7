"""Linear algebra of NumPy with one thread, for many products of small matrices."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

__all__ = ["one_thread"]


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which each product of matrices takes one thread.

    Threads that share the work of a small one wait for each other, on a busy machine most of
    the time.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     print(np.eye(2) @ np.ones(2))
    [1. 1.]
    """
    limits: AbstractContextManager[object] = _libraries().limit(limits=1)
    return limits


@cache
def _libraries() -> Any:
    # Looking for them takes milliseconds; NumPy's is loaded by now.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
