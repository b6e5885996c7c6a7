"""The same plan on a cluster of two workers, of which one dies in the middle."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cpx
from cpx.compare import Comparison
from cpx.compare.cluster import connected
from cpx.errors import EngineMissing, InvalidOption
from cpx.solving.servers import shutdown
from cpx.support.own_files import register_files

from .helpers import marked, tiny


@pytest.fixture(
    params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["threads", "processes"]
)
def cluster(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a cluster, of which nothing must be left; processes of its own take ten seconds."""
    distributed = pytest.importorskip("distributed")
    mark = f"CPX_TEST_MARK={uuid.uuid4()}"
    monkeypatch.setenv(*mark.split("="))
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=request.param,
        dashboard_address=None,
        memory_limit=0,
    ) as cluster:
        yield cluster
    shutdown()
    deadline = time.monotonic() + 20
    while marked(mark, workers=True) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marked(mark, workers=True) == []


def test_a_worker_that_dies_costs_no_run(cluster: Any, tmp_path: Path) -> None:
    problems = {"a": tiny(), "b": tiny(k=2)}
    asked: dict[str, Any] = {"time_limit": 60, "memory": 2**32}
    killed: list[str] = []
    shutdown()

    from distributed import default_client

    def kill_one(run: cpx.compare.Run, _: Comparison) -> None:
        if killed:
            return
        (address, process), *_ = default_client().run(os.getpid).items()
        killed.append(address)
        if process != os.getpid():
            os.kill(process, signal.SIGKILL)
            return
        (worker,) = (one for one in cluster.workers.values() if one.address == address)
        cluster.loop.add_callback(worker.close, executor_wait=False, nanny=False)

    with connected(cluster.scheduler_address):
        there = cpx.compare(
            problems, "search", output=tmp_path / "there", on_result=kill_one, **asked
        )
    assert killed
    assert there.complete

    # Nothing of the plan is missing, or there twice.
    found = [(run.instance, run.result.objective) for run in there.runs]
    values = {name: cpx.solve(problem, "search").objective for name, problem in problems.items()}
    assert sorted(found) == sorted(values.items())
    assert all(run.result.verified and run.result.proved and run.host for run in there.runs)


def test_without_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("cpx.processes.cluster._SECONDS", 0.5)
    with connected(None):
        pass
    with pytest.raises(InvalidOption, match="no cluster at"), connected("tcp://127.0.0.1:9"):
        pass


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(EngineMissing, match="pip install dask distributed joblib"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass


ENGINE = """
from cpx.backends import register
from cpx.backends.search import Search

@register
class Mine(Search):
    name = "mine"
"""


def test_workers_run_the_files_that_the_command_registers(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpx.backends, "_registered", dict(cpx.backends._registered))
    monkeypatch.setenv("CPX_REGISTER", "")
    (tmp_path / "engine.py").write_text(ENGINE, encoding="utf-8")
    register_files([str(tmp_path / "engine.py")])
    with connected(cluster.scheduler_address):
        found = cpx.compare([tiny()], "mine", time_limit=60)
    assert [(run.result.backend, run.result.proved) for run in found.runs] == [("mine", True)]
