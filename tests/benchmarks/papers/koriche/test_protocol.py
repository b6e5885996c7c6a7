from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.papers.datasets import choose
from benchmarks.papers.koriche.protocol import BlackBox, Protocol, train
from benchmarks.papers.sources import Directory, Table
from cpx.errors import DataError, InvalidOption

(VOTE,) = choose(["vote"])


@pytest.fixture
def table(data: Path) -> Table:
    return Directory(data).load(VOTE)


@pytest.fixture
def box(table: Table) -> BlackBox:
    return train(table, Protocol())


def test_the_black_box_is_a_default_perceptron_on_uniform_bits(box: BlackBox) -> None:
    from sklearn.neural_network import MLPClassifier

    classifier = box.explainer.classifier
    assert classifier.get_params() == MLPClassifier(random_state=0).get_params()
    assert classifier.n_features_in_ == box.d
    assert box.explainer.distribution.name == "uniform"
    assert box.explainer.binarizer.strategy == "uniform"
    assert box.explainer.binarizer.n_bins == 3
    # Three bins of two numbers, and three codes.
    assert box.d == 9


def test_instances_come_from_rows_the_classifier_has_not_seen(box: BlackBox, table: Table) -> None:
    assert len(box.numbers) == 10
    assert len(set(box.numbers)) == 10
    for i, number in enumerate(box.numbers):
        x, _ = box.instance(i, 0)
        assert x.iloc[0].to_dict() == table.X.iloc[number].to_dict()
    bits = box.explainer.binarizer.transform(table.X).astype(np.int8)
    told = box.explainer.classifier.predict(bits[box.numbers])
    assert box.accuracy == np.mean(told == np.asarray(table.y)[box.numbers])


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_the_black_box_is_trained_on_the_other_rows(box: BlackBox, table: Table) -> None:
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier

    seen, kept = train_test_split(np.arange(40), test_size=0.25, random_state=0)
    assert kept.tolist() == box.numbers.tolist()
    bits = box.explainer.binarizer.transform(table.X).astype(np.int8)
    for rows, same in ((seen, True), (kept, False)):
        ours = MLPClassifier(random_state=0).fit(bits[rows], np.asarray(table.y)[rows])
        assert np.allclose(ours.coefs_[0], box.explainer.classifier.coefs_[0]) is same


def test_training_is_the_same_every_time(table: Table, box: BlackBox) -> None:
    again = train(table, Protocol())
    assert again.numbers.tolist() == box.numbers.tolist()
    for ours, theirs in zip(
        again.explainer.classifier.coefs_, box.explainer.classifier.coefs_, strict=True
    ):
        assert np.array_equal(ours, theirs)
    other = train(table, Protocol(seed=1))
    assert other.numbers.tolist() != box.numbers.tolist()


def test_an_instance_has_its_own_samples(box: BlackBox) -> None:
    x, explainer = box.instance(0, 0)
    again, same = box.instance(10, 0)  # the first row again, with other samples
    assert x.equals(again)
    assert box.row(10) == box.row(0)
    assert explainer.samples(x, 50) == box.instance(0, 0)[1].samples(x, 50)
    assert explainer.samples(x, 50) != same.samples(x, 50)


def test_tables_that_cannot_be_used(table: Table) -> None:
    one = replace(table, y=pd.Series(["big"] * len(table.y)))
    with pytest.raises(DataError, match="'big'"):
        train(one, Protocol())
    with pytest.raises(DataError, match="one row"):
        train(Table(table.X.iloc[:1], table.y.iloc[:1], table.categorical), Protocol())


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", -1), ("fresh", 0), ("test_share", 1.0), ("n_bins", 1), ("time_limit", 0)],
)
def test_wrong_parameters_are_named(name: str, value: float) -> None:
    with pytest.raises(InvalidOption, match=name):
        Protocol(**{name: value})
