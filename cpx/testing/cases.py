"""Tiny problems with a known optimum, for the conformance suite.

A bug found in one engine becomes a case for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.answers.values import Value
from cpx.data.samples import Samples
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.cases import expected_prediction_cases
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.problem import MONOMIAL_ENCODINGS, MonomialProblem
from cpx.models.monomial.weighted import KMonomial, NegativeOnly
from cpx.models.rule_set.cases import learning_cases, rule_set_cases
from cpx.models.sufficient_reason.cases import full_cases, minimum_subset_cases

ENCODINGS: tuple[str, ...] = tuple(encoding.name for encoding in MONOMIAL_ENCODINGS)
"""Encodings of monomial problems; ``table1-literal`` is checked as the relaxation it is."""


@dataclass(frozen=True)
class Case:
    """A tiny problem and its optimum, None when it has no solution."""

    name: str
    problem: Problem
    optimum: Value | None

    def __str__(self) -> str:
        return self.name

    @property
    def encodings(self) -> tuple[str, ...]:
        """Encodings that can state the problem: not all of them take limits."""
        problem = self.problem
        limited = isinstance(problem, MonomialProblem) and problem.limits is not None
        known = map(problem.encoding, problem.encoding_names())
        return tuple(form.name for form in known if form.limits or not limited)


def _samples(rows: Sequence[str], labels: str, **more: Any) -> Samples:
    agreement = np.array([[bit == "1" for bit in row] for row in rows])
    return Samples(agreement, np.array([bit == "1" for bit in labels]), **more)


def _cases() -> tuple[Case, ...]:
    # With k = 2 over three features: {0, 1} covers exactly the two agreeing samples.
    plain = _samples(["110", "111", "100", "010", "001"], "11000")
    heavy = _samples(["110", "011", "101"], "100", weights=[10**6, 10**6 + 1, 3])
    groups = _samples(["110", "111", "100", "010"], "1100", groups=(0, 0, 1))
    same = ["10", "01", "11"]
    return (
        Case("exact_rule", KMonomial(plain, k=2), 0),
        Case("size_limit_binds", KMonomial(plain, k=1), 1),
        Case("empty_rule_is_best", KMonomial(_samples(["00", "00"], "11"), k=2), 0),
        Case("all_agreeing", KMonomial(_samples(same, "111"), k=2), 0),
        Case("none_agreeing_avoidable", KMonomial(_samples(same, "000"), k=2), 1),
        Case("none_agreeing_all_avoided", KMonomial(_samples(["10", "01"], "00"), k=2), 0),
        Case("k_zero", KMonomial(plain, k=0), 3),
        Case("k_equals_d", KMonomial(plain, k=3), 0),
        Case("one_sample_one_feature", KMonomial(_samples(["1"], "0"), k=1), 1),
        Case("one_feature_excludes", KMonomial(_samples(["0"], "0"), k=1), 0),
        Case("ties", KMonomial(_samples(["10", "01"], "11"), k=1), 0),
        Case("tie_of_two_rules", KMonomial(_samples(["101", "011", "001"], "100"), k=1), 0),
        Case(
            "duplicate_samples",
            KMonomial(_samples(["10"] * 4 + ["11"] * 3, "1111" + "000"), k=2),
            3,
        ),
        Case("duplicate_features", KMonomial(_samples(["110", "001", "000"], "100"), k=3), 0),
        Case("big_weights", KMonomial(heavy, k=1), 3),
        Case("big_weights_two_features", KMonomial(heavy, k=2), 0),
        Case("big_weights_unavoidable", KMonomial(heavy, k=0), 10**6 + 4),
        Case("required", KMonomial(plain, k=2, required=(2,)), 1),
        Case("required_only", KMonomial(plain, k=1, required=(2,)), 2),
        Case("forbidden", KMonomial(plain, k=2, forbidden=(0,)), 1),
        Case("all_forbidden", KMonomial(plain, k=3, forbidden=(0, 1, 2)), 3),
        Case("infeasible_required_too_many", KMonomial(plain, k=1, required=(0, 1)), None),
        Case(
            "infeasible_required_and_forbidden",
            KMonomial(plain, k=2, required=(0,), forbidden=(0,)),
            None,
        ),
        Case("infeasible_at_k_zero", KMonomial(plain, k=0, required=(0,)), None),
        Case("one_per_group", KMonomial(groups, k=3, one_per_group=True), 1),
        Case("groups_without_restriction", KMonomial(groups, k=3), 0),
        Case(
            "infeasible_group",
            KMonomial(groups, k=3, required=(0, 1), one_per_group=True),
            None,
        ),
        Case("negative_only", NegativeOnly(plain, k=1), 1),
        Case("negative_only_ignores_agreeing", NegativeOnly(_samples(same, "110"), k=0), 1),
        Case("negative_only_all_agreeing", NegativeOnly(_samples(same, "111"), k=1), 0),
        Case("negative_only_all_constant", NegativeOnly(_samples(["11", "11"], "00"), k=2), 2),
        Case(
            "negative_only_weights",
            NegativeOnly(_samples(["10", "01", "11"], "000", weights=[5, 7, 2]), k=1),
            7,
        ),
        Case(
            "negative_only_infeasible",
            NegativeOnly(plain, k=2, required=(1,), forbidden=(1,)),
            None,
        ),
    )


def _limited_cases() -> tuple[Case, ...]:
    # Agreeing of covered weight: {} 2/5, {0} and {1} 2/3, {2} 1/2, {0,1} 2/2, the others 1/1.
    plain = _samples(["110", "111", "100", "010", "001"], "11000")
    heavy = _samples(["110", "011", "101"], "100", weights=[10**6, 10**6 + 1, 3])
    groups = _samples(["110", "111", "100", "010"], "1100", groups=(0, 0, 1))
    halves = _samples(["10", "10", "01", "01", "01", "01"], "101100")
    apart, never = _samples(["10", "01"], "00"), _samples(["0", "0"], "00")
    third, half = Fraction(2, 3), Fraction(1, 2)
    return (
        Case("max_precision", MaxPrecision(plain, k=2), Fraction(1)),
        Case("max_precision_k_one", MaxPrecision(plain, k=1), third),
        Case("max_precision_k_zero", MaxPrecision(plain, k=0), Fraction(2, 5)),
        Case("max_precision_floor", MaxPrecision(plain, k=2, min_coverage="3/5"), third),
        Case("max_precision_floor_rounds_up", MaxPrecision(plain, k=2, min_coverage=0.5), third),
        Case("max_precision_floor_met", MaxPrecision(plain, k=2, min_coverage=0.4), Fraction(1)),
        Case("max_precision_ceiling", MaxPrecision(plain, k=1, max_coverage="0.4"), half),
        Case("max_precision_ceiling_rounds_down", MaxPrecision(plain, 1, max_coverage=0.59), half),
        Case("max_precision_ties", MaxPrecision(halves, k=1), half),
        Case("max_precision_none_agreeing", MaxPrecision(apart, k=1), Fraction(0)),
        Case("max_precision_heavy", MaxPrecision(heavy, k=1), Fraction(10**6, 10**6 + 3)),
        Case("max_precision_required", MaxPrecision(plain, k=1, required=(2,)), half),
        Case(
            "max_precision_required_floor",
            MaxPrecision(plain, k=2, required=(2,), min_coverage="2/5"),
            half,
        ),
        Case(
            "max_precision_groups",
            MaxPrecision(groups, k=3, one_per_group=True, min_coverage=0.5),
            third,
        ),
        Case(
            "max_precision_infeasible_coverage",
            MaxPrecision(plain, k=3, min_coverage=0.8, max_coverage=0.8),
            None,
        ),
        Case("max_precision_infeasible", MaxPrecision(plain, k=1, min_precision=0.75), None),
        Case("max_precision_uncovered", MaxPrecision(never, k=1, required=(0,)), None),
        Case("max_coverage", MaxCoverage(plain, k=2), 2),
        Case("max_coverage_precision_binds", MaxCoverage(plain, k=1, min_precision=third), 3),
        Case("max_coverage_above_a_ratio", MaxCoverage(plain, k=1, min_precision=0.41), 3),
        Case("max_coverage_at_a_ratio", MaxCoverage(plain, k=1, min_precision=0.4), 5),
        Case(
            "max_coverage_ceiling", MaxCoverage(plain, 2, min_precision=0.4, max_coverage=0.5), 2
        ),
        Case("max_coverage_infeasible", MaxCoverage(plain, k=1), None),
        Case("max_coverage_any_precision", MaxCoverage(never, k=1, min_precision=0), 2),
        Case("max_coverage_nothing_precise", MaxCoverage(never, k=1, min_precision=1), None),
        Case("max_coverage_heavy", MaxCoverage(heavy, k=1, min_precision=0.99), 10**6 + 3),
        Case("loss_floor", KMonomial(plain, k=2, min_coverage=0.6), 1),
        Case("loss_ceiling", KMonomial(plain, k=1, max_coverage=0.4), 2),
        Case("loss_precision", KMonomial(plain, k=1, min_precision=third), 1),
        Case("loss_infeasible_precision", KMonomial(plain, k=1, min_precision=0.7), None),
        Case("loss_something_covered", KMonomial(apart, k=2, min_precision=0), 1),
        Case("loss_required_floor", KMonomial(plain, k=2, required=(2,), min_coverage=0.4), 2),
        Case("negative_only_floor", NegativeOnly(plain, k=2, min_coverage=0.6), 1),
        Case("negative_only_ceiling", NegativeOnly(plain, k=0, max_coverage=0.8), None),
        Case("negative_only_precision", NegativeOnly(plain, k=1, min_precision=0.6), 1),
    )


def _kernel_cases() -> tuple[Case, ...]:
    # x0 and x1: 3, x2: 2, x1: 2, x0: -1; all positive rows and no other: 5.
    rows = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=np.bool_)
    weights, apart = (3, 2, -4, -1), np.eye(2, dtype=np.bool_)
    both = KernelRule(rows, weights, 2, 2)
    return (
        Case("kernel_all_positive", both, 5),
        Case("kernel_one_clause", KernelRule(rows, weights, 1, 2), 3),
        Case("kernel_one_feature", KernelRule(rows, weights, 1, 1), 2),
        Case("kernel_two_of_one_feature", KernelRule(rows, weights, 2, 1), 4),
        Case("kernel_a_clause_is_not_empty", KernelRule(apart, (-2, -3), 1, 1), -2),
        Case("kernel_true_of_nothing", KernelRule(apart, (-2, -3), 1, 2), 0),
        Case("kernel_nothing_weighs", KernelRule(apart, (0, 0), 1, 1), 0),
        Case(
            "kernel_equal_rows", KernelRule(np.ones((3, 1), dtype=np.bool_), (4, -3, 1), 3, 1), 2
        ),
        Case("kernel_rule_excludes", both.where("not x2"), 3),
        Case("kernel_rule_has", both.where("x0", "not x1"), 2),
        Case("kernel_rule_infeasible", both.where("x0", "not x0"), None),
    )


def _constrained_cases() -> tuple[Case, ...]:
    # Without constraints both have a solution that costs nothing: {0, 1}.
    plain = _samples(["110", "111", "100", "010", "001"], "11000")
    rule = KMonomial(plain, k=2)
    return (
        Case("where_excludes", rule.where("excludes(x0, x1)"), 1),
        Case("where_forbids_and_asks", rule.where("not x0", "x2"), 1),
        Case("where_none", rule.where("at_most(0, x0, x1, x2)"), 3),
        Case("where_budget", rule.where(costs={"x0": 2, "x1": 3, "x2": 1}, budget=4), 1),
        Case("where_is_kept", rule.where("implies(x0, x1)"), 0),
        Case("where_infeasible", rule.where("at_least(3, x0, x1, x2)"), None),
        Case("where_precision", MaxPrecision(plain, k=2).where("excludes(x0, x1)"), Fraction(1)),
        Case("where_precision_asks", MaxPrecision(plain, k=1).where("x2"), Fraction(1, 2)),
    )


CASES: tuple[Case, ...] = (*_cases(), *_limited_cases())
"""Problems of one rule with known optimum."""

MINIMUM_SUBSETS: tuple[Case, ...] = tuple(Case(*case) for case in minimum_subset_cases())
"""Minimum certificates and sufficient reasons, for engines that solve statements."""

FULL: tuple[Case, ...] = tuple(Case(*case) for case in full_cases())
"""Sufficient reasons in the full sense, also of several trees, which have no statement."""

RULE_SETS: tuple[Case, ...] = tuple(Case(*case) for case in rule_set_cases())
"""Selections of rules, for engines that solve statements or take their plain arrays."""

LEARNING: tuple[Case, ...] = tuple(Case(*case) for case in learning_cases())
"""Rule sets to be learned, of so few rules that these engines take them as well."""

EXPECTED: tuple[Case, ...] = tuple(Case(*case) for case in expected_prediction_cases())
"""Most likely sufficient explanations and their dual, for engines of sums of tables."""

KERNEL_RULES: tuple[Case, ...] = _kernel_cases()
"""Rules of kernel machines, some under side constraints."""

SIDE_CONSTRAINTS: tuple[Case, ...] = _constrained_cases()
"""Problems of one rule under side constraints."""

STATED: tuple[tuple[Case, str], ...] = tuple(
    (case, encoding) for case in CASES for encoding in case.encodings
)
"""Each case with each encoding that can state it."""

MINIMUM_SUBSETS_STATED: tuple[tuple[Case, str], ...] = tuple(
    (case, encoding) for case in MINIMUM_SUBSETS for encoding in case.encodings
)
"""The same for :data:`MINIMUM_SUBSETS`."""

RULE_SETS_STATED: tuple[tuple[Case, str], ...] = tuple(
    (case, encoding) for case in RULE_SETS for encoding in case.encodings
)
"""The same for :data:`RULE_SETS`."""

EXPECTED_STATED: tuple[tuple[Case, str], ...] = tuple(
    (case, encoding) for case in EXPECTED for encoding in case.encodings
)
"""The same for :data:`EXPECTED`."""
