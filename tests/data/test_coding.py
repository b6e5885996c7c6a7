import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from cpx.data import Coding
from cpx.errors import DataError
from cpx.trees import read_model

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 300).astype(float),
        "sex": RNG.integers(0, 2, 300),
        "red": np.arange(300) % 3 == 0,
        "blue": np.arange(300) % 3 == 1,
        "same": 7.0,
    }
).astype(float)
TABLE.loc[:4, "age"] = np.nan
CUTS = [[30.5, 31.5], [], [0.5], [0.5], []]
GROUPS = {"colour": ["red", "blue"]}


def fitted(**options):
    return Coding.fit(TABLE, cuts=CUTS, groups=GROUPS, **options)


def test_states_of_columns_and_groups():
    coding = fitted(max_states=6)
    assert coding.names == ("age", "sex", "colour", "same")
    assert coding.columns == ((0,), (1,), (2, 3), (4,))
    # Missing values, and six cells; two values; three combinations, not four; a constant.
    assert coding.cardinalities == (7, 2, 3, 1)
    assert coding.states[0][:, 0].tolist() == [-1, 0, 1, 2, 3, 4, 5]
    assert sorted(map(tuple, coding.states[2].tolist())) == [(0, 0), (0, 1), (1, 0)]
    assert {30.5, 31.5} <= set(coding.cuts[0].tolist())
    codes = coding.codes(TABLE)
    assert all(set(codes[:, a]) == set(range(k)) for a, k in enumerate(coding.cardinalities))


def test_cells_are_those_of_a_tree_model():
    """Cells by the definition, and by a model whose thresholds are the cuts."""
    coding = fitted()
    cells = coding.cells(coding.codes(TABLE))
    for c, cuts in enumerate(coding.cuts):
        for value, cell in zip(TABLE.iloc[:, c], cells[:, c]):
            assert cell == (-1 if np.isnan(value) else sum(cut < value for cut in cuts.tolist()))
    full = TABLE.dropna().astype(np.float32)
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    model = read_model(tree.fit(full.to_numpy(), RNG.integers(0, 2, len(full))))
    exact = Coding.fit(full, cuts=model.thresholds, cast="float32", max_states=1)
    found = exact.cells(exact.codes(full))
    assert np.array_equal(found[:, model.used], model.cells(full.to_numpy())[:, model.used])


def test_values_are_rounded_before_they_are_compared():
    cut = float(np.float32(0.1))  # above 0.1
    single = Coding.fit([[0.0], [1.0]], cuts=[[cut]], cast="float32", max_states=2)
    double = Coding.fit([[0.0], [1.0]], cuts=[[0.1]], max_states=2)
    just = np.nextafter(0.1, 1)
    assert single.codes([[just], [0.2]]).tolist() == [[0], [1]]
    assert double.codes([[just], [0.1]]).tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("values", "states"), [(range(5), 5), (range(10), 10), (range(1000), 10), ([3], 1)]
)
def test_columns_without_cuts_get_some(values, states):
    """All values where they are few, else quantiles of about equal counts."""
    coding = Coding.fit(np.array(list(values), dtype=float)[:, None])
    assert coding.cardinalities == (states,)
    counts = np.bincount(coding.codes(np.array(list(values))[:, None])[:, 0])
    assert counts.max() - counts.min() <= 1


def test_cuts_that_are_there_are_not_made_again():
    coding = Coding.fit([[0.0], [1.0], [2.0]], cuts=[[0.9]])
    assert len(coding.cuts[0]) == 2
    assert coding.cuts[0][0] == 0.9
    many = [list(np.arange(40) + 0.25)]
    assert Coding.fit(np.arange(50.0)[:, None], cuts=many).cuts[0].tolist() == many[0]


def test_rows_that_are_states_too():
    x = np.array([20, 1, 1, 1, 7.0])
    with pytest.raises(DataError, match="combination red = 1, blue = 1"):
        fitted().codes(x)
    coding = fitted(also=x)
    assert coding.cells(coding.codes(x))[0, 2:4].tolist() == [1, 1]
    assert coding.cardinalities[2] == 4


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("sex", np.nan, "row 1 has a missing value in column 'sex'"),
        ("red", 1.0, "row 1 has in 'colour' the combination red = 1, blue = 1"),
        ("red", np.nan, "'colour' the combination red = nan, blue = 1"),
    ],
)
def test_unseen_states_are_named(column, value, message):
    rows = TABLE.iloc[[0, 1]].copy()
    rows.loc[rows.index[1], column] = value
    with pytest.raises(DataError, match=message):
        fitted().codes(rows)


def test_its_file():
    for coding in (fitted(), fitted(cast="float32"), Coding.fit(np.eye(3))):
        again = Coding.from_dict(json.loads(json.dumps(coding.to_dict())))
        assert again == coding
        assert again.to_dict() == coding.to_dict()
    assert fitted() != fitted(max_states=4)
    assert np.array_equal(Coding.from_dict(fitted().to_dict()).codes(TABLE), fitted().codes(TABLE))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["a"]}, "names must have 4 strings, got 1"),
        ({"names": ["a", "a", "b", "c"]}, "names must be different"),
        ({"columns": [[0], [1], [2, 2], [4]]}, "columns must have each of the 5 columns"),
        ({"columns": [[0], [1], [2, "x"], [4]]}, r"columns\[2\] must be an integer"),
        ({"columns": [[0], 1, [2, 3], [4]]}, r"columns\[1\] must be a list"),
        ({"cuts": [["zz"], [], [], [], []]}, "cuts: no hexadecimal float"),
        ({"cuts": [["0x1p+0", "0x1p+0"], [], [], [], []]}, r"cuts\[0\] must be finite and incr"),
        ({"states": [[[0]]]}, "states must have 4 arrays, got 1"),
        ({"cast": "float16"}, "cast must be one of"),
        ({"column_names": ["x"]}, "column_names must have 5 strings"),
        ({"version": 2}, "version 2 is not known"),
        ({"format": "other"}, "format must be 'cpx-coding'"),
        ({"extra": 1}, "unknown key 'extra'"),
        ({"cuts": 3}, "cuts must be a list"),
    ],
)
def test_damaged_files_are_refused(change, message):
    with pytest.raises(DataError, match=message):
        Coding.from_dict(fitted().to_dict() | change)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([], "must be rows of 1 integers"),
        ([[0], [0]], "must be different"),
        ([[0], [3]], "must be rows of cells"),
        ([[-2]], "must be rows of cells"),
        ([[0.5]], "must be rows of 1 integers"),
        ([[0, 1]], "must be rows of 1 integers"),
    ],
)
def test_damaged_states_are_refused(states, message):
    data = Coding.fit([[0.0], [1.0], [2.0]]).to_dict() | {"states": [states]}
    with pytest.raises(DataError, match=f"states of 'x0' {message}"):
        Coding.from_dict(data)


def test_missing_keys_are_named():
    for key in fitted().to_dict():
        data = fitted().to_dict()
        del data[key]
        with pytest.raises(DataError, match=f"the key '{key}' is missing"):
            Coding.from_dict(data)
    with pytest.raises(DataError, match="a coding must be an object"):
        Coding.from_dict([])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"colour": ["red", "bleu"]}, "names a column 'bleu' .*did you mean 'blue'"),
        ({"colour": [2, 5]}, "names a column 5 that is not"),
        (
            {"one": ["red"], "two": ["red", "blue"]},
            "column 'red' is in the groups 'one' and 'two'",
        ),
        ({"one": []}, "has no columns"),
        ({"age": ["red", "blue"]}, "'age' is the name of a group and of a column"),
        ({"one": "red"}, "must be a list of columns"),
    ],
)
def test_wrong_groups_are_refused(groups, message):
    with pytest.raises(DataError, match=message):
        Coding.fit(TABLE, groups=groups)


def test_other_tables_are_refused():
    coding = fitted()
    with pytest.raises(DataError, match="rows must have 5 columns"):
        coding.codes(TABLE.iloc[:, :4])
    with pytest.raises(DataError, match="the columns differ"):
        coding.codes(TABLE.rename(columns={"sex": "gender"}))
    with pytest.raises(DataError, match="column 'sex' holds numbers, got 'f'"):
        coding.codes(TABLE.assign(sex="f"))
    with pytest.raises(DataError, match="has no rows"):
        Coding.fit(TABLE.iloc[:0])
    with pytest.raises(DataError, match="cuts must have 5 arrays"):
        Coding.fit(TABLE, cuts=[[]])
    with pytest.raises(DataError, match="max_states must be"):
        Coding.fit(TABLE, max_states=0)
