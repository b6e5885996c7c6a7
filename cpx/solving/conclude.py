"""What an engine reported, turned into a checked result: its status, and what it claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from cpx import check
from cpx.answers.claim import source_words
from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Status, Termination, Times, TracePoint
from cpx.answers.values import Value
from cpx.backends.base import Backend, Outcome, Progress, contradiction, versions_of
from cpx.modelling.statement import Encoding
from cpx.processes.overtime import OutOfTime, stopped_when
from cpx.solving.own_encodings import known_of
from cpx.support.versions import installed_version

# Seconds for the check: at least, and beyond the time limit, which is kept within 5 % + 1 s.
# A worker is killed at the very end of that: what is found out by then must also arrive.
_LEAST_TO_CHECK, _MORE_TO_CHECK = 0.3, 0.6
# After so many more, a check that has not looked at its clock is stopped.
_MORE_TO_STOP = 0.3


def conclude(
    progress: Progress,
    outcome: Outcome,
    engine: Backend,
    form: Encoding[Any],
    notes: Sequence[str],
    cpu: float,
) -> Result:
    """Turn what an engine reported into a checked result."""
    progress.close()
    problem, objective, bound = progress.problem, progress.objective, progress.best_bound
    warnings = [*notes, *outcome.warnings]
    violation = outcome.wrong or contradiction(
        problem, outcome, objective, bound, faithful=form.faithful
    )
    known = known_of(problem, form)
    if not known.believed:
        outcome = replace(outcome, proved=False, claimed=None, best_of_ties=False)
        bound = problem._trivial_bound()
        progress.take_back(bound)
        warnings.append(f"{source_words(known.statement)}; nothing that it proves is believed")
    if outcome.proved and objective is not None and form.faithful and not violation:
        bound = objective
    status = _status(outcome, objective, bound)
    if status is Status.INFEASIBLE:
        bound = None  # of no value
    error = outcome.raw_status if status is Status.ERROR else ""
    if violation:
        status, error = Status.ERROR, violation
        warnings.append(violation)
    if not form.faithful:
        warnings.append(_unfaithful(form, outcome, objective))
    explanation = progress.explanation
    trace = progress.trace
    if explanation is not None:
        # A rule found by asking the classifier stands for more than these samples.
        if not engine._asks_classifier:
            explanation = problem._shortened(explanation)
        if problem._tolerance and objective is not None and status is not Status.ERROR:
            best = objective
            explanation, objective = _settled(progress, outcome.preferred, explanation, best)
            if status is Status.OPTIMAL:
                bound = objective
            within = 2 * _apart(best, objective) <= problem._tolerance
            outcome = replace(outcome, best_of_ties=outcome.best_of_ties and within)
            trace = [_no_better(progress, point, objective) for point in trace]
        explanation = problem._conclude(explanation, status is Status.OPTIMAL, objective, bound)
        if explanation.claim is not None:
            first = outcome.best_of_ties and status is Status.OPTIMAL
            claim = replace(explanation.claim, best_of_ties=first, statement=known.statement)
            explanation = replace(explanation, claim=claim)
    result = Result(
        status=status,
        termination=outcome.termination,
        raw_status=outcome.raw_status,
        objective=objective,
        bound=bound,
        explanation=explanation,
        trace=(*trace, TracePoint(progress.elapsed, objective, bound)),
        sizes=dict(outcome.sizes),
        statistics=dict(progress.statistics),
        backend=engine.name,
        solver=engine.solver,
        encoding=form.name,
        versions={
            "cpx-explain": installed_version("cpx-explain") or "uninstalled",
            **versions_of(engine),
            **engine._provenance(),
            **outcome.versions,
        },
        options=progress.options.to_dict(),
        warnings=tuple(warnings),
        error=error,
        statement=known.statement,
    )
    return _checked(result, progress, cpu)


def _checked(result: Result, progress: Progress, cpu: float) -> Result:
    if result.status in (Status.OPTIMAL, Status.FEASIBLE, Status.INFEASIBLE):
        violations = _violations(result, progress)
        if violations == [check.UNJUDGED]:
            result = result.with_warnings(f"not independently checked: {check.UNJUDGED}")
        elif violations == [check.UNDECIDED]:
            result = result.with_warnings(f"not verified: {check.UNDECIDED}")
        elif violations:
            failed = [f"check failed: {violation}" for violation in violations]
            result = replace(result, status=Status.ERROR, error=failed[0]).with_warnings(*failed)
        else:
            result = replace(result, verified=True)
    return replace(result, times=Times(**progress.times, total=progress.elapsed, cpu=cpu))


def _violations(result: Result, progress: Progress) -> list[str]:
    """Return what the check says; that it is undecided where it is stopped with the time over."""
    seconds = _seconds_to_check(progress)
    end = progress.elapsed + seconds + _MORE_TO_STOP
    limited = progress.options.time_limit is not None
    try:
        with stopped_when(lambda: limited and progress.elapsed > end):
            return check.violations(progress.problem._to_check(), result.to_dict(), seconds)
    except OutOfTime:
        return [check.UNDECIDED]


def _settled(
    progress: Progress, preferred: Explanation | None, known: Explanation, best: Value
) -> tuple[Explanation, Value]:
    """Return the answer among those that differ by rounding alone, and its objective."""
    problem = progress.problem
    if preferred is not None:
        preferred = problem._shortened(preferred)
    for chosen in (preferred, known, progress.explanation):
        if chosen is not None:
            value = problem.evaluate(chosen).objective
            if _apart(best, value) <= problem._tolerance:
                return chosen, value
    return known, best


def _apart(one: Value, other: Value) -> Fraction:
    return abs(Fraction(one) - Fraction(other))


def _no_better(progress: Progress, point: TracePoint, objective: Value) -> TracePoint:
    """Return a point of the trace whose value is no better than that of the answer."""
    value = point.objective
    if value is None or not progress.is_better(value, objective):
        return point
    return TracePoint(point.seconds, objective, point.bound)


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
        # A value without a solution that has it: of an encoding that is not the problem.
        proved = outcome.proved and outcome.claimed is None
        return Status.INFEASIBLE if proved else Status.UNKNOWN
    return Status.OPTIMAL if objective == bound else Status.FEASIBLE


def _unfaithful(form: Encoding[Any], outcome: Outcome, objective: Value | None) -> str:
    told = f"encoding {form.name!r} is kept for study and is not the problem"
    if outcome.claimed is not None and outcome.claimed != objective:
        told += (
            f": its model claims the value {outcome.claimed},"
            f" the rule it returned has {objective} on the data"
        )
    return told + "; its bound is that of a relaxation, and valid"
