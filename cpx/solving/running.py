"""Solve a problem with a named backend: the one place where an answer is made.

Whatever the engine, the objective is recomputed from the data, the status follows from
what was proved, and the independent checker has the last word.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cpx import check
from cpx.backends import backend as find_backend
from cpx.backends.base import Backend, Event, Outcome, Progress, contradiction
from cpx.errors import CpxError, InvalidOption
from cpx.explanation import Explanation
from cpx.methods.dinkelbach import dinkelbach
from cpx.methods.standing_in import solve_stand_in
from cpx.methods.starting import Start
from cpx.models.base import Encoding, Problem, RatioProblem
from cpx.options import SolveOptions
from cpx.result import Result, Status, Termination, Times, TracePoint
from cpx.values import Value
from cpx.versions import installed_version

__all__ = ["solve"]

# Seconds for the check: at least, and beyond the time limit, which is kept within 5 % + 1 s.
_LEAST_TO_CHECK, _MORE_TO_CHECK = 0.5, 0.8


def solve(
    problem: Problem,
    backend: str = "cpsat",
    *,
    time_limit: float | None = None,
    encoding: str | None = None,
    threads: int = 1,
    seed: int = 0,
    gap: float | None = None,
    hint: Explanation | Sequence[int] | None = None,
    isolate: bool = False,
    listen: Callable[[Event], None] | None = None,
) -> Result:
    """Solve a problem and return a checked result.

    Parameters
    ----------
    problem : Problem
        What is asked, such as :class:`cpx.KMonomial`.
    backend : str
        ``"family"`` or ``"family:solver"``: ``cpsat``, ``maxsat:rc2``, ``milp:highs``, ...
    time_limit : float, optional
        Seconds > 0 for stating, compiling and solving together. The check of the answer may
        take what is left, or else 5 % and a second more: what it cannot decide by then is
        not marked as verified.
    encoding : str, optional
        Name of an encoding of the problem; default is its first.
    threads, seed : int
        Threads the engine may use, and the seed of its random choices.
    gap : float, optional
        Stop once the relative gap is at most this.
    hint : Explanation or sequence of int, optional
        A known solution. If feasible it counts as the first incumbent.
    isolate : bool
        Run in a worker process that is killed at the limit plus a grace of at most 1 s;
        the last incumbent and bound survive the kill.
    listen : callable, optional
        Called with an :class:`~cpx.backends.Event` at every improvement.

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
    )
    return run(problem, backend, options, isolate=isolate, listen=listen)


def run(
    problem: Problem,
    backend: str,
    options: SolveOptions,
    *,
    isolate: bool = False,
    listen: Callable[[Event], None] | None = None,
    cancel: threading.Event | None = None,
) -> Result:
    """Do what :func:`solve` does, with the options as one object.

    Setting ``cancel`` from another thread stops the solve like Ctrl-C; it is for solves in
    this process.
    """
    if not isinstance(problem, Problem):
        raise InvalidOption(f"problem must be a cpx problem, got {type(problem).__name__}")
    engine = find_backend(backend)
    engine.require()
    form = encoding_of(engine, problem, options.encoding)
    require_kind(engine, problem)
    require_oracle(engine, problem)
    progress = Progress(problem, options, listen, cancel)
    notes = [*problem.notes(), *_take_hint(progress), *_not_honoured(engine, options)]
    if isolate and engine.asks_classifier:
        notes.append(
            f"backend {engine.name} asks the classifier and ran in the process that has it: "
            "its time limit is not hard"
        )
    elif isolate:
        from cpx.isolation import run_isolated

        return run_isolated(problem, backend, options, listen).with_warnings(*notes)
    cpu = time.process_time()
    started = Start(engine, progress)
    options = started.options
    try:
        # A ratio has no statement; an engine that needs one gets linear steps.
        if engine.encodes and isinstance(problem, RatioProblem):
            outcome = dinkelbach(engine, problem, options, progress)
        elif form.stand_in is not None:
            outcome = solve_stand_in(engine, form.stand_in(problem), options, progress)
        else:
            outcome = engine.solve(problem, options, progress)
        outcome.warnings += started.told(progress)
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
    return conclude(progress, outcome, engine, form, notes, time.process_time() - cpu)


def require_kind(engine: Backend, problem: Problem) -> None:
    """Raise InvalidOption when an engine does not solve the problem."""
    if engine.accepts(problem):
        return
    if engine.encodes or (hasattr(problem, "search_form") and not problem.stated):
        problem.stated_in()  # says why there is no statement
    raise InvalidOption(engine.refusal(problem))


def require_oracle(engine: Backend, problem: Problem) -> None:
    """Raise InvalidOption when an engine asks the classifier and the problem has none."""
    if engine.asks_classifier and problem.oracle is None:
        raise InvalidOption(
            f"backend {engine.name!r} asks the classifier, and this problem has only its "
            f"samples: call cpx.explain(..., backend={engine.name!r}), or solve a problem "
            "stated by cpx.Explainer"
        )


def encoding_of(engine: Backend, problem: Problem, name: str | None) -> Encoding[Any]:
    """Return the encoding an engine will solve; one without a name if it needs none."""
    form = problem.stated_in(name) if engine.encodes else problem.encoding(name)
    return form if engine.encodes else replace(form, name="", faithful=True, stand_in=None)


def conclude(
    progress: Progress,
    outcome: Outcome,
    engine: Backend,
    form: Encoding[Any],
    notes: Sequence[str],
    cpu: float,
) -> Result:
    """Turn what an engine reported into a checked result."""
    problem, objective, bound = progress.problem, progress.objective, progress.best_bound
    warnings = [*notes, *outcome.warnings]
    complaint = contradiction(problem, outcome, objective, bound, faithful=form.faithful)
    if outcome.proved and objective is not None and form.faithful and not complaint:
        bound = objective
    status = _status(outcome, objective, bound)
    if complaint:
        status = Status.ERROR
        warnings.append(complaint)
    if not form.faithful:
        warnings.append(_unfaithful(form, outcome, objective))
    explanation = progress.explanation
    if explanation is not None:
        # A rule found by asking the classifier stands for more than these samples.
        if not engine.asks_classifier:
            explanation = problem.shortened(explanation)
        explanation = problem.conclude(explanation, status is Status.OPTIMAL, objective, bound)
    progress.trace.append(TracePoint(progress.elapsed, objective, bound))
    result = Result(
        status=status,
        termination=outcome.termination,
        raw_status=outcome.raw_status,
        objective=objective,
        bound=bound,
        explanation=explanation,
        trace=tuple(progress.trace),
        sizes=dict(outcome.sizes),
        backend=engine.name,
        solver=engine.solver,
        encoding=form.name,
        versions={
            "cpx-explain": installed_version("cpx-explain") or "uninstalled",
            **engine.versions(),
        },
        options=progress.options.to_dict(),
        warnings=tuple(warnings),
    )
    return _checked(result, progress, cpu)


def _checked(result: Result, progress: Progress, cpu: float) -> Result:
    if result.status in (Status.OPTIMAL, Status.FEASIBLE, Status.INFEASIBLE):
        instance, answer = progress.problem.to_dict(), result.to_dict()
        complaints = check.complaints(instance, answer, _seconds_to_check(progress))
        if complaints == [check.UNDECIDED]:
            result = result.with_warnings(f"not verified: {check.UNDECIDED}")
        elif complaints:
            result = replace(result, status=Status.ERROR).with_warnings(
                *(f"check failed: {complaint}" for complaint in complaints)
            )
        else:
            result = replace(result, verified=True)
    return replace(result, times=Times(**progress.times, total=progress.elapsed, cpu=cpu))


def _seconds_to_check(progress: Progress) -> float:
    """Return what is left of the time limit, and the little by which it may be exceeded."""
    limit = progress.options.time_limit
    if limit is None:
        return check.SECONDS
    return max(_LEAST_TO_CHECK, 1.05 * limit + _MORE_TO_CHECK - progress.elapsed)


def _status(outcome: Outcome, objective: Value | None, bound: Value | None) -> Status:
    if outcome.termination is Termination.SOLVER_ERROR:
        return Status.ERROR
    if objective is None:
        return Status.INFEASIBLE if outcome.proved else Status.UNKNOWN
    return Status.OPTIMAL if objective == bound else Status.FEASIBLE


def _unfaithful(form: Encoding[Any], outcome: Outcome, objective: Value | None) -> str:
    if form.stand_in is not None:
        return (
            f"encoding {form.name!r} states another objective, no less than the problem's: "
            "nothing that it proves is a bound here"
        )
    told = f"encoding {form.name!r} is kept for study and is not the problem"
    if outcome.claimed is not None and outcome.claimed != objective:
        told += (
            f": its model claims the value {outcome.claimed},"
            f" the rule it returned has {objective} on the data"
        )
    return told + "; its bound is that of a relaxation, and valid"


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
    default = SolveOptions()
    honoured = engine.honours | ({"encoding"} if engine.encodes else set())
    return [
        f"backend {engine.name}{':' * bool(engine.solver)}{engine.solver} does not honour {name}"
        for name in ("threads", "seed", "gap", "hint", "encoding")
        if getattr(options, name) != getattr(default, name) and name not in honoured
    ]
