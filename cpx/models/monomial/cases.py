"""Problems of one rule for tests of engines: tiny ones with known optimum, and of medium size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.answers.values import Value
from cpx.data.oracle import Oracle
from cpx.data.samples import Samples
from cpx.data.uniform import Uniform
from cpx.modelling.base import Problem, with_oracle
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.weighted import KMonomial, NegativeOnly


def _samples(rows: Sequence[str], labels: str, **more: Any) -> Samples:
    agreement = np.array([[bit == "1" for bit in row] for row in rows])
    return Samples(agreement, np.array([bit == "1" for bit in labels]), **more)


def cases() -> Iterator[tuple[str, Problem, Value | None]]:
    """Yield name, problem and optimum of problems of one rule."""
    # With k = 2 over three features: {0, 1} covers exactly the two agreeing samples.
    plain = _samples(["110", "111", "100", "010", "001"], "11000")
    heavy = _samples(["110", "011", "101"], "100", weights=[10**6, 10**6 + 1, 3])
    groups = _samples(["110", "111", "100", "010"], "1100", groups=(0, 0, 1))
    same = ["10", "01", "11"]
    yield from (
        ("exact_rule", KMonomial(plain, k=2), 0),
        ("size_limit_binds", KMonomial(plain, k=1), 1),
        ("empty_rule_is_best", KMonomial(_samples(["00", "00"], "11"), k=2), 0),
        ("all_agreeing", KMonomial(_samples(same, "111"), k=2), 0),
        ("none_agreeing_avoidable", KMonomial(_samples(same, "000"), k=2), 1),
        ("none_agreeing_all_avoided", KMonomial(_samples(["10", "01"], "00"), k=2), 0),
        ("k_zero", KMonomial(plain, k=0), 3),
        ("k_equals_d", KMonomial(plain, k=3), 0),
        ("one_sample_one_feature", KMonomial(_samples(["1"], "0"), k=1), 1),
        ("one_feature_excludes", KMonomial(_samples(["0"], "0"), k=1), 0),
        ("ties", KMonomial(_samples(["10", "01"], "11"), k=1), 0),
        ("tie_of_two_rules", KMonomial(_samples(["101", "011", "001"], "100"), k=1), 0),
        (
            "duplicate_samples",
            KMonomial(_samples(["10"] * 4 + ["11"] * 3, "1111" + "000"), k=2),
            3,
        ),
        ("duplicate_features", KMonomial(_samples(["110", "001", "000"], "100"), k=3), 0),
        ("big_weights", KMonomial(heavy, k=1), 3),
        ("big_weights_two_features", KMonomial(heavy, k=2), 0),
        ("big_weights_unavoidable", KMonomial(heavy, k=0), 10**6 + 4),
        ("required", KMonomial(plain, k=2, required=(2,)), 1),
        ("required_only", KMonomial(plain, k=1, required=(2,)), 2),
        ("forbidden", KMonomial(plain, k=2, forbidden=(0,)), 1),
        ("all_forbidden", KMonomial(plain, k=3, forbidden=(0, 1, 2)), 3),
        ("infeasible_required_too_many", KMonomial(plain, k=1, required=(0, 1)), None),
        (
            "infeasible_required_and_forbidden",
            KMonomial(plain, k=2, required=(0,), forbidden=(0,)),
            None,
        ),
        ("infeasible_at_k_zero", KMonomial(plain, k=0, required=(0,)), None),
        ("one_per_group", KMonomial(groups, k=3, one_per_group=True), 1),
        ("groups_without_restriction", KMonomial(groups, k=3), 0),
        (
            "infeasible_group",
            KMonomial(groups, k=3, required=(0, 1), one_per_group=True),
            None,
        ),
        ("negative_only", NegativeOnly(plain, k=1), 1),
        ("negative_only_ignores_agreeing", NegativeOnly(_samples(same, "110"), k=0), 1),
        ("negative_only_all_agreeing", NegativeOnly(_samples(same, "111"), k=1), 0),
        ("negative_only_all_constant", NegativeOnly(_samples(["11", "11"], "00"), k=2), 2),
        (
            "negative_only_weights",
            NegativeOnly(_samples(["10", "01", "11"], "000", weights=[5, 7, 2]), k=1),
            7,
        ),
        (
            "negative_only_infeasible",
            NegativeOnly(plain, k=2, required=(1,), forbidden=(1,)),
            None,
        ),
    )
    yield from _limited_cases()


def _limited_cases() -> Iterator[tuple[str, Problem, Value | None]]:
    # Agreeing of covered weight: {} 2/5, {0} and {1} 2/3, {2} 1/2, {0,1} 2/2, the others 1/1.
    plain = _samples(["110", "111", "100", "010", "001"], "11000")
    heavy = _samples(["110", "011", "101"], "100", weights=[10**6, 10**6 + 1, 3])
    groups = _samples(["110", "111", "100", "010"], "1100", groups=(0, 0, 1))
    halves = _samples(["10", "10", "01", "01", "01", "01"], "101100")
    apart, never = _samples(["10", "01"], "00"), _samples(["0", "0"], "00")
    third, half = Fraction(2, 3), Fraction(1, 2)
    yield from (
        ("max_precision", MaxPrecision(plain, k=2), Fraction(1)),
        ("max_precision_k_one", MaxPrecision(plain, k=1), third),
        ("max_precision_k_zero", MaxPrecision(plain, k=0), Fraction(2, 5)),
        ("max_precision_floor", MaxPrecision(plain, k=2, min_coverage="3/5"), third),
        ("max_precision_floor_rounds_up", MaxPrecision(plain, k=2, min_coverage=0.5), third),
        ("max_precision_floor_met", MaxPrecision(plain, k=2, min_coverage=0.4), Fraction(1)),
        ("max_precision_ceiling", MaxPrecision(plain, k=1, max_coverage="0.4"), half),
        ("max_precision_ceiling_rounds_down", MaxPrecision(plain, 1, max_coverage=0.59), half),
        ("max_precision_ties", MaxPrecision(halves, k=1), half),
        ("max_precision_none_agreeing", MaxPrecision(apart, k=1), Fraction(0)),
        ("max_precision_heavy", MaxPrecision(heavy, k=1), Fraction(10**6, 10**6 + 3)),
        ("max_precision_required", MaxPrecision(plain, k=1, required=(2,)), half),
        (
            "max_precision_required_floor",
            MaxPrecision(plain, k=2, required=(2,), min_coverage="2/5"),
            half,
        ),
        (
            "max_precision_groups",
            MaxPrecision(groups, k=3, one_per_group=True, min_coverage=0.5),
            third,
        ),
        (
            "max_precision_infeasible_coverage",
            MaxPrecision(plain, k=3, min_coverage=0.8, max_coverage=0.8),
            None,
        ),
        ("max_precision_infeasible", MaxPrecision(plain, k=1, min_precision=0.75), None),
        ("max_precision_uncovered", MaxPrecision(never, k=1, required=(0,)), None),
        ("max_coverage", MaxCoverage(plain, k=2), 2),
        ("max_coverage_precision_binds", MaxCoverage(plain, k=1, min_precision=third), 3),
        ("max_coverage_above_a_ratio", MaxCoverage(plain, k=1, min_precision=0.41), 3),
        ("max_coverage_at_a_ratio", MaxCoverage(plain, k=1, min_precision=0.4), 5),
        ("max_coverage_ceiling", MaxCoverage(plain, 2, min_precision=0.4, max_coverage=0.5), 2),
        ("max_coverage_infeasible", MaxCoverage(plain, k=1), None),
        ("max_coverage_any_precision", MaxCoverage(never, k=1, min_precision=0), 2),
        ("max_coverage_nothing_precise", MaxCoverage(never, k=1, min_precision=1), None),
        ("max_coverage_heavy", MaxCoverage(heavy, k=1, min_precision=0.99), 10**6 + 3),
        ("loss_floor", KMonomial(plain, k=2, min_coverage=0.6), 1),
        ("loss_ceiling", KMonomial(plain, k=1, max_coverage=0.4), 2),
        ("loss_precision", KMonomial(plain, k=1, min_precision=third), 1),
        ("loss_infeasible_precision", KMonomial(plain, k=1, min_precision=0.7), None),
        ("loss_something_covered", KMonomial(apart, k=2, min_precision=0), 1),
        ("loss_required_floor", KMonomial(plain, k=2, required=(2,), min_coverage=0.4), 2),
        ("negative_only_floor", NegativeOnly(plain, k=2, min_coverage=0.6), 1),
        ("negative_only_ceiling", NegativeOnly(plain, k=0, max_coverage=0.8), None),
        ("negative_only_precision", NegativeOnly(plain, k=1, min_precision=0.6), 1),
    )


def constrained_cases() -> Iterator[tuple[str, Problem, Value | None]]:
    """Yield name, problem and optimum under side constraints."""
    # Without constraints both have a solution that costs nothing: {0, 1}.
    plain = _samples(["110", "111", "100", "010", "001"], "11000")
    rule = KMonomial(plain, k=2)
    yield from (
        ("where_excludes", rule.where("excludes(x0, x1)"), 1),
        ("where_forbids_and_asks", rule.where("not x0", "x2"), 1),
        ("where_none", rule.where("at_most(0, x0, x1, x2)"), 3),
        ("where_budget", rule.where(costs={"x0": 2, "x1": 3, "x2": 1}, budget=4), 1),
        ("where_is_kept", rule.where("implies(x0, x1)"), 0),
        ("where_infeasible", rule.where("at_least(3, x0, x1, x2)"), None),
        ("where_precision", MaxPrecision(plain, k=2).where("excludes(x0, x1)"), Fraction(1)),
        ("where_precision_asks", MaxPrecision(plain, k=1).where("x2"), Fraction(1, 2)),
    )


def medium(seed: int, m: int, d: int) -> Iterator[Problem]:
    """Yield a loss, a precision, and a loss in which each feature is there three times."""
    rng = np.random.default_rng(seed)
    agreement = rng.random((m, d)) < 0.6
    same = agreement[:, :3].all(axis=1) ^ (rng.random(m) < 0.1)
    samples = Samples(agreement, same)
    yield KMonomial(samples, k=4)
    yield MaxPrecision(samples, k=4)
    few = slice(0, 60), slice(0, 5)
    yield KMonomial(Samples(np.repeat(agreement[few], 3, axis=1), same[few[0]]), k=3)


def probes() -> Iterator[Problem]:
    """Yield a problem of optimum 1, for heuristics that ask the classifier as well."""
    # The best monomial of one feature is the first: it covers one sample too many.
    problem = KMonomial(_samples(["11", "10", "01", "11"], "1100"), k=1)
    yield with_oracle(problem, Oracle(_first_bit, [1, 1], Uniform(2)))


def _first_bit(rows: Any) -> Any:
    return rows[:, 0]
