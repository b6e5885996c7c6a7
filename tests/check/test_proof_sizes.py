"""Proofs are as short, and bounds of unfinished ones as good, as their writers are known to make.

That what is claimed holds is the checker's work: what a writer may lose is that its proofs are
short, and how much is proved when the time is up.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier

from cpx import (
    MLSE,
    KernelRule,
    KMonomial,
    MaxCoverage,
    MaxPrecision,
    MinCertificate,
    RuleSetSelection,
    Samples,
    SufficientReason,
    read_model,
)
from cpx.answers.values import Value
from cpx.backends import linear_program
from cpx.check.proofs import Claim, proved
from cpx.data.coding import Coding
from cpx.data.fitted.mixture_fit import fit_mixture
from cpx.modelling.base import Problem
from cpx.models import FewestExpected, NegativeOnly, RuleSetLearning
from cpx.models.certificate import prove as certificates
from cpx.models.expected_prediction import prove as expected
from cpx.models.kernel_rule import proof_formulas as formulas
from cpx.models.kernel_rule import prove as kernel_rules
from cpx.models.kernel_rule.proof_check import Clauses
from cpx.models.kernel_rule.prove_row_prices import by_prices
from cpx.models.monomial import proof_check as checked
from cpx.models.monomial import prove as monomials
from cpx.models.monomial.search import max_weight
from cpx.models.rule_set import learning_prove as learning
from cpx.models.rule_set import proof_check as checked_sets
from cpx.models.rule_set import prove as rule_sets
from cpx.models.sufficient_reason import prove as reasons
from cpx.trees import TreeModel
from tests.check.proof_files import document
from tests.check.test_expected_proofs import drawn as expectation
from tests.check.test_kernel_rule_proofs import optimum
from tests.check.test_reason_proofs import problems as random_reasons

Problems = list[Problem]


def samples(rng: np.random.Generator, m: int, d: int, most: int = 10**6) -> Samples:
    """Return samples of great weights, so that linear programs have one optimum."""
    return Samples(rng.random((m, d)) < 0.6, rng.random(m) < 0.4, weights=rng.integers(1, most, m))


def certificate_problems(rng: np.random.Generator) -> Problems:
    def problem(of: Samples, epsilon: str, most: int = 10**5) -> MinCertificate:
        return MinCertificate(of, epsilon=epsilon, weights=rng.integers(1, most, 12).tolist())

    # Of equal weights that are bad, one is just what is tolerated.
    equal = Samples(rng.random((60, 12)) < 0.6, rng.random(60) < 0.4)
    return [
        problem(samples(rng, 60, 12), "1/20"),
        problem(samples(rng, 60, 12), "1/20", 10**8),
        problem(samples(rng, 60, 12), "0").where("not (x0 and x1)"),
        problem(equal, "1/59"),
        MinCertificate(samples(rng, 60, 12, 10**9), epsilon="1/20"),
    ]


def rule_set_problems(rng: np.random.Generator) -> Problems:
    def rules() -> tuple[tuple[int, ...], ...]:
        sizes = rng.integers(1, 4, 14)
        return tuple(tuple(sorted(rng.choice(6, n, replace=False).tolist())) for n in sizes)

    problems = [
        RuleSetSelection(
            samples(rng, 50, 6, most), rules(), Fraction(1, 400), loss=loss, max_rules=number,
            max_literals=literals, required=required,
        )
        for loss, number, literals, required, most in (
            ("zero-one", 2, None, [], 10**6), ("hamming", 1, 7, [], 10**6),
            ("zero-one", None, None, [], 10**6), ("zero-one", 4, 5, [0], 10**6),
            ("hamming", None, 3, [1], 10), ("zero-one", 2, None, [], 2**34),
        )
    ]  # fmt: skip
    few = samples(rng, 15, 6, 1000)
    pairs = tuple(itertools.combinations(range(6), 2))
    overlap = RuleSetSelection(few, (*rules(), *pairs), Fraction(1, 400), max_overlap=1)
    # Numbers for which no unit but 1 is small enough.
    rng = np.random.default_rng(5)
    large = rules()
    penalty = Fraction(1, 220009)
    large_numbers = RuleSetSelection(samples(rng, 50, 6, 2**34), large, penalty, max_rules=2)
    return [*problems, overlap, large_numbers]


def learning_problems(rng: np.random.Generator) -> Problems:
    problems = [
        RuleSetLearning(samples(rng, 40, 8, 1000), literals, Fraction(1, 60), loss)
        for literals in (2, 3)
        for loss in ("zero-one", "hamming")
    ]
    # Rules for nothing, errors alone that reach the goal, prices below 1, and large numbers.
    free = RuleSetLearning(samples(rng, 40, 4), 1, 0)
    none = RuleSetLearning(Samples(rng.random((15, 4)) < 0.6, [False] * 15), 2, Fraction(1, 60))
    cheap = Samples(rng.random((15, 5)) < 0.6, rng.random(15) < 0.4)
    large = [
        RuleSetLearning(samples(rng, 40, 6, most), 1, Fraction(1, part))
        for most, part in ((10**7, 7), (2**34, 60), (2**34, 7))
    ]
    many = RuleSetLearning(samples(rng, 100, 8, 2**33), 1, Fraction(1, 10**4))
    small = RuleSetLearning(samples(rng, 40, 6, 2**33), 1, Fraction(1, 10**6), "hamming")
    return [
        *problems, free, none, RuleSetLearning(cheap, 2, Fraction(1, 400)), *large, many, small
    ]  # fmt: skip


def kernel_rule_problems(rng: np.random.Generator) -> Problems:
    problems = [
        KernelRule(rng.random((24, 6)) < 0.6, rng.integers(-most, most, 24).tolist(), n, 2)
        for n, most in ((1, 10**6), (2, 10**6), (3, 10**6), (4, 10**6), (3, 4), (2, 2**45))
    ]
    # One clause is true of all rows of positive weight, and of no other.
    rows, weights = rng.random((12, 4)) < 0.6, rng.integers(-(10**6), 10**6, 12)
    rows[:, 0] = weights > 0
    rng = np.random.default_rng(1)
    table, of_both = rng.random((16, 5)) < 0.6, rng.integers(-(10**6), 10**6, 16).tolist()
    last = [KernelRule(table, of_both, clauses, 2) for clauses in (2, 4)]
    return [*problems, KernelRule(rows, weights.tolist(), 2, 2), *last]


def rule_problems(rng: np.random.Generator) -> Problems:
    def of() -> Samples:
        return samples(rng, 150, 10, 1000)

    few = Samples([[1, 1], [1, 0], [0, 1]], [True, False, False])
    return [
        KMonomial(of(), k=6),
        KMonomial(of(), k=5, min_coverage="1/2"),
        NegativeOnly(of(), k=5, min_coverage="1/5"),
        MaxCoverage(of(), k=4, min_precision="3/5"),
        MaxPrecision(of(), k=5, min_coverage="1/5"),
        KMonomial(of(), k=5).where("exactly(1, x0, x1, x2)"),
        MaxPrecision(of(), k=5, min_coverage="3/5", required=[0]),
        KMonomial(of(), k=3),
        MaxPrecision(few, k=2).where("not (x0 and x1)"),
    ]


def mixture_problems(_: np.random.Generator) -> Problems:
    seeds = (40, 41, 42, 44, 48, 50)
    problems = [expectation(seed, "mixture", several=False) for seed in seeds]
    return [*problems, expectation(4, several=False)]  # the last without a mixture


def boosted(depth: int, trees: int) -> tuple[TreeModel, np.ndarray]:
    """Return boosted trees over 14 attributes, and the rows that they learned from."""
    X, y = make_classification(200, 14, n_informative=9, n_redundant=2, random_state=0)
    learned = GradientBoostingClassifier(n_estimators=trees, max_depth=depth, random_state=0)
    return read_model(learned.fit(X, y)), X


def necessary(_: np.random.Generator) -> Problems:
    model, X = boosted(4, 20)
    coding = Coding.fit(X, cuts=model.thresholds, cast=model.cast, max_states=8)
    of = coding, fit_mixture(coding.codes(X), coding.cardinalities, structure="factorised")
    return [
        FewestExpected(model, X[row], *of, tau, measure="expectation")
        for row, tau in ((0, "1/4"), (0, "1/2"), (0, "1"), (2, "1/4"), (2, "1"), (2, "3/2"))
    ]


def boosted_problems(_: np.random.Generator) -> Problems:
    model, X = boosted(4, 20)
    coding = Coding.fit(X, cuts=model.thresholds, cast=model.cast, max_states=8)
    of = coding, fit_mixture(coding.codes(X), coding.cardinalities, structure="factorised")
    dual = {"measure": "expectation"}
    return [
        MLSE(model, X[0], *of, k=7),
        MLSE(model, X[2], *of, k=7).where("not ('x3' and 'x4')", "'x1' or 'x2'"),
        *(FewestExpected(model, X[2], *of, tau, **dual) for tau in ("1/2", "3/2")),
    ]


def reason_problems(rng: np.random.Generator) -> Problems:
    model, X = boosted(3, 25)
    return [
        *[problem for problem, _ in random_reasons(24, 1)][11:],
        SufficientReason(model, X[0], definition="sufficient"),
        *(
            SufficientReason(
                model, X[row], definition="sufficient", weights=rng.integers(1, 1000, 14).tolist(),
                **options,
            )
            for row, options in enumerate(
                ({}, {"required": [3]}, {"forbidden": [0]}, {"forbidden": list(range(9))})
            )
        ),
    ]  # fmt: skip


class Writer(NamedTuple):
    """What writes proofs, what of, and constants that are other ones here."""

    prove: Callable[..., tuple[Claim | None, list[str]]]
    problems: Callable[[np.random.Generator], Problems]
    constants: tuple[tuple[ModuleType, str, Any], ...] = ()


NOT_COUNTED = ((rule_sets, "_FEW", 0), (rule_sets, "_MANY", 0))
NO_PROGRAMS = ((linear_program, "minimum", lambda *_: None),)

WRITERS = {
    "certificates": Writer(certificates.prove, certificate_problems),
    "rule sets": Writer(
        rule_sets.prove, rule_set_problems, ((rule_sets, "_FIRST", 4), *NOT_COUNTED)
    ),
    "rule sets counted": Writer(rule_sets.prove, rule_set_problems),
    "rule sets counted late": Writer(
        rule_sets.prove,
        rule_set_problems,
        ((rule_sets, "_FIRST", 4), (rule_sets, "_FEW", 0), (rule_sets, "_MANY", 1000)),
    ),
    "rule sets in few nodes": Writer(
        rule_sets.prove,
        rule_set_problems,
        (
            (rule_sets, "_FIRST", 4),
            (rule_sets, "DEEPEST", 2),
            (checked_sets, "DEEPEST", 2),
            *NOT_COUNTED,
        ),
    ),
    "rule sets without programs": Writer(
        rule_sets.prove, rule_set_problems, (*NO_PROGRAMS, *NOT_COUNTED)
    ),
    "learning": Writer(learning.prove, learning_problems),
    "learning in one round": Writer(
        learning.prove, learning_problems, ((learning, "_ROUNDS", 1),)
    ),
    "kernel rules": Writer(
        kernel_rules.prove, kernel_rule_problems, ((kernel_rules, "_STEPS", (20, 5)),)
    ),
    "prices of rows": Writer(
        kernel_rules.prove, kernel_rule_problems, ((formulas, "_MOST_LOOKED", -1),)
    ),
    "prices of rows without programs": Writer(
        kernel_rules.prove, kernel_rule_problems, ((formulas, "_MOST_LOOKED", -1), *NO_PROGRAMS)
    ),
    "rules": Writer(monomials.prove, rule_problems),
    "rules in few boxes": Writer(
        monomials.prove, rule_problems, ((monomials, "DEEPEST", 2), (checked, "DEEPEST", 2))
    ),
    "trusted rules": Writer(partial(monomials.prove, trusted=True), rule_problems),
    "independent attributes": Writer(expected.prove, boosted_problems, ((expected, "_FEW", 0),)),
    "independent attributes counted": Writer(expected.prove, boosted_problems),
    "necessary attributes": Writer(expected.prove, necessary, ((expected, "_FEW", 0),)),
    "mixtures of few prices": Writer(
        expected.prove,
        mixture_problems,
        ((expected, "_COUNTED", 0), (expected, "MOST_PRICES", 144)),
    ),
    "mixtures of few sets": Writer(
        partial(expected.prove, trusted=True), mixture_problems, ((expected, "MOST_SETS", 4),)
    ),
    "mixtures": Writer(expected.prove, mixture_problems, ((expected, "_COUNTED", 0),)),
    "mixtures counted": Writer(
        partial(expected.prove, trusted=True), mixture_problems, ((expected, "_COUNTED", 24),)
    ),
    "reasons": Writer(reasons.prove, reason_problems),
}

# fmt: off
# The version that the figures are of.
HIGHS = "1.14.0"

# How often it may be asked whether the time is up, the lines and characters of all proofs
# together, and what they prove.
FIGURES: dict[str, list[tuple[int | None, int, int, list[Value | None]]]] = {
    "certificates": [
        (None, 41, 3898, [109577, 88036941, 223509, 106607, 3]),
        (0, 5, 1244, [84770, 77496370, 221736, 97658, 3]),
        (2, 13, 1764, [87928, 78818486, 223509, 106607, 3]),
        (5, 25, 2537, [93989, 85450265, 223509, 106607, 3]),
    ],
    "rule sets": [
        (None, 226, 30795, [849916600, 3428470800, 3496899074, 5598130557, 60631,
            11107323269946, 590463, 33450797679530308]),
        (0, 9, 4137, [523069992, 3428470800, 2065405794, 4982281891, 60631, 7382158493000,
            483789, 13472346780303882]),
        (3, 22, 6967, [524051624, 3428470800, 2101430174, 5006762851, 60631,
            7629353834474, 483789, 13502337772193909]),
        (12, 70, 11672, [672424500, 3428470800, 2101430174, 5055897278, 60631,
            7629353834474, 483789, 13502337772193909]),
    ],
    "rule sets counted": [
        (0, 8, 831, [849916600, 3428470800, 3496899074, 5598130557, 60631, 11107323269946,
            590463, 13472346780303876]),
    ],
    "rule sets counted late": [
        (None, 56, 7414, [849916600, 3428470800, 3496899074, 5598130557, 60631,
            11107323269946, 590463, 33450797679530308]),
        (3, 14, 1999, [849916600, 3428470800, 3496899074, 5598130557, 60631,
            11107323269946, 483789, 13502337772193909]),
    ],
    "rule sets in few nodes": [
        (10**6, 200, 27977, [849916600, 3428470800, 3256917457, 5598130557, 60631,
            11107323269946, 483789, 33450797679530308]),
    ],
    "rule sets without programs": [
        (0, 9, 294, [0, 0, 0, 4138829119, 60631, 0, 0, 0]),
        (3, 24, 935, [0, 0, 0, 4138829119, 60631, 0, 0, 0]),
    ],
    "learning": [
        (None, 22, 1072, [57742, 155340, 86124, 127976, 7977471, 0, 400, 76019627,
            4128043624380, 1218659117837, 10875068472459, 75269072719192368]),
        (3, 19, 1051, [None, 155340, None, 127976, 7977471, 0, None, 76019627, 4128043624380,
            1218659117837, 10875068472459, 75269072719192368]),
        (6, 24, 1217, [57742, 155340, 18356, 127976, 7977471, 0, 400, 76019627,
            4128043624380, 1218659117837, 10875068472459, 75269072719192368]),
        (7, 22, 1072, [57742, 155340, 86124, 127976, 7977471, 0, 400, 76019627,
            4128043624380, 1218659117837, 10875068472459, 75269072719192368]),
    ],
    "learning in one round": [
        (None, 20, 551, [57742, 155340, 86124, 127976, 7977471, 0, 400, 76019627,
            4128043624380, 1218659117837, 87123139413, 187206799643]),
    ],
    "kernel rules": [
        (None, 166, 11618, [2594294, 2527956, 2308197, 2398870, 3, 3354141956735, 1641528,
            3070998, 3070998]),
        (0, 16, 1343, [None, 3180332, 3906029, 4042133, 5, 70117104206208, 1641528, 3398701,
            3915848]),
        (3, 18, 1966, [2594294, 3147701, 3050698, 4042133, 4, 52155117349490, 1641528, 3233877,
            3566486]),
        (12, 19, 2617, [2594294, 2600091, 2666752, 3331445, 3, 31690981245167, 1641528, 3102833,
            3426281]),
        (40, 70, 6603, [2594294, 2589165, 2896675, 2757796, 3, 36688694684116, 1641528, 3070998,
            3070998]),
    ],
    "prices of rows": [
        (None, 249, 12212, [2594294, 2527956, 2308197, 2398870, 3, 3354141957312, 1641528,
            3070998, 3070998]),
        (0, 16, 1024, [None, 3236260, 3906029, 4042133, 6, 70117104206208, 1641528, 3398701,
            3915848]),
        (1, 18, 1049, [2594294, 3236260, 3906029, 4042133, 6, 70117104206208, 1641528, 3398701,
            3915848]),
        (2, 18, 1049, [2594294, 3236260, 3906029, 4042133, 6, 70117104206208, 1641528, 3398701,
            3915848]),
        (3, 18, 1049, [2594294, 3236260, 3906029, 4042133, 6, 70117104206208, 1641528, 3398701,
            3915848]),
        (20, 24, 1428, [2594294, 2527956, 3906029, 4042133, 6, 70117104206208, 1641528, 3398701,
            3915848]),
    ],
    "prices of rows without programs": [
        (0, 16, 952, [None, 5825969, 6188803, 5250676, 12, 184992767615983, 1641528, 4594261,
            4594261]),
        (2, 18, 977, [2594294, 5825969, 6188803, 5250676, 12, 184992767615983, 1641528, 4594261,
            4594261]),
    ],
    "rules": [
        (None, 62, 519, [25770, 33747, 6525, 25518, Fraction(437, 812), 27462, Fraction(17189,
            41637), 26791, Fraction(1, 2)]),
        (0, 9, 36, [2984, 10344, 0, 54756, Fraction(1), 1064, Fraction(17189, 41244), 2363,
            Fraction(1)]),
        (2, 42, 261, [14564, 33747, 0, 25518, Fraction(1), 9996, Fraction(17189, 41637), 26791,
            Fraction(1, 2)]),
        (8, 47, 347, [14564, 33747, 6525, 25518, Fraction(1), 9996, Fraction(17189, 41637),
            26791, Fraction(1, 2)]),
        (20, 60, 477, [25770, 33747, 6525, 25518, Fraction(437, 812), 13096, Fraction(17189,
            41637), 26791, Fraction(1, 2)]),
    ],
    "rules in few boxes": [
        (None, 61, 509, [20216, 33747, 6525, 25518, Fraction(437, 812), 27462, Fraction(17189,
            41637), 26791, Fraction(1, 2)]),
        (5, 44, 302, [14564, 33747, 6525, 25518, Fraction(1), 9996, Fraction(17189, 41637),
            26791, Fraction(1, 2)]),
    ],
    "trusted rules": [
        (None, 95, 813, [25770, 33747, 6525, 25518, Fraction(437, 812), 27462, Fraction(17189,
            41637), 26791, Fraction(1, 2)]),
        (1, 56, 455, [12198, 33747, 6525, 25518, Fraction(437, 812), 27462, Fraction(17189,
            41637), 26791, Fraction(1, 2)]),
        (3, 73, 610, [14564, 33747, 6525, 25518, Fraction(437, 812), 27462, Fraction(17189,
            41637), 26791, Fraction(1, 2)]),
        (5, 85, 720, [14564, 33747, 6525, 25518, Fraction(437, 812), 27462, Fraction(17189,
            41637), 26791, Fraction(1, 2)]),
    ],
    "independent attributes": [
        (None, 36, 35091, [633225831326, 1016331537465, 2, 5]),
        (0, 15, 26226, [644422503209, 1056115465453, 2, 4]),
        (1, 36, 35091, [633225831326, 1016331537465, 2, 5]),
    ],
    "independent attributes counted": [
        (0, 9, 11715, [633225831326, 1016331537465, 2, 5]),
    ],
    "necessary attributes": [
        (0, 11, 20674, [2, 3, 5, 1, 3, 4]),
    ],
    "mixtures of few prices": [
        (10**6, 108, 1313, [561058914018, 1, 1099511627776, 18, 9, -274877906944, 728985603584]),
    ],
    "mixtures of few sets": [
        (None, 68, 1374, [537589919648, 1, 1099511627776, 14, 9, -274877906944, 728985603584]),
        (0, 15, 382, [561058914018, 1, 1099511627780, 18, 9, -274877906944, 728985603584]),
    ],
    "mixtures": [
        (None, 162, 2107, [537589919648, 1, 1099511627776, 14, 9, -274877906944, 728985603584]),
        (0, 17, 422, [561058914018, 1, 1099511627780, 18, 14, -274877906944, 728985603584]),
        (2, 62, 1202, [560357269420, 1, 1099511627780, 18, 14, -274877906944, 728985603584]),
        (3, 78, 1460, [560357269420, 1, 1099511627780, 18, 9, -274877906944, 728985603584]),
        (5, 104, 1792, [546923026026, 1, 1099511627776, 18, 9, -274877906944, 728985603584]),
    ],
    "mixtures counted": [
        (None, 40, 1024, [537589919648, 1, 1099511627776, 14, 9, -274877906944, 728985603584]),
        (0, 13, 368, [561058914018, 1, 1099511627776, 18, 9, -274877906944, 728985603584]),
        (2, 36, 999, [560357269420, 1, 1099511627776, 18, 9, -274877906944, 728985603584]),
        (3, 40, 1024, [537589919648, 1, 1099511627776, 14, 9, -274877906944, 728985603584]),
    ],
    "reasons": [
        (None, 87, 8820, [3, 0, 0, 3, 3, 2, 0, 0, 0, 3, 1, 1, 1, 8, 3344, 2154, 1631, None]),
        (0, 8, 88, [3, 0, 0, None, None, None, 0, 0, 0, 3, 1, None, None, None, None, None, None,
            None]),
        (5, 18, 222, [3, 0, 0, 3, None, 2, 0, 0, 0, 3, 1, 1, 1, None, None, None, None, None]),
        (25, 87, 8820, [3, 0, 0, 3, 3, 2, 0, 0, 0, 3, 1, 1, 1, 8, 3344, 2154, 1631, None]),
    ],
}
# fmt: on

# Elsewhere goals are reached where the time is never up.
LEARNED = [57742, 155340, 86124, 127976, 7977471, 0, 400, 76019627, 4128043624380, 1218659117837]
GOALS = {
    "learning": [*LEARNED, 364180299016000, 75269241940799643],
    "learning in one round": [*LEARNED, 364180299016000, 75269241940799643],
    "rule sets counted": FIGURES["rule sets"][0][3],
    "rule sets in few nodes": FIGURES["rule sets"][0][3],
    "rule sets without programs": FIGURES["rule sets"][0][3],
    "prices of rows without programs": FIGURES["kernel rules"][0][3],
    "necessary attributes": [9] * 6,
    "mixtures of few prices": FIGURES["mixtures"][0][3],
    "rules in few boxes": FIGURES["rules"][0][3],
}


def allowing(questions: int | None) -> Callable[[], bool]:
    """Return what says that the time is up once it was asked so often, or never."""
    times = itertools.count()
    return lambda: questions is not None and next(times) >= questions


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n == "prices of rows" else n for n in WRITERS],
)
def test_proofs_are_short_and_bounds_are_good(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = WRITERS[name]
    problems = writer.problems(np.random.default_rng(0))
    goals = GOALS.get(name, FIGURES[name][0][3])
    # A search that takes long asks for the time in between: how often, the machine decides.
    monkeypatch.setattr("cpx.processes.threads._FIRST_PAUSE", 60.0)
    monkeypatch.setattr(max_weight, "_POLL_SECONDS", 60.0)
    for constant in writer.constants:
        monkeypatch.setattr(*constant)
    for questions, lines, characters, bounds in FIGURES[name]:
        reached, written = [], list[str]()
        for problem, goal in zip(problems, goals, strict=True):
            over = allowing(questions)
            claim, of = writer.prove(problem.to_dict(), Claim(goal), over)
            reached.append(None if claim is None else claim.bound)
            written += of
            if claim is not None:
                file = document(problem, of, claim, Claim(goal))
                assert proved(problem.to_dict(), file) == claim
        if version("highspy") == HIGHS:
            assert (questions, len(written), reached) == (questions, lines, bounds)
            assert sum(map(len, written)) <= 1.01 * characters
        else:  # its programs may end elsewhere, at solutions that are as good
            assert len(written) <= 1.5 * lines
            assert questions is not None or reached == bounds


def test_prices_of_rows_prove_the_goal_if_there_is_time() -> None:
    """Also where every formula is worth less than 0, and parts have no clause at all."""
    rng, below, written, missed = np.random.default_rng(6), 0, 0, 0
    for number in range(32):
        m, d = int(rng.integers(2, 9)), int(rng.integers(1, 6))
        # The last ones have no unit but 1 or more: they are rounded upwards.
        rounded = number % 4 == 3
        weights = rng.integers(1, (10, 10**6, 2**36, 2**42)[number % 4], m)
        problem = KernelRule(
            rng.random((m, d)) < 0.6,
            (weights * rng.choice([-1, 1], m, p=[0.7, 0.3])).tolist(),
            int(rng.integers(2, 4)),
            int(rng.integers(1, d + 1)),
        )
        instance, value = problem.to_dict(), optimum(problem)
        below += value < 0
        for goal in (value, value + 1):
            reached, lines = by_prices(Clauses(instance), goal, lambda: False)
            assert goal <= reached <= goal + 9 * rounded
            claim = Claim(reached)
            assert proved(instance, document(problem, lines, claim, goal=Claim(goal))) == claim
            written, missed = written + len(lines), missed + reached - goal
    assert 10 < below < 22
    if version("highspy") == HIGHS:
        assert (written, missed) == (341, 15)


def test_without_programs_rows_are_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*NO_PROGRAMS[0])
    problem = KernelRule(np.eye(3, dtype=bool), [4, 2, -1], 2, 1)
    over = allowing(100)
    reached, lines = by_prices(Clauses(problem.to_dict()), 6, over)
    claim = Claim(reached)
    assert proved(problem.to_dict(), document(problem, lines, claim, goal=Claim(6))) == claim
    assert not over()


@pytest.mark.parametrize(("weights", "goal"), [([3, -1, -1, 5], 3), ([-3, -7, -6, 5], -3)])
def test_prices_of_rows_come_from_all_clauses_and_no_other(weights: list[int], goal: int) -> None:
    """The best clause has two features; the one without any, which is none, is of all rows."""
    problem = KernelRule([[1, 1], [1, 0], [0, 1], [0, 0]], weights, 2, 2)
    assert optimum(problem) == goal
    reached, lines = by_prices(Clauses(problem.to_dict()), goal, lambda: False)
    assert reached == goal
    assert proved(problem.to_dict(), document(problem, lines, Claim(goal))) == Claim(goal)


def test_rows_that_are_not_in_doubt_are_not_split() -> None:
    """Both clauses are chosen, and no bound is below 6."""
    problem, over = KernelRule(np.eye(2, dtype=bool), [4, 2], 2, 1), allowing(100)
    reached, lines = by_prices(Clauses(problem.to_dict()), 5, over)
    assert reached == optimum(problem) == 6
    assert not over()
    assert proved(problem.to_dict(), document(problem, lines, Claim(6))) == Claim(6)


def test_rules_pay_no_more_for_a_sample_than_it_costs() -> None:
    """Where rounded prices add up to more, the last rules pay less, down to nothing."""
    paid, sample = np.array([3, 3, 3, 2, 9]), np.array([0, 0, 0, 1, 2])
    left = rule_sets._no_more(paid, sample, np.array([4, 5, 6]))
    assert left.tolist() == [3, 1, 0, 2, 6]
