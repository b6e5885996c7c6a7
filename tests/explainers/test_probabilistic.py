"""One call for what makes a model expect its class: ``explain(..., kind="expectation")``."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cpx
from cpx.data.coding import Coding
from cpx.data.fitted import mixture_choice
from cpx.data.fitted.mixture_fit import fit_mixture
from cpx.errors import (
    CpxError,
    DataError,
    EngineError,
    InvalidInstance,
    InvalidOption,
    UnknownName,
)
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.explainer import ExpectationExplainer
from cpx.models.expected_prediction.same_decision import SameDecision
from cpx.trees import read_additive

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.integers(0, 3, (300, 5)), columns=list("abcde"))
Y = ((X["a"] + X["b"] > 2) | (X["c"] == 2)).astype(int)
BOOSTED = GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0).fit(X, Y)
FOREST = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)
ROW = X.iloc[3]
KIND: dict[str, Any] = {"kind": "expectation"}


@cache
def all_rows(explainer: ExpectationExplainer) -> tuple[np.ndarray, ...]:
    """Return all rows there are, their probabilities and what the model gives them."""
    model, coding = explainer.model, explainer.coding
    grid = np.array(list(itertools.product(*(range(k) for k in coding.cardinalities))))
    chances = np.exp(explainer.distribution.log_likelihood(grid))
    # All columns have the values 0, 1 and 2, which are the states.
    rows = grid.astype(float)
    scores = np.array([[float(s) for s in model.scores(row)] for row in rows])
    return grid, chances, scores, model.predict_index(rows)


def by_rows(explainer: ExpectationExplainer, x: Any, S: tuple[int, ...]) -> tuple[float, ...]:
    """Return EP, Pr and the probability of the class by going through all rows there are."""
    grid, chances, scores, predicted = all_rows(explainer)
    own = int(explainer.model.predict_index(np.asarray(x, dtype=float))[0])
    score = scores[:, own] if scores.shape[1] > 1 else scores[:, 0] * (1 if own else -1)
    held = (grid[:, list(S)] == np.asarray(x)[list(S)]).all(axis=1)
    mass = chances[held].sum()
    same = predicted == own
    return (
        float((chances * score)[held].sum() / mass),
        float(mass),
        float(chances[held & same].sum() / mass),
    )


@pytest.mark.parametrize("distribution", ["factorised", "mixture{components=2}", "chow-liu"])
@pytest.mark.parametrize("model", [BOOSTED, FOREST], ids=["boosting", "forest"])
def test_the_best_of_all_sets_and_its_figures(model: Any, distribution: str) -> None:
    explainer = ExpectationExplainer(model, X, distribution=distribution)
    found = explainer.explain(ROW, 2)
    sets = [S for n in range(3) for S in itertools.combinations(range(5), n)]
    best = max(by_rows(explainer, ROW, S)[0] for S in sets)
    expected, chance, same = by_rows(explainer, ROW, found.features)
    assert found.expected == pytest.approx(best, abs=1e-9)
    assert found.expected == pytest.approx(expected, abs=1e-12)
    assert np.exp(found.log_likelihood) == pytest.approx(chance, rel=1e-9)
    assert found.same == pytest.approx(same, abs=1e-9)
    assert found.bound <= same + 1e-9
    assert found.result.proved
    assert found.result.verified


@pytest.mark.parametrize("model", [BOOSTED, FOREST, GaussianNB().fit(X, Y)], ids=type)
def test_the_greatest_same_decision_probability(model: Any) -> None:
    explainer = ExpectationExplainer(model, X, components=2)
    found = explainer.explain(ROW, 2, prediction="decision")
    sets = [S for n in range(3) for S in itertools.combinations(range(5), n)]
    best = max(by_rows(explainer, ROW, S)[2] for S in sets)
    assert found.measure == "same-decision probability"
    assert found.same == found.expected == pytest.approx(best, abs=1e-9)
    assert found.bound == math.floor(1000 * found.expected) / 1000
    assert (found.result.proved, found.result.verified) == (True, True)


def test_values_of_any_number_that_are_likely() -> None:
    explainer = ExpectationExplainer(FOREST, X, components=2)
    found = explainer.explain(ROW, min_probability=0.1)
    sets = [S for n in range(6) for S in itertools.combinations(range(5), n)]
    figures = [by_rows(explainer, ROW, S) for S in sets]
    assert found.expected == pytest.approx(max(f[0] for f in figures if f[1] >= 0.1), abs=1e-9)
    assert "has a likelihood of at least 0.1 has more" in found.proved
    with pytest.raises(InvalidOption, match="min_probability is for k"):
        explainer.explain(ROW, threshold="1/2", min_probability=0.1)


def test_what_has_no_probability_is_told() -> None:
    machine = LinearSVC().fit(X, Y)
    assert cpx.explain(machine, X, ROW, k=1, prediction="decision", **KIND).result.proved
    for model, told in ((machine, "LinearSVC has no probability"), (FOREST, "has a probability")):
        asked = "probability" if model is machine else "score"
        with pytest.raises(InvalidOption, match=told):
            cpx.explain(model, X, ROW, k=1, prediction=asked, **KIND)
    with pytest.raises(UnknownName, match="decision"):
        cpx.explain(FOREST, X, ROW, k=1, prediction="decisions", **KIND)


def test_one_call_and_its_html() -> None:
    found = cpx.explain(BOOSTED, X, ROW, k=2, class_names=["no", "yes"], **KIND)
    assert isinstance(found, ExpectedExplanation)
    assert found.rule.conclusion in ("no", "yes")
    html = found._repr_html_()
    for told in ("expected", "likelihood", "same class", "proved"):
        assert told in html
    assert found.first_order_probability is not None


def test_sampled_share_is_near_the_exact_one() -> None:
    explainer = ExpectationExplainer(FOREST, X, components=3)
    asked = SameDecision(explainer.problem(ROW, 2))
    for S in ((), (0,), (0, 2)):
        exact = asked.exact(S)
        assert exact is not None
        sampled = asked.sampled(S, 4000)
        assert sampled.low - 0.02 <= exact <= sampled.high + 0.02
    assert asked.exact(range(5)) == 1.0


def test_a_class_that_all_rows_get_has_probability_1() -> None:
    """A sum of rounded probabilities was 0.9999999999999996, and was called exact."""
    rare = np.arange(len(X)) % 10 == 0
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, rare)
    assert not forest.predict(X).any()
    for seed in range(8):
        problem = ExpectationExplainer(forest, X, components=7, seed=seed).problem(ROW, 2)
        assert {SameDecision(problem).exact(S) for S in ((), (0,), (1, 3))} == {1.0}


def test_attributes_of_several_columns_are_known_together() -> None:
    bits = pd.get_dummies(X["a"], prefix="a").astype(int).join(X[["b", "c"]])
    boosted = GradientBoostingClassifier(n_estimators=5, max_depth=2).fit(bits, Y)
    groups = {"a": [str(c) for c in bits if str(c).startswith("a_")]}
    explainer = ExpectationExplainer(boosted, bits, groups=groups)
    assert explainer.coding.names == ("a", "b", "c")
    found = explainer.explain(bits.iloc[3], 1, required="a")
    assert str(found.rule) == f"a = {ROW['a']} => class {boosted.predict(bits.iloc[[3]])[0]}"
    assert found.row is not None
    assert found.row.values == (("a", str(ROW["a"])),)
    impossible = dict.fromkeys(bits.columns, 1)
    with pytest.raises(DataError, match="combination"):
        explainer.explain(impossible, 1)


def test_logistic_regression_over_few_values() -> None:
    model = LogisticRegression().fit(X, Y)
    trees = read_additive(model, rows=X)
    assert (trees.predict(X) == model.predict(X)).all()
    score = float(trees.scores(ROW.to_numpy())[0])
    assert score == pytest.approx(float(model.decision_function(X.iloc[[3]])[0]), abs=1e-12)
    found = cpx.explain(model, X, ROW, k=5, distribution="factorised", **KIND)
    assert abs(found.of_x) == pytest.approx(abs(score), abs=1e-12)
    wide = pd.DataFrame(RNG.normal(size=(300, 2)), columns=["p", "q"])
    with pytest.raises(DataError, match="more than 256 values"):
        cpx.explain(LogisticRegression().fit(wide, Y), wide, wide.iloc[0], **KIND)


def test_many_rows() -> None:
    explainer = cpx.Explainer(BOOSTED, X, distribution="factorised")
    found = explainer.expectations(X.iloc[:3], 1)
    assert [len(one.features) for one in found] == [1, 1, 1]
    assert found[0] == explainer.expectation(0, 1)
    fewest = explainer.expectations(X.iloc[:20], threshold="1/2")
    assert {bool(one.why) for one in fewest} == {False, True}
    for one in fewest:
        assert ("there is no set of attributes" in one.why) != ("minimum" in one.proved)


def test_no_more_attributes_than_there_are() -> None:
    few = X[["a", "b", "c"]]
    tree = RandomForestClassifier(3, max_depth=2, random_state=0).fit(few, Y)
    found = cpx.explain(tree, few, few.iloc[3], distribution="factorised", **KIND)
    assert found.problem.k == 3
    explainer = cpx.Explainer(tree, few, distribution="factorised")
    assert explainer.expectations(few.iloc[[3]])[0].features == found.features
    with pytest.raises(InvalidInstance, match="number of features 3, got 5"):
        cpx.explain(tree, few, few.iloc[3], k=5, **KIND)


def test_frontier_is_proved_under_independence_and_never_above_it() -> None:
    explainer = ExpectationExplainer(BOOSTED, X, distribution="factorised")
    frontier = explainer.frontier(ROW, 3)
    assert frontier.proved == (True,) * 4
    expected = [found.expected for found in frontier]
    assert expected == sorted(expected)
    for k, found in enumerate(frontier):
        assert found.expected == explainer.explain(ROW, k).expected
    mixture = ExpectationExplainer(BOOSTED, X, components=2)
    for k, found in enumerate(mixture.frontier(ROW, 3)):
        assert found.expected <= mixture.explain(ROW, k).expected + 1e-9


def test_frontier_is_drawn() -> None:
    figure = pytest.importorskip("matplotlib.figure")
    explainer = ExpectationExplainer(BOOSTED, X, distribution="factorised")
    ax = explainer.frontier(ROW, 2).plot(ax=figure.Figure().subplots())
    drawn: Any = ax.lines[0].get_ydata()
    assert drawn[0] == pytest.approx(explainer.frontier(ROW, 0)[0].expected)


def test_a_threshold_asks_for_the_fewest() -> None:
    explainer = ExpectationExplainer(BOOSTED, X, distribution="factorised")
    found = explainer.explain(ROW, threshold="0.9", measure="probability-bound")
    assert found.bound >= 0.9
    smaller = explainer.frontier(ROW, len(found.features) - 1)
    assert all(one.bound < 0.9 for one in smaller)
    best = max(one.expected for one in explainer.frontier(ROW, 5))
    with pytest.raises(EngineError) as raised:
        explainer.explain(ROW, threshold=100)
    told = _greatest(raised.value)
    assert float(told) <= best < float(told) + 1e-6
    assert explainer.explain(ROW, threshold=told).expected >= float(told)


def test_rounding_misses_no_threshold() -> None:
    explainer = ExpectationExplainer(BOOSTED, X, distribution="factorised")
    scores = explainer.problem(ROW, 5).scores
    assert scores.bound((0, 1, 2, 3)) == 1
    found = explainer.explain(ROW, threshold=1, measure="probability-bound")
    assert scores.bound(found.features) == 1


@pytest.mark.parametrize("measure", ["probability-bound", "expectation"])
def test_no_greatest_is_told_where_no_set_is_allowed(measure: Any) -> None:
    explainer = ExpectationExplainer(BOOSTED, X, distribution="factorised")
    with pytest.raises(EngineError, match="there is no set") as raised:
        explainer.explain(ROW, threshold=1, measure=measure, where="a and not a")
    assert "the greatest" not in str(raised.value)


@pytest.mark.parametrize("distribution", ["factorised", "mixture{components=2}"])
def test_a_bound_that_none_reaches_says_the_greatest(distribution: str) -> None:
    explainer = ExpectationExplainer(BOOSTED, X, distribution=distribution)
    scores = explainer.problem(ROW, 5).scores
    sets = [S for n in range(5) for S in itertools.combinations((0, 1, 3, 4), n)]
    greatest = float(max(scores.bound(S) for S in sets))
    assert 0 < greatest < 0.99
    with pytest.raises(EngineError) as raised:
        explainer.explain(ROW, threshold=1, measure="probability-bound", forbidden="c")
    told = _greatest(raised.value)
    assert greatest - 2e-6 < float(told) <= greatest
    found = explainer.explain(ROW, threshold=told, measure="probability-bound", forbidden="c")
    assert found.bound <= greatest


def _greatest(error: EngineError) -> str:
    return str(error).split("the greatest is ")[1].split(";")[0]


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"distribution": "gaussian"}, UnknownName, "distribution"),
        ({"distribution": "factorised", "components": 3}, InvalidOption, "components"),
        ({"distribution": "mixture{depth=3}"}, InvalidOption, "depth"),
        ({"k": 6}, InvalidInstance, "k must be"),
        ({"k": -1}, InvalidInstance, "k must be"),
        ({"prediction": "share of votes"}, InvalidOption, "the model has a score"),
        ({"prediction": "joy"}, UnknownName, "prediction"),
        ({"measure": "probability-bound"}, InvalidOption, "threshold"),
        ({"k": 2, "threshold": 1}, InvalidOption, "k, or a threshold"),
        ({"required": "z"}, InvalidInstance, "no attribute"),
        ({"level": "attributes"}, InvalidOption, "level is for kind='reason'"),
    ],
)
def test_wrong_arguments_are_named(
    change: dict[str, Any], error: type[CpxError], told: str
) -> None:
    with pytest.raises(error, match=told):
        cpx.explain(BOOSTED, X, ROW, **KIND, **change)


def test_wrong_data_are_named() -> None:
    with pytest.raises(DataError, match="the background lacks 'e'"):
        cpx.explain(BOOSTED, X.drop(columns="e"), ROW, **KIND)
    with pytest.raises(DataError, match="x lacks 'e'"):
        cpx.explain(BOOSTED, X, ROW.drop("e"), **KIND)
    with pytest.raises(DataError, match="no rows"):
        cpx.explain(BOOSTED, X.iloc[:0], ROW, **KIND)
    regressor = DecisionTreeRegressor().fit(X, Y)
    with pytest.raises(InvalidOption, match="predicts numbers"):
        cpx.explain(regressor, X, ROW, **KIND)
    with pytest.raises(InvalidOption, match="kind='expectation' needs X"):
        cpx.explain(BOOSTED, x=ROW, **KIND)
    with pytest.raises(InvalidOption, match="the order is model, X, x"):
        cpx.explain(BOOSTED, ROW, X, **KIND)
    other = fit_mixture(np.zeros((4, 2), dtype=int), [1, 1], structure="factorised")
    with pytest.raises(InvalidInstance, match="is over other states: it has"):
        cpx.explain(BOOSTED, X, ROW, distribution=other, **KIND)


def test_constant_columns_tell_nothing() -> None:
    table = X.assign(f=7)
    boosted = GradientBoostingClassifier(n_estimators=3, max_depth=2).fit(table, Y)
    found = cpx.explain(boosted, table, table.iloc[3], k=6, **KIND)
    assert 5 not in found.features


def test_a_distribution_that_is_fitted_already() -> None:
    model = cpx.read_model(BOOSTED)
    coding = Coding.fit(X, cuts=model.thresholds, cast=model.cast)
    own = fit_mixture(coding.codes(X), coding.cardinalities, structure="factorised")
    again = ExpectationExplainer(BOOSTED, X, distribution=own)
    fitted = ExpectationExplainer(BOOSTED, X, distribution="factorised")
    assert again.distribution == fitted.distribution
    found, anew = again.explain(ROW, 2), fitted.explain(ROW, 2)
    # Rows kept aside were among those that the one that is given was fitted to.
    assert found.held_out is not None
    assert anew.held_out is not None
    assert found.held_out > anew.held_out
    assert "rows of the table -" in found.summary()
    assert "rows kept aside -" in anew.summary()
    assert anew.held_out_gain == 0
    assert found.to_dict() | {"expectation": 0} == anew.to_dict() | {"expectation": 0}
    assert found.expected == anew.expected
    assert found.log_likelihood == anew.log_likelihood


def test_many_binary_columns_get_the_distribution_that_fits_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each column mostly shows what the one before it shows: a chain, which no mixture is."""
    rng = np.random.default_rng(0)
    table = np.cumsum(rng.random((150, 50)) < 0.1, axis=1) % 2
    labels = table[:, 0] | table[:, 9]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(table, labels)
    first = ExpectationExplainer(tree, table, seed=3)
    assert first.distribution.structure == "chow-liu"
    assert first.distribution == ExpectationExplainer(tree, table, seed=3).distribution
    likely = {trial.structure: trial.held_out for trial in first.trials}
    assert [*likely] == ["mixture", "chow-liu", "mixture of chow-liu trees"]
    assert first.held_out.mean == likely["chow-liu"] > likely["mixture"] + 5
    told = "distribution: chow-liu, by the mean log-likelihood of 30 rows kept aside: mixture of"
    assert any(remark.startswith(told) for remark in first.explain(table[0], 2).remarks)
    monkeypatch.setattr(mixture_choice, "_MOST_WORK", 0)
    costly = ExpectationExplainer(tree, table, seed=3)
    assert costly.distribution.structure == "mixture"
    assert costly.notes[0].endswith("4 Chow-Liu trees not tried, for its time")
    for fewer in (table[:49], table[:, :49]):
        tree.fit(fewer, fewer[:, 0])
        assert not ExpectationExplainer(tree, fewer).trials
