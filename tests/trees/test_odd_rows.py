"""Classes of read models and of the libraries on odd rows; the benchmark ``readers`` has more."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from benchmarks.readers import LIBRARIES, Case, compared

CASES = [
    pytest.param(case, id=f"{package}, {case.what}")
    for package, cases in LIBRARIES.items()
    if find_spec(package) is not None
    for case in cases()
]


@pytest.mark.parametrize("case", CASES)
def test_no_row_differs(case: Case) -> None:
    read, differing, near, classes = compared(case, 300)
    assert differing == 0
    assert near < 3
    assert classes > 1
    assert bool(read.sets) == ("codes" in case.what or bool(case.frame))
