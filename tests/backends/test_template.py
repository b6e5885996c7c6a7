"""The template is a working backend: the conformance suite passes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cpx import KMonomial, Samples, save
from cpx.backends import TEMPLATE, names, register
from cpx.backends.TEMPLATE import Exhaustive
from cpx.testing import conformance


@pytest.fixture(scope="module", autouse=True)
def _registered():
    register(Exhaustive)
    yield
    from cpx.backends import _registered

    del _registered["exhaustive"]


@pytest.mark.parametrize("case", conformance.cases("monomial"), ids=str)
def test_optimum(case) -> None:
    conformance.check_case("exhaustive", case)


def test_it_is_listed_once_registered() -> None:
    assert "exhaustive" in names()


@pytest.mark.parametrize(
    "behaviour",
    [
        # It tries all rules three times.
        pytest.param(conformance.takes_a_hint, marks=pytest.mark.slow),
        conformance.keeps_a_short_limit,
        conformance.stops_when_told,
    ],
)
def test_behaviour(behaviour) -> None:
    behaviour("exhaustive")


def test_one_file_and_one_entry_point_are_all(tmp_path: Path) -> None:
    """In a package of others, found by the command and by its worker processes."""
    site = tmp_path / "site"
    about = site / "others-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "others.py").write_text(Path(TEMPLATE.__file__).read_text(encoding="utf-8"))
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[cpx.backends]\nexhaustive = others:Exhaustive\n")
    problem = KMonomial(Samples([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 0, 0]), k=2)
    save(problem, tmp_path / "tiny.json")

    def cpx(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "cpx.cli", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert "exhaustive" in cpx("backends")
    solved = json.loads(cpx("solve", "tiny.json", "-b", "exhaustive", "--isolate", "--json"))
    assert (solved["status"], solved["objective"], solved["verified"]) == ("OPTIMAL", 0, True)
