"""Proofs: share of answers that get one, its size, seconds to make it and to check it.

The instances are those of the library that have proofs, hard ones of the search, and, where the
environment variable CPX_DATA names a directory of tables, the problems of Koriche et al., Table 2.
"""

from __future__ import annotations

import gzip
import os
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from benchmarks.instances import central
from benchmarks.papers.datasets import DATASETS
from benchmarks.papers.koriche.protocol import Protocol, train
from benchmarks.papers.sources import Directory
from benchmarks.searching import needle
from benchmarks.tables import show
from cpx import KMonomial, solve
from cpx.answers.result import Status
from cpx.check.proofs import covers, proved
from cpx.errors import InvalidOption
from cpx.library import SUITES, suite
from cpx.models.base import Problem
from cpx.solving.proofs import prove, require_provable

LIMIT = 120.0
INSTANCES = 2


class Run(NamedTuple):
    """What became of one proof; seconds of processor time."""

    proved: bool
    lines: int
    packed: int
    solving: float
    making: float
    checking: float


def measure(problem: Problem) -> Run:
    """Solve by the search, prove, and check."""
    start = time.process_time()
    result = solve(problem, "search", time_limit=LIMIT)
    solved = time.process_time()
    proof = prove(problem, result, LIMIT)
    made = time.process_time()
    if proof is None:
        return Run(False, 0, 0, solved - start, made - solved, 0.0)
    data = proof.to_bytes()
    claim = proved(problem.to_dict(), data)
    checked = time.process_time()
    complete = result.status is not Status.FEASIBLE and covers(claim, result.to_dict())
    packed = len(gzip.compress(data))
    lines = len(proof.lines)
    return Run(complete, lines, packed, solved - start, made - solved, checked - made)


def instances() -> Iterator[tuple[str, Problem]]:
    """Return the instances with the row of the table that each belongs to."""
    yield "central, d=90, k=5", central()
    yield "central, m=20000", central(m=20_000)
    for agreeing in (1, 4, 30):
        yield f"needle, {agreeing} of 1000, d=180, k=5", needle(agreeing=agreeing)
    seen = set()
    for name in SUITES:
        for entry in suite(name):
            problem = entry.problem()
            if entry not in seen and _provable(problem):
                yield f"library, {entry.family}", problem
            seen.add(entry)
    place = os.environ.get("CPX_DATA")
    if place is None:
        print("proofs: CPX_DATA names no directory of tables", file=sys.stderr)
        return
    for dataset in DATASETS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            box = train(Directory(Path(place)).load(dataset), Protocol())
        for number in range(INSTANCES):
            x, explainer = box.instance(number, 0)
            yield f"paper, {dataset.name}", KMonomial(explainer.samples(x, 1000), 5)


def _provable(problem: Problem) -> bool:
    try:
        require_provable(problem)
    except InvalidOption:
        return False
    return True


def main() -> None:
    """Print the table."""
    # Threads of NumPy that wait for work count as processor time.
    threadpool_limits(1)
    measure(needle(20, 5, 2, 2))  # loads the kernels
    found: dict[str, list[Run]] = {}
    for name, problem in instances():
        found.setdefault(name, []).append(measure(problem))
        print(f"{name}: {found[name][-1]}", file=sys.stderr, flush=True)
    show(
        f"proofs, at most {LIMIT:.0f} s each, processor time",
        [
            "instances",
            "number",
            "proved and checked",
            "lines, median",
            "packed bytes, worst",
            "solve s, median",
            "prove s, median",
            "worst",
            "check s, median",
            "worst",
        ],
        (
            [
                name,
                len(runs),
                sum(run.proved for run in runs),
                statistics.median(run.lines for run in runs),
                max(run.packed for run in runs),
                statistics.median(run.solving for run in runs),
                statistics.median(run.making for run in runs),
                max(run.making for run in runs),
                statistics.median(run.checking for run in runs),
                max(run.checking for run in runs),
            ]
            for name, runs in found.items()
        ),
    )


if __name__ == "__main__":
    main()
