"""Which tables a benchmark is run on, as an environment variable says; the mutants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from benchmarks import mutate
from benchmarks.__main__ import main
from benchmarks.certificates import greatest
from benchmarks.choice import chosen
from benchmarks.tables import show
from cpx.check.claims import wrong_features


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


def test_rows_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> Iterator[list[object]]:
        assert "| model" in capsys.readouterr().out.replace("|    model", "| model")
        yield ["first", 1.0]
        assert "first" in capsys.readouterr().out
        yield ["second", None]

    show("a long run", ["model", "size"], rows())
    assert capsys.readouterr().out == "|   second |        - |\n"
    show("known before", ["model", "size"], [["a", 1]])
    assert capsys.readouterr().out.endswith(
        "| model | size |\n|------:|-----:|\n|     a |    1 |\n"
    )


def test_no_rule_is_above_what_the_samples_leave_possible() -> None:
    """In small worlds with known precisions, about the best that so many rules allow."""
    d, k, samples, unsure = 4, 2, 300, 0.05
    cube = np.array(list(product((0, 1), repeat=d)), dtype=bool)
    rules = [list(rule) for size in range(k + 1) for rule in combinations(range(d), size)]
    covered = np.array([cube[:, rule].all(axis=1) for rule in rules])
    rng = np.random.default_rng(0)
    above, widths = 0, []
    for _ in range(200):
        label = rng.random(len(cube)) < rng.random()
        counts = rng.multinomial(samples, np.full(len(cube), 1 / len(cube)))
        real = (covered @ label) / covered.sum(axis=1)
        seen = (covered @ (counts * label)) / (covered @ counts)
        limit = greatest(seen.max(), d, k, samples, unsure)
        above += real.max() > limit
        widths.append(limit - seen.max())
    assert above <= 10
    assert 0 < np.mean(widths) < 0.2
    assert greatest(0.5, d, k, 10, unsure) > 0.99
    # One rule, that covers all: the limit of Chernoff for a share.
    p = greatest(0.5, d, 0, 100, 0.01)
    assert 0.5 * math.log(0.25 / (p * (1 - p))) == pytest.approx(math.log(100) / 100, rel=1e-3)


def test_the_published_trees_are_told_one_by_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from benchmarks import boosted

    def lines(folder: Path) -> Iterator[list[object]]:
        assert "published boosted trees" in capsys.readouterr().out
        yield [folder.name, *range(11)]

    monkeypatch.setenv("CPX_BOOSTED", str(tmp_path / "models"))
    monkeypatch.setattr(boosted, "_lines", lines)
    boosted.main()
    assert "|   models |" in capsys.readouterr().out


def test_the_tests_of_cpmpy_are_run_and_counted(tmp_path: Path) -> None:
    from benchmarks.cpmpy_suite import _line

    (tmp_path / "conftest.py").write_text("raise RuntimeError('not to be read')")
    (tmp_path / "test_few.py").write_text("""
import cpmpy as cp
import pytest
from utils import skip_on_missing_pblib

def constraints(solver):
    x = cp.intvar(0, 3, shape=2, name="x")
    yield x[0] > x[1]
    yield cp.AllDifferent(x)

@pytest.mark.generate_constraints.with_args(constraints)
@skip_on_missing_pblib(skip_on_exception_only=True)
def test_solved(solver, constraint):
    assert cp.SolverLookup.get(solver, cp.Model(constraint)).solve()

class TestOfAClass:
    def test_wrong(self, solver):
        assert self.solver == "ortools"

    def test_left_out(self, solver):
        pytest.skip("not for this solver")
""")
    failures: list[str] = []
    line = _line(tmp_path, "test_few.py", "pulp:highs", failures)
    assert line == ["pulp:highs", "test_few.py", 4, 2, 1, 1]
    (failure,) = failures
    assert failure.startswith("pulp:highs, test_wrong: AssertionError")


def test_mutants_change_a_function_and_say_what() -> None:
    file = "cpx/check/claims.py"
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
