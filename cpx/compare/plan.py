"""The plan of a comparison: the list of runs, each problem on each engine that can do it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from cpx.answers.result import Result, Status, Termination
from cpx.backends import Backend, backend, backend_class, names
from cpx.backends.base import encoding_for, require, require_accepts, takes
from cpx.backends.settings import configured
from cpx.compare.design import Design
from cpx.compare.records import Skipped, configuration, heeds_seed
from cpx.compare.sources import Source, named_sources, with_files
from cpx.errors import CpxError, EngineError, InvalidOption, UnknownName, shortened
from cpx.modelling.base import Problem
from cpx.modelling.encodings import find_encoding
from cpx.options import SolveOptions, named_text, split_names


@dataclass(frozen=True, eq=False)
class Task:
    """One run to do: which problem on which engine with which options.

    Attributes
    ----------
    place : int
        In the plan, from 0.
    source : Source
        The instance.
    engine : str
        Backend and solver; the options of the engine are in ``options``.
    form : str
        The encoding that it will solve; ``""`` if it needs none.
    options : SolveOptions
    """

    place: int
    source: Source
    engine: str
    form: str
    options: SolveOptions

    @property
    def instance(self) -> str:
        """Name of the instance in this comparison."""
        return self.source.name

    @property
    def problem(self) -> Problem:
        """What is solved, read from its file when it is not in memory."""
        return self.source.problem()

    @property
    def configuration(self) -> str:
        """What :attr:`Run.configuration` of its run will be."""
        return configuration(self.engine, self.options.to_dict())

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two runs the same experiment; equal to :attr:`Run.key` of its run."""
        options = self.options
        rest = (options.time_limit, options.threads, options.seed, options.gap)
        own = json.dumps(options.engine), options.warm_start, options.cpu_limit
        return (self.instance, self.source.fingerprint, self.engine, self.form, *rest, *own)

    def failed(self, error: BaseException) -> Result:
        """Return the result of a run that could not be made."""
        family, _, solver = self.engine.partition(":")
        told = f"{type(error).__name__}: {error}"
        return Result(
            Status.ERROR,
            Termination.SOLVER_ERROR,
            raw_status=told,
            backend=family,
            solver=solver,
            encoding=self.form,
            options=self.options.to_dict(),
            error=told,
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """The runs of a comparison, in their order, and those that cannot be made.

    tasks: In the order of problems, engines, options, encodings, limits, seeds.
    skipped: Pairs that an engine or encoding cannot do, and files that are no instances, with the
        reason.
    """

    tasks: tuple[Task, ...]
    skipped: tuple[Skipped, ...]


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
        wanted = split_names(wanted)
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
    each = split_names(wanted) if isinstance(wanted, str) else list(wanted)
    given = [name.strip() for name in each]
    return {engine for name in given if name and name != "all" for engine in _expand(name)}


def _expand(name: str) -> list[str]:
    if name == "all":
        return [engine for family in _installed() for engine in _expand(f"{family}:*")]
    plain, brace, settings = name.partition("{")
    family, _, solver = plain.partition(":")
    if solver == "*":
        cls = backend_class(family)
        require(cls)
        return [str(backend(one + brace + settings)) for one in cls.installed()]
    engine = backend(name)
    require(engine)
    return [str(engine)]


def _installed() -> list[str]:
    found = []
    for name in names():
        # A broken third-party backend, which 'cpx doctor' reports, must not stop the others.
        with suppress(EngineError):
            cls = backend_class(name)
            found += [name] * (cls.exact and cls._in_all and cls.available())
    return found


def plan(design: Design) -> Plan:
    """List the runs of a design, all arguments checked.

    Each instance is read here, and forgotten again if it is a file.

    Raises UnknownName, EngineMissing, InvalidOption, InvalidInstance: For what is wrong, before
        anything runs; also for encodings and options of engines that lead to no run at all.
    """
    names, by_name = engine_names(design.backends), _by_name(design.backends)
    tasks: dict[tuple[Any, ...], Task] = {}
    problems, skipped = with_files(design.problems)
    sources = named_sources(problems)
    if not sources:
        raise InvalidOption("problems must not be empty")
    # Why a part of the design led to no run; None as soon as it leads to one.
    unused: dict[str, CpxError | None] = {}
    for source in sources:
        problem = source.problem()
        for name in names:
            if name not in by_name and not takes(backend(name), problem):
                continue
            for settings, wanted in product(design.options, design.encodings or (None,)):
                encoding = _stated(backend(name), problem, wanted, unused)
                parts = [named_text("options ", settings), f"encoding {encoding}", "all"]
                try:
                    each = _settings(design, backend(name), problem, settings, encoding)
                except (InvalidOption, UnknownName) as error:
                    for part in parts:
                        unused.setdefault(part, error)
                    label = _label(backend(name), settings, encoding)
                    skipped.append(Skipped(source.name, label, shortened(error)))
                    continue
                unused.update(dict.fromkeys(parts))
                for engine, form, options in each:
                    task = Task(len(tasks), source, engine, form, options)
                    tasks.setdefault(task.key, task)
    for why in unused.values():
        if why is not None:
            raise why
    if not tasks:
        raise InvalidOption("no engine that is installed can solve any of the problems")
    return Plan(tuple(tasks.values()), tuple(dict.fromkeys(skipped)))


def _stated(
    engine: Backend, problem: Problem, wanted: str | None, unused: dict[str, CpxError | None]
) -> str | None:
    """Return the encoding; None for an engine that needs none, and runs once, whatever others do.

    A name that the problem does not know is noted, for an engine that may be the only one.
    """
    if not engine.needs_model:
        try:
            find_encoding(problem, wanted)
        except UnknownName as error:
            unused.setdefault(f"encoding {wanted}", error)
            return None
    return wanted


def _label(engine: Backend, own: Mapping[str, Any], encoding: str | None) -> str:
    """Return the configuration that cannot be run."""
    chosen = encoding if engine.needs_model else None
    settings = {**engine._settings, **own}
    return configuration(engine.full_name, {"engine": settings, "encoding": chosen})


def _settings(
    design: Design,
    engine: Backend,
    problem: Problem,
    own: Mapping[str, Any],
    encoding: str | None,
) -> list[tuple[str, str, SolveOptions]]:
    """Return engine, form and options for each limit and seed that makes a difference."""
    require_accepts(engine, problem)
    options = configured(
        engine,
        SolveOptions(
            threads=design.threads,
            gap=design.gap,
            encoding=encoding if encoding_for(engine, problem, encoding).name else None,
            engine=own,
            warm_start=design.warm_start,
            cpu_limit=design.cpu_limit,
        ),
    )
    forms = {
        limit: encoding_for(engine, problem, encoding, limit, design.warm_start).name
        for limit in design.limits
    }
    name, seeds = engine.full_name, list(design.seeds)
    if not heeds_seed(name, options.warm_start):
        seeds = seeds[:1]
    return [
        (name, forms[limit], replace(options, time_limit=limit, seed=seed))
        for limit, seed in product(design.limits, seeds)
    ]
