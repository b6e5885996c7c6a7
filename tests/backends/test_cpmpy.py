"""The solvers of CPMpy: what is installed solves everything, what is not says so."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec

import numpy as np
import pytest

import cpx
from cpx.answers.result import Status
from cpx.backends import backend, backend_class
from cpx.backends.base import versions_of
from cpx.backends.cpmpy.interface import Cpmpy
from cpx.backends.cpmpy.magnitudes import largest_sum
from cpx.errors import EngineMissing, UnknownName
from cpx.library import make
from cpx.models.monomial.draw import random_problem
from cpx.solving.servers import Server
from cpx.testing import conformance

IN_PROCESS = ("ortools",)
IN_WORKER = ("choco", "pumpkin", "z3")


def engine(name: str, *marks: pytest.MarkDecorator) -> object:
    absent = not Cpmpy.members[name].available()
    skip = pytest.mark.skipif(absent, reason=f"{name} is not installed")
    return pytest.param(f"cpmpy:{name}", marks=[skip, *marks], id=name)


HERE = [engine(name) for name in IN_PROCESS]
THERE = [engine(name) for name in IN_WORKER]
SLOW = [engine(name, pytest.mark.slow) for name in (*IN_PROCESS, *IN_WORKER)]

EVERY = [
    *conformance.stated("monomial"),
    *conformance.stated("stated-reason", "certificate"),
    *conformance.stated("rule-set"),
]
# Each case in one of its encodings, and each encoding with some case.
TURNS = [
    (case, case.encodings[number % len(case.encodings)])
    for number, case in enumerate(
        conformance.cases("monomial", "stated-reason", "certificate", "rule-set")
    )
]


@pytest.mark.parametrize("name", HERE)
def test_cases_in_turn(name: str) -> None:
    for case, encoding in TURNS[::6]:
        conformance.check_case(name, case, encoding)


@pytest.mark.parametrize("name", THERE)
def test_cases_in_a_worker(name: str) -> None:
    for case, encoding in TURNS[7::60]:
        conformance.check_case(name, case, encoding)


@pytest.mark.parametrize("name", SLOW)
def test_all_cases(name: str) -> None:
    for case, encoding in EVERY:
        conformance.check_case(name, case, encoding)


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda b: b.__name__)
def test_behaviour(name: str, behaviour) -> None:
    behaviour(name)


@pytest.mark.parametrize("name", HERE)
def test_hints_events_and_gaps(name: str) -> None:
    for behaviour in (
        conformance.takes_a_hint,
        conformance.events_are_monotone,
        conformance.stops_at_the_gap,
    ):
        behaviour(name)


@pytest.mark.parametrize("name", SLOW)
def test_random_instances(name: str) -> None:
    rng = np.random.default_rng(11)
    for _ in range(15):
        problem = random_problem(rng)
        truth = cpx.solve(problem, "search").objective
        conformance.check_result(cpx.solve(problem, name), problem, truth, closed=True)


def test_what_cannot_be_stopped_runs_in_a_worker() -> None:
    for name in IN_PROCESS:
        assert not Cpmpy.members[name]._needs_worker
    for name in IN_WORKER:
        assert Cpmpy.members[name]._needs_worker
    problem = conformance.cases("monomial")[0].problem
    here = cpx.solve(problem, "cpmpy:ortools")
    there = cpx.solve(problem, "cpmpy:ortools", isolate=True)
    assert here.memory is None
    assert there.memory is not None
    assert here.objective == there.objective == 0


def test_each_solver_has_workers_of_its_own() -> None:
    server = Server.take("cpmpy:ortools")
    try:
        server.give_back("cpmpy:ortools")
        other = Server.take("cpsat")
        assert other is not server
        other.end()
        assert Server.take("cpmpy:ortools") is server
    finally:
        server.end()


def test_weights_that_an_engine_cannot_hold_are_declined(monkeypatch) -> None:
    monkeypatch.setattr(Cpmpy.members["ortools"], "largest", 2**28)
    samples = cpx.Samples([[1, 0], [0, 1]], [1, 0], weights=[2**27, 2**27 + 1])
    result = cpx.solve(cpx.KMonomial(samples, k=1), "cpmpy:ortools", warm_start=False)
    assert result.status is Status.UNKNOWN
    assert any("too large for this engine" in warning for warning in result.warnings)


def test_largest_sum_of_a_reified_sum() -> None:
    import cpmpy as cp

    a, b = cp.boolvar(shape=2, name="v")
    x = cp.intvar(-7, 3, name="x")
    assert largest_sum(cp.Model(a.implies(10 * x + b <= 4))) == 75
    assert largest_sum(cp.Model(a | b, maximize=3 * a - 5 * b)) == 8
    assert largest_sum(cp.Model(a | b)) == 0
    assert largest_sum(cp.Model(a == (2 * x >= b))) == 16
    assert largest_sum(cp.Model(cp.AllDifferent(x, 2 * x, 5))) == 26
    assert largest_sum(cp.Model(a.implies(cp.Cumulative([x], [2], demand=[9], capacity=4)))) == 22
    assert largest_sum(cp.Model(a, minimize=x * x - 3 + cp.max([x, 90]))) == 149
    assert largest_sum(cp.Model(a, minimize=x**3)) == 343


def test_nothing_is_imported_to_find_out() -> None:
    loaded = set(sys.modules)
    backend_class("cpmpy").installed()
    for name in backend_class("cpmpy").solvers:
        assert backend(f"cpmpy:{name}").solver == name
    assert not {"exact", "pychoco", "z3", "gurobipy"} & (set(sys.modules) - loaded)


def test_unknown_and_left_out_names() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ortools'"):
        backend("cpmpy:ortool")
    with pytest.raises(UnknownName, match=r"left out: milp:highs is the same engine"):
        backend("cpmpy:highs")
    with pytest.raises(UnknownName, match=r"left out: .* maxsat:rc2 is the same"):
        backend("cpmpy:rc2")
    with pytest.raises(UnknownName, match="it only decides"):
        backend("cpmpy:pindakaas")


@pytest.mark.skipif(find_spec("gcspy") is not None, reason="gcspy is installed")
def test_missing_package_has_its_pip_line() -> None:
    with pytest.raises(EngineMissing, match=r"cpmpy:gcs.* pip install 'gcspy>=0\.1\.8'"):
        cpx.solve(conformance.cases("monomial")[0].problem, "cpmpy:gcs")
    assert "cpmpy:gcs" not in backend_class("cpmpy").installed()


def test_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Cpmpy.members["ortools"]
    monkeypatch.setattr(ours, "_program", "no-such-program")
    with pytest.raises(EngineMissing, match="'no-such-program', which cpmpy:ortools needs"):
        cpx.solve(conformance.cases("monomial")[0].problem, "cpmpy:ortools")


def test_missing_licence_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    from cpmpy.solvers.ortools import CPM_ortools

    def no_licence() -> bool:
        warnings.warn("the licence has run out", stacklevel=2)
        return False

    monkeypatch.setattr(CPM_ortools, "supported", staticmethod(no_licence))
    result = cpx.solve(conformance.cases("monomial")[0].problem, "cpmpy:ortools")
    assert result.status is Status.ERROR
    assert result.error == "ortools is installed and cannot be used: the licence has run out"


def test_versions_are_those_of_the_member() -> None:
    versions = versions_of(backend("cpmpy:ortools"))
    assert versions == {name: metadata.version(name) for name in ("cpmpy", "ortools")}


def test_choco_is_not_loaded_before_a_worker_forks() -> None:
    # Its virtual machine has threads, without which its garbage collection ends the child.
    pytest.importorskip("pychoco")
    code = (
        "import sys; from cpx.backends import backend; backend('cpmpy:choco')._preload(); "
        "print('pychoco' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_z3_stopped_in_a_maximisation_claims_a_bound_on_the_right_side() -> None:
    if not backend("cpmpy:z3").available():
        pytest.skip("Z3 is not installed")
    samples = make("perceptron", 100, 24, 4).samples
    problem = cpx.MaxCoverage(samples, k=4, min_precision="9/10")
    result = cpx.solve(problem, "cpmpy:z3", time_limit=1)
    assert result.status is not Status.ERROR
    assert result.bound is None or result.bound >= cpx.solve(problem, "search").objective
