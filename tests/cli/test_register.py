"""Own files, run by a command and its workers: ``--register FILE``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apart import apart

from .conftest import Run

ENCODING = """
from cpx.models import Encoding, add_encoding
from cpx.models.monomial.encodings.clausal import clausal

add_encoding("k-monomial", Encoding("mine", clausal))
"""
PROBLEM = """
from dataclasses import dataclass, field

import numpy as np

import cpx.check
from cpx.modelling.parameters import Integer, parameter
from cpx.models import register
from cpx.models.monomial.problem import WeightedProblem


@register
@dataclass(frozen=True, eq=False)
class Doubled(WeightedProblem):
    factor: int = field(default=2, metadata=parameter(Integer(1), "what a false alarm costs"))
    kind = "doubled"

    def costs(self):
        weights, same = self.samples.weights, self.samples.same
        return np.where(same, 0, self.factor * weights), np.where(same, weights, 0)

    def claim(self):
        return "cost"


cpx.check.register("doubled", lambda instance: lambda result: [])
"""
_EXAMPLE = (Path(__file__).parents[2] / "examples" / "your_own_backend.py").read_text("utf-8")
ENGINE = _EXAMPLE.partition("rng = ")[0].replace('"greedy"', '"steepest"')


@pytest.fixture
def cpx(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command among the files; nothing of them stays."""
    tiny = {"format": "cpx-instance", "version": 1, "problem": "k-monomial", "name": "tiny"}
    tiny |= {"parameters": {"k": 1}, "samples": ["110", "100", "010", "111"], "labels": "1100"}
    (tmp_path / "inst.json").write_text(json.dumps(tiny))
    (tmp_path / "doubled.json").write_text(json.dumps(tiny | {"problem": "doubled"}))
    (tmp_path / "mine.py").write_text(ENCODING)
    (tmp_path / "doubled.py").write_text(PROBLEM)
    (tmp_path / "steepest.py").write_text(ENGINE)
    monkeypatch.setenv("COLUMNS", "200")

    def alone(*words: str) -> object:
        with apart(files=True):
            return run(*words)

    return alone


def test_encodings(cpx: Run) -> None:
    own = ("--encoding", "mine", "--register", "mine.py")
    done = cpx("solve", "inst.json", "--backend", "cpsat", *own, "--json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["encoding"], result["objective"]) == ("mine", 1)
    assert "subject to" in cpx("show", "inst.json", *own).stdout
    assert cpx("export", "inst.json", "--to", "lp", "-o", "mine.lp", *own).exit_code == 0
    compared = cpx("compare", "inst.json", "-b", "cpsat", "--encoding", "clausal,mine", *own[2:])
    assert compared.exit_code == 0, compared.stderr
    assert "cpsat mine" in compared.stdout
    lacking = cpx("solve", "inst.json", "--encoding", "mine")
    assert (lacking.exit_code, "unknown encoding" in lacking.stderr) == (2, True)


def test_problems(cpx: Run) -> None:
    own = ("--register", "doubled.py", "--register", "mine.py")
    done = cpx("solve", "doubled.json", "-o", "result.json", *own)
    assert done.exit_code == 0, done.stderr
    assert "checked    the value" in done.stdout
    checked = cpx("check", "doubled.json", "result.json", *own)
    assert checked.stdout.startswith("OK OPTIMAL, value 2"), checked
    unknown = cpx("solve", "doubled.json")
    assert (unknown.exit_code, "unknown problem 'doubled'" in unknown.stderr) == (2, True)


def test_engines(cpx: Run, tmp_path: Path) -> None:
    own = ("--register", "steepest.py")
    assert "steepest" in cpx("backends", *own).stdout
    done = cpx("solve", "inst.json", "--backend", "steepest", "--no-warm-start", *own)
    assert done.exit_code == 3, done.stderr
    checked = cpx("conformance", "steepest", "--problem", "kernel-rule", *own)
    assert checked.stdout.splitlines()[0].split()[:2] == ["starts_alone", "ok"]
    (tmp_path / "steepest.py").write_text(f"import ortools.sat.python.cp_model\n{ENGINE}")
    # Of this set it takes no case, and the two checks before are enough.
    early = cpx("conformance", "steepest", "--problem", "learning", *own)
    assert "its module imports ortools before it solves" in early.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ny = x / 0", "wrong.py, line 2: ZeroDivisionError"),
        ("def f(:", "wrong.py: SyntaxError"),
        ("import no_such_module", "wrong.py, line 1: ModuleNotFoundError"),
        (None, "--register: there is no file "),
    ],
)
def test_what_is_wrong_with_a_file_is_told_first(
    cpx: Run, tmp_path: Path, text: str | None, told: str
) -> None:
    if text is not None:
        (tmp_path / "wrong.py").write_text(text)
    done = cpx("solve", "no.json", "--register", "wrong.py")
    assert done.exit_code == 2
    assert done.stderr.startswith("cpx: error: --register: ")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
