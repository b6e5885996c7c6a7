"""One thread for linear algebra, of contexts that overlap."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from cpx.support.one_thread import one_thread


def threads() -> int:
    np.linalg.norm(np.ones(2))
    return max(one["num_threads"] for one in threadpool_info() if "numpy" in one["filepath"])


def test_the_last_of_overlapping_contexts_lifts_the_limit() -> None:
    with threadpool_limits(2):
        first, second = one_thread(), one_thread()
        for begun in (first, second):
            begun.__enter__()
            assert threads() == 1
        first.__exit__(None, None, None)
        assert threads() == 1
        second.__exit__(None, None, None)
        assert threads() == 2
