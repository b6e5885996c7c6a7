"""The plan of a comparison: the list of runs, each problem on each engine that supports it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cpx.answers.result import Result
from cpx.backends import backend, backend_class, names
from cpx.backends.engine_options import engine_text, read_engine, split_engines
from cpx.compare.machine import machine
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
    form: str
    options: SolveOptions

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two runs the same experiment; see :func:`run_key`."""
        options = self.options
        rest = (options.time_limit, options.threads, options.seed, options.gap)
        own = json.dumps(options.engine), options.warm_start
        return (self.instance, self.fingerprint, self.engine, self.form, *rest, *own)

    def run(self, result: Result) -> Run:
        """Return the record of this task's result."""
        return Run(
            self.instance,
            self.fingerprint,
            _statement(self.problem),
            self.problem.sense,
            result,
            machine(),
        )


def run_key(run: Run) -> tuple[Any, ...]:
    """Return the key of the task that a run is the answer to."""
    options = run.result.options
    rest = (options.get(name) for name in ("time_limit", "threads", "seed", "gap"))
    own = json.dumps(options.get("engine", {})), options.get("warm_start", True)
    return (run.instance, run.fingerprint, run.engine, run.result.encoding, *rest, *own)


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
        wanted = split_engines(wanted)
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
    each = split_engines(wanted) if isinstance(wanted, str) else list(wanted)
    given = [name.strip() for name in each]
    return {engine for name in given if name and name != "all" for engine in _expand(name)}


def _expand(name: str) -> list[str]:
    if name == "all":
        return [engine for family in _installed() for engine in _expand(f"{family}:*")]
    plain, settings = read_engine(name)
    family, _, solver = plain.partition(":")
    if solver == "*":
        cls = backend_class(family)
        cls.require()
        each = [f"{family}:{solver}" for solver in cls.solvers] or [family]
        return [backend(engine_text(one, settings)).configuration for one in each]
    engine = backend(name)
    engine.require()
    return [engine.configuration]


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
        for asked in engines:
            engine = backend(asked)
            if asked not in by_name and not engine.accepts(problem):
                continue
            require_kind(engine, problem)
            require_oracle(engine, problem)
            for encoding in wanted:
                form = encoding_of(engine, problem, encoding).name
                for seed in chosen_seeds:
                    options = SolveOptions(
                        time_limit, threads, seed, gap, encoding=encoding if form else None
                    )
                    options = engine.configured(options)
                    task = Task(name, mark, problem, engine.full_name, form, options)
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
