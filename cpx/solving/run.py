"""Solve a problem with a named backend, in this process or in a worker."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Termination
from cpx.backends import backend as find_backend
from cpx.backends import backend_class, names
from cpx.backends.base import (
    Backend,
    Event,
    Outcome,
    Progress,
    chosen_encoding,
    require,
    require_accepts,
    takes,
)
from cpx.backends.settings import configured
from cpx.errors import CpxError, InvalidOption
from cpx.modelling.bare_model import problem_of
from cpx.modelling.base import Problem
from cpx.modelling.encodings import stated_in
from cpx.modelling.ratio import RatioProblem
from cpx.modelling.statement import Encoding, Statement
from cpx.options import TIME_LIMIT, SolveOptions
from cpx.processes.limits import Limits
from cpx.processes.overtime import OutOfTime
from cpx.solving.clash import with_clash
from cpx.solving.conclude import conclude
from cpx.solving.dinkelbach import dinkelbach
from cpx.solving.inner_solves import break_ties
from cpx.solving.warm_start import Start
from cpx.support.families import family_of

if TYPE_CHECKING:
    import cpmpy

_DEFAULT = SolveOptions()

_STATING = 0.25  # of the limit, for an encoding that the engine prefers

_USUAL = ("search", "cpsat")
"""The engines that are asked first, unless the family of a problem knows better ones."""


def solve(
    problem: Problem | Statement | cpmpy.Model,
    backend: str | None = None,
    *,
    time_limit: float | None = TIME_LIMIT,
    encoding: str | None = None,
    threads: int = 1,
    seed: int = 0,
    gap: float | None = None,
    hint: Explanation | Sequence[int] | None = None,
    engine: Mapping[str, Any] | None = None,
    warm_start: bool = True,
    isolate: bool | None = None,
    listen: Callable[[Event], None] | None = None,
    proof: bool = False,
) -> Result:
    """Solve a problem and return a checked result.

    Parameters
    ----------
    problem : Problem
        What is asked, such as :class:`cpx.KMonomial`; or a bare CPMpy model or a
        :class:`~cpx.modelling.base.Statement`, whose answer nothing checks independently.
    backend : str, optional
        ``"family"`` or ``"family:solver"``: ``cpsat``, ``maxsat:rc2``, ``milp:highs``, ...,
        with options of the engine if need be: ``"cpsat{linearization_level=2}"``. Default: see
        :func:`default_engine`.
    time_limit : float or None, default=10.0
        Seconds > 0 for stating, compiling and solving together; None for no limit. The check of
        the answer may take what is left, or else 5 % and a second more: what it cannot decide by
        then is not marked as verified.
    encoding : str, optional
        Name of an encoding of the problem; default is its first.
    threads, seed : int
        Threads the engine may use, and the seed of its random choices.
    gap : float, optional
        Stop once the relative gap is at most this.
    hint : Explanation or sequence of int, optional
        A known solution. If feasible it counts as the first incumbent.
    engine : mapping of str to value, optional
        Options of the engine by their own names, as if given with its name.
    warm_start : bool
        Whether an engine without a good start of its own may be handed one, and a rule have a
        value and a bound before its engine begins.
    isolate : bool, optional
        Run in a worker process that is killed at the limit plus a grace of at most 1 s;
        the last incumbent and bound survive the kill. Default: only for engines that cannot
        be stopped otherwise (``_needs_worker``).
    listen : callable, optional
        Called with an :class:`~cpx.backends.Event` at every improvement.
    proof : bool
        Make a proof of the bound, or of the infeasibility, after the solve, whatever the engine:
        ``result.proof``. It may take as long again as the time limit; one that is not complete by
        then proves a weaker bound, and a warning says so.

    Returns
    -------
    Result
        An engine's failure is a result with status ERROR, not an exception. Ctrl-C ends
        the solve with what was found so far.

    Raises
    ------
    InvalidOption, UnknownName, EngineMissing
        For wrong options, before anything runs.

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import KMonomial, Samples, solve
    >>> samples = Samples(np.array([[1, 1], [1, 0], [0, 1]], dtype=bool),
    ...                   np.array([True, True, False]), features=("a", "b"))
    >>> result = solve(KMonomial(samples, k=1), backend="cpsat")
    >>> str(result.status), result.objective, str(result.explanation)
    ('OPTIMAL', 0, 'a => same class as x')
    """
    options = SolveOptions(
        time_limit=time_limit,
        threads=threads,
        seed=seed,
        gap=gap,
        hint=hint.features if isinstance(hint, Explanation) else hint,
        encoding=encoding,
        engine={} if engine is None else engine,
        warm_start=warm_start,
    )
    backend = default_engine(problem, encoding) if backend is None else backend
    if not proof:
        return run(problem, backend, options, isolate=isolate, listen=listen)
    # Few solves make one, and every worker would load what makes it.
    from cpx.solving.proofs import require_provable, with_proof

    require_provable(problem)
    record: list[object] = []
    result = run(problem, backend, options, isolate=isolate, listen=listen, record=record)
    assert isinstance(problem, Problem)
    return with_proof(problem, result, options.time_limit, record)


def default_engine(problem: object, encoding: str | None = None) -> str:
    """Return the engine that answers such problems best, of those that are installed.

    It is the one that the family of the problem names, else the exact search where it takes the
    problem, else CP-SAT, else any exact engine. Where an encoding is named, one that needs it.

    >>> from cpx import KMonomial, Samples
    >>> rule = KMonomial(Samples([[1, 0]], [1]), k=1)
    >>> default_engine(rule), default_engine(rule, "clausal")
    ('search', 'cpsat')
    """
    if not isinstance(problem, Problem):
        return "cpsat"
    family = family_of(problem.kind)
    best = () if family is None else family.engines.get(problem.kind, ())
    every = (name for name in names() if backend_class(name).exact and backend_class(name)._in_all)
    for name in chain(best, _USUAL, every):  # others are not loaded
        engine = find_backend(name)
        if engine.available() and takes(engine, problem) and (engine.needs_model or not encoding):
            return engine.full_name
    return find_backend("cpsat").full_name


def solve_with(
    problem: Problem, backend: str | None, seed: int, options: Mapping[str, Any]
) -> Result:
    """Solve with an engine that is there and loaded before the time starts.

    seed: For an engine that takes one, unless the options have it.
    options: Options of :func:`cpx.solve`.
    """
    backend = backend or default_engine(problem, options.get("encoding"))
    engine = find_backend(backend)
    require(engine)
    if not options.get("isolate"):
        # Loading an engine, or compiling it at its first use, is no part of the limit.
        engine._preload()
    own = {"seed": seed} if "seed" in engine.supported_options else {}
    return solve(problem, backend, **{**own, **options})


def run(
    problem: Problem | Statement | cpmpy.Model,
    backend: str,
    options: SolveOptions,
    *,
    isolate: bool | None = None,
    listen: Callable[[Event], None] | None = None,
    cancel: threading.Event | None = None,
    entered: Callable[[dict[str, float], str | None], None] | None = None,
    began: Callable[[Progress], None] | None = None,
    limits: Limits | None = None,
    record: list[object] | None = None,
) -> Result:
    """Do what :func:`solve` does, with the options as one object.

    Setting ``cancel`` from another thread stops the solve like Ctrl-C; ``entered`` hears of the
    phases of a solve in this process, as :class:`~cpx.backends.base.Progress` has it, and
    ``began`` gets that progress. ``limits`` are those of workers, where there are any. To
    ``record`` an engine in this process adds what helps to prove its bound.
    """
    if not isinstance(problem, Problem):
        bare = problem_of(problem)
        if bare is None:
            raise InvalidOption(f"problem must be a cpx problem, got {type(problem).__name__}")
        problem = bare
    engine = find_backend(backend)
    require(engine)
    options = configured(engine, options)
    chosen = chosen_encoding(
        engine, problem, options.encoding, options.seconds, options.warm_start
    )
    form = chosen.encoding
    require_accepts(engine, problem)
    if isolate is None:
        isolate = engine._needs_worker
    if not isolate or engine._asks_classifier:
        # What is imported once in a process is no part of a solve. What fails is told below.
        with suppress(Exception):
            engine._preload()
    progress = Progress(problem, options, listen, cancel, entered)
    if limits is not None:
        progress.limits = limits
    progress.record = record
    if began is not None:
        began(progress)
    notes = [*problem._notes(), *_take_hint(progress), *_not_honoured(engine, options)]
    if isolate and engine._asks_classifier:
        notes.append(
            f"backend {engine.name} asks the classifier and ran in the process that has it: "
            "its time limit is not hard"
        )
    elif isolate and not engine._starts_workers:
        from cpx.solving.isolate import run_isolated

        result = run_isolated(problem, engine.full_name, options, listen, limits, cancel=cancel)
        if result.explanation is not None:
            problem._hold(result.explanation)
        return result.with_warnings(*notes)
    cpu = time.process_time()
    started = None
    try:
        # Of an encoding from outside the answer shows what it is worth.
        if options.warm_start and (not form.name or form in problem.encodings) and form.faithful:
            started = Start(engine, progress)
            started.look()
            options = started.options
        first = problem.encodings[0] if form.name else form
        if options.encoding is None and form.name != first.name:
            progress.stating = _STATING
        try:
            outcome = _solved(engine, problem, form, options, progress)
        except OutOfTime:
            if progress.interrupted or progress.expired or progress.stating == 1:
                raise
            notes.append(
                f"stating {form.name!r} took too much of the time limit: {first.name!r} took its "
                "place"
            )
            form, progress.stating = stated_in(problem, first.name), 1.0
            outcome = _solved(engine, problem, form, options, progress)
    except OutOfTime:
        outcome = Outcome(False, progress.why_stopped(), "stopped while the problem was stated")
    except MemoryError as error:
        outcome = Outcome(False, Termination.MEMORY_LIMIT, f"MemoryError: {error}")
    except KeyboardInterrupt:
        progress.stop()
        outcome = Outcome(False, Termination.INTERRUPTED, "interrupted")
    except CpxError:
        raise
    except Exception as error:
        notes.append("engine failed:\n" + traceback.format_exc(limit=-4).rstrip())
        outcome = Outcome(False, Termination.SOLVER_ERROR, f"{type(error).__name__}: {error}")
    outcome.warnings += progress.contributed
    if started is not None:
        outcome.warnings += started.told(progress)
    cpu = time.process_time() - cpu + outcome.cpu
    try:
        result = conclude(progress, outcome, engine, form, notes, cpu)
    except KeyboardInterrupt:
        # The answer is there, and its check takes little time: the first Ctrl-C loses neither.
        result = conclude(progress, outcome, engine, form, notes, cpu)
    if result.explanation is not None:
        problem._hold(result.explanation)
    if started is not None:
        result = replace(result, start=started.record())
    if form is chosen.encoding:
        result = replace(result, prediction=chosen.record())
    if not problem.side_constraints:
        return result
    return with_clash(problem, result, progress.remaining)


def _solved(
    engine: Backend,
    problem: Problem,
    form: Encoding[Any],
    options: SolveOptions,
    progress: Progress,
) -> Outcome:
    """Let the engine solve the problem in an encoding."""
    if form.name:
        options = replace(options, encoding=form.name)
    # A ratio has no statement; an engine that needs one gets linear steps.
    if engine.needs_model and isinstance(problem, RatioProblem):
        return dinkelbach(engine, problem, options, progress)
    outcome = engine.solve(problem, options, progress)
    # An engine without a statement breaks ties itself, but for those by rounding.
    rounded = bool(problem._tolerance) and engine.exact and not engine._starts_workers
    if form.faithful and (engine.needs_model or rounded):
        outcome = break_ties(engine, outcome, options, progress)
    return outcome


def _take_hint(progress: Progress) -> list[str]:
    hint = progress.options.hint_features
    if hint is None:
        return []
    width = getattr(progress.problem, "n_features", None)
    if width is not None and any(j >= width for j in hint):
        raise InvalidOption(f"hint has the feature {max(hint)}, indices go from 0 to {width - 1}")
    if progress.found(progress.problem.explanation(hint)) is None:
        return ["the hint breaks a constraint of the problem and does not count as a solution"]
    return []


def _not_honoured(engine: Backend, options: SolveOptions) -> list[str]:
    honoured = engine.supported_options | ({"encoding"} if engine.needs_model else set())
    return [
        f"backend {engine.full_name} does not honour {name}"
        for name in ("threads", "seed", "gap", "hint", "encoding")
        if getattr(options, name) != getattr(_DEFAULT, name) and name not in honoured
    ]
