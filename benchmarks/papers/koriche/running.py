"""Running the tasks of the experiment in parallel, and storing their records."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.papers.koriche.protocol import BlackBox, Protocol, train
from benchmarks.papers.koriche.records import Record, Store, Task
from benchmarks.papers.koriche.solving import ask, solve
from cpx.answers.result import Result, Status, Termination
from cpx.answers.values import to_json
from cpx.compare.pool import run_each
from cpx.processes.calls import Cancelled, call
from cpx.support.validation import positive_integer

if TYPE_CHECKING:
    from benchmarks.papers.sources import Source
    from cpx.backends import Event

__all__ = ["Listener", "reproduce"]

Listener = Callable[[Task, "Event | None"], None]


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

    def keep(task: Task, record: Record | None) -> None:
        if record is None:
            return
        store.add(record)
        if on_record is not None:
            on_record(task, record)

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
                    self._made[key] = call(train, table, task.protocol, cancel=cancel)
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
        hear = None if listen is None else (lambda event: listen(task, event))
        result = solve(task, explainer, x, cancel, hear)
    else:
        limit = task.protocol.time_limit
        asked = (explainer, x, task.method.backend, task.k, task.m, limit)
        result = call(ask, *asked, cancel=cancel)
    if result.termination is Termination.INTERRUPTED:
        return None
    from cpx.data import labels

    facts: dict[str, Any] = {
        "row": box.row(task.instance),
        "predicted": str(labels(explainer.classifier, explainer.distribution.row(x))[0]),
        "d": box.d,
        "accuracy": box.accuracy,
    }
    if result.explanation is not None:
        measured = explainer.measure(result.explanation, x, task.protocol.fresh)
        if measured.fresh is not None:
            facts |= {"agreeing": measured.fresh.agreeing, "drawn": measured.fresh.drawn}
        facts |= {
            "features": list(measured.features),
            "rule": str(measured),
            "precision": None if measured.precision is None else str(measured.precision.exact),
            "coverage": None if measured.coverage is None else str(measured.coverage.exact),
        }
    return Record(
        key=task.key,
        setting=task.setting(),
        status=str(result.status),
        termination=str(result.termination),
        message=_complaint(result),
        objective=to_json(result.objective),
        bound=to_json(result.bound),
        gap=result.gap,
        seconds=round(result.times.total, 4),
        solving=round(result.times.solve, 4),
        warnings=list(result.warnings),
        **facts,
    )


def _complaint(result: Result) -> str:
    """Say in a line why a solve failed."""
    if result.status is not Status.ERROR:
        return ""
    texts = [result.raw_status, *result.warnings[-1:]]
    return "; ".join(text.splitlines()[-1].strip() for text in texts if text)
