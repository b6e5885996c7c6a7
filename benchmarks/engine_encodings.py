"""How far each engine is in each encoding, on twenty instances of the library.

The limit is one of processor time, which a busy machine does not change. ``CPX_CELLS`` names a
file of JSON lines: finished runs are kept there, and a second start makes what is missing.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import solve_by_cpu
from benchmarks.tables import show
from cpx import library
from cpx.answers.values import Value
from cpx.backends import backend
from cpx.errors import CpxError

SECONDS = 20.0
PATIENCE = 15.0
FAMILIES = ("cpsat", "maxsat:rc2", "milp:highs")
OTHERS = ("search", "milp:cbc", "milp:scip", "exact")
OF_CPMPY = ("cpmpy:choco", "cpmpy:pumpkin", "cpmpy:z3")
ENCODINGS = ("clausal", "pairs", "reified")
SETS = ("signature", "channelling")
REASONS = ("order", "direct")
INSTANCES = (
    ("planted", 100, 24, 4),
    ("planted", 400, 24, 4),
    ("parity", 100, 12, 3),
    ("parity", 100, 24, 3),
    ("dnf", 100, 12, 3),
    ("dnf", 100, 24, 4),
    ("dnf", 400, 12, 4),
    ("perceptron", 100, 12, 3),
    ("perceptron", 100, 24, 4),
    ("perceptron", 400, 12, 4),
    ("forest", 100, 12, 3),
    ("forest", 100, 24, 4),
    ("needle", 100, 12, 3),
    ("needle", 100, 24, 4),
    ("precision", 100, 12, 3),
    ("precision", 100, 24, 3),
    ("rules", 400, 12, 3),
    ("rules", 400, 24, 3),
    ("reason", 15, 12, 1),
    ("reason", 25, 12, 1),
)


class Run(NamedTuple):
    """An engine in an encoding, its own choice for None, on one of the instances."""

    instance: int
    engine: str
    encoding: str | None


def main() -> None:
    """Print a table of all engines in the encodings that they prefer, then one of encodings."""
    engines = [name for name in (*FAMILIES, *OTHERS, *OF_CPMPY) if _is_there(name)]
    numbers = range(len(INSTANCES))
    chosen = [Run(x, engine, None) for x in numbers for engine in engines]
    by_encoding = (
        (ENCODINGS, [x for x in numbers if INSTANCES[x][0] not in ("rules", "reason")]),
        (SETS, [x for x in numbers if INSTANCES[x][0] == "rules"]),
        (REASONS, [x for x in numbers if INSTANCES[x][0] == "reason"]),
    )
    chosen += [
        Run(x, engine, name)
        for names, some in by_encoding
        for x in some
        for name in names
        for engine in FAMILIES
    ]
    cells = _kept()
    for run in chosen:
        if run not in cells:
            cells[run] = _cell(run)
            _keep(run, cells[run])
            print(*run, cells[run], flush=True)
    labels = [f"{family} m{m} d{d}" for family, m, d, _ in INSTANCES]
    for those in (engines[:6], engines[6:]):
        rows = [[labels[x], *(cells[Run(x, engine, None)] for engine in those)] for x in numbers]
        show(f"{SECONDS:g} s of processor time, value / bound", ["instance", *those], rows)
    for encodings, some in by_encoding:
        columns = [(engine, name) for engine in FAMILIES for name in encodings]
        rows = [[labels[x], *(cells[Run(x, *column)] for column in columns)] for x in some]
        show("the same by encoding", ["instance", *(" ".join(pair) for pair in columns)], rows)


def _is_there(name: str) -> bool:
    try:
        return backend(name).available()
    except CpxError:
        return False


def _cell(run: Run) -> str:
    """Solve; return value / bound, or the optimum and the seconds of its proof."""
    family, m, d, k = INSTANCES[run.instance]
    problem = library.make(family, m, d, k)
    if not backend(run.engine).accepts(problem):
        return ""
    timed = solve_by_cpu(problem, run.engine, SECONDS, run.encoding, PATIENCE, warm_start=False)
    result = timed.result
    if result.error and result.objective is None:
        return result.error.split(":")[0][:30]
    if result.proved:
        return f"{_text(result.objective)}: {timed.cpu:.2g} s"
    return f"{_text(result.objective)} / {_text(result.bound)}"


def _text(value: Value | None) -> str:
    if value is None:
        return "-"
    return str(value) if value.denominator < 1000 else f"{float(value):.3f}"


def _place() -> Path | None:
    place = os.environ.get("CPX_CELLS")
    return None if place is None else Path(place)


def _kept() -> dict[Run, str]:
    place = _place()
    if place is None or not place.exists():
        return {}
    lines = [json.loads(line) for line in place.read_text("utf-8").splitlines()]
    return {Run(*run): cell for run, cell in lines}


def _keep(run: Run, cell: str) -> None:
    place = _place()
    if place is not None:
        with place.open("a", encoding="utf-8") as file:
            file.write(json.dumps([run, cell]) + "\n")


if __name__ == "__main__":
    main()
