"""The fewest attributes by the share of rows drawn, against trying all sets; naive Bayes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from cpx.answers.result import Status
from cpx.data.fitted.naive_bayes import fit_naive_bayes
from cpx.errors import DataError, EngineError, InvalidInstance, InvalidOption
from cpx.modelling.instances import dumps, loads
from cpx.models.expected_prediction.cases import random_expectation
from cpx.models.expected_prediction.explainer import ExpectationExplainer
from cpx.models.expected_prediction.greatest_sampled import GreatestSampled
from cpx.models.expected_prediction.same_decision import SameDecision
from cpx.models.expected_prediction.sampled_probability import FewestSampled, drawn


def _best(question: FewestSampled) -> tuple[int, int] | None:
    """Return the fewest attributes that are enough, and the most rows that have so many."""
    problem, samples, w = question.problem, question.samples, question.samples.weights
    for size in range(problem.n_features + 1):
        covered = [
            samples.covered(S)
            for S in combinations(range(problem.n_features), size)
            if {*S}.issuperset(problem.required) and {*S}.isdisjoint(problem.forbidden)
        ]
        enough = [
            int(w[c].sum())
            for c in covered
            if w[c].sum() >= question.least * question.parts
            and Fraction(int(w[c & samples.same].sum()), int(w[c].sum())) >= question.tau
        ]
        if enough:
            return size, max(enough)
    return None


@pytest.mark.parametrize(("engine", "soft"), [("search", True), ("cpsat", False)])
def test_all_sets_agree(engine: str, soft: bool) -> None:
    sizes = set()
    for seed in (0, 9, 11, 12, 34 if soft else 27):  # of 27 no share is averaged
        problem = random_expectation(seed, "mixture")
        for tau in ("6/10", "7/10") if soft else ("9/10", 1):
            question = FewestSampled(problem, tau, 300, 2, seed, soft)
            best = _best(question)
            result, proved = question.solve(engine, {"time_limit": 60})
            sizes.add(None if best is None else best[0])
            if best is None:
                assert result.status is Status.INFEASIBLE
                assert "no set of attributes" in str(question.nothing(result))
                continue
            found = result.explanation
            assert found is not None
            assert proved
            assert result.verified
            covered = question.samples.covered(found.features)
            assert (len(found.features), int(question.samples.weights[covered].sum())) == best
            told = question.concluded(result, proved).explanation
            assert told is not None
            assert "minimum on these rows: no smaller set" in told.proved
            assert ("has a mean " in told.proved) == soft
    assert {None, 2} < sizes


@pytest.mark.parametrize("soft", [False, True])
def test_the_greatest_share_of_all_sets(soft: bool) -> None:
    """Each set is measured on rows drawn anew, by the scores of these rows."""
    for seed in (12, 34, 39):
        problem = replace(random_expectation(seed, "mixture"), k=2)
        question = GreatestSampled(problem, 2, 300, 20, seed, soft)
        rng = np.random.default_rng([seed, 1])
        held = [*problem.required]
        codes = problem.distribution.sample_given(300, problem.codes, held, rng)
        measured = SameDecision(problem)
        worth = measured.same(codes).astype(float)
        if soft:
            worth = np.rint(1000 * measured.probabilities(codes)) / 1000
        best = -1.0
        for size in range(3):
            for S in combinations(range(problem.n_features), size):
                rows = (codes[:, S] == problem.codes[[*S]]).all(axis=1)
                if problem._may_choose(S) and rows.sum() >= 20:
                    best = max(best, float(worth[rows].mean()))
        result = question.answer("search", {"time_limit": 60})
        assert result.verified
        assert result.proved
        assert float(result.objective) == pytest.approx(best, abs=1e-12)
        told = result.explanation.proved
        assert "no set of at most 2 attributes" in told
        assert ("have the mean " in told) == soft


def test_the_mean_probability_is_within_its_limits() -> None:
    outside = 0
    for seed in range(40):
        problem = random_expectation(seed, "mixture", prediction="probability")
        exact = float(problem.scores.expected(()))
        mean = SameDecision(problem).mean_probability((), 200, seed, confidence=0.9)
        outside += not mean.low <= exact <= mean.high
        assert mean.low <= mean.value <= mean.high
    assert outside <= 4


def test_of_boosting_by_name() -> None:
    data = load_breast_cancer(as_frame=True)
    boosted = GradientBoostingClassifier(n_estimators=20, random_state=0)
    boosted.fit(data.data, data.target)
    explainer = ExpectationExplainer(boosted, data.data)
    asked = {"measure": "sampled-probability", "samples": 1000}
    for prediction, what in ((None, "keep the class"), ("probability", "mean probability")):
        found = explainer.explain(data.data.iloc[19], 2, prediction=prediction, **asked)
        assert found.result.verified
        assert what in found.proved
        assert "covers at least 100 of them has more" in found.proved
        assert found.probability is not None
        assert found.from_dict(found.to_dict()).probability == found.probability
        assert "\npredicted  probability 0." in found.summary()
    name = explainer.coding.names[0]
    with pytest.raises(EngineError, match=r"covers at least 1000; .* proved it"):
        explainer.explain(data.data.iloc[19], 2, least=1000, where=f"'{name}'", **asked)
    with pytest.raises(InvalidOption, match="the expected score is exact"):
        explainer.explain(data.data.iloc[19], 2, prediction="score", **asked)
    # Of too many regions, rows drawn answer what was asked, and it is said.
    for ask, what in (
        ({"prediction": "decision"}, "keep the class in the share"),
        ({"prediction": "probability", "threshold": 0.9}, "and have the mean probability 0.9"),
    ):
        found = explainer.explain(data.data.iloc[19], **ask)
        assert "than 16,384 regions, too many for exact expectations: answered on rows" in str(
            found.remarks
        )
        assert what in found.proved
        assert "of 10000 rows drawn" in found.proved
    for ask in ({"min_probability": 0.1}, {"threshold": 0.9, "measure": "probability-bound"}):
        with pytest.raises(InvalidInstance, match=r"too many for exact .*; .* is (not )?for"):
            explainer.explain(data.data.iloc[19], prediction="decision", **ask)


def test_of_a_forest_by_name() -> None:
    data = load_breast_cancer(as_frame=True)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(data.data, data.target)
    explainer = ExpectationExplainer(forest, data.data, distribution="naive-bayes")
    assert explainer.distribution.n_components == 2
    asked = {"measure": "sampled-probability", "samples": 1000}
    found = explainer.explain(data.data.iloc[19], threshold=0.9, **asked)
    assert found.result.verified
    assert "no smaller set covers at least 100 of them" in found.proved
    assert found.fresh is not None or found.same is not None
    for wrong in ({"threshold": 0}, {"threshold": 1.5}, {"threshold": 0.9, "least": 1001}):
        with pytest.raises(InvalidOption, match=r"threshold|least"):
            explainer.explain(data.data.iloc[19], **asked, **wrong)
    unreached = {"threshold": 1, **asked, "forbidden": range(30)}
    with pytest.raises(EngineError, match="the greatest share is"):
        explainer.explain(data.data.iloc[19], **unreached)
    assert explainer.solve(data.data.iloc[19], **unreached).explanation is None
    with pytest.raises(InvalidOption, match="samples is for the measure sampled-probability"):
        explainer.explain(data.data.iloc[19], 2, samples=1000)


def test_a_forest_of_many_leaves_is_answered_on_rows_drawn(monkeypatch) -> None:
    data = load_breast_cancer(as_frame=True)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(data.data, data.target)
    explainer = ExpectationExplainer(forest, data.data, distribution="naive-bayes")
    exact = explainer.explain(data.data.iloc[19], 2)
    said = SameDecision(exact.problem).probabilities(explainer.coding.codes(data.data.to_numpy()))
    assert said == pytest.approx(forest.predict_proba(data.data)[:, 1], abs=1e-12)
    monkeypatch.setattr("cpx.models.expected_prediction.explainer._MOST_LEAVES", 20)
    for ask, claimed in (({"k": 2}, "greatest"), ({"threshold": 0.9}, "minimum")):
        found = explainer.explain(data.data.iloc[19], **ask)
        assert "under 2 components take long: answered on rows drawn" in str(found.remarks)
        assert "and have the mean probability 0.9" in found.proved
        assert f"{claimed} on these rows" in found.proved
        assert found.result.verified
        assert found.expected == pytest.approx(
            float(exact.problem.scores.expected(found.features))
        )
    # What rows drawn do not answer, or who asks for it, gets exact expectations.
    for ask in ({"k": 2, "measure": "expectation"}, {"k": 2, "min_probability": 0.01}):
        assert "greatest within" in explainer.explain(data.data.iloc[19], **ask).proved


def test_side_constraints_are_kept() -> None:
    data = load_breast_cancer(as_frame=True)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(data.data, data.target)
    explainer = ExpectationExplainer(forest, data.data, distribution="naive-bayes")
    asked = {"measure": "sampled-probability", "samples": 1000, "threshold": 0.9}
    free = explainer.solve(data.data.iloc[19], **asked).explanation
    name = explainer.coding.names[free.features[0]]
    kept = explainer.explain(data.data.iloc[19], where=f"not '{name}'", **asked)
    assert free.features[0] not in kept.features
    assert "no smaller set that keeps the side constraints covers" in kept.proved


def test_an_answer_is_measured_on_other_rows() -> None:
    problem = random_expectation(24, "mixture")  # of five attributes, all tested
    measured = SameDecision(problem)
    shares = [
        (int(drawn(problem, 300, seed).same.sum()), measured.sampled((), 300, seed).agreeing)
        for seed in range(5)
    ]
    assert any(own != other for own, other in shares)


def test_naive_bayes_is_what_it_says() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    codes = np.stack([(rng.random(300) < 0.2 + 0.3 * labels), rng.integers(0, 2, 300)], axis=1)
    fitted = fit_naive_bayes(codes, [2, 2], labels, smoothing=1e-9)
    for c in range(3):
        own = codes[labels == c]
        assert fitted.weights[c] / 2**30 == pytest.approx(len(own) / 300, abs=1e-8)
        for a in range(2):
            assert fitted.tables[c][a][0, 1] / 2**30 == pytest.approx(own[:, a].mean(), abs=1e-6)
    for wrong in (labels[:-1], [None, *labels[1:]], [np.nan, *labels[1:]]):
        with pytest.raises(DataError, match="labels"):
            fit_naive_bayes(codes, [2, 2], wrong)
    with pytest.raises(DataError, match="no rows"):
        fit_naive_bayes(codes[:0], [2, 2], [])


def test_naive_bayes_smooths_each_class_by_its_own_rows() -> None:
    fitted = fit_naive_bayes([[0], [0], [1], [1], [1]], [2], [0, 0, 0, 1, 1])
    # Of a class of n rows: half a row as its rows are, half a row of either state alike.
    shares = [(1 + 1 / 6 + 1 / 4) / 4, (2 + 1 / 2 + 1 / 4) / 3]
    assert [t[0][0, 1] / 2**30 for t in fitted.tables] == pytest.approx(shares, abs=1e-8)


def test_logistic_regression_under_naive_bayes() -> None:
    """The expectation of a linear score is that of each column, weighted by the class."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (200, 4))
    model = LogisticRegression().fit(X, X[:, 0] ^ (rng.random(200) < 0.1))
    explainer = ExpectationExplainer(model, X, distribution="naive-bayes")
    problem = explainer.problem(X[0], 2)
    S, mixture = [0, 2], explainer.distribution
    posterior = mixture.posterior(problem.codes, [[a in S for a in range(4)]])[0]
    given = sum(
        w * np.array([tables[a][0, 1] / 2**30 for a in range(4)])
        for w, tables in zip(posterior, mixture.tables, strict=True)
    )
    given[S] = X[0, S]
    sign = 1 if problem.label_index == 1 else -1
    score = sign * float(model.intercept_[0] + model.coef_[0] @ given)
    assert float(problem.scores.expected(S)) == pytest.approx(score, abs=1e-9)


def test_an_instance_says_which_distribution_was_asked_for() -> None:
    data = load_iris()
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(data.data, data.target)
    for asked, told in (("naive-bayes", "naive-bayes (mixture)"), ("mixture", "mixture")):
        explainer = ExpectationExplainer(forest, data.data, distribution=asked)
        answer = explainer.answer(0, k=1)
        assert told in answer.brief
        saved = loads(dumps(answer.problem))
        assert saved._facts()["distribution"].startswith(f"{told}, ")
