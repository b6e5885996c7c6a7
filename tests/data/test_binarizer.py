import itertools
import re
from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from cpx.data import Binarizer
from cpx.data.cuts import short_between, thresholds_of
from cpx.errors import DataError

CANCER = load_breast_cancer(as_frame=True).data


def truth(literal: str, column: str, value: object) -> bool:
    """Read a literal as a person would, and say whether it is true of the value."""
    if inner := re.fullmatch(r"not \((.*)\)", literal):
        return not truth(inner[1], column, value)
    missing = value is None or value != value
    if literal == f"{column} is missing":
        return missing
    if literal == f"{column} is known":
        return not missing
    c = re.escape(column)
    if match := re.fullmatch(rf"{c} (=|!=) (.*)", literal):
        same = not missing and (
            float(match[2]) == value
            if isinstance(value, (int, float)) and not isinstance(value, bool)
            else match[2] == str(value)
        )
        return same == (match[1] == "=")
    if missing:
        return False
    if match := re.fullmatch(rf"{c} <= (\S+)", literal):
        return value <= float(match[1])
    if match := re.fullmatch(rf"{c} > (\S+)", literal):
        return value > float(match[1])
    match = re.fullmatch(rf"(\S+) < {c} <= (\S+)", literal)
    assert match, literal
    return float(match[1]) < value <= float(match[2])


numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 12))

    def column(values, with_missing):
        some = st.one_of(values, st.none()) if with_missing else values
        return draw(st.lists(some, min_size=n, max_size=n).filter(lambda c: c != [None] * n))

    return pd.DataFrame(
        {
            "a": pd.Series(column(numbers, False), dtype=float),
            "b": pd.Series(column(numbers, True), dtype=float),
            "c": column(st.sampled_from(["red", "green", "dark blue"]), True),
            "d": column(st.booleans(), False),
            "e": pd.Series(column(st.integers(-2, 2), True), dtype="Int64"),
        }
    )


@settings(deadline=None)
@given(tables(), st.integers(2, 5), st.sampled_from(["quantile", "uniform"]))
def test_one_feature_per_column_and_names_true(table, n_bins, strategy):
    binarizer = Binarizer(n_bins, strategy).fit(table)
    bits = binarizer.transform(table)
    names = binarizer.get_feature_names_out()
    assert bits.dtype == bool
    assert bits.shape == (len(table), len(names)) == (len(table), len(binarizer.groups_))
    assert len(set(names)) == len(names)
    for c in range(table.shape[1]):
        assert (bits[:, binarizer.groups_ == c].sum(axis=1) == 1).all()
    assert bits.any(axis=0).all()  # no empty bin, no unseen category
    for i in range(len(table)):
        literals = binarizer.literal_names(bits[i])
        for j, g in enumerate(binarizer.groups_):
            column = binarizer.attributes_[g]
            value = table[column].iloc[i]
            value = None if pd.isna(value) else getattr(value, "item", lambda v=value: v)()
            assert truth(literals[j], column, value), (literals[j], value)
            assert truth(names[j], column, value) == bits[i, j]


@settings(deadline=None)
@given(tables(), tables())
def test_literals_true_of_rows_not_seen_in_fit(seen, other):
    binarizer = Binarizer().fit(seen)
    bits = binarizer.transform(other)
    for i in range(len(other)):
        for j, literal in enumerate(binarizer.literal_names(bits[i])):
            column = binarizer.attributes_[binarizer.groups_[j]]
            value = other[column].iloc[i]
            value = None if pd.isna(value) else getattr(value, "item", lambda v=value: v)()
            assert truth(literal, column, value), (literal, value)


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 1),
)
def test_short_between_is_a_threshold(a, b, share):
    low, high = min(a, b), max(a, b)
    if low == high:
        return
    wanted = min(max(low * (1 - share) + high * share, low), np.nextafter(high, low))
    t = short_between(low, high, wanted)
    assert low < t < high or (t == low and np.nextafter(low, high) == high)


@given(st.lists(st.floats(-1e9, 1e9) | st.integers(-40, 40), min_size=2), st.integers(2, 6))
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_a_cut_is_no_value_of_the_data(strategy, values, n_bins):
    cuts = thresholds_of(np.array(values, dtype=np.float64), n_bins, strategy)
    numbers = np.unique(np.array(values, dtype=np.float64))
    below = {float(a) for a, b in itertools.pairwise(numbers) if np.nextafter(a, b) == b}
    assert set(cuts) & set(numbers.tolist()) <= below


def test_short_between_has_the_fewest_digits():
    rng = np.random.default_rng(0)
    for _ in range(300):
        low = Fraction(int(rng.integers(100_000)), 1000)
        high = low + Fraction(int(rng.integers(1, 3000)), 1000)
        t = short_between(float(low), float(high), float((low + high) / 2))
        digits = len(f"{t:.12g}".replace(".", "").strip("0"))
        for fewer in range(1, digits):
            for exponent in range(-6, 4):
                step = Fraction(10) ** exponent
                k = low // step + 1  # first multiple of the step above low
                assert not (k * step < high and len(str(k).strip("0")) <= fewer and k > 0)


def test_breast_cancer_has_ninety_features_in_equal_bins():
    binarizer = Binarizer(3)
    bits = binarizer.fit_transform(CANCER)
    assert bits.shape == (569, 90)
    assert binarizer.groups_.tolist() == [c for c in range(30) for _ in range(3)]
    shares = bits.mean(axis=0)
    assert shares.min() > 0.3
    assert shares.max() < 0.37
    for j, name in enumerate(binarizer.get_feature_names_out()):
        column = binarizer.attributes_[binarizer.groups_[j]]
        assert all(truth(name, column, v) == b for v, b in zip(CANCER[column], bits[:, j]))
    assert max(len(re.sub(r"[^0-9]", "", n)) for n in binarizer.get_feature_names_out()) <= 14


def test_names_of_readable_bins():
    table = pd.DataFrame({"worst radius": [10, 14.87, 14.95, 17.6, 18.21, 30]})
    binarizer = Binarizer(3).fit(table)
    assert binarizer.get_feature_names_out().tolist() == [
        "worst radius <= 14.9",
        "14.9 < worst radius <= 18",
        "worst radius > 18",
    ]
    assert binarizer.literal_names([0, 0, 1]) == (
        "worst radius > 14.9",
        "not (14.9 < worst radius <= 18)",
        "worst radius > 18",
    )


def test_uniform_bins_have_equal_widths():
    values = np.linspace(0, 9, 1000)[:, None]
    binarizer = Binarizer(3, "uniform").fit(values)
    assert binarizer.get_feature_names_out().tolist() == [
        "x0 <= 3.004", "3.004 < x0 <= 6.004", "x0 > 6.004",
    ]  # fmt: skip  # 3 and 6 are values themselves
    skewed = np.array([[0.0], [0.1], [0.2], [0.3], [9.0]])
    # Both limits, 3 and 6, lie between 0.3 and 9: one split at the first.
    assert Binarizer(3, "uniform").fit(skewed).get_feature_names_out().tolist() == [
        "x0 <= 3",
        "x0 > 3",
    ]


def test_ties_merge_quantiles_but_never_lose_the_column():
    mostly_top = np.array([[0.1], [0.2], [0.3]] + [[1.0]] * 97)
    bits = Binarizer(3).fit_transform(mostly_top)
    assert bits.sum(axis=0).tolist() == [3, 97]
    mostly_zero = np.array([[0.0]] * 60 + [[float(v)] for v in range(1, 41)])
    assert Binarizer(3).fit_transform(mostly_zero).sum(axis=0).tolist() == [60, 7, 33]


def test_few_values_constant_and_missing():
    table = pd.DataFrame(
        {
            "bit": [0, 1, 1],
            "one": [3.5, 3.5, 3.5],
            "gap": [1.0, None, 2.0],
            "flag": [True, False, True],
        }
    )
    binarizer = Binarizer(3).fit(table)
    names = binarizer.get_feature_names_out().tolist()
    assert names == [
        "bit <= 0.5", "bit > 0.5", "one = 3.5", "gap <= 1.5", "gap > 1.5", "gap is missing",
        "flag = False", "flag = True",
    ]  # fmt: skip
    assert binarizer.literal_names(binarizer.transform(table)[0]) == (
        "bit <= 0.5", "bit <= 0.5", "one = 3.5", "gap <= 1.5", "not (gap > 1.5)", "gap is known",
        "flag != False", "flag = True",
    )  # fmt: skip
    other = pd.DataFrame({"bit": [None], "one": [4.0], "gap": [None], "flag": [None]})
    bits = binarizer.transform(other)
    assert np.flatnonzero(bits[0]).tolist() == [5]
    assert binarizer.literal_names(bits[0])[:3] == (
        "not (bit <= 0.5)",
        "not (bit > 0.5)",
        "one != 3.5",
    )


def test_categories_of_every_kind():
    table = pd.DataFrame(
        {
            "obj": pd.Series(["b", None, "a", "b"], dtype=object),
            "str": pd.Series(["u", "v", "u", "v"], dtype="string"),
            "cat": pd.Categorical(["lo", "hi", "lo", "hi"], categories=["lo", "mid", "hi"]),
            "cut": pd.cut([1, 2, 3, 4], 2),
            "code": [10, 20, 10, 30],
            "mixed": pd.Series([1, "1", 2.5, " "], dtype=object),
        }
    )
    binarizer = Binarizer(categorical=["code"]).fit(table)
    assert binarizer.get_feature_names_out().tolist() == [
        "obj = a", "obj = b", "obj is missing", "str = u", "str = v", "cat = lo", "cat = hi",
        "cut = (0.997, 2.5]", "cut = (2.5, 4.0]", "code = 10", "code = 20", "code = 30",
        "mixed = 1", "mixed = 2.5", "mixed = ' '", "mixed = '1'",
    ]  # fmt: skip
    bits = binarizer.transform(table)
    assert (np.add.reduceat(bits.astype(int), [0, 3, 5, 7, 9, 12], axis=1) == 1).all()
    unseen = table.assign(obj="z", cat=pd.Categorical(["mid"] * 4))
    assert not binarizer.transform(unseen)[:, [0, 1, 2, 5, 6]].any()


def test_object_columns_of_numbers_are_numeric():
    table = np.array([[1.5, "a"], [2.5, "b"], [3.5, "a"], [4.5, "a"]], dtype=object)
    names = Binarizer(2).fit(table).get_feature_names_out().tolist()
    assert names == ["x0 <= 3", "x0 > 3", "x1 = a", "x1 = b"]
    assert Binarizer(2).fit(table.tolist()).get_feature_names_out().tolist() == names


def test_arrays_and_positions():
    array = np.arange(24.0).reshape(8, 3)
    binarizer = Binarizer(2, categorical=[1]).fit(array)
    assert binarizer.attributes_ == ("x0", "x1", "x2")
    assert (binarizer.groups_ == 1).sum() == 8
    assert not hasattr(binarizer, "feature_names_in_")
    frame = pd.DataFrame(array)
    assert np.array_equal(
        Binarizer(2, categorical=["x1"]).fit(frame).transform(frame), binarizer.transform(array)
    )


def test_frames_are_matched_by_name():
    table = CANCER.iloc[:50, :4]
    binarizer = Binarizer().fit(table)
    assert binarizer.feature_names_in_.tolist() == list(table.columns)
    shuffled = table[table.columns[[2, 0, 3, 1]]]
    assert np.array_equal(binarizer.transform(shuffled), binarizer.transform(table))
    assert np.array_equal(binarizer.transform(table.to_numpy()), binarizer.transform(table))
    assert binarizer.aligned(table) is table
    with pytest.raises(DataError, match="missing 'mean area'"):
        binarizer.transform(table.drop(columns="mean area"))
    with pytest.raises(DataError, match="unknown 'new'"):
        binarizer.transform(table.assign(new=1))
    with pytest.raises(DataError, match="3 features, but Binarizer is expecting 4"):
        binarizer.transform(table.to_numpy()[:, :3])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "datetime64"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("UTC"), "datetime64"),
        (pd.to_timedelta([1, 2], unit="D"), "timedelta64"),
        (pd.period_range("2020", periods=2, freq="Y"), "period"),
        (pd.Series([date(2020, 1, 1), date(2020, 1, 2)], dtype=object), "date objects"),
        (
            pd.Series([np.datetime64("2020-01-01", "ns"), np.datetime64(3, "ns")], dtype=object),
            r"datetime64",
        ),
        (pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"])), "Timestamp objects"),
        ([1 + 2j, 3], "complex"),
        ([[1, 2], [3]], "list objects"),
        ([{"a": 1}, {}], "dict objects"),
        ([b"a", b"b"], "bytes objects"),
        ([1.0, np.inf], "infinite"),
        (pd.Series([-np.inf, 2], dtype=object), "infinite"),
        (pd.Series([10**400, 2], dtype=object), "infinite|too large"),
    ],
)
def test_refuses_columns_by_name(values, message):
    table = pd.DataFrame({"fine": [1, 2]})
    table["bad one"] = values
    with pytest.raises(DataError, match=message) as caught:
        Binarizer().fit(table)
    assert "'bad one'" in str(caught.value)


def test_refuses_at_transform_what_it_refuses_in_fit():
    binarizer = Binarizer().fit(pd.DataFrame({"n": [1.0, 2.0], "c": ["a", "b"]}))
    for column, value in (("n", np.inf), ("n", "many"), ("c", [1]), ("c", pd.Timestamp(0))):
        row = pd.DataFrame({"n": [1.0], "c": ["a"]}, dtype=object)
        row.at[0, column] = value
        with pytest.raises(DataError, match=f"'{column}'"):
            binarizer.transform(row)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame(index=range(3)), "no columns"),
        (np.empty((0, 2)), "no rows"),
        (np.arange(3), "2-D"),
        (np.zeros((2, 2, 2)), "2-D"),
        ([[1, 2], [3]], "different lengths"),
        (pd.Series([1, 2]), "Series"),
        ("table.csv", "str"),
        ({"a": [1]}, "dict"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns named 'a'"),
        (pd.DataFrame([[1, 2]], columns=["x0", 0]), "two columns named 'x0'"),
    ],
)
def test_refuses_tables(X, message):
    with pytest.raises(DataError, match=message):
        Binarizer().fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bins": 1}, "n_bins"),
        ({"n_bins": 2.5}, "n_bins"),
        ({"n_bins": True}, "n_bins"),
        ({"n_bins": "3"}, "n_bins"),
        ({"strategy": "quantiles"}, "did you mean 'quantile'"),
        ({"strategy": None}, "strategy"),
        ({"max_categories": 0}, "max_categories"),
        ({"categorical": ["colur"]}, r"'colur'.*did you mean 'colour'"),
        ({"categorical": "colour"}, "list of column names"),
        ({"max_categories": 2}, "'colour' has 3 categories.*raise max_categories where"),
    ],
)
def test_refuses_parameters(parameters, message):
    with pytest.raises(DataError, match=message):
        Binarizer(**parameters).fit(pd.DataFrame({"colour": ["r", "g", "b"]}))


def test_is_a_scikit_learn_transformer():
    binarizer = Binarizer(4, "uniform", ["a"], 7)
    assert clone(binarizer).get_params() == {
        "n_bins": 4,
        "strategy": "uniform",
        "categorical": ["a"],
        "max_categories": 7,
        "cuts": None,
        "dates": False,
    }
    with pytest.raises(NotFittedError):
        binarizer.transform(CANCER)
    with pytest.raises(DataError, match="not fitted"):
        binarizer.get_feature_names_out()
    framed = Binarizer().set_output(transform="pandas").fit_transform(CANCER)
    assert framed.columns[0].startswith("mean radius <= ")
    check_estimator(Binarizer(), on_skip=None)


def test_refitting_forgets_the_first_table():
    binarizer = Binarizer().fit(CANCER).fit(np.arange(4.0)[:, None])
    assert not hasattr(binarizer, "feature_names_in_")
    assert binarizer.transform(np.array([[0.0]])).shape == (1, 3)


def test_literal_names_checks_bits():
    binarizer = Binarizer().fit(np.arange(4.0)[:, None])
    for bits in ([1, 0], [1, 0, 2], [[1, 0, 0]]):
        with pytest.raises(DataError, match="3 values 0 or 1"):
            binarizer.literal_names(bits)


@given(
    rows=st.lists(
        st.lists(st.one_of(st.floats(-5, 5), st.just(np.nan)), min_size=2, max_size=2),
        min_size=4,
        max_size=12,
    ),
    n_bins=st.integers(2, 5),
    data=st.data(),
)
def test_joined_conditions_mean_what_the_literals_mean(rows, n_bins, data) -> None:
    table = pd.DataFrame(rows, columns=["a", "b"])
    assume(table.notna().any().all())
    binarizer = Binarizer(n_bins=n_bins).fit(table)
    bits = binarizer.transform(table)
    x = bits[data.draw(st.integers(0, len(rows) - 1))]
    features = data.draw(st.sets(st.integers(0, len(x) - 1)))
    chosen = sorted(features)
    literally = (bits[:, chosen] == x[chosen]).all(axis=1)
    conditions = binarizer.conditions(x, features)
    assert len(conditions) <= len(features)
    for row, expected in zip(table.to_dict("records"), literally, strict=True):
        assert all(_holds(text, row) for text in conditions) == expected


def _holds(text: str, row: dict) -> bool:
    name = "a" if any(word.strip("()") == "a" for word in text.split()) else "b"
    value = row[name]
    if text.endswith("is missing"):
        return bool(np.isnan(value))
    if text.endswith("is known"):
        return not np.isnan(value)
    if text.startswith("not ("):
        return not _holds(text[5:-1], row)
    if np.isnan(value):
        return "!=" in text
    return bool(eval(text.replace(" = ", " == "), {name: value}))
