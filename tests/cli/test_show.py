from __future__ import annotations

from pathlib import Path

import pytest

from cpx.export import EXPORT_FORMS, SHOW_FORMS

from .conftest import Run


@pytest.mark.parametrize("form", SHOW_FORMS)
def test_show_prints_every_form(run: Run, inst: Path, form: str) -> None:
    done = run("show", inst, "--as", form)
    assert done.exit_code == 0, done.output
    assert done.stdout.strip()


def test_full_shows_more(run: Run, hard: Path) -> None:
    cut, full = (run("show", hard, "--as", "wcnf", *more) for more in ((), ("--full",)))
    assert cut.exit_code == full.exit_code == 0
    assert len(full.stdout) > 3 * len(cut.stdout)


@pytest.mark.parametrize("form", EXPORT_FORMS)
def test_export_writes_every_form(run: Run, inst: Path, form: str) -> None:
    done = run("export", inst, "--to", form, "-o", "out")
    assert done.exit_code == 0, done.output
    assert Path("out").stat().st_size > 0
    assert done.stdout.startswith(f"wrote out: {form}, encoding clausal")


def test_check_prints_complaints_and_exits_1(run: Run, inst: Path) -> None:
    run("solve", inst, "--no-isolate", "-o", "result.json")
    text = Path("result.json").read_text()
    Path("wrong.json").write_text(text.replace('"objective": 1', '"objective": 0'))
    done = run("check", inst, "wrong.json")
    assert done.exit_code == 1
    assert "FAILED objective: the result says 0, the data give 1" in done.stdout
