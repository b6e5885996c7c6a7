import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from cpx.data import Background, Binarizer
from cpx.errors import DataError


def mixed_table(n=30):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "f": rng.normal(size=n).astype(np.float32),
            "i": rng.integers(0, 9, n),
            "text": rng.choice(["red", "green"], n),
            "cat": pd.Categorical(rng.choice(["lo", "hi"], n), categories=["lo", "hi"]),
            "flag": rng.integers(0, 2, n).astype(bool),
            "null": pd.array(rng.integers(0, 3, n), dtype="Int64"),
        },
        index=np.arange(n) + 100,
    )
    table.loc[100, ["f", "text", "cat", "null"]] = None
    return table


@pytest.fixture
def table():
    return mixed_table()


@pytest.fixture
def background(table):
    return Background(table, Binarizer().fit(table))


def test_assembled_rows_have_the_types_and_bits_of_the_background(table, background):
    rng = np.random.default_rng(1)
    index = rng.integers(0, len(table), (50, background.n_attributes))
    rows, bits = background.assemble(index)
    assert (rows.dtypes == table.dtypes).all()
    assert list(rows.columns) == list(table.columns)
    assert np.array_equal(background.binarizer.transform(rows), bits)
    for a, column in enumerate(table.columns):
        want = table[column].iloc[index[:, a]].reset_index(drop=True)
        pd.testing.assert_series_equal(rows[column], want)
    assert background.assemble(index[:0])[1].shape == (0, background.n_features)


def test_columns_in_another_order_than_the_binarizer(table):
    binarizer = Binarizer().fit(table)
    swapped = table[table.columns[::-1]]
    background = Background(swapped, binarizer)
    index = np.random.default_rng(1).integers(0, len(table), (40, background.n_attributes))
    rows, bits = background.assemble(index)
    assert list(rows.columns) == list(swapped.columns)
    assert np.array_equal(binarizer.transform(rows), bits)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, object])
def test_arrays_keep_their_type(dtype):
    array = np.arange(24).reshape(8, 3).astype(dtype)
    background = Background(array, Binarizer().fit(array))
    index = np.random.default_rng(1).integers(0, 8, (20, 3))
    rows, bits = background.assemble(index)
    assert rows.dtype == array.dtype
    assert np.array_equal(rows, array[index, np.arange(3)])
    assert np.array_equal(background.binarizer.transform(rows), bits)
    assert background.row(list(array[2])).dtype == array.dtype
    assert np.array_equal(background.encode(array[2]), background.bits[2])
    array[:] = 0
    assert background.rows.any()


def test_every_form_of_x(table, background):
    x = table.iloc[4]
    want = background.bits[4]
    forms = [
        x,
        x[::-1],
        x.to_dict(),
        table.iloc[[4]],
        table[table.columns[::-1]].iloc[[4]],
        x.to_numpy(),
        list(x),
        tuple(x),
        x.to_numpy().reshape(1, -1),
    ]
    for form in forms:
        assert np.array_equal(background.encode(form), want)
        row = background.row(form)
        assert (row.dtypes == table.dtypes).all()
        assert len(row) == 1
    assert np.array_equal(background.encode(table.iloc[0]), background.bits[0])  # with missing
    assert (background.row(table.iloc[0]).dtypes == table.dtypes).all()


def test_x_with_values_the_types_cannot_hold(table, background):
    x = table.iloc[4].to_dict() | {"i": 2.5, "cat": "mid", "text": "blue", "flag": None}
    row = background.row(x)
    assert row["i"].iloc[0] == 2.5
    assert row["cat"].iloc[0] == "mid"
    assert row["text"].iloc[0] == "blue"
    assert row["flag"].isna().all()
    longer = background.with_row(x)
    assert longer.n_rows == background.n_rows + 1 == len(longer.rows)
    rows, bits = longer.assemble(np.full((1, background.n_attributes), background.n_rows))
    assert np.array_equal(bits[0], background.encode(x))
    assert rows["cat"].iloc[0] == "mid"
    assert isinstance(rows["cat"].dtype, pd.CategoricalDtype)
    assert rows["i"].iloc[0] == 2.5
    whole = np.array([[1, 2], [3, 4]])
    integers = Background(whole, Binarizer().fit(whole))
    assert integers.row([1, 2]).dtype == np.int64
    assert integers.row([1.5, None]).dtype == np.float64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.iloc[:3], "x has 3 columns, the table has 6; missing in x: 'cat'"),
        (lambda x: x.rename({"text": "txt"}), "not in the table: 'txt' .did you mean 'text'"),
        (lambda x: x.to_dict() | {"new": 1}, "x has 7 columns, the table has 6; not in .* 'new'"),
        (lambda x: x.to_numpy()[:5], "x has 5 columns, the table has 6"),
        (lambda x: [*x, 1], "x has 7 columns, the table has 6"),
        (lambda x: pd.DataFrame([x, x]), "data frame of 2 rows"),
        (lambda x: np.zeros((2, 6)), r"array of shape \(2, 6\)"),
        (lambda x: np.zeros((1, 1, 6)), r"array of shape \(1, 1, 6\)"),
        (lambda x: 3, "got int"),
        (lambda x: "row", "got str"),
        (lambda x: None, "got NoneType"),
        (lambda x: x.to_dict() | {"f": "many"}, "'many' in column 'f', a number expected"),
        (lambda x: x.to_dict() | {"f": np.inf}, "'f' has an infinite value"),
        (lambda x: x.to_dict() | {"text": [1]}, "'text' holds list objects"),
    ],
)
def test_refuses_x(table, background, change, message):
    with pytest.raises(DataError, match=message):
        background.encode(change(table.iloc[4]))


def test_matrix_of_bits():
    bits = np.array([[0, 1, 1], [1, 0, 1]])
    background = Background(bits, groups=[4, 4, 2])
    assert background.groups == (4, 4, 2)
    assert background.attributes == ("x2", "group 4")
    rows, out = background.assemble([[0, 1], [1, 0]])
    assert rows.dtype == np.int8
    assert rows.tolist() == [[1, 0, 1], [0, 1, 1]]
    assert np.array_equal(out, rows.astype(bool))
    assert background.encode([1, 0, True]).tolist() == [True, False, True]
    assert background.literal_names([1, 0, 1]) == ("x0", "not x1", "x2")
    frame = Background(pd.DataFrame(bits, columns=["a", "b", "c"]).astype(float))
    assert frame.feature_names == ("a", "b", "c")
    assert frame.assemble([[0, 0, 1]])[0].dtypes.tolist() == [np.float64] * 3
    assert frame.encode({"b": 1, "a": 0, "c": 1}).tolist() == [False, True, True]


def test_refuses_backgrounds(table):
    binarizer = Binarizer().fit(table)
    for arguments, message in (
        ((np.array([[0, 2]]),), "has .*2.* in row 0, column 1: without a binarizer"),
        ((np.array([["a", "b"]]),), "without a binarizer"),
        ((np.array([[0.0, np.nan]]),), "without a binarizer"),
        ((np.empty((0, 2)),), "no rows"),
        ((np.zeros((2, 2)), None, [0]), "groups must have 2"),
        ((np.zeros((2, 2)), None, [0, 0.5]), r"groups\[1\] must be an integer"),
        ((table, binarizer, [0] * 6), "groups come from the binarizer"),
        ((table.iloc[:0], binarizer), "no rows"),
        ((table.drop(columns="f"), binarizer), "missing 'f'"),
        ((table, Binarizer()), "not fitted"),
    ):
        with pytest.raises(DataError, match=message):
            Background(*arguments)
    for x, message in (([0, 2], "x has"), ([0], "x has 1 columns, the table has 2")):
        with pytest.raises(DataError, match=message):
            Background(np.zeros((1, 2))).encode(x)


def test_refuses_indices(background):
    n = background.n_attributes
    for index in (np.zeros((2, n + 1), int), np.zeros(n, int), np.zeros((2, n))):
        with pytest.raises(DataError, match="index must be"):
            background.assemble(index)
    for number in (-1, background.n_rows):
        with pytest.raises(DataError, match="row numbers outside"):
            background.assemble(np.full((1, n), number))


def test_the_room_is_lazy():
    code = (
        "import sys, cpx.data, cpx.data.samples, cpx.data.statistics, cpx.data.distributions\n"
        "heavy = {'sklearn', 'pandas', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    import cpx.data

    assert all(getattr(cpx.data, name) is not None for name in cpx.data.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cpx.data.nothing  # noqa: B018


def test_a_row_of_floats_is_read_like_one_of_other_numbers():
    """Floats in a table of floats are taken all at once."""
    background = Background(pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}))
    for row in ({"a": 1.0, "b": 0.0}, {"a": 1, "b": 0.0}, {"a": np.float32(1), "b": False}):
        read = background.row(pd.Series(row, dtype=object))
        assert read.dtypes.tolist() == [np.float64] * 2
        assert read.to_numpy().tolist() == [[1.0, 0.0]]
    with pytest.raises(DataError, match="'1' in column 'a', a number expected"):
        background.row({"a": "1", "b": 0.0})
