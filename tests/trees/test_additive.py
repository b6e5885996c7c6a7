"""Linear models and naive Bayes, read over the values of rows: held against predict, by force."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import DataError, InvalidOption, ModelError, UnsupportedModel
from cpx.models.sufficient_reason.judge_change import Change
from cpx.models.sufficient_reason.methods.separable import lightest_gain
from cpx.models.sufficient_reason.methods.smallest_change import contrastive
from cpx.trees import Attribute, read_additive, read_model

RNG = np.random.default_rng(0)
NAMES = ["a", "b", "c", "d"]
X = pd.DataFrame(RNG.integers(0, 3, (60, 4)), columns=NAMES).assign(d=2)
Y2 = (X.a + 2 * X.b - X.c + RNG.normal(size=60) > 1.5).map({True: "yes", False: "no"})
Y3 = np.digitize(X.a + X.b - X.c, [0.5, 1.5])
GRID = np.array(list(product([0, 1, 2], [0, 1, 2], [0, 1, 2], [2])), dtype=np.float64)


def weighted(weights: Any, start: Any, classes: Any) -> LogisticRegression:
    """Return a regression of these weights, so that there are ties and great differences."""
    model = LogisticRegression().fit(X, Y2 if len(classes) == 2 else Y3)
    model.coef_, model.intercept_ = np.array(weights, float), np.array(start, float)
    return model


MODELS: dict[str, Any] = {
    "logistic": LogisticRegression().fit(X, Y2),
    "multinomial": LogisticRegression().fit(X, Y3),
    "one against the rest": LinearSVC().fit(X, Y3),
    "ridge": RidgeClassifier().fit(X, Y2),
    "descent": SGDClassifier(loss="log_loss", random_state=0).fit(X, Y2),
    "perceptron": Perceptron().fit(X, Y3),
    "discriminant": LinearDiscriminantAnalysis().fit(X.iloc[:, :3].assign(d=X.a + X.b), Y3),
    "ties": weighted([[1, -1, 1, 5]], [-11], "ab"),
    "ties of three": weighted([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], [0, 0, 0], "abc"),
    "huge": weighted([[1e15, 1, -1e15, 1e-9]], [-0.5], "ab"),
    "gaussian": GaussianNB().fit(X.assign(d=X.a * X.b), Y3),
    "bernoulli": BernoulliNB(binarize=0.5).fit(X, Y3),
    "counts": MultinomialNB().fit(X, Y3),
    "complement": ComplementNB().fit(X, Y3),
    "categories": CategoricalNB(min_categories=3).fit(X, Y3),
    "scaled": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y3),
    "coded": make_pipeline(OneHotEncoder(), GridSearchCV(LinearSVC(), {"C": [1]})).fit(X, Y2),
    "bins": make_pipeline(KBinsDiscretizer(2), LogisticRegression()).fit(X, Y3),
}


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    for size in range(n + 1):
        yield from combinations(range(n), size)


@pytest.mark.parametrize("name", MODELS)
def test_by_force(name: str) -> None:
    model = MODELS[name]
    said = np.asarray(model.predict(pd.DataFrame(GRID, columns=NAMES)))
    trees = read_additive(model, rows=X)
    assert (trees.predict(GRID) == said).all()
    explainer = cpx.Explainer(model, X)
    for i in (0, 22, 26):
        own, same = said[i], GRID[i] == GRID
        fewest = next(S for S in subsets(4) if (said[same[:, [*S]].all(axis=1)] == own).all())
        found = explainer.reason(GRID[i])
        assert found.minimum
        assert found.verified
        assert len(found.features) == len(fewest)
        away = [int((~same[r]).sum()) for r in range(len(GRID)) if said[r] != own]
        if not away:
            with pytest.raises(cpx.Infeasible):
                explainer.contrast(GRID[i])
            continue
        change = explainer.contrast(GRID[i])
        assert change.minimum
        assert len(change.features) == min(away)
        row = pd.DataFrame([GRID[i]], columns=NAMES).assign(**change.values).astype(float)
        assert str(model.predict(row)[0]) == change.rule.conclusion.removeprefix("class ")


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(max_iter=500), GaussianNB(), LinearDiscriminantAnalysis()],
    ids=lambda model: type(model).__name__,
)
def test_numbers_between(model: Any) -> None:
    table, y = load_iris(return_X_y=True, as_frame=True)
    model.fit(table, y)
    low, high = table.min().to_numpy(), table.max().to_numpy()
    explainer = cpx.Explainer(model, table)
    for i in (0, 60, 70, 119):
        found = explainer.reason(i)
        rows = pd.DataFrame(RNG.uniform(low, high, (4000, 4)), columns=table.columns)
        # The other columns are anything, at the ends too; these within their conditions.
        rows = rows.mask(RNG.random(rows.shape) < 0.2, np.tile(low, (4000, 1))).mask(
            RNG.random(rows.shape) < 0.2, np.tile(high, (4000, 1))
        )
        for a in found.features:
            rows.iloc[: len(rows) // 2, a] = table.iloc[i, a]
        for condition in found.rule.conditions:
            said = condition.to_json()
            for sign, end in said.get("within", [[]])[0]:
                sides = rows[condition.column].to_numpy() * (1 if sign == ">=" else -1)
                rows = rows[sides >= end * (1 if sign == ">=" else -1)]
            if "value" in said:
                rows = rows[rows[condition.column] == said["value"]]
        assert len(rows) >= 2000
        assert (model.predict(rows) == model.predict(table.iloc[[i]])[0]).all()
        assert any("least to the greatest" in note for note in found.notes)


def test_a_parabola_that_turns_between_the_values() -> None:
    rows = np.array([[-3.0], [-2.5], [-0.1], [0.1], [2.5], [3.0]])
    model = GaussianNB().fit(rows, [0, 0, 1, 1, 0, 0])
    ends = np.array([[-3.0], [3.0]])
    assert model.predict([[0.0]]) == [1]
    # At the ends alone there is no other class.
    found = cpx.explain(model, ends, [3.0], kind="contrast")
    assert abs(found.values["x0"]) < 1
    assert len(cpx.explain(model, ends, [3.0], kind="reason").features) == 1


def test_a_mixed_table() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"rent": rng.normal(600, 90, 200).round(1), "city": rng.choice(["Lens", "Lille"], 200)}
    )
    table["rooms"] = rng.integers(1, 6, 200).astype(float)
    y = (table.rent + 90 * table.rooms + 150 * (table.city == "Lille") > 950).astype(int)
    table.loc[::9, "rooms"] = np.nan
    front = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["rent", "rooms"]),
    )
    model = make_pipeline(front, LogisticRegression()).fit(table, y)
    explainer = cpx.Explainer(model, table)
    for i in (0, 3, 9):
        found, change = explainer.reason(i), explainer.contrast(i)
        assert found.verified
        assert change.minimum
        row = table.iloc[[i]].assign(**change.values)
        assert model.predict(row)[0] != model.predict(table.iloc[[i]])[0]
    unknown = {"rent": 612.3, "city": "Paris", "rooms": None}
    assert any("does not know: city" in note for note in explainer.reason(unknown).notes)


def test_above_a_limit() -> None:
    model = LinearRegression().fit(X, X.a - X.b + 0.1)
    said = model.predict(pd.DataFrame(GRID, columns=NAMES))
    for limits in ({"above": 0.3}, {"below": -0.6}, {"between": (-0.5, 0.5)}):
        trees = read_model(model, rows=X, **limits)
        classes, same = trees.predict(GRID), GRID[23] == GRID
        forced = (S for S in subsets(4) if len({*classes[same[:, [*S]].all(axis=1)]}) == 1)
        found = cpx.explain(model, X, GRID[23], kind="reason", **limits)
        assert len(found.features) == len(next(forced))
        assert [float(trees.predicted(row) or 0) for row in GRID] == pytest.approx(said.tolist())


def test_ranges_and_plausible_changes() -> None:
    table, y = load_breast_cancer(return_X_y=True, as_frame=True)
    table, y = table.iloc[:90, :4], y[:90]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, y)
    explainer = cpx.Explainer(model, table)
    column = "mean perimeter"
    only = explainer.contrast(0, actionable=column, ranges={column: (None, 20.25)})
    assert only.values[column] <= 20.25
    near = explainer.contrast(0, plausible=0.05)
    assert {*near.values} <= {*table.columns}
    for name, value in near.values.items():
        assert value in table[name].to_numpy()


@pytest.mark.parametrize(
    ("error", "told", "ask"),
    [
        (InvalidOption, "give X", lambda: read_model(MODELS["ridge"])),
        (ModelError, "is not fitted", lambda: read_additive(GaussianNB(), rows=X)),
        (UnsupportedModel, "is no sum", lambda: read_additive(3, rows=X)),
        (DataError, "lacks 'd'", lambda: read_additive(MODELS["ridge"], rows=X[["a", "b", "c"]])),
        (DataError, "there are no rows", lambda: read_additive(MODELS["ridge"], rows=X[:0])),
        (DataError, "'a' is 7", lambda: read_additive(MODELS["categories"], rows=X.assign(a=7))),
        (InvalidOption, "above", lambda: read_model(LinearRegression().fit(X, X.a), rows=X)),
        (InvalidOption, "above is for", lambda: read_model(MODELS["ridge"], rows=X, above=1)),
        (
            UnsupportedModel,
            "VotingClassifier counts the votes of 1 models such as LogisticRegression",
            lambda: read_model(VotingClassifier([("a", LogisticRegression())]).fit(X, Y2), rows=X),
        ),
    ],
)
def test_what_is_refused(error: Any, told: str, ask: Any) -> None:
    with pytest.raises(error, match=told):
        ask()


def test_bounds_in_place_of_rows() -> None:
    given = [Attribute(name, lower=0, upper=2) for name in NAMES]
    trees = read_additive(MODELS["ridge"], attributes=given)
    assert trees.covering([0, 1, 1.5, 2]).attributes[2].values == (0.0, 1.5, 2.0)
    with pytest.raises(DataError, match="no value of the attribute"):
        cpx.SufficientReason(trees, [0, 0, 0, 3])


@pytest.mark.parametrize("seed", range(3))
def test_columns_of_greatest_gain(seed: int) -> None:
    """Changes of sums weigh as little as brute force says, ties and knapsacks among them."""
    rng = np.random.default_rng(seed)
    names = list("abcdefg")
    rows = pd.DataFrame([[0] * 7, [1] * 7], columns=names)
    grid = np.array(list(product([0, 1], repeat=7)), dtype=np.float64)
    for count in (1, 3):
        model = LogisticRegression().fit(pd.concat([rows] * 2), [0, 1, 0, 2 if count > 1 else 1])
        model.coef_ = rng.integers(-4, 5, (count, 7)).astype(float)
        model.intercept_ = rng.integers(-3, 4, count).astype(float)
        trees, said = (
            read_additive(model, rows=rows),
            model.predict(pd.DataFrame(grid, columns=names)),
        )
        x = grid[rng.integers(len(grid))]
        own = int(trees.predict_index(x)[0])
        for weights in ([1] * 7, rng.integers(1, 9, 7).tolist()):
            cost = dict(enumerate(weights))
            away = [
                (grid[r] != x) @ weights for r in range(len(grid)) if said[r] != trees.classes[own]
            ]
            rivals = [c for c in range(len(trees.classes)) if c != own]
            found = lightest_gain(trees, trees.cells(x), own, rivals, cost)
            assert (found and found[0]) == min(away, default=None)
            change = contrastive(trees, x, weights=cost)
            assert change.proved
            assert change.upper == min(away, default=None)


def test_a_judge_adds_up_what_columns_gain() -> None:
    rows = pd.DataFrame([[0] * 14, [1] * 14], columns=list("abcdefghijklmn"))
    model = LogisticRegression().fit(pd.concat([rows] * 2), [0, 1, 0, 1])
    model.coef_, model.intercept_ = np.ones((1, 14)), np.array([-6.5])
    found = cpx.explain(model, rows, rows.iloc[0], kind="contrast")
    assert len(found.features) == 7
    assert found.proved.endswith("checked: added up, smaller ones gain too little")
    trees = read_additive(model, rows=rows)
    x, row = [0.0] * 14, [1.0] * 7 + [0.0] * 7
    for weights, kept, bound in (([1] * 14, (), 7), ([2] * 7 + [3] * 7, (), 14)):
        change = Change(trees.to_dict(), x, row, [1], kept, weights, range(7))
        assert change.gains_too_little(bound)
        assert not change.gains_too_little(bound + 1)
    few = Change(trees.to_dict(), x, row, [1], range(8), [1] * 14, range(7))
    assert few.gains_too_little(99)
    forest = DecisionTreeClassifier(random_state=0).fit(X[["a", "b"]], (X.a == X.b).astype(int))
    of_two = Change(read_model(forest).to_dict(), [0.0, 0.0], [0.0, 1.0], [0], (), [1, 1], [1])
    assert not of_two.gains_too_little(1)
