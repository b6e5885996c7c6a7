"""Table 2 and Figures 1 and 2 of Koriche et al.: which tasks they need, and making them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cpx.compare.pool import run_each
from cpx.data.scalars import integer, positive_integer
from cpx.errors import InvalidOption
from cpx.reproduce.child import Cancelled, call
from cpx.reproduce.datasets import FIGURE_DATASETS, Dataset, choose
from cpx.reproduce.methods import Method, choose_methods
from cpx.reproduce.protocol import BlackBox, Protocol, train
from cpx.reproduce.records import Record, Store, Task
from cpx.result import Result, Status, Termination

if TYPE_CHECKING:
    from cpx.backends import Event
    from cpx.explainer import Explainer
    from cpx.reproduce.sources import Source

__all__ = ["SAMPLE_COUNTS", "SIZES", "Experiment", "plan", "reproduce"]

SAMPLE_COUNTS = (100, 200, 500, 1000, 2000, 5000)
"""Numbers of samples in Figure 1."""

SIZES = (1, 2, 3, 4, 5, 6, 7)
"""Sizes of rules in Figure 2."""

Listener = Callable[[Task, "Event | None"], None]


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
    instances, k, m : int
        Instances per data set; size of the rules and number of samples in the table.
    protocol : Protocol
    """

    datasets: tuple[Dataset, ...]
    methods: tuple[Method, ...]
    absent: dict[str, str]
    identities: dict[str, str]
    instances: int
    k: int
    m: int
    protocol: Protocol

    @property
    def present(self) -> tuple[Method, ...]:
        """The methods that can be used here."""
        return tuple(method for method in self.methods if method.name not in self.absent)

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
        m: int | None = None,
    ) -> Task:
        """Return a task; ``k`` and ``m`` are those of the table when they are not given."""
        size = self.k if k is None else k
        count = (method.m or self.m) if m is None else m
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
    m: int = 1000,
    protocol: Protocol | None = None,
) -> Experiment:
    """Check what is asked for, and say what it consists of.

    Parameters
    ----------
    source : Source
        Where the tables come from.
    datasets, methods : iterable of str, optional
        Names; see :func:`~cpx.reproduce.datasets.choose` and
        :func:`~cpx.reproduce.methods.choose_methods`. A method that is not installed is no
        error: it is listed as absent.
    instances : int
        Instances per data set; the paper has 100.
    k, m : int
        Size of the rules, and number of samples.
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
        positive_integer("m", m),
        Protocol() if protocol is None else protocol,
    )


def reproduce(
    source: Source,
    tasks: Sequence[Task],
    store: Store,
    *,
    jobs: int = 1,
    on_record: Callable[[Task, Record], None] | None = None,
    listen: Listener | None = None,
) -> bool:
    """Make the tasks that the store does not have, or has as failed.

    Parameters
    ----------
    source : Source
    tasks : sequence of Task
        Of :meth:`Experiment.tasks`.
    store : Store
        Gets each record as soon as its task ends.
    jobs : int
        Tasks at the same time; more than idle cores make the times meaningless.
    on_record : callable, optional
        Called in the calling thread when a task has ended.
    listen : callable, optional
        Called from other threads with a task and None when it starts, and with the task and
        each event of its solve.

    Returns
    -------
    bool
        False when Ctrl-C cut it short; what had ended is in the store.

    Raises
    ------
    DataError
        When a table cannot be had, before anything runs.
    """
    positive_integer("jobs", jobs)
    missing = [task for task in tasks if not store.finished(task)]
    for dataset in {task.dataset.name: task.dataset for task in missing}.values():
        source.fetch(dataset)
    boxes = _BlackBoxes(source)

    def work(task: Task, cancel: threading.Event) -> Record | None:
        if listen is not None:
            listen(task, None)
        try:
            return _make(task, boxes, cancel, listen)
        except Cancelled:
            return None
        except Exception as error:
            # One task that fails must not take the others with it; the table shows it.
            message = f"{type(error).__name__}: {error}"
            return Record(task.key, task.setting(), str(Status.ERROR), message=message)

    def keep(i: int, record: Record | None) -> None:
        if record is None:
            return
        store.add(record)
        if on_record is not None:
            on_record(missing[i], record)

    return run_each(work, missing, keep, jobs)


class _BlackBoxes:
    """Trains the classifier of each data set once, when the first task needs it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._made: dict[tuple[str, Protocol], BlackBox | Exception] = {}
        self._locks: dict[tuple[str, Protocol], threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, task: Task, cancel: threading.Event) -> BlackBox:
        key = (task.dataset.name, task.protocol)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                try:
                    table = self._source.load(task.dataset)
                    self._made[key] = call(cancel, train, table, task.protocol)
                except Cancelled:
                    raise
                except Exception as error:
                    self._made[key] = error
            found = self._made[key]
        if isinstance(found, Exception):
            raise found
        return found


def _make(
    task: Task, boxes: _BlackBoxes, cancel: threading.Event, listen: Listener | None
) -> Record | None:
    box = boxes.get(task, cancel)
    x, explainer = box.instance(task.instance, task.protocol.seed)
    if task.method.samples:
        result = _solve(task, explainer, x, cancel, listen)
    else:
        result = call(cancel, _ask, task, explainer, x)
    if result.termination is Termination.INTERRUPTED:
        return None
    if result.explanation is not None:
        measured = explainer.measure(result.explanation, x, task.protocol.fresh)
    else:
        measured = None
    from cpx.data import labels

    common: dict[str, Any] = {
        "row": box.row(task.instance),
        "predicted": str(labels(explainer.classifier, explainer.distribution.row(x))[0]),
        "d": box.d,
        "accuracy": box.accuracy,
    }
    if measured is not None and measured.fresh is not None:
        common |= {
            "agreeing": measured.fresh.agreeing,
            "drawn": measured.fresh.drawn,
            "features": list(measured.features),
            "rule": str(measured),
            "precision": None if measured.precision is None else str(measured.precision),
            "coverage": None if measured.coverage is None else str(measured.coverage),
        }
    return Record(
        key=task.key,
        setting=task.setting(),
        status=str(result.status),
        termination=str(result.termination),
        message=_complaint(result),
        objective=result.objective,
        bound=result.bound,
        gap=result.gap,
        seconds=round(result.times.total, 4),
        solving=round(result.times.solve, 4),
        warnings=list(result.warnings),
        **common,
    )


def _solve(
    task: Task, explainer: Explainer, x: Any, cancel: threading.Event, listen: Listener | None
) -> Result:
    from cpx.isolation import run_isolated
    from cpx.options import SolveOptions

    method, protocol = task.method, task.protocol
    problem = explainer.problem(x, task.k, m=task.m, kind=method.kind, **method.parameters)
    options = SolveOptions(protocol.time_limit, seed=protocol.seed, encoding=method.encoding)
    hear = None
    if listen is not None:
        talk = listen

        def hear(event: Event) -> None:
            talk(task, event)

    return run_isolated(problem, method.backend, options, hear, cancel=cancel)


def _ask(task: Task, explainer: Explainer, x: Any) -> Result:
    """Run a method that asks the classifier itself."""
    protocol = task.protocol
    return explainer.explain(
        x,
        task.k,
        m=task.m,
        backend=task.method.backend,
        time_limit=protocol.time_limit,
        fresh=protocol.fresh,
    )


def _complaint(result: Result) -> str:
    """Say in a line why a solve failed."""
    if result.status is not Status.ERROR:
        return ""
    texts = [result.raw_status, *result.warnings[-1:]]
    return "; ".join(text.splitlines()[-1].strip() for text in texts if text)
