"""What was refuted is nowhere called proved: not in words, not as a bound, not in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner

import cpx
from cpx import check
from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.cli import app
from cpx.export import EXPORT_FORMS, export_bytes
from cpx.modelling.base import Problem
from cpx.options import SolveOptions
from cpx.solving.proofs import with_proof

SAMPLES = cpx.Samples(
    [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]], [1, 0, 0, 0], features=tuple("abcd")
)
PROBLEM = cpx.KMonomial(SAMPLES, k=1, name="four")


class Liar(Backend):
    """Calls the empty rule optimal, or fails after a bound."""

    name: ClassVar[str] = "liar"
    requires: ClassVar[dict[str, str]] = {}
    needs_model: ClassVar[bool] = False
    summary: ClassVar[str] = "lies"
    fails: ClassVar[bool] = False

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        value = progress.found(problem.explanation(()))
        progress.bound(1 if self.fails else 3)
        if self.fails:
            raise ArithmeticError("no more")
        return Outcome(True, Termination.COMPLETED, "OPTIMAL", int(value or 0))


@pytest.fixture(autouse=True)
def _liar(monkeypatch: pytest.MonkeyPatch) -> None:
    from cpx import backends

    known = backends.backend

    def found(name: str) -> Any:
        return Liar() if name == "liar" else known(name)

    for module in ("cpx.solving.run.find_backend", "cpx.backends.backend"):
        monkeypatch.setattr(module, found)


def claims(data: dict[str, Any]) -> list[Any]:
    points = [point[2] for point in data["trace"]]
    return [x for x in (data["bound"], data["gap"], *points) if x is not None]


@pytest.mark.parametrize("fails", [False, True])
def test_an_error_claims_nothing(monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    monkeypatch.setattr(Liar, "fails", fails)
    result = cpx.solve(PROBLEM, "liar")
    assert result.status == "ERROR"
    why = "ArithmeticError: no more" if fails else "check failed: bound: 3 is beyond the value"
    assert result.error.startswith(why)
    saved = json.loads(result.to_json())
    for found in (result, cpx.Result.from_dict(saved)):
        assert not claims(found.to_dict())
        assert found.explanation is not None
        assert found.explanation.claim is None
        assert not found.explanation.proved
        assert f"proved     nothing: {why}" in str(found)
        for text in (str(found), found._repr_html_(), found.to_json()):
            assert "optimal: no rule" not in text
            assert "at least" not in text
    assert not check.violations(PROBLEM.to_dict(), saved)


def test_an_error_of_before_is_read_without_its_claims() -> None:
    right = cpx.solve(PROBLEM, "search").to_dict()
    assert claims(right)
    old = {**right, "status": "ERROR", "error": "check failed: something"}
    read = cpx.Result.from_dict(old)
    assert not claims(read.to_dict())
    assert "is optimal" not in str(read)
    told = check.violations(PROBLEM.to_dict(), old)
    assert "bound: an ERROR has none" in told
    assert "claim: an ERROR has none" in told


def test_what_a_proof_refutes_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    from cpx.check.proofs.document import Refused
    from cpx.solving import proofs

    def refuses(*args: object, **options: object) -> None:
        raise Refused("a better rule")

    right = cpx.solve(PROBLEM, "search")
    monkeypatch.setattr(proofs, "prove", refuses)
    result = with_proof(PROBLEM, right)
    assert (result.status, result.bound, result.gap) == ("ERROR", None, None)
    assert "nothing: proof failed: a better rule" in str(result)


@pytest.mark.parametrize("form", EXPORT_FORMS)
def test_files_of_an_encoding_for_study_say_so(form: str) -> None:
    told = b"encoding 'table1-literal' is kept for study and is not the problem"
    assert told in export_bytes(PROBLEM, form, "table1-literal")
    assert b"kept for study" not in export_bytes(PROBLEM, form)


def test_the_command_warns_of_an_encoding_for_study(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    cpx.save(PROBLEM, "four.json")
    for command in (["export", "four.json", "--to", "wcnf", "-o", "f"], ["show", "four.json"]):
        done = CliRunner().invoke(app, [*command, "--encoding", "table1-literal"])
        assert done.exit_code == 0
        assert "cpx: warning: encoding 'table1-literal' is kept for study" in done.stderr
        assert not CliRunner().invoke(app, command).stderr
