"""One thread for linear algebra, of contexts that overlap."""

from __future__ import annotations

import subprocess
import sys

# In a process of its own: here solves of other tests may be within such a context still.
OVERLAPPING = """
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
from cpx.support.one_thread import one_thread

def threads():
    np.linalg.norm(np.ones(2))
    return max(one["num_threads"] for one in threadpool_info() if "numpy" in one["filepath"])

with threadpool_limits(2):
    first, second = one_thread(), one_thread()
    found = []
    for step in (first.__enter__, second.__enter__, first.__exit__, second.__exit__):
        step(*(None, None, None) if step.__name__ == "__exit__" else ())
        found.append(threads())
print(found)
"""


def test_the_last_of_overlapping_contexts_lifts_the_limit() -> None:
    command = [sys.executable, "-c", OVERLAPPING]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[1, 1, 1, 2]\n"
