"""Which tables a benchmark is run on, as an environment variable says."""

from __future__ import annotations

import pytest

from benchmarks.__main__ import main
from benchmarks.choice import chosen


def test_names_are_chosen_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CPX_TABLES", raising=False)
    assert chosen("CPX_TABLES", {"a": 1, "b": 2}) == ["a", "b"]
    monkeypatch.setenv("CPX_TABLES", "b, a")
    assert chosen("CPX_TABLES", {"a": 1, "b": 2}) == ["b", "a"]


def test_an_unknown_table_is_told_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CPX_LEARNERS", "adult,compass")
    monkeypatch.delenv("CPX_AIX360", raising=False)
    assert main(["rule_learners"]) == 2
    told = capsys.readouterr().err
    assert "unknown name in CPX_LEARNERS 'compass' (did you mean 'compas'?)" in told
    assert "known: adult, breast cancer, compas, credit_approval, tic-tac-toe" in told
