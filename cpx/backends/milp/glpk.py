"""GLPK under PuLP: the program ``glpsol``, with bounds read from its log while it runs.

``pulp.GLPK_CMD`` waits for the process, cannot end it, and calls optimal what was stopped at a
limit. Import this module lazily: it imports PuLP.

Sources: ``glpsol --help`` and ``glp_read_mip`` of the GLPK 5 reference manual.
"""

from __future__ import annotations

import math
import re
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pulp
from pulp import constants

from cpx.backends.milp.pulp_objective import as_minimisation, sign_of
from cpx.backends.milp.watch import Watch
from cpx.errors import printable
from cpx.processes.children import scratch
from cpx.processes.console import Console

_NUMBER = rb"(-?[0-9.]+(?:e[+-]?[0-9]+)?)"
# "+  1234: mip =   1.2e+02 >=   8.4e+01 ..." with 10 digits. And a branch that may be better than
# the best solution by no more than 1e-7 of its value is left out.
_LINE = re.compile(rb"^\+ *\d+: (?:mip =|>>>>>) .* [<>]= +" + _NUMBER + rb" ")
_TOLERANCE = 2e-7
# After these lines the solution file says nothing.
_INFEASIBLE = (
    b"PROBLEM HAS NO PRIMAL FEASIBLE SOLUTION",
    b"PROBLEM HAS NO INTEGER FEASIBLE SOLUTION",
)
_WITHIN_GAP = b"RELATIVE MIP GAP TOLERANCE REACHED"
_STATES = {"o": "INTEGER OPTIMAL", "f": "INTEGER NON-OPTIMAL", "n": "INTEGER EMPTY"}


class GlpkSolver(pulp.GLPK_CMD):
    """A PuLP solver: GLPK with a :class:`~cpx.backends.milp.watch.Watch`.

    watch: Told of bounds, and of the solution at the end; asked whether to stop.
    timeLimit: Seconds.
    gapRel: Relative gap at which to stop.
    log: Print the log of GLPK.
    warm_start, threads, random_seed, gapAbs: Not used: GLPK has nothing of the kind.
    """

    name = "cpx GLPK"

    def __init__(
        self,
        watch: Watch | None = None,
        timeLimit: float | None = None,
        gapRel: float = 0.0,
        log: bool = False,
        warm_start: bool = False,
        threads: int = 1,
        random_seed: int = 0,
        gapAbs: float = 0.0,
    ) -> None:
        super().__init__(path=shutil.which("glpsol"), msg=False, timeLimit=timeLimit)
        self.watch, self.log, self.gap = watch or Watch(), log, gapRel
        self.raw_status = ""

    def actualSolve(self, lp: Any) -> int:
        """Write the model, run GLPK, read back; called by ``LpProblem.solve``."""
        started = time.perf_counter()
        if self.path is None:
            raise pulp.PulpSolverError("cannot execute glpsol")
        self._sign, self._infeasible, self._within_gap = sign_of(lp), False, False
        with scratch("cpx-glpk-") as folder:
            # Renamed, in the order of the columns.
            columns, *_ = as_minimisation(lp).writeMPS(str(folder / "model.mps"), rename=True)
            command = [self.path, "--freemps", "model.mps", "-w", "solution.txt"]
            left = math.inf
            if self.timeLimit is not None:
                left = max(0.0, self.timeLimit - (time.perf_counter() - started))
                command += ["--tmlim", str(max(1, math.ceil(left)))]
            if self.gap:
                command += ["--mipgap", str(self.gap)]
            self._run(command, folder, left)
            codes = self._read_back(columns, folder / "solution.txt")
        lp.assignStatus(*codes)
        return codes[0]

    def _run(self, command: list[str], folder: Path, left: float) -> None:
        """Run GLPK until it ends or is ended, which leaves no solution."""
        # It counts whole seconds, and writes its solution after them.
        end = time.perf_counter() + left + 1.0
        with Console(command, folder) as console:
            while console.running():
                self._follow(console)
                if self.watch.should_stop() or time.perf_counter() > end:
                    console.kill()
            self._follow(console)
        self._ended = console.exit_status

    def _follow(self, console: Console) -> None:
        for line in console.lines():
            if self.log:
                print(printable(line.decode(errors="replace")), flush=True)
            self._infeasible = self._infeasible or line.startswith(_INFEASIBLE)
            self._within_gap = self._within_gap or line.startswith(_WITHIN_GAP)
            if found := _LINE.match(line):
                self._bound(float(found[1]))

    def _bound(self, value: float) -> None:
        self.watch.bound(self._sign * (value - abs(value) * _TOLERANCE))

    def _read_back(self, columns: list[Any], path: Path) -> tuple[int, int]:
        for i, column in enumerate(columns):
            column.index, column.varValue = i, None
        codes = constants.LpStatusNotSolved, constants.LpSolutionNoSolutionFound
        if not path.exists():
            self.raw_status = f"no solution file, exit status {self._ended}"
            if self._ended not in (0, -9) and not self.watch.should_stop():
                raise pulp.PulpSolverError(f"GLPK failed with exit status {self._ended}")
            return codes
        lines = [line.split() for line in path.read_text().splitlines()]
        if not lines or lines[-1] != ["e", "o", "f"]:
            self.raw_status = "ended while it wrote its solution"
            return codes
        state, value = next((line[4], line[5]) for line in lines if line[:2] == ["s", "mip"])
        self.raw_status = _STATES.get(state, "INTEGER UNDEFINED")
        if state == "n" or (state == "u" and self._infeasible):
            return constants.LpStatusInfeasible, constants.LpSolutionInfeasible
        if state in "of":
            for line in lines:
                if line[0] == "j":
                    columns[int(line[1]) - 1].varValue = float(line[2])
            self.watch.solution(np.array([c.varValue for c in columns], dtype=np.float64))
            done = state == "o" or self._within_gap
            if state == "o":  # of a search that ended at the gap it is "f"
                self._bound(float(value))
            kind = constants.LpSolutionOptimal if done else constants.LpSolutionIntegerFeasible
            codes = constants.LpStatusOptimal, kind
        return codes
