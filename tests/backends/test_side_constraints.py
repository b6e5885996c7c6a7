"""Side constraints: every engine agrees with trying all sets, on problems of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cpx import KMonomial, MaxCoverage, MaxPrecision, Samples, check, solve
from cpx.answers.result import Termination
from cpx.backends import backend as find_backend
from cpx.backends.base import Outcome
from cpx.backends.progress import Progress
from cpx.backends.search import remaining_constraints
from cpx.backends.search.branch_on_violations import Engine, branch_on_violations, branches
from cpx.errors import InvalidInstance, InvalidOption
from cpx.explainers.solutions import solutions
from cpx.modelling.base import Problem
from cpx.modelling.instances import from_dict
from cpx.models import RuleSetLearning
from cpx.models.certificate.problem import MinCertificate
from cpx.models.expected_prediction.cases import STRUCTURES, random_expectation
from cpx.models.kernel_rule import search as kernel_rules
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.kernel_rule.search import branch_and_bound, local_search
from cpx.models.kernel_rule.search.terms import Terms
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.search.presolve import reduce
from cpx.models.monomial.search.root import Root
from cpx.models.rule_set import learning as rule_set_learning
from cpx.models.rule_set.cases import random_selection
from cpx.models.rule_set.learning import conjunctions
from cpx.models.rule_set.methods.column_generation.side_constraints import demands, of_each_rule
from cpx.models.sufficient_reason.cases import least_weight
from cpx.models.sufficient_reason.draw import random_reason
from cpx.options import SolveOptions
from cpx.testing.brute import brute_force
from cpx.testing.drawing import side_constraint
from cpx.testing.truth import Side
from tests.seeds import each, some

STATED = ["cpsat", "milp:highs", "maxsat:rc2", "exact"]


def constrained(problem: Any, seed: int) -> Any:
    """Return the problem with one to three random constraints; half of them bind."""
    rng = np.random.default_rng([11, seed])
    if not problem.n_features:
        return problem
    texts = [side_constraint(rng, problem.n_features) for _ in range(int(rng.integers(1, 4)))]
    return problem.where(*texts)


def allowed(problem: Problem, features: Any) -> bool:
    """Decide the texts as Python means them, which shares nothing with what is tested."""
    texts = [{"text": text} for text in problem.side_constraints.texts]
    return not Side({"where": texts}).broken(features)


def accepting(name: str, problem: Problem) -> bool:
    """Whether an engine is there and solves problems of that kind."""
    return find_backend(name).available() and find_backend(name).accepts(problem)


@pytest.mark.parametrize("n", some(80, 400))
def test_the_linear_form_means_what_the_text_says(n: int) -> None:
    held = 0
    for seed in range(n):
        problem = constrained(random_problem(seed, 3, 6), seed)
        n = problem.n_features
        for size in range(n + 1):
            for chosen in combinations(range(n), size):
                keeps = problem.side_constraints.allow(chosen)
                assert keeps == allowed(problem, chosen), problem.side_constraints.texts
                held += keeps
    assert held > 5 * n


@each(range(60), 15)
def test_the_search_of_rules(seed: int) -> None:
    problem = constrained(random_problem(seed), seed)
    best, result = brute_force(problem), solve(problem, "search", threads=1 + seed % 2)
    if best is None:
        assert str(result.status) == "INFEASIBLE"
        return
    assert (str(result.status), result.objective) == ("OPTIMAL", best[0])
    assert result.explanation is not None
    # The smallest, lexicographically first of all optimal sets.
    assert result.explanation.features == best[1]
    assert allowed(problem, best[1])
    assert result.verified


@each(range(90), 35)
def test_rules_that_constraints_ask_for(seed: int) -> None:
    # Labels of a rule that is not allowed: the search bounds what two features lose, and enters
    # first the features that a constraint asks for.
    rng = np.random.default_rng([31, seed])
    m, d, k = int(rng.integers(30, 90)), int(rng.integers(8, 11)), int(rng.integers(3, 6))
    bits = rng.random((m, d)) < 0.7
    same = bits[:, :3].all(axis=1) ^ (rng.random(m) < 0.1)
    weights = rng.integers(1, 4, m) if seed % 3 == 0 else None
    samples = Samples(bits, same, weights)
    problem: Any = KMonomial(samples, k=k)
    if seed % 5 == 1:
        problem = MaxPrecision(samples, k=k, min_coverage="1/10")
    elif seed % 5 == 2:
        problem = MaxCoverage(samples, k=k, min_precision="3/5")
    elif seed % 5 == 3:
        problem = KMonomial(samples, k=k, required=[int(rng.integers(d))], max_coverage="1/2")

    def some(n: int) -> list[str]:
        return [f"feature[{j}]" for j in rng.permutation(d)[:n]]

    texts = ["not (feature[0] and feature[1] and feature[2])"] * int(rng.integers(2))
    for _ in range(int(rng.integers(1, 4))):
        texts.append(f"at_least({rng.integers(1, 3)}, {', '.join(some(4))})")
    a, b, c = some(3)
    texts += [f"implies({a}, {b} or {c})", f"excludes({', '.join(some(2))})"]
    problem = problem.where(*texts)
    best = brute_force(problem)
    hint = None if best is None or seed % 2 else best[1]
    result = solve(problem, "search", hint=hint, threads=1 + seed % 4 // 3, proof=seed % 7 == 0)
    assert result.proved
    assert result.objective == (None if best is None else best[0])
    assert best is None or (result.explanation.features == best[1] and result.verified)


def test_few_branches_are_entered_for_what_constraints_ask() -> None:
    rng = np.random.default_rng(0)
    bits = rng.random((1000, 90)) < 0.7
    same = bits[:, :3].all(axis=1) ^ (rng.random(1000) < 0.1)
    plain = KMonomial(Samples(bits, same), k=5)
    # Two features of noise lose more good samples than the optimum.
    without = plain.where("not (feature[0] and feature[1])")
    result = solve(without, "search")
    assert (result.objective, result.proved) == (217, True)
    assert int(result.raw_status.split()[0]) < 1000
    groups = [", ".join(f"feature[{j}]" for j in range(x, x + 12)) for x in (10, 30, 50)]
    asking = plain.where(*(f"at_least(1, {group})" for group in groups))
    result = solve(asking, "search")
    assert result.proved
    assert int(result.raw_status.split()[0]) < 3000


COLUMNS = ["a > 1", "a > 2", "b > 1", "b > 2", "b > 3", "c = 0", "d = 0", "e = 0"]
TEXTS = [
    "at_most(1, a, b, c)",
    "implies(a, b or e)",
    "2 * a + 3 * b + 'c = 0' <= 4",
    "not (a and b)",
    "b or d",
    "2 * a + 'b > 1' >= 3 * e",
    "implies('c = 0', a)",
    "implies('d = 0', 'c = 0' or 'e = 0')",
    "cost(a=2, b=2, c=1) <= 3",
    "exactly(1, a, 'b > 3', d)",
]


@pytest.mark.parametrize("n", some(16, 25))
@pytest.mark.parametrize("most_summed", [0, 1, 64])
def test_columns_of_several_conditions(
    n: int, most_summed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The kinds of constraints that the search keeps apart, and those of one kind as another.
    monkeypatch.setattr(remaining_constraints, "_MOST_GAINING", most_summed)
    proved = kinds = 0
    for seed in range(n):
        rng = np.random.default_rng([6, seed])
        bits, same = rng.random((30, len(COLUMNS))) < 0.7, rng.random(30) < 0.5
        plain = KMonomial(Samples(bits, same, features=COLUMNS), k=int(rng.integers(2, 6)))
        texts = rng.permutation(TEXTS)[: int(rng.integers(1, 5))]
        problem = plain.where(*map(str, texts))
        best, result = brute_force(problem), solve(problem, "search")
        assert result.proved
        assert result.objective == (None if best is None else best[0])
        if best is None or result.explanation is None:
            continue
        assert result.explanation.features == best[1]
        proved += 1
        reduced = reduce(problem.form())
        assert reduced is not None
        side = Root.whole(reduced).side
        kinds |= (side.additive.start.size > 0) + 2 * (side.least.size > 0)
    assert proved > n // 2
    assert kinds == 3


@each(range(150), 50)
def test_presolve_keeps_the_first_best_rule_that_is_allowed(seed: int) -> None:
    # Few samples: many columns are equal, or better than others but for the constraints.
    rng = np.random.default_rng([4, seed])
    samples = Samples(rng.random((4, 6)) < 0.5, rng.random(4) < 0.4)
    limits = {"min_coverage": "1/4"} if seed % 2 else {}
    problem = constrained(KMonomial(samples, k=3, **limits), seed)
    best, reduced = brute_force(problem), reduce(problem.form())
    assert best is None or reduced is not None
    if reduced is not None and best is not None:
        assert {*best[1]} <= {*reduced.fixed, *reduced.features.tolist()}


def test_presolve_fixes_what_constraints_imply() -> None:
    problem = KMonomial(Samples(np.eye(4), [1, 0, 0, 0]), k=3).where("x1", "implies(x1, not x2)")
    reduced = reduce(problem.form())
    assert reduced is not None
    assert reduced.fixed == (1,)
    assert 2 not in reduced.features


def test_larger_rules_agree_with_cp_sat() -> None:
    for seed in range(8):
        rng = np.random.default_rng([3, seed])
        bits, same = rng.random((60, 16)) < 0.7, rng.random(60) < 0.5
        problem: Any = KMonomial(Samples(bits, same), k=6)
        texts = ["not (feature[1] and feature[4])", "at_most(3, *)", "feature[9] or feature[12]"]
        names = ", ".join(f"feature[{j}]" for j in range(0, 16, 2))
        texts[1] = f"at_most(2, {names})"
        texts.append("implies(feature[3], feature[5] or feature[7])")
        texts.append("2 * feature[0] + 3 * feature[5] + 4 * feature[11] + feature[13] <= 5")
        problem = problem.where(*texts)
        ours, theirs = solve(problem, "search"), solve(problem, "cpsat")
        assert ours.proved
        assert theirs.proved
        assert ours.objective == theirs.objective


@pytest.mark.parametrize("engine", STATED)
@pytest.mark.parametrize("seed", range(4))
def test_engines_of_statements(engine: str, seed: int) -> None:
    if not find_backend(engine).available():
        pytest.skip(f"{engine} is not installed")
    problem = constrained(random_problem(100 + seed, 12, 6), seed)
    best = brute_force(problem)
    for encoding in problem.encodings:
        if not encoding.faithful:
            continue
        result = solve(problem, engine, encoding=encoding.name, time_limit=30)
        assert result.proved
        assert result.objective == (None if best is None else best[0])


@each(range(25), 8)
def test_rule_sets(seed: int) -> None:
    problem = constrained(random_selection(seed), seed)
    every = (
        chosen
        for size in range(problem.n_features + 1)
        for chosen in combinations(range(problem.n_features), size)
    )
    values = [problem.cost(chosen) for chosen in every if problem.allows(chosen)]
    for engine in ("search", "cpsat"):
        result = solve(problem, engine)
        assert result.proved
        assert result.objective == min(values, default=None)
        assert result.verified


@pytest.mark.parametrize("definition", ["sufficient", "any"])
@each(range(25), 8)
def test_sufficient_reasons(seed: int, definition: str) -> None:
    wanted = {"definition": definition} if definition == "sufficient" else {}
    problem = constrained(random_reason(seed, **wanted), seed)
    engines = [name for name in ("hitting-sets", "cpsat") if accepting(name, problem)]
    assert engines
    least = least_weight(problem)
    for engine in engines:
        result = solve(problem, engine)
        assert result.proved
        assert result.objective == least


def ranked(plain: Any) -> list[tuple[Any, Any, tuple[int, ...]]]:
    """Return what all sets are worth, less being better, and how they tie; the best first."""
    sign, found = 1 if plain.sense == "min" else -1, []
    for size in range(plain.n_features + 1):
        for chosen in combinations(range(plain.n_features), size):
            tried = plain.evaluate(plain.explanation(chosen))
            if tried.feasible:
                tie = plain.tie(chosen) if hasattr(plain, "tie") else 0
                found.append((sign * tried.objective, tie, chosen))
    return sorted(found)


def best_allowed(plain: Any, problem: Any, modulo: int) -> tuple[int, Any] | None:
    """Return the best value and tie of the sets that the plain problem and the texts allow."""
    sign = 1 if plain.sense == "min" else -1
    kept = (row for row in ranked(plain) if allowed(problem, {j % modulo for j in row[2]}))
    return next(((sign * value, tie) for value, tie, _ in kept), None)


BRANCHED = {
    "hitting-sets": lambda seed: random_reason(seed, definition="sufficient"),
    "mlse": random_expectation,
    "fewest": lambda seed: random_expectation(seed, "mixture", dual=True),
}


@pytest.mark.parametrize("n", some(8, 30))
@pytest.mark.parametrize("kind", BRANCHED)
def test_branching_past_the_best_sets(n: int, kind: str) -> None:
    nodes = 0
    for seed in range(n):
        plain: Any = BRANCHED[kind](seed)
        every = range(plain.n_features)
        best = ranked(plain)
        if len(every) < 2 or not best:
            continue
        excluded = best[: 1 + seed % 4]
        texts = [
            " or ".join("not " * (j in chosen) + f"feature[{j}]" for j in every)
            for _, _, chosen in excluded
        ]
        engine = "hitting-sets" if kind == "hitting-sets" else "search"
        result = solve(plain.where(*texts), engine)
        nodes += int(result.raw_status.split()[0])
        assert result.proved
        if len(best) == len(excluded):
            assert str(result.status) == "INFEASIBLE"
            continue
        value = best[len(excluded)][0]
        assert result.objective == (value if plain.sense == "min" else -value)
        assert result.verified
    assert nodes > n


def subsets(problem: Any) -> Iterator[tuple[int, ...]]:
    """Yield the sets of features, the small ones first."""
    for size in range(problem.n_features + 1):
        yield from combinations(range(problem.n_features), size)


def by_trying(
    found: list[tuple[Any, Any, frozenset[int]]], whole: Progress, first_of_ties: bool
) -> tuple[Engine, list[Any]]:
    """Return an engine that takes the best of these sets in a node, and what it has solved.

    It takes the first of ties, or else the last, and no node of which the ones above it, and what
    is known of the whole, say that it has nothing better.
    """
    solved: list[tuple[frozenset[int], frozenset[int], Any]] = []
    sign = 1 if whole.problem.sense == "min" else -1

    def engine(part: Any, options: SolveOptions, progress: Progress) -> Outcome:
        required, forbidden = frozenset(part.required), frozenset(part.forbidden)
        above = [best for more, less, best in solved if more <= required and less <= forbidden]
        if above and whole.objective is not None:
            slack = max(above) - sign * whole.objective
            assert slack < 0 or (slack == 0 and first_of_ties)
        inside = [one for one in found if one[2] >= required and not one[2] & forbidden]
        inside.sort(key=lambda one: (one[0], one[1] if first_of_ties else -one[1]))
        solved.append((required, forbidden, inside[0][0] if inside else np.inf))
        if inside:
            progress.found(part.explanation(inside[0][2]))
            progress.bound(sign * inside[0][0])
        return Outcome(
            True, Termination.COMPLETED, "", sizes={"sets": 1}, best_of_ties=first_of_ties
        )

    return engine, solved


@pytest.mark.parametrize("first_of_ties", [True, False])
@pytest.mark.parametrize("n", some(30, 400))
def test_nodes_without_a_better_answer_are_not_solved(n: int, first_of_ties: bool) -> None:
    told = deep = without = 0
    for seed in range(150, 150 + n):
        rng = np.random.default_rng([41, seed])
        samples = Samples(rng.random((5, 5)) < 0.7, rng.random(5) < 0.5)
        plain: Any = (KMonomial if seed % 2 else MaxPrecision)(samples, k=3)
        sign, found = 1 if plain.sense == "min" else -1, []
        for chosen in subsets(plain):
            one = plain.evaluate(plain.explanation(chosen))
            if one.feasible:
                found.append((sign * one.objective, one.tie, frozenset(chosen)))
        problem = plain.where(*(side_constraint(rng, 5) for _ in range(4)))
        whole = Progress(problem, SolveOptions())
        engine, solved = by_trying(found, whole, first_of_ties)
        outcome = branch_on_violations(problem, SolveOptions(), whole, engine)
        assert outcome.proved
        assert outcome.raw_status == f"{len(solved)} nodes of side constraints"
        assert outcome.sizes == ({"sets": 1} if solved else {})
        deep += len(solved) > 3
        left = [one[:2] for one in found if problem.side_constraints.allow(one[2])]
        if not left:
            without += 1
            assert whole.objective is None
            continue
        best, tie = min(left)
        assert whole.objective == whole.best_bound == sign * best
        assert outcome.best_of_ties == first_of_ties
        if first_of_ties:
            assert whole.explanation is not None
            assert problem.evaluate(whole.explanation).tie == tie
        bounds = [point.bound for point in whole.trace if point.bound is not None]
        assert all(sign * bound <= best for bound in bounds)
        told += len(bounds) > 1
    assert min(told, deep, without) >= n // 20


def test_branches_have_each_other_set_once() -> None:
    tried = 0
    for seed in range(25):
        rng = np.random.default_rng([43, seed])
        problem = KMonomial(Samples(rng.random((4, 5)) < 0.5, [1, 0, 1, 0]), k=5)
        side = problem.where(*(side_constraint(rng, 5) for _ in range(2))).side_constraints
        kinds = rng.choice(3, 5, p=[0.6, 0.2, 0.2])
        required, forbidden = (frozenset(np.flatnonzero(kinds == x).tolist()) for x in (1, 2))
        inside = [
            T for T in map(frozenset, subsets(problem)) if required <= T and not T & forbidden
        ]
        for chosen in inside:
            parts = branches(side, chosen, required, forbidden)
            if side.allow(chosen):
                assert not parts
                continue
            tried += 1
            for T in inside:
                times = sum(more <= T and not T & less for more, less in parts)
                assert times <= (chosen != T)
                assert times or not side.allow(T)
            for more, less in parts:
                assert not (more | less) & (required | forbidden)
    assert tried > 50


@pytest.mark.parametrize("dual", [False, True], ids=["mlse", "fewest"])
@pytest.mark.parametrize("structure", STRUCTURES)
@each(range(8), 3)
def test_expected_predictions(seed: int, structure: str, dual: bool) -> None:
    plain = random_expectation(seed, structure, dual)
    problem = constrained(plain, seed)
    best = best_allowed(plain, problem, max(1, plain.n_features))
    for engine in ["search"] if problem._unstated else ["search", "cpsat"]:
        result = solve(problem, engine)
        assert result.proved
        if best is None:
            assert str(result.status) == "INFEASIBLE"
            continue
        assert result.objective == best[0]
        assert result.verified
        assert result.explanation is not None
        if result.explanation.claim.best_of_ties:
            assert problem.tie(result.explanation.features) == best[1]


@each(range(20), 8)
def test_rules_of_kernel_machines(seed: int) -> None:
    rng = np.random.default_rng([4, seed])
    m, d = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    weights = (rng.integers(1, 9, m) * rng.choice([-1, 1], m)).tolist()
    clauses, literals = int(rng.integers(1, 7 // d + 1)), int(rng.integers(1, d + 1))
    plain = KernelRule(rng.random((m, d)) < 0.6, weights, min(clauses, 3), literals)
    texts = [side_constraint(rng, d) for _ in range(int(rng.integers(1, 4)))]
    problem = plain.where(*texts)
    best = best_allowed(plain, problem, d)
    for engine in ("search", "cpsat", "milp:highs"):
        result = solve(problem, engine)
        assert result.proved
        assert result.objective == (None if best is None else best[0])
        assert best is None or result.verified


def branching_alone(monkeypatch: pytest.MonkeyPatch, doubt: float = 0.2) -> None:
    """Let branch and bound find formulas; few steps per node leave the rest to it."""
    for name, value in {"_DOUBT": doubt, "_STEPS": 3, "_BELOW": 1}.items():
        monkeypatch.setattr(branch_and_bound, name, value)
    monkeypatch.setattr(kernel_rules, "_MOST_NODES", 0)
    monkeypatch.setattr(local_search, "improve", lambda form, start, report, stop: start)


@pytest.mark.parametrize("n", some(16, 25))
@pytest.mark.parametrize("doubt", [0.0, 0.2, 1e9])
def test_the_search_of_kernel_rules(n: int, doubt: float, monkeypatch: pytest.MonkeyPatch) -> None:
    branching_alone(monkeypatch, doubt)
    nodes = bound = 0
    for seed in range(n):
        rng = np.random.default_rng([8, seed])
        m, d, D = int(rng.integers(1, 26)), int(rng.integers(2, 6)), int(rng.integers(1, 4))
        weights = (rng.integers(1, 9, m) * rng.choice([-1, 1], m, p=[0.6, 0.4])).tolist()
        plain = KernelRule(rng.random((m, d)) < 0.6, weights, D, int(rng.integers(1, 3)))
        problem = plain.where(*(side_constraint(rng, d) for _ in range(int(rng.integers(1, 5)))))
        form = plain.form()
        clauses = [c for n in range(1, form.max_literals + 1) for c in combinations(range(d), n)]
        value = {
            some: form.value(some)
            for n in range(1, D + 1)
            for some in combinations(clauses, n)
            if allowed(problem, {j for clause in some for j in clause})
        }
        best = max(value.values(), default=None)
        hints = [some for some in value if value[some] < value[next(iter(value))]][:1]
        hint = problem.explanation_of(hints[0]).features if hints and seed % 2 else None
        result = solve(problem, "search", hint=hint)
        assert result.proved
        assert result.objective == best
        assert best is None or result.verified
        told = str(result.raw_status).split()
        nodes += int(told[2]) if "nodes" in told else 0
        bound += best is not None and best < solve(plain, "search").objective
    assert nodes > n // 3
    assert bound > n // 20


def test_a_clause_that_no_negative_row_satisfies_grows_by_features_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    branching_alone(monkeypatch)
    plain = KernelRule([[1, 1, 0], [0, 1, 0], [0, 0, 1]], [5, -100, 5], 2, 2)
    problem = plain.where("feature[0] and feature[1]")
    assert solve(problem, "search").objective == 10


@pytest.mark.parametrize("n", some(12, 40))
def test_what_other_clauses_leave_of_the_constraints(n: int) -> None:
    rng, differ = np.random.default_rng(0), 0
    for _ in range(n):
        problem = KernelRule(np.eye(4, dtype=bool), [1, 1, -1, -1], 3, 2)
        problem = problem.where(*(side_constraint(rng, 4) for _ in range(2)))
        terms = Terms.of(problem.form())
        for _ in range(20):
            clauses = [rng.choice(4, 2).tolist() for _ in range(int(rng.integers(1, 4)))]
            left = terms.left(clauses[1:]).linear
            found = all(row.holds(set(clauses[0])) for row in left)
            assert found == allowed(problem, {j for clause in clauses for j in clause})
            differ += found != allowed(problem, set(clauses[0]))
    assert differ > n


@each(range(12))
def test_minimum_certificates(seed: int) -> None:
    rng = np.random.default_rng([5, seed])
    m, d = int(rng.integers(1, 9)), int(rng.integers(1, 6))
    samples = Samples(rng.random((m, d)) < 0.5, rng.random(m) < 0.5)
    plain = MinCertificate(samples, "1/5", rng.integers(1, 5, d).tolist())
    problem = constrained(plain, seed)
    best = best_allowed(plain, problem, d)
    for engine in filter(lambda name: accepting(name, problem), ("cpsat", "hitting-sets")):
        result = solve(problem, engine)
        assert result.proved
        assert result.objective == (None if best is None else best[0])


def irredundant(problem: Any) -> list[tuple[int, ...]]:
    """Return the allowed sets of which nothing can be left out without a change of the rows."""
    form, d = problem.form(), problem.n_features
    found = []
    for size in range(d + 1):
        for chosen in combinations(range(d), size):
            if not problem.evaluate(problem.explanation(chosen)).feasible:
                continue
            rows = form.covered(chosen)
            others = [tuple(i for i in chosen if i != j) for j in chosen]
            if not any(
                (form.covered(rest) == rows).all()
                and problem.evaluate(problem.explanation(rest)).feasible
                for rest in others
            ):
                found.append(chosen)
    sign = 1 if problem.sense == "min" else -1

    def order(chosen: tuple[int, ...]) -> Any:
        value = problem.evaluate(problem.explanation(chosen)).objective
        return sign * value, len(chosen), chosen

    return sorted(found, key=order)


@each(range(30), 8)
def test_the_best_few_rules(seed: int) -> None:
    # Weighted rows of both classes: none cancel, so that rows are what they are.
    problem = random_problem(seed, 14, 6, kinds=[KMonomial], limited=False)
    samples = problem.samples
    if len({row.tobytes() for row in samples.agreement}) < samples.m:
        samples = samples.merged()
    problem = constrained(replace(problem, samples=samples), seed)
    each_once: dict[Any, tuple[int, ...]] = {}
    for rule in irredundant(problem):
        each_once.setdefault((len(rule), problem.samples.covered(rule).tobytes()), rule)
    wanted = [*each_once.values()]
    value = {rule: problem.evaluate(problem.explanation(rule)).objective for rule in wanted}
    for engine in ("search", "cpsat"):
        ranking = solutions(problem, 6, backend=engine)
        listed = [rule.features for rule in ranking.rules]
        value_of = [problem.evaluate(rule).objective for rule in ranking.rules]
        assert value_of == [value[rule] for rule in wanted[:6]]
        assert ranking.complete
        if engine == "search":
            assert listed == wanted[:6]
        ties = solutions(problem, "optimal", most=50, backend=engine)
        best = [rule for rule in wanted if value[rule] == value[wanted[0]]]
        assert sorted(rule.features for rule in ties.rules) == sorted(best)


def test_a_method_that_does_not_keep_them_refuses() -> None:
    problem = KMonomial(Samples([[1, 0], [0, 1]], [1, 0]), k=1).where("not x0")
    for engine in filter(lambda name: accepting(name, problem), ("beam", "greedy")):
        with pytest.raises(InvalidOption, match="does not keep the side constraints"):
            solve(problem, engine)


def test_the_checker_refuses_an_answer_that_breaks_one() -> None:
    samples = Samples([[1, 0], [0, 1], [1, 1]], [1, 0, 1], features=("a > 1", "b"))
    plain = KMonomial(samples, k=1)
    problem = plain.where("not a > 1")
    answer = solve(plain, "search").to_dict()
    assert answer["explanation"]["features"] == [0]
    assert "where: 'not a > 1' does not hold" in check.violations(problem.to_dict(), answer)
    better = replace(problem, k=1)
    right = solve(better, "search").to_dict()
    assert check.violations(better.to_dict(), right) == []
    # Nothing is known of a text by itself, so that nothing is taken to hold.
    bare = problem.to_dict()
    bare["where"] = [{"text": "not a > 1"}]
    assert check.violations(bare, right)[0] == "where: 'not a > 1' does not hold"


@each(range(10), 4)
def test_learning_of_rule_sets(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    names = ("age > 1", "age > 2", "b", "c")
    samples = Samples(rng.random((25, 4)) < 0.6, rng.random(25) < 0.5, features=names)
    plain = RuleSetLearning(samples, 2, ("0.01", "0")[seed % 2], ("zero-one", "hamming")[seed % 2])
    texts = ["at_most(1, b, c)", "implies(age, b)", "not 'age > 1'", "c", "rule[3] or rule[2]"]
    asked = rng.permutation(5)[: 1 + seed % 3].tolist()
    problem = plain.where(*(texts[i] for i in asked))
    values = []
    for size in range(4):
        for chosen in combinations(range(plain.n_features), size):
            a, b, c, d = (any(j in plain.literals(r) for r in chosen) for j in range(4))
            held = (not (c and d), not (a or b) or c, not a, d, bool({2, 3} & {*chosen}))
            keeps = all(held[i] for i in asked)
            assert problem.allows(chosen) == keeps
            values += [plain.cost(chosen)] * keeps
    for engine in ("search", "cpsat", "maxsat:rc2", "column-generation"):
        result = solve(problem, engine)
        assert result.proved
        assert result.verified
        # Four rules or more are never better on so few literals.
        assert result.objective == min(values)
    assert from_dict(problem.to_dict()).side_constraints == problem.side_constraints


def learned(problem: Any, modulo: int) -> int | None:
    """Return the least cost of all sets of rules that the texts allow, of literals or of rules."""
    every = list(conjunctions(problem.samples.d, problem.max_literals))
    best: int | None = None
    for size in range(len(every) + 1):
        for chosen in combinations(range(len(every)), size):
            kept = {j for r in chosen for j in every[r]} if modulo else set(chosen)
            if not allowed(problem, kept):
                assert not problem.allows(chosen)
            elif best is None or problem.cost(chosen) < best:
                assert problem.allows(chosen)
                best = problem.cost(chosen)
    return best


@pytest.mark.parametrize("of_literals", [False, True], ids=["rules", "literals"])
@each(range(24), 8)
def test_column_generation(seed: int, of_literals: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if of_literals:
        monkeypatch.setattr(rule_set_learning, "MOST_STATED", 1)
    rng = np.random.default_rng([21, seed])
    m, d = int(rng.integers(1, 30)), int(rng.integers(1, 4))
    samples = Samples(rng.random((m, d)) < 0.6, rng.random(m) < 0.5, weights=rng.integers(1, 5, m))
    penalty, loss = ("0.01", "0", "1/7")[seed % 3], ("hamming", "zero-one")[seed % 2]
    plain = RuleSetLearning(samples, 2, penalty, loss)
    n = d if of_literals else plain.n_features
    problem = plain.where(*(side_constraint(rng, n) for _ in range(int(rng.integers(1, 4)))))
    assert bool(problem._unstated) == of_literals
    best = learned(problem, of_literals)
    hint = rng.choice(plain.n_features, min(2, plain.n_features), replace=False).tolist()
    result = solve(problem, "column-generation", hint=hint if seed % 4 == 1 else None)
    if best is None:
        assert str(result.status) == "INFEASIBLE"
        return
    assert result.verified
    assert result.bound <= best <= result.objective
    # Rules that are listed are all gone through at the end.
    assert result.proved or of_literals
    assert not result.proved or result.objective == best
    assert from_dict(problem.to_dict()).side_constraints == problem.side_constraints
    hasty = solve(problem, "column-generation", time_limit=0.01)
    assert hasty.bound is None or hasty.bound <= best
    assert hasty.objective is None or hasty.objective >= best


def test_learning_from_more_rules_than_are_listed() -> None:
    rng = np.random.default_rng(0)
    bits = rng.random((300, 40)) < 0.4
    same = (bits[:, 0] & bits[:, 1]) | (bits[:, 2] & bits[:, 3])
    names = [f"c{j // 2} = {j % 2}" for j in range(40)]
    plain = RuleSetLearning(Samples(bits, same, features=names), 3, "0.01", "hamming")
    assert plain._unstated
    free = solve(plain, "column-generation")
    assert free.proved
    problem = plain.where("not 'c0 = 0'", "c7", "at_most(2, c1, c2, c7)")
    result = solve(problem, "column-generation", time_limit=3)
    assert result.verified
    assert result.explanation is not None
    have = {j for rule in result.explanation.features for j in problem.literals(rule)}
    assert 0 not in have
    assert have & {14, 15}
    # More than the price of a rule that is of no use, and all samples of the two literals.
    assert free.objective < result.bound <= result.objective
    assert check.violations(problem.to_dict(), result.to_dict()) == []
    broken = free.to_dict()
    assert check.violations(problem.to_dict(), broken)[:2] == [
        "where: \"not 'c0 = 0'\" does not hold",
        "where: 'c7' does not hold",
    ]
    contradiction = solve(plain.where("c7", "at_most(0, c7, c8)"), "column-generation")
    assert str(contradiction.status) == "INFEASIBLE"
    assert contradiction.clash == ("c7", "at_most(0, c7, c8)")
    three = plain.where("c3", "c7 or c8", "at_least(1, c1, c2)", "not c7", "at_most(0, c8, c9)")
    assert solve(three, "column-generation").clash == (
        "c7 or c8",
        "not c7",
        "at_most(0, c8, c9)",
    )
    assert problem.where("feature[14]").side_constraints.linear[-1].terms[0][1] == (
        plain.n_features + 14,
    )
    with pytest.raises(InvalidInstance, match=r"rule\[3\]: there are too many rules"):
        plain.where("rule[3]")


def test_what_is_demanded_of_sets_and_of_rules() -> None:
    # Every set that keeps a constraint has what it demands, and no rule that breaks it alone.
    demanded = refused = 0
    for seed in range(200):
        problem = constrained(KMonomial(Samples(np.eye(5, dtype=bool), [1] * 5), k=5), seed)
        rows = problem.side_constraints.linear
        sets = [set(some) for n in range(6) for some in combinations(range(5), n)]
        kept = [some for some in sets if problem.side_constraints.allow(some)]
        for literals in demands(rows):
            assert all(some & {*literals} for some in kept)
            demanded += bool(kept)
        side = of_each_rule(rows, [4])
        for rule in sets:
            if not side.allow(rule):
                assert 4 in rule or not any(rule <= some for some in kept)
                refused += 4 not in rule
    assert demanded > 30
    assert refused > 100
