"""A running solve: its best solution and bound, its clock, its stop signal, and Ctrl-C."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeVar

from cpx.answers.explanation import Explanation
from cpx.answers.result import Termination, TracePoint, relative_gap
from cpx.answers.statistics import LONGEST
from cpx.answers.values import Value
from cpx.errors import EngineError, shown
from cpx.modelling.base import Problem
from cpx.modelling.ratio import RatioProblem
from cpx.modelling.statement import Statement, Values
from cpx.options import SolveOptions
from cpx.processes.allowance import OPTIONAL, allowing
from cpx.processes.limits import Limits
from cpx.processes.overtime import stopped_when
from cpx.processes.threads import start_thread
from cpx.processes.usage import children_seconds
from cpx.support.garbage import no_garbage

T = TypeVar("T")

# Python handles signals between bytecodes of the main thread. A wait without a timeout
# would delay Ctrl-C until the native call returns.
_POLL_SECONDS = 0.05
_CHILDREN_EVERY = 0.05  # seconds between looks at the processor time of programs


@dataclass(frozen=True)
class Event:
    """What a listener hears: the trace point, and the explanation when it is new."""

    point: TracePoint
    explanation: Explanation | None = None


class Progress:
    """Best solution and bound of a running solve, its clock and its stop signal.

    Parameters
    ----------
    problem : Problem
        What is solved; incumbents are measured by it.
    options : SolveOptions
        ``time_limit`` starts the clock here.
    listen : callable, optional
        Called with an :class:`Event` whenever the best value or the bound improves.
    cancel : threading.Event, optional
        Stops the solve when it is set, as :meth:`stop` does.
    entered : callable, optional
        Called when a phase begins and when it ends, with the seconds of each phase before it and
        with the name of the phase that is entered; None where there is none.

    Attributes
    ----------
    limits : Limits
        What workers are confined to, for an engine that starts some.
    stating : float
        Share of the time limit that stating may take.
    record : list or None
        To which an engine that can adds what spares a proof of its bound a search of its own;
        None where nobody asks for a proof.
    statistics : dict of str to int, or to list of int
        Steps of the search so far, by the names of :data:`cpx.answers.statistics.NAMES`.
    contributed : list of str
        What others than the engine have brought, for the warnings of the result.
    late : callable or None
        Once this says so, measuring a solution ends with
        :class:`~cpx.processes.overtime.OutOfTime`.

    Notes
    -----
    Methods may be called from any thread; listeners are called under a lock, one at a time.
    """

    def __init__(
        self,
        problem: Problem,
        options: SolveOptions,
        listen: Callable[[Event], None] | None = None,
        cancel: threading.Event | None = None,
        entered: Callable[[dict[str, float], str | None], None] | None = None,
    ) -> None:
        self.problem = problem
        self.options = options
        self.limits, self.stating = Limits(), 1.0
        self._children, self._children_at = 0.0, -math.inf
        self.record: list[object] | None = None
        self.statistics: dict[str, int | list[int]] = {}
        self.late: Callable[[], bool] | None = None
        self.started = time.perf_counter()
        self._cpu_before = self._cpu()
        self.explanation: Explanation | None = None
        self.objective: Value | None = None
        self._tie = 0
        self.best_bound: Value | None = None
        self.trace: list[TracePoint] = []
        self.contributed: list[str] = []
        self.times: dict[str, float] = {"state": 0.0, "compile": 0.0, "solve": 0.0}
        self._listen, self._entered = listen, entered
        self._trivial: Value | None = None
        self._lock = threading.RLock()
        self._stop = cancel or threading.Event()
        self._gap_reached = self._closed = False

    # ------------------------------------------------------------------ time

    def start_clock(self) -> None:
        """Count the time from now, once what is no part of the solve has been loaded."""
        self.started = time.perf_counter()
        self._cpu_before = self._cpu()

    @property
    def elapsed(self) -> float:
        """Seconds since the solve began."""
        return time.perf_counter() - self.started

    @property
    def remaining(self) -> float | None:
        """Seconds left, never below 0; None without a limit."""
        limit = self.options.time_limit
        return None if limit is None else max(0.0, limit - self.elapsed)

    @property
    def left(self) -> float | None:
        """Seconds left of the nearer limit, of time or of processor time; None without one.

        What an engine divides among its phases. Its own clock, which is of time, gets
        :attr:`remaining`.
        """
        limit, remaining = self.options.cpu_limit, self.remaining
        if limit is None:
            return remaining
        unspent = max(0.0, limit - (self._cpu() - self._cpu_before))
        return unspent if remaining is None else min(unspent, remaining)

    @property
    def expired(self) -> bool:
        """Whether the time limit, or that of processor time, is over."""
        return self.remaining == 0.0 or self._cpu_expired

    @property
    def _cpu_expired(self) -> bool:
        limit = self.options.cpu_limit
        return limit is not None and self._cpu() - self._cpu_before >= limit

    def _cpu(self) -> float:
        """Seconds of processor time so far, where they are limited, with those of programs."""
        if self.options.cpu_limit is None:
            return 0.0
        now = time.perf_counter()
        if now - self._children_at >= _CHILDREN_EVERY:
            self._children, self._children_at = children_seconds(), now
        return time.process_time() + self._children

    @property
    def interrupted(self) -> bool:
        """Whether :meth:`stop` was called (Ctrl-C)."""
        return self._stop.is_set()

    @property
    def should_stop(self) -> bool:
        """Whether the engine should return as soon as it can."""
        return self.interrupted or self.expired or self.gap_reached

    @property
    def should_stop_among_ties(self) -> bool:
        """The same while equally good solutions are told apart: a gap of 0 is no end then."""
        wanted = bool(self.options.gap) and self.gap_reached
        return wanted or self.interrupted or self.expired

    @property
    def gap_reached(self) -> bool:
        """Whether incumbent and bound have met, or have been within the requested gap.

        That stays so. Where a value changes its sign, the relative gap of a better incumbent
        can be larger, but an engine that was told to stop must hear the same when it asks
        whether it was stopped or has finished.
        """
        if not self._gap_reached:
            gap = relative_gap(self.objective, self.best_bound)
            self._gap_reached = gap is not None and gap <= (self.options.gap or 0.0)
        return self._gap_reached

    @property
    def cancel(self) -> threading.Event:
        """What :meth:`stop` sets: for a solve inside this one, which it stops as well."""
        return self._stop

    def take_back(self, bound: Value | None) -> None:
        """Forget the bounds better than this one: whoever reported them has been refuted."""
        with self._lock:
            self.best_bound, self._gap_reached = bound, False
            for i, (seconds, objective, known) in enumerate(self.trace):
                if known is not None and (bound is None or self.is_better(bound, known)):
                    self.trace[i] = TracePoint(seconds, objective, bound)

    def stop(self) -> None:
        """Ask the engine to stop; safe from any thread and from a signal handler."""
        self._stop.set()

    def close(self) -> None:
        """Keep what is known as it is: a thread that Ctrl-C left behind may still report."""
        with self._lock:
            self._closed = True

    def why_stopped(self) -> Termination:
        """Name the reason for a stop the engine did not choose itself."""
        if self.interrupted:
            return Termination.INTERRUPTED
        return Termination.TIME_LIMIT if self.expired else Termination.COMPLETED

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the seconds of the block to ``times[name]`` (state, compile or solve).

        Stating and compiling are done in Python, which no engine can stop: they end with
        :class:`~cpx.processes.overtime.OutOfTime` when the time is over or Ctrl-C came.
        """
        start = time.perf_counter()
        self._tell(name)
        share = self.stating if name == "state" else 1.0
        try:
            if name == "solve":
                yield
            else:
                optional = OPTIONAL * (self.options.seconds or math.inf)
                with no_garbage(), stopped_when(partial(self.past, share)), allowing(optional):
                    yield
        finally:
            self.times[name] += time.perf_counter() - start
            self._tell(None)

    def past(self, share: float) -> bool:
        """Whether a share of one of the limits is over, or :meth:`stop` was called."""
        limit, most = self.options.time_limit, self.options.cpu_limit
        late = limit is not None and self.elapsed >= share * limit
        spent = most is not None and self._cpu() - self._cpu_before >= share * most
        return self.interrupted or late or spent

    def _tell(self, phase: str | None) -> None:
        if self._entered is not None:
            self._entered(self.times, phase)

    # ------------------------------------------------------------ reporting

    def incumbent(self, values: Values) -> Value | None:
        """Report a solution by the values of the statement's variables.

        It is decoded and measured on the data; the recomputed objective is returned, or
        None when the decoded explanation breaks a constraint of the problem.
        """
        return self.found(self.problem.decode(values))

    def found(self, explanation: Explanation) -> Value | None:
        """Report a solution as an explanation; see :meth:`incumbent`."""
        with nullcontext() if self.late is None else stopped_when(self.late):
            evaluation = self.problem.evaluate(explanation)
        if not evaluation.feasible:
            return None
        value, tie = evaluation.objective, evaluation.tie
        with self._lock:
            if self._closed:
                return value
            known = self.objective
            equal = value == known and tie < self._tie
            if known is None or equal or self.is_better(value, known):
                self.objective, self._tie, self.explanation = value, tie, explanation
                self._emit(explanation)
        return value

    def stated(self, statement: Statement) -> None:
        """Report the solution and the bound that a statement brings, and note that it does."""
        if statement.known is None:
            return
        value, told = self.found(self.problem.explanation(statement.known)), ""
        if statement.bound is not None:
            self.bound(statement.bound)
            told = f" and the bound {self.best_bound}"
        self.contributed.append(
            f"the statement begins with a solution of value {value}{told}, found by a heuristic "
            "and the bounds of the exact search"
        )

    def bound(self, value: float | Fraction) -> None:
        """Report a proven bound on the objective, offset included.

        Where objectives are integers, a float is rounded to the next integer in the safe
        direction, after a slack of 1e-6 and of the precision of floats for engines that count
        in them. Where the objective is a ratio, the value must be an integer or a Fraction
        and is taken exactly. Worse bounds and non-finite values are ignored. No bound is worse
        than the one that needs no search (:meth:`Problem._trivial_bound`).
        """
        if not math.isfinite(value):
            return
        exact: Value
        if isinstance(self.problem, RatioProblem):
            if isinstance(value, float):
                raise EngineError(
                    f"a bound on a ratio must be exact, got the float {shown(value)}"
                )
            exact = Fraction(value)
        else:
            exact = _safe_integer(value, downwards=self.problem.sense == "min")
        if self._trivial is None:
            self._trivial = self.problem._trivial_bound()
        if self._trivial is not None and self.is_better(exact, self._trivial):
            exact = self._trivial
        with self._lock:
            known = self.best_bound
            if not self._closed and (known is None or self.is_better(known, exact)):
                self.best_bound = exact
                self._emit(None)

    def count(self, **steps: int | list[int]) -> None:
        """Add to the :attr:`statistics`; engines that work in parts count each of them."""
        with self._lock:
            for name, number in steps.items():
                known = self.statistics.get(name)
                if isinstance(number, list):
                    self.statistics[name] = [*(known or []), *number][:LONGEST]  # type: ignore[misc]
                else:
                    self.statistics[name] = (known or 0) + int(number)  # type: ignore[operator]

    def is_better(self, a: Value, b: Value) -> bool:
        """Whether one value is better than another; of bounds, the weaker one is."""
        return a < b if self.problem.sense == "min" else a > b

    def _emit(self, explanation: Explanation | None) -> None:
        point = TracePoint(self.elapsed, self.objective, self.best_bound)
        self.trace.append(point)
        if self._listen is not None:
            self._listen(Event(point, explanation))


class InnerProgress(Progress):
    """The progress of a solve within another: the same clock, and the same stop signal.

    It has a value and a bound of its own. Its solutions are solutions of the whole as well, and
    are passed on; what its bounds say of the whole, if anything, a subclass knows.

    Parameters
    ----------
    problem : Problem
        What is solved here, with the solutions of the problem of the whole.
    options : SolveOptions
    whole : Progress
    """

    def __init__(self, problem: Problem, options: SolveOptions, whole: Progress) -> None:
        super().__init__(problem, options, cancel=whole.cancel)
        self.started, self.times, self._entered = whole.started, whole.times, whole._entered
        self._cpu_before, self.statistics = whole._cpu_before, whole.statistics
        self._whole = whole

    @property
    def gap_reached(self) -> bool:
        """Whether this solve, or the whole, is within the requested gap."""
        return super().gap_reached or self._whole.gap_reached

    def found(self, explanation: Explanation) -> Value | None:
        """Report a solution here and to the whole."""
        value = super().found(explanation)
        if value is not None:
            self._whole.found(explanation)
        return value


def run_interruptibly(
    call: Callable[[], T], progress: Progress, stop: Callable[[], None] | None = None
) -> T:
    """Run ``call`` in a thread; on Ctrl-C ask the engine to stop and wait for it.

    Parameters
    ----------
    call : callable
        The blocking call. It must release the interpreter lock while it works.
    progress : Progress
        ``progress.stop()`` is called on Ctrl-C.
    stop : callable, optional
        Called once when the engine should stop, because of Ctrl-C, of the time limit or of
        the gap; for engines that do not ask ``progress.should_stop`` themselves.

    Returns
    -------
    What ``call`` returns. Its exception is raised again, if any.
    """
    box: list[T] = []
    failure: list[BaseException] = []
    begun, done = threading.Lock(), threading.Event()

    def target() -> None:
        if not begun.acquire(blocking=False):
            return
        try:
            box.append(call())
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    try:
        start_thread(target)
    except KeyboardInterrupt:
        progress.stop()
        # Either it has begun, and is waited for, or it never will.
        if begun.acquire(blocking=False):
            raise
    # Not Thread.join: interrupted by Ctrl-C it takes the thread for ended (CPython 3.11).
    stopped = False
    while not done.is_set():
        try:
            done.wait(_POLL_SECONDS)
            if stop is not None and not stopped and progress.should_stop and not done.is_set():
                stopped = True
                stop()
        except KeyboardInterrupt:
            progress.stop()
    if failure:
        raise failure[0]
    return box[0]


def _safe_integer(value: float | Fraction, downwards: bool) -> int:
    """Return the integer bound that a bound implies; a float is first moved outwards."""
    if isinstance(value, float):
        slack = 1e-6 + abs(value) * 2.0**-52
        value += -slack if downwards else slack
    return math.ceil(value) if downwards else math.floor(value)
