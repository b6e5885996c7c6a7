from __future__ import annotations

import json
import os
from typing import Any

import pytest

from .conftest import Run


def test_backends_lists_versions_and_options(run: Run) -> None:
    done = run("backends")
    assert done.exit_code == 0
    for text in ("cpsat", "milp", "maxsat", "rc2 (default)", "ortools 9.", "options"):
        assert text in done.stdout


def test_backends_json(run: Run) -> None:
    found = {entry["name"]: entry for entry in json.loads(run("backends", "--json").stdout)}
    assert found["cpsat"]["installed"] is True
    assert "seed" in found["cpsat"]["supported_options"]
    assert found["maxsat"]["solvers"][0] == "rc2"


def test_backends_shows_the_pip_line_of_a_missing_engine(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "ortools")
    assert "missing    pip install 'ortools" in run("backends").stdout


@pytest.mark.slow
def test_doctor_finds_nothing_wrong(run: Run) -> None:
    done = run("doctor")
    assert done.exit_code == 0, done.output
    assert "All installed engines work." in done.stdout


def test_doctor_reports_what_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from cpx.cli import engines

    def probe(names: list[str]) -> dict[str, Any]:
        return {"error": "" if names == ["cpsat"] else "it crashed", "load": 0.1, "solve": 0.1}

    monkeypatch.setattr(engines, "_probe", probe)
    done = run("doctor")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert any(line.startswith("cpsat ") and " ok " in line for line in lines)
    assert any(line.startswith("milp:highs ") and " FAILED " in line for line in lines)
    assert "    it crashed" in lines


def test_doctor_does_not_mind_what_is_not_installed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cpx.cli import engines

    hide(monkeypatch, "pysat")
    monkeypatch.setattr(engines, "_probe", lambda names: {"error": "", "load": 0, "solve": 0})
    done = run("doctor")
    assert "maxsat               not installed: pip install 'python-sat" in done.stdout
    assert done.exit_code == 0, done.output


def test_probe_proves_the_tiny_problem() -> None:
    from cpx.cli.probe import probe

    assert probe(["cpsat"])["error"] == ""


def test_a_probe_that_crashes_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    from cpx.cli import engines, probe

    assert "unknown backend 'no-such-engine'" in engines._probe(["no-such-engine"])["error"]
    monkeypatch.setattr(probe, "probe", os._exit)
    assert "ended with status 3" in engines._probe(3)["error"]


def hide(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    from cpx.backends import base

    real = base.find_spec
    monkeypatch.setattr(base, "find_spec", lambda name: None if name == module else real(name))
