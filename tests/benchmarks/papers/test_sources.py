from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from benchmarks.papers.datasets import choose
from benchmarks.papers.sources import Directory, OpenML
from cpx.data import Binarizer
from cpx.errors import DataError

from .conftest import numbers, write_tables

(VOTE,) = choose(["vote"])
(BASEBALL,) = choose(["baseball"])


def test_a_directory_is_read_with_its_categories(data: Path) -> None:
    table = Directory(data).load(VOTE)
    assert list(table.X) == ["size", "weight", "code"]
    assert set(table.y) == {"big", "small"}
    names = Binarizer(categorical=table.categorical).fit(table.X).get_feature_names_out()
    assert {"code = 1", "code = 2", "code = 3"} <= set(names)


def test_the_identity_follows_the_file_and_its_types(data: Path) -> None:
    source = Directory(data)
    first = source.identity(VOTE)
    assert first == source.identity(VOTE) != source.identity(choose(["diabetes"])[0])
    write_tables(data, vote=(numbers(0), []))
    second = source.identity(VOTE)
    write_tables(data, vote=(numbers(2), []))
    assert len({first, second, source.identity(VOTE)}) == 3


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda folder: (folder / "vote.csv.gz").unlink(), ["'vote'", "vote.csv.gz"]),
        (lambda folder: (folder / "index.json").unlink(), ["index.json", "cannot be read"]),
        (lambda folder: (folder / "index.json").write_text("{"), ["index.json", "no JSON"]),
        (lambda folder: (folder / "index.json").write_text("{}"), ["index.json", "'vote'"]),
        (
            lambda folder: (folder / "index.json").write_text(
                json.dumps({"vote": {"categorical_columns": "code"}})
            ),
            ["index.json", "'categorical_columns'"],
        ),
    ],
)
def test_what_is_wrong_with_a_directory_is_named(
    data: Path, break_it: Any, words: list[str]
) -> None:
    break_it(data)
    with pytest.raises(DataError) as caught:
        Directory(data).identity(VOTE)
    assert all(word in str(caught.value) for word in words)


def test_names_of_rows_are_no_features(tmp_path: Path) -> None:
    text = "Player,hits,target\nA,1,x\nB,2,y\n"
    source = Directory(write_tables(tmp_path / "data", baseball=(text, ["Player"])))
    table = source.load(BASEBALL)
    assert list(table.X) == ["hits"]
    assert table.categorical == ()


def _fetcher(monkeypatch: pytest.MonkeyPatch, answer: Any) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def fetch_openml(**arguments: Any) -> Any:
        calls.append(arguments)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return calls


def test_openml_is_asked_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    X = pd.DataFrame({"Player": ["A", "B", "C"], "hits": [1.0, 2.0, 3.0]})
    y = pd.Series(["x", None, "y"], name="class")
    calls = _fetcher(monkeypatch, SimpleNamespace(data=X, target=y))
    table = OpenML().load(BASEBALL)
    assert calls == [{"data_id": 185, "as_frame": True, "parser": "auto"}]
    assert list(table.X) == ["hits"]
    assert table.X["hits"].tolist() == [1.0, 3.0]  # a row without a class is left out
    assert table.y.tolist() == ["x", "y"]
    assert OpenML().identity(BASEBALL) == "openml:185"


def test_a_failed_fetch_names_the_data_set_and_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _fetcher(monkeypatch, OSError("no network"))
    with pytest.raises(DataError) as caught:
        OpenML().fetch(VOTE)
    for word in ("'vote'", "OpenML 56", "no network", "--data DIR", "vote.csv.gz"):
        assert word in str(caught.value)


def test_a_data_set_without_a_target_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _fetcher(monkeypatch, SimpleNamespace(data=pd.DataFrame({"a": [1]}), target=None))
    with pytest.raises(DataError, match=r"'vote'.*no single target"):
        OpenML().load(VOTE)
