"""With the folder of a family left out, all works that does not stand on it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from cpx.models import FAMILIES
from tests.test_layers import imports_of_families

# Found by every process of Python, workers included: the folder cannot be imported.
LEAVE_OUT = """
import os, sys
from importlib.abc import MetaPathFinder

class LeftOut(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        folder = os.environ.get("LEFT_OUT")
        if folder and (name == folder or name.startswith(folder + ".")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, LeftOut())
"""

WORKS = """
import sys
from dataclasses import replace
import cpx
from cpx import check
from cpx.backends.base import takes
from cpx.modelling import instances
from cpx.solving.run import default_engine
from cpx.support.families import families
from cpx.testing.cases import cases, names

left_out, wanted, comparing = sys.argv[1], set(sys.argv[2].split(",")) - {""}, len(sys.argv) > 4
assert not any(name.startswith("cpx.models." + left_out) for name in sys.modules)
assert cpx.__all__ and not {*cpx.__all__} & {*sys.argv[3].split(",")}
seen, asked = set(), []
for family in families():
    folder = family.name.replace("-", "_")
    if folder in wanted and family.cases:
        case = next(c for c in cases(*family.cases) if c.optimum is not None)
        saved = instances.loads(instances.dumps(case.problem))
        searched = takes(cpx.backends.backend("search"), saved)
        engine = "search" if searched else default_engine(saved)
        result = cpx.solve(saved, engine)
        assert result.verified and result.objective == case.optimum, (folder, result)
        assert check.violations(saved.to_dict(), result.to_dict()) == []
        seen.add(folder)
        asked.append(replace(saved, name=folder))
    assert folder != left_out
assert seen == wanted - {"decision_set"}, (seen, wanted)
if comparing and asked:
    found = cpx.compare(asked, ["cpsat", "search"], time_limit=60)
    assert all(run.result.verified for run in found.runs if run.result.objective is not None)
    assert {run.instance for run in found.runs if run.result.proved} >= seen
"""


EXPLAINS = """
import sys
from sklearn.tree import DecisionTreeClassifier
import cpx
from cpx.explainers.doors import kinds

rows, labels = [[0, 1], [1, 0], [2, 1], [3, 0]] * 5, [0, 0, 1, 1] * 5
explainer = cpx.Explainer(DecisionTreeClassifier().fit(rows, labels), rows)
there = {kind.name: kind.door.explainer.split(".")[2] for kind in kinds()}
for kind, folder in there.items():
    if folder in sys.argv[2].split(","):
        assert explainer.explain(0, kind=kind).why == ""
assert sys.argv[1] not in there.values()
if "rule" not in there:
    try:
        explainer.rule(0)
    except AttributeError as error:
        assert "Explainer has no attribute 'rule'" in str(error)
"""


def _run(folder: str, tmp_path: Path, *command: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(LEAVE_OUT, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    left_out = {"LEFT_OUT": f"cpx.models.{folder}", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, **left_out},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _independent(folder: str) -> list[str]:
    """Return the families that do not stand on one, whether at once or by way of others."""
    without = {folder}
    for family in FAMILIES:  # each stands on those before it only
        if without & imports_of_families()[family]:
            without.add(family)
    return [family for family in FAMILIES if family not in without]


def test_what_stands_on_what() -> None:
    assert _independent("expected_prediction") == [*FAMILIES[:-1]]
    assert "rule_set" not in _independent("monomial")


def _works(folder: str) -> tuple[str, ...]:
    names = import_module(f"cpx.models.{folder}").FAMILY.names
    return "-c", WORKS, folder, ",".join(_independent(folder)), ",".join(names)


@pytest.mark.parametrize("folder", FAMILIES)
def test_the_rest_solves_and_checks(folder: str, tmp_path: Path) -> None:
    _run(folder, tmp_path, *_works(folder))


@pytest.mark.parametrize("folder", ["monomial", "sufficient_reason", "expected_prediction"])
def test_the_rest_explains(folder: str, tmp_path: Path) -> None:
    _run(folder, tmp_path, "-c", EXPLAINS, folder, ",".join(_independent(folder)))
    _run(folder, tmp_path, "-m", "cpx", "explain", "--help")


@pytest.mark.parametrize("folder", FAMILIES)
def test_the_command_helps(folder: str, tmp_path: Path) -> None:
    _run(folder, tmp_path, "-m", "cpx", "--help")


@pytest.mark.slow
@pytest.mark.parametrize("folder", FAMILIES)
def test_the_rest_is_compared(folder: str, tmp_path: Path) -> None:
    _run(folder, tmp_path, *_works(folder), "compare")
