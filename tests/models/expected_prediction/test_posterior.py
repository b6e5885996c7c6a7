"""Classifiers that are the distribution: conformant naive Bayes, and posteriors of classes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB

import cpx
from cpx import check
from cpx.data.fitted.conformant import fit_conformant
from cpx.errors import DataError, InvalidInstance, InvalidOption
from cpx.models import FewestExpected
from cpx.models.expected_prediction import greatest_posterior as module
from cpx.models.expected_prediction.cases import best_set, random_expectation, random_mixture
from cpx.models.expected_prediction.greatest_posterior import greatest_posterior
from tests.seeds import each

RNG = np.random.default_rng(3)


@each(range(6), 3)
def test_the_conformant_distribution_has_the_odds_and_the_shares(seed):
    """The log-odds are those given, and each state is as frequent as in the rows."""
    rng = np.random.default_rng(seed)
    sizes, classes = [int(k) for k in rng.integers(1, 5, 4)], 2 + seed % 3
    rows = np.stack([rng.integers(0, k, 200) for k in sizes], axis=1)
    base, terms = rng.normal(size=classes), [3 * rng.normal(size=(classes, k)) for k in sizes]
    fitted, off = fit_conformant(rows, sizes, base, terms, smoothing=1e-9)
    assert off < 1e-4
    grid = np.array(list(product(*map(range, sizes))))
    every = np.ones((1, 4), dtype=bool)
    for row in grid:
        odds = base + sum(term[:, s] for term, s in zip(terms, row, strict=True))
        found = np.log(fitted.posterior(row, every)[0])
        assert found - found[0] == pytest.approx(odds - odds[0], abs=off + 1e-9)
    chances = np.exp(fitted.log_likelihood(grid))
    likelihood = fitted.log_likelihood(rows).mean()
    for a, k in enumerate(sizes):
        shares = np.bincount(rows[:, a], minlength=k) / 200
        own = np.array([chances[grid[:, a] == s].sum() for s in range(k)])
        assert own == pytest.approx(shares, abs=1e-5)
    # No other naive Bayes distribution with these log-odds, near it, is likelier.
    shift = [[0.01 * rng.normal() * np.eye(k)[0] for k in sizes] for _ in range(3)]
    for change in shift:
        assert _likelihood(fitted, rows, base, terms, change) <= likelihood + 1e-9


def _likelihood(fitted, rows, base, terms, change):
    first = [np.log(table[0] / 2**30) + c for table, c in zip(fitted.tables[0], change)]
    first = [logs - np.logaddexp.reduce(logs) for logs in first]
    ratios = [
        np.logaddexp.reduce(logs + g - g[0], axis=1) for logs, g in zip(first, terms, strict=True)
    ]
    zero = -np.logaddexp.reduce(base - base[0] + sum(ratios))
    odds = (base - base[0])[:, None] + sum((g - g[0])[:, rows[:, a]] for a, g in enumerate(terms))
    logs = sum(own[rows[:, a]] for a, own in enumerate(first))
    return float((zero + logs + np.logaddexp.reduce(odds)).mean())


def test_terms_that_are_no_log_odds_are_refused():
    with pytest.raises(DataError, match="a number for each class and state"):
        fit_conformant([[0, 1]], [2, 2], [0.0, 0.0], [[0.0, 1.0]])
    with pytest.raises(DataError, match="must be finite"):
        fit_conformant([[0]], [2], [0, 0], [[[0, 0], [0.0, np.inf]]])
    # Odds of e**60 are beyond probabilities of 2**-30: that is told.
    assert fit_conformant([[0], [1]], [2], [0, 0], [[[0, 0], [0.0, 60.0]]])[1] > 1


def _problem(seed, **asked):
    """Return a random problem of two or three classes; the distribution has one for each."""
    plain = random_expectation(seed)
    sizes, classes = plain.coding.cardinalities, len(plain.tree_model.classes)
    mixtures = (random_mixture(s, sizes, "mixture") for s in range(99))
    own = next(m for m in mixtures if m.n_components == classes)
    return replace(plain, distribution=own, prediction="posterior", **asked)


@each([0, 24, 26, 2, 5, 11], 3)
def test_posteriors_are_those_of_all_rows(seed):
    """E[Pr(c | X) | z] by all rows with z, and the greatest Pr(c | x) of them."""
    problem = _problem(seed)
    mixture, own = problem.distribution, problem.label_index
    A = problem.n_features
    codes = np.array(list(product(*map(range, mixture.cardinalities))))
    said = [mixture.posterior(row, np.ones((1, A), dtype=bool))[0, own] for row in codes]
    chances = np.exp(mixture.log_likelihood(codes))
    for size in range(A + 1):
        for S in combinations(range(A), size):
            inside = (codes[:, S] == problem.codes[[*S]]).all(axis=1)
            mean = float(chances[inside] @ np.array(said)[inside] / chances[inside].sum())
            assert float(problem.scores.expected(S)) == pytest.approx(mean, abs=1e-9)
            most = float(np.array(said)[inside].max())
            bound = float(problem.scores.greatest(S))
            if mixture.n_components == 2 or size == A:
                assert bound == pytest.approx(most, abs=1e-9)
            assert bound >= most - 1e-9
    floor = replace(problem, k=A, min_probability=problem.scores.probability((0,)))
    given = {n: getattr(problem, n) for n in ("tree_model", "x", "coding", "distribution")}
    taus = (problem.scores.expected(S) + Fraction(off, 99) for S in ((), (0,)) for off in (0, 1))
    duals = [FewestExpected(**given, threshold=t, prediction="posterior") for t in taus]
    for asked in (problem, floor, *duals):
        result, best = cpx.solve(asked), best_set(asked)
        if best is None:
            assert result.status.name == "INFEASIBLE"
            continue
        assert (result.objective, result.proved, result.verified) == (best[0], True, True)


@each(range(20), 4)
def test_the_greatest_posterior_of_several_classes_is_that_of_all_sets(seed):
    rng = np.random.default_rng(seed)
    C, A, top = int(rng.integers(2, 6)), 9, int(rng.choice([4, 2**30]))  # with many ties
    weights, shares = rng.integers(1, top, C).tolist(), rng.integers(1, top, (C, A)).tolist()
    label, k = int(rng.integers(C)), int(rng.integers(0, 7))
    held, banned = [0] * int(rng.integers(2)), [1, 2][: int(rng.integers(3))]

    def posterior(S):
        joint = [w * prod(of[a] for a in S) for w, of in zip(weights, shares, strict=True)]
        return Fraction(joint[label], sum(joint))

    free = [a for a in range(A) if a not in {*held, *banned}]
    sizes = range(max(0, k - len(held)) + 1)
    sets = [[*held, *S] for size in sizes for S in combinations(free, size)]
    found, most = greatest_posterior(weights, shares, label, k, held, banned)
    assert posterior(found) == most == max(map(posterior, sets))
    assert len(found) <= max(k, len(held))


def test_a_search_that_gives_up_has_a_bound(monkeypatch):
    rng = np.random.default_rng(0)
    asked = [1] * 4, rng.integers(1, 9, (4, 16)).tolist(), 0, 5
    best = greatest_posterior(*asked)[1]
    monkeypatch.setattr(module, "_NODES", 2)
    gave_up, bound = greatest_posterior(*asked)
    assert gave_up is None
    assert best <= bound < 1


def test_what_is_no_pair_of_classes_is_refused():
    plain = random_expectation(0)
    with pytest.raises(InvalidInstance, match="one component for each class"):
        replace(plain, prediction="posterior")
    problem = _problem(0)
    instance, result = problem.to_dict(), cpx.solve(problem).to_dict()
    assert check.violations(instance, result) == []
    instance["distribution"] = plain.to_dict()["distribution"]
    told = ["distribution: it has no component for each class"]
    assert check.violations(instance, result) == told


X = pd.DataFrame(RNG.integers(0, 2, (400, 24)), columns=[f"c{i}" for i in range(24)])
Y = (X[["c0", "c1", "c2", "c3"]].sum(axis=1) + RNG.normal(size=400) > 2).astype(int)
OF_THREE = Y + (X[["c3", "c4"]].sum(axis=1) + RNG.normal(size=400) > 1)


@pytest.mark.parametrize(
    ("model", "y"),
    [(LogisticRegression(), Y), (BernoulliNB(), OF_THREE), (LogisticRegression(), OF_THREE)],
)
def test_of_many_columns_the_greatest_probability_is_proved(model, y):
    model.fit(X, y)
    explainer = cpx.Explainer(model, X, distribution="conformant")
    found = explainer.expectation(5, 8, prediction="probability")
    assert (found.measure, len(found.features)) == ("probability", 8)
    assert (found.result.proved, found.result.verified) == (True, True)
    own = model.predict(X.iloc[[5]])[0]
    assert found.of_x == pytest.approx(model.predict_proba(X.iloc[[5]])[0, own], abs=1e-6)
    assert any("says the probability of the model, but for" in note for note in found.notes)
    with pytest.raises(cpx.errors.Infeasible, match="the greatest is"):
        explainer.of("expectation").explain(5, threshold=1, prediction="probability")


def test_models_that_are_no_sum_of_columns_are_refused():
    boosted = GradientBoostingClassifier(n_estimators=3, max_depth=2).fit(X, Y)
    with pytest.raises(InvalidOption, match="tests several together"):
        cpx.explain(boosted, X, 0, kind="expectation", distribution="conformant")
    far = BernoulliNB(alpha=1e-12, force_alpha=True).fit(X.assign(c0=Y), Y)
    with pytest.raises(InvalidOption, match="miss log-odds of the model by"):
        cpx.explain(far, X, 0, kind="expectation", distribution="conformant")
