"""The solvers of PuLP beside HiGHS and CBC: what is installed solves everything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import cpmpy as cp
import numpy as np
import pytest
from pulp import constants

import cpx
from cpx.answers.result import Status
from cpx.backends import backend, backend_class
from cpx.backends.milp import Milp
from cpx.backends.milp.pulp_solver import CPM_pulp
from cpx.backends.milp.watch import Watch
from cpx.errors import EngineMissing, UnknownName
from cpx.testing import conformance

NAMES = tuple(Milp.others)
TURNS = [
    (case, case.encodings[number % len(case.encodings)])
    for number, case in enumerate(
        conformance.cases("monomial", "stated-reason", "certificate", "rule-set")
    )
]


def engine(name: str, *marks: pytest.MarkDecorator) -> object:
    absent = not Milp.others[name].available()
    skip = pytest.mark.skipif(absent, reason=f"{name} is not installed")
    return pytest.param(f"milp:{name}", marks=[skip, *marks], id=name)


EACH = [engine(name) for name in NAMES]
SLOW = [engine(name, pytest.mark.slow) for name in NAMES]


@pytest.mark.parametrize("name", EACH)
def test_cases_in_turn(name: str) -> None:
    step = 60 if backend(name)._needs_worker else 6
    for case, encoding in TURNS[::step]:
        conformance.check_case(name, case, encoding)


@pytest.mark.parametrize("name", SLOW)
def test_all_cases(name: str) -> None:
    for case, encoding in TURNS:
        conformance.check_case(name, case, encoding)


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda b: b.__name__)
def test_behaviour(name: str, behaviour) -> None:
    behaviour(name)


@pytest.mark.parametrize("name", [engine(name) for name in ("scip", "gurobi")])
def test_bounds_of_a_stopped_search_are_bounds(name: str) -> None:
    rng = np.random.default_rng(3)
    agreement = rng.random((250, 14)) < 0.6
    same = agreement[:, :3].all(axis=1) ^ (rng.random(250) < 0.2)
    problem = cpx.KMonomial(cpx.Samples(agreement, same), k=4)
    optimum = cpx.solve(problem, "search").objective
    # On a busy machine a limit may be over before there is a bound that took a search.
    for limit in (0.7, 3, 15, 90):
        result = cpx.solve(problem, name, time_limit=limit)
        if result.status is Status.ERROR:
            assert "Model too large" in result.error
            return
        if result.bound:
            break
    assert result.bound is not None
    assert 0 < result.bound <= optimum
    assert result.objective is None or result.objective >= optimum


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("sense", ["min", "max"])
def test_cpmpy_models_on_every_solver(name: str, sense: str) -> None:
    x = cp.intvar(-2, 5, shape=2, name="x")
    total = 2 * x[0] + x[1] + 7
    rules = [x[0] != x[1], x[0] + x[1] <= 4, x[0] + x[1] >= -3]
    model = cp.Model(rules, minimize=total) if sense == "min" else cp.Model(rules, maximize=total)
    solver = CPM_pulp(model, subsolver=name.partition(":")[2])
    assert solver.solve()
    assert solver.objective_value() == (2 if sense == "min" else 16)
    wrong = CPM_pulp(cp.Model([*rules, cp.sum(x) >= 5]), subsolver=name.partition(":")[2])
    assert not wrong.solve()


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("precision", ["2/5", "1"])
def test_the_gap_is_that_of_the_objective_with_its_constant(name: str, precision: str) -> None:
    # 2 of 3 are not covered, and 1 may be all: a gap of a half, but of a whole of what is.
    table = np.array([[1, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool)
    problem = cpx.MaxCoverage(cpx.Samples(table, [1, 0, 0]), k=2, min_precision=precision)
    result = cpx.solve(problem, name, gap=0.5)
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE), result.error
    assert result.gap is not None
    assert result.gap <= 0.5


@pytest.mark.parametrize("name", EACH)
def test_the_gap_of_a_coverage_of_one_where_two_may_be_possible(name: str) -> None:
    # Covering 1 or 2 of 5 is a gap of a whole; of what is not covered, 3 or 4, it is a quarter.
    table = [[1, 1, 0, 1, 1], [1, 1, 1, 1, 0], [0, 1, 1, 1, 1], [1, 0, 1, 1, 1]]
    samples = cpx.Samples(np.array(table, dtype=bool), [1, 1, 0, 0], weights=[1, 1, 1, 2])
    result = cpx.solve(cpx.MaxCoverage(samples, k=4, min_precision="19/20"), name, gap=0.5)
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE), result.error
    assert result.gap is not None
    assert result.gap <= 0.5


def _scip_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PuLP's own SCIP, which is told no constant, stand for those that answer at the end."""
    pytest.importorskip("pyscipopt")
    from cpx.backends.milp import commercial as module

    scip = module._Known(
        "SCIP_PY",
        lambda model: float(model.getDualbound()),
        lambda model: model.getStatus(),
        lambda gap, threads, seed: {"gapAbs": gap},
    )
    monkeypatch.setitem(module.KNOWN, "cplex", scip)
    monkeypatch.setattr(Milp.others["cplex"], "requires", {})
    monkeypatch.setattr(Milp.others["cplex"], "_needs_worker", False)


def test_the_gap_of_those_that_answer_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    _scip_at_the_end(monkeypatch)
    test_the_gap_is_that_of_the_objective_with_its_constant("milp:cplex", "2/5")
    test_the_gap_is_that_of_the_objective_with_its_constant("milp:cplex", "1")
    test_the_gap_of_a_coverage_of_one_where_two_may_be_possible("milp:cplex")
    for case, encoding in TURNS[::25]:
        conformance.check_case("milp:cplex", case, encoding)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_those_that_answer_at_the_end_solve_twice(
    monkeypatch: pytest.MonkeyPatch, sense: str
) -> None:
    _scip_at_the_end(monkeypatch)
    x = cp.intvar(-2, 5, shape=2, name="x")
    model, total = cp.Model(x[0] != x[1], cp.sum(x) <= 4, cp.sum(x) >= -3), 2 * x[0] + x[1] + 7
    solver = CPM_pulp(model, subsolver="cplex")
    for more in (0, 5):
        solver.objective(total + more, minimize=sense == "min")
        bounds: list[float] = []
        solver.run(solver.pulp_solver(Watch(bound=bounds.append)))
        assert bounds == pytest.approx([(2 if sense == "min" else 16) + more])
        assert solver.lp.objective.value() == bounds[0]


def test_names() -> None:
    assert backend("milp").full_name == "milp:highs"
    assert set(CPM_pulp.solvernames(installed=False)) == {"highs", "cbc", *NAMES}
    assert {"milp:highs", "milp:cbc"} <= set(backend_class("milp").installed())
    with pytest.raises(UnknownName, match="did you mean 'gurobi'"):
        backend("milp:gurobbi")


def test_missing_package_has_its_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Milp.others["mosek"], "requires", {"no_mosek_": "mosek>=10"})
    with pytest.raises(EngineMissing, match=r"milp:mosek.*pip install 'mosek>=10'"):
        cpx.solve(conformance.cases("monomial")[0].problem, "milp:mosek")


def test_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Milp.others["glpk"], "_program", "no-such-program")
    with pytest.raises(EngineMissing, match="'no-such-program', which milp:glpk needs"):
        cpx.solve(conformance.cases("monomial")[0].problem, "milp:glpk")


@pytest.mark.parametrize("text", ["", "c Problem:\ns mip 1 1 o 2\nj 1 2\n"])
def test_a_solution_of_glpk_that_is_cut_off_is_none(tmp_path: Path, text: str) -> None:
    from cpx.backends.milp.glpk import GlpkSolver

    solver = GlpkSolver.__new__(GlpkSolver)
    path = tmp_path / "solution.txt"
    path.write_text(text)
    codes = solver._read_back([], path)
    assert codes == (constants.LpStatusNotSolved, constants.LpSolutionNoSolutionFound)
    assert solver.raw_status == "ended while it wrote its solution"


def test_a_solver_whose_library_is_missing_says_so(tmp_path: Path) -> None:
    (tmp_path / "xpress").mkdir()
    words = "libxprs.so: cannot open shared object file"
    (tmp_path / "xpress" / "__init__.py").write_text(f"raise ImportError({words!r})")
    code = (
        "import cpx\n"
        "problem = cpx.KMonomial(cpx.Samples([[1, 0], [0, 1]], [1, 0]), k=1)\n"
        "print(cpx.solve(problem, 'milp:xpress', isolate=True, warm_start=False).error)\n"
    )
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "XPRESS_PY: no library, or no licence" in done.stdout
    assert "Traceback" not in done.stderr
