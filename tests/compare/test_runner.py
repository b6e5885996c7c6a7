from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from cpx.answers.result import Result
from cpx.backends import backend
from cpx.backends.base import encoding_for
from cpx.compare import Comparison, Run, compare, engine_names
from cpx.compare import run as runner
from cpx.errors import EngineMissing, InvalidOption, UnknownName

from .helpers import result, tiny


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Replace the worker processes; record the engines and seeds that ran."""
    made: list[tuple[str, int]] = []

    def fake(problem: Any, engine: str, options: Any, listen: Any, **_: Any) -> Result:
        made.append((engine, options.seed))
        family, _, solver = engine.partition(":")
        form = encoding_for(backend(engine), problem, options.encoding, options.time_limit).name
        return result(
            "OPTIMAL", 1, 1, backend=family, solver=solver, encoding=form,
            options=options.to_dict(),
        )  # fmt: skip

    monkeypatch.setattr(runner, "run_isolated", fake)
    return made


def test_real_workers_end_to_end() -> None:
    heard: list[Run] = []
    comparison = compare(
        [tiny()],
        "cpsat,milp:highs",
        time_limit=60,
        jobs=2,
        on_result=lambda run, _: heard.append(run),
    )
    assert [run.engine for run in comparison.runs] == ["cpsat", "milp:highs"]
    assert len(heard) == 2
    for run in comparison.runs:
        assert (str(run.result.status), run.result.objective, run.result.verified) == (
            "OPTIMAL", 1, True,
        )  # fmt: skip
        assert run.result.memory is not None
        assert run.statement == "k-monomial, 4 samples, 2 features, k = 1"
    assert comparison.complete
    assert not comparison.failed


def test_memory_limit_is_kept() -> None:
    result = compare([tiny()], "cpsat", time_limit=60, memory=10_000_000).runs[0].result
    assert (result.status, result.termination) == ("UNKNOWN", "MEMORY_LIMIT")


def test_order_of_runs(calls: list[tuple[str, int]]) -> None:
    comparison = compare(
        {"a": tiny(), "b": tiny(k=2)}, ["milp", "cpsat", "milp:highs"],
        encodings=["clausal", "reified"], seeds=[0, 1], jobs=3,
    )  # fmt: skip
    found = [(r.instance, r.engine, r.result.encoding, r.seed) for r in comparison.runs]
    assert found == [
        (name, engine, encoding, seed)
        for name in "ab"
        for engine in ("milp:highs", "cpsat")
        for encoding in ("clausal", "reified")
        for seed in (0, 1)
    ]


def test_names_of_a_sequence(calls: list[tuple[str, int]]) -> None:
    comparison = compare([tiny("x"), tiny("x"), tiny("")], "cpsat")
    assert list(comparison.by_instance()) == ["x", "x (2)", "problem 3"]


def test_engine_names() -> None:
    assert engine_names("maxsat:*") == ["maxsat:rc2", "maxsat:stratified", "maxsat:lsu"]
    assert engine_names(["milp", "milp:highs"]) == ["milp:highs"]
    assert {"cpsat", "milp:cbc", "maxsat:lsu"} <= set(engine_names("all"))
    assert {"cpsat", "milp:highs", "maxsat:rc2"} <= set(engine_names(None))
    assert "milp:cbc" not in engine_names(None)


def test_wrong_arguments_before_anything_runs(
    calls: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (UnknownName, "cpsta", {"backends": ["cpsat", "cpsta"]}),
        (UnknownName, "3", {"backends": [3]}),
        (UnknownName, "x", {"encodings": ["clausal", "x"]}),
        (InvalidOption, "encodings", {"encodings": []}),
        (InvalidOption, "seeds", {"seeds": []}),
        (InvalidOption, "seed", {"seeds": [0, -1]}),
        (InvalidOption, "time_limit", {"time_limit": 0}),
        (InvalidOption, "jobs", {"jobs": 0}),
        (InvalidOption, "memory", {"memory": 0.5}),
        (InvalidOption, "backends", {"backends": []}),
    ]
    for kind, name, arguments in bad:
        with pytest.raises(kind, match=name):
            compare([tiny()], **({"backends": "cpsat"} | arguments))
    with pytest.raises(InvalidOption, match="problems"):
        compare([], "cpsat")
    with pytest.raises(InvalidOption, match="'a' must be a cpx problem"):
        compare({"a": 3}, "cpsat")
    from cpx.backends import base

    real = base.find_spec
    monkeypatch.setattr(base, "find_spec", lambda n: None if n == "pysat" else real(n))
    with pytest.raises(EngineMissing, match="pip install 'python-sat"):
        compare([tiny()], "cpsat,maxsat")
    assert "maxsat:rc2" not in engine_names("all")
    assert calls == []


def test_a_run_that_raises_is_a_row_and_the_others_go_on(
    calls: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = runner.run_isolated

    def sometimes(problem: Any, engine: str, *rest: Any, **more: Any) -> Result:
        if engine == "cpsat":
            raise RuntimeError("no worker")
        return good(problem, engine, *rest, **more)

    monkeypatch.setattr(runner, "run_isolated", sometimes)
    comparison = compare([tiny()], "cpsat,milp")
    assert [str(run.result.status) for run in comparison.runs] == ["ERROR", "OPTIMAL"]
    assert comparison.failed
    assert "RuntimeError: no worker" in str(comparison)


def test_resume_runs_only_what_is_missing(calls: list[tuple[str, int]]) -> None:
    first = compare([tiny()], "cpsat", seeds=[0])
    calls.clear()
    second = compare([tiny()], "cpsat,milp", seeds=[0, 1], resume=first)
    assert sorted(calls) == [("cpsat", 1), ("milp:highs", 0), ("milp:highs", 1)]
    assert second.runs[0] is first.runs[0]
    assert len(second.runs) == 4
    calls.clear()
    assert compare([tiny()], "cpsat", time_limit=5, resume=second).runs[:4] == second.runs
    assert calls == [("cpsat", 0)]


def test_resume_repeats_failed_and_interrupted_runs(calls: list[tuple[str, int]]) -> None:
    from dataclasses import replace

    from cpx.answers.result import Status, Termination

    first = compare([tiny()], "cpsat,milp")
    a, b = first.runs
    a = replace(a, result=replace(a.result, termination=Termination.INTERRUPTED))
    b = replace(b, result=replace(b.result, status=Status.ERROR))
    calls.clear()
    again = compare([tiny()], "cpsat,milp", resume=Comparison((a, b)))
    assert len(calls) == 2
    assert len(again.runs) == 2
    assert not again.failed


def test_ctrl_c_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()

    def fake(
        problem: Any, engine: str, options: Any, listen: Any, *, cancel: Any, **_: Any
    ) -> Result:
        if options.seed == 0:
            return result("OPTIMAL", 1, 1)
        started.set()
        assert cancel.wait(20)
        time.sleep(0.1)
        return result("FEASIBLE", 2, 0, termination="INTERRUPTED")

    def interrupt(*_: object) -> None:
        # Like Ctrl-C while the second run is going on.
        assert started.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run_isolated", fake)
    comparison = compare([tiny()], "cpsat", seeds=[0, 1, 2, 3], on_result=interrupt)
    assert not comparison.complete
    assert [run.result.objective for run in comparison.runs] == [1, 2]


def test_listeners_hear_starts_and_events() -> None:
    heard: list[tuple[str, bool]] = []
    compare(
        [tiny()], "cpsat", time_limit=60,
        listen=lambda task, event: heard.append((task.engine, event is None)),
    )  # fmt: skip
    assert heard[0] == ("cpsat", True)
    assert ("cpsat", False) in heard
