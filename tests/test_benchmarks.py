"""Which tables a benchmark is run on, as an environment variable says; the mutants."""

from __future__ import annotations

import pytest

from benchmarks import mutate
from benchmarks.__main__ import main
from benchmarks.choice import chosen
from cpx.check.proof import wrong_features


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


def test_mutants_change_a_function_and_say_what() -> None:
    file = "cpx/check/proof.py"
    found = mutate.mutants_of(file)
    assert all(mutant.old != mutant.new for mutant in found)
    (mutant,) = (m for m in found if m.function == "wrong_features" and m.new == "0 < j < d")
    assert mutant.name == f"{file} wrong_features: 0 <= j < d -> 0 < j < d"
    function = mutate.function_of(file, "wrong_features")
    assert function is wrong_features
    code = function.__code__
    try:
        mutate.apply(mutant)
        assert wrong_features([0], 1) == ["features: [0] are not all indices from 0 to 0"]
    finally:
        function.__code__ = code
    assert wrong_features([0], 1) == []
