"""How far each solver of CPMpy is on which problem and encoding: value, bound and time."""

from __future__ import annotations

from benchmarks.instances import central
from benchmarks.tables import show
from cpx import library, solve
from cpx.backends import backend_class

LIMIT = 20.0
ENCODINGS = ("clausal", "pairs", "reified")
FAMILIES = ("planted", "parity", "perceptron", "needle", "rules", "reason")
OURS = ("cpsat", "maxsat:rc2", "milp:highs")


def main() -> None:
    """Print the table of encodings, then that of instances in their default encoding."""
    engines = [*OURS, *backend_class("cpmpy").installed()]
    rows = []
    for engine in engines:
        cells = [_cell(central(d=60), engine, encoding) for encoding in ENCODINGS]
        rows.append([engine, *cells])
        print(rows[-1], flush=True)
    title = f"1000 samples, 60 features, k = 5, {LIMIT:g} s: value / bound, or s of a proof"
    show(title, ["engine", *ENCODINGS], rows)
    rows = []
    for engine in engines:
        cells = [_cell(library.make(family), engine, None) for family in FAMILIES]
        rows.append([engine, *cells])
        print(rows[-1], flush=True)
    show(f"Instances of the library, {LIMIT:g} s", ["engine", *FAMILIES], rows)


def _cell(problem: object, engine: str, encoding: str | None) -> str:
    result = solve(
        problem, engine, encoding=encoding, time_limit=LIMIT, isolate=True, warm_start=False
    )
    if result.proved:
        return f"{result.objective}: {result.times.total:.2g} s"
    if result.error:
        return result.error.split(":")[0][:30]
    none = "-"
    value = none if result.objective is None else result.objective
    return f"{value} / {none if result.bound is None else result.bound}"


if __name__ == "__main__":
    main()
