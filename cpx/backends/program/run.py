"""One run of a program: start it, read what it prints, stop it, judge what it claims."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.backends.program.answers import Answer, answer_reader
from cpx.backends.program.configuration import Definition
from cpx.errors import EngineError, printable, shortened
from cpx.processes.children import is_child
from cpx.processes.console import Console

if TYPE_CHECKING:
    from cpx.backends.program.forms import Form
    from cpx.options import SolveOptions

# After an interrupt a program may print its best solution: so long, or less at the limit.
_GRACE_SECONDS, _GRACE_AT_LIMIT = 3.0, 0.5
_MOST_PRINTED = 2**28
# How far from its value, in parts of the sum of weights, an optimum in floats is a bound.
_TOLERANCE = 1e-6


class Run:
    """A run of a program on a form of a statement."""

    def __init__(
        self,
        definition: Definition,
        path: str,
        form: Form,
        options: SolveOptions,
        progress: Progress,
        in_floats: bool,
    ) -> None:
        self._definition, self._path, self._form = definition, path, form
        self._options, self._progress, self._in_floats = options, progress, in_floats
        self._last = ""
        self._broken = 0

    def outcome(self, folder: Path) -> Outcome:
        """Run it in a folder that has the file; return what it proved."""
        answer = answer_reader(self._definition.answer, self._found)
        stopped, status = False, None
        try:
            stopped, status = self._follow(answer, folder)
            answer.end(folder / "solution.txt")
        except EngineError as error:
            return self._failed(f"it printed {error}")
        except OSError as error:
            return self._failed(f"it cannot be started: {error.strerror}")
        if status == "too much":
            return self._failed(f"it printed more than {_MOST_PRINTED} bytes")
        if not answer.word and not answer.solutions and not stopped:
            told = f"it ended with status {status} and without an answer"
            return self._failed(f"{told}: {shortened(self._last)}" if self._last else told)
        return self._judged(answer, stopped)

    def _follow(self, answer: Answer, folder: Path) -> tuple[bool, object]:
        """Run it to its end, or stop it; return whether it was stopped, and its status."""
        progress = self._progress
        left = math.inf if progress.remaining is None else progress.remaining
        command = self._definition.words(
            file=folder / f"problem{self._form.suffix}",
            solution=folder / "solution.txt",
            seconds=max(1, math.ceil(left)) if left < math.inf else 10**7,
            threads=self._options.threads,
            seed=self._options.seed,
        )
        command[0] = self._path
        kill_at, stopped = math.inf, False
        # In a worker, what it has started ends with the worker's group; else it has its own.
        alone = not is_child()
        with Console(command, folder, alone=alone, most=_MOST_PRINTED) as console:
            while console.running():
                self._read(answer, console)
                now = time.perf_counter()
                if not stopped and progress.should_stop:
                    stopped = True
                    kill_at = now + (_GRACE_AT_LIMIT if progress.expired else _GRACE_SECONDS)
                    console.interrupt()
                if now > kill_at:
                    console.kill()
            self._read(answer, console)
        if console.printed_too_much:
            return stopped, "too much"
        # Ctrl-C at a terminal reaches a program of our group before it reaches us.
        return stopped or progress.should_stop, console.exit_status

    def _read(self, answer: Answer, console: Console) -> None:
        for line in console.lines():
            text = line.decode("utf-8", "replace").strip()
            if self._options.log:
                print(printable(text), flush=True)
            self._last = text or self._last
            answer.line(text)

    def _found(self, assignment: Mapping[str, Fraction]) -> None:
        if self._progress.incumbent(self._form.values(assignment)) is None:
            self._broken += 1

    def _judged(self, answer: Answer, stopped: bool) -> Outcome:
        progress, form = self._progress, self._form
        warnings = []
        if self._broken:
            warnings.append(f"{self._broken} of its solutions break a constraint of the problem")
        claimed = None
        if answer.value is not None and not answer.infeasible:
            claimed = form.sign * round(answer.value) + form.offset
        if not answer.finished:
            # A value without a solution is nothing to hold it to: it was stopped before.
            claimed = claimed if answer.solutions else None
            told = answer.word or "stopped"
            why = progress.why_stopped() if stopped else self._ended_early()
            return Outcome(False, why, told, claimed, form.sizes, warnings)
        if answer.infeasible:
            wrong = "it claims infeasibility after a solution" if answer.solutions else ""
            return Outcome(
                True, Termination.COMPLETED, answer.word, None, form.sizes, warnings, wrong
            )
        proved, wrong = True, ""
        if not answer.solutions:
            wrong = "it claims an optimum and printed no solution"
        elif self._broken == answer.solutions:
            wrong = "it claims an optimum for a solution that breaks a constraint"
        if self._in_floats and not wrong and claimed is not None:
            outwards = form.sign * _TOLERANCE * max(1, form.largest)
            progress.bound(float(claimed) - outwards)
            proved = progress.objective == progress.best_bound
        return Outcome(
            proved, Termination.COMPLETED, answer.word, claimed, form.sizes, warnings, wrong
        )

    def _ended_early(self) -> Termination:
        """Why it ended by itself without a proof: at its own limit, which is ours, or at will."""
        limited = self._progress.remaining is not None and self._definition.takes("seconds")
        return Termination.TIME_LIMIT if limited else Termination.COMPLETED

    def _failed(self, told: str) -> Outcome:
        said = f"{self._definition.name}: {told}"
        return Outcome(False, Termination.SOLVER_ERROR, said, sizes=self._form.sizes)
