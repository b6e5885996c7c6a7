"""How an answer is made: statuses, contradictions, warnings, isolation."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from cpx import KMonomial, Result, Samples, solve
from cpx.answers import Status, Termination
from cpx.answers.result import relative_gap
from cpx.backends import backend, register
from cpx.backends.base import Backend, Outcome, Progress
from cpx.data.distributions import Uniform
from cpx.data.oracle import Oracle
from cpx.errors import EngineMissing, InvalidInstance, InvalidOption, UnknownName
from cpx.modelling.base import with_oracle
from cpx.modelling.encodings import find_encoding
from cpx.models import RuleSetLearning
from cpx.models.sufficient_reason.cases import random_votes
from cpx.models.sufficient_reason.draw import random_reason
from cpx.options import SolveOptions
from cpx.processes.limits import Limits
from cpx.solving.conclude import conclude
from cpx.solving.isolate import run_isolated
from cpx.solving.run import run, solve_with
from cpx.solving.servers import shutdown
from tests.engines import ENGINES
from tests.processor_time import processor_seconds
from tests.terminal import start


def _problem(m: int = 40, d: int = 8, k: int = 2) -> KMonomial:
    rng = np.random.default_rng(0)
    return KMonomial(Samples(rng.random((m, d)) < 0.6, rng.random(m) < 0.5), k=k)


def _hard(rows: int = 1500) -> KMonomial:
    """Nothing proves this within seconds through a general engine."""
    rng = np.random.default_rng(1)
    return KMonomial(Samples(rng.random((rows, 90)) < 0.5, rng.random(rows) < 0.3), k=5)


@pytest.fixture
def scripted():
    """Register a backend that does what the test says."""
    from cpx.backends import _registered

    def make(act):
        class Scripted(Backend):
            name = "scripted"
            supported_options = frozenset()
            _start = "own"

            def solve(self, problem, options, progress):
                return act(problem, progress)

        register(Scripted)
        return "scripted"

    yield make
    _registered.pop("scripted", None)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("time_limit", 0),
        ("time_limit", -1),
        ("time_limit", float("nan")),
        ("time_limit", float("inf")),
        ("time_limit", "5"),
        ("time_limit", True),
        ("threads", 0),
        ("threads", 1.5),
        ("seed", -1),
        ("seed", 2**31),
        ("gap", -0.1),
        ("gap", float("nan")),
        ("hint", 3),
        ("hint", [99]),
        ("hint", [-1]),
        ("hint", "0"),
        ("encoding", 3),
    ],
)
def test_wrong_options_are_named(option, value) -> None:
    with pytest.raises(InvalidOption, match=option) as caught:
        solve(_problem(), **{option: value})
    assert caught.value.exit_code == 2


def test_unknown_names_have_the_list_and_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"backend 'cpsta' \(did you mean 'cpsat'\?\).*maxsat"):
        solve(_problem(), "cpsta")
    with pytest.raises(UnknownName, match=r"solver of backend milp 'cbd' .*'cbc'"):
        solve(_problem(), "milp:cbd")
    with pytest.raises(UnknownName, match="encoding of k-monomial 'x'"):
        solve(_problem(), encoding="x")


def test_a_missing_engine_has_its_pip_line(monkeypatch) -> None:
    monkeypatch.setattr("cpx.backends.base.find_spec", lambda name: None)
    with pytest.raises(EngineMissing, match=r"'cpsat' is not installed: pip install 'ortools"):
        solve(_problem(), "cpsat")


def test_problems_only() -> None:
    with pytest.raises(InvalidOption, match="problem must be a cpx problem, got dict"):
        solve({})


def test_result_round_trip() -> None:
    result = solve(_problem(), hint=[0])
    again = Result.from_json(result.to_json())
    assert again == result
    assert json.loads(result.to_json())["gap"] == 0
    assert "OPTIMAL" in result._repr_html_()
    assert result.times.total >= result.times.solve > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "not a result"),
        ('{"format": "cpx-result", "version": 9}', "version 9"),
        ('{"format": "cpx-result", "version": 1}', "lacks the key"),
    ],
)
def test_results_that_cannot_be_read(text, message) -> None:
    with pytest.raises(InvalidInstance, match=message):
        Result.from_json(text)


def test_damaged_results_are_refused() -> None:
    data = solve(_problem()).to_dict()
    for key, value in (("status", "GREAT"), ("trace", 3), ("times", {}), ("explanation", {})):
        with pytest.raises(InvalidInstance):
            Result.from_dict(data | {key: value if value != {} or key != "times" else {"x": 1}})


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [(200, 150, 0.25), (0, 0, 0.0), (0, -3, 3.0), (None, 1, None), (1, None, None)],
)
def test_gap(objective, bound, gap) -> None:
    assert relative_gap(objective, bound) == gap


def _whole(problem, progress):
    progress.found(problem.explanation([0]))
    return Outcome(True, Termination.COMPLETED, claimed=progress.objective)


def test_a_bound_beyond_a_solution_is_an_error(scripted) -> None:
    def act(problem, progress):
        progress.bound(10**6)
        return _whole(problem, progress)

    result = solve(_problem(), scripted(act))
    assert result.status is Status.ERROR
    assert any("beyond" in text for text in result.warnings)


def test_a_claim_better_than_the_data_is_an_error(scripted) -> None:
    def act(problem, progress):
        _whole(problem, progress)
        return Outcome(True, Termination.COMPLETED, claimed=-1)

    result = solve(_problem(), scripted(act))
    assert result.status is Status.ERROR
    assert any("claims the value -1" in text for text in result.warnings)


def test_a_proof_that_a_hint_beats_is_an_error(scripted) -> None:
    problem = _problem()
    best = solve(problem).explanation

    def act(problem, progress):
        return Outcome(True, Termination.COMPLETED, claimed=10**6)

    result = solve(problem, scripted(act), hint=best)
    assert result.status is Status.ERROR


def test_a_value_without_a_solution_is_an_error(scripted) -> None:
    def act(problem, progress):
        return Outcome(True, Termination.COMPLETED, claimed=3)

    result = solve(_problem(), scripted(act))
    assert result.status is Status.ERROR
    assert "the engine claims the value 3, and reported no solution" in result.warnings


def test_infeasible_with_a_known_solution_is_an_error(scripted) -> None:
    def act(problem, progress):
        return Outcome(True, Termination.COMPLETED)

    assert solve(_problem(), scripted(act), hint=[0]).status is Status.ERROR


def test_a_false_infeasible_fails_the_check(scripted) -> None:
    result = solve(_problem(), scripted(lambda p, g: Outcome(True, Termination.COMPLETED)))
    assert result.status is Status.ERROR
    assert not result.verified
    assert any("check failed" in text for text in result.warnings)


def test_an_unproved_end_is_feasible_or_unknown(scripted) -> None:
    def nothing(problem, progress):
        return Outcome(False, Termination.TIME_LIMIT)

    def something(problem, progress):
        progress.found(problem.explanation([0]))
        progress.bound(0.4)
        return Outcome(False, Termination.TIME_LIMIT)

    assert solve(_problem(), scripted(nothing)).status is Status.UNKNOWN
    result = solve(_problem(), scripted(something))
    assert (result.status, result.bound) == (Status.FEASIBLE, 1)
    assert "not proved optimal: every rule" in result.explanation.proved


def test_a_failing_engine_keeps_its_incumbent(scripted) -> None:
    def act(problem, progress):
        progress.found(problem.explanation([0]))
        raise RuntimeError("out of luck")

    result = solve(_problem(), scripted(act))
    assert result.status is Status.ERROR
    assert result.termination is Termination.SOLVER_ERROR
    assert result.raw_status == result.error == "RuntimeError: out of luck"
    assert result.explanation is not None
    assert result.bound is None


@pytest.mark.parametrize(("asks", "features"), [(False, (0,)), (True, (0, 1))])
def test_what_a_rule_can_do_without_on_the_samples_is_left_out(asks, features) -> None:
    # Of an engine that asks the classifier it stays: it stands for more than the samples.
    problem = KMonomial(Samples([[1, 1], [1, 1], [0, 0]], [1, 1, 0]), k=2)
    engine = SimpleNamespace(
        _asks_classifier=asks, name="", solver=None, full_name="", requires={}, _provenance=dict
    )
    progress = Progress(problem, SolveOptions())
    progress.found(problem.explanation([0, 1]))
    outcome = Outcome(False, Termination.COMPLETED)
    result = conclude(progress, outcome, engine, find_encoding(KMonomial), [], 0.0)
    assert result.explanation.features == features


def test_too_many_rules_to_state_are_refused_with_the_way_out() -> None:
    rng = np.random.default_rng(0)
    wide = RuleSetLearning(Samples(rng.random((9, 90)) < 0.5, [1] * 9), 4, "0.01")
    with pytest.raises(InvalidOption, match="ask the engine column-generation"):
        solve(wide, "search")
    with pytest.raises(InvalidOption, match="cannot solve problems of kind 'k-monomial'"):
        solve(_problem(), "column-generation")
    # Whether it can be stated is nothing to an engine that has no use for its arrays either.
    with pytest.raises(InvalidOption, match="cannot solve problems of kind 'sufficient-reason'"):
        solve(random_votes(4, 9, 6), "beam")


def test_an_interrupt_within_the_engine_proves_nothing(scripted) -> None:
    def act(problem, progress):
        raise KeyboardInterrupt

    cancel = threading.Event()
    result = run(_problem(), scripted(act), SolveOptions(), cancel=cancel)
    assert (result.status, result.termination) == (Status.UNKNOWN, Termination.INTERRUPTED)
    assert cancel.is_set()


def test_a_failure_is_told_by_its_last_frames(scripted) -> None:
    def act(problem, progress, depth=9):
        if depth:
            return act(problem, progress, depth - 1)
        raise ValueError("no such thing")

    told = solve(_problem(), scripted(act)).warnings[-1]
    assert told.startswith("engine failed:\nTraceback")
    assert told.endswith("ValueError: no such thing")
    assert told.count('raise ValueError("no such thing")') == 1
    assert told.count("File ") == 4
    assert "repeated" not in told  # as more than three equal frames would be


def test_an_engine_that_asks_the_classifier_stays_in_the_process_that_has_it() -> None:
    with pytest.raises(InvalidOption, match="asks the classifier"):
        solve(_problem(), "certificates")
    oracle = Oracle(lambda rows: rows[:, :2].all(axis=1), [1] * 8, Uniform(8))
    result = solve(with_oracle(_problem(), oracle), "certificates", isolate=True)
    assert any("its time limit is not hard" in text for text in result.warnings)


def test_a_hint_is_refused_by_the_feature_that_is_none() -> None:
    with pytest.raises(InvalidOption, match="hint has the feature 8, indices go from 0 to 7"):
        solve(_problem(), "search", hint=[0, 8])


def test_a_hint_that_is_no_solution_is_said_and_does_not_count() -> None:
    """A hint of three conditions where two are allowed; one of two is nothing to speak of."""
    told = "the hint breaks a constraint of the problem and does not count as a solution"
    broken = solve(_problem(), "search", hint=[0, 1, 2])
    assert told in broken.warnings
    assert broken.status is Status.OPTIMAL
    assert len(broken.explanation.features) <= 2
    assert told not in solve(_problem(), "search", hint=[0, 1]).warnings


def test_an_engine_that_needs_a_statement_honours_its_encoding_and_more() -> None:
    result = solve(_problem(), "cpsat", encoding="channelling", seed=1)
    assert not any("does not honour" in text for text in result.warnings)


def test_a_solve_that_ends_well_has_its_processor_time_and_no_error() -> None:
    before = time.process_time()
    result = solve(_problem(), "search")
    assert 0 <= result.times.cpu <= time.process_time() - before
    assert result.error == ""


def test_processor_time_of_other_processes_counts(scripted) -> None:
    others = Outcome(False, Termination.COMPLETED, cpu=1000.0)
    assert solve(_problem(), scripted(lambda *_: others)).times.cpu >= 1000


def test_memory_errors_are_told_apart(scripted) -> None:
    def act(problem, progress):
        raise MemoryError

    result = solve(_problem(), scripted(act))
    assert (result.status, result.termination) == (Status.UNKNOWN, Termination.MEMORY_LIMIT)


def test_options_without_effect_are_warned_of(scripted) -> None:
    result = solve(_problem(), scripted(_whole), threads=2, seed=5)
    assert [text for text in result.warnings if "honour" in text] == [
        "backend scripted does not honour threads",
        "backend scripted does not honour seed",
    ]


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("seeded", [False, True])
def test_an_engine_is_there_and_loaded_before_its_time_starts(
    seeded: bool, isolate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a worker it loads there; a seed is for engines that take one, unless one was given."""
    told, given = [], []
    engine = SimpleNamespace(
        _preload=lambda: told.append("preload"),
        supported_options={"seed"} if seeded else set(),
    )
    monkeypatch.setattr("cpx.solving.run.find_backend", lambda name: engine)
    monkeypatch.setattr("cpx.solving.run.require", lambda engine: told.append("require"))
    monkeypatch.setattr("cpx.solving.run.solve", lambda *args, **own: given.append((args, own)))
    problem = _problem()
    solve_with(problem, "mine", 7, {"isolate": isolate})
    assert told == ["require"] + ["preload"] * (not isolate)
    solve_with(problem, "mine", 7, {"isolate": isolate, "seed": 3})
    first = {"isolate": isolate} | ({"seed": 7} if seeded else {})
    assert given == [
        ((problem, "mine"), first),
        ((problem, "mine"), {"isolate": isolate, "seed": 3}),
    ]


def test_a_proof_that_cannot_be_made_is_refused_before_anything_runs(scripted) -> None:
    ran = []

    def act(problem, progress):
        ran.append(problem)
        return _whole(problem, progress)

    problem = random_reason(0, definition="tree-specific")
    with pytest.raises(InvalidOption, match="none for the definition tree-specific"):
        solve(problem, scripted(act), proof=True)
    assert not ran


def test_the_limits_of_workers_and_the_progress_are_handed_on(scripted) -> None:
    seen, began = [], []

    def act(problem, progress):
        seen.append((progress, progress.limits))
        return _whole(problem, progress)

    limits = Limits(memory=2**30)
    for given in (None, limits):
        run(_problem(), scripted(act), SolveOptions(), limits=given, began=began.append)
    assert [own.memory for _, own in seen] == [None, 2**30]
    assert began == [progress for progress, _ in seen]


def test_listeners_hear_every_improvement() -> None:
    heard = []
    result = solve(_problem(), listen=heard.append)
    assert [event.point for event in heard] == list(result.trace[: len(heard)])
    assert heard[-1].point.objective == result.objective


def test_degenerate_data_are_solved_with_a_warning() -> None:
    result = solve(KMonomial(Samples([[1, 0], [1, 1]], [1, 1]), k=2))
    assert result.status is Status.OPTIMAL
    assert any("all samples agree" in text for text in result.warnings)


# ------------------------------------------------------------------ isolation


def test_isolated_results_are_whole() -> None:
    heard = []
    result = run_isolated(_problem(), "cpsat", SolveOptions(time_limit=20), heard.append)
    assert result.status is Status.OPTIMAL
    assert result.verified
    assert result.memory > 10**6
    assert heard[-1].point.objective == result.objective


def test_the_limit_is_hard(scripted) -> None:
    """A worker that ignores every signal is killed; its last event survives."""
    solve(_problem(), "cpsat", isolate=True)
    heard = []
    start = processor_seconds()
    result = solve(_hard(), "cpsat", isolate=True, time_limit=0.6, listen=heard.append)
    assert processor_seconds() - start < 20
    assert result.termination is Termination.TIME_LIMIT
    found = [event.point.objective for event in heard if event.explanation is not None]
    assert result.status is (Status.FEASIBLE if found else Status.UNKNOWN)
    assert result.objective == (found[-1] if found else None)


def test_workers_are_reused_and_replaced() -> None:
    from cpx.solving import servers as worker

    shutdown()
    problem = _problem()
    solve(problem, "cpsat", isolate=True)
    (idle,) = worker._idle[type(backend("cpsat"))]
    solve(problem, "cpsat", isolate=True)
    assert worker._idle[type(backend("cpsat"))] == [idle]
    idle.child.kill()
    idle.child.process.wait()
    assert solve(problem, "cpsat", isolate=True).status is Status.OPTIMAL


def test_nothing_is_left_of_a_killed_engine(tmp_path, monkeypatch) -> None:
    """CBC writes its model to a temporary folder, which it cannot remove when killed."""
    shutdown()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cancel = threading.Event()

    def cancel_once_written() -> None:
        while not list(tmp_path.glob("*/*")):
            time.sleep(0.05)
        cancel.set()

    threading.Thread(target=cancel_once_written, daemon=True).start()
    monkeypatch.setattr("cpx.solving.isolate._FAREWELL", 0.0)
    result = run_isolated(_hard(), "milp:cbc", SolveOptions(), cancel=cancel)
    # What it did is known all the same.
    assert result.raw_status == "killed after an interrupt"
    assert min(result.times.state, result.times.compile, result.times.solve) > 0
    (scratch,) = tmp_path.iterdir()
    assert list(scratch.iterdir()) == []
    shutdown()
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_solve_keeps_its_incumbent() -> None:
    cancel, found = threading.Event(), []

    def hear(event) -> None:
        if event.explanation is not None:
            found.append(event.point.objective)
            cancel.set()

    options = SolveOptions(time_limit=60, encoding="clausal")
    result = run_isolated(_hard(), "cpsat", options, hear, cancel=cancel)
    assert result.termination is Termination.INTERRUPTED
    assert result.status is Status.FEASIBLE
    # Others may have been found before it stopped.
    assert result.objective == found[-1] <= found[0]


def test_too_little_memory_ends_as_a_memory_limit() -> None:
    limits = Limits(memory=190 * 2**20)
    options = SolveOptions(time_limit=60, encoding="clausal")
    # CP-SAT does not always look whether it got memory: about one run in five crashes.
    for _ in range(4):
        result = run_isolated(_hard(8000), "cpsat", options, limits=limits)
        if result.raw_status != "the worker was ended by SIGSEGV":
            break
    assert result.termination is Termination.MEMORY_LIMIT
    assert result.status in (Status.FEASIBLE, Status.UNKNOWN)


CTRL_C = """
    import numpy as np
    from cpx import KMonomial, Samples, solve
    rng = np.random.default_rng(1)
    problem = KMonomial(Samples(rng.random(({m}, {d})) < 0.5, rng.random({m}) < 0.3), k={k})
    print("ready", flush=True)

    def listen(event):
        if event.explanation is not None:
            print("found", flush=True)

    result = solve(problem, {engine!r}, encoding="clausal", isolate={isolate}, listen=listen)
    print(result.status, result.termination, result.objective, flush=True)
"""


@pytest.mark.parametrize("isolate", [False, True])
def test_ctrl_c_ends_with_the_incumbent(isolate) -> None:
    _interrupt_at_the_terminal("cpsat", isolate)


@pytest.mark.slow
@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_ctrl_c_ends_every_engine(engine, isolate) -> None:
    _interrupt_at_the_terminal(engine, isolate)


def _interrupt_at_the_terminal(engine: str, isolate: bool) -> None:
    # The exact search would be done with the smaller one.
    m, d, k = (6000, 200, 6) if engine == "search" else (1500, 90, 5)
    script = textwrap.dedent(CTRL_C.format(engine=engine, isolate=isolate, m=m, d=d, k=k))
    process = start([sys.executable, "-c", script])
    assert process.stdout.readline() == "ready\n"
    # CBC hands over its solution at the end only, and is killed if that takes too long.
    if engine == "milp:cbc":
        time.sleep(5)
    else:
        assert process.stdout.readline() == "found\n"
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    status, termination, _ = out.splitlines()[-1].split()
    assert status == "FEASIBLE" or (engine == "milp:cbc" and status == "UNKNOWN"), out
    assert termination == "INTERRUPTED", out
    assert process.returncode == 0


def test_backend_wants_a_name() -> None:
    with pytest.raises(UnknownName):
        backend(3)
