"""Engines that break every rule, as a package of others would bring them.

:func:`install` puts them on the path of this process and of its workers.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cpx.answers.result import Termination
from cpx.backends import Backend, Outcome, Progress

if TYPE_CHECKING:  # what each worker would load
    import pytest

MODES = (
    "quick", "slow", "aborts", "segfaults", "raises", "exits", "hangs", "bomb", "prints",
    "wrong-value", "wrong-bound", "infeasible", "tells",
)  # fmt: skip


OTHERS = ("bounds", "listens", "finds")
"""Of those that need others, and are in no list."""


class Hostile(Backend):
    """``hostile:MODE``; each first finds the empty rule."""

    name: ClassVar[str] = "hostile"
    solvers: ClassVar[tuple[str, ...]] = (*MODES, *OTHERS)
    requires: ClassVar[dict[str, str]] = {}
    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "hint"})
    needs_model: ClassVar[bool] = False

    @classmethod
    def installed(cls) -> list[str]:
        return [f"hostile:{mode}" for mode in MODES]

    def solve(self, problem: Any, options: Any, progress: Progress) -> Outcome:
        value = progress.found(problem.explanation([]))
        if self.solver == "slow":
            time.sleep(0.2)
        elif self.solver == "aborts":
            os.write(2, b"assertion failed: x > 0\n")
            os.abort()
        elif self.solver == "segfaults":
            ctypes.string_at(0)
        elif self.solver == "raises":
            raise RuntimeError("the engine is out of order")
        elif self.solver == "exits":
            os._exit(3)
        elif self.solver == "hangs":
            # In native code, which holds the interpreter's lock and answers no signal.
            libc = ctypes.PyDLL(None)
            while True:
                libc.sleep(1000)
        elif self.solver == "bomb":
            held = []
            while True:
                held.append(bytearray(2**26))
                held[-1][::4096] = b"x" * 2**14
        elif self.solver == "prints":
            os.write(1, bytes(range(256)) * 400)
            print('{"result": 1}', flush=True)
        elif self.solver == "tells":
            print("cores", sorted(os.sched_getaffinity(0)), flush=True)
        elif self.solver == "wrong-value":
            return Outcome(True, Termination.COMPLETED, "OPTIMAL", claimed=-1)
        elif self.solver == "wrong-bound":
            progress.bound(value + 5)
            return Outcome(False, Termination.COMPLETED, "FEASIBLE")
        elif self.solver == "bounds":
            progress.bound(value - 1)
            time.sleep(60)
        elif self.solver == "finds":
            time.sleep(0.3)
            progress.found(problem.explanation([0]))
            time.sleep(60)
        elif self.solver == "listens":
            # It finds nothing better itself, and bounds what it hears of.
            while progress.objective == value and not progress.should_stop:
                time.sleep(0.01)
            progress.bound(progress.objective)
            return Outcome(False, progress.why_stopped(), "heard")
        elif self.solver == "infeasible":
            return Outcome(True, Termination.COMPLETED, "INFEASIBLE")
        return Outcome(False, Termination.COMPLETED, "done", claimed=value)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the engine below for this process and its workers."""
    site = folder / "site"
    info = site / "hostile-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[cpx.backends]\nhostile = cpx_hostile:Hostile\n")
    (site / "cpx_hostile.py").write_text(Path(__file__).read_text(encoding="utf-8"))
    monkeypatch.syspath_prepend(str(site))
    import cpx.backends

    cpx.backends._entry_points.cache_clear()
    cpx.backends._loaded.cache_clear()
    monkeypatch.setattr(sys, "path", list(sys.path))


def uninstall() -> None:
    """Forget it again."""
    import cpx.backends
    from cpx.solving.servers import shutdown

    shutdown()
    cpx.backends._entry_points.cache_clear()
    cpx.backends._loaded.cache_clear()
