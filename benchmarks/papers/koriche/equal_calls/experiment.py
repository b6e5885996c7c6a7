"""The tasks at equal numbers of calls, and running them one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from benchmarks.papers.datasets import FIGURE_DATASETS
from benchmarks.papers.koriche.equal_calls.methods import METHODS, answer
from benchmarks.papers.koriche.experiment import SAMPLE_COUNTS, SIZES
from benchmarks.papers.koriche.protocol import BlackBox, Protocol, train
from benchmarks.papers.koriche.records import Record, Store, Task
from cpx.answers.result import Status
from cpx.data.oracle import precision_of

if TYPE_CHECKING:
    from benchmarks.papers.datasets import Dataset
    from benchmarks.papers.koriche.methods import Method
    from benchmarks.papers.sources import Source

__all__ = ["ANCHORS", "UNLIMITED", "Experiment", "run"]

ANCHORS = "anchors"
"""In place of a number of calls: as many as Anchors took, stopped by nothing but the time."""

FIGURE_CALLS = 1000
"""Calls in Figure 2, as the paper has samples."""

UNLIMITED = 10**9
"""The calls of a method that is to stop by itself."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is asked for.

    Attributes
    ----------
    datasets : tuple of Dataset
    identities : dict of str to str
        Identity of the table of each data set, by its name.
    methods : tuple of Method
    calls : tuple of int or str
        Numbers of calls; :data:`ANCHORS` among them.
    instances, k : int
    protocol : Protocol
        Its time limit is that of a method, or of each of its solves.
    figures : bool
        Whether the tasks of Figures 1 and 2 are made as well.
    """

    datasets: tuple[Dataset, ...]
    identities: dict[str, str]
    methods: tuple[Method, ...]
    calls: tuple[int | str, ...]
    instances: int
    k: int
    protocol: Protocol
    figures: bool = False

    @property
    def present(self) -> tuple[Method, ...]:
        """The methods that are drawn: all."""
        return self.methods

    @property
    def figured(self) -> tuple[Dataset, ...]:
        """The data sets of the figures."""
        return tuple(d for d in self.datasets if d.name in FIGURE_DATASETS)

    def task(
        self,
        dataset: Dataset,
        instance: int,
        method: Method,
        k: int | None = None,
        m: int = FIGURE_CALLS,
    ) -> Task:
        """Return the task of a method with m calls, and rules of the size of the tables."""
        data = self.identities[dataset.name]
        size = self.k if k is None else k
        return Task(dataset, data, instance, method, size, m, self.protocol)

    def tasks(
        self, dataset: Dataset, instance: int, calls: int | str, store: Store
    ) -> Iterator[Task]:
        """Yield the tasks of one instance: of all methods, at one number of calls.

        At that of Anchors, its own task comes first, and the others once its record is in the
        store, unless the time had stopped it.
        """
        if isinstance(calls, int):
            for method in self.methods:
                yield self.task(dataset, instance, method, m=calls)
            return
        first = self.task(dataset, instance, METHODS["anchors"], m=UNLIMITED)
        yield first
        made = store.get(first)
        if made is None or made.failed or made.message or not made.calls:
            return
        for method in self.methods:
            if method.name != "anchors":
                yield self.task(dataset, instance, method, m=made.calls)

    def all_tasks(self, store: Store) -> Iterator[Task]:
        """Yield all tasks in the order they are run; the store grows meanwhile.

        The first instance of all data sets first, so that what is there at any time is whole.
        """
        for instance in range(self.instances):
            for calls in self.calls:
                for dataset in self.datasets:
                    yield from self.tasks(dataset, instance, calls, store)
        if not self.figures:
            return
        for instance in range(self.instances):
            for dataset in self.figured:
                for method in self.methods:
                    for m in SAMPLE_COUNTS:
                        yield self.task(dataset, instance, method, m=m)
                    for k in SIZES:
                        yield self.task(dataset, instance, method, k=k)


def run(
    experiment: Experiment,
    source: Source,
    store: Store,
    on_record: Callable[[Task, Record], None],
) -> bool:
    """Make the tasks that the store does not have; return False after Ctrl-C."""
    boxes: dict[str, BlackBox] = {}
    try:
        for task in experiment.all_tasks(store):
            if store.finished(task):
                continue
            name = task.dataset.name
            if name not in boxes:
                boxes[name] = train(source.load(task.dataset), experiment.protocol)
            record = _make(task, boxes[name])
            store.add(record)
            on_record(task, record)
    except KeyboardInterrupt:
        return False
    return True


def _make(task: Task, box: BlackBox) -> Record:
    """Explain the instance, and measure the rule on fresh samples given it."""
    x, explainer = box.instance(task.instance, task.protocol.seed)
    start = time.process_time()
    try:
        found = answer(task.method, explainer, x, task.k, task.m, task.protocol.time_limit)
    except Exception as error:
        # One task that fails must not take the others with it; the table shows it.
        message = f"{type(error).__name__}: {error}"
        return Record(task.key, task.setting(), str(Status.ERROR), message=message)
    seconds = time.process_time() - start
    record = Record(
        task.key,
        task.setting(),
        found.status,
        message=found.stopped,
        seconds=round(seconds, 4),
        row=box.row(task.instance),
        d=box.d,
        accuracy=box.accuracy,
        calls=found.calls,
    )
    if found.features is None:
        return record
    oracle = explainer.oracle(x)
    fresh = precision_of(oracle, found.features, task.protocol.fresh, explainer.seed)
    return replace(
        record,
        agreeing=fresh.agreeing,
        drawn=fresh.drawn,
        features=list(found.features),
        # Of a rule of bits drawn uniformly.
        coverage=str(Fraction(1, 2 ** len(found.features))),
    )
