"""Table 2 of Polato and Aiolli: rules of kernel machines, by the exact search and by theirs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers.kernels.records import Found, Protocol, Run, Task
from cpx.answers.result import Termination
from cpx.data.bits import Bits
from cpx.errors import InvalidOption, UnknownName
from cpx.models.kernel_rule.boolean_kernels.datasets import DATASETS, dataset, with_noise
from cpx.models.kernel_rule.boolean_kernels.kernels import BoundedDNFKernel
from cpx.models.kernel_rule.boolean_kernels.machine import KernelMachine, read_svc
from cpx.models.kernel_rule.form import DNF, true_of

if TYPE_CHECKING:
    from cpx.models.kernel_rule.boolean_kernels.extraction import ExtractedRule

__all__ = ["PUBLISHED", "Published", "choose", "make", "preload", "tasks"]


@dataclass(frozen=True)
class Published:
    """A row of the paper's Table 2, means over 5 runs; all but ``generations`` in percent."""

    svm_train: float
    svm_test: float
    rule_train: float
    rule_test: float
    fidelity_train: float
    fidelity_test: float
    generations: float


# M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN 2018, Table 2.
PUBLISHED: dict[str, Published] = {
    "tic-tac-toe": Published(100.0, 98.33, 100.0, 100.0, 100.0, 98.33, 358.0),
    "monks-1": Published(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 9.2),
    "monks-3": Published(100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 230.4),
    "art-d2-c4": Published(100.0, 98.87, 99.89, 99.40, 99.89, 99.07, 10.6),
    "art-d3-c3": Published(100.0, 97.13, 100.0, 100.0, 100.0, 97.13, 14.6),
    "art-d4-c2": Published(100.0, 97.87, 100.0, 100.0, 100.0, 97.87, 15.0),
    "art-d4-c3": Published(100.0, 95.07, 100.0, 100.0, 100.0, 95.07, 35.2),
    "art-d5-c4": Published(100.0, 96.00, 99.71, 99.20, 99.71, 96.00, 340.4),
    "art-d5-c5": Published(100.0, 94.27, 99.97, 99.40, 99.97, 94.20, 61.2),
}
"""The paper's figures by data set."""


def choose(names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the named data sets in the order of the table; all for None.

    Raises
    ------
    UnknownName, InvalidOption

    Examples
    --------
    >>> choose(["monks-3", "monks-1"])
    ('monks-1', 'monks-3')
    """
    if names is None:
        return DATASETS
    wanted = list(names)
    for name in wanted:
        if name not in DATASETS:
            raise UnknownName("data set", name, DATASETS)
    if not wanted:
        raise InvalidOption("datasets must name at least one data set")
    return tuple(name for name in DATASETS if name in wanted)


def tasks(names: Iterable[str], protocol: Protocol) -> list[Task]:
    """Return the tasks of some data sets, the splits of each one after another."""
    return [Task(name, number, protocol) for name in names for number in range(protocol.runs)]


def preload() -> None:
    """Load compiled code, so that the first task does not take longer than the others."""
    from cpx.backends import backend_class

    backend_class("search")._preload()


def make(task: Task) -> Run:
    """Train the machine of a task and look for its rule of greatest weight.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, also when the search of a rule was stopped by it.
    InvalidOption
        When the time limit is too short for any rule.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    name, number, protocol = task.name, task.number, task.protocol
    seed = int(np.random.SeedSequence([protocol.seed, number]).generate_state(1)[0] >> 1)
    data = dataset(name, seed)
    seen, kept = train_test_split(
        np.arange(len(data.y)), test_size=protocol.test_share, random_state=seed
    )
    X, y = data.X[seen], data.y[seen]
    if protocol.noise:
        y = with_noise(y, protocol.noise, seed)
    kernel = BoundedDNFKernel(protocol.max_clauses, protocol.max_literals)
    svc = SVC(kernel=kernel, C=protocol.hardness).fit(X, y)
    said = (svc.predict(X), svc.predict(data.X[kept]))
    truth = (y, data.y[kept])
    tables = (X, data.X[kept])
    start = time.process_time()
    machine = read_svc(svc, X)
    reading = time.process_time() - start

    def search(backend: str, time_limit: float | None) -> Found:
        return _found(machine, backend, time_limit, seed, tables, truth, said, reading)

    known = machine.weight(data.rule)
    return Run(
        task,
        float((said[0] == truth[0]).mean()),
        float((said[1] == truth[1]).mean()),
        len(machine.weights),
        known,
        float(known / machine.greatest),
        data.rule,
        search("search", protocol.time_limit),
        search(f"genetic:{protocol.operators}", None) if protocol.genetic else None,
    )


def _found(
    machine: KernelMachine,
    backend: str,
    time_limit: float | None,
    seed: int,
    tables: tuple[Bits, Bits],
    truth: tuple[Bits, Bits],
    said: tuple[Bits, Bits],
    reading: float,
) -> Found:
    from cpx.models.kernel_rule.boolean_kernels.extraction import extract

    start = time.process_time()
    found = extract(machine, backend=backend, time_limit=time_limit, seed=seed)
    seconds = time.process_time() - start + reading
    if found is not None and found.result.termination is Termination.INTERRUPTED:
        # A solve ends well on Ctrl-C; the experiment is to end as well.
        raise KeyboardInterrupt
    if found is None:
        raise InvalidOption(f"time_limit is too short for a rule, got {time_limit!r}")
    right = _shares(found.rule, tables, truth)
    agreeing = _shares(found.rule, tables, said)
    heuristic = found.result.bound is None
    return Found(
        found.rule,
        found.weight,
        float(found.weight / machine.greatest),
        _share_of_bound(found, machine),
        found.proved and not heuristic,
        *right,
        *agreeing,
        seconds,
        found.result.sizes.get("generations"),
    )


def _share_of_bound(found: ExtractedRule, machine: KernelMachine) -> float | None:
    return None if found.bound is None else float(found.bound / machine.greatest)


def _shares(
    rule: DNF, tables: tuple[Bits, Bits], labels: tuple[Bits, Bits]
) -> tuple[float, float]:
    first, second = (
        float((true_of(rule, table) == given).mean())
        for table, given in zip(tables, labels, strict=True)
    )
    return first, second
