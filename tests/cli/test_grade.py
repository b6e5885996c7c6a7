"""``cpx grade``: encodings in Python files, by name, and models in files of solvers."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

from tests.cli.conftest import Run, instance
from tests.testing import counter


def test_a_right_and_a_wrong_one(run: Run, tmp_path: Path) -> None:
    source = inspect.getsource(counter)
    (tmp_path / "my.py").write_text(source)
    done = run("grade", "my.py", "--without", "limits", "-n", 30, "-t", "none")
    assert (done.exit_code, done.stdout.splitlines()[2][:21]) == (0, "right on 30 instances")
    (tmp_path / "my.py").write_text(source.replace("k - 1]) ", "k]) ").replace("~S[j", "S[j"))
    done = run("grade", "my.py:counter", "--without", "limits", "-n", 60, "-t", "none", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["right"], told["fault"]) == (False, "too weak")
    assert told["points"] < 1
    assert told["counterexample"]["instance"]["problem"] == "k-monomial"


def test_a_model_in_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "inst.json").write_text(json.dumps(instance()))
    assert run("export", "inst.json", "--to", "lp", "-o", "mine.lp").exit_code == 0
    done = run("grade", "mine.lp", "--instance", "inst.json")
    assert (done.exit_code, "right on 1 instance" in done.stdout) == (0, True)
    text = (tmp_path / "mine.lp").read_text()
    (tmp_path / "mine.lp").write_text(text.replace("c1: X_0_ + X_1_ + X_2_ <= 1", "c1: X_0_ <= 1"))
    done = run("grade", "mine.lp", "--instance", "inst.json")
    assert done.exit_code == 1
    assert "too weak: wrong on 1 of 1 instance" in done.stdout
    assert "problem    forbids it" in done.stdout
    done = run("grade", "mine.lp")
    assert done.exit_code == 2
    assert "states one instance" in done.stderr


def test_encodings_by_their_names(run: Run, tmp_path: Path) -> None:
    done = run("grade", "table1-literal", "-n", 40, "-t", "none")
    assert (done.exit_code, "wrong objective" in done.stdout) == (1, True)
    assert run("grade", "clausal", "--problem", "max-coverage", "-n", 10).exit_code == 0
    assert run("grade", "nothing.txt").exit_code == 2
    assert run("grade", "missing.py").exit_code == 2
