"""Portfolios: who finds, who proves, who leaves, and that nothing stays behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cpx
from cpx.answers.result import Status, Termination
from cpx.backends import backend
from cpx.backends.base import Event, Progress
from cpx.errors import CpxError, EngineMissing, InvalidOption, UnknownName
from cpx.library import make
from cpx.modelling.encodings import stated_in
from cpx.options import SolveOptions
from cpx.processes.limits import Limits
from cpx.solving.run import run
from cpx.testing import conformance
from cpx.testing.cases import cases
from tests.processor_time import processor_seconds

from ..compare.helpers import marked, stopped, tiny
from ..compare.hostile import install, uninstall


@pytest.fixture
def _hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install(tmp_path, monkeypatch)
    yield
    uninstall()


def _hard() -> cpx.KMonomial:
    problem = make("perceptron", 600, 50, 5)
    assert isinstance(problem, cpx.KMonomial)
    return problem


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("portfolio:cpsat", "two engines or more"),
        ("portfolio:cpsat,cpsat", "twice"),
        ("portfolio:milp,milp:highs", "twice"),
        ("portfolio:beam,greedy", "needs an engine that proves"),
        ("portfolio:cpsat,anchors", "anchors cannot be an engine"),
        ("portfolio:cpsat+portfolio", "portfolio cannot be an engine"),
    ],
)
def test_what_is_no_portfolio(name: str, told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        backend(name)


def test_unknown_engines_are_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'cpsat'"):
        backend("portfolio:cpsatt,milp")
    if not backend("milp:xpress").available():
        with pytest.raises(EngineMissing, match="xpress"):
            backend("portfolio:cpsat,milp:xpress")


def test_names_have_options_of_their_engines() -> None:
    engine = backend('portfolio:cpsat{subsolvers=["core","default_lp"]},maxsat:lsu,milp')
    assert engine._engines == (
        'cpsat{subsolvers=["core", "default_lp"]}', "maxsat:lsu", "milp:highs",
    )  # fmt: skip
    assert backend(engine.full_name)._engines == engine._engines
    assert backend("portfolio:cpsat+maxsat").full_name == "portfolio:cpsat,maxsat:rc2"


def test_an_encoding_that_is_not_the_problem_is_refused() -> None:
    with pytest.raises(InvalidOption, match="is not the problem"):
        cpx.solve(tiny(), "portfolio:cpsat+maxsat", encoding="table1-literal")
    result = cpx.solve(tiny(), "portfolio:cpsat+maxsat", encoding="channelling")
    assert (result.objective, result.verified) == (1, True)


def test_cases() -> None:
    for case in [*cases("monomial")[:6], cases("sufficient-reason")[0]]:
        conformance.check_case("portfolio:maxsat+search+hitting-sets", case)


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda b: b.__name__)
def test_behaviour(behaviour) -> None:
    behaviour("portfolio:cpsat+maxsat+milp")


def test_it_tells_who_found_and_who_proved_and_counts_all_of_its_work() -> None:
    events = []
    result = cpx.solve(tiny(), "portfolio:beam+search", listen=events.append, isolate=True)
    assert (result.status, result.objective, result.verified) == (Status.OPTIMAL, 1, True)
    finder, prover = result.raw_status.split(", ")
    assert finder in ("value by beam", "value by search")
    assert prover == "bound by search"
    assert result.sizes["engines"] == 2
    assert result.times.cpu > 0
    assert {"numpy", "cpx-explain"} <= {*result.versions}
    assert events[-1].point.objective == events[-1].point.bound == 1


@pytest.mark.usefixtures("_hostile")
def test_a_solution_of_one_ends_the_search_of_another() -> None:
    result = cpx.solve(tiny(), "portfolio:hostile:listens+hostile:finds", time_limit=120)
    assert (result.status, result.objective) == (Status.OPTIMAL, 1)
    assert result.raw_status == "value by hostile:finds, bound by hostile:listens"


@pytest.mark.usefixtures("_hostile")
def test_who_fails_or_lies_leaves_by_name() -> None:
    why = {
        "segfaults": "the worker was ended by SIGSEGV",
        "raises": "RuntimeError: the engine is out of order",
        "wrong-value": "the engine claims the value -1, the data give 2",
        "wrong-bound": "its bound 7 is beyond the value 2 of a known solution",
        "infeasible": "the engine claims infeasibility, but a solution is known",
    }
    names = "+".join(f"hostile:{mode}" for mode in (*why, "finds"))
    result = cpx.solve(tiny(), f"portfolio:{names}", time_limit=1.5)
    assert (result.status, result.objective, result.bound) == (Status.FEASIBLE, 1, None)
    assert result.verified
    told = {text for text in result.warnings if "left the portfolio" in text}
    assert told == {f"hostile:{mode} left the portfolio: {word}" for mode, word in why.items()}


@pytest.mark.usefixtures("_hostile")
def test_a_bound_is_taken_back_when_a_better_solution_is_found() -> None:
    # The empty rule has 6 errors, its bound is 5, and the first feature has 1.
    agreement = np.array([[1], [1], [1], [1], [0], [0], [0], [0], [0]], dtype=bool)
    problem = cpx.KMonomial(cpx.Samples(agreement, np.arange(9) < 3), k=1)
    heard: list[Event] = []
    name = "portfolio:hostile:bounds+hostile:finds"
    result = cpx.solve(problem, name, time_limit=2, listen=heard.append)
    assert 5 in [event.point.bound for event in heard]
    assert (result.status, result.objective, result.bound) == (Status.FEASIBLE, 1, None)
    assert [point.bound for point in result.trace] == [None] * len(result.trace)
    told = "hostile:bounds left the portfolio: its bound 5 is beyond the value 1 of a known"
    assert any(text.startswith(told) for text in result.warnings)


def test_bounds_that_are_taken_back_are_nowhere_in_the_trace() -> None:
    progress = Progress(tiny(), SolveOptions())
    progress.bound(1)
    progress.bound(3)
    progress.found(tiny().explanation([0]))
    progress.take_back(1)
    assert progress.best_bound == 1
    assert [point.bound for point in progress.trace] == [1, 1, 1]
    assert progress.gap_reached
    progress.take_back(None)
    assert not progress.gap_reached
    assert [point.bound for point in progress.trace] == [None] * 3


@pytest.mark.usefixtures("_hostile")
def test_all_that_fail_are_an_error_with_all_reasons() -> None:
    result = cpx.solve(tiny(), "portfolio:hostile:raises+hostile:exits", time_limit=5)
    assert result.status is Status.ERROR
    assert "hostile:raises: RuntimeError" in result.error
    assert "hostile:exits: the worker ended with status 3" in result.error


def test_who_cannot_solve_a_problem_is_left_out() -> None:
    problem = make("reason", 5, 6)
    result = cpx.solve(problem, "portfolio:search+maxsat")
    assert result.status is Status.OPTIMAL
    assert "search does not solve this problem" in result.warnings


def test_who_cannot_solve_it_at_all_is_named() -> None:
    told = "no engine of 'portfolio:hitting-sets,column-generation' solves problems of kind"
    with pytest.raises(CpxError, match=told):
        cpx.solve(tiny(), "portfolio:hitting-sets+column-generation")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are counted in /proc")
def test_a_stop_keeps_the_incumbent_and_leaves_no_process(monkeypatch) -> None:
    mark = f"CPX_PORTFOLIO_TEST={os.getpid()}"
    monkeypatch.setenv(*mark.split("="))
    from cpx.solving.servers import shutdown

    shutdown()
    stop, began = threading.Event(), processor_seconds()

    def heard(event) -> None:
        if event.point.objective is not None:
            stop.set()

    result = run(
        _hard(),
        "portfolio:cpsat+maxsat:lsu",
        SolveOptions(time_limit=60, encoding="clausal"),
        listen=heard,
        cancel=stop,
    )
    assert processor_seconds() - began < 40
    assert result.termination is Termination.INTERRUPTED
    assert result.status is Status.FEASIBLE
    assert result.verified
    servers = marked(mark, workers=True)
    assert len(servers) == 2, "an idle server for each engine, and no child of one"
    shutdown()
    assert not marked(mark, workers=True)


@pytest.mark.usefixtures("_hostile")
def test_limits_are_kept_and_memory_and_cores_are_shared_out(tmp_path: Path) -> None:
    began = processor_seconds()
    cores = tuple(sorted(os.sched_getaffinity(0)))[:2]
    if len(cores) < 2:
        pytest.skip("one core")
    log = tmp_path / "log.txt"
    options = SolveOptions(time_limit=1)
    limits = Limits(2**31, cores, log)
    result = run(
        tiny(), "portfolio:hostile:tells+hostile:hangs", options, isolate=True, limits=limits
    )
    assert processor_seconds() - began < 30
    assert (result.status, result.objective) == (Status.FEASIBLE, 2)
    assert result.termination is Termination.TIME_LIMIT
    assert f"cores [{cores[0]}]" in log.read_text()


@pytest.mark.usefixtures("_hostile")
def test_a_want_of_memory_is_that_of_one() -> None:
    options, limits = SolveOptions(time_limit=20), Limits(memory=2**30)
    name = "portfolio:hostile:bomb+hostile:slow"
    result = run(tiny(), name, options, isolate=True, limits=limits)
    assert (result.status, result.objective) == (Status.FEASIBLE, 2)
    assert result.termination is Termination.MEMORY_LIMIT


def test_in_a_comparison(tmp_path: Path) -> None:
    comparison = cpx.compare(
        [tiny()], "portfolio:search+maxsat,search", time_limit=10, output=tmp_path / "runs"
    )
    names = [run.configuration for run in comparison.runs]
    assert names == ["portfolio:search,maxsat:rc2", "search"]
    assert all(run.result.status is Status.OPTIMAL for run in comparison.runs)
    again = cpx.compare(
        [tiny()],
        "portfolio:search+maxsat,search",
        time_limit=10,
        output=tmp_path / "runs",
        resume=True,
    )
    assert len(again.runs) == 2


def test_hints_and_gaps_reach_all() -> None:
    problem = replace(_hard(), k=3)
    hint = cpx.solve(problem, "beam").explanation
    result = cpx.solve(problem, "portfolio:cpsat+maxsat", hint=hint, gap=0.99, time_limit=30)
    assert result.termination is Termination.COMPLETED
    assert result.gap is not None
    assert result.gap <= 0.99
    assert result.objective is not None
    assert hint is not None
    assert result.objective <= problem.evaluate(hint).objective


def test_what_is_said_of_the_problem_is_said_once() -> None:
    problem = cpx.KMonomial(cpx.Samples([[1, 0], [1, 0], [0, 1]], [1, 1, 0]), k=1)
    [note] = problem._notes()
    for result in (
        cpx.solve(problem, "portfolio:cpsat+maxsat"),
        cpx.solutions(problem, 3, backend="portfolio:cpsat+maxsat").best,
    ):
        assert sum(note in text for text in result.warnings) == 1


def _never_proved() -> cpx.KMonomial:
    rng = np.random.default_rng(1)
    return cpx.KMonomial(cpx.Samples(rng.random((400, 40)) < 0.6, rng.random(400) < 0.4), k=6)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="states of processes are read in /proc")
def test_on_one_core_they_take_turns_and_none_is_left_stopped(monkeypatch) -> None:
    mark = f"CPX_TURNS_TEST={os.getpid()}"
    monkeypatch.setenv(*mark.split("="))
    monkeypatch.setattr("cpx.methods.portfolio.usable_cores", lambda: [0])
    from cpx.solving.servers import shutdown

    shutdown()
    for limit, why in ((20, Termination.INTERRUPTED), (1.2, Termination.TIME_LIMIT)):
        seen: set[int] = set()
        stop, over = threading.Event(), threading.Event()

        def watch(seen=seen, stop=stop, over=over, why=why) -> None:
            while not over.wait(0.05):
                seen.update(stopped(marked(mark, workers=True)))
                if seen and why is Termination.INTERRUPTED:
                    stop.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            options = SolveOptions(time_limit=limit, encoding="clausal")
            result = run(_never_proved(), "portfolio:maxsat+maxsat:lsu", options, cancel=stop)
        finally:
            over.set()
            watcher.join()
        assert seen
        assert (result.status, result.termination) == (Status.FEASIBLE, why)
        assert "2 engines take turns on 1 cores, and would use 2" in result.warnings
        servers = marked(mark, workers=True)
        assert len(servers) == 2, "both were let go, and ended by themselves"
        assert not stopped(servers)
    shutdown()


def test_who_waits_is_let_go_in_time_to_hand_over_what_it_has(monkeypatch) -> None:
    waited: list[float] = []

    def isolated(problem, name, options, heard, limits, *, kill, wait, **_):
        """Say nothing until the limit is over; one has something to hand over then."""
        own = Progress(problem, options, heard)
        own.found(problem.explanation([]))
        while not kill.is_set() and not own.expired:
            time.sleep(0.01)
            if wait.is_set():
                while wait.is_set():
                    time.sleep(0.01)
                waited.append(own.elapsed)
        if name == "maxsat:rc2":
            own.found(problem.explanation([0]))
        return None

    monkeypatch.setattr("cpx.methods.portfolio.usable_cores", lambda: [0])
    monkeypatch.setattr("cpx.methods.portfolio.prepare", lambda *_, **__: None)
    monkeypatch.setattr("cpx.methods.portfolio.run_isolated", isolated)
    monkeypatch.setattr("cpx.methods.portfolio._END", 0.1)
    # A busy machine may be late once.
    for _ in range(5):
        result = cpx.solve(tiny(), "portfolio:search+maxsat", time_limit=3)
        assert waited[-1] > 2
        if waited[-1] < 2.95:
            break
    assert waited[-1] < 2.95
    assert (result.objective, result.raw_status.split(",")[0]) == (1, "value by maxsat:rc2")


def test_an_engine_has_the_encoding_that_it_has_alone(monkeypatch) -> None:
    asked: dict[str, float] = {}

    def encoding_for(engine, problem, name=None, time_limit=None, warm_start=True):
        asked[engine.full_name] = time_limit
        encoding = stated_in(problem, "pairs")
        return encoding if engine.needs_model else replace(encoding, name="")

    given: dict[str, str] = {}

    def isolated(problem, name, options, *_, **__):
        given[name] = options.encoding

    monkeypatch.setattr("cpx.methods.portfolio.encoding_for", encoding_for)
    monkeypatch.setattr("cpx.methods.portfolio.prepare", lambda *_, **__: None)
    monkeypatch.setattr("cpx.methods.portfolio.run_isolated", isolated)
    cpx.solve(tiny(), "portfolio:cpsat+search", time_limit=3)
    # The limit of the whole solve: what is left of it when the engine starts is less.
    assert asked == {"cpsat": 3, "search": 3}
    assert given == {"cpsat": "pairs", "search": None}
