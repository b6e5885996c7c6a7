"""The best few rules and all optimal ones, against enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import cpx
from cpx.answers.result import Status
from cpx.data.samples import Samples
from cpx.errors import CheckFailed, InvalidOption
from cpx.explainers.solutions import solutions
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.weighted import KMonomial, NegativeOnly
from tests.seeds import each


def counted(problem):
    """Return the agreement of the samples that count."""
    samples = problem.samples
    if isinstance(problem, NegativeOnly) and problem.limits is None:
        return samples.agreement[~samples.same]
    return samples.agreement


def irredundant(problem):
    """Return (value with the sign of a minimisation, size, features), sorted."""
    table, out = counted(problem), []

    def covered(features):
        return table[:, list(features)].all(axis=1)

    for size in range(problem.k + 1):
        for chosen in combinations(range(problem.n_features), size):
            found = problem.evaluate(problem.explanation(chosen))
            if not found.feasible:
                continue
            shorter = (set(chosen) - {j} for j in chosen if j not in problem.required)
            if any((covered(rest) == covered(chosen)).all() for rest in shorter):
                continue
            sign = 1 if problem.sense == "min" else -1
            out.append((sign * found.objective, size, chosen))
    return sorted(out)


def listed(problem, ranking):
    sign = 1 if problem.sense == "min" else -1
    return [
        (sign * value, len(rule.features), rule.features)
        for value, rule in zip(ranking.values, ranking, strict=True)
    ]


def without_twins(problem, rules):
    """Keep the first of the rules of a size that cover the same samples."""
    seen = {}
    for rule in rules:
        seen.setdefault((rule[1], problem.samples.covered(rule[2]).tobytes()), rule)
    return list(seen.values())


def test_rules_that_cover_the_same_samples_are_listed_once():
    size = np.array([1, 2, 3] * 20)
    table = pd.DataFrame(
        {
            "flag": np.tile([0, 1], 30),  # two features, and both are flag > 0 of the row
            "size": size,
            "word": np.array(["a", "b", "c"])[size - 1],
        }
    )
    right = ((table["flag"] == 1) & (table["size"] == 2)).to_numpy()
    explainer = cpx.Explainer(lambda rows: (rows["flag"] == 1) & (rows["size"] == 2), table)
    ranking = solutions(
        explainer.problem(table.iloc[1], k=2, min_coverage=0.01), n=6, backend="search"
    )
    assert str(ranking.rules[0].rule).count("flag") == 1
    assert right.mean() == pytest.approx(float(ranking.rules[0].coverage))
    words = [str(rule.rule) for rule in ranking]
    assert len({*words}) == len(words) == 6
    assert "!=" not in words[0]


@pytest.mark.parametrize("backend", ["search", "cpsat", "maxsat"])
def test_no_engine_lists_twins(backend):
    # Of a column with two values "!=" says what "=" says, and one more column says the same.
    table = pd.DataFrame({"tint": ["red", "blue"] * 10, "size": ["s", "l"] * 10})
    table["form"] = ["round", "flat", "long", "long"] * 5
    explainer = cpx.Explainer(lambda rows: rows["tint"] == "red", table)
    problem = explainer.problem(table.iloc[0], k=1, min_coverage=0.01)
    for ranking in (
        solutions(problem, "optimal", backend=backend),
        solutions(problem, 9, backend=backend),
    ):
        covered = [problem.samples.covered(rule.features).tobytes() for rule in ranking]
        assert len({*covered}) == len(covered) > 1
        assert ranking.complete
        told = [str(rule.rule) for rule in ranking]
        assert told[0].startswith("tint = red")
        assert not any("tint != " in text or "size != " in text for text in told)
    for rule in (
        explainer.explain(table.iloc[0], k=1, backend=backend),
        cpx.solve(problem, backend),
    ):
        assert "!=" not in str(getattr(rule, "explanation", rule))


@each(range(40))
def test_is_comes_before_is_not(seed):
    # Whatever an engine chose, a condition with "!=" is left only where no other can take
    # its place.
    rng = np.random.default_rng(seed)
    base = rng.random((30, 3)) < 0.6
    agreement = base[:, rng.integers(0, 3, 8)]
    names = [f"a{j} {rng.choice(['=', '!='])} 1" for j in range(8)]
    same = base[:, 0] & base[:, 1]
    problem = KMonomial(
        Samples(agreement, same, features=names, groups=np.arange(8) // 2),
        k=2,
        one_per_group=bool(seed % 2),
        forbidden=rng.choice(8, seed % 3, replace=False).tolist(),
    )
    for chosen in combinations(range(8), 2):
        explanation = problem.explanation(chosen)
        if not problem.evaluate(explanation).feasible:
            continue
        plain = problem._shortened(explanation)
        found = problem.evaluate(plain)
        assert found.feasible
        assert found.objective == problem.evaluate(explanation).objective
        for j in plain.features:
            if " != " in names[j]:
                for i in set(range(8)).difference(plain.features):
                    if " = " in names[i] and (agreement[:, i] == agreement[:, j]).all():
                        instead = {i, *plain.features} - {j}
                        assert not problem.evaluate(problem.explanation(instead)).feasible


@each(range(50), 20)
def test_random_problems(seed):
    problem = random_problem(seed, 30, 8)
    wanted = irredundant(problem)
    each_once = without_twins(problem, wanted)
    for n in (1, 3, 12, 300):
        ranking = solutions(problem, n)
        assert listed(problem, ranking) == each_once[:n]
        assert ranking.complete
        assert ranking.more == (len(each_once) > n and each_once[n][0] == each_once[n - 1][0])
    optimal = [rule for rule in each_once if rule[0] == wanted[0][0]]
    for most in (2, 300):
        ranking = solutions(problem, "optimal", most=most)
        assert listed(problem, ranking) == optimal[:most]
        assert (ranking.complete, ranking.more) == (True, len(optimal) > most)


@pytest.mark.slow
@each(range(1000, 1400))
def test_more_random_problems(seed):
    problem = random_problem(seed, 60, 10)
    wanted = without_twins(problem, irredundant(problem))
    for n in (1, 7, 50):
        assert listed(problem, solutions(problem, n)) == wanted[:n]


def test_pool_and_workspace_may_overflow():
    # 1 + 10 + 45 + ... sets, all irredundant and all equally bad: more than the pool holds.
    d = 12
    agreement = ~np.eye(d, dtype=bool).repeat(2, axis=0)
    same = np.tile([True, False], d)
    problem = KMonomial(Samples(agreement, same), k=6)
    ranking = solutions(problem, "optimal", most=2000)
    assert len(ranking) == 2000
    assert set(ranking.values) == {d}
    wanted = irredundant(problem)
    assert listed(problem, ranking) == wanted[:2000]
    assert ranking.more
    everything = solutions(problem, "optimal", most=10_000)
    assert len(everything) == len(wanted) == 2510
    assert not everything.more


def test_many_words_and_weights():
    rng = np.random.default_rng(5)
    samples = Samples(
        rng.random((700, 9)) < 0.6, rng.random(700) < 0.4, weights=rng.integers(1, 300, 700)
    )
    for problem in (KMonomial(samples, k=4), MaxPrecision(samples, k=4, min_coverage="1/50")):
        wanted = irredundant(problem)
        assert listed(problem, solutions(problem, 40)) == wanted[:40]


def test_infeasible():
    samples = Samples(np.ones((3, 2), dtype=bool), np.array([True, True, False]))
    ranking = solutions(MaxPrecision(samples, k=2, max_coverage="1/2"))
    assert (len(ranking), ranking.complete) == (0, True)
    assert ranking.best.status is Status.INFEASIBLE
    assert "no rule satisfies the constraints" in str(ranking)


def test_time_limit_keeps_the_best_known():
    rng = np.random.default_rng(0)
    problem = KMonomial(Samples(rng.random((3000, 120)) < 0.8, rng.random(3000) < 0.5), k=6)
    ranking = solutions(problem, 20, time_limit=0.5)
    assert not ranking.complete
    assert len(ranking) >= 1
    assert ranking.values[0] == ranking.best.objective
    assert "stopped before the proof" in ranking.proved


@pytest.mark.parametrize("n", [0, -1, 1.5, True, None, 100_001])
def test_wrong_numbers(n):
    problem = random_problem(0)
    with pytest.raises(InvalidOption, match="n must be"):
        solutions(problem, n)
    with pytest.raises(InvalidOption, match="most must be"):
        solutions(problem, "optimal", most=n)


def test_wrong_problem():
    with pytest.raises(InvalidOption, match="problem must be"):
        solutions("inst.json")


def test_every_rule_is_checked(monkeypatch):
    # The second rule has two features, and the best one has not.
    agreement = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    problem = KMonomial(Samples(agreement, np.array([True, True, False, False])), k=2)
    assert irredundant(problem)[:2] == [(0, 1, (0,)), (1, 2, (0, 1))]
    evaluate = type(problem).evaluate

    def lie(self, explanation):
        found = evaluate(self, explanation)
        wrong = len(explanation.features) == 2
        return replace(found, objective=found.objective + 1) if wrong else found

    monkeypatch.setattr(type(problem), "evaluate", lie)
    with pytest.raises(CheckFailed, match="check of rule"):
        solutions(problem, 300)


def test_public_names():
    assert cpx.solutions is solutions
    assert cpx.explainers.Solutions is type(solutions(random_problem(0)))
