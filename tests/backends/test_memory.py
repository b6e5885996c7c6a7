"""What engines leave behind in a process that solves on and on."""

from __future__ import annotations

import gc
import sys

import pytest

from benchmarks.memory import grown
from cpx import solve
from cpx.testing.random_instances import random_problem
from cpx.testing.rule_sets import random_learning


def _living() -> int:
    import highspy

    gc.collect()
    return sum(type(thing) is highspy.Highs for thing in gc.get_objects())


def test_highs_is_freed() -> None:
    solve(random_problem(0), "milp:highs")
    before = _living()
    for seed in range(3):
        solve(random_problem(seed), "milp:highs")
        solve(random_problem(seed), "milp:highs", time_limit=1e-3)
        solve(random_learning(seed), "column-generation")
    assert _living() == before


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_many_solves_take_no_memory() -> None:
    before, after = grown("milp:highs", 150)
    assert after - before < 5
