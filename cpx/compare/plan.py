"""The plan of a comparison: the list of runs, each problem on each engine that supports it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cpx.answers.result import Result
from cpx.backends import backend, backend_class, names
from cpx.compare.records import Run
from cpx.errors import EngineError, InvalidOption, UnknownName, shown
from cpx.instances import fingerprint
from cpx.models import Problem
from cpx.options import SolveOptions
from cpx.solving.match import encoding_of, require_kind, require_oracle

__all__ = ["Task", "engine_names", "plan", "run_key"]


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
    return [engine.full_name]


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
            raise InvalidOption(
                f"{shown(name)} must be a cpx problem, got {type(problem).__name__}"
            )
    return named


def _statement(problem: Problem) -> str:
    return ", ".join([problem.kind, *problem.brief()])
