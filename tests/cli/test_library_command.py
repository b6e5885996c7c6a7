"""The command cpx library."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpx import load
from cpx.library import SUITES, families, make, suite
from cpx.modelling.instances import fingerprint

from .conftest import Run


def test_families_and_suites_are_listed_in_words(run: Run) -> None:
    done = run("library")
    assert done.exit_code == 0
    for family in families().values():
        assert family.words in done.stdout
    for words in SUITES.values():
        assert words in done.stdout


def test_an_instance_is_saved_and_what_is_known_of_it_said(run: Run) -> None:
    done = run("library", "planted", "-m", 100, "-o", "made")
    path = Path("made/planted-m100-d24-k4-s0.json.gz")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{path}  value ")
    assert done.stdout.rstrip().endswith("optimal")
    assert fingerprint(load(path)) == fingerprint(make("planted", m=100))
    other = run("library", "planted", "-m", 100, "-d", 5, "--seed", 9, "-o", "made")
    assert "not solved before" in other.stdout


def test_a_suite_is_saved_whole(run: Run) -> None:
    assert run("library", "--suite", "try", "-o", "made").exit_code == 0
    names = {path.name for path in Path("made").iterdir()}
    assert names == {f"{entry.name}.json.gz" for entry in suite("try")}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["planted"], "--output"),
        (["plantd", "-o", "x"], "planted"),
        (["plantd"], "planted"),
        (["planted", "--suite", "try", "-o", "x"], "suite"),
        (["--suite", "try", "-m", "3", "-o", "x"], "sizes"),
        (["--suite", "tri", "-o", "x"], "try"),
        (["-m", "3"], "family"),
    ],
)
def test_wrong_usage_is_named(run: Run, arguments: list[str], named: str) -> None:
    done = run("library", *arguments)
    assert done.exit_code == 2
    assert named in done.output
    assert not Path("x").exists()
