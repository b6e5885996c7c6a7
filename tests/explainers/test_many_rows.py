from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.answers.explanations import INTERRUPTED, Explanations
from cpx.errors import DataError, InvalidOption
from cpx.models.monomial.explainers.rule import RuleExplainer


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


@pytest.mark.parametrize("kind", ["rule", "reason", "contrast", "expectation"])
def test_a_row_that_cannot_be_read_says_so_and_holds_up_none(kind: str) -> None:
    explainer, rows = _explainer()
    odd = rows.assign(**{"petal width (cm)": [0.2, np.inf, *[1.8] * (len(rows) - 2)]})
    found = explainer.explain_many(odd, kind=kind)
    assert [bool(one.why) for one in found] == [False, True, *[False] * (len(rows) - 2)]
    assert "petal width (cm)" in found[1].why
    assert "inf" in found[1].why
    assert str(found[0]) == str(explainer.explain(rows.iloc[[0]], kind=kind))
    found.overview()
    assert "<dialog" in found.to_page()
    with pytest.raises(DataError, match="inf"):
        explainer.explain_many(odd.iloc[1:2], kind=kind)
    with pytest.raises(InvalidOption, match="n_jobs must be"):
        explainer.explain_many(rows, kind=kind, n_jobs=0)


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
        alone = explainer.rule(label, **asked)
        assert (one, one.why, one.status) == (alone, alone.why, alone.status)
        if not one.why:
            continue
        assert (str(one), one.precision, one.features) == ("(no answer)", None, ())
        assert str(one.status) == "INFEASIBLE"
        with pytest.raises(cpx.errors.Infeasible) as told:
            cpx.explain(explainer.model, explainer.X, label, **asked)
        assert one.why == str(told.value)
        assert told.value.result.status == one.status
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


class Counted:
    """A classifier that says how often it was asked, and about how many rows."""

    classes_ = np.array([0, 1, 2])

    def __init__(self, model: Any) -> None:
        self.model, self.asked = model, list[int]()

    def predict(self, rows: Any) -> Any:
        self.asked.append(len(rows))
        return self.model.predict(rows)

    def predict_proba(self, rows: Any) -> Any:
        return self.model.predict_proba(rows)


def test_equal_questions_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_iris(as_frame=True)
    model = Counted(
        DecisionTreeClassifier(max_depth=3, random_state=0).fit(data.data, data.target)
    )
    explainer = cpx.Explainer(model, data.data)
    solved: list[Any] = []
    explain = RuleExplainer.explain

    def noted(self: Any, x: Any, **asked: Any) -> Any:
        solved.append(x)
        return explain(self, x, **asked)

    monkeypatch.setattr(RuleExplainer, "explain", noted)
    found = explainer.rules(data.data, k=2)
    assert len(model.asked) == 2  # all rows of X, and all that are explained
    bits = explainer.of("rule").binarizer.transform(data.data)
    said = model.model.predict(data.data)
    assert len(solved) == len({(row.tobytes(), label) for row, label in zip(bits, said)}) < 100
    monkeypatch.undo()
    for label in (3, 60, 144):
        assert found[label] == explainer.rule(label, k=2)
        assert found[label].row == explainer.rule(label, k=2).row


@pytest.mark.parametrize("kind", ["rules", "reasons"])
def test_ctrl_c_keeps_what_was_answered(kind: str) -> None:
    explainer, rows = _explainer()
    told: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        told.append((done, total))
        if done == 2:
            signal.raise_signal(signal.SIGINT)

    found = getattr(explainer, kind)(rows, progress=stop)
    assert told[-1] == (2, 4)
    assert [one.why for one in found] == ["", "", INTERRUPTED, INTERRUPTED]
    assert not found.complete
    assert "not explained: interrupted" in str(found)
    assert "interrupted: 2 of 4 rows explained" in str(found)
    together = found.overview()  # of those that were asked about
    assert together.total == 2
    assert str(together) == str(found[:2].overview())
    assert getattr(explainer, kind)(rows.iloc[:2]).complete


def test_ctrl_c_during_a_solve_ends_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solve keeps it to itself and returns its incumbent."""
    explainer, rows = _explainer()
    answer = RuleExplainer._answer

    def interrupted(self: Any, x: Any, asked: Any) -> Any:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return answer(self, x, asked)

    monkeypatch.setattr(RuleExplainer, "_answer", interrupted)
    assert [one.why for one in explainer.rules(rows)] == [INTERRUPTED] * 4


def test_rows_of_other_types_are_read_one_by_one() -> None:
    explainer, rows = _explainer()
    frame = rows.astype(object)
    frame.iloc[1, 0] = np.nan
    with pytest.raises(cpx.errors.ClassifierError, match="NaN"):
        cpx.Explainer(lambda table: _no_nan(table), load_iris(as_frame=True).data).rules(frame)
    assert list(explainer.rules(rows.astype(object), k=2)) == list(explainer.rules(rows, k=2))


def _no_nan(table: Any) -> Any:
    if table.isna().to_numpy().any():
        raise ValueError("NaN in the table")
    return table.iloc[:, 0].to_numpy() > 5
