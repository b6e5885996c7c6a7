"""Explanations of many rows: equal questions once, on several cores, kept on Ctrl-C."""

from __future__ import annotations

import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from os import getpid
from typing import Any, cast
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.explanations import INTERRUPTED, unanswered
from cpx.errors import DataError, EngineError, InvalidOption, shown
from cpx.explainers.doors import Batch, RowExplainer
from cpx.explainers.preparation import counted
from cpx.processes.interrupts import ignore, interruptible
from cpx.support.validation import integer

__all__ = ["Told", "answers"]

_PARTS = 8
"""Parts of the rows for each process, one after the other: one with slow rows holds up none."""

_QUIET = 1.0  # seconds without a bar

Told = bool | Callable[[int, int], None] | None
"""Whether progress is shown, None for where a person sees it; or what is called with it."""


def answers(
    by: RowExplainer,
    rows: Sequence[Any],
    asked: Mapping[str, Any],
    n_jobs: int | None,
    progress: Told,
) -> list[Explanation]:
    """Return an explanation for each row, one that says why where there is none.

    After Ctrl-C these are the rows that are answered, and the others say that it came.
    Raises DataError: When no row can be read.
    """
    if n_jobs is not None and (integer(n_jobs) is None or not n_jobs):
        raise InvalidOption(f"n_jobs must be a number of processes, or -1, got {shown(n_jobs)}")
    batch, wrong = _read(by, rows, asked)
    places = [place for place in range(len(rows)) if place not in wrong]
    found = dict(zip(places, _of_batch(batch, asked, n_jobs, progress)))
    wrong |= {place: one for place, one in found.items() if isinstance(one, DataError)}
    if len(wrong) == len(rows) and wrong:
        raise wrong[min(wrong)]
    said = {place: unanswered(EngineError(str(error))) for place, error in wrong.items()}
    return [cast(Any, (found | said)[place]) for place in range(len(rows))]


def _read(
    by: RowExplainer, rows: Sequence[Any], asked: Mapping[str, Any]
) -> tuple[Batch, dict[int, DataError]]:
    """Return the rows that can be read, made ready, and what is wrong with the others."""
    try:
        return by.for_many(rows, asked), {}
    except DataError:
        wrong = dict[int, DataError]()
        for place, row in enumerate(rows):
            try:
                by.for_many([row], asked)
            except DataError as error:
                wrong[place] = error
        if not wrong:
            raise
    return by.for_many([x for place, x in enumerate(rows) if place not in wrong], asked), wrong


def _of_batch(
    batch: Batch, asked: Mapping[str, Any], n_jobs: int | None, progress: Told
) -> list[Explanation | DataError]:
    """Return an explanation for each row that is ready, or what is wrong with it."""
    alike: dict[Any, list[int]] = {}
    for place, key in enumerate(batch.keys):
        alike.setdefault(key, []).append(place)
    found: dict[int, Explanation | DataError] = {}
    with _told(progress) as tell:
        try:
            firsts = [places[0] for places in alike.values()]
            for place, one in _answered(batch, firsts, asked, n_jobs):
                for other in alike[batch.keys[place]]:
                    wrong = isinstance(one, DataError)
                    found[other] = one if wrong else batch.by.of_row(one, batch.rows[other])
                tell(len(found), len(batch.rows))
        except KeyboardInterrupt:
            pass
    rest = unanswered(EngineError(INTERRUPTED))
    return [found.get(place, rest) for place in range(len(batch.rows))]


def _answered(
    batch: Batch, places: Sequence[int], asked: Mapping[str, Any], n_jobs: int | None
) -> Iterator[tuple[int, Explanation | DataError]]:
    """Yield explanations of the rows at these places, in the order in which they are found."""
    from joblib import Parallel, delayed, effective_n_jobs

    jobs = effective_n_jobs(n_jobs)
    size = 1 if jobs == 1 else max(1, -(-len(places) // (_PARTS * jobs)))
    parts = (places[at : at + size] for at in range(0, len(places), size))
    shared = _Shared(batch.by)
    # On a cluster joblib leaves arguments with one machine: rows are lost with it.
    made = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(
        delayed(partial(_part, shared, [(place, batch.rows[place]) for place in part], asked))()
        for part in parts
    )
    try:
        for part in made:
            yield from part
    finally:
        made.close()


def _part(
    shared: _Shared, rows: Sequence[tuple[int, Any]], asked: Mapping[str, Any]
) -> list[tuple[int, Explanation | DataError]]:
    """Explain some of the rows, here or in a worker, which leaves Ctrl-C to who started it."""
    if getpid() != shared.process and threading.current_thread() is threading.main_thread():
        ignore()
    return [(place, _explained(shared.by, x, asked)) for place, x in rows]


def _explained(by: RowExplainer, x: Any, asked: Mapping[str, Any]) -> Explanation | DataError:
    """Explain a row; of one without an answer say why, and what is wrong with its values."""
    try:
        # A solve keeps what it has when Ctrl-C comes; many rows end there.
        with counted(), interruptible():
            # Rivals would keep the samples of each row; for one row they are found when asked for.
            return replace(by.explain(x, **asked), ask_rivals=None)
    except EngineError as error:
        return unanswered(error)
    except DataError as error:
        return error


class _Shared:
    """What explains rows, pickled once for all workers, of which each opens it once."""

    def __init__(self, by: RowExplainer) -> None:
        self.by, self.process, self._key = by, getpid(), uuid4().hex

    @cached_property
    def _pickled(self) -> NDArray[np.uint8]:
        # As joblib pickles tasks: functions of a notebook, too. An array it writes to a file that
        # all processes of this machine read, where a forest would be sent with each part.
        from joblib.externals.loky.backend.reduction import dumps

        return np.frombuffer(dumps(self.by), dtype=np.uint8)

    def __reduce__(self) -> tuple[Callable[..., _Shared], tuple[Any, ...]]:
        return _opened, (self._key, self.process, self._pickled)


_open: dict[str, _Shared] = {}


def _opened(key: str, process: int, pickled: NDArray[np.uint8]) -> _Shared:
    if key not in _open:
        shared = _Shared(pickle.loads(pickled.tobytes()))
        shared.process = process
        _open.clear()
        _open[key] = shared
    return _open[key]


# ------------------------------------------------------------------- progress


def _told(progress: Told) -> AbstractContextManager[Callable[[int, int], None]]:
    """Return what is told of progress: a bar on standard error, what was given, or nothing."""
    if callable(progress):
        return nullcontext(progress)
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    return _Bar() if progress else nullcontext(lambda done, total: None)


class _Bar:
    """A bar that says how many rows are done, unless that takes next to no time."""

    def __init__(self) -> None:
        self._began, self._bars = time.monotonic(), cast(Any, None)

    def __enter__(self) -> Callable[[int, int], None]:
        return self._tell

    def _tell(self, done: int, total: int) -> None:
        if self._bars is None and time.monotonic() - self._began > _QUIET:
            self._bars = _bars()
            self._bars.start()
            self._task = self._bars.add_task("rows", total=total)
        if self._bars is not None:
            self._bars.update(self._task, completed=done)

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()


def _bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = "{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=Console(stderr=True), transient=True)
