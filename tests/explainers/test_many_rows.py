from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.answers.result import Result, Times


def _explainer() -> tuple[cpx.Explainer, Any]:
    data = load_iris(as_frame=True)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(data.data, data.target)
    return cpx.Explainer(model, data.data), data.data.iloc[::40]


def _said(results: list[Result]) -> list[Result]:
    """Return what does not depend on the clock."""
    return [replace(result, times=Times(), trace=(), memory=None) for result in results]


def test_each_row_has_the_answer_it_has_alone() -> None:
    explainer, rows = _explainer()
    alone = [explainer.solve(rows.iloc[[i]], k=2, m=200) for i in range(len(rows))]
    assert len({str(result.explanation) for result in alone}) > 1
    for n_jobs in (None, 2):
        found = cpx.explain_rows(explainer, rows, k=2, m=200, n_jobs=n_jobs)
        assert _said(found) == _said(alone)
    array = rows.to_numpy()
    plain = cpx.Explainer(lambda bits: bits[:, 0] > 5.5, np.asarray(load_iris().data))
    assert len(cpx.explain_rows(plain, array[:2], k=2, m=200)) == 2


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
        found = cpx.explain_rows(explainer, rows, k=2, m=200)
    assert _said(found) == _said(cpx.explain_rows(explainer, rows, k=2, m=200))
