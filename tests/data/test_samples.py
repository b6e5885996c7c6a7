import json
import pickle
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from cpx.data import Background, Binarizer, Perturbed, Product, Samples, Uniform
from cpx.errors import ClassifierError, DataError, InvalidInstance, InvalidOption


@st.composite
def samples(draw):
    m, d = draw(st.integers(1, 30)), draw(st.integers(1, 70))
    # Few distinct rows, so that many coincide.
    pool = draw(st.lists(st.lists(st.booleans(), min_size=d, max_size=d), min_size=1, max_size=4))
    rows = [pool[draw(st.integers(0, len(pool) - 1))] for _ in range(m)]
    same = draw(st.lists(st.booleans(), min_size=m, max_size=m))
    weights = draw(st.lists(st.integers(1, 2**30), min_size=m, max_size=m))
    return Samples(rows, same, weights, context={"seed": 1})


@given(samples())
def test_merged_keeps_weighted_counts_and_first_order(given_samples):
    counts = Counter()
    for row, same, weight in zip(
        given_samples.agreement, given_samples.same, given_samples.weights, strict=True
    ):
        counts[(*row.tolist(), bool(same))] += int(weight)
    merged = given_samples.merged()
    rows = [(*r.tolist(), bool(s)) for r, s in zip(merged.agreement, merged.same, strict=True)]
    # A Counter keeps the order of first insertion.
    assert rows == list(counts)
    assert merged.weights.tolist() == list(counts.values())
    assert merged.weights.dtype == np.int64
    assert (merged.total, merged.agreeing) == (given_samples.total, given_samples.agreeing)
    assert merged.merged() == merged
    assert merged.context == given_samples.context


@pytest.mark.slow
def test_merged_is_fast():
    rng = np.random.default_rng(0)
    big = Samples(rng.integers(0, 2, (100_000, 90)), rng.integers(0, 2, 100_000))
    start = time.process_time()
    merged = big.merged()
    assert time.process_time() - start < 1
    assert merged.total == 100_000


def test_defaults_and_properties():
    s = Samples([[1, 0], [0, 0], [1, 1]], [1, 0, 1])
    assert (s.m, s.d, s.total, s.agreeing) == (3, 2, 3, 2)
    assert s.agreement.dtype == s.same.dtype == bool
    assert s.weights.tolist() == [1, 1, 1]
    assert s.features == ("x0", "x1")
    assert s.groups is None
    assert s.context == {}


def test_arrays_are_copies_and_read_only():
    agreement = np.ones((2, 2), dtype=bool)
    s = Samples(agreement, np.ones(2, dtype=bool), np.ones(2, dtype=np.int64))
    agreement[0, 0] = False
    assert s.agreement.all()
    for copy in (s, pickle.loads(pickle.dumps(s)), s.merged()):
        for array in (copy.agreement, copy.same, copy.weights):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    assert pickle.loads(pickle.dumps(s)) == s
    assert s != Samples(agreement, [1, 1])


def test_accepts_lists_integral_floats_and_equal_names():
    s = Samples([[1.0, 0.0]], [True], [2.0], ["a", "a"], [0, np.int64(0)], {"k": [1, None]})
    assert s.weights.tolist() == [2]
    assert s.groups == (0, 0)
    Samples([[1]], [1], [2**40])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agreement": []}, "agreement: there are no samples"),
        ({"agreement": np.empty((0, 3))}, "agreement: there are no samples"),
        ({"agreement": [[], []]}, "agreement: there are no features"),
        ({"agreement": [1, 0]}, "agreement: 2 dimensions"),
        ({"agreement": np.ones((1, 2, 2))}, "agreement: 2 dimensions"),
        ({"agreement": [[1, 0], [1]]}, "agreement: rows of different lengths"),
        ({"agreement": [[1, 0], [1, 2]]}, r"agreement: .* got 2 at \(1, 1\)"),
        ({"agreement": [[1, 0], [1, 0.5]]}, r"agreement: .* got 0\.5"),
        ({"agreement": [[1, 0], [1, np.nan]]}, r"agreement: .* got nan"),
        ({"agreement": [["1", "0"], ["1", "1"]]}, "agreement: entries must be 0 or 1"),
        ({"agreement": None}, "agreement"),
        ({"same": [1]}, "same: 1 entries for 2 samples"),
        ({"same": [1, 3]}, "same: .* got 3 at 1"),
        ({"same": [[1], [0]]}, "same: 1 dimensions"),
        ({"weights": [1]}, "weights: 1 entries for 2 samples"),
        ({"weights": [[1, 2]]}, "weights: 1 dimension"),
        ({"weights": [1, []]}, "weights: lists among numbers"),
        ({"weights": [1, 0]}, "weights: 0 at 1 is not positive"),
        ({"weights": [1, -3]}, "weights: -3 at 1 is not positive"),
        ({"weights": [1, 2.5]}, "weights: 2.5 at 1 is fractional"),
        ({"weights": [1, np.nan]}, "weights: nan at 1 is not a finite"),
        ({"weights": [1, np.inf]}, "weights: inf at 1 is not a finite"),
        ({"weights": [True, 2]}, "weights: .* True or False"),
        ({"weights": np.array([True, True])}, "weights: positive integers"),
        ({"weights": ["1", "2"]}, "weights: positive integers"),
        ({"weights": [1, 2**40 + 1]}, "weights: 1099511627777 at 1 is huge"),
        ({"weights": [2**40, 1]}, "weights: their sum .* is huge"),
        ({"weights": [1, 10**30]}, "weights: .* is huge"),
        ({"weights": [1, None]}, "weights: positive integers"),
        ({"features": ["a"]}, "features must have 2 strings, got 1"),
        ({"features": ["a", 2]}, r"features\[1\] must be a string, got 2"),
        ({"features": "ab"}, "features must be a list of strings"),
        ({"features": 3}, "features must be a list of strings"),
        ({"groups": [0]}, "groups must have 2 non-negative integers, got 1"),
        ({"groups": [0, 0.0]}, r"groups\[1\] must be an integer of at least 0, got 0\.0"),
        ({"groups": [0, True]}, r"groups\[1\] must be an integer of at least 0, got True"),
        ({"groups": [0, -1]}, r"groups\[1\] must be an integer of at least 0, got -1"),
        ({"groups": "01"}, "groups must be a list of non-negative integers"),
        ({"context": [1]}, "context: a mapping"),
        ({"context": {1: 2}}, "context: key 1"),
        ({"context": {"f": print}}, "context: not JSON"),
        ({"context": {"f": float("nan")}}, "context: not JSON"),
    ],
)
def test_refuses(change, message):
    with pytest.raises(InvalidInstance, match=message):
        Samples(**{"agreement": [[1, 0], [0, 1]], "same": [1, 0], **change})


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    binarizer = Binarizer().fit(data.data)
    names = data.target_names[data.target]
    tree = DecisionTreeClassifier(random_state=0).fit(data.data, names)
    return data.data, Background(data.data, binarizer), tree


def test_draw_from_a_table_of_three_classes(iris):
    table, background, tree = iris
    x = table.iloc[60]
    D = Perturbed(background, keep=0.3)
    s = Samples.draw(tree, x, D, m=400, seed=5, merge=False)
    # The same draws, by hand.
    batch = D.sample(400, np.random.default_rng(5), x=x)
    assert np.array_equal(s.agreement, batch.bits == background.bits[60])
    predicted = tree.predict(batch.rows)
    assert len(set(predicted)) == 3
    assert np.array_equal(s.same, predicted == "versicolor")
    assert s.features == background.binarizer.literal_names(background.bits[60])
    assert s.groups == tuple(c for c in range(4) for _ in range(3))
    assert s.context == {
        "classifier": "DecisionTreeClassifier",
        "distribution": {"name": "perturbed", "background_rows": 150, "keep": 0.3},
        "seed": 5,
        "m": 400,
        "class": "versicolor",
    }
    json.dumps(s.context)
    merged = Samples.draw(tree, x, D, m=400, seed=5)
    assert merged == s.merged()
    assert merged.m < 400
    assert merged != Samples.draw(tree, x, D, m=400, seed=6)
    by_function = Samples.draw(lambda rows: tree.predict(rows), x, D, m=400, seed=5)
    assert by_function.context["classifier"] == "<lambda>"
    assert np.array_equal(by_function.agreement, merged.agreement)


def test_draw_takes_x_in_every_form(iris):
    table, background, tree = iris
    D = Product(background)
    want = Samples.draw(tree, table.iloc[[60]], D, m=50, seed=0)
    for x in (table.iloc[60], table.iloc[60].to_dict(), table.iloc[60].to_numpy()):
        assert Samples.draw(tree, x, D, m=50, seed=0) == want


def test_draw_refuses(iris):
    table, background, tree = iris
    D, x = Product(background), table.iloc[0]
    for m in (0, -1, 2.5, True, "9"):
        with pytest.raises(InvalidOption, match="m must be"):
            Samples.draw(tree, x, D, m=m, seed=0)
    for seed in (-1, None, 0.5, True):
        with pytest.raises(InvalidOption, match="seed must be"):
            Samples.draw(tree, x, D, m=5, seed=seed)
    with pytest.raises(DataError, match="x has 3 columns, the table has 4"):
        Samples.draw(tree, x.to_numpy()[:3], D, m=5, seed=0)
    with pytest.raises(ClassifierError, match="ZeroDivisionError"):
        Samples.draw(lambda rows: 1 / 0, x, D, m=5, seed=0)


def test_draw_of_bits_with_labels_of_any_type():
    for answer in (
        lambda z: z[:, 0].astype(str),
        lambda z: z[:, 0] > 0,
        lambda z: pd.Series(z[:, 0]),
    ):
        s = Samples.draw(answer, [0, 1], Uniform(2), m=100, seed=0)
        assert s.features == ("not x0", "x1")
        assert np.array_equal(s.same, s.agreement[:, 0])
        assert s.m == 4
