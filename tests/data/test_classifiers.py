import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from cpx.data import labels, named_classifier
from cpx.data.classifiers import CLASSIFIERS
from cpx.data.oracle import classifier_name
from cpx.errors import ClassifierError, InvalidOption, UnknownName

ROWS = np.zeros((3, 2))


def answering(answer):
    return lambda rows: answer


@pytest.mark.parametrize(
    "answer",
    [
        np.array([1, 0, 1]),
        [1, 0, 1],
        (1.0, 0.0, 1.0),
        np.array([[1], [0], [1]]),
        np.array(["b", "a", "b"]),
        np.array([True, False, True]),
        pd.Series(["b", "a", "b"], index=[5, 6, 7]),
        pd.Series(["b", "a", "b"], dtype="string"),
        pd.Categorical(["b", "a", "b"]),
        np.array(["b", 1, "b"], dtype=object),
    ],
)
def test_takes_labels(answer):
    array = labels(answering(answer), ROWS)
    assert isinstance(array, np.ndarray)
    assert array.shape == (3,)
    assert array[0] == array[2] != array[1]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "got NoneType"),
        (1, "got int"),
        ("abc", "got str"),
        ({1, 2, 3}, "got set"),
        (sparse.eye(3), "got dia_"),
        (np.int64(1), r"shape \(\)"),
        ([1, 0], r"shape \(2,\) for 3 rows"),
        ([], r"shape \(0,\)"),
        ([[1, 0, 1]], r"shape \(1, 3\)"),
        ([[1], [1, 2], [3]], "array of labels"),
        (np.full((3, 2), 0.5), "of probabilities the greatest"),
        ([0.2, 0.8, 0.5], "probabilities or a regression"),
        ([1.0, np.nan, 0.0], "no label .* 1 of 3 rows, the first being row 1"),
        (np.array(["a", None, "b"], dtype=object), "no label"),
        (pd.Series(["a", "b", None]), "no label .* row 2"),
        (pd.Series([1, 2, pd.NA], dtype="Int64"), "no label .* row 2"),
        (np.array([1j, 2, 3]), "complex128"),
        (np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), "datetime64"),
    ],
)
def test_refuses_what_is_no_label_vector(answer, message):
    with pytest.raises(ClassifierError, match=message):
        labels(answering(answer), ROWS)


def test_errors_of_the_classifier_are_chained():
    def broken(rows):
        raise KeyError("mean radius")

    with pytest.raises(ClassifierError, match="broken raised KeyError: 'mean radius'") as caught:
        labels(broken, ROWS)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(ClassifierError, match="NotFittedError"):
        labels(named_classifier("tree"), ROWS)


@pytest.mark.parametrize("f", [3, None, "mlp", np.zeros(3)])
def test_refuses_what_is_no_classifier(f):
    with pytest.raises(ClassifierError, match="predict or be callable"):
        labels(f, ROWS)


def test_a_class_is_no_classifier():
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(ClassifierError, match="predict or be callable"):
        labels(DecisionTreeClassifier, ROWS)


def mixed_table(n=60):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green"], n),
            "code": pd.Categorical(rng.integers(0, 3, n)),
            "flag": rng.integers(0, 2, n).astype(bool),
            "count": pd.array(rng.integers(0, 9, n), dtype="Int64"),
        }
    )
    y = np.where((table["size"] > 0) & (table["colour"] == "red"), "yes", "no")
    table.loc[:3, ["size", "colour", "code", "count"]] = None
    return table, y


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_named_classifiers_take_mixed_tables(name):
    table, y = mixed_table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the MLP need not converge here
        model = named_classifier(name, 0).fit(table, y)
        again = clone(model).fit(table, y)
    assert np.mean(labels(model, table) == y) > 0.8
    assert (labels(model, table) == labels(again, table)).all()
    assert set(labels(model, table)) == {"yes", "no"}
    strange = table.iloc[:2].assign(colour="blue", code=pd.Categorical([7, 8]))
    assert labels(model, strange).shape == (2,)


def test_named_classifiers_take_arrays():
    bits = np.random.default_rng(0).integers(0, 2, (50, 4), dtype=np.int8)
    assert (labels(named_classifier("tree").fit(bits, bits[:, 1]), bits) == bits[:, 1]).all()
    objects = np.array([[1.5, "a"], [2.5, "b"]] * 10, dtype=object)
    model = named_classifier("tree").fit(objects, [0, 1] * 10)
    assert model[0].transform(objects).shape == (20, 3)
    assert labels(model, objects).tolist() == [0, 1] * 10


def test_categories_are_told_apart_by_the_classifier():
    table = pd.DataFrame({"c": pd.Categorical([1, 2, 3, 1, 2, 3])})
    model = named_classifier("logistic").fit(table, [0, 1, 0, 0, 1, 0])
    assert labels(model, table).tolist() == [0, 1, 0, 0, 1, 0]  # not monotone in the number


def test_names_of_classifiers():
    assert classifier_name(named_classifier("mlp")) == "Pipeline(MLPClassifier)"
    assert classifier_name(answering) == "answering"


def test_named_classifier_refuses():
    with pytest.raises(UnknownName, match="did you mean 'forest'"):
        named_classifier("forrest")
    with pytest.raises(InvalidOption, match="seed"):
        named_classifier("mlp", -1)
