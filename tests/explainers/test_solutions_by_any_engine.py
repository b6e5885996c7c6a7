"""The best few answers by blocking, with any exact engine, against enumeration."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import cpx
from cpx.answers.result import Status
from cpx.data.samples import Samples
from cpx.errors import CheckFailed, InvalidOption
from cpx.explainers.solutions import solutions
from cpx.methods.excluding import excluding
from cpx.methods.listing import Cut
from cpx.modelling.encodings import find_encoding
from cpx.models.expected_prediction.cases import STRUCTURES, random_expectation
from cpx.models.kernel_rule.form import canonical, true_of
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.weighted import KMonomial
from cpx.models.rule_set.cases import random_learning, random_selection
from cpx.models.rule_set.learning import RuleSetLearning, number_of
from cpx.models.sufficient_reason.cases import random_votes
from cpx.models.sufficient_reason.draw import random_reason
from cpx.testing.drawing import side_constraint
from tests.seeds import each, every_other

from .test_solutions import irredundant, listed, without_twins


def _agrees(wanted, found, ranking) -> None:
    """Compare with all solutions in order; at the end of the list any of the equals count."""
    assert ranking.complete
    n = len(found)
    assert [value for value, *_ in found] == [value for value, *_ in wanted[:n]]
    last = found[-1][0] if found else None
    assert [rule for rule in found if rule[0] != last] == [r for r in wanted[:n] if r[0] != last]
    assert {rule for rule in found if rule[0] == last} <= set(wanted)
    assert len(set(found)) == n
    assert ranking.more == (len(wanted) > n and wanted[n][0] == last)


@each(range(12), 6)
@pytest.mark.parametrize("backend", ["cpsat", "maxsat"])
def test_random_problems(seed: int, backend: str) -> None:
    # Weights, required and forbidden features, groups and limits among them; the last ones are
    # ratios.
    problem = random_problem(seed, 16, 6)
    wanted = without_twins(problem, irredundant(problem))
    first = {_says(problem, rule): rule for rule in wanted}
    for n in (1, 5):
        ranking = solutions(problem, n, backend=backend)
        # At the end of a list a rule may stand for others that cover the same.
        found = [first[_says(problem, rule)] for rule in listed(problem, ranking)]
        _agrees(wanted, found, ranking)
        assert len(ranking) == min(n, len(wanted))
    optimal = [rule for rule in wanted if rule[0] == wanted[0][0]]
    ranking = solutions(problem, "optimal", backend=backend)
    assert listed(problem, ranking) == optimal
    assert (ranking.complete, ranking.more) == (True, False)


def _says(problem, rule):
    """Return the size of a rule and what it covers."""
    return rule[1], problem.samples.covered(rule[2]).tobytes()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@each(range(100, 140))
@pytest.mark.parametrize("backend", ["cpsat", "maxsat:lsu", "milp", "portfolio:cpsat+maxsat"])
def test_more_random_problems(seed: int, backend: str) -> None:
    problem = random_problem(seed, 24, 7)
    wanted = without_twins(problem, irredundant(problem))
    ranking = solutions(problem, 300, backend=backend)
    assert listed(problem, ranking) == wanted
    assert (ranking.complete, ranking.more) == (True, False)


def test_all_sets_until_there_is_none() -> None:
    agreement = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], dtype=bool)
    problem = KMonomial(Samples(agreement, np.array([True, True, False, False])), k=3)
    for backend in ("milp", "cpsat"):
        ranking = solutions(problem, 100, backend=backend)
        assert listed(problem, ranking) == irredundant(problem)
        assert ranking.complete


@pytest.mark.parametrize(
    ("seed", "backend"), every_other([2, 3], ["cpsat", "maxsat", "portfolio:cpsat+maxsat"])
)
def test_rules_that_the_encoding_of_the_first_solve_leaves_out(seed: int, backend: str) -> None:
    rng = np.random.default_rng(seed)
    problem = KMonomial(Samples(rng.random((40, 6)) < 0.6, rng.random(40) < 0.5), k=4)
    wanted = irredundant(problem)
    assert not find_encoding(problem, "triples").every_solution
    if backend == "cpsat":
        assert cpx.solve(problem, backend).encoding == "triples"
    ranking = solutions(problem, 8, backend=backend)
    _agrees(wanted, listed(problem, ranking), ranking)
    assert len(ranking) == 8
    # With what excludes the known ones it leaves out nothing.
    ranking = solutions(problem, 8, backend=backend, encoding="triples")
    _agrees(wanted, listed(problem, ranking), ranking)


@pytest.mark.parametrize("encoding", ["channelling", "pairs"])
def test_in_other_encodings(encoding: str) -> None:
    problem = random_problem(3, 16, 6)
    wanted = irredundant(problem)
    ranking = solutions(problem, 6, backend="cpsat", encoding=encoding)
    _agrees(wanted, listed(problem, ranking), ranking)


def _all(problem, size):
    """Return all solutions with at most so many features, sorted."""
    sign, found = 1 if problem.sense == "min" else -1, []
    for n in range(size + 1):
        for chosen in combinations(range(len(problem.feature_names)), n):
            value = problem.evaluate(problem.explanation(chosen))
            if value.feasible:
                found.append((sign * value.objective, n, chosen))
    return sorted(found)


@pytest.mark.parametrize("seed", range(4))
def test_reasons_are_those_with_nothing_to_leave_out(seed: int) -> None:
    problem = replace(random_votes(seed, 4, 6), definition="majoritary")
    wanted = _all(problem, len(problem.feature_names))
    sets = [set(chosen) for *_, chosen in wanted]
    pairs = zip(wanted, sets, strict=True)
    wanted = [rule for rule, own in pairs if not any(other < own for other in sets)]
    ranking = solutions(problem, 50, backend="maxsat")
    assert listed(problem, ranking) == wanted
    assert ranking.complete


def _irredundant_sets(problem):
    """Return all allowed sets of rules of which none can be left out for what is covered."""
    rules = range(problem.n_features)
    found = []
    for size in range(problem.n_features + 1):
        for chosen in combinations(rules, size):
            covered = problem.covers[list(chosen)].any(axis=0)
            less = [tuple(r for r in chosen if r != left_out) for left_out in chosen]
            if problem.allows(chosen) and not any(
                problem.allows(rest) and (problem.covers[list(rest)].any(axis=0) == covered).all()
                for rest in less
            ):
                found.append((problem.cost(chosen), size, chosen))
    return sorted(found)


@each(range(10), 4)
@pytest.mark.parametrize("backend", ["search", "cpsat", "maxsat"])
def test_sets_of_rules(seed: int, backend: str) -> None:
    # With prices of 0, limits, required rules, both losses; every other one with constraints.
    problem = random_selection(seed, max_rules=6)
    if seed % 2 and problem.n_features > 2:
        problem = problem.where("rule[0] or not rule[1]", "at_most(2, rule[0], rule[1], rule[2])")
    wanted = _irredundant_sets(problem)
    for n in (1, 4):
        ranking = solutions(problem, n, backend=backend)
        _agrees(wanted, listed(problem, ranking), ranking)
        assert len(ranking) == min(n, len(wanted))
    optimal = [found for found in wanted if found[0] == wanted[0][0]]
    ranking = solutions(problem, "optimal", most=40, backend=backend)
    assert listed(problem, ranking) == optimal
    assert (ranking.complete, ranking.more) == (True, False)


@pytest.mark.parametrize("seed", [1, 8])
def test_reasons_by_hitting_sets(seed: int) -> None:
    problem = random_reason(seed, definition="sufficient")
    wanted = _all(problem, len(problem.feature_names))
    sets = [set(chosen) for *_, chosen in wanted]
    minimal = [
        rule
        for rule, own in zip(wanted, sets, strict=True)
        if not any(other < own for other in sets)
    ]
    assert len(minimal) == (2 if seed == 8 else 1)
    ranking = solutions(problem, 50, backend="hitting-sets")
    assert listed(problem, ranking) == minimal
    assert ranking.complete


def _several(problem, ranking):
    """Return value with the sign of a minimisation, tie and features of what is listed."""
    sign = 1 if problem.sense == "min" else -1
    return [
        (sign * value, problem.evaluate(rule).tie, rule.features)
        for value, rule in zip(ranking.values, ranking, strict=True)
    ]


def _lists(wanted, problem, backend: str) -> None:
    """Compare the lists of an engine with all answers, as value, tie and features, sorted."""
    for n in (1, 4):
        ranking = solutions(problem, n, backend=backend)
        _agrees(wanted, _several(problem, ranking), ranking)
        assert len(ranking) == min(n, len(wanted))
    optimal = [found for found in wanted if found[0] == wanted[0][0]]
    ranking = solutions(problem, "optimal", most=300, backend=backend)
    assert _several(problem, ranking) == optimal
    assert (ranking.complete, ranking.more) == (True, False)


def _solutions(problem):
    """Return value, tie and features of all solutions, sorted."""
    sign, every, found = 1 if problem.sense == "min" else -1, range(len(problem.feature_names)), []
    for size in range(len(every) + 1):
        for chosen in combinations(every, size):
            value = problem.evaluate(problem.explanation(chosen))
            if value.feasible:
                found.append((sign * value.objective, value.tie, chosen))
    return sorted(found)


def _sets_of_attributes(problem):
    """Return the sets that are listed: by the definition on the page."""
    solutions = _solutions(problem)
    if problem.sense == "min":
        sets = [set(chosen) for *_, chosen in solutions]
        return [one for one in solutions if not any(other < set(one[2]) for other in sets)]
    values = {chosen: value for value, _, chosen in solutions}
    return [
        (value, tie, chosen)
        for value, tie, chosen in solutions
        if not any(values.get(tuple(j for j in chosen if j != i)) == value for i in chosen)
    ]


EXPECTATION_ENGINES = ["cpsat", "maxsat", "milp", "search"]


@pytest.mark.parametrize("backend", EXPECTATION_ENGINES)
@pytest.mark.parametrize(
    ("dual", "seeds"),
    [
        (False, (31, 5)),
        (True, (18, 72)),
        pytest.param(False, (44, 59), marks=pytest.mark.slow),
        pytest.param(True, (19,), marks=pytest.mark.slow),
    ],
)
def test_expected_predictions(dual: bool, seeds: tuple[int, ...], backend: str) -> None:
    # Many sets are listed and none at all, with required and forbidden attributes among them.
    for seed in seeds:
        # In units that engines of floats count in.
        plain = random_expectation(seed, dual=dual, unit="1/1024")
        rng, A = np.random.default_rng(seed), plain.n_features
        narrow = plain.where(*(side_constraint(rng, A) for _ in range(2)))
        for problem in (plain, narrow):
            if wanted := _sets_of_attributes(problem):
                _lists(wanted, problem, backend)
                continue
            ranking = solutions(problem, 4, backend=backend)
            assert (len(ranking), ranking.complete) == (0, True)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("structure", STRUCTURES[1:])
def test_expected_predictions_that_are_no_sums(structure: str, dual: bool) -> None:
    problem = random_expectation(30 if dual else 12, structure, dual)
    wanted = _sets_of_attributes(problem)
    assert len(wanted) > 1
    ranking = solutions(problem, 3, backend="search")
    _agrees(wanted, _several(problem, ranking), ranking)
    with pytest.raises(InvalidOption, match="no sum over trees"):
        solutions(problem, 4, backend="cpsat")


@pytest.mark.parametrize("encoding", ["products", "tables"])
@pytest.mark.parametrize(("dual", "seed"), [(False, 31), (True, 24)])
def test_encodings_of_expected_predictions(seed: int, dual: bool, encoding: str) -> None:
    # Every set that may be chosen is a solution of the statement.
    problem = random_expectation(seed, dual=dual)
    wanted = _sets_of_attributes(problem)
    ranking = solutions(problem, 100, backend="cpsat", encoding=encoding)
    assert (_several(problem, ranking), ranking.complete) == (wanted, True)
    assert len(wanted) > 2


def _formulas(problem):
    """Return value and features of the rules that are listed: by the definition on the page."""
    clauses = [
        clause
        for size in range(1, problem.max_literals + 1)
        for clause in combinations(range(problem.d), size)
    ]
    table, found = problem.samples[np.array(problem.weights) != 0], []

    def allowed(formula) -> bool:
        return bool(formula) and problem.evaluate(problem.explanation_of(formula)).feasible

    for size in range(1, problem.max_clauses + 1):
        for formula in map(canonical, combinations(clauses, size)):
            if not allowed(formula):
                continue
            less = []
            for c in formula:
                rest = [other for other in formula if other != c]
                less.append(rest)
                if len(c) > 1:
                    less += [[*rest, tuple(j for j in c if j != i)] for i in c]
            true = true_of(formula, table)
            if any(allowed(rest) and (true_of(rest, table) == true).all() for rest in less):
                continue
            rule = problem.explanation_of(formula)
            found.append((-problem.evaluate(rule).objective, 0, rule.features))
    return sorted(found)


@pytest.mark.parametrize("backend", EXPECTATION_ENGINES)
@each(range(5))
def test_rules_of_kernel_machines(seed: int, backend: str) -> None:
    rng = np.random.default_rng([6, seed])
    m, d = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    weights = (rng.integers(0, 4, m) * rng.choice([-1, 1], m)).tolist()
    D, C = int(rng.integers(1, 4)), int(rng.integers(1, d + 1))
    problem = KernelRule(rng.random((m, d)) < 0.6, weights, D, C)
    if seed % 2:
        problem = problem.where(*(side_constraint(rng, d) for _ in range(2)))
    if wanted := _formulas(problem):
        _lists(wanted, problem, backend)
        return
    ranking = solutions(problem, 4, backend=backend)
    assert (len(ranking), ranking.complete) == (0, True)


def _learned_sets(problem):
    """Return value and features of the sets that are listed: by the definition on the page."""
    rules, cover, found = range(problem.n_features), problem.cover, []

    def covered(chosen):
        return np.any([cover(rule) for rule in chosen], axis=0) if chosen else False

    for size in range(problem.n_features + 1):
        for chosen in combinations(rules, size):
            if not problem.allows(chosen):
                continue
            less = []
            for rule in chosen:
                rest, literals = {*chosen} - {rule}, problem.literals(rule)
                less.append(rest)
                shorter = [tuple(j for j in literals if j != i) for i in literals]
                less += [rest | {number_of(one, problem.samples.d)} for one in shorter]
            value = problem.cost(chosen)
            if not any(
                problem.allows(rest)
                and np.all(covered(sorted(rest)) == covered(chosen))
                and problem.cost(rest) <= value
                for rest in less
            ):
                found.append((value, 0, chosen))
    return sorted(found)


@pytest.mark.parametrize("backend", EXPECTATION_ENGINES)
@each(range(6), 2)
def test_sets_of_learned_rules(seed: int, backend: str) -> None:
    problem = random_learning(seed)
    rng = np.random.default_rng([7, seed])
    d = min(problem.samples.d, 3)
    names = tuple(problem.samples.features[:d])
    samples = Samples(
        problem.samples.agreement[:, :d], problem.samples.same, problem.samples.weights, names
    )
    problem = replace(problem, samples=samples)
    if seed % 2:
        problem = problem.where(*(side_constraint(rng, problem.n_features) for _ in range(2)))
    if wanted := _learned_sets(problem):
        _lists(wanted, problem, backend)


def test_many_rules_to_choose_from() -> None:
    # What excludes one set has too many rules for a text.
    rng = np.random.default_rng(0)
    table = rng.random((60, 40)) < 0.5
    problem = RuleSetLearning(Samples(table, table[:, 0] & table[:, 1]), 2, "0.02")
    assert problem.n_features > 800
    ranking = solutions(problem, 3, backend="cpsat")
    assert ranking.complete
    assert str(ranking.rules[0].rule) == "x0 and x1 => the class"


def test_too_many_clauses_are_refused() -> None:
    kernel = KernelRule(np.eye(30, dtype=bool), [1] * 30, 2, 3)
    with pytest.raises(InvalidOption, match="here are 4525: ask for a smaller max_literals"):
        solutions(kernel)


@pytest.mark.parametrize("backend", ["search", "cpsat"])
def test_no_time_claims_nothing(backend: str) -> None:
    rng = np.random.default_rng(3)
    weights = rng.integers(-9, 10, 12).tolist()
    for problem in (
        random_expectation(5),
        random_expectation(5, dual=True),
        KernelRule(rng.random((12, 3)) < 0.6, weights, 2, 2),
        random_learning(4),
    ):
        whole = solutions(problem, 3, backend=backend)
        ranking = solutions(problem, 3, backend=backend, time_limit=0.001)
        assert whole.complete
        assert not ranking.complete or ranking.values == whole.values


def test_what_is_cut_off() -> None:
    one = Cut((1, 3), (0, 2))
    assert one.excludes([1, 3])
    assert not one.excludes([1])
    assert not one.excludes([1, 2, 3])
    assert Cut((1,)).excludes([1, 2, 3])
    assert Cut(()).excludes([])
    idle = Cut((1,), idle=(2, 3))
    assert idle.excludes([1, 3])
    assert not idle.excludes([1, 4])
    row = idle.row
    assert (row.terms, row.at_least, row.is_clause) == (((-1, (1,)), (-1, (2, 3))), -1, True)
    row = one.row
    assert (len(row.terms), row.at_least, row.is_clause) == (4, -1, True)


def test_infeasible() -> None:
    samples = Samples(np.ones((3, 2), dtype=bool), np.array([True, True, False]))
    ranking = solutions(MaxPrecision(samples, k=2, max_coverage="1/2"), backend="maxsat")
    assert (len(ranking), ranking.complete) == (0, True)
    assert ranking.best.status is Status.INFEASIBLE


def test_time_limit_says_what_is_known() -> None:
    rng = np.random.default_rng(0)
    problem = KMonomial(Samples(rng.random((900, 40)) < 0.8, rng.random(900) < 0.5), k=4)
    ranking = solutions(problem, 20, backend="cpsat", time_limit=0.4)
    assert not ranking.complete
    assert len(ranking) < 20
    assert "stopped before the proof" in ranking.proved or not ranking.rules
    assert ranking.best.times.cpu < 5


def test_a_stop_in_the_middle_keeps_what_is_proved_so_far() -> None:
    # The first few are easy; not all of them.
    rng = np.random.default_rng(2)
    problem = KMonomial(Samples(rng.random((60, 14)) < 0.6, rng.random(60) < 0.5), k=3)
    for limit in (0.8, 3, 12):
        ranking = solutions(problem, 5000, backend="maxsat", time_limit=limit)
        if len(ranking):
            break  # on a busy machine a limit may be over before the first
    assert 1 <= len(ranking) < 5000
    assert not ranking.complete
    assert listed(problem, ranking)[:-1] == sorted(listed(problem, ranking)[:-1])
    best = cpx.solve(problem, "search").objective
    assert ranking.values[0] == best


def test_the_end_of_a_list_that_has_equals_says_so() -> None:
    samples = Samples(np.array([[1, 0], [0, 1], [0, 0]], dtype=bool), np.array([1, 1, 0], bool))
    ranking = solutions(KMonomial(samples, k=1), "optimal", most=1, backend="cpsat")
    assert (len(ranking), ranking.complete, ranking.more) == (1, True, True)
    ranking = solutions(KMonomial(samples, k=1), 1, backend="cpsat")
    assert ranking.proved == (
        "no better rule than the last of these is missing, others are as good as the last"
    )


def test_an_engine_that_improves_on_its_own_optimum_is_caught(monkeypatch) -> None:
    from cpx.answers.result import Termination
    from cpx.backends.base import Outcome
    from cpx.backends.cpsat import CpSat

    real, calls = CpSat.solve, []

    def lie(self, problem, options, progress):
        calls.append(problem)
        if len(calls) != 2:
            return real(self, problem, options, progress)
        # The best rule is excluded, and it takes the worst of the others for the next.
        value = progress.found(problem.explanation([1]))
        return Outcome(True, Termination.COMPLETED, "OPTIMAL", claimed=value)

    monkeypatch.setattr(CpSat, "solve", lie)
    monkeypatch.setattr(CpSat, "_start", "own")  # with a value from elsewhere it would be caught
    agreement = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]], dtype=bool)
    problem = KMonomial(Samples(agreement, np.array([1, 1, 0, 0, 0], bool)), k=1)
    with pytest.raises(CheckFailed, match="proved that nothing is better than 4, and found 3"):
        solutions(problem, 3, backend="cpsat")


def _plain() -> KMonomial:
    return KMonomial(Samples(np.eye(3, dtype=bool), np.array([1, 1, 0], bool)), k=2)


@pytest.mark.parametrize(
    ("backend", "encoding", "why"),
    [
        ("beam", None, "it proves nothing"),
        ("hitting-sets", None, "cannot solve problems of kind"),
        ("cpsat", "table1-literal", "another optimum than"),
    ],
)
def test_what_cannot_list(backend: str, encoding: str | None, why: str) -> None:
    with pytest.raises(InvalidOption, match=why):
        solutions(_plain(), backend=backend, encoding=encoding)


@pytest.mark.parametrize(
    ("problem", "engine"),
    [
        (_plain(), "search"),
        (random_selection(1), "maxsat"),
        (random_learning(4), "maxsat"),
        (KernelRule(np.eye(3, dtype=bool), [3, 2, -4], 2, 2), "cpsat"),
        (random_expectation(5), "cpsat"),
        (random_expectation(12, STRUCTURES[1]), "search"),
        (replace(random_votes(0, 4, 6), definition="majoritary"), "cpsat"),
        (random_reason(8, definition="sufficient"), "hitting-sets"),
    ],
)
def test_the_default_engine_is_one_that_can(problem, engine: str) -> None:
    ranking = solutions(problem, 3)
    assert ranking.complete
    assert ranking.best.backend == engine


def test_the_default_engine_is_installed(monkeypatch) -> None:
    from cpx.backends.maxsat import MaxSat

    monkeypatch.setattr(MaxSat, "available", classmethod(lambda cls: False))
    assert solutions(random_selection(1), 2).best.backend == "cpsat"


def test_column_generation_excludes_no_sets_of_rules() -> None:
    problem = RuleSetLearning(Samples(np.eye(3), [1, 1, 0]), 2)
    with pytest.raises(InvalidOption, match="column-generation lists no rules"):
        solutions(problem, backend="column-generation")


def test_the_search_lists_no_reasons() -> None:
    with pytest.raises(InvalidOption, match="backend 'search' cannot solve"):
        solutions(random_votes(0, 3, 5), backend="search")


def test_a_problem_without_an_answer_is_one_of_its_class_in_another_process_too() -> None:
    problem = _plain()
    best = problem.explanation([0])
    assert problem.evaluate(best).feasible  # what was measured is known to the problem
    rest = excluding(problem, [Cut((0,))], known=1)
    sent = pickle.loads(pickle.dumps(rest))
    for one in (rest, sent):
        assert isinstance(one, KMonomial)
        assert not one.evaluate(best).feasible
        assert one._trivial_bound() == 1
    assert problem.evaluate(best).feasible


def test_n_is_a_number_or_one_word() -> None:
    with pytest.raises(InvalidOption, match="n must be an integer or \"optimal\", got 'all'"):
        solutions(_plain(), "all")
