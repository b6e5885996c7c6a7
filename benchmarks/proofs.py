"""Proofs: share of answers that get one, its size, seconds to make it and to check it.

The instances are those of the library, hard ones of the search, rules of kernel machines with and
without noise, expected predictions of boosted trees, and, where the environment variable CPX_DATA
names a directory of tables, rules and certificates of the problems of Koriche et al., Table 2.
CPX_PROOFS names a file: what it has is not run again, and each run is added to it. Engines are
those of CPX_PROOFS_ENGINES, ``search`` unless given, and each step has CPX_PROOFS_LIMIT seconds.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.expected_prediction import cases as expected_cases
from benchmarks.instances import central
from benchmarks.papers.datasets import DATASETS as PAPER_DATASETS
from benchmarks.papers.datasets import Dataset
from benchmarks.papers.koriche.protocol import Protocol, train
from benchmarks.papers.sources import Directory
from benchmarks.searching import needle
from benchmarks.tables import show
from cpx import KMonomial, MinCertificate, Samples, solve
from cpx.answers.result import Status
from cpx.check.proofs import covers, proved
from cpx.errors import InvalidOption
from cpx.library import SUITES, suite
from cpx.modelling.base import Problem
from cpx.models.kernel_rule.boolean_kernels import BoundedDNFKernel, read_svc
from cpx.models.kernel_rule.boolean_kernels.datasets import DATASETS as DATASETS_OF_KERNELS
from cpx.models.kernel_rule.boolean_kernels.datasets import dataset as boolean_dataset
from cpx.models.kernel_rule.boolean_kernels.datasets import with_noise
from cpx.options import SolveOptions
from cpx.solving.proofs import prove, require_provable
from cpx.solving.run import run

LIMIT = float(os.environ.get("CPX_PROOFS_LIMIT", "30"))
ENGINES = os.environ.get("CPX_PROOFS_ENGINES", "search").split()
INSTANCES = 2

# The other kinds of problems are not those of the search.
_OWN_ENGINE = {
    "min-certificate": "cpsat",
    "rule-set-learning": "column-generation",
    "sufficient-reason": "hitting-sets",
}


# Kinds whose engine records its search.
_RECORDED = ("kernel-rule", "rule-set", "rule-set-learning", "sufficient-reason")


class Run(NamedTuple):
    """What became of one proof; seconds of processor time."""

    proved: bool
    lines: int
    packed: int
    solving: float
    making: float
    checking: float


def measure(problem: Problem, engine: str) -> Run:
    """Solve, prove as ``solve(..., proof=True)`` does, and check."""
    start = time.process_time()
    result = solve(problem, engine, time_limit=LIMIT)
    solved = time.process_time()
    record: list[object] = []
    again = 0.0
    if problem.kind in _RECORDED:
        # The proof takes what the solve takes longer when it records its search.
        again, options = solved - start, SolveOptions(time_limit=LIMIT)
        result = run(problem, engine, options, record=record)
    proof = prove(problem, result, LIMIT, trusted=result.backend == "search", record=record)
    made = time.process_time() - again
    if proof is None:
        return Run(False, 0, 0, solved - start, made - solved, 0.0)
    data = proof.to_bytes()
    claim = proved(problem.to_dict(), data)
    checked = time.process_time() - again
    complete = result.status is not Status.FEASIBLE and covers(claim, result.to_dict())
    packed, lines = len(gzip.compress(data)), len(proof.lines)
    return Run(complete, lines, packed, solved - start, made - solved, checked - made)


def instances() -> Iterator[tuple[str, str, Callable[[], Problem]]]:
    """Return what makes the instances, with a name, and the row of the table of each."""
    seen = set()
    for suite_name in SUITES:
        for number, entry in enumerate(suite(suite_name)):
            if entry not in seen:
                yield f"library, {entry.family}", f"{suite_name} {number}", entry.problem
            seen.add(entry)
    for name in DATASETS_OF_KERNELS:
        for noise in (0.0, 0.05):
            told = "with noise" if noise else "without noise"
            yield f"kernel rules {told}", name, partial(_kernel_rule, name, noise)
    yield from _of_tables()
    yield "central, d=90, k=5", "", central
    yield "central, m=20000", "", lambda: central(m=20_000)
    for agreeing in (1, 4, 30):
        yield "needles, d=180, k=5", str(agreeing), partial(needle, agreeing=agreeing)
    for case in expected_cases():
        for k in case.sizes:
            for number in range(INSTANCES):
                row, at = case.rows[number], f"{k} {number}"
                yield f"expected, {case.name}", at, partial(case.problem, row, k)
                mixed = partial(case.problem, row, min(k, 3), mixture=True)
                yield f"expected, {case.name}, mixture", at, mixed


def _of_tables() -> Iterator[tuple[str, str, Callable[[], Problem]]]:
    place = os.environ.get("CPX_DATA")
    if place is None:
        print("proofs: CPX_DATA names no directory of tables", file=sys.stderr)
        return
    for dataset in PAPER_DATASETS:
        # Trained when the first of its problems is needed.
        samples = cache(partial(_samples, dataset, Path(place)))
        for number in range(INSTANCES):
            at = f"{dataset.name} {number}"
            yield "tables of the paper, k=5", at, partial(_rule, samples, number)
            for tolerated in ("0", "1/50"):
                make = partial(_certificate, samples, number, tolerated)
                yield f"tables of the paper, certificates of {tolerated}", at, make


def _samples(dataset: Dataset, place: Path) -> list[Samples]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        box = train(Directory(place).load(dataset), Protocol())
    rows = (box.instance(number, 0) for number in range(INSTANCES))
    return [explainer.samples(x, 1000) for x, explainer in rows]


def _rule(samples: Callable[[], list[Samples]], number: int) -> Problem:
    return KMonomial(samples()[number], 5)


def _certificate(samples: Callable[[], list[Samples]], number: int, tolerated: str) -> Problem:
    return MinCertificate(samples()[number], epsilon=tolerated)


def _kernel_rule(name: str, noise: float) -> Problem:
    data = boolean_dataset(name, 0)
    y = with_noise(data.y, noise, 0) if noise else data.y
    svc = SVC(kernel=BoundedDNFKernel(10, 5), C=1e6).fit(data.X, y)
    return read_svc(svc, data.X).problem(10, 5)


def _provable(problem: Problem) -> bool:
    try:
        require_provable(problem)
    except InvalidOption:
        return False
    return True


def _runs() -> dict[tuple[str, str], dict[str, Run]]:
    """Return the runs by row and engine; what a file has of them is not made again."""
    found: dict[tuple[str, str], dict[str, Run]] = {}
    place = Path(os.environ.get("CPX_PROOFS", os.devnull))
    if place.exists():
        for line in place.read_text(encoding="utf-8").splitlines():
            row, engine, name, run = json.loads(line)
            found.setdefault((row, engine), {})[name] = Run(*run)
    for row, name, make in instances():
        problem = None
        for engine in ENGINES:
            runs = found.setdefault((row, engine), {})
            if name in runs:
                continue
            problem = problem or make()
            used = _OWN_ENGINE.get(problem.kind, engine)
            if not _provable(problem) or (used != engine and engine != ENGINES[0]):
                continue
            runs[name] = measure(problem, used)
            with place.open("a", encoding="utf-8") as out:
                print(json.dumps([row, engine, name, runs[name]]), file=out)
            print(f"{row} {engine} {name}: {runs[name]}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Print the table."""
    # Threads of NumPy that wait for work count as processor time.
    threadpool_limits(1)
    measure(needle(20, 5, 2, 2), "search")  # loads the kernels
    head = "instances, engine, number, proved and checked, lines median, lines worst"
    head += ", packed bytes worst, solve s median, prove s median, worst"
    head += ", share of the solve, check s median, worst"
    show(
        f"proofs, at most {LIMIT:.0f} s each, processor time",
        head.split(", "),
        [
            _summary(row, engine, [*runs.values()])
            for (row, engine), runs in _runs().items()
            if runs
        ],
    )


def _summary(row: str, engine: str, runs: list[Run]) -> list[object]:
    return [
        row.replace(",", ";"),
        engine,
        len(runs),
        sum(run.proved for run in runs),
        statistics.median(run.lines for run in runs),
        max(run.lines for run in runs),
        max(run.packed for run in runs),
        statistics.median(run.solving for run in runs),
        statistics.median(run.making for run in runs),
        max(run.making for run in runs),
        sum(run.making for run in runs) / max(1e-9, sum(run.solving for run in runs)),
        statistics.median(run.checking for run in runs),
        max(run.checking for run in runs),
    ]


if __name__ == "__main__":
    main()
