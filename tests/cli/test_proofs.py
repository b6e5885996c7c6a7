"""``cpx solve --proof``, ``cpx check --proof`` and ``cpx check --prove``."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpx.modelling.instances import save
from cpx.models.sufficient_reason.draw import random_reason

from .conftest import Run


@pytest.mark.parametrize("name", ["proof", "proof.gz"])
def test_a_proof_is_written_and_checked(run: Run, inst: Path, name: str) -> None:
    done = run("solve", inst, "--no-isolate", "-o", "result.json", "--proof", name)
    assert done.exit_code == 0, done.output
    assert "of bound 1, 1 line" in done.stdout
    assert (Path(name).read_bytes()[:2] == b"\x1f\x8b") == (name == "proof.gz")
    done = run("check", inst, "result.json", "--proof", name)
    assert done.exit_code == 0, done.output
    assert "OK proof: it proves what is claimed" in done.stdout
    assert "the engine's word" not in done.stdout


def test_a_proof_is_made_of_any_answer(run: Run, inst: Path) -> None:
    assert run("solve", inst, "--no-isolate", "-o", "result.json").exit_code == 0
    assert "bound 1 (the engine's word)" in run("check", inst, "result.json").stdout
    done = run("check", inst, "result.json", "--prove")
    assert done.exit_code == 0, done.output
    assert "OK proof" in done.stdout
    assert "the engine's word" not in done.stdout


def test_a_wrong_bound_fails(run: Run, inst: Path) -> None:
    assert run("solve", inst, "--no-isolate", "-o", "result.json", "--proof", "p").exit_code == 0
    first, rest = Path("p").read_text().split("\n", 1)
    Path("p").write_text(first.replace('"bound": 1', '"bound": 2') + "\n" + rest)
    done = run("check", inst, "result.json", "--proof", "p")
    assert done.exit_code == 1
    assert "FAILED proof: line 2: a better rule" in done.stdout


def test_a_proof_of_less_than_is_claimed_is_no_confirmation(run: Run, inst: Path) -> None:
    assert run("solve", inst, "--no-isolate", "-o", "result.json", "--proof", "p").exit_code == 0
    first, rest = Path("p").read_text().split("\n", 1)
    Path("p").write_text(first.replace('"bound": 1', '"bound": 0') + "\n" + rest)
    done = run("check", inst, "result.json", "--proof", "p")
    assert done.exit_code == 3
    assert "UNDECIDED proof" in done.stdout
    assert "bound 1 (the engine's word, proved is 0)" in done.stdout


def test_wrong_arguments_are_named(run: Run, inst: Path) -> None:
    assert run("solve", inst, "-o", "r", "--proof", "r").exit_code == 2
    assert run("solve", inst, "--no-isolate", "-o", "r").exit_code == 0
    assert run("check", inst, "r", "--proof", "nowhere").exit_code == 2
    assert run("check", inst, "r", "--proof", "r", "--prove").exit_code == 2
    for seconds in ("-1", "0", "nan", "soon"):
        done = run("check", inst, "r", "--prove", "--time-limit", seconds)
        assert done.exit_code == 2, seconds
        assert "seconds" in done.stderr
    assert run("check", inst, "r", "--prove", "--time-limit", "none").exit_code == 0
    save(random_reason(0, definition="tree-specific"), "reason.json")
    done = run("solve", "reason.json", "-b", "cpsat", "--proof", "p")
    assert done.exit_code == 2
    assert "there are none for the definition tree-specific" in done.stderr
    assert not Path("p").exists()
