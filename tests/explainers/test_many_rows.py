from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.answers.explanations import Explanations


def _explainer() -> tuple[cpx.Explainer, Any]:
    data = load_iris(as_frame=True)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(data.data, data.target)
    return cpx.Explainer(model, data.data), data.data.iloc[::40]


def test_each_row_has_the_answer_it_has_alone() -> None:
    explainer, rows = _explainer()
    alone = [explainer.rule(rows.iloc[[i]], k=2, m=200) for i in range(len(rows))]
    assert len({*map(str, alone)}) > 1
    for n_jobs in (None, 2):
        found = explainer.rules(rows, k=2, m=200, n_jobs=n_jobs)
        assert list(found) == alone
        assert found.labels == tuple(rows.index)
    array = rows.to_numpy()
    plain = cpx.Explainer(lambda bits: bits[:, 0] > 5.5, np.asarray(load_iris().data))
    assert plain.rules(array[:2], k=2, m=200)[0] == plain.rule(array[0], k=2, m=200)


def test_the_plurals_of_all_kinds_are_collections_of_what_the_singulars_return() -> None:
    explainer, rows = _explainer()
    for one, many in (
        ("rule", "rules"),
        ("reason", "reasons"),
        ("contrast", "contrasts"),
        ("expectation", "expectations"),
    ):
        found = getattr(explainer, many)(rows)
        assert isinstance(found, Explanations)
        assert list(found) == [getattr(explainer, one)(label) for label in rows.index]
        assert found[1:].labels == found.labels[1:]
        assert list(found[1:]) == list(found)[1:]
        frame = found.to_frame()
        assert list(frame.index) == list(rows.index)
        assert list(frame["status"]) == ["OPTIMAL"] * len(rows)
        assert list(frame["size"]) == [len(x.features) for x in found]
        assert all(str(x) in str(found) for x in found)
        measured = any(x.precision is not None for x in found)
        head = ["row", *["precision", "coverage"] * measured, "explanation"]
        assert str(found).splitlines()[0].split() == head
        assert measured == (one == "rule")
        assert "<table" in found._repr_html_()


def test_a_row_without_an_answer_says_why() -> None:
    explainer, rows = _explainer()
    asked: dict[str, Any] = {"k": 1, "min_precision": 1, "min_coverage": 0.33}
    found = explainer.rules(rows, **asked)
    answered = [not x.why for x in found]
    assert {*answered} == {True, False}
    assert list(found.answered) == [x for x in found if not x.why]
    for label, one in zip(found.labels, found):
        if not one.why:
            assert one == explainer.rule(label, **asked)
            continue
        assert (str(one), one.precision, one.features) == ("(no answer)", None, ())
        assert str(one.status) == "INFEASIBLE"
        with pytest.raises(cpx.errors.Infeasible) as told:
            explainer.rule(label, **asked)
        assert one.why == str(told.value)
        assert one.why in one.summary()
    frame = found.to_frame()
    assert list(frame["precision"].isna()) == list(frame["why"] != "")


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_worker_of_a_cluster_that_dies_costs_no_row() -> None:
    distributed = pytest.importorskip("distributed")
    import joblib

    explainer, rows = _explainer()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        victim = next(iter(client.run(os.getpid).values()))
        # While the workers load what they need for their first rows.
        threading.Timer(0.5, os.kill, (victim, signal.SIGKILL)).start()
        found = explainer.rules(rows, k=2, m=200)
    assert list(found) == list(explainer.rules(rows, k=2, m=200))
