"""What is guaranteed beyond the samples: as often true as is said, in worlds that are known."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from cpx.data.statistics import UniformLimits
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.explainers.guarantees import Frontier, allowed_rules, highest_precision
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.solving import solve
from tests.seeds import each

from .worlds import WORLDS, World, false_claims, world


def rules_of(problem):
    """All rules that satisfy what is said without samples."""
    return [
        chosen
        for size in range(problem.k + 1)
        for chosen in combinations(range(problem.n_features), size)
        if problem._may_choose(chosen)
    ]


@each(range(60))
def test_the_rules_counted_are_those_allowed(seed):
    problem = random_problem(seed, kinds=(MaxPrecision,))
    assert allowed_rules(problem) == max(1, len(rules_of(problem)))


@each(range(60), 15)
def test_no_rule_is_above_the_highest_upper_limit(seed):
    problem = random_problem(seed, kinds=(MaxPrecision,))
    best = solve(problem, "search")
    if best.explanation is None:
        return
    limits = UniformLimits(allowed_rules(problem), 0.3)
    found = [problem.evaluate(problem.explanation(rule)) for rule in rules_of(problem)]
    upper = [limits.upper(f.agreeing_covered, f.covered) for f in found if f.feasible]
    highest = highest_precision(problem, limits, best.bound, 0.0)
    assert highest >= max(upper) - 1e-12
    # A worse bound, or no time, leaves one that is valid as well.
    loose = highest_precision(problem, limits, Fraction(1), 0.0, deadline=0.0)
    assert loose >= highest - 1e-12


def test_steps_make_the_bound_tight():
    """The first bound alone allows a rule of that precision with the least coverage."""
    samples = world("skewed", 8, 3).samples(
        np.random.default_rng(0).multinomial(4000, world("skewed", 8, 3).chances)
    )
    problem = MaxPrecision(samples, k=3, min_coverage="1/20")
    bound = solve(problem, "search").bound
    limits = UniformLimits(allowed_rules(problem), 0.05)
    found = [problem.evaluate(problem.explanation(rule)) for rule in rules_of(problem)]
    upper = max(limits.upper(f.agreeing_covered, f.covered) for f in found if f.feasible)
    first = Frontier(samples.agreeing, problem.limits.least, limits.tail)
    first.add(bound, 0)
    highest = highest_precision(problem, limits, bound, 0.0)
    assert upper <= highest <= upper + 0.02
    assert first.highest()[0] >= highest


def failures(known: World, m: int, delta: float, rounds: int, shrink: float = 1.0) -> float:
    """How often some rule is outside one of its limits."""
    rng = np.random.default_rng(1)
    limits = UniformLimits(len(known.rules), delta)
    tail = limits.tail**shrink
    counts = rng.multinomial(m, known.chances, size=rounds)
    covered, agreeing = counts @ known.covers.T, counts @ (known.covers & known.same).T
    from cpx.data.statistics import exact_lower, exact_upper

    wrong = known.precision < exact_lower(agreeing, covered, tail) - 1e-12
    wrong |= (covered > 0) & (known.precision > exact_upper(agreeing, covered, tail) + 1e-12)
    wrong |= known.coverage < exact_lower(covered, np.full_like(covered, m), tail) - 1e-12
    return float(wrong.any(axis=1).mean())


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("m", [50, 400])
def test_all_limits_hold_at_once_as_often_as_is_said(kind, m):
    known = world(kind)
    assert failures(known, m, 0.3, 1000) <= 0.3
    assert failures(known, m, 0.3, 300, shrink=0.2) > 0.3  # what is said is not empty


@pytest.mark.parametrize("kind", WORLDS)
def test_claims_are_seldom_wrong(kind):
    known, delta, rounds = world(kind), 0.2, 12
    for objective in ("precision", "coverage", "loss"):
        wrong = [bool(false_claims(known, objective, 400, delta, s)) for s in range(rounds)]
        assert sum(wrong) <= delta * rounds


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("objective", ["precision", "coverage", "loss"])
def test_claims_are_seldom_wrong_in_many_worlds(kind, objective):
    known, delta, rounds = world(kind, 8, 3), 0.2, 1000
    wrong = [bool(false_claims(known, objective, 600, delta, seed)) for seed in range(rounds)]
    assert sum(wrong) <= delta * rounds


def test_the_width_is_what_the_binomial_allows():
    """At a precision of 1 the limit is the tail to the power 1/n: no valid one is higher."""
    limits = UniformLimits(1000, 0.05)
    assert limits.lower(200, 200) == pytest.approx(limits.tail ** (1 / 200))
    assert limits.tail == pytest.approx(0.05 / 3000)
    assert (limits.lower(0, 10), limits.upper(10, 10), limits.lower(0, 0)) == (0, 1, 0)
    huge = UniformLimits(2**4000, 0.05)
    assert (huge.tail, huge.lower(90, 100), huge.upper(9, 100)) == (0, 0, 1)
    assert math.isfinite(UniformLimits(10**300, 0.05).lower(10**6, 10**6))
