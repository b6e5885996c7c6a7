"""Tree models behind transformers: read as trees of the table, and held against predict."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cpx
from cpx.data.classifiers import named_classifier
from cpx.errors import DataError, UnsupportedModel
from cpx.modelling.row import number_in, row_values, table_in
from cpx.trees import TreeModel, read_model

NUMBERS, WORDS, YEAR = ["age", "hours"], ["work"], ["year"]


def _table(n: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(17, 90, n).astype(float),
            "work": rng.choice(["Private", "State gov", "Self", "Never"], n),
            "year": rng.choice([70, 71, 74, 76], n),
            "hours": rng.normal(40, 10, n).round(1),
            "name": [f"n{i}" for i in range(n)],
        }
    )
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    X.loc[rng.random(n) < 0.1, "work"] = np.nan
    return X


X = _table()
Y = np.where(
    (X.age.fillna(38) > 40) & (X.work.isin(["Private", "Self"]) | (X.year == 74)), "yes", "no"
)
X0 = X.iloc[[0]]


def _onehot(**options: Any) -> Any:
    return OneHotEncoder(**{"handle_unknown": "ignore", **options})


def _ordinal() -> Any:
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


def _before(numbers: Any, words: Any = None, year: Any = "passthrough") -> Any:
    imputed = SimpleImputer(strategy="most_frequent")
    words = make_pipeline(imputed, _onehot()) if words is None else words
    return make_column_transformer((numbers, NUMBERS), (words, WORDS), (year, YEAR))


def _bins(encode: str) -> Any:
    bins = KBinsDiscretizer(5, encode=encode, quantile_method="averaged_inverted_cdf")
    return make_pipeline(SimpleImputer(), bins)


FRONTS: dict[str, Any] = {
    "standard": _before(make_pipeline(SimpleImputer(), StandardScaler())),
    "scale first": _before(make_pipeline(MinMaxScaler((-3, 7)), SimpleImputer())),
    "robust, marked": _before(make_pipeline(SimpleImputer(add_indicator=True), RobustScaler())),
    "missing passes": _before(MaxAbsScaler(), _ordinal(), _onehot()),
    "quantiles": _before(QuantileTransformer(n_quantiles=20)),
    "normal quantiles": _before(
        QuantileTransformer(n_quantiles=20, output_distribution="normal"), TargetEncoder()
    ),
    "power": _before(make_pipeline(SimpleImputer(strategy="constant"), PowerTransformer())),
    "bins": _before(_bins("onehot")),
    "ordinal bins": _before(make_pipeline(_bins("ordinal"), OneHotEncoder(drop="first"))),
    "logarithm": _before(FunctionTransformer(np.arctan), _onehot(drop="if_binary")),
    "turned": _before(FunctionTransformer(np.negative), _onehot(min_frequency=30)),
    "inverse": _before(
        FunctionTransformer(lambda v: v**3, lambda v: np.cbrt(v)), _onehot(), _ordinal()
    ),
    "both": make_column_transformer(
        (SimpleImputer(), NUMBERS),
        (Binarizer(threshold=40), ["hours"]),
        (_onehot(), YEAR),
        (StandardScaler(), YEAR),
    ),
    "nested": make_pipeline(
        FeatureUnion(
            [
                ("left", ColumnTransformer([("n", "passthrough", NUMBERS), ("d", "drop", YEAR)])),
                (
                    "right",
                    make_column_transformer((_onehot(sparse_output=False), [*WORDS, *YEAR])),
                ),
            ],
            transformer_weights={"left": 0.1},
        ),
        "passthrough",
        VarianceThreshold(0.001),
    ),
}


def _pipe(front: Any, model: Any = None) -> Any:
    # Each cut is asked for through the transformers: with sixteen leaves all columns have some.
    if model is None:
        model = DecisionTreeClassifier(max_leaf_nodes=16, random_state=0)
    return make_pipeline(front, model).fit(X, Y)


def _odd(model: TreeModel, n: int = 300) -> pd.DataFrame:
    """Return rows of the table with values at cuts and next to them, unknown and missing ones."""
    rng = np.random.default_rng(1)
    rows = X.iloc[rng.integers(len(X), size=n)].reset_index(drop=True)
    for a, name in enumerate(X.columns):
        cuts = model.thresholds[a]
        if name in NUMBERS:
            at = rng.choice(np.append(cuts, -0.0), n)
            at = np.choose(rng.integers(3, size=n), [at, np.nextafter(at, 99), at * (1 - 1e-7)])
            rows[name] = np.where(rng.random(n) < 0.5, at, rows[name])
            rows.loc[rng.random(n) < 0.02, name] = 1e12
            rows.loc[rng.random(n) < 0.02, name] = -7.5
    for name, odd in (("work", ["Nowhere", " Private", "Private ", ""]), ("name", ["?"])):
        rows[name] = rows[name].astype(object)
        at = rng.random(n) < 0.2
        rows.loc[at, name] = rng.choice(odd, at.sum())
    return rows


def _taken(pipe: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a pipeline takes: not all take what they have not seen."""
    try:
        pipe.predict(rows)
    except ValueError:
        known = rows.work.isin(X.work.dropna()) | rows.work.isna()
        return rows[known]
    return rows


@pytest.mark.parametrize("name", FRONTS)
def test_predictions(name: str) -> None:
    pipe = _pipe(FRONTS[name])
    model = read_model(pipe)
    rows = _taken(pipe, _odd(model))
    assert len(rows) > 200
    numbers, _ = table_in(model, rows, "rows")
    theirs = pipe.predict(rows)
    assert model.predict(numbers).tolist() == theirs.tolist()
    assert len({*theirs}) == 2
    assert [a.name for a in model.attributes] == [*X.columns]


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(8, random_state=0),
        HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5),
    ],
)
def test_predictions_of_ensembles(classifier: Any) -> None:
    front = make_column_transformer(
        (StandardScaler(), NUMBERS), (_onehot(sparse_output=False), [*WORDS, *YEAR])
    )
    pipe = _pipe(front, classifier)
    model = read_model(pipe)
    rows = _odd(model)
    assert model.predict(table_in(model, rows, "rows")[0]).tolist() == pipe.predict(rows).tolist()


def test_what_sparse_rows_leave_out_is_missing_to_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    front = make_column_transformer((SimpleImputer(), NUMBERS), (_onehot(), [*WORDS, *YEAR]))
    front.set_params(sparse_threshold=1.0)
    pipe = make_pipeline(front, xgboost.XGBClassifier(n_estimators=5)).fit(X, Y == "yes")
    model = read_model(pipe)
    rows = _odd(model)
    theirs = pipe.predict(rows).tolist()
    assert model.predict(table_in(model, rows, "rows")[0]).tolist() == theirs


def test_explanations_are_in_the_words_of_the_table() -> None:
    pipe = _pipe(FRONTS["standard"])
    reason = cpx.explain(pipe, None, X.iloc[1], kind="reason")
    assert reason.verified
    assert all(any(name in text for name in X.columns) for text in reason.rule.words)
    assert "checked: Pipeline.predict agrees on x and on 200 rows" in str(reason.notes)
    contrast = cpx.explain(pipe, None, X.iloc[1], kind="contrast")
    assert "(now " in str(contrast)
    expected = cpx.explain(pipe, X, X.iloc[1], kind="expectation", k=2)
    assert expected.result is not None
    assert expected.result.verified


def test_a_reason_of_categories() -> None:
    tree = DecisionTreeClassifier(max_depth=1)
    front = make_column_transformer((OneHotEncoder(), WORDS))
    rows = pd.DataFrame({"work": ["a", "b", "c", "b"], "rest": [1, 2, 3, 4]})
    pipe = make_pipeline(front, tree).fit(rows, [0, 1, 0, 1])
    for x, said in (
        ("b", "work = b forces class 1"),
        ("c", "work is one of 2 (a, c) forces class 0"),
    ):
        reason = cpx.explain(pipe, None, {"work": x, "rest": "any"}, kind="reason")
        assert str(reason).startswith(said)
        assert reason.verified
    change = cpx.explain(pipe, None, {"work": "b", "rest": 1}, kind="contrast")
    assert str(change) == "work is one of 2 (a, c) (now b) gives class 0 in place of class 1"


def test_numbers_are_printed_shortly_and_compared_exactly() -> None:
    rows = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.4, 0.6]})
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(rows, [0, 0, 1, 1, 1])
    model = read_model(pipe)
    (cut,) = model.thresholds[0].tolist()
    assert str(model.condition(0, 0)).split()[-1] == "0.25"
    assert cut != 0.25
    at = [[cut], [np.nextafter(cut, 1)], [0.25]]
    assert model.predict(at).tolist() == pipe.predict(pd.DataFrame(at, columns=["a"])).tolist()
    assert TreeModel.from_dict(json.loads(json.dumps(model.to_dict()))) == model


def test_a_category_that_the_model_does_not_know() -> None:
    pipe = _pipe(FRONTS["missing passes"])
    x = X.iloc[1].to_dict() | {"work": "Nowhere"}
    reason = cpx.explain(pipe, None, x, kind="reason", required=["work"])
    assert "work = another category" in str(reason) or "work is one of" in str(reason)
    assert "categories of x that the model does not know: work" in reason.notes
    strict = _pipe(
        _before(
            SimpleImputer(),
            make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
        )
    )
    with pytest.raises(
        DataError, match=r"'work' is 'Privat', none of its 4 categories.*did you mean 'Private'"
    ):
        cpx.explain(strict, None, x | {"work": "Privat"}, kind="reason")


def test_none_is_read_as_the_transformers_do() -> None:
    """Encoders tell None from NaN, imputers of NaN leave it as it is."""
    model = read_model(_pipe(FRONTS["standard"]))
    assert number_in(model, 1, None, "x") == 4  # another category: no imputer fills it in
    assert np.isnan(number_in(model, 1, float("nan"), "x"))


@pytest.mark.parametrize("gone", [-1, 0, 40])
@pytest.mark.parametrize("after", [StandardScaler(), KBinsDiscretizer(4, encode="ordinal")])
def test_numbers_that_count_as_missing(gone: int, after: Any) -> None:
    """-1 or 0 for a missing value is one number among others, and goes where the mean goes."""
    table = X[["hours"]].round(0)
    table.loc[::5, "hours"] = gone
    front = make_pipeline(SimpleImputer(missing_values=gone, add_indicator=True), after)
    pipe = make_pipeline(front, DecisionTreeClassifier(max_depth=4, random_state=0))
    pipe.fit(table, np.arange(len(table)) % 5 == 0)
    model = read_model(pipe)
    near = np.nextafter(float(gone), [-np.inf, np.inf])
    asked = pd.DataFrame({"hours": [*np.arange(-50.0, 90.0, 0.5), *near, -1e9, 1e9]})
    assert model.predict(asked.to_numpy()).tolist() == pipe.predict(asked).tolist()
    found = cpx.Explainer(pipe, table).reason(0)
    assert found.verified
    assert str(found).startswith(f"hours = {gone} ")


def test_a_pipeline_of_an_array() -> None:
    rows = X[["age", "work"]].to_numpy(dtype=object)
    front = make_column_transformer((SimpleImputer(), [0]), (_onehot(), [1]))
    pipe = make_pipeline(front, DecisionTreeClassifier(random_state=0)).fit(rows, Y)
    model = read_model(pipe, attributes=["age", "work"])
    numbers, _ = table_in(model, X[["age", "work"]], "rows")
    assert model.predict(numbers).tolist() == pipe.predict(rows).tolist()
    assert cpx.explain(pipe, rows, rows[0], kind="reason").verified


def test_own_classifiers() -> None:
    """Those that the command trains have a text of their own for what is missing."""
    rows = X.drop(columns="name")
    pipe = named_classifier("tree").fit(rows, Y)
    model = read_model(pipe)
    assert {*(model.attributes[1].labels or ())} == {"Never", "Private", "Self", "State gov"}
    numbers, _ = table_in(model, rows, "rows")
    assert model.predict(numbers).tolist() == pipe.predict(rows).tolist()
    absent = row_values(model, rows.iloc[0].to_dict() | {"work": "(missing)"})[1]
    assert np.isnan(absent)


def test_a_pipeline_that_predicts_numbers() -> None:
    pipe = make_pipeline(FRONTS["standard"], DecisionTreeRegressor(max_depth=3))
    pipe.fit(X, X.hours * 2 + X.age.fillna(0))
    reason = cpx.explain(pipe, None, X.iloc[0], kind="reason", above=100)
    assert reason.verified


@pytest.mark.parametrize(
    ("front", "told"),
    [
        (make_pipeline(SimpleImputer(), PCA(1)), "PCA is no transformer that cpx follows"),
        (make_pipeline(SimpleImputer(), Normalizer()), "Normalizer is no transformer"),
        (KNNImputer(), "KNNImputer is no transformer"),
        (FunctionTransformer(np.nan_to_num), r"FunctionTransformer\(nan_to_num\) can be any"),
        (
            make_pipeline(StandardScaler(), SimpleImputer(missing_values=40.0)),
            r"SimpleImputer\(missing_values=40.0\) fills in what is no number of the table",
        ),
        (
            make_pipeline(SimpleImputer(), StandardScaler(), _onehot()),
            "OneHotEncoder behind StandardScaler tells numbers apart",
        ),
        (
            make_pipeline(SimpleImputer(), FunctionTransformer(np.sin, np.arcsin)),
            "goes up and down",
        ),
    ],
)
def test_what_is_not_read(front: Any, told: str) -> None:
    front = make_column_transformer((front, ["hours"]))
    if "KNN" in told or "40" in told:
        pipe = make_pipeline(front, HistGradientBoostingClassifier(max_iter=2))
    else:
        pipe = make_pipeline(front, DecisionTreeClassifier(random_state=0))
    with pytest.raises(UnsupportedModel, match=told):
        read_model(pipe.fit(X, Y))


def test_a_pipeline_that_is_not_fitted() -> None:
    pipe = Pipeline([("scale", StandardScaler()), ("tree", DecisionTreeClassifier())])
    with pytest.raises(cpx.errors.ModelError, match="not fitted"):
        read_model(pipe)
