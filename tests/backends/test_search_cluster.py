"""One search on two workers of Dask: the answers of the search here, whatever fails."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import cpx
from benchmarks.growth import noisy
from cpx.errors import InvalidOption
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.search import cluster as sharing
from cpx.models.rule_set.cases import random_selection
from cpx.processes import cluster as clients

distributed = pytest.importorskip("distributed")


def local_cluster(processes: bool) -> Any:
    return distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=processes,
        dashboard_address=None,
        memory_limit=0,
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with local_cluster(processes=False) as found:
        yield found


def engine(cluster: Any) -> str:
    return f'search{{cluster="{cluster.scheduler_address}"}}'


def same(found: cpx.Result, expected: cpx.Result) -> None:
    """Compare with the answer of the search here."""

    def told(result: cpx.Result) -> tuple[Any, ...]:
        features = result.explanation and result.explanation.features
        return result.status, result.objective, result.bound, features

    assert told(found) == told(expected)
    assert found.verified or found.explanation is None


def test_answers_are_those_of_the_search_here(cluster: Any) -> None:
    # Of all objectives, with weights, limits, side constraints and ties.
    problems = [random_problem(seed) for seed in range(24)]
    assert len({problem.kind for problem in problems}) > 2
    for problem in (*problems, noisy(3000, 30, 4, 0.45)):
        same(cpx.solve(problem, engine(cluster)), cpx.solve(problem, "search"))


def test_what_the_cluster_fails_on_is_searched_here(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, left = noisy(3000, 30, 4, 0.45), [3]

    def taken(job: Any, real: Any = sharing._taken) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("no disk")
        return real(job)

    monkeypatch.setattr(sharing, "_taken", taken)
    found = cpx.solve(problem, engine(cluster))
    assert any("searched here" in note and "no disk" in note for note in found.warnings)
    same(found, cpx.solve(problem, "search"))


def test_an_interrupted_branch_is_searched_again(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, cut = noisy(20_000, 40, 4, 0.45), []

    def run(workers: Any, watch: Any, real: Any = sharing.Workers.run) -> bool:
        if len(cut) >= 4:
            return bool(real(workers, watch))
        cut.append(workers.tasks)
        workers._stop()
        return bool(real(workers, watch))

    monkeypatch.setattr(sharing.Workers, "run", run)
    same(cpx.solve(problem, engine(cluster)), cpx.solve(problem, "search"))
    assert cut


def test_a_limit_leaves_a_bound_of_all_branches(cluster: Any) -> None:
    problem = noisy(20_000, 60, 5, 0.45)
    found = cpx.solve(problem, engine(cluster), time_limit=0.4)
    assert found.bound is None or found.bound <= 8988
    assert found.objective is None or found.objective >= 8988
    assert found.verified or found.explanation is None


@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_clusters_that_are_not_there_and_other_problems_are_named(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, isolate: bool
) -> None:
    monkeypatch.setattr(clients, "_SECONDS", 0.2)
    with pytest.raises(InvalidOption, match=r"no cluster at 'tcp://127.0.0.1:9'"):
        cpx.solve(noisy(100, 8, 2, 0.1), 'search{cluster="tcp://127.0.0.1:9"}', isolate=isolate)
    with pytest.raises(InvalidOption, match="'rule-set' are not searched on a cluster"):
        cpx.solve(random_selection(3), engine(cluster))


@pytest.mark.slow
def test_branches_of_a_worker_that_dies_are_searched_again() -> None:
    problem = noisy(100_000, 60, 5, 0.45)
    expected = cpx.solve(problem, "search", threads=2, time_limit=None)
    with local_cluster(processes=True) as cluster, distributed.Client(cluster) as client:
        (victim, *_) = client.run(os.getpid).values()

        def kill() -> None:
            while not client.processing() or not any(client.processing().values()):
                time.sleep(0.01)
            time.sleep(0.5)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        found = cpx.solve(problem, engine(cluster), time_limit=None)
        killer.join()
    assert found.proved
    same(found, expected)
