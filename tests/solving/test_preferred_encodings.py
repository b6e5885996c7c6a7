"""Engines choose the encoding that they prove most with, unless one is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cpx import KMonomial, MaxPrecision, Samples, solve
from cpx.models import NegativeOnly
from cpx.models.monomial.draw import random_problem
from cpx.testing.brute import brute_force

RNG = np.random.default_rng(0)
PROBLEM = KMonomial(Samples(RNG.random((30, 6)) < 0.6, RNG.random(30) < 0.5), k=3)


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize(
    ("engine", "named", "taken"),
    [
        ("milp", None, "pairs"),
        ("milp", "clausal", "clausal"),
        ("cpsat", None, "sizes"),
        ("maxsat", None, "clausal"),
        ("search", None, ""),
    ],
)
def test_the_encoding_of_the_result_is_the_one_that_was_solved(engine, named, taken, isolate):
    result = solve(PROBLEM, engine, encoding=named, isolate=isolate)
    assert result.encoding == taken
    assert result.options["encoding"] == named
    if taken:
        assert result.sizes == solve(PROBLEM, engine, encoding=taken).sizes


@pytest.mark.parametrize(("engine", "small"), [("cpsat", "sizes"), ("maxsat:rc2", "clausal")])
def test_an_encoding_that_says_nothing_more_is_not_taken(engine: str, small: str) -> None:
    assert solve(PROBLEM, engine).encoding == small
    assert solve(replace(PROBLEM, k=4), engine).encoding == "triples"
    assert solve(replace(PROBLEM, k=4, min_coverage="1/8"), engine).encoding == small


def test_the_encodings_differ() -> None:
    # With an option of the engine no core is tried first.
    engine = {"mip_max_nodes": 10**6}
    pairs, clausal = (
        solve(PROBLEM, "milp", encoding=e, engine=engine).sizes for e in ("pairs", "clausal")
    )
    assert pairs["variables"] > clausal["variables"] + 6 * 5 / 2


def test_other_problems_have_it_too_but_ratios_are_solved_by_their_first() -> None:
    for kind, taken in ((NegativeOnly, "pairs"), (MaxPrecision, "clausal")):
        problem = random_problem(12, kinds=(kind,), limited=False)
        result = solve(problem, "milp")
        assert result.encoding == taken
        assert result.objective == brute_force(problem)[0]
