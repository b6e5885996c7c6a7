"""CBC under PuLP, with bounds read from its log while it runs, and a stop.

``pulp.COIN_CMD`` waits for the process and cannot end it. Import this module lazily: it
imports PuLP.

Sources: ``pulp/apis/coin_api.py`` (PuLP 3.3); the messages of CBC 2.10 in
``CbcMessage.cpp`` (Cbc0010I, Cbc0011I, Cbc0012I and the like).
"""

from __future__ import annotations

import math
import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pulp
from pulp import constants
from pulp.apis import coin_api

from cpx.backends.milp.pulp_objective import as_minimisation, sign_of
from cpx.backends.milp.watch import Watch
from cpx.errors import printable
from cpx.options import EngineOption
from cpx.processes.children import scratch
from cpx.processes.console import Console

_COUNT = EngineOption(int, least=0)
_NODES = ("hybrid", "fewest", "depth", "upfewest", "downfewest", "updepth", "downdepth")
OPTIONS = {
    "cutsOnOff": EngineOption(str, choices=("off", "on", "root", "ifmove", "forceOn")),
    "heuristicsOnOff": EngineOption(str, choices=("off", "on")),
    "maxNodes": _COUNT,
    "strongBranching": _COUNT,
    "nodeStrategy": EngineOption(str, choices=_NODES),
    "presolve": EngineOption(str, choices=("on", "off", "more")),
}
"""Options of CBC that change how it searches."""

# What CBC gets to write its solution after it was asked to stop: it looks at its clock, and for
# the signal, between two steps of its search only. With a time limit both come before its end,
# at which it is killed: so long before, at most, and for a small limit such a share of it.
_GRACE_SECONDS = 3.0
_CLOCK_BEFORE, _SIGNAL_BEFORE = (2.0, 0.15), (0.5, 0.1)
_NUMBER = rb"(-?[0-9.]+(?:e[+-]?[0-9]+)?)"
# Lines with a bound, and how far the printed number may be above the real one: relative,
# for numbers of 6 and 8 digits, and absolute, for 3 decimals. Only lines of the main
# search: its heuristics solve smaller problems, which have bounds of their own.
_BOUNDS = [
    (re.compile(rb"^Continuous objective value is " + _NUMBER), 5e-6, 0.0),
    (re.compile(rb"^Cbc00(?:10|05)I .*best possible " + _NUMBER), 5e-8, 0.0),
    (re.compile(rb"^Lower bound: +" + _NUMBER), 0.0, 5e-4),
]
# The best solution in a line with a bound. CBC looks for better ones only: its bound may be
# beyond it, and is none of what is within the absolute gap.
_KNOWN = re.compile(_NUMBER + rb" best solution|best objective " + _NUMBER)
# What the search ended with. The solution that is written is that of a last linear programme,
# which large coefficients can spoil: its value is no bound.
_BEST = re.compile(rb"Search completed - best objective " + _NUMBER)
# After this line CBC 2.10.3 without preprocessing crashes where it should write the answer.
_INFEASIBLE = b"Problem is infeasible - tightenPrimalBounds"
# Of the whole run: CBC prints them at its end, also when it was stopped.
_COUNTS = {
    "nodes": re.compile(rb"^Enumerated nodes: +(\d+)"),
    "lp_iterations": re.compile(rb"^Total iterations: +(\d+)"),
}
_HUGE = 1e40  # CBC writes 1e50 where it has no bound


def cbc_path() -> str | None:
    """Return the path of CBC: the one bundled with PuLP, or else the one installed."""
    bundled: str = pulp.COIN_CMD.executableExtension(coin_api.pulp_cbc_path)
    if os.path.isfile(bundled) and os.access(bundled, os.X_OK):
        return os.path.normpath(bundled)
    return shutil.which("cbc")


def _before(left: float, margin: tuple[float, float]) -> float:
    """Return the seconds after which CBC is to stop, of those that are left."""
    most, share = margin
    return left - min(most, share * left)


class CbcSolver(pulp.COIN_CMD):
    """A PuLP solver: CBC with a :class:`~cpx.backends.milp.watch.Watch`.

    watch: Told of bounds, and of the solution once CBC has written it at its end; asked whether to
        stop.
    warm_start: Start from the values (``varValue``) that the variables have; 0 where none.
    random_seed: Seed of CBC and of its linear solver; 0 and None leave them theirs, which are
        fixed.
    settings: Options of CBC by their own names, see :data:`OPTIONS`.
    log: Print the log of CBC.
    **options: What ``pulp.COIN_CMD`` takes: ``timeLimit``, ``threads``, ``gapRel``, ``gapAbs``.
        The relative gap is that to the value.
    raw_status: First line of CBC's solution file.
    dual_bound: Its bound after the run, in the sense and with the constant of the problem.
    statistics: Nodes and iterations of the run.
    stopped: Whether it was asked to end, some time before its limit at the latest.

    CBC runs without its integer preprocessing: with it, the CBC 2.10.3 that PuLP bundles
    calls solutions optimal that are not (on a model of 22 columns 5276, where 5204 is
    possible; compare issues 283 and 449 of coin-or/Cbc).

    CBC prints values with 8 digits: those of larger variables are not exact.
    """

    name = "cpx CBC"

    def __init__(
        self,
        watch: Watch | None = None,
        warm_start: bool = False,
        random_seed: int | None = None,
        settings: Mapping[str, Any] | None = None,
        log: bool = False,
        **options: Any,
    ) -> None:
        # CBC divides the gap by the greater of value and bound, PuLP's users and cpx by the value.
        if gap := options.get("gapRel"):
            options["gapRel"] = gap / (1 + gap)
        # Told of one thread, CBC starts a second one, and now and then misses its signal: it then
        # waits for 10 seconds. Untold, it has one and waits for nobody.
        if options.get("threads") == 1:
            del options["threads"]
        commands = ["integerTolerance 1e-9", "preprocess off"]
        if random_seed:  # by 0 CBC understands the time of day
            commands += [f"randomSeed {random_seed}", f"randomCbcSeed {random_seed}"]
        commands += [f"{name} {value}" for name, value in (settings or {}).items()]
        super().__init__(
            path=cbc_path(), msg=False, warmStart=warm_start, options=commands, **options
        )
        self.watch, self.log = watch or Watch(), log
        self.raw_status = ""
        self.dual_bound: float | None = None
        self.statistics: dict[str, int] = {}
        self._sign = 1.0
        self.stopped = self._infeasible = False
        self._best = math.inf

    def solve_CBC(self, lp: Any, use_mps: bool = True) -> int:
        """Write the model, run CBC, read back; called by ``LpProblem.solve``."""
        started = time.perf_counter()
        if not self.available():
            raise pulp.PulpSolverError(f"cannot execute CBC: {self.path}")
        self.raw_status, self.dual_bound, self.statistics = "", None, {}
        self.stopped = self._infeasible = False
        self._best = math.inf
        self._sign = sign_of(lp)
        with scratch("cpx-cbc-") as folder:
            work = as_minimisation(lp)
            columns, names, row_names, _ = work.writeMPS(str(folder / "model.mps"), rename=True)
            command = [str(self.path), "model.mps"]
            if self.optionsDict.get("warmStart"):
                self.writesol(str(folder / "start.mst"), work, columns, names, row_names)
                command += ["-mips", "start.mst"]
            left = None
            if self.timeLimit is not None:
                left = max(0.05, self.timeLimit - (time.perf_counter() - started))
                command += ["-sec", f"{_before(left, _CLOCK_BEFORE):.3f}"]
            for option in self.options + self.getOptions():
                command += f"-{option}".split()
            command += ["-solve", "-solution", "solution.txt"]
            exit_status = self._run(command, folder, left)
            status, sol_status = self._read_back(
                lp, folder / "solution.txt", columns, names, exit_status
            )
        lp.assignStatus(status, sol_status)
        return status

    def _run(self, command: list[str], folder: Path, left: float | None) -> int:
        """Run CBC until it ends or is ended; return its exit status."""
        limit = ask_at = math.inf
        if left is not None:
            now = time.perf_counter()
            limit, ask_at = now + left, now + _before(left, _SIGNAL_BEFORE)
        kill_at = limit
        with Console(command, folder) as console:
            while console.running():
                self._follow(console.lines())
                now = time.perf_counter()
                if not self.stopped and (now > ask_at or self.watch.should_stop()):
                    self.stopped = True
                    kill_at = min(now + _GRACE_SECONDS, limit)
                    # CBC writes its best solution and ends.
                    console.interrupt()
                if now > kill_at:
                    console.kill()
            self._follow(console.lines())
        # Ctrl-C at a terminal reaches CBC before it reaches us.
        self.stopped = self.stopped or self.watch.should_stop()
        return console.exit_status or 0

    def _follow(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            if self.log:
                print(printable(line.decode(errors="replace")), flush=True)
            self._infeasible = self._infeasible or line.startswith(_INFEASIBLE)
            for name, count in _COUNTS.items():
                if counted := count.search(line):
                    self.statistics[name] = int(counted[1])
            if best := _BEST.search(line):
                value = float(best[1])
                self._best = value - abs(value) * 5e-15
            for pattern, relative, absolute in _BOUNDS:
                found = pattern.search(line)
                if found:
                    value = float(found[1])
                    if known := _KNOWN.search(line):
                        value = min(value, float(known[1] or known[2]) - self._slack())
                    self._report_bound(value - abs(value) * relative - absolute)

    def _report_bound(self, bound: float) -> None:
        if abs(bound) < _HUGE and (
            self.dual_bound is None or bound > self._sign * self.dual_bound
        ):
            self.dual_bound = self._sign * bound
            self.watch.bound(self.dual_bound)

    def _read_back(
        self, lp: Any, path: Path, columns: list[Any], names: dict[str, str], exit_status: int
    ) -> tuple[int, int]:
        """Give the columns their values; return PuLP's two status codes."""
        for i, column in enumerate(columns):
            column.index, column.varValue = i, None
        codes = constants.LpStatusNotSolved, constants.LpSolutionNoSolutionFound
        if exit_status != 0 and self._infeasible and not self.stopped:
            self.raw_status = _INFEASIBLE.decode()
            return constants.LpStatusInfeasible, constants.LpSolutionInfeasible
        if exit_status != 0 or not path.exists():
            self.raw_status = "killed" if self.stopped else f"exit status {exit_status}"
            if not self.stopped:
                raise pulp.PulpSolverError(f"CBC failed with exit status {exit_status}")
            return codes
        with open(path) as file:
            self.raw_status = file.readline().strip()
        word = self.raw_status.partition(" ")[0]
        # "Stopped on time (no integer solution - continuous used)" is no solution.
        found = word in ("Optimal", "Stopped") and "no integer" not in self.raw_status
        if word in ("Infeasible", "Integer") and not self.stopped:
            codes = constants.LpStatusInfeasible, constants.LpSolutionInfeasible
        elif found:
            _, values, *_ = self.readsol_MPS(str(path), lp, columns, names, {})
            for column in columns:
                column.varValue = values[column.name]
            done = word == "Optimal" and not self.stopped
            kind = constants.LpSolutionOptimal if done else constants.LpSolutionIntegerFeasible
            codes = constants.LpStatusOptimal, kind
            self.watch.solution(np.array([column.varValue for column in columns]))
            if done and "within gap" not in self.raw_status:
                value = min(self._best, self._sign * lp.objective.value())
                self._report_bound(value - self._slack())
        return codes

    def _slack(self) -> float:
        """How far below CBC's optimum there may be a solution it did not look for."""
        return float(self.optionsDict.get("gapAbs", 0.0))
