"""Conformance as a report: every check of an engine in a process with a deadline of its own.

An engine that ignores limits and stops is named, and not waited for. Beside the cases and the
behaviours of :mod:`cpx.testing.conformance` it checks what only a process of its own shows: that
nothing is printed on standard output, and no engine imported by the module of the backend.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module

from cpx.backends import backend as find_backend
from cpx.backends.base import require
from cpx.errors import CpxError, shortened
from cpx.processes.calls import Overdue, call
from cpx.solving import solve
from cpx.support import own_files
from cpx.testing import conformance
from cpx.testing.cases import cases, names

__all__ = ["Finding", "checks", "conform"]

# A case takes milliseconds; a behaviour solves a medium problem a few times.
_CASES_SECONDS, _BEHAVIOUR_SECONDS, _SECOND_A_CASE = 20.0, 60.0, 1.0
_LOADING_SECONDS = 40.0
# Packages that a backend may import at module level: those that cpx itself needs.
_ENGINES = ("ortools", "pysat", "pulp", "highspy", "cpmpy", "z3", "exact", "pychoco", "pyscipopt")


@dataclass(frozen=True)
class Finding:
    """What one check found.

    check: Its name.
    why: What is wrong.
    seconds: How long it took, the start of a process included.
    """

    check: str
    verdict: str
    why: str
    seconds: float


def checks(engine: str, kinds: Iterable[str] | None = None) -> list[str]:
    """Return the names of the checks of an engine.

    Raises UnknownName: For a set of cases that there is not.
    """
    chosen = list(names() if kinds is None else kinds)
    found = ["starts_alone", "prints_nothing"]
    found += [f"solves {kind}" for kind in chosen if conformance.cases_of(engine, kind)]
    if kinds is None:
        found += [behaviour.__name__ for behaviour in conformance.BEHAVIOURS]
    return found


def conform(
    engine: str,
    kinds: Iterable[str] | None = None,
    *,
    register: str | None = None,
    patience: float = 1.0,
) -> Iterator[Finding]:
    """Check an engine and yield what each check found, as it is known.

    engine: Its name.
    kinds: Sets of cases; default is all, and the rules of behaviour.
    register: ``module:Class`` of a backend that is not installed as an entry point.
    patience: Factor of all deadlines.
    """
    if register is not None:
        _register(register)
    require(find_backend(engine))
    for check in checks(engine, None if kinds is None else list(kinds)):
        start = time.perf_counter()
        deadline = patience * (_LOADING_SECONDS + _deadline(check))
        try:
            why = call(run_check, engine, check, register, seconds=deadline, quiet=True)
            verdict = "WRONG" if why else "ok"
        except Overdue:
            verdict, why = "OVERDUE", f"no answer within {deadline:.0f} s: it was killed"
        except Exception as error:
            verdict, why = "WRONG", f"{type(error).__name__}: {error}"
        yield Finding(check, verdict, why, time.perf_counter() - start)


def run_check(engine: str, check: str, register: str | None) -> str:
    """Do one check in this process; return what is wrong, or ``""``."""
    if check == "starts_alone":
        return _starts_alone(engine, register)
    if register is not None:
        _register(register)
    try:
        if check == "prints_nothing":
            return _prints_nothing(engine)
        if check.startswith("solves "):
            return _solves(engine, check.removeprefix("solves "))
        behaviours = {behaviour.__name__: behaviour for behaviour in conformance.BEHAVIOURS}
        behaviours[check](engine)
    except AssertionError as error:
        return shortened(str(error).split("\n")[0]) or "an assertion fails"
    except CpxError as error:
        return shortened(f"{type(error).__name__}: {error}")
    return ""


def _deadline(check: str) -> float:
    if check.startswith("solves "):
        found = cases(check.removeprefix("solves "))
        return _CASES_SECONDS + _SECOND_A_CASE * sum(max(1, len(case.encodings)) for case in found)
    return _BEHAVIOUR_SECONDS


def _solves(engine: str, kind: str) -> str:
    for case, encoding in conformance.cases_of(engine, kind):
        try:
            conformance.check_case(engine, case, encoding)
        except AssertionError as error:
            return shortened(f"{case.name}: {error}")
        except CpxError as error:
            return shortened(f"{case.name}: {type(error).__name__}: {error}")
    return ""


def _register(name: str) -> None:
    from cpx.backends import register

    module, _, attribute = name.partition(":")
    register(getattr(import_module(module), attribute))


def _starts_alone(engine: str, register: str | None) -> str:
    """Say which engines are loaded as soon as the backend's module is."""
    before = set(sys.modules) - own_files.loaded
    if register is not None:
        _register(register)
    require(find_backend(engine))
    wanted = {*_ENGINES, *find_backend(engine).requires} - {"numpy"}
    loaded = sorted(wanted & (set(sys.modules) - before))
    return f"its module imports {', '.join(loaded)} before it solves" if loaded else ""


def _prints_nothing(engine: str) -> str:
    """Say what is printed on standard output, by Python or by native code."""
    first, _ = conformance.cases_of(engine)[0]
    with tempfile.TemporaryFile() as file:
        kept = os.dup(1)
        sys.stdout.flush()
        os.dup2(file.fileno(), 1)
        try:
            with open(1, "w", closefd=False) as stream, redirect_stdout(stream):
                solve(first.problem, engine, isolate=False)
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        printed = file.read(200).decode(errors="replace").strip()
    return f"it prints on standard output: {printed!r}" if printed else ""
