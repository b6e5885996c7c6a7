"""What engines leave behind in a process that solves on and on."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

from benchmarks.memory import grown
from cpx import KMonomial, Samples, solve
from cpx.models.monomial.draw import random_problem
from cpx.models.rule_set.cases import random_learning


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
    before, after = grown("milp:highs", 40)
    assert after - before < 5  # it was 7


def test_the_memory_of_scip_does_not_wait_for_the_collector() -> None:
    pyscipopt = pytest.importorskip("pyscipopt")
    samples = Samples(np.eye(6, dtype=bool), [True, False] * 3)
    solve(KMonomial(samples, k=2), "milp:scip")
    gc.collect()
    gc.disable()
    try:
        assert solve(KMonomial(samples, k=2), "milp:scip").proved
        assert not [one for one in gc.get_objects() if issubclass(type(one), pyscipopt.Model)]
    finally:
        gc.enable()
