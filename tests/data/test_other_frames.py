"""Frames, rows and cells of Polars and PyArrow, and pandas' own missing values."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.data import Binarizer
from cpx.data.other_frames import as_pandas
from cpx.errors import DataError
from cpx.models.monomial.explainers.rule import RuleExplainer

RNG = np.random.default_rng(0)
PLAIN = pd.DataFrame({"a": RNG.normal(size=200), "b": RNG.normal(size=200)})
PLAIN.loc[::5, "b"] = np.nan
Y = (PLAIN["a"] > 0).astype(int)


def frames(table):
    """Return a table as each library has it, of those that are installed."""
    found = {}
    columns = {name: [None if v != v else v for v in table[name].tolist()] for name in table}
    try:
        import polars as pl
    except ImportError:
        pass
    else:
        found["polars"] = pl.DataFrame(columns)
    try:
        import pyarrow as pa
    except ImportError:
        pass
    else:
        found["pyarrow"] = pa.table(columns)
        found["batch"] = pa.table(columns).to_batches()[0]
        found["pandas of pyarrow"] = table.convert_dtypes(dtype_backend="pyarrow")
    return found


FRAMES = frames(PLAIN) | {"nullable": PLAIN.convert_dtypes()}


def rows(frame):
    """Return the first row of a frame in all forms that its library has."""
    if isinstance(frame, pd.DataFrame):
        return [frame.iloc[0], frame.iloc[[0]], frame.iloc[0].to_dict(), frame.iloc[0].tolist()]
    if hasattr(frame, "row"):
        return [frame[0], frame.row(0, named=True), frame.row(0)]
    cells = {name: frame.column(name)[0] for name in frame.schema.names}
    return [frame.slice(0, 1), frame.to_pylist()[0], cells, list(cells.values())]


@pytest.mark.parametrize("name", list(FRAMES))
def test_every_door_answers_as_for_pandas(name):
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(PLAIN, Y)
    X, x, frame = PLAIN, PLAIN.iloc[0], FRAMES[name]
    reason = str(cpx.explain(model, None, x, kind="reason"))
    expected = str(cpx.explain(model, X, x, kind="expectation", k=1))
    rule = str(cpx.explain(model, X, x, k=2))
    for row in rows(frame):
        assert str(cpx.explain(model, frame, row, k=2)) == rule
        assert str(cpx.explain(model, frame, row, kind="expectation", k=1)) == expected
        if not isinstance(row, list | tuple):  # these have no names
            assert str(cpx.explain(model, None, row, kind="reason")) == reason
    answers = [str(found) for found in cpx.Explainer(model, X).rules(X[:3], k=1)]
    other = frame[:3] if isinstance(frame, pd.DataFrame) else frame.slice(0, 3)
    assert [str(one) for one in cpx.Explainer(model, frame).rules(other, k=1)] == answers


@pytest.mark.parametrize("name", list(FRAMES))
def test_rule_sets_take_every_frame(name):
    options = {"penalty": 0.05, "time_limit": None}
    learner = cpx.RuleSetClassifier(**options).fit(PLAIN, Y)
    other = cpx.RuleSetClassifier(**options).fit(FRAMES[name], Y)
    assert other.rules_ == learner.rules_
    assert (other.predict(FRAMES[name]) == learner.predict(PLAIN)).all()


@pytest.mark.parametrize("gone", [pd.NA, None, np.nan, float("nan"), pd.NaT])
def test_all_that_is_missing_is_missing(gone):
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(PLAIN, Y)
    x = {"a": PLAIN["a"].iloc[0], "b": gone}
    plain = x | {"b": np.nan}
    for kind in ("reason", "expectation"):
        background = None if kind == "reason" else PLAIN
        found = [str(cpx.explain(model, background, row, kind=kind)) for row in (x, plain)]
        assert found[0] == found[1]
    assert str(cpx.explain(model, PLAIN, x, k=1)) == str(cpx.explain(model, PLAIN, plain, k=1))


def test_types_of_columns():
    pl = pytest.importorskip("polars")
    table = pl.DataFrame({"i": [2**53 + 1, None], "b": [True, None], "s": ["u", None]})
    table = table.with_columns(c=pl.Series(["x", "y"], dtype=pl.Categorical))
    found = as_pandas(table)
    assert found["i"].iloc[0] == 2**53 + 1
    assert found.isna().sum().tolist() == [1, 1, 1, 0]
    assert found["c"].cat.categories.tolist() == ["x", "y"]
    with pytest.raises(DataError, match="polars LazyFrame are not in memory: collect them first"):
        as_pandas(table.lazy())


def test_decimal_numbers_are_numbers():
    table = pd.DataFrame({"d": [Decimal("0.1"), Decimal(2), Decimal("2.5")]})
    assert Binarizer().fit(table).get_feature_names_out().tolist() == [
        "d <= 1",
        "1 < d <= 2.2",
        "d > 2.2",
    ]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "object"])
def test_large_integers_are_refused_by_name(dtype):
    big = 2**53 + 1
    table = pd.DataFrame({"id": pd.Series([big, 5, 7], dtype=dtype), "a": [0.5, 1.5, 2.5]})
    with pytest.raises(DataError, match=f"column 'id' has the integer {big}, which no float"):
        RuleExplainer(lambda rows: rows["a"] > 1, table)
    explainer = RuleExplainer(lambda rows: rows["a"] > 1, table, categorical=["id"])
    assert f"id = {big}" in explainer.conditions(table.iloc[[0]]).literals
    # The neighbour is another integer, though the same float.
    assert f"id != {big}" in explainer.conditions({"id": big - 1, "a": 0.5}).literals
    whole = pd.DataFrame({"id": [2**60, 5], "a": [0.5, 1.5]})  # a float
    assert Binarizer().fit(whole).columns_[0].thresholds == (6e17,)


def test_rows_of_floats_refuse_large_integers():
    table = pd.DataFrame({"id": [0.5, 1.5], "a": [0.5, 1.5]})
    explainer = RuleExplainer(lambda rows: rows["a"] > 1, table)
    message = "x in column 'id' has the integer 9007199254740993, which no float holds"
    with pytest.raises(DataError, match=message):
        explainer.explain({"id": 2**53 + 1, "a": 0.5}, k=1)
    assert explainer.explain({"id": 2**53, "a": 0.5}, k=1).rule.words == ("a <= 1",)


def test_rows_of_arrays_keep_large_integers():
    table = np.array([[2**53, 0], [5, 1], [7, 0]])
    explainer = RuleExplainer(lambda rows: rows[:, 1] > 0, table)
    with pytest.raises(DataError, match="has the integer 9007199254740993, which no float holds"):
        explainer.explain([2**53 + 1, 0], k=1)
    model = DecisionTreeClassifier().fit(table, [0, 1, 0])
    with pytest.raises(DataError, match="has the integer 9007199254740993, which no float holds"):
        cpx.explain(model, None, [2**53 + 1, 0], kind="reason")


@pytest.mark.parametrize("frame", [True, False])
def test_a_number_for_a_text_is_refused_as_the_reverse_is(frame):
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    X = table if frame else table.to_numpy(dtype=object)
    explainer = RuleExplainer(lambda rows: np.asarray(rows)[:, 1] == "red", X)
    size, colour = ("size", "colour") if frame else ("x0", "x1")
    with pytest.raises(DataError, match=f"column '{colour}' holds texts, got 5"):
        explainer.explain([1.0, 5], k=1)
    with pytest.raises(DataError, match=f"'{size}'.* a number|column '{size}' holds numbers, got"):
        explainer.explain(["red", "red"], k=1)
    truth = pd.DataFrame({"t": [True, False, True]})
    with pytest.raises(DataError, match="column 't' holds numbers, got 'yes'"):
        Binarizer().fit(truth).transform(pd.DataFrame({"t": ["yes"]}))
    unseen = Binarizer().fit(table).transform(pd.DataFrame({"size": [1.0], "colour": ["green"]}))
    assert not unseen[0, -2:].any()
