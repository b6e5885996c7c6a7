"""A portfolio: engines side by side on one problem, each in a worker process of its own.

What one finds is measured here and handed to the others. The bound is the best of theirs, and
the solve ends when it meets the best value, whoever has found the one and proved the other. An
engine that fails, or claims what a known solution refutes, leaves with all of its bounds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import ClassVar, Literal

from cpx.answers.result import Result, Status, Termination
from cpx.answers.values import Value
from cpx.backends import backend as find_backend
from cpx.backends.base import Backend, Event, Outcome, Progress, encoding_for, require, takes
from cpx.errors import CpxError, InvalidOption, shown
from cpx.methods.time_slicing import Turn, deal
from cpx.modelling.base import Problem
from cpx.options import SolveOptions, split_names
from cpx.processes.limits import Limits, usable_cores
from cpx.processes.threads import start_thread
from cpx.solving.isolate import run_isolated
from cpx.solving.servers import prepare

_DEFAULT = "cpsat,maxsat,milp"
_TICK = 0.05
# The last part of the limit, in which all engines work, to hand over what they have.
_END = 1 / 50


class Portfolio(Backend):
    """Engines side by side: ``portfolio:cpsat,maxsat:lsu,milp{presolve=off}``.

    In lists of engines, which have commas themselves, ``+`` stands between them:
    ``portfolio:cpsat+maxsat``.

    >>> Portfolio("cpsat+maxsat:lsu").full_name
    'portfolio:cpsat,maxsat:lsu'
    """

    name: ClassVar[str] = "portfolio"
    supported_options: ClassVar[frozenset[str]] = frozenset(
        {"threads", "seed", "gap", "hint", "encoding"}
    )
    needs_model: ClassVar[bool] = False
    _start: ClassVar[Literal["given", "needed", "own"]] = "own"
    _starts_workers: ClassVar[bool] = True
    _in_all: ClassVar[bool] = False
    summary: ClassVar[str] = f"engines side by side, such as portfolio:{_DEFAULT}"

    def __init__(self, solver: str | None = None) -> None:
        self.members = [find_backend(name) for name in _names(solver or _DEFAULT)]
        for member in self.members:
            if member._starts_workers or member._asks_classifier:
                raise InvalidOption(f"{member.name} cannot be an engine of a portfolio")
            require(member)
        if len({*self._engines}) < len(self.members):  # milp is milp:highs
            raise InvalidOption(f"an engine is twice in the portfolio {shown(solver or _DEFAULT)}")
        if not any(member.exact for member in self.members):
            raise InvalidOption("a portfolio needs an engine that proves, and these only search")
        self.solver = ",".join(self._engines)

    @property
    def _engines(self) -> tuple[str, ...]:
        """The engines with their options."""
        return tuple(map(str, self.members))

    @classmethod
    def installed(cls) -> list[str]:
        """Return its name, if the engines of the default are there."""
        known = [find_backend(name) for name in split_names(_DEFAULT)]
        return [cls.name] if all(engine.available() for engine in known) else []

    def accepts(self, problem: Problem) -> bool:
        """Whether one of the engines can solve the problem."""
        return any(member.accepts(problem) for member in self.members)

    def _refusal(self, problem: Problem) -> str:
        """Say that none of its engines does."""
        return f"no engine of {self.full_name!r} solves problems of kind {problem.kind!r}"

    def _keeps_side_constraints(self, problem: Problem) -> bool:
        """Whether one of the engines does."""
        return any(takes(member, problem) for member in self.members)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Let all work until bound and value meet; see :class:`~cpx.backends.base.Backend`."""
        members = [member for member in self.members if takes(member, problem)]
        names = [str(member) for member in members]
        left_out = [member for member in self.members if member not in members]
        cores, wanted = len(progress.limits.cores or usable_cores()), len(names) * options.threads
        at_once = max(1, cores // options.threads) if 0 < cores < wanted else len(names)
        # Loading engines is no part of the limit, as in all workers.
        prepare(*names, wait=lambda: not progress.interrupted)
        progress.start_clock()
        with progress.phase("solve"):
            outcome = _Team(names, at_once, options, progress).run()
        notes = [f"{member} does not solve this problem" for member in left_out]
        if at_once < len(names):
            notes.append(
                f"{len(names)} engines take turns on {cores} cores, and would use {wanted}"
            )
        outcome.warnings = [*notes, *outcome.warnings]
        return outcome


def _names(text: str) -> list[str]:
    """Return the names in a list; with commas or, where there are none, with ``+``."""
    names = split_names(text)
    if len(names) == 1:
        names = split_names(text, "+")
    if len(names) < 2:
        raise InvalidOption(
            f"a portfolio has two engines or more, got {shown(text)}; in a list of engines it is "
            "written portfolio:A+B"
        )
    return names


@dataclass(eq=False)
class _Member:
    """One engine of a running portfolio."""

    name: str
    value: Value | None = None
    bound: Value | None = None
    result: Result | None = None
    left: str = ""
    """Why it is out: it failed, or was refuted."""
    known: SimpleQueue[tuple[int, ...]] = field(default_factory=SimpleQueue)
    kill: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    turn: Turn = field(default_factory=Turn)


class _Team:
    """The engines at work on one problem."""

    def __init__(
        self, names: Sequence[str], at_once: int, options: SolveOptions, progress: Progress
    ) -> None:
        self._members = [_Member(name) for name in names]
        self._at_once, self._options, self._progress = at_once, options, progress
        self._dealt = time.perf_counter()
        # Also while events are reported: whom a value or a bound comes from must be right.
        self._lock = threading.RLock()
        self._finder = self._prover = ""
        self._infeasible = ""
        self._arrived: SimpleQueue[_Member] = SimpleQueue()
        self._cancel = threading.Event()

    def run(self) -> Outcome:
        """Start all, listen, stop all; return what is proved."""
        try:
            for member, limits in zip(self._members, self._limits(), strict=True):
                member.ended = start_thread(partial(self._work, member, limits))
        except BaseException:
            self._end(self._members)
            raise
        try:
            while not all(member.ended.is_set() for member in self._members):
                self._wait()
        finally:
            self._end(self._members)
            for member in self._members:
                member.ended.wait()
        while not self._arrived.empty():
            self._conclude(self._arrived.get())
        return self._outcome()

    def _limits(self) -> list[Limits]:
        """Return each one's part of the memory and of the cores."""
        whole, count = self._progress.limits, len(self._members)
        memory = None if whole.memory is None else whole.memory // count
        threads = self._options.threads
        apart = whole.cores is not None and len(whole.cores) >= count * threads
        each = []
        for place in range(count):
            cores = whole.cores
            if cores is not None and apart:
                cores = cores[place * threads : (place + 1) * threads]
            each.append(replace(whole, memory=memory, cores=cores))
        return each

    def _work(self, member: _Member, limits: Limits) -> None:
        """Solve in a worker; in a thread of its own."""
        problem, asked, left = self._progress.problem, self._options, self._progress.remaining
        try:
            # The encoding that it has when it is alone, which may depend on the whole limit.
            engine, limit = find_backend(member.name), asked.time_limit
            own = encoding_for(engine, problem, asked.encoding, limit, asked.warm_start)
            # A limit is > 0; one that is over already ends the solve before the engine begins.
            left = None if left is None else max(left, _TICK)
            options = replace(asked, time_limit=left, encoding=own.name or asked.encoding)
            member.result = run_isolated(
                problem,
                member.name,
                options,
                lambda event: self._heard(member, event),
                limits,
                cancel=self._cancel,
                kill=member.kill,
                known=member.known,
                wait=member.turn.waits,
            )
        except CpxError as error:
            member.left = str(error)
        except Exception as error:
            member.left = f"{type(error).__name__}: {error}"
        finally:
            self._arrived.put(member)

    def _wait(self) -> None:
        """Wait a little for an engine to end, and end the others when there is nothing to do."""
        progress = self._progress
        try:
            with suppress(Empty):
                self._conclude(self._arrived.get(timeout=_TICK))
        except KeyboardInterrupt:
            if progress.interrupted:
                self._end(self._members)
            progress.stop()
        if progress.interrupted:
            self._cancel.set()  # they hand over what they have found
        elif self._infeasible or progress.gap_reached:
            with self._lock:
                done = [m for m in self._members if not (self._infeasible or self._breaks_ties(m))]
            self._end(self._members if self._infeasible else done)
        self._deal()

    def _deal(self) -> None:
        """Say who has a turn, where not all can work at the same time."""
        now, limit, left = time.perf_counter(), self._options.time_limit, self._progress.remaining
        working = [member.turn for member in self._members if not member.ended.is_set()]
        for turn in working:
            turn.work(now - self._dealt)
        self._dealt = now
        ends = limit is not None and left is not None and left < _END * limit
        deal(working, len(working) if ends else self._at_once, self._progress.elapsed, limit)

    def _breaks_ties(self, member: _Member) -> bool:
        """Whether it has the optimum, and is to find the best solution of that value."""
        value = self._progress.objective
        if member.left or value is None or not member.value == member.bound == value:
            return False
        return self._progress.problem._tie_step(value) is not None

    @staticmethod
    def _end(members: Iterable[_Member]) -> None:
        for member in members:
            member.kill.set()

    # -------------------------------------------------------- what they say

    def _heard(self, member: _Member, event: Event) -> None:
        """Take note of a solution or a bound of an engine; called from its thread."""
        with self._lock:
            if member.left:
                return
            progress = self._progress
            if event.explanation is not None:
                before = progress.explanation
                member.value = progress.found(event.explanation)
                if progress.explanation is not before:
                    self._finder = member.name
                    member.turn.speak()
                    for other in self._members:
                        if other is not member:
                            other.known.put(event.explanation.features)
                    self._refute()
            if event.point.bound is not None:
                member.bound = event.point.bound
                if not self._refute():
                    self._raise(member)

    def _raise(self, member: _Member) -> None:
        before = self._progress.best_bound
        if member.bound is not None:
            self._progress.bound(member.bound)
        if self._progress.best_bound != before:
            self._prover = member.name
            member.turn.speak()

    def _refute(self) -> bool:
        """Dismiss engines whose bounds are beyond a known value; return whether there is one."""
        value = self._progress.objective
        if value is None:
            return False
        better = self._progress.is_better
        wrong = [
            member
            for member in self._members
            if not member.left and member.bound is not None and better(value, member.bound)
        ]
        for member in wrong:
            told = f"its bound {member.bound} is beyond the value {value} of a known solution"
            self._dismiss(member, told)
        return bool(wrong)

    def _dismiss(self, member: _Member, why: str) -> None:
        """Let an engine leave, and forget what it has claimed."""
        member.left = why
        member.kill.set()
        member.bound, self._prover = None, ""
        self._progress.take_back(None)
        for other in self._members:
            if not other.left:
                self._raise(other)

    def _conclude(self, member: _Member) -> None:
        """Take what an engine that has ended says in the end."""
        with self._lock:
            result = member.result
            if result is None or member.left:
                return
            if result.status is Status.ERROR:
                self._dismiss(member, result.error or result.raw_status)
            elif result.status is Status.INFEASIBLE:
                if self._progress.objective is None:
                    self._infeasible = member.name
                else:
                    self._dismiss(member, "it claims infeasibility, and a solution is known")

    def _outcome(self) -> Outcome:
        progress, members = self._progress, self._members
        results = [member.result for member in members if member.result is not None]
        outcome = Outcome(
            False,
            progress.why_stopped(),
            sizes={"engines": len(members)},
            warnings=self._warnings(),
            versions={name: number for r in results for name, number in r.versions.items()},
            cpu=sum(result.times.cpu for result in results),
        )
        if self._infeasible and progress.objective is None:
            outcome.proved, outcome.raw_status = True, f"infeasible: {self._infeasible}"
            return outcome
        told = [f"value by {self._finder or 'the hint'}"] * (progress.objective is not None)
        told += [f"bound by {self._prover}"] * bool(self._prover)
        outcome.raw_status = ", ".join(told) or "nothing found"
        if progress.objective is not None and progress.objective == progress.best_bound:
            outcome.proved, outcome.claimed = True, progress.objective
            outcome.termination = Termination.COMPLETED
            outcome.best_of_ties = self._broke_ties()
        elif outcome.termination is Termination.COMPLETED and not progress.gap_reached:
            self._explain_the_end(outcome, results)
        return outcome

    def _broke_ties(self) -> bool:
        own = self._progress.explanation
        for member in self._members:
            found = member.result and member.result.explanation
            if not member.left and found and found.claim and found.claim.best_of_ties:
                return own is not None and found.features == own.features
        return False

    def _explain_the_end(self, outcome: Outcome, results: Sequence[Result]) -> None:
        """Say why all engines ended before the limit and without a proof."""
        ends = {result.termination for result in results if result.status is not Status.ERROR}
        order = (Termination.TIME_LIMIT, Termination.MEMORY_LIMIT, Termination.COMPLETED)
        outcome.termination = next((why for why in order if why in ends), Termination.SOLVER_ERROR)
        if outcome.termination is Termination.SOLVER_ERROR:
            outcome.raw_status = "; ".join(f"{m.name}: {m.left}" for m in self._members)

    def _warnings(self) -> list[str]:
        """Say who left, and what the engines say that the answer is from, not of the problem."""
        told, known = [], set(self._progress.problem._notes())
        for member in self._members:
            if member.left:
                told.append(f"{member.name} left the portfolio: {member.left}")
            elif member.result is not None and member.name in (self._finder, self._prover):
                own = (text for text in member.result.warnings if text not in known)
                told += [f"{member.name}: {text}" for text in own]
        return told
