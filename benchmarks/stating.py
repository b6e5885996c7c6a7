"""What stating and compiling takes, measured, and the prediction fitted to it.

Each measurement is a forked process: processor seconds, and what its peak of memory rises by. The
coefficients of cpx.models.monomial.encodings.costs are fitted to the first shapes, by least
squares of relative errors, and held against the others. CPX_STATING_STORE names a file of JSON
lines of finished measurements; a second start makes what is missing.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import show
from cpx import KMonomial, Samples
from cpx.models.monomial.encodings.costs import COEFFICIENTS, Fitted, work
from cpx.processes.allowance import allowing

Shape = tuple[int, int, int, str]
FITTED: tuple[Shape, ...] = (
    *((100, 39, 5, "planted"), (400, 24, 4, "perceptron"), (1000, 60, 5, "planted")),
    *((1000, 120, 5, "perceptron"), (1000, 180, 3, "planted"), (3000, 90, 5, "perceptron")),
    *((10_000, 40, 5, "dense"), (2000, 500, 5, "perceptron"), (30_000, 90, 5, "planted")),
)
CHECKED: tuple[Shape, ...] = (
    *((800, 100, 4, "perceptron"), (500, 300, 6, "dense"), (1000, 180, 5, "perceptron")),
    *((10_000, 90, 5, "perceptron"), (300, 84, 6, "perceptron"), (1500, 350, 5, "dense")),
    *((20_000, 60, 3, "perceptron"), (100_000, 90, 5, "planted")),
)
ENCODINGS = ("clausal", "channelling", "reified", "sizes", "pairs", "triples", "branches")
SECONDS, OPTIONAL = 12, 1.0
LEAST = 0.02, 5.0
"""Seconds and megabytes below which nobody cares: errors are of the larger of the two."""
_SLOW = ("channelling", "reified", "sizes", "pairs", "branches")


def problem(m: int, d: int, k: int, kind: str) -> KMonomial:
    """Draw samples of a planted rule with noise, or of a random linear function."""
    rng = np.random.default_rng(0)
    agreement = rng.random((m, d)) < (0.75 if kind == "dense" else 0.5)
    if kind == "perceptron":
        score = agreement @ rng.normal(size=d)
        return KMonomial(Samples(agreement, score > np.quantile(score, 0.7)), k=k)
    return KMonomial(Samples(agreement, agreement[:, :4].all(axis=1) ^ (rng.random(m) < 0.3)), k=k)


def _compilers() -> dict[str, Callable[[Any], Any]]:
    import cpx.backends.maxsat.chain
    import cpx.backends.maxsat.linear
    import cpx.backends.normal_forms  # noqa: F401
    from cpx.backends.cpsat.compile import compile_cp_model
    from cpx.backends.maxsat.wcnf import compile_statement
    from cpx.backends.milp.pulp_solver import CPM_pulp

    return {
        "cp-sat": compile_cp_model,
        "wcnf": compile_statement,
        "lp": lambda statement: CPM_pulp(statement.model, subsolver="highs"),
    }


def _measured(asked: KMonomial, encoding: str, compiler: Callable[[Any], Any]) -> Any:
    """Return seconds of stating and compiling, and megabytes after each; None beyond a limit."""
    here, there = os.pipe()
    if not (child := os.fork()):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        before = _peak()
        with allowing(OPTIONAL):
            times = [time.process_time()]
            statement = asked.model(encoding)
            times.append(time.process_time())
            stated = _peak()
            _ = compiler(statement)
            times.append(time.process_time())
        found = [times[1] - times[0], times[2] - times[1], stated - before, _peak() - before]
        os.write(there, json.dumps(found).encode())
        os._exit(0)
    os.close(there)
    told = os.read(here, 1000)
    os.close(here)
    os.waitpid(child, 0)
    return json.loads(told) if told else None


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _cells(shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield what is measured of a shape: not what takes minutes, and nobody chooses."""
    m, d, *_ = shape
    for encoding in ENCODINGS:
        for form in ("cp-sat", "wcnf", "lp"):
            many = m * d > 120_000 or (form == "wcnf" and m * d > 60_000)
            choosable = encoding in {
                "cp-sat": ("sizes",),
                "lp": ("sizes", "pairs", "branches"),
            }.get(form, ())
            if encoding not in _SLOW or choosable or not many:
                yield encoding, form


def _all(store: str | None) -> dict[tuple[Any, ...], Any]:
    found: dict[tuple[Any, ...], Any] = {}
    if store is not None and Path(store).exists():
        for line in Path(store).read_text("utf-8").splitlines():
            *key, value = json.loads(line)
            found[tuple(key)] = value
    compilers = _compilers()
    for compiler in compilers.values():  # once, for what is imported on the way
        compiler(problem(60, 10, 5, "planted").model("triples"))
    for shape in (*FITTED, *CHECKED):
        asked = problem(*shape)
        asked.form()
        for encoding, form in _cells(shape):
            key = (*shape, encoding, form)
            if key in found:
                continue
            found[key] = _measured(asked, encoding, compilers[form])
            if store is not None:
                with open(store, "a", encoding="utf-8") as file:
                    file.write(json.dumps([*key, found[key]]) + "\n")
            print(*key, found[key], file=sys.stderr, flush=True)
    return found


def _points(found: dict[tuple[Any, ...], Any], shapes: tuple[Shape, ...], form: str) -> list[Any]:
    """Return encoding, work, and seconds and megabytes that a phase added."""
    points = []
    for shape in shapes:
        asked = problem(*shape).form()
        for encoding in ENCODINGS:
            some = [v for key, v in found.items() if v and key[:5] == (*shape, encoding)]
            if form:
                some = [found.get((*shape, encoding, form))]
                some = [v for v in some if v]
            if not some:
                continue
            with allowing(OPTIONAL):
                done = work(encoding, asked)
            if form:
                measured = some[0][1], some[0][3] - some[0][2]
            else:
                measured = tuple(statistics.median(v[at] for v in some) for at in (0, 2))
            points.append((encoding, done, measured))
    return points


def fitted(points: list[Any], at: int, compiled: str) -> Fitted:
    """Fit seconds (``at`` 0) or megabytes (1): the logarithms, none of the numbers negative."""
    from scipy.optimize import least_squares

    table = np.array([[1.0, *(1e-6 * units for units in done)] for _, done, _ in points])
    if compiled:  # what features exclude is counted by then
        table[:, 5] = 0
    if compiled != "wcnf":
        table[:, 6] = 0
    sides = np.array([max(measured[at], LEAST[at] / 4) for *_, measured in points])
    scale = np.where(table.max(axis=0) > 0, table.max(axis=0), 1.0)

    def errors(logs: np.ndarray) -> np.ndarray:
        return np.log((table / scale) @ np.exp(logs)) - np.log(sides)

    starts = (np.full(table.shape[1], level) for level in (-6.0, -3.0, 0.0))
    found = min(
        (least_squares(errors, start, bounds=(-14, 6), loss="soft_l1") for start in starts),
        key=lambda solved: float(solved.cost),
    )
    units = np.where(table.any(axis=0), np.exp(found.x) / scale, 0.0)
    return Fitted(*(float(f"{value:.2g}") for value in units))


def main() -> None:
    """Measure, fit, and print the coefficients and a table of errors."""
    found = _all(os.environ.get("CPX_STATING_STORE"))
    rows = []
    for form in ("", "cp-sat", "wcnf", "lp"):
        points = _points(found, FITTED, form)
        new = tuple(fitted(points, at, form) for at in range(2))
        print(f'    "{form}": (\n' + "".join(f"        {one},\n" for one in new) + "    ),")
    for encoding in ENCODINGS:
        for form in ("cp-sat", "wcnf", "lp"):
            errors: dict[tuple[bool, int], list[float]] = {}
            for shape in (*FITTED, *CHECKED):
                value = found.get((*shape, encoding, form))
                if not value:
                    continue
                with allowing(OPTIONAL):
                    done = work(encoding, problem(*shape).form())
                for at, real in enumerate((value[0] + value[1], value[3])):
                    told = sum(COEFFICIENTS[one][at].of(done) for one in ("", form))
                    ratio = max(told, LEAST[at]) / max(real, LEAST[at])
                    errors.setdefault((shape in FITTED, at), []).append(abs(math.log(ratio)))
            rows.append(
                [
                    *(encoding, form),
                    *(
                        f"{math.exp(statistics.median(some)):.2f}, {math.exp(max(some)):.1f}"
                        if (some := errors.get((known, at)))
                        else "-"
                        for at in range(2)
                        for known in (True, False)
                    ),
                ]
            )
    show(
        "Factor between predicted and measured: median, greatest",
        ["encoding", "compiled to", "s, fitted", "s, others", "MB, fitted", "MB, others"],
        rows,
    )


if __name__ == "__main__":
    main()
