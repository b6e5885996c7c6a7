"""Running a comparison: each run in its own worker process, with hard limits, into a store."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from cpx.answers.result import Termination
from cpx.backends import Event, backend
from cpx.compare import cluster
from cpx.compare.comparison import Comparison
from cpx.compare.design import Design
from cpx.compare.plan import Task, plan
from cpx.compare.pool import run_each
from cpx.compare.recorders import InMemory, InStore, file_name, machine
from cpx.compare.records import Run
from cpx.compare.sources import Problems
from cpx.errors import InvalidOption, shown
from cpx.options import RUN_LIMIT
from cpx.processes.limits import Limits, claimed_cores, usable_cores
from cpx.solving.isolate import run_isolated
from cpx.solving.run import run
from cpx.support.files import ensure_directory

# A run whose worker somebody kills is made again.
_ATTEMPTS = 2


def compare(
    problems: Problems | Design | str | os.PathLike[str],
    backends: Iterable[str] | str | None = None,
    *,
    encodings: Iterable[str] | None = None,
    options: Iterable[Mapping[str, Any]] = ({},),
    seeds: Iterable[int] = (0,),
    time_limit: float | Iterable[float | None] | None = RUN_LIMIT,
    threads: int = 1,
    gap: float | None = None,
    warm_start: bool = False,
    cpu_limit: float | None = None,
    jobs: int = 1,
    memory: int | None = None,
    output: str | os.PathLike[str] | None = None,
    resume: Comparison | bool = False,
    shard: str | None = None,
    logs: str | os.PathLike[str] | None = None,
    on_begin: Callable[[Sequence[Task]], None] | None = None,
    on_result: Callable[[Run, Comparison], None] | None = None,
    listen: Callable[[Task, Event | None], None] | None = None,
) -> Comparison:
    """Solve every problem with every engine in every setting.

    Inside ``joblib.parallel_config(backend="dask")`` the runs are made on the machines of that
    cluster, else on this one.

    Parameters
    ----------
    problems : mapping of str to Problem or path, or sequence of them
        With their names in the table; a sequence takes the problems' own names. Files of
        instances are read when their turn comes. Or a :class:`cpx.compare.Design`, or the path of
        a TOML file with one, which says all up to ``memory``.
    backends : iterable of str or str, optional
        See :func:`cpx.compare.engine_names`.
    encodings : iterable of str, optional
        Default: the default encoding of each problem.
    options : iterable of mapping
        Options of engines by their own names, each with every engine that has them.
    seeds, time_limit
        As for :func:`cpx.solve`; one limit, or several. An engine that ignores the seed runs once,
        with the first, and its run counts for each seed.
    threads, gap
        As for :func:`cpx.solve`, the same for all runs.
    warm_start : bool
        Whether engines may be handed a start of another method. Default: they are left to
        themselves; ``"milp{warm_start=true}"`` is for one of them.
    cpu_limit : float, optional
        Seconds of processor time that each run may use, beside ``time_limit``, with the programs
        that its engine starts.
    jobs : int
        Runs at the same time. As long as there are cores for all of them, each run has its own.
        More jobs than idle cores make the times meaningless.
    memory : int, optional
        Bytes each worker may use. A method that asks the classifier runs in this process, which
        has no such limit.
    output : path, optional
        Directory of the store, made if need be. Each run is added to it as soon as it ends; at
        the end a table of all is written, and instances on which engines disagree are saved.
    resume : bool or Comparison
        Earlier runs, those in ``output`` or these, all of which stay in the comparison. What was
        the same experiment is not run again, unless it failed or was interrupted.
    shard : str, optional
        Such as ``"3/10"``: make the third of ten parts of the runs.
    logs : path, optional
        Directory that gets what each engine prints, its own log included.
    on_begin : callable, optional
        Called with the tasks that will be run.
    on_result : callable, optional
        Called in the calling thread when a run ends, with the :class:`Run` and the
        comparison so far; with ``output``, where that is kept, the comparison is of the run.
    listen : callable, optional
        Called from worker threads with a task and None when it starts, and with the task
        and each of its events.

    Returns
    -------
    Comparison
        In the order of problems, engines, options, encodings, limits, seeds. After Ctrl-C: with
        the runs that are done and those cut short that have a solution, and ``complete`` False.

    Raises
    ------
    UnknownName, EngineMissing, InvalidOption, InvalidInstance, OutputError
        Before anything runs.

    Examples
    --------
    >>> import cpx
    >>> samples = cpx.Samples([[1, 1], [1, 0], [0, 1]], [1, 1, 0])
    >>> comparison = cpx.compare(
    ...     {"tiny": cpx.KMonomial(samples, k=1)}, "search,cpsat{cut_level=0}", time_limit=20
    ... )
    >>> [(run.configuration, run.result.objective) for run in comparison.runs]
    [('search', 0), ('cpsat{cut_level=0}', 0)]
    """
    settings = {
        "backends": backends,
        "encodings": encodings,
        "options": options,
        "seeds": seeds,
        "time_limit": time_limit,
        "threads": threads,
        "gap": gap,
        "warm_start": warm_start,
        "cpu_limit": cpu_limit,
        "jobs": jobs,
        "memory": memory,
    }
    design = _design(problems, settings)
    whole = plan(design)
    shared = {"jobs": design.jobs, "memory": design.memory}
    tasks = _share(whole.tasks, shard)
    recorder: InMemory | InStore
    if output is None:
        recorder = InMemory(resume, whole, shared)
    else:
        recorder = InStore(output, resume, whole, shared, shard or "1/1")
    with recorder:
        tasks = [task for task in tasks if task.key not in recorder.finished]
        if on_begin is not None:
            on_begin(tasks)

        def keep(task: Task, made: Run) -> None:
            # What was cut short before it found anything is as if it had not begun.
            if made.interrupted and made.result.objective is None:
                return
            so_far = recorder.add(made, task.place)
            if on_result is not None:
                on_result(made, so_far())

        complete = _make(tasks, keep, design, logs, listen)
        return recorder.end(complete)


def _design(problems: Any, settings: dict[str, Any]) -> Design:
    """Return the design of the arguments of :func:`compare`."""
    in_file = isinstance(problems, str | os.PathLike) and Path(problems).suffix == ".toml"
    if not in_file and not isinstance(problems, Design):
        return Design(problems, **settings)
    default = Design.__dataclass_fields__
    for name, value in settings.items():
        if value != default[name].default:
            who = problems if in_file else "a Design"
            raise InvalidOption(f"{name} is given, and {who} has the whole design")
    return Design.load(problems) if in_file else problems


def _share(tasks: Sequence[Task], shard: str | None) -> Sequence[Task]:
    """Return the tasks of a shard such as "3/10"."""
    if shard is None:
        return tasks
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", shard)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise InvalidOption(f"shard must be like 3/10, the third of ten, got {shown(shard)}")
    return tasks[int(found[1]) - 1 :: int(found[2])]


# ------------------------------------------------------------------- the runs


def _make(
    tasks: Sequence[Task],
    keep: Callable[[Task, Run], None],
    design: Design,
    logs: str | os.PathLike[str] | None,
    listen: Callable[[Task, Event | None], None] | None,
) -> bool:
    """Make the runs, here or on a cluster; return False when Ctrl-C cut them short."""
    folder = None if logs is None else ensure_directory(logs)
    if cluster.active():
        away = [task for task in tasks if not backend(task.engine)._asks_classifier]
        there = partial(make_run, memory=design.memory, logs=folder)
        if not cluster.run_each(there, away, keep):
            return False
        # The classifier is here.
        tasks = [task for task in tasks if backend(task.engine)._asks_classifier]
    jobs = min(design.jobs, max(1, len(tasks)))
    pinned = jobs * design.threads <= len(usable_cores())

    def work(task: Task, cancel: threading.Event) -> Run:
        return make_run(task, design.memory, folder, pinned, cancel, listen)

    return run_each(work, tasks, keep, jobs)


def make_run(
    task: Task,
    memory: int | None = None,
    logs: Path | None = None,
    pinned: bool = True,
    cancel: threading.Event | None = None,
    listen: Callable[[Task, Event | None], None] | None = None,
) -> Run:
    """Make one run in a worker process of this machine; whatever fails is in its record."""
    hear: Callable[[Event], None] | None = None
    if listen is not None:
        listen(task, None)
        talk = listen

        def hear(event: Event) -> None:
            talk(task, event)

    record = {**machine(), "started": datetime.now(UTC).isoformat(timespec="seconds")}
    options = replace(task.options, log=logs is not None)
    try:
        problem = task.problem
        if backend(task.engine)._asks_classifier:
            result = run(problem, task.engine, options, listen=hear, cancel=cancel)
        else:
            engine = backend(task.engine)
            claim = (
                claimed_cores(len(engine._engines) * options.threads) if pinned else nullcontext()
            )
            log = None if logs is None else _log(task, logs)
            with claim as cores:
                record["pinned"] = cores
                held = None if cores is None else tuple(cores)
                limits = Limits(memory, held, log, quiet=True)
                solve = run if engine._starts_workers else run_isolated
                for _ in range(_ATTEMPTS):
                    result = solve(
                        problem, task.engine, options, listen=hear, limits=limits, cancel=cancel
                    )
                    by_us = cancel is not None and cancel.is_set()
                    if by_us or result.termination is not Termination.INTERRUPTED:
                        break
    except Exception as error:
        # One engine that breaks its contract must not take the other runs with it.
        result = task.failed(error)
    return task.source.run(result, record)


def _log(task: Task, folder: Path) -> Path:
    """Return the file for what the engine prints."""
    parts = (task.instance, task.configuration, f"seed {task.options.seed}")
    return folder / f"{task.place:05d} {file_name(' '.join(parts))}.log"
