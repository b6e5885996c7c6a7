"""Exact on the pseudo-Boolean form: its answers, bounds and hints, against the search."""

from __future__ import annotations

from typing import Any

import cpmpy as cp
import pytest

import cpx
from cpx.answers.result import Status
from cpx.backends.pseudo_boolean import PseudoBoolean
from cpx.library import make
from cpx.modelling.statement import Statement
from cpx.models.monomial.draw import random_problem
from cpx.models.rule_set.cases import random_selection


def test_values_and_bits_say_the_same() -> None:
    a, k = cp.boolvar(name="a"), cp.intvar(2, 7, name="k")
    form = PseudoBoolean(Statement(cp.Model(a + k <= 6, maximize=k), {"v": [a, k]}, None, "max"))
    for given in ([0, 2], [1, 5], [0, 6]):
        bits = form.bits_of({"v": given})
        assert form.values(lambda number, bits=bits: bits[number])["v"].tolist() == given


@pytest.mark.parametrize("seed", range(12))
def test_it_agrees_with_the_search(seed: int) -> None:
    pytest.importorskip("exact")
    problem: Any = random_problem(seed, 16, 6) if seed % 3 else random_selection(seed)
    ours, theirs = cpx.solve(problem, "search"), cpx.solve(problem, "exact", seed=seed % 2)
    assert (theirs.status, theirs.objective) == (ours.status, ours.objective)
    assert theirs.verified == ours.verified


def test_a_bound_comes_before_the_end_and_a_hint_counts() -> None:
    pytest.importorskip("exact")
    problem = make("parity")
    best = cpx.solve(problem, "search")
    result = cpx.solve(problem, "exact", time_limit=4, warm_start=False)
    if result.status is not Status.OPTIMAL:
        assert 0 < result.bound <= best.objective
    hinted = cpx.solve(problem, "exact", time_limit=1, hint=best.explanation)
    assert hinted.objective == best.objective


def test_all_limits_are_proved_to_clash() -> None:
    pytest.importorskip("exact")
    samples = cpx.Samples([[1, 0], [0, 1]], [1, 0])
    problem = cpx.KMonomial(samples, k=1).where("x0", "x1")
    assert cpx.solve(problem, "exact").status is Status.INFEASIBLE
