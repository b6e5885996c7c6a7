"""Preparation takes its part of the time limit, and little processor time a column."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.backends import Backend
from cpx.backends.search import Search
from cpx.data.frames import row_like
from cpx.errors import DataError
from cpx.explainers import explainer, preparation
from cpx.models.sufficient_reason import contrast

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.integers(0, 3, (60, 4)), columns=list("abcd"))
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, (X["a"] > 0) & (X["b"] < 2))


class _Clock:
    """Time that passes when a classifier is asked."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """The limits that the engine is given."""
    Search._preload()
    seen: list[float | None] = []
    solve = Search.solve

    def noting(self: Backend, problem: Any, options: Any, progress: Any) -> Any:
        seen.append(options.time_limit)
        return solve(self, problem, options, progress)

    monkeypatch.setattr(Search, "solve", noting)
    return seen


@pytest.mark.parametrize(("took", "left"), [(4.0, 16.0), (19.0, 2.0), (500.0, 2.0)])
def test_what_is_left_is_the_limit_of_the_engine(
    monkeypatch: pytest.MonkeyPatch, limits: list[float | None], took: float, left: float
) -> None:
    clock = _Clock()
    monkeypatch.setattr(preparation, "monotonic", clock)
    asked = iter([took])

    def slow(rows: pd.DataFrame) -> np.ndarray:
        clock.now += next(asked, 0.0)
        return TREE.predict(rows)

    found = cpx.explain(slow, X, X.iloc[3], k=2, time_limit=20)
    assert limits[0] == pytest.approx(left)
    assert found.result.options["time_limit"] == 20


def test_reading_a_forest_takes_nothing_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, read = _Clock(), explainer.read_model
    monkeypatch.setattr(preparation, "monotonic", clock)

    def slow(model: Any, **options: Any) -> Any:
        clock.now += 500.0
        return read(model, **options)

    monkeypatch.setattr(explainer, "read_model", slow)
    left: list[float | None] = []
    of_limit = contrast.left_of
    monkeypatch.setattr(contrast, "left_of", lambda limit: left.append(of_limit(limit)))
    cpx.explain(TREE, X, X.iloc[3], kind="contrast", time_limit=20)
    assert clock.now == 600.0
    assert left[0] == 20


def test_no_limit_stays_none(limits: list[float | None]) -> None:
    cpx.explain(TREE, X, X.iloc[3], k=2, time_limit=None)
    assert limits[0] is None


def test_a_wrong_limit_is_refused_as_before() -> None:
    with pytest.raises(cpx.errors.InvalidOption, match="time_limit"):
        cpx.explain(TREE, X, X.iloc[3], k=2, time_limit=0)


_CALLS_A_COLUMN = """
import sys
import numpy as np, pandas as pd
import cpx
from cpx.models.monomial.explainers.rule import RuleExplainer

def calls(act):
    count = 0
    def note(frame, event, arg):
        nonlocal count
        count += event == "call"
    sys.setprofile(note)
    act()
    sys.setprofile(None)
    return count

d = 2000
cells = np.random.default_rng(0).integers(0, 2, (30, d))
wide = pd.DataFrame(cells, columns=[f"g{i}" for i in range(d)])
explainer = RuleExplainer(lambda rows: rows["g0"].to_numpy(), wide)
for act in (
    lambda: explainer.binarizer.fit(wide),
    lambda: explainer.oracle(wide.iloc[0]).bits,
    lambda: explainer.binarizer.transform(wide),
):
    print(calls(act) / d)
"""


def test_a_column_costs_few_calls() -> None:
    """Calls of Python functions are counted: what a machine's load does not change.

    In a process of its own: a profile that was set between other tests hung once.
    """
    done = subprocess.run(
        [sys.executable, "-c", _CALLS_A_COLUMN], capture_output=True, text=True, timeout=240
    )
    # 280 calls a column where pandas handles each by itself.
    fit, row, transform = map(float, done.stdout.split())
    assert (fit < 60, row < 30, transform < 20) == (True, True, True), done


@pytest.mark.parametrize(
    "cells",
    [
        {},
        {"i": 2**53 + 1},
        {"i": 1.5},
        {"i": np.nan},
        {"i": True},
        {"f": 3},
        {"f": np.nan},
        {"f": 10**400},
        {"u": -1},
        {"t": None},
        {"t": 5},
        {"b": 1},
    ],
)
def test_a_row_is_like_the_table_cell_by_cell(cells: dict[str, Any]) -> None:
    table = pd.DataFrame(
        {
            "i": [1, 2],
            "f": [0.5, 1.5],
            "j": [3, 4],
            "t": ["a", "b"],
            "u": np.array([1, 2], dtype=np.uint8),
            "b": [True, False],
        }
    )
    usual: dict[str, Any] = {"i": 1, "f": 0.5, "j": 4, "t": "b", "u": 2, "b": True}
    given = {**usual, **cells}
    row = pd.DataFrame([[given[c] for c in table]], columns=list(table), dtype=object)
    if given["f"] == 10**400:
        with pytest.raises(DataError):
            row_like(row, table)
        return
    found = row_like(row, table)
    assert list(found.columns) == list(table.columns)
    for name, value in given.items():
        got = found[name].iloc[0]
        assert (pd.isna(got) and pd.isna(value)) or got == value
        if name not in cells:
            assert found[name].dtype == table[name].dtype
