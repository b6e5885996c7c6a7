"""Explanations of trees are held against the predict of the live model they were read from."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import ClassifierError, DataError, InvalidOption, UnsupportedModel
from cpx.models.sufficient_reason.methods import (
    contrastive,
    enumerate_reasons,
)
from cpx.trees import Attribute, read_additive, read_model
from cpx.trees.hold import ROWS, hold, values
from cpx.trees.library_agreement import near_ties

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :6]


class Cautious(RandomForestClassifier):
    """A threshold of its own, the usual recipe before there was a class for it."""

    def predict(self, X: Any) -> Any:
        return (self.predict_proba(X)[:, 1] > 0.8).astype(int)


CAUTIOUS = Cautious(20, random_state=0).fit(X, Y)
P = CAUTIOUS.predict_proba(X)[:, 1]
OTHERWISE = X.iloc[int(np.flatnonzero((P > 0.55) & (P < 0.75))[0])]
"""A row of which the threshold says another class than the trees."""
ALIKE = X.iloc[int(np.argmin(P))]
"""A row of which both say the same."""


DOORS: dict[str, Callable[[Any, pd.Series[Any]], object]] = {
    "explain": lambda model, x: cpx.explain(model, None, x, kind="reason"),
    "problem": lambda model, x: cpx.SufficientReason(read_model(model), x),
    "conditions": lambda model, x: cpx.SufficientReason(read_model(model), x, "conditions"),
    "expectation": lambda model, x: cpx.explain(model, X, x, kind="expectation", k=1),
    "contrast": lambda model, x: contrastive(read_model(model), x.to_numpy()),
    "reasons": lambda model, x: enumerate_reasons(read_model(model), x.to_numpy(), 1),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("row", [OTHERWISE, ALIKE], ids=["x differs", "rows near x differ"])
def test_a_predict_of_its_own_is_refused(door: str, row: pd.Series[Any]) -> None:
    with pytest.raises(UnsupportedModel, match=r"Cautious.predict gives .* kind='rule' explains"):
        DOORS[door](CAUTIOUS, row)


def _forest() -> Any:
    return RandomForestClassifier(8, max_depth=4, random_state=0).fit(X, Y)


def _monkeypatched() -> Any:
    forest = _forest()
    forest.predict = lambda rows: np.ones(len(rows), dtype=int)
    return forest


def _other_labels() -> Any:
    forest = _forest()
    own = forest.predict
    forest.predict = lambda rows: np.array(["benign", "malign"])[own(rows)]
    return forest


def _probabilities_of_its_own() -> Any:
    forest = _forest()
    own, classes = forest.predict_proba, forest.predict
    forest.predict, forest.predict_proba = classes, lambda rows: 0.9 * own(rows) + 0.05
    return forest


def _changed_tree() -> Any:
    """A forest that predicts by another tree than it shows where a column is large."""
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    own = tree.predict
    large = float(X.iloc[:, 3].median())
    tree.predict = lambda rows: np.where(np.asarray(rows)[:, 3] > large, 1 - own(rows), own(rows))
    return tree


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (_monkeypatched, "predict gives .* the class 1, its trees give it 0"),
        (
            _other_labels,
            r"gives x the class 'benign', .* give classes=\[...\] in their order: 0, 1",
        ),
        (_probabilities_of_its_own, r"predict_proba gives x the probability .* its trees"),
        (_changed_tree, "differ on"),
    ],
)
def test_other_ways_to_differ(made: Callable[[], Any], told: str) -> None:
    with pytest.raises(UnsupportedModel, match=told):
        cpx.explain(made(), None, ALIKE, kind="reason")


def test_labels_of_a_predict_of_its_own() -> None:
    found = cpx.explain(_other_labels(), None, ALIKE, kind="reason", classes=["benign", "malign"])
    assert "force benign" in str(found)
    with pytest.raises(UnsupportedModel, match="predict gives x the class 'benign'"):
        cpx.explain(_other_labels(), None, ALIKE, kind="reason", classes=["malign", "benign"])


def test_ties_that_rounding_decides_are_told() -> None:
    forest = RandomForestClassifier(2, max_depth=None, random_state=0).fit(X, Y)
    model, own = read_model(forest), forest.predict
    forest.predict = lambda rows: np.where(near_ties(model, rows), 1, own(rows))
    found = cpx.explain(forest, None, ALIKE, kind="reason")
    note = next(note for note in found.notes if "predict agrees" in note)
    match = re.search(r"on (\d+) of 200 rows changed from it; rounding decides the others", note)
    assert match is not None
    assert int(match[1]) < 200
    tied = X[near_ties(model, X.to_numpy()) & (own(X) == 0)].iloc[0]
    with pytest.raises(UnsupportedModel, match=r"gives x the class 1, .* so close that rounding"):
        cpx.explain(forest, None, tied, kind="reason")


def test_a_predict_that_fails_is_told() -> None:
    forest = _forest()

    def broken(rows: Any) -> Any:
        raise RuntimeError("no network")

    forest.predict = broken
    with pytest.raises(ClassifierError, match="RandomForestClassifier raised RuntimeError: no n"):
        cpx.explain(forest, None, ALIKE, kind="reason")
    forest = _forest()
    forest.predict_proba = broken
    forest.predict = lambda rows: np.zeros(len(rows), dtype=int)
    with pytest.raises((ClassifierError, UnsupportedModel)):
        cpx.explain(forest, None, ALIKE, kind="reason")


def test_a_reason_that_fails_only_where_it_is_kept() -> None:
    """The predict differs on completions of the reason alone, which are asked when it is known."""
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    reason = cpx.explain(tree, None, ALIKE, kind="reason")
    kept = [X.columns.get_loc(X.columns[a]) for a in reason.features]
    own, x = tree.predict, ALIKE.to_numpy()
    asked: list[int] = []

    def predict(rows: Any) -> Any:
        said, table = own(rows), np.asarray(rows)
        asked.append(len(table))
        completes = (table[:, kept] == x[kept]).all(axis=1) & (table != x).any(axis=1)
        return np.where(completes & (len(asked) > 1), 1 - said, said)

    tree.predict = predict
    with pytest.raises(UnsupportedModel, match="predict gives x with"):
        cpx.explain(tree, None, ALIKE, kind="reason")
    assert asked == [ROWS + 1, ROWS + 1]


def test_a_contrast_that_does_not_flip() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    model, x = read_model(tree), ALIKE.to_numpy()
    found = contrastive(model, x)
    assert found.attributes is not None
    own = tree.predict
    # Only the row of the contrast is asked about with one other row.
    tree.predict = lambda rows: own(rows) if len(rows) > 2 else np.full(len(rows), own(rows)[0])
    with pytest.raises(UnsupportedModel, match="predict gives x with"):
        contrastive(read_model(tree), x)


def test_agreement_is_told_and_so_is_a_file(tmp_path: Any) -> None:
    forest = _forest()
    found = cpx.explain(forest, None, ALIKE, kind="reason")
    assert any("RandomForestClassifier.predict agrees on x" in note for note in found.notes)
    votes = cpx.explain(forest, None, ALIKE, kind="reason", rule="vote")
    assert any("not held against predict: the trees (sklearn" in note for note in votes.notes)
    saved = cpx.trees.TreeModel.from_dict(read_model(forest).to_dict())
    found = cpx.explain(saved, None, ALIKE, kind="reason")
    assert any("came without their live model" in note for note in found.notes)
    assert saved == read_model(forest)
    assert copy.deepcopy(read_model(forest)).live is None


def test_in_a_worker_too() -> None:
    with pytest.raises(UnsupportedModel):
        cpx.explain(CAUTIOUS, None, ALIKE, kind="reason", isolate=True)
    found = cpx.explain(_forest(), None, ALIKE, kind="reason", isolate=True)
    assert found.verified


def test_a_regression_of_its_own_predict() -> None:
    class Shifted(LogisticRegression):
        def predict(self, X: Any) -> Any:
            return (self.predict_proba(X)[:, 1] > 0.9).astype(int)

    few = X.gt(X.median()).astype(float)
    with pytest.raises(UnsupportedModel, match=r"Shifted.predict gives a row of the background"):
        cpx.explain(Shifted().fit(few, Y), few, few.iloc[0], kind="expectation", k=1)
    trees = read_additive(Shifted().fit(few, Y), rows=few)
    with pytest.raises(UnsupportedModel, match=r"Shifted.predict gives"):
        cpx.SufficientReason(trees, few.iloc[0])


# ---------------------------------------------- what is right is not refused


MODELS = [
    DecisionTreeClassifier(max_depth=4, class_weight="balanced", random_state=0),
    RandomForestClassifier(9, class_weight="balanced_subsample", random_state=0),
    ExtraTreesClassifier(9, bootstrap=True, random_state=0),
    GradientBoostingClassifier(n_estimators=9, random_state=0),
    GradientBoostingClassifier(n_estimators=9, init="zero", random_state=0),
    HistGradientBoostingClassifier(max_iter=9, class_weight="balanced", random_state=0),
]


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_scikit_learn_agrees_with_its_trees(number: int) -> None:
    iris = load_iris(return_X_y=True, as_frame=True)
    for table, y in ((X, Y), (X.to_numpy(), np.array(["no", "yes"])[Y]), iris):
        model = read_model(MODELS[number].fit(table, y))
        rows = np.asarray(table)[:: len(table) // 2]
        for row in rows:
            hold(model, row)
        missing = [a.name for a in model.attributes]
        if not model.refuses_missing(0):
            model = model.with_attributes([Attribute(name, missing=True) for name in missing])
            hold(model, np.where(np.arange(rows.shape[1]) == 0, np.nan, rows[0]))


def test_exponential_loss() -> None:
    fitted = GradientBoostingClassifier(loss="exponential", n_estimators=9).fit(X, Y)
    hold(read_model(fitted), ALIKE.to_numpy())


def test_values_reach_each_possible_cell() -> None:
    model = read_model(_forest())
    kinds = [
        *(Attribute("a", "integer"), Attribute("b", "boolean"), Attribute("c", lower=0.1)),
        *(Attribute("d", values=(1.0, 500.0)), Attribute("e", missing=False), Attribute("f")),
    ]
    model = model.with_attributes(kinds)
    for a, pool in enumerate(values(model)):
        rows = np.tile(ALIKE.to_numpy(), (len(pool), 1))
        rows[:, a] = pool
        assert set(model.cells(rows)[:, a]) == set(np.flatnonzero(model.possible[a])), a


# ------------------------------------------------------- XGBoost, LightGBM


def _wide() -> tuple[Any, Any]:
    """Rows of 0/1 columns, mostly zeros, and a class that the third column decides."""
    rng = np.random.default_rng(0)
    table = (rng.random((400, 5)) < 0.3).astype(float)
    return table, (table[:, 2] + (rng.random(400) < 0.1)).clip(0, 1).astype(int)


def test_sparse_rows_of_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    table, y = _wide()
    sparse = csr_matrix(table)
    model = xgboost.XGBClassifier(n_estimators=5, n_jobs=1).fit(sparse, y)
    i = int(np.flatnonzero(model.predict(sparse) != model.predict(table))[0])
    found = cpx.explain(model, None, sparse[[i]], kind="reason")
    assert f"class {model.predict(sparse)[i]}" in str(found)
    with pytest.raises(DataError, match=r"' is 0, .* Give the row as the model gets it: sparse"):
        cpx.explain(model, None, table[i], kind="reason")
    with pytest.raises(DataError, match="one row, got a table of 400"):
        cpx.explain(model, None, sparse, kind="reason")
    dense = xgboost.XGBClassifier(n_estimators=5, n_jobs=1).fit(table, y)
    found = cpx.explain(dense, None, table[i], kind="reason")
    assert f"class {dense.predict(table[[i]])[0]}" in str(found)


def test_sparse_rows_of_scikit_learn_have_zeros() -> None:
    table, y = _wide()
    forest = RandomForestClassifier(5, random_state=0).fit(csr_matrix(table), y)
    sparse, dense = (
        cpx.explain(forest, None, row, kind="reason") for row in (csr_matrix(table)[[7]], table[7])
    )
    assert str(sparse) == str(dense)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"missing": None},
        {"base_score": 0.2},
        {"num_parallel_tree": 2, "subsample": 0.5},
        {"objective": "multi:softmax", "num_class": 2},
        {"class": "rounds"},
    ],
)
def test_xgboost_agrees_with_its_trees(options: dict[str, Any]) -> None:
    xgboost = pytest.importorskip("xgboost")
    rounds = 3 if options.pop("class", "") else None
    fitted = xgboost.XGBClassifier(n_estimators=6, n_jobs=1, **options).fit(X, Y)
    for model in (fitted, fitted.get_booster()):
        trees = read_model(model, rounds=rounds)
        assert trees.live is not None
        for row in X.to_numpy()[::190]:
            hold(trees, row)


def test_xgboost_early_stopping_and_rounds() -> None:
    xgboost = pytest.importorskip("xgboost")
    stopping = {"early_stopping_rounds": 3, "learning_rate": 0.9, "n_estimators": 60}
    fitted = xgboost.XGBClassifier(n_jobs=1, **stopping)
    fitted.fit(X[::2], Y[::2], eval_set=[(X[1::2], Y[1::2])], verbose=False)
    for rounds in (None, "best", "all", 2):
        for model in (fitted, fitted.get_booster()):
            hold(read_model(model, rounds=rounds), ALIKE.to_numpy())


def test_another_missing_value_of_xgboost_and_the_advice() -> None:
    xgboost = pytest.importorskip("xgboost")
    coded = X.to_numpy().copy()
    coded[::3, 0] = -9
    fitted = xgboost.XGBClassifier(n_estimators=5, n_jobs=1, missing=-9).fit(coded, Y)
    with pytest.raises(UnsupportedModel, match=r"set_params\(missing=float\('nan'\)\)"):
        read_model(fitted)
    said = fitted.predict_proba(coded)
    fitted.set_params(missing=float("nan"))
    empty = np.where(coded == -9, np.nan, coded)
    assert (fitted.predict_proba(empty) == said).all()
    assert read_model(fitted).predict(empty).tolist() == said.argmax(axis=1).tolist()


def test_xgboost_trees_of_several_outputs() -> None:
    xgboost = pytest.importorskip("xgboost")
    iris, y = load_iris(return_X_y=True)
    fitted = xgboost.XGBClassifier(
        n_estimators=4, multi_strategy="multi_output_tree", n_jobs=1, max_depth=3
    ).fit(iris, y)
    model = read_model(fitted)
    assert len(model.trees) == 4
    for row in iris[::30]:
        hold(model, row)
    assert model.predict(iris).tolist() == fitted.predict(iris).tolist()
    found = cpx.explain(fitted, None, iris[60], kind="reason")
    assert found.verified


@pytest.mark.parametrize("kind", ["gbdt", "rf", "dart"])
@pytest.mark.parametrize("objective", ["binary", "multiclass", "multiclassova"])
def test_lightgbm_agrees_with_its_trees(kind: str, objective: str) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    table, y = (X, Y) if objective == "binary" else load_iris(return_X_y=True, as_frame=True)
    more = {} if objective == "multiclass" else {"sigmoid": 2.0}
    fitted = lightgbm.LGBMClassifier(
        n_estimators=5, boosting_type=kind, objective=objective, bagging_freq=1, n_jobs=1,
        bagging_fraction=0.7, verbose=-1, **more,
    ).fit(table, y)  # fmt: skip
    for model in (fitted, fitted.booster_):
        for row in table.to_numpy()[:: len(table) // 3]:
            hold(read_model(model), row)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_a_column_of_categories_that_no_tree_tests(library: str) -> None:
    package = pytest.importorskip(library)
    table = X.iloc[:, :2].assign(kind=pd.Categorical(["u"] * (len(X) - 1) + ["v"]))
    if library == "xgboost":
        fitted = package.XGBClassifier(n_estimators=4, enable_categorical=True, n_jobs=1)
    else:
        fitted = package.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1)
    trees = read_model(fitted.fit(table, Y))
    hold(trees, [20.0, 20.0, 0.0])
    assert trees.live is not None
    assert list(trees.live.held.values()) == [0]


def test_a_lightgbm_predict_of_its_own() -> None:
    lightgbm = pytest.importorskip("lightgbm")

    class Loud(lightgbm.LGBMClassifier):
        def predict(self, X: Any, **options: Any) -> Any:
            return (self.predict_proba(X)[:, 1] > 0.7).astype(int)

    fitted = Loud(n_estimators=5, verbose=-1, n_jobs=1).fit(X, Y)
    with pytest.raises(UnsupportedModel, match=r"Loud.predict gives"):
        cpx.explain(fitted, None, ALIKE, kind="reason")


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_one_of_several_outputs(kind: Any) -> None:
    sizes = np.digitize(X.iloc[:, 3], [500, 1000])
    both = np.column_stack([Y, sizes + 5])
    options = {} if kind is DecisionTreeClassifier else {"n_estimators": 5}
    for table in (X, X.to_numpy()):
        fitted = kind(max_depth=4, random_state=0, **options).fit(table, both)
        with pytest.raises(UnsupportedModel, match="2 outputs, one is read: say output=0 to 1"):
            read_model(fitted)
        said = fitted.predict(table)
        for output, rule in ((0, None), (1, None), (1, "vote")):
            model = read_model(fitted, output=output, rule=rule)
            if rule is None:
                assert model.predict(np.asarray(X)).tolist() == said[:, output].tolist()
            hold(model, ALIKE.to_numpy())
        found = cpx.explain(fitted, None, ALIKE, kind="reason", output=1)
        assert f"class {said[X.index.get_loc(ALIKE.name), 1]}" in str(found)
        with pytest.raises(InvalidOption, match="output must be 0 to 1, got 2"):
            read_model(fitted, output=2)
    assert read_model(_forest(), output=0) == read_model(_forest())


def test_a_regressor_of_neighbours_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match=r"HistGradientBoostingClassifier, and the regress"):
        read_model(KNeighborsRegressor().fit(X, Y))


class _KnowsBetter(RandomForestClassifier):
    def predict(self, X: Any) -> Any:
        said = super().predict(X)
        return np.where(np.asarray(X)[:, 0] > 7, 1 - said, said)


def test_a_model_that_knows_better_beyond_all_thresholds_is_refused() -> None:
    X = np.random.default_rng(0).integers(0, 5, (60, 3)).astype(float)
    forest = _KnowsBetter(5, max_depth=3, random_state=0).fit(X, (X[:, 0] > 2).astype(int))
    assert max(read_model(forest).thresholds[0]) + 1 < 7 - 1
    with pytest.raises(UnsupportedModel, match=r"KnowsBetter\.predict gives x with"):
        cpx.explain(forest, None, X[0], kind="reason")
