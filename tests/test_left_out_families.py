"""With the folder of a family left out, all works that does not stand on it."""

from __future__ import annotations

import json
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
assert seen == wanted - {"decision_set", "all_kinds"}, (seen, wanted)
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


# What all of them import is imported once, where processes can be forked.
RUNS = """
import json, os, runpy, sys, traceback
import cpmpy, numpy, ortools.sat.python.cp_model, pandas, sklearn.tree, typer

def run(folder, code, words):
    os.environ["LEFT_OUT"] = "cpx.models." + folder
    sys.argv = ["", *words]
    if code:
        exec(code, {"__name__": "__main__"})
        return
    try:
        runpy.run_module("cpx", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        assert not ended.code, ended

*before, last = json.load(sys.stdin)
failed = []
for job in before:
    child = os.fork()
    if not child:
        try:
            run(*job)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append([job[0], job[1][:20], *job[2]])
run(*last)
assert not failed, failed
"""

Job = tuple[str, str, list[str]]
"""The family that is left out, code or none for the command, and its arguments."""


def _run(tmp_path: Path, *jobs: Job) -> None:
    (tmp_path / "sitecustomize.py").write_text(LEAVE_OUT, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    for batch in [jobs] if hasattr(os, "fork") else [[job] for job in jobs]:
        done = subprocess.run(
            [sys.executable, "-c", RUNS],
            input=json.dumps(batch),
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
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
    assert _independent("expected_prediction") == [*FAMILIES[:-2]]
    assert _independent("all_kinds") == [*FAMILIES[:-1]]
    assert "rule_set" not in _independent("monomial")


def _works(folder: str, *more: str) -> Job:
    names = import_module(f"cpx.models.{folder}").FAMILY.names
    return folder, WORKS, [folder, ",".join(_independent(folder)), ",".join(names), *more]


def test_the_rest_solves_explains_and_helps(tmp_path: Path) -> None:
    folders = ("monomial", "sufficient_reason", "expected_prediction")
    explains = [(folder, EXPLAINS, [folder, ",".join(_independent(folder))]) for folder in folders]
    helps = [(folder, "", ["explain", "--help"]) for folder in folders]
    helps += [(folder, "", ["--help"]) for folder in FAMILIES]
    _run(tmp_path, *map(_works, FAMILIES), *explains, *helps)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FAMILIES)
def test_the_rest_is_compared(folder: str, tmp_path: Path) -> None:
    _run(tmp_path, _works(folder, "compare"))
