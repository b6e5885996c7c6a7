"""Warm starts: a good solution, found in no time, for an engine to begin with.

Some engines take long to find what a heuristic has at once. So they get its solution as a hint on
all variables, and the better of that and what they find is the answer. Families say which
heuristic that is, and when it helps (``starts`` of :class:`~cpx.support.families.Family`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cpx.answers.values import to_json
from cpx.backends import backend as find_backend
from cpx.backends.base import Backend, Progress, StartWith
from cpx.backends.progress import InnerProgress
from cpx.errors import EngineError
from cpx.modelling.base import Problem
from cpx.support.families import registered
from cpx.support.lazy_imports import named_object


class Start:
    """A known solution of the problem of a solve, reported to its progress.

    Nothing is done for problems of other kinds, and for those that are solved without it in no
    time.

    engine: Who is to solve the problem. Heuristics, and engines with a start of their own, get
        none.
    progress: Of the solve. A hint that counts as a solution is improved.
    options: Those of the solve, with the start as the hint.
    """

    def __init__(self, engine: Backend, progress: Progress) -> None:
        self.options, self._progress = progress.options, progress
        self._method, self._hinted = "", False
        self._asked = start_for(engine, progress.problem)

    def look(self) -> None:
        """Look for the solution; raise OutOfTime where the time is over before it is there."""
        asked, progress = self._asked, self._progress
        if asked is None:
            return
        problem, by, before = progress.problem, asked.method, progress.explanation
        if isinstance(by, str) and not find_backend(by).available():
            return
        # Before the clock is looked at: there is an answer however small the limit is.
        if (bound := problem._trivial_bound()) is not None:
            progress.bound(bound)
        if (trivial := problem._trivial()) is not None:
            progress.found(trivial)
        trivial, called = progress.explanation, None
        try:
            with progress.phase("state"):
                if isinstance(by, str):
                    _solve_by(by, progress)
                else:
                    called = by(problem, problem.form(), progress)
            called = called or asked.called
        finally:
            if called is None:
                found = progress.explanation is not trivial
                called = f"interrupted {asked.called}" if found else asked.before
            # A backend begins with the hint of the caller.
            if progress.explanation is not (None if isinstance(by, str) else before):
                self._keep(asked, called)

    def _keep(self, asked: StartWith, called: str) -> None:
        """Note the solution that there is now, by a method that is called so."""
        progress = self._progress
        assert progress.explanation is not None
        self._method, self._hinted = called, asked.hint
        self._value, self._chosen = progress.objective, progress.explanation.features
        self._seconds = progress.elapsed
        if asked.hint:
            self.options = replace(self.options, hint=self._chosen)

    def record(self) -> dict[str, Any] | None:
        """Return method, value and seconds of the start, for the result; None without one."""
        if not self._method:
            return None
        value = to_json(self._value)
        return {"method": self._method, "value": value, "seconds": self._seconds}

    def told(self, progress: Progress) -> list[str]:
        """Say whether the answer is the start's or the engine's."""
        if not self._method:
            return []
        start = f"the value {self._value} of the {self._method} before"
        if not self._hinted:
            open_still = progress.objective != progress.best_bound
            same = progress.objective == self._value and open_still
            return [f"the engine found nothing better than {start}"] if same else []
        if progress.objective != self._value:
            return [f"the engine improved {start}"]
        assert progress.explanation is not None
        if progress.explanation.features != self._chosen:
            return [
                f"the engine was given {start} and found nothing better; the answer is the first "
                "of the sets of that value"
            ]
        return [
            f"the answer is that of the {self._method} before: the engine was given its value "
            f"{self._value} and found nothing better"
        ]


def start_for(engine: Backend, problem: Problem) -> StartWith | None:
    """Return what finds a start for an engine that wants one; or None."""
    if engine._start == "own" or not engine.exact:
        return None
    form = problem.form()
    value = registered("starts", form)
    if value is None:
        return None
    asked: StartWith | None = named_object(value, "start", EngineError)(engine, form)
    return asked


def _solve_by(name: str, progress: Progress) -> None:
    """Report the solution of a method, all of whose time is that of the phase we are in."""
    inner = InnerProgress(progress.problem, progress.options, progress)
    inner.times, inner._entered = dict(progress.times), None
    if progress.explanation is not None:
        inner.found(progress.explanation)
    find_backend(name).solve(progress.problem, progress.options, inner)
