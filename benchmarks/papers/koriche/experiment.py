"""The definition of the experiment of Koriche et al.: Table 2 and Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.papers.datasets import FIGURE_DATASETS, Dataset, choose
from benchmarks.papers.koriche.methods import Method, choose_methods
from benchmarks.papers.koriche.protocol import Protocol
from benchmarks.papers.koriche.records import Task
from cpx.errors import InvalidOption
from cpx.support.validation import integer, positive_integer

if TYPE_CHECKING:
    from benchmarks.papers.sources import Source

__all__ = ["SAMPLE_COUNTS", "SIZES", "Experiment", "plan"]

SAMPLE_COUNTS = (100, 200, 500, 1000, 2000, 5000)
"""Numbers of samples in our Figure 1; the text of the paper names none."""

SIZES = (1, 2, 3, 4, 5, 6, 7)
"""Sizes of rules in Figure 2."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What a reproduction consists of; :func:`plan` makes it.

    Attributes
    ----------
    datasets : tuple of Dataset
    methods : tuple of Method
        All that were asked for.
    absent : dict of str to str
        Names of those that cannot be used here, with the reason.
    identities : dict of str to str
        Identity of the table of each data set, by its name.
    instances, k : int
        Instances per data set; size of the rules in the table.
    m : int or None
        Number of samples in the table, of all methods; None for the number that each has.
    protocol : Protocol
    """

    datasets: tuple[Dataset, ...]
    methods: tuple[Method, ...]
    absent: dict[str, str]
    identities: dict[str, str]
    instances: int
    k: int
    m: int | None
    protocol: Protocol

    @property
    def present(self) -> tuple[Method, ...]:
        """The methods that can be used here."""
        return tuple(method for method in self.methods if method.name not in self.absent)

    @property
    def figured(self) -> tuple[Dataset, ...]:
        """The data sets of the figures."""
        return tuple(d for d in self.datasets if d.name in FIGURE_DATASETS)

    def samples(self, method: Method) -> int:
        """Return on how many samples a method finds the rules of the table."""
        return method.m if self.m is None else self.m

    def task(
        self,
        dataset: Dataset,
        instance: int,
        method: Method,
        k: int | None = None,
        m: int | None = None,
    ) -> Task:
        """Return a task; ``k`` and ``m`` are those of the table when they are not given."""
        size = self.k if k is None else k
        count = self.samples(method) if m is None else m
        data = self.identities[dataset.name]
        return Task(dataset, data, instance, method, size, count, self.protocol)

    def table_tasks(self) -> Iterator[Task]:
        """Yield the tasks of the table, the first instance of all data sets first."""
        for instance in range(self.instances):
            for dataset in self.datasets:
                for method in self.present:
                    yield self.task(dataset, instance, method)

    def figure_tasks(self) -> Iterator[Task]:
        """Yield the tasks of the figures, the first instances first."""
        for instance in range(self.instances):
            for dataset in self.figured:
                for method in self.present:
                    for m in SAMPLE_COUNTS:
                        yield self.task(dataset, instance, method, m=m)
                    for k in SIZES:
                        yield self.task(dataset, instance, method, k=k)

    def tasks(self, figures: bool) -> list[Task]:
        """Return all tasks, each once."""
        found = {task.key: task for task in self.table_tasks()}
        if figures:
            for task in self.figure_tasks():
                found.setdefault(task.key, task)
        return list(found.values())


def plan(
    source: Source,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    *,
    instances: int = 5,
    k: int = 5,
    m: int | None = None,
    protocol: Protocol | None = None,
) -> Experiment:
    """Check what is asked for, and say what it consists of.

    Parameters
    ----------
    source : Source
        Where the tables come from.
    datasets, methods : iterable of str, optional
        Names; see :func:`~benchmarks.papers.datasets.choose` and
        :func:`~benchmarks.papers.koriche.methods.choose_methods`. A method that is not installed
        is no error: it is listed as absent.
    instances : int
        Instances per data set; the paper has 100.
    k : int
        Size of the rules.
    m : int, optional
        Number of samples of all methods, in place of the number that each has.
    protocol : Protocol, optional

    Returns
    -------
    Experiment

    Raises
    ------
    UnknownName, InvalidOption, DataError
        Naming what is wrong.
    """
    chosen = choose(datasets)
    wanted = choose_methods(methods)
    size = integer(k)
    if size is None or size < 0:
        raise InvalidOption(f"k must be an integer of at least 0, got {k!r}")
    reasons = {method.name: method.absent() for method in wanted}
    return Experiment(
        chosen,
        wanted,
        {name: reason for name, reason in reasons.items() if reason is not None},
        {dataset.name: source.identity(dataset) for dataset in chosen},
        positive_integer("instances", instances),
        size,
        None if m is None else positive_integer("m", m),
        Protocol() if protocol is None else protocol,
    )
