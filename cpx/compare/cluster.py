"""Runs on the machines of a Dask cluster, through joblib."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from cpx.compare.plan import Task
from cpx.compare.records import Run
from cpx.processes.cluster import connect
from cpx.processes.interrupts import noted
from cpx.support.own_files import register_files, registered_files


def active() -> bool:
    """Whether we are inside ``joblib.parallel_config(backend="dask")``."""
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    chosen: Any = get_active_backend()[0]
    return type(chosen).__name__ == "DaskDistributedBackend"


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Use the Dask cluster whose scheduler has this address, if there is one.

    Files of ``--register`` are run by its workers, too: all machines have them at the same path.

    Raises EngineMissing, InvalidOption: When Dask is not installed, there is no cluster, or a
        worker cannot run such a file.
    """
    if address is None:
        yield
        return
    from joblib import parallel_config

    client = connect(address, default=True)
    with client, parallel_config(backend="dask"):
        if files := registered_files():
            # Of workers that join later, too.
            client.register_worker_callbacks(partial(register_files, files))
        yield


def run_each(
    work: Callable[[Task], Run], tasks: Sequence[Task], keep: Callable[[Task, Run], None]
) -> bool:
    """Make each run on some machine of the cluster; return False when Ctrl-C cut it short.

    A run whose machine is lost is made again on another one. A problem is sent when its turn
    comes; no more of them are on their way than twice the number of workers.
    """
    from joblib import Parallel, delayed

    cancel = threading.Event()
    with noted(cancel):
        made = Parallel(n_jobs=-1, return_as="generator_unordered", batch_size=1)(
            # Arguments would be left with one machine, and lost with it.
            delayed(partial(_make, work, position, task))()
            for position, task in enumerate(tasks)
            if not cancel.is_set()
        )
        for position, run in made:
            keep(tasks[position], run)
            if cancel.is_set():
                break
    return not cancel.is_set()


def _make(work: Callable[[Task], Run], position: int, task: Task) -> tuple[int, Run]:
    return position, work(task)
