"""Exported files, read by programs that are not ours, where these are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cpx.export import export_bytes, read_legend
from cpx.modelling.encodings import stated_in
from cpx.modelling.ratio import RatioProblem
from cpx.testing import cases

GROUPS = cases.names()


def said(*command: object) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout


def clasp(path: Path) -> int | None:
    lines = said("clasp", path).splitlines()
    assert ends(lines, "s ") in (["s OPTIMUM FOUND"], ["s UNSATISFIABLE"]), lines
    values = ends(lines, "o ")
    return int(values[0][2:]) if values else None


def ends(lines: list[str], start: str) -> list[str]:
    return [line for line in lines if line.startswith(start)][-1:]


def glpsol(path: Path) -> int | None:
    answer = path.with_suffix(".out")
    form = {".lp": "--lp", ".mps": "--freemps"}[path.suffix]
    printed = said("glpsol", form, path, "-w", answer)
    assert "rror" not in printed, printed
    (line,) = ends(answer.read_text().splitlines(), "s ")
    _, _, _, _, status, value = line.split()
    assert status in "on" or re.search("HAS NO (PRIMAL|INTEGER) FEASIBLE", printed), printed
    return round(float(value)) if status == "o" else None


def cbc(path: Path) -> int | None:
    answer = path.with_suffix(".out")
    said("cbc", path, "-ratio", "0", "solve", "solution", answer)
    first = answer.read_text().splitlines()[0]
    if "nfeasible" in first:
        return None
    assert first.startswith("Optimal"), first
    return round(float(first.split()[-1]))


def gecode(path: Path) -> int | None:
    printed = said("fzn-gecode", path)
    if "=====UNSATISFIABLE=====" in printed:
        return None
    assert printed.rstrip().endswith("=========="), printed
    return int(re.findall(r"value = (-?[0-9]+);", printed)[-1])


def minizinc(path: Path) -> int | None:
    printed = said("minizinc", "--solver", "gecode", path)
    if "=====UNSATISFIABLE=====" in printed:
        return None
    assert printed.rstrip().endswith("=========="), printed
    return int(re.findall(r"objective = (-?[0-9]+)", printed)[-1])


def rc2(path: Path) -> int | None:
    """Read by the parser of PySAT, not by one of these tests."""
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    with RC2(WCNF(from_file=str(path))) as solver:
        return None if solver.compute() is None else int(solver.cost)


def scip(path: Path) -> int | None:
    pyscipopt = pytest.importorskip("pyscipopt")
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    assert model.getStatus() in ("optimal", "infeasible")
    return round(model.getObjVal()) if model.getStatus() == "optimal" else None


def stated() -> list[tuple[cases.Case, str]]:
    """Return each case with each faithful encoding; a ratio's file is a step, without optimum."""
    return [
        (case, encoding)
        for group in GROUPS
        for case in cases.cases(group)
        for encoding in case.encodings
        if not case.problem._unstated
        and not isinstance(case.problem, RatioProblem)
        and stated_in(case.problem, encoding).faithful
    ]


@pytest.mark.parametrize(
    ("form", "ask", "program"),
    [
        ("opb", clasp, "clasp"),
        ("opb", scip, None),
        ("wcnf", rc2, None),
        ("lp", glpsol, "glpsol"),
        ("lp", cbc, "cbc"),
        ("lp", scip, None),
        ("mps", glpsol, "glpsol"),
        ("mps", cbc, "cbc"),
        ("mps", scip, None),
        ("flatzinc", gecode, "fzn-gecode"),
        ("minizinc", minizinc, "minizinc"),
    ],
)
def test_programs_find_the_optimum(
    form: str, ask: Any, program: str | None, tmp_path: Path
) -> None:
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"the program {program} is not installed")
    step = 60 if form == "minizinc" else 12
    for case, encoding in stated()[::step]:
        data = export_bytes(case.problem, form, encoding)
        path = tmp_path / f"problem.{'mzn' if form == 'minizinc' else form}"
        path.write_bytes(data)
        value = ask(path)
        found = None if value is None else read_legend(data).objective(value)
        if form == "minizinc":  # prints the objective itself
            found = value
        assert found == case.optimum, (case, encoding)


@pytest.mark.parametrize("ask", [glpsol, cbc, scip])
def test_a_program_without_rows(ask: Any, tmp_path: Path) -> None:
    if ask is not scip and shutil.which(ask.__name__) is None:
        pytest.skip(f"the program {ask.__name__} is not installed")
    (case,) = [c for c in cases.cases("certificate") if str(c) == "certificate_empty"]
    path = tmp_path / "problem.lp"
    path.write_bytes(export_bytes(case.problem, "lp", "order"))
    assert ask(path) == case.optimum == 0
