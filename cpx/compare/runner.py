"""Run problems on engines, each run in its own worker process with a hard limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cpx.backends import Event, backend, backend_class, names
from cpx.compare.comparison import Comparison
from cpx.compare.pool import run_each
from cpx.compare.records import Run
from cpx.errors import EngineError, InvalidOption, UnknownName
from cpx.instances import fingerprint
from cpx.isolation import run_isolated
from cpx.models import Problem
from cpx.options import SolveOptions
from cpx.result import Result, Status, Termination
from cpx.solving import encoding_of, require_kind, require_oracle, run

__all__ = ["Task", "compare", "engine_names", "plan", "run_key"]


@dataclass(frozen=True, eq=False)
class Task:
    """One run to do: which problem on which engine with which options."""

    instance: str
    fingerprint: str
    problem: Problem
    engine: str
    options: SolveOptions

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two runs the same experiment; see :func:`run_key`."""
        options = self.options
        rest = (options.encoding, options.time_limit, options.threads, options.seed, options.gap)
        return (self.instance, self.fingerprint, self.engine, *rest)

    def run(self, result: Result) -> Run:
        """Return the record of this task's result."""
        return Run(
            self.instance, self.fingerprint, _statement(self.problem), self.problem.sense, result
        )


def run_key(run: Run) -> tuple[Any, ...]:
    """Return the key of the task that a run is the answer to."""
    options = run.result.options
    rest = (options.get(name) for name in ("time_limit", "threads", "seed", "gap"))
    form = run.result.encoding or None
    return (run.instance, run.fingerprint, run.engine, form, *rest)


def engine_names(wanted: Iterable[str] | str | None = None) -> list[str]:
    """Resolve names of engines to ``family:solver``, each once, in the order given.

    Parameters
    ----------
    wanted : iterable of str or str, optional
        ``"milp:cbc"`` is one engine, ``"milp"`` the default solver of the family,
        ``"milp:*"`` all solvers of the family, ``"all"`` all solvers of every installed
        exact family. None means the default solver of every installed exact family. One string may
        name several, with commas. Heuristics are only run when they are named.

    Returns
    -------
    list of str

    Raises
    ------
    UnknownName, EngineMissing
        Before anything runs, for a name that is not known or not installed.

    Examples
    --------
    >>> engine_names("cpsat,milp:cbc")
    ['cpsat', 'milp:cbc']
    """
    if wanted is None:
        wanted = _installed()
    elif isinstance(wanted, str):
        wanted = [name for name in wanted.split(",") if name.strip()]
    found: list[str] = []
    for name in wanted:
        if not isinstance(name, str):
            raise UnknownName("backend", name, names())
        found += _expand(name.strip())
    if not found:
        raise InvalidOption("backends must name at least one engine; none was given or installed")
    return list(dict.fromkeys(found))


def _by_name(wanted: Iterable[str] | str | None) -> set[str]:
    """Return the engines that are asked for by name, and must take every problem."""
    if wanted is None:
        return set()
    each = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    given = [name.strip() for name in each]
    return {engine for name in given if name and name != "all" for engine in _expand(name)}


def _expand(name: str) -> list[str]:
    if name == "all":
        return [engine for family in _installed() for engine in _expand(f"{family}:*")]
    family, _, solver = name.partition(":")
    if solver == "*":
        cls = backend_class(family)
        cls.require()
        return [f"{family}:{solver}" for solver in cls.solvers] or [family]
    engine = backend(name)
    engine.require()
    return [f"{engine.name}:{engine.solver}" if engine.solver else engine.name]


def _installed() -> list[str]:
    found = []
    for name in names():
        # A broken third-party backend, which 'cpx doctor' reports, must not stop the others.
        with suppress(EngineError):
            cls = backend_class(name)
            found += [name] * (cls.exact and cls.available())
    return found


def plan(
    problems: Mapping[str, Problem] | Sequence[Problem],
    backends: Iterable[str] | str | None = None,
    *,
    encodings: Iterable[str] | None = None,
    seeds: Iterable[int] = (0,),
    time_limit: float | None = 60.0,
    threads: int = 1,
    gap: float | None = None,
) -> list[Task]:
    """List the runs of a comparison, all arguments checked; see :func:`compare`."""
    if backends is not None and not isinstance(backends, str):
        backends = list(backends)
    engines, by_name = engine_names(backends), _by_name(backends)
    named = _named(problems)
    wanted = [None] if encodings is None else list(dict.fromkeys(encodings))
    chosen_seeds = list(dict.fromkeys(seeds))
    if not wanted or not chosen_seeds or not named:
        what = "encodings" if not wanted else "seeds" if not chosen_seeds else "problems"
        raise InvalidOption(f"{what} must not be empty")
    # An engine that needs no encoding runs once, whatever encodings are compared.
    tasks: dict[tuple[Any, ...], Task] = {}
    for name, problem in named.items():
        mark = fingerprint(problem)
        for engine in engines:
            if engine not in by_name and not backend(engine).accepts(problem):
                continue
            require_kind(backend(engine), problem)
            require_oracle(backend(engine), problem)
            for encoding in wanted:
                form = encoding_of(backend(engine), problem, encoding).name or None
                for seed in chosen_seeds:
                    options = SolveOptions(time_limit, threads, seed, gap, None, form)
                    task = Task(name, mark, problem, engine, options)
                    tasks.setdefault(task.key, task)
    return list(tasks.values())


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
        See :func:`engine_names`.
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
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or value < 1
        ):
            raise InvalidOption(f"{name} must be a positive integer, got {value!r}")
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


def _named(problems: Mapping[str, Problem] | Sequence[Problem]) -> dict[str, Problem]:
    if isinstance(problems, Problem):
        problems = [problems]
    if isinstance(problems, Mapping):
        named = {str(name): problem for name, problem in problems.items()}
    else:
        named = {}
        for i, problem in enumerate(problems, start=1):
            name = getattr(problem, "name", "") or f"problem {i}"
            named[name if name not in named else f"{name} ({i})"] = problem
    for name, problem in named.items():
        if not isinstance(problem, Problem):
            raise InvalidOption(f"{name!r} must be a cpx problem, got {type(problem).__name__}")
    return named


def _statement(problem: Problem) -> str:
    return ", ".join([problem.kind, *problem.brief()])
