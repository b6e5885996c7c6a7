"""Running a comparison: each run in its own worker process, with a hard time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from cpx.answers.result import Result, Status, Termination
from cpx.backends import Event, backend
from cpx.compare.comparison import Comparison
from cpx.compare.plan import Task, plan, run_key
from cpx.compare.pool import run_each
from cpx.compare.records import Run
from cpx.models import Problem
from cpx.solving.isolate import run_isolated
from cpx.solving.run import run
from cpx.support.validation import positive_integer

__all__ = ["Task", "compare", "plan", "run_key"]


def compare(
    problems: Mapping[str, Problem] | Sequence[Problem],
    backends: Iterable[str] | str | None = None,
    *,
    encodings: Iterable[str] | None = None,
    seeds: Iterable[int] = (0,),
    time_limit: float | None = 60.0,
    threads: int = 1,
    gap: float | None = None,
    jobs: int = 1,
    memory: int | None = None,
    resume: Comparison | None = None,
    on_result: Callable[[Run, Comparison], None] | None = None,
    listen: Callable[[Task, Event | None], None] | None = None,
) -> Comparison:
    """Solve every problem with every engine, encoding and seed.

    Parameters
    ----------
    problems : mapping of str to Problem, or sequence of Problem
        With their names in the table; a sequence takes the problems' own names.
    backends : iterable of str or str, optional
        See :func:`cpx.compare.engine_names`.
    encodings : iterable of str, optional
        Default: the default encoding of each problem.
    seeds, time_limit, threads, gap
        As for :func:`cpx.solve`, the same for all runs.
    jobs : int
        Runs at the same time. More jobs than idle cores make the times meaningless.
    memory : int, optional
        Bytes of address space each worker may use. A method that asks the classifier runs in
        this process, which has no such limit.
    resume : Comparison, optional
        Earlier runs, all of which stay in the comparison. What was the same experiment is
        not run again, unless it failed or was interrupted.
    on_result : callable, optional
        Called in the calling thread when a run ends, with the :class:`Run` and the
        comparison so far.
    listen : callable, optional
        Called from worker threads with a task and None when it starts, and with the task
        and each of its events.

    Returns
    -------
    Comparison
        In the order of problems, engines, encodings, seeds. After Ctrl-C: with the runs
        that are done and those cut short that have a solution, and ``complete`` False.

    Raises
    ------
    UnknownName, EngineMissing, InvalidOption
        Before anything runs.
    """
    tasks = plan(
        problems,
        backends,
        encodings=encodings,
        seeds=seeds,
        time_limit=time_limit,
        threads=threads,
        gap=gap,
    )
    for name, value in (("jobs", jobs), ("memory", memory)):
        if value is not None:
            positive_integer(name, value)
    earlier = () if resume is None else resume.runs
    finished = {run_key(run) for run in earlier if _finished(run)}
    tasks = [task for task in tasks if task.key not in finished]
    again = {task.key for task in tasks}
    kept = [run for run in earlier if run_key(run) not in again]
    shared = {"jobs": jobs, "memory": memory}
    found: dict[int, Run] = {}

    def so_far(complete: bool) -> Comparison:
        return Comparison((*kept, *(found[i] for i in sorted(found))), shared, complete)

    def work(task: Task, cancel: threading.Event) -> Result:
        return _run_one(task, memory, cancel, listen)

    def keep(i: int, result: Result) -> None:
        run = tasks[i].run(result)
        if run.interrupted and run.result.objective is None:
            return
        found[i] = run
        if on_result is not None:
            on_result(run, so_far(False))

    return so_far(run_each(work, tasks, keep, jobs))


def _run_one(
    task: Task,
    memory: int | None,
    cancel: threading.Event,
    listen: Callable[[Task, Event | None], None] | None,
) -> Result:
    hear: Callable[[Event], None] | None = None
    if listen is not None:
        listen(task, None)
        talk = listen

        def hear(event: Event) -> None:
            talk(task, event)

    try:
        if backend(task.engine).asks_classifier:
            return run(task.problem, task.engine, task.options, listen=hear, cancel=cancel)
        return run_isolated(
            task.problem, task.engine, task.options, hear, memory=memory, cancel=cancel
        )
    except Exception as error:
        # One engine that breaks its contract must not take the other runs with it.
        family, _, solver = task.engine.partition(":")
        return Result(
            Status.ERROR,
            Termination.SOLVER_ERROR,
            raw_status=f"{type(error).__name__}: {error}",
            backend=family,
            solver=solver,
            encoding=task.options.encoding or "",
            options=task.options.to_dict(),
            warnings=(f"the run failed: {type(error).__name__}: {error}",),
        )


def _finished(run: Run) -> bool:
    return not run.interrupted and run.result.status is not Status.ERROR
