"""What stopped people with tables: infinite values, bins in pairs, files that are not there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import DataError, UnknownName

X, Y = load_iris(return_X_y=True, as_frame=True)


def test_an_infinite_value_of_the_table_is_named() -> None:
    table = X.copy()
    table.iloc[3, 0] = np.inf
    for model in (DecisionTreeClassifier(max_depth=2), make_pipeline(DecisionTreeClassifier())):
        with pytest.raises(DataError, match=r"'sepal length \(cm\)' has an infinite value"):
            cpx.Explainer(model.fit(X, Y), table).reason(0)


def test_a_bin_and_its_counterpart_are_one_condition() -> None:
    bins = KBinsDiscretizer(2, encode="onehot", quantile_method="averaged_inverted_cdf")
    forest = RandomForestClassifier(8, max_depth=3, random_state=0)
    model = make_pipeline(bins, forest).fit(X, Y)
    explainer = cpx.Explainer(model, X)
    problem = explainer.problem(70, kind="reason", level="conditions")
    assert len({*problem.feature_names}) == len(problem.feature_names) == 4
    trees = problem.tree_model
    assert (trees.predict(X.to_numpy()) == model.predict(X)).all()


def test_two_categories_and_a_missing_one_go_where_they_went() -> None:
    table = X[["petal width (cm)"]].assign(kind=np.where(X.iloc[:, 0] > 5.8, "a", "b"))
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, DecisionTreeClassifier(random_state=0)).fit(table[["kind"]], Y)
    trees = cpx.Explainer(model, table[["kind"]]).problem(0, kind="reason").tree_model
    assert trees.predict([[0.0], [1.0]]).tolist() == model.predict([["a"], ["b"]]).tolist()


def test_a_distribution_that_is_no_file_is_told() -> None:
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y)
    with pytest.raises(DataError, match=r"there is no file 'fitted/none\.json'"):
        cpx.Explainer(forest, X, distribution="fitted/none.json").expectation(0)
    with pytest.raises(UnknownName, match="did you mean 'mixture'"):
        cpx.Explainer(forest, X, distribution="mixtur").expectation(0)


def test_columns_that_contrasts_name_are_counted() -> None:
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    found = cpx.Explainer(model, X).contrasts(X.iloc[:3])
    assert found.overview().columns == {"petal width (cm)": 3}
