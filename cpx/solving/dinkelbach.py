"""Dinkelbach's method: maximise a ratio by a sequence of linear problems.

With N and D the numerator and the positive denominator, let F(v) be the maximum of N - vD over
all solutions. F is convex, decreasing, and 0 exactly at the greatest ratio. From the ratio v
of a known solution, one step computes F(v) and a solution that has it. Either F(v) = 0, and v
is optimal, or the new solution has a greater ratio; the ratios converge superlinearly.

All numbers are exact. Each step is an ordinary problem for the engine, whose every bound, also
one of a step that was cut short, bounds the ratio (:meth:`RatioStep.ratio_bound`).

References
----------
W. Dinkelbach: On Nonlinear Fractional Programming, Management Science 13(7), 1967.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from cpx.answers.result import Termination
from cpx.answers.values import Value
from cpx.backends.base import Backend, Outcome, Progress, contradiction
from cpx.backends.progress import InnerProgress
from cpx.modelling.ratio import RatioProblem, RatioStep
from cpx.options import SolveOptions


def dinkelbach(
    engine: Backend, problem: RatioProblem, options: SolveOptions, progress: Progress
) -> Outcome:
    """Solve a ratio problem by steps that the engine solves.

    engine: Any that solves the problem's steps.
    problem: What is maximised.
    options: Those of the whole solve. Steps share the time limit; the gap is that of the ratio,
        the best rule so far is the hint of each step.
    progress: Gets the rules of all steps and the bounds on the ratio that follow from them.
    Returns: ``sizes`` are those of the last step, ``raw_status`` has the number of steps and the
        engine's word for the last one.

    >>> from cpx import MaxPrecision, Samples
    >>> from cpx.backends import backend
    >>> from cpx.options import SolveOptions
    >>> samples = Samples([[1, 1], [1, 1], [1, 0], [0, 1], [0, 1]], [1, 1, 0, 0, 0])
    >>> problem = MaxPrecision(samples, k=1)
    >>> progress = Progress(problem, SolveOptions())
    >>> outcome = dinkelbach(backend("cpsat"), problem, SolveOptions(), progress)
    >>> outcome.raw_status, progress.objective, progress.best_bound
    ('2 steps, the last OPTIMAL', Fraction(2, 3), Fraction(2, 3))
    """
    progress.bound(problem._trivial_bound())
    progress.found(problem.first())
    steps, last = 0, Outcome(False, Termination.COMPLETED, "not begun")
    while not (progress.should_stop or _meets(progress)):
        value = progress.objective
        step = problem.first_step() if value is None else problem.step(Fraction(value))
        inner = _StepProgress(step, options, progress)
        last = engine.solve(step, inner.options, inner)
        steps += 1
        wrong = contradiction(step, last, inner.objective, inner.best_bound)
        if wrong:
            last = replace(last, wrong=f"step {steps}: {wrong}")
            return _told(last, steps, proved=False)
        if last.proved and inner.objective is None:
            return _told(last, steps, proved=True)
        if last.proved and inner.objective is not None:
            inner.bound(inner.objective)
        if progress.objective == value or last.termination is not Termination.COMPLETED:
            # Nothing better, proved or not; or the engine was stopped or failed.
            break
    if _meets(progress):
        return _told(last, steps, proved=True, claimed=progress.objective)
    if progress.should_stop and last.termination is Termination.COMPLETED:
        last = replace(last, termination=progress.why_stopped())
    return _told(last, steps, proved=False, claimed=progress.objective)


def _meets(progress: Progress) -> bool:
    return progress.objective is not None and progress.objective == progress.best_bound


def _told(last: Outcome, steps: int, proved: bool, claimed: Value | None = None) -> Outcome:
    return replace(
        last,
        proved=proved,
        termination=Termination.COMPLETED if proved else last.termination,
        raw_status=f"{steps} step{'s' * (steps != 1)}, the last {last.raw_status}",
        claimed=claimed,
    )


class _StepProgress(InnerProgress):
    """The progress of one step; its bounds are passed on as bounds on the ratio."""

    problem: RatioStep

    def __init__(self, step: RatioStep, options: SolveOptions, whole: Progress) -> None:
        hint = options.hint if whole.explanation is None else whole.explanation.features
        super().__init__(step, replace(options, hint=hint, gap=None), whole)

    def bound(self, value: float | Fraction) -> None:
        super().bound(value)
        if isinstance(self.best_bound, int):
            self._whole.bound(self.problem.ratio_bound(self.best_bound))
