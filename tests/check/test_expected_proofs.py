"""Proofs of expected predictions: right ones are taken, and no false claim ever is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier

from cpx import MLSE, read_model, solve
from cpx.check.proofs import Claim, Refused, Undecided, proved
from cpx.check.proofs.branching import Part
from cpx.check.proofs.document import fingerprint
from cpx.data.coding import Coding
from cpx.data.fitted.mixture_fit import fit_mixture
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.modelling.base import Problem
from cpx.models import FewestExpected
from cpx.models.expected_prediction import cases as cases
from cpx.models.expected_prediction import proof_check as expected
from cpx.models.expected_prediction import proof_terms
from cpx.models.expected_prediction import prove as prover
from cpx.models.expected_prediction import prove_terms as term_prices
from cpx.models.expected_prediction.cases import STRUCTURES, random_expectation
from cpx.models.expected_prediction.judge import Fewest, Greatest
from cpx.models.expected_prediction.proof_check import Bound, JudgedQuestion
from cpx.models.expected_prediction.proof_mixtures import greatest_mean
from cpx.models.expected_prediction.proof_terms import terms_of
from cpx.models.expected_prediction.prove_terms import TermPrices
from tests.check.proof_files import altered, document
from tests.seeds import some


def drawn(seed: int, structure: str = "factorised", **asked: Any) -> Problem:
    """Return a small problem: both questions, units small and large, side constraints."""
    rng = np.random.default_rng(seed)
    changes: dict[str, Any] = {"unit": "1/16"} if rng.random() < 0.4 else {}
    problem = random_expectation(seed, structure, dual=seed % 2 == 1, **changes, **asked)
    if rng.random() < 0.7 and problem.n_features > 2:
        a, b, c = (f"'{name}'" for name in problem.feature_names[:3])
        texts = f"not ({a} and {b})", f"not {b}", f"exactly(1, {a}, {b}, {c})"
        text = texts[rng.integers(3)]
        problem = problem.where(text)
    return problem


def optimum(problem: Any) -> int | None:
    """Return the best value by trying all sets."""
    found = [
        problem.evaluate(problem.explanation(chosen))
        for size in range(problem.n_features + 1)
        for chosen in combinations(range(problem.n_features), size)
        if problem.side_constraints.allow(chosen)
    ]
    values = [int(one.objective) for one in found if one.feasible]
    if not values:
        return None
    return max(values) if problem.sense == "max" else min(values)


def proofs(
    n: int, start: int, structure: str = "factorised"
) -> Iterator[tuple[Any, int | None, list[str]]]:
    """Return random problems, their optima, and the lines that prove these."""
    for seed in range(start, start + n):
        problem = drawn(seed, structure)
        value = optimum(problem)
        claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: False)
        assert claim == Claim(value)
        yield problem, value, lines


@pytest.fixture(autouse=True)
def _prices_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The problems are so small that all their sets would be counted."""
    monkeypatch.setattr(prover, "_FEW", 0)


def better(problem: Any, value: int) -> int:
    """Return a bound that a problem of this optimum does not have."""
    return value - problem._tolerance - 1 if problem.sense == "max" else value + 1


@pytest.mark.parametrize("n", some(30, 120))
def test_optima_are_proved_and_nothing_better(n: int) -> None:
    rules, infeasible = set[str](), 0
    for problem, value, lines in proofs(n, 0):
        instance = problem.to_dict()
        assert proved(instance, document(problem, lines, Claim(value))) == Claim(value)
        rules |= {line.split(" ")[0] for line in lines}
        infeasible += value is None
        if value is None:
            continue
        for wrong in (Claim(None), Claim(better(problem, value))):
            with pytest.raises(Refused):
                prover.prove(instance, wrong, lambda: False)
            with pytest.raises(Refused):
                proved(instance, document(problem, lines, wrong))
    assert rules >= {"prices", "split", "bound", "idle", "full", "breaks"}
    assert infeasible > n // 24


def test_boosted_trees_are_decided_in_a_few_lines() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    boosted = GradientBoostingClassifier(n_estimators=20, max_depth=2, random_state=0).fit(X, y)
    model = read_model(boosted)
    coding = Coding.fit(X, cuts=model.thresholds, cast=model.cast)
    independent = fit_mixture(coding.codes(X), coding.cardinalities, structure="factorised")
    rules = set[str]()
    for row in range(3):
        problem = MLSE(model, X[row], coding, independent, k=3)
        result = solve(problem, "search", proof=True)
        assert result.proof is not None
        assert result.proof.complete
        claim = proved(problem.to_dict(), result.proof.to_bytes())
        assert claim == Claim(result.objective)
        rules |= {line.split(" ")[0] for line in result.proof.lines}
        assert len(result.proof.lines) < 100
    assert "decide" in rules


def test_the_terms_add_up_to_what_a_set_is_worth() -> None:
    for seed in range(0, 40, 2):
        problem: Any = random_expectation(seed)
        terms = terms_of(Greatest(problem.to_dict()))
        for size in range(problem.n_features + 1):
            for chosen in combinations(range(problem.n_features), size):
                held = np.isin(np.arange(problem.n_features), chosen)
                found = problem.evaluate(problem.explanation(chosen))
                assert terms.value(held) == found.objective


@pytest.mark.parametrize("together", [1, 8])
def test_the_terms_of_a_problem_are_those_that_the_checker_reads(
    monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(proof_terms, "TOGETHER", together)
    monkeypatch.setattr(prover, "TOGETHER", together)
    X, y = load_breast_cancer(return_X_y=True)
    boosted = GradientBoostingClassifier(n_estimators=4, max_depth=5, random_state=0).fit(X, y)
    model = read_model(boosted)
    coding = Coding.fit(X, cuts=model.thresholds, cast=model.cast, max_states=8)
    independent = fit_mixture(coding.codes(X), coding.cardinalities, structure="factorised")
    deep = MLSE(model, X[0], coding, independent, k=3)
    bounded = 0
    for problem in (deep, *(random_expectation(seed, dual=seed % 3 > 0) for seed in range(30))):
        read = (Greatest if problem.sense == "max" else Fewest)(problem.to_dict())
        own, checked = prover._terms(problem), terms_of(read)
        assert own.attributes == checked.attributes
        assert own.values.tolist() == checked.values.tolist()
        assert (own.constant, own.needed) == (checked.constant, checked.needed)
        bounded += getattr(problem, "bounded", False)
    assert bounded > 5


@pytest.mark.parametrize("few", [0, 2**12])
def test_proofs_from_the_problem_itself_are_taken(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(prover, "_FEW", few)
    rules = set[str]()
    for seed in range(30):
        problem = drawn(seed)
        instance, claim = problem.to_dict(), Claim(optimum(problem))
        found, lines = prover.prove(instance, claim, lambda: False, True, problem)
        assert found == claim == proved(instance, document(problem, lines, claim))
        rules |= {line.split(" ")[0] for line in lines}
    assert rules >= ({"counted", "idle"} if few else {"prices", "bound", "full"})


def test_too_large_terms_of_a_problem_have_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_expectation(2)
    monkeypatch.setattr(proof_terms, "_MOST_ENTRIES", 1)
    with pytest.raises(Undecided, match="attributes together"):
        prover.prove(problem.to_dict(), Claim(0), lambda: False, True, problem)


def test_steps_leave_out_what_the_checker_does_and_make_no_bound_worse() -> None:
    rng, less, idle = np.random.default_rng(0), 0, 0
    for seed in range(0, 50, 2):
        problem: Any = random_expectation(seed, required=(), forbidden=())
        question = JudgedQuestion(problem.to_dict(), Claim(0))
        terms, n = question.terms, problem.n_features
        steps = TermPrices(terms)
        assert steps.small
        for _ in range(5):
            kinds = rng.integers(0, 4, n)
            part = Part(kinds == 1, kinds == 2)
            rest = question.without_idle(part)
            assert (steps.idle(part).out == rest.out).all()
            idle += bool((rest.out & ~part.out).any())
            if (room := question.room(part)) < 1:
                continue
            first = rng.integers(-(2**30), 2**30, terms.of.size)
            first = np.clip(first, -steps._ranges, steps._ranges)
            before = question.bound(part, [first])
            found = steps.improved(part, room, -(2**60), first)
            after = question.bound(part, [found])
            assert after <= before
            less += after < before
    assert min(less, idle) > 20


def test_prices_that_steps_may_make_too_large_are_those_of_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(term_prices, "LARGEST", 1)
    written = [line for _, _, lines in proofs(12, 0) for line in lines]
    assert any(line.startswith("bound") for line in written)


def test_any_prices_bound_all_sets() -> None:
    """The checker takes whatever prices there are: what it reads must hold."""
    rng = np.random.default_rng(0)
    for seed in range(0, 120, 4):
        problem: Any = random_expectation(seed, unit="1/16", required=(), forbidden=())
        question = JudgedQuestion(problem.to_dict(), Claim(0))
        terms, n = question.terms, problem.n_features
        sets = [
            np.isin(np.arange(n), chosen)
            for size in range(problem.k + 1)
            for chosen in combinations(range(n), size)
        ]
        worth = [terms.value(held) for held in sets]
        for _ in range(10):
            kinds = rng.integers(0, 4, n)
            part = Part(kinds == 1, kinds == 2)
            inside = [
                (held, value)
                for held, value in zip(sets, worth, strict=True)
                if held[part.kept].all() and not held[part.out].any()
            ]
            bound = Bound(question, part, rng.integers(-40, 41, terms.of.size))
            assert all(value <= bound.total for _, value in inside)
            most = int(rng.integers(min(worth) - 3, max(worth) + 3))
            decided = bound.decided(most)
            assert all(
                held[decided.kept].all() and not held[decided.out].any()
                for held, value in inside
                if value > most
            )
            idle = question.without_idle(part)
            best = max((value for _, value in inside), default=0)
            left = [value for held, value in inside if not held[idle.out].any()]
            assert not inside or max(left) == best


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("structure", "n"),
    [
        *((structure, 15) for structure in STRUCTURES[:2]),
        *(pytest.param(structure, 250, marks=pytest.mark.slow) for structure in STRUCTURES),
    ],
)
def test_no_altered_proof_proves_a_false_claim(
    monkeypatch: pytest.MonkeyPatch, structure: str, n: int
) -> None:
    # So that sets are counted in some parts, and not in others.
    monkeypatch.setattr(prover, "_COUNTED", 12)
    monkeypatch.setattr(prover, "_FEW", 6)
    rng, refused, tried = np.random.default_rng(0), 0, 0
    for problem, value, lines in proofs(n, 200, structure):
        if value is None:
            continue
        instance = problem.to_dict()
        for _ in range(6):
            tried += 1
            changed = altered(lines, rng)
            with pytest.raises(Refused):
                proved(instance, document(problem, changed, Claim(better(problem, value))))
            try:
                proved(instance, document(problem, changed, Claim(value)))
            except Refused:
                refused += 1
    assert refused > tried / 3


def test_a_proof_that_is_interrupted_proves_the_bound_reached() -> None:
    less = 0
    for problem, value, _ in proofs(8, 530):
        if value is None:
            continue
        claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: True)
        if claim is None:
            continue
        assert isinstance(claim.bound, int)
        sign = 1 if problem.sense == "max" else -1
        assert sign * claim.bound >= sign * value
        less += claim.bound != value
        file = document(problem, lines, claim, goal=Claim(value))
        assert proved(problem.to_dict(), file) == claim
    assert less


def test_a_bound_just_below_what_is_needed_is_enough() -> None:
    """Where the time is up at once, what is proved is one less than the optimum."""
    problem: Any = random_expectation(386, dual=True, unit="1/16", required=(), forbidden=())
    problem = replace(problem, threshold="6/16")
    assert optimum(problem) == 2
    instance = problem.to_dict()
    claim, lines = prover.prove(instance, Claim(2), lambda: True)
    assert claim == Claim(1)
    assert proved(instance, document(problem, lines, claim, goal=Claim(2))) == claim


@pytest.mark.parametrize("structure", STRUCTURES[1:])
@pytest.mark.parametrize("counted", [0, 20, prover._COUNTED])
def test_dependent_attributes_by_parts_and_by_counting(
    monkeypatch: pytest.MonkeyPatch, structure: str, counted: int
) -> None:
    monkeypatch.setattr(prover, "_COUNTED", counted)
    rules, rng = set[str](), np.random.default_rng(0)
    for problem, value, lines in proofs(4, 700 + counted % 7, structure):
        instance = problem.to_dict()
        assert proved(instance, document(problem, lines, Claim(value))) == Claim(value)
        rules |= {line.split(" ")[0] for line in lines}
        if value is None:
            continue
        for wrong in (Claim(None), Claim(better(problem, value))):
            with pytest.raises(Refused):
                prover.prove(instance, wrong, lambda: False)
            for _ in range(3):
                with pytest.raises(Refused):
                    proved(instance, document(problem, altered(lines, rng), wrong))
        claim, some = prover.prove(instance, Claim(value), lambda: True)
        if claim is not None:
            assert claim.bound is not None
            assert claim.bound >= value if problem.sense == "max" else claim.bound <= value
            assert proved(instance, document(problem, some, claim, Claim(value))) == claim
    assert "counted" in rules if counted else rules >= {"split", "full"}


@pytest.mark.parametrize("structure", STRUCTURES[1:])
def test_bounds_of_dependent_attributes_hold_in_all_parts(structure: str) -> None:
    """With whatever prices; and so do the limits of what components share."""
    rng = np.random.default_rng(1)
    for seed in range(0, 30, 2):
        problem: Any = random_expectation(seed, structure, required=(), forbidden=())
        question, n = JudgedQuestion(problem.to_dict(), Claim(0)), problem.n_features
        few = {
            chosen: problem.evaluate(problem.explanation(chosen)).objective
            for size in range(problem.k + 1)
            for chosen in combinations(range(n), size)
        }
        for _ in range(5):
            kinds = rng.integers(0, 4, n)
            part = Part(kinds == 1, kinds == 2)
            prices = [
                rng.integers(-(2**38), 2**38, question.terms.of.size) for _ in question.components
            ]
            bound = question.bound(part, prices)
            kept, out = set(np.flatnonzero(part.kept)), set(np.flatnonzero(part.out))
            inside = {s: v for s, v in few.items() if kept <= set(s) and not out & set(s)}
            assert all(value <= bound for value in inside.values())
            limits = question._mixture.limits(part, max(0, question.room(part)))
            for chosen in inside if len(limits) > 1 else ():
                shares = [Fraction(s) for s in problem.scores._joint(chosen)]
                for share, limit in zip(shares, limits, strict=False):
                    assert share / sum(shares) <= limit


def test_a_mixture_over_many_attributes_is_bounded_at_the_root() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    boosted = GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0).fit(X, y)
    model = read_model(boosted)
    coding = Coding.fit(X, cuts=model.thresholds, cast=model.cast, max_states=8)
    mixture = fit_mixture(coding.codes(X), coding.cardinalities, components=3, restarts=1)
    problem = MLSE(model, X[0], coding, mixture, k=12)
    result = solve(problem, "search", proof=True, time_limit=2)
    assert result.proof is not None
    assert any(line.startswith("bound") for line in result.proof.lines)
    claim = proved(problem.to_dict(), result.proof.to_bytes())
    assert result.objective is not None
    assert claim.bound is not None
    assert claim.bound >= result.objective
    few = MLSE(model, X[0], coding, mixture, k=2)
    result = solve(few, "search", proof=True)
    assert result.proof is not None
    assert result.proof.lines == ("counted",)
    assert proved(few.to_dict(), result.proof.to_bytes()) == Claim(result.objective)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_claims_beyond_all_floats_are_judged(structure: str) -> None:
    problem = random_expectation(0, structure)
    instance, high = problem.to_dict(), Claim(10**400)
    assert proved(instance, document(problem, ["counted"], high)) == high
    with pytest.raises(Refused, match="a set is worth more"):
        proved(instance, document(problem, ["counted"], Claim(-(10**400))))


def test_a_claim_beyond_the_goal_is_refused() -> None:
    problem: Any = random_expectation(0)
    value = optimum(problem)
    assert value is not None
    _, lines = prover.prove(problem.to_dict(), Claim(value), lambda: False)
    with pytest.raises(Refused, match="does not follow"):
        proved(problem.to_dict(), document(problem, lines, Claim(value), goal=Claim(value + 1)))


def test_prices_beyond_the_checker_prove_nothing_and_refute_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ((problem, value, lines),) = proofs(1, 12)
    assert lines[0].startswith("prices ")
    monkeypatch.setattr(expected, "LARGEST", 1)
    with pytest.raises(Undecided, match="line 2: numbers are too large"):
        proved(problem.to_dict(), document(problem, lines, Claim(value)))


def test_prices_take_no_more_memory_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    ((problem, value, lines),) = proofs(1, 24)
    assert sum(line.startswith("prices") for line in lines) == 2
    instance, most = problem.to_dict(), terms_of(Greatest(problem.to_dict())).of.size
    monkeypatch.setattr(expected, "MOST_PRICES", most)
    with pytest.raises(Refused, match=f"line 3: there are more than {most} prices"):
        proved(instance, document(problem, lines, Claim(value)))
    monkeypatch.setattr(prover, "MOST_PRICES", most)
    claim, fewer = prover.prove(instance, Claim(value), lambda: False)
    assert claim is not None
    assert claim != Claim(value)
    assert proved(instance, document(problem, fewer, claim, Claim(value))) == claim


def test_attributes_are_decided_where_one_of_their_halves_is_bounded() -> None:
    """What is decided is what the bounds of both halves say, by the same prices; no less."""
    rng, kept, out = np.random.default_rng(2), 0, 0
    for seed in range(0, 160, 8):
        problem: Any = random_expectation(seed, unit="1/16", required=(), forbidden=())
        question = JudgedQuestion(problem.to_dict(), Claim(0))
        terms, n = question.terms, problem.n_features
        for _ in range(8):
            kinds = rng.integers(0, 6, n)
            part = Part(kinds == 1, kinds == 2)
            prices = rng.integers(-8, 9, terms.of.size)
            free = np.flatnonzero(part.free)
            halves = np.full((2, n), 2**62)
            for j in free.tolist():
                halves[:, j] = [Bound(question, half, prices).total for half in part.halves(j)]
            whole = Bound(question, part, prices)
            for most in {*halves[:, free].reshape(-1).tolist()}:
                for limit in (most - 1, most):
                    decided = whole.decided(limit)
                    both = part.free & (halves[1] <= limit)
                    assert (decided.kept == (part.kept | both)).all()
                    neither = part.free & (halves[0] <= limit) & ~both
                    assert (decided.out == (part.out | neither)).all()
                    kept, out = kept + int(both.sum()), out + int(neither.sum())
    assert min(kept, out) > 100


@pytest.mark.parametrize("together", [1, 8])
def test_a_set_reaches_the_threshold_where_the_terms_say_so(
    monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    """In units so large that many a set is worth just what is needed, or one unit less."""
    monkeypatch.setattr(proof_terms, "TOGETHER", together)
    near = {-1: 0, 0: 0}
    for seed in (*range(1, 30, 2), 35, 59, 71, 73, 77):
        unit = ("1/16", "3/32", "1/1099511627776")[seed % 3]
        problem: Any = random_expectation(seed, dual=True, unit=unit, required=(), forbidden=())
        question, n = JudgedQuestion(problem.to_dict(), Claim(None)), problem.n_features
        for size in range(n + 1):
            for chosen in combinations(range(n), size):
                found = problem.evaluate(problem.explanation(chosen))
                worth = question.terms.value(np.isin(np.arange(n), chosen))
                assert found.feasible == (worth > question.most)
                off = worth - question.terms.needed - problem.forgiven
                if off in near:
                    near[off] += 1
    assert min(near.values()) > 10


def mixed(structure: str) -> TreeMixture:
    """Return three even bits, independent ones, of two components, or with an edge."""
    even = cases._independent([0.5] * 3)
    if structure == "factorised":
        return even
    parents = np.array([[-1, 0, -1]])
    if structure == "mixture":
        return TreeMixture(np.array([ONE // 2] * 2), np.full((2, 3), -1), even.tables * 2)
    table = ((ONE // 2, ONE // 2), (ONE // 2, ONE // 2))
    first, _, last = even.tables[0]
    return TreeMixture(np.array([ONE]), parents, ((first, table, last),))


@pytest.mark.parametrize(
    ("structure", "measure", "leaf", "slack"),
    [
        ("mixture", None, 0.98, Fraction(42, 2)),
        ("mixture", "expectation", 1.98, 42),
        ("mixture", "probability-bound", 1.98, 62),
        ("chow-liu", None, 0.98, 42),
        ("chow-liu", "expectation", 1.98, 42),
    ],
)
def test_no_false_claim_is_proved_by_what_is_rounded(
    structure: str, measure: str | None, leaf: float, slack: Fraction
) -> None:
    """Each of the leaves of 20 trees is nearly half a unit, or a whole one, above what counts."""
    model = cases._model([cases._stump(i % 2, leaf, leaf + 2**-40) for i in range(20)], 0)
    of = model, (1, 1, 1), cases._states(), mixed(structure)
    if measure is None:
        problem: Any = MLSE(*of, 0, unit=1)
    else:
        tau = Fraction(20 * Fraction(leaf)) if measure == "expectation" else Fraction(51, 100)
        problem = FewestExpected(*of, tau, measure=measure, unit=1)
    instance, value = problem.to_dict(), optimum(problem)
    assert value == (0 if measure else 20)
    false = Claim(None) if measure else Claim(value - 1)
    question = JudgedQuestion(instance, false)
    assert question.terms.slack == slack
    lines = ["prices", "bound" + " 0" * len(question.components)]
    with pytest.raises(Refused, match="the bound is"):
        proved(instance, document(problem, lines, false))
    # What no slack is needed for: trees that are one leaf.
    single: Any = MLSE(cases._model([cases._leaf(0.99)] * 20, 0), *of[1:], 0, unit=1)
    assert optimum(single) == 20
    with pytest.raises(Refused, match="the bound is"):
        proved(single.to_dict(), document(single, lines, Claim(19)))


def test_trees_that_test_many_attributes_are_terms_of_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = cases._model([cases._pair(0, 1, 4), cases._stump(2, 0, 1)], -1)

    def terms(structure: str, together: int, **asked: Any) -> list[list[int]]:
        monkeypatch.setattr(proof_terms, "TOGETHER", together)
        of = model, (1, 1, 1), cases._states(), mixed(structure)
        problem: Any = FewestExpected(*of, "1/2", **asked) if asked else MLSE(*of, 1)
        return JudgedQuestion(problem.to_dict(), Claim(1)).terms.attributes

    assert terms("factorised", 2) == terms("mixture", 2) == [[0, 1], [2]]
    assert terms("factorised", 1) == terms("mixture", 1) == [[0], [0, 1], [2]]
    assert terms("chow-liu", 1) == [[0, 1], [2]]
    assert terms("factorised", 1, measure="probability-bound") == [[0, 1], [2]]


def test_tables_and_numbers_are_no_larger_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables of 4 and 2 values: a base of -4 units, at most 16 and at most 4 of them."""
    model = cases._model([cases._pair(0, 1, 4), cases._stump(2, 0, 1)], -1)
    of = model, (1, 1, 1), cases._states(), mixed("factorised")
    score: Any = MLSE(*of, 1, unit="1/4")
    fewest: Any = FewestExpected(*of, 100, unit="1/4")
    for name, problem, least in (
        ("_MOST_ATTRIBUTES", score, 2),
        ("_MOST_ENTRIES", score, 6),
        ("LARGEST", score, 4 + 16 + 4 + 1),
        ("LARGEST", fewest, 401),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(proof_terms, name, least)
            JudgedQuestion(problem.to_dict(), Claim(0))
            patched.setattr(proof_terms, name, least - 1)
            with pytest.raises(Undecided):
                JudgedQuestion(problem.to_dict(), Claim(0))


@pytest.mark.parametrize(
    ("structure", "tau", "low", "values", "most"),
    [
        ("factorised", None, -1, [4, 12], 4 + 12),
        ("chow-liu", None, -1, [12, 12], 12),
        ("chow-liu", None, -4, [12, 12], 16),
        ("chow-liu", None, 5, [20, 12], 20),
        # Less half of the greatest leaf.
        ("factorised", "1/2", -1, [-2, 6], 4 + 12 + 6),
        ("factorised", "1/2", 5, [6, 6], 20 + 12 + 10),
        ("chow-liu", "1/2", -4, [6, 6], 8),
        ("chow-liu", "1/2", 5, [10, 6], 10),
    ],
)
def test_a_table_has_what_its_leaves_add_where_all_together_are_no_more_than_allowed(
    monkeypatch: pytest.MonkeyPatch,
    structure: str,
    tau: str | None,
    low: int,
    values: list[int],
    most: int,
) -> None:
    """Of one attribute, unknown and known: leaves of ``low`` and 3, a unit of a quarter."""
    model = cases._model([cases._stump(0, low, 3)], 0)
    of = model, (1, 1, 1), cases._states(), mixed(structure)
    problem: Any = MLSE(*of, 1, unit="1/4")
    if tau is not None:
        problem = FewestExpected(*of, tau, measure="probability-bound", unit="1/4")
    monkeypatch.setattr(proof_terms, "LARGEST", most + 1)
    assert JudgedQuestion(problem.to_dict(), Claim(0)).terms.values.tolist() == values
    monkeypatch.setattr(proof_terms, "LARGEST", most)
    with pytest.raises(Undecided):
        JudgedQuestion(problem.to_dict(), Claim(0))


def test_a_unit_may_be_as_small_as_the_numbers_are() -> None:
    model = cases._model([cases._stump(0, 0, 2.0**-20)], 0)
    of = model, (1, 1, 1), cases._states(), mixed("factorised")
    problem: Any = MLSE(*of, 1, unit=Fraction(1, 2**62))
    assert optimum(problem) == 2**42
    claim = Claim(2**42)
    assert proved(problem.to_dict(), document(problem, ["counted"], claim)) == claim


def test_bounds_where_nothing_may_be_added_are_what_is_kept() -> None:
    """What is free has a price so high that it does not pay, and may not be added."""
    rng, tight = np.random.default_rng(3), 0
    for seed in range(0, 40, 2):
        problem: Any = random_expectation(seed, "mixture", unit="1/16", required=(), forbidden=())
        question, n = JudgedQuestion(problem.to_dict(), Claim(0)), problem.n_features
        for _ in range(4):
            chosen = rng.choice(n, min(problem.k, n), replace=False).tolist()
            held = np.isin(np.arange(n), chosen)
            part = Part(held, ~held & (rng.random(n) < 0.2))
            prices = [np.full(terms.of.size, 2**20) for terms in question.components]
            shares = [Fraction(share) for share in problem.scores._joint(chosen)]
            worth = [terms.value(held) for terms in question.components]
            mean = Fraction(sum(s * w for s, w in zip(shares, worth, strict=True)), sum(shares))
            least = mean + question.terms.slack
            assert math.floor(least) <= question.bound(part, prices)
            assert question.bound(part, prices) <= math.floor(least + Fraction(1, 10**6))
            tight += bool(part.free.any()) and len({*worth}) > 1
    assert tight > 20


def test_sets_are_counted_up_to_a_number_and_no_more_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = cases._model([cases._stump(0, 0, 2), cases._stump(1, 0, 1)], -1)
    of = model, (1, 1, 1), cases._states(), mixed("factorised")
    problem: Any = MLSE(*of, 2, unit="1/4")
    instance, value = problem.to_dict(), optimum(problem)
    assert value == 8
    monkeypatch.setattr(expected, "MOST_SETS", 7)
    assert proved(instance, document(problem, ["counted"], Claim(8))) == Claim(8)
    monkeypatch.setattr(expected, "MOST_SETS", 6)
    for bound in (8, 7):
        with pytest.raises(Refused, match="too many"):
            proved(instance, document(problem, ["counted"], Claim(bound)))


def test_an_attribute_that_adds_nothing_may_be_what_a_constraint_asks_for() -> None:
    """No tree tests c."""
    model = cases._model([cases._stump(0, 0, 2), cases._stump(1, 0, 1)], -1)
    of = model, (1, 1, 1), cases._states()
    plain: Any = MLSE(*of, mixed("factorised"), 3, unit="1/4")
    lines = ["prices", "idle", "bound 0"]
    question = JudgedQuestion(plain.to_dict(), Claim(8))
    assert question.root is not None
    assert question.without_idle(question.root).out.tolist() == [False, False, True]
    assert proved(plain.to_dict(), document(plain, lines, Claim(8))) == Claim(8)
    # With c out no set has a, which is half a unit of score.
    problem: Any = plain.where("not 'a' or 'c'")
    assert optimum(problem) == 8
    lines = ["prices", "idle", "split 0", "breaks 0", "bound 0"]
    with pytest.raises(Refused, match="line 3: attributes that add nothing may be needed"):
        proved(problem.to_dict(), document(problem, lines, Claim(4)))
    # Known, c may tell which component it is.
    dependent: Any = MLSE(*of, mixed("mixture"), 3, unit="1/4")
    with pytest.raises(Refused, match="line 3: attributes that add nothing may be needed"):
        proved(dependent.to_dict(), document(dependent, ["prices", "idle"], Claim(8)))
    with pytest.raises(Refused, match="line 3: 'bound' is no rule, or there are no such prices"):
        proved(dependent.to_dict(), document(dependent, ["prices", "bound 0 1"], Claim(8)))
    for line, told in (
        ("prices 2 0 1", "line 2: there is no term 2"),
        ("idle 0", "line 2: no rule is called|line 2: 'idle' is no rule"),
        ("decide", "line 2: 'decide' is no rule"),
    ):
        with pytest.raises(Refused, match=told):
            proved(plain.to_dict(), document(plain, [line], Claim(8)))
    with pytest.raises(Refused, match="line 3: the proof is complete"):
        proved(plain.to_dict(), document(plain, ["counted", "counted"], Claim(8)))


def test_an_instance_that_says_another_class_of_x_proves_nothing() -> None:
    problem: Any = random_expectation(0)
    instance = problem.to_dict()
    other = next(one for one in instance["model"]["classes"] if one != instance["class"])
    altered_instance = instance | {"class": other}
    marks = (fingerprint(one).encode() for one in (instance, altered_instance))
    file = document(problem, ["counted"], Claim(10**20)).replace(*marks)
    with pytest.raises(Refused, match="instance: class: x is"):
        proved(altered_instance, file)


@pytest.mark.parametrize("structure", STRUCTURES[:2])
def test_sets_are_looked_at_that_their_tables_leave_in_doubt(structure: str) -> None:
    """Those are whose mean is no more than the slack below what is asked for, and no others."""
    rng, near, far = np.random.default_rng(4), 0, 0
    for seed in range(0, 24, 2):
        problem: Any = random_expectation(seed, structure, unit="1/16", required=(), forbidden=())
        question, n = JudgedQuestion(problem.to_dict(), Claim(0)), problem.n_features
        means = {}
        for size in range(n + 1):
            for chosen in combinations(range(n), size):
                held = np.isin(np.arange(n), chosen)
                shares = [Fraction(share) for share in problem.scores._joint(chosen)]
                pairs = zip(shares, question.components, strict=True)
                mean = sum(share * terms.value(held) for share, terms in pairs) / sum(shares)
                means[frozenset(chosen)] = Fraction(mean)
        for _ in range(4):
            kinds, room = rng.integers(0, 4, n), int(rng.integers(0, n + 1))
            kept, out = frozenset(np.flatnonzero(kinds == 1)), set(np.flatnonzero(kinds == 2))
            part = Part(kinds == 1, kinds == 2)
            inside = {
                held: mean
                for held, mean in means.items()
                if kept <= held and not held & out and len(held - kept) <= room
            }
            for middle in {math.floor(mean + question.terms.slack) for mean in inside.values()}:
                for most in (middle - 2, middle - 1, middle):
                    found = set(question._mixture.near(part, room, most))
                    assert found <= {*inside}
                    for held, mean in inside.items():
                        above = mean + question.terms.slack - most - 1
                        assert (held in found) == (above >= 0) or 0 < abs(above) < 1e-9
                        near, far = near + (held in found), far + (held not in found)
    assert min(near, far) > 200


def test_what_floats_are_off_by_leaves_no_set_out() -> None:
    """Ten components expect great numbers of either sign whose mean is nearly 0, or one number."""
    model = cases._model([cases._stump(0, -(2.0**40), 2.0**40), cases._stump(1, 0, 1)], 0)
    rng, nothing = np.random.default_rng(0), np.zeros(3, dtype=bool)
    for number in range(20):
        half, ones = rng.integers(1, ONE // 10, 5), rng.integers(1, ONE, 5)
        alike = number % 2
        if alike:
            ones[:] = ONE - 1
        weights = np.repeat(half, 2)
        weights[:2] += (ONE - int(weights.sum())) // 2
        tables = tuple(
            tuple(((ONE - one, one),) for one in (int(one), ONE // 2, ONE // 2))
            for pair in ones
            for one in (pair, pair if alike else ONE - pair)
        )
        mixture = TreeMixture(weights, np.full((10, 3), -1), tables)
        problem: Any = MLSE(model, (1, 1, 1), cases._states(), mixture, 0, unit=1)
        instance = problem.to_dict()
        instance["parameters"] = instance["parameters"] | {"unit": "1/65536"}
        question = JudgedQuestion(instance, Claim(0))
        worth = [terms.value(nothing) for terms in question.components]
        shares = [Fraction(int(weight), ONE) for weight in weights]
        mean = sum((s * w for s, w in zip(shares, worth, strict=True)), Fraction(0))
        most = math.floor(mean + question.terms.slack) - 1
        assert question.root is not None
        assert list(question._mixture.near(question.root, 0, most)) == [frozenset()]


def many(n: int, required: int, masses: tuple[int, int] = (1, 2)) -> Any:
    """Return a problem over so many bits, under a mixture of two components.

    The states of x have these probabilities, over 2**30.
    """
    X = np.random.default_rng(0).integers(0, 2, (80, n)).astype(float)
    boosted = GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0)
    model = read_model(boosted.fit(X, X[:, 0] + X[:, 1] > 0))
    coding = Coding.fit(X, cuts=[[0.5]] * n, cast=model.cast)
    ways = [(own, ONE - own) for own in masses]
    tables = tuple(tuple((one[:: -1 if bit else 1],) for bit in X[0]) for one in ways)
    of = coding, TreeMixture(np.array([ONE // 2] * 2), np.full((2, n), -1), tables)
    return MLSE(model, X[0], *of, n, required=range(required))


@pytest.mark.parametrize("masses", [(1, 2), (ONE - 2, ONE - 1)])
def test_shares_of_many_known_attributes_are_told_apart(masses: tuple[int, int]) -> None:
    """Their product of probabilities, down to 2**-990 with that of a component, is a float."""
    problem = many(32, 32, masses)
    value = int(problem.evaluate(problem.explanation(range(32))).objective)
    right, false = Claim(value), Claim(value - 1)
    assert proved(problem.to_dict(), document(problem, ["counted"], right)) == right
    with pytest.raises(Refused, match="a set is worth more"):
        proved(problem.to_dict(), document(problem, ["counted"], false))


def test_the_shares_of_more_than_32_attributes_are_not_limited() -> None:
    mixture = JudgedQuestion(many(34, 0).to_dict(), Claim(0))._mixture
    at, none = np.arange(34), np.zeros(34, dtype=bool)
    for kept, room, limited in ((32, 0, True), (30, 2, True), (33, 0, False), (31, 2, False)):
        limits = mixture.limits(Part(at < kept, none), room)
        assert (limits == [1, 1]) != limited
        # Whatever the model says, a set of more is looked at.
        sets = at[None, :kept]
        assert mixture._near(sets, 2**60).tolist() == ([0] if kept > 32 else [])
    # Each attribute makes the second component twice as likely, and the first no likelier.
    shares = [float(limit) for limit in mixture.limits(Part(at < 1, none), 1)]
    assert shares == pytest.approx([1 / 3, 4 / 5])
    single: Any = random_expectation(0, "chow-liu")
    question = JudgedQuestion(single.to_dict(), Claim(0))
    assert question.root is not None
    assert question._mixture.limits(question.root, 1) == [1]


def test_what_the_limits_of_shares_leave_over_counts_as_the_greatest_value() -> None:
    values, quarter = [10, 50, 30], Fraction(1, 4)
    assert greatest_mean(values, [quarter] * 3) == (10 + 50 + 30 + 50) * quarter
    assert greatest_mean(values, [2 * quarter] * 3) == (50 + 30) * 2 * quarter
