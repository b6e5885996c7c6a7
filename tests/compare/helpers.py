from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cpx.answers.result import Result, Status, Termination, Times, TracePoint
from cpx.compare import Run
from cpx.data import Samples
from cpx.models import KMonomial


def tiny(name: str = "tiny", k: int = 1) -> KMonomial:
    """Optimum 1 for k = 1."""
    agreement = np.array([[1, 1], [1, 0], [0, 1], [1, 1]], dtype=bool)
    return KMonomial(Samples(agreement, np.array([True, True, False, False])), k=k, name=name)


def result(status: str, objective: int | None, bound: int | None, **more: Any) -> Result:
    seconds = more.pop("seconds", 1.0)
    base = Result(
        Status(status),
        Termination.COMPLETED if status in ("OPTIMAL", "INFEASIBLE") else Termination.TIME_LIMIT,
        objective=objective,
        bound=bound,
        trace=(TracePoint(seconds / 2, objective, bound),),
        times=Times(total=seconds),
        backend="cpsat",
        encoding="clausal",
        options={"time_limit": 10.0, "threads": 1, "seed": 0, "gap": None},
        verified=status != "ERROR",
    )
    return replace(base, **more)


def run(status: str, objective: int | None, bound: int | None, **more: Any) -> Run:
    sense = more.pop("sense", "min")
    name = more.pop("name", "tiny")
    return Run(
        name, "f" * 64, "k-monomial, k = 1", sense, result(status, objective, bound, **more)
    )


def marked(mark: str, *, workers: bool = False) -> list[int]:
    """Return the others that live with ``NAME=value`` around them: all, or workers of ours."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
            dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            continue
        ours = mark.encode() in environment and (not workers or b"CPX_FOLDER=" in environment)
        if ours and not dead and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def stopped(pids: Iterable[int]) -> list[int]:
    """Return those of the processes that a signal has stopped."""
    found = []
    for pid in pids:
        with suppress(OSError):  # it has ended
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            found += [pid] * (state == "T")
    return found
