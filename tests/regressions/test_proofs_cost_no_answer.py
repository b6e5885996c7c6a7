"""An answer that was found stays, whatever happens while its proof is made or written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cpx
from cpx import check
from cpx.check import proofs as checker
from cpx.cli import app
from cpx.data.coding import Coding
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.errors import OutputError
from cpx.modelling.base import Problem
from cpx.solving import proofs
from cpx.trees import Attribute, Tree, TreeModel

N = 2000
SAMPLES = cpx.Samples([[1, 1], [1, 0], [0, 1]], [1, 1, 0], features=("a", "b"))


def deep(side: str) -> TreeModel:
    """Return one tree of N tests, each with a leaf; leaves are of one class and the other."""
    if side == "left":
        attribute = [0] * N + [-1] * (N + 1)
        split = [*range(N - 1, -1, -1)] + [0] * (N + 1)
    else:
        attribute = [0, -1] * N + [-1]
        split = [place for i in range(N) for place in (i, 0)] + [0]
    values = [[1.0 if i % 2 else -1.0] for i in range(N + 1)]
    tree = Tree(attribute, split, [0] * len(attribute), values, (0,))
    cuts = [[i + 0.5 for i in range(N)], []]
    columns = [Attribute("a"), Attribute("b")]
    return TreeModel(columns, ["no", "yes"], [tree], cuts, "sum", "positive", [0.0])


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_reason_from_a_deep_tree_is_proved(side: str, tmp_path: Path) -> None:
    problem = cpx.SufficientReason(deep(side), (7.0, 0.0))
    cpx.save(problem, tmp_path / "deep.json")
    problem = cpx.load(tmp_path / "deep.json")
    result = cpx.solve(problem, "hitting-sets", proof=True)
    assert (result.status, result.objective) == ("OPTIMAL", 1)
    assert result.verified
    assert result.proof is not None
    claim = checker.proved(problem.to_dict(), result.proof.to_bytes())
    assert claim.bound == 1
    assert "row" in str(result.proof)


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_expectation_of_a_deep_tree_is_proved(side: str) -> None:
    model = deep(side)
    rows = [[i, 0] for i in range(0, N, 100)]
    coding = Coding.fit(rows, names=["a", "b"], cuts=model.thresholds)
    tables = []
    for states in coding.cardinalities:
        shares = [ONE // states] * states
        shares[0] += ONE - sum(shares)
        tables.append([shares])
    problem = cpx.MLSE(model, (700.0, 0.0), coding, TreeMixture([ONE], None, [tables]), k=1)
    result = cpx.solve(problem, "search", proof=True)
    assert result.status == "OPTIMAL"
    assert result.verified
    assert result.proof is not None
    assert not check.violations(problem.to_dict(), result.to_dict())


@pytest.mark.parametrize(
    "raised",
    [RecursionError("too deep"), MemoryError(), OSError(28, "no space"), KeyboardInterrupt()],
)
def test_what_ends_the_proof_ends_no_answer(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException
) -> None:
    def fails(*args: object, **options: object) -> None:
        raise raised

    monkeypatch.setattr("cpx.models.monomial.prove.prove", fails)
    result = cpx.solve(cpx.KMonomial(SAMPLES, k=1), "search", proof=True)
    assert (result.status, result.objective, result.proof) == ("OPTIMAL", 0, None)
    told = f"no proof was made: {type(raised).__name__}"
    assert result.warnings[-1].startswith(told)


def test_the_answer_comes_before_the_error_of_its_proof(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(self: object, path: Path) -> None:
        raise OutputError(f"cannot write {path}: No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cpx.answers.proof.Proof.save", full)
    cpx.save(cpx.KMonomial(SAMPLES, k=1), "one.json")
    asked = ["solve", "one.json", "-b", "search", "-o", "r.json", "--proof", "p", "--no-isolate"]
    done = CliRunner().invoke(app, asked)
    assert "loss 0 of 3 is optimal" in done.stdout
    assert json.loads(Path("r.json").read_text())["status"] == "OPTIMAL"
    assert isinstance(done.exception, OutputError) or done.exit_code == 2


def test_the_answer_is_written_before_its_proof_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = []

    def looks(problem: Problem, result: cpx.Result, *others: object) -> cpx.Result:
        seen.append(json.loads(Path("r.json").read_text())["objective"])
        return result

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(proofs, "with_proof", looks)
    cpx.save(cpx.KMonomial(SAMPLES, k=1), "one.json")
    asked = ["solve", "one.json", "-b", "search", "-o", "r.json", "--proof", "p", "--no-isolate"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert seen == [0]
