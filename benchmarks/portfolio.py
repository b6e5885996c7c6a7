"""A portfolio on the cores that there are, beside each of its engines on a core of its own.

Twenty instances of the library, those of ``engine_encodings``, and some that are larger.
``CPX_SECONDS`` is the limit of each solve, 10 by default. The machine must be idle.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction

from benchmarks.engine_encodings import INSTANCES
from benchmarks.tables import show
from cpx import Result, library, solve
from cpx.modelling.base import Problem

SECONDS = float(os.environ.get("CPX_SECONDS", "10"))
ENGINES = ("cpsat", "maxsat", "milp")
LARGER = (
    ("perceptron", 1000, 60, 5),
    ("planted", 1000, 60, 6),
    ("needle", 1000, 80, 5),
    ("parity", 1000, 60, 5),
    ("rules", 2000, 200, 3),
    ("forest", 1000, 60, 5),
)
MARGIN = 0.05
"""Share of the limit by which a portfolio may be later than the best engine alone."""


def main() -> None:
    """Print one row an instance, as it is solved."""
    head = ["instance", "best alone", "portfolio", "later", "value", "best value", "bound", "best"]
    title = f"portfolio:{','.join(ENGINES)}, {SECONDS:g} s, {os.cpu_count()} cores"
    show(title, head, _rows())
    print(
        "\nlater: seconds to the proof after those of the best engine alone, in % of the limit; "
        f"best value and bound: those of the best engine at {1 - MARGIN:.0%} of the limit"
    )


def _rows() -> Iterator[list[object]]:
    for family, m, d, k in (*INSTANCES, *LARGER):
        problem = library.make(family, m, d, k)
        alone = {name: _solved(problem, name) for name in ENGINES}
        together = _solved(problem, f"portfolio:{','.join(ENGINES)}")
        proofs = {name: one.times.total for name, one in alone.items() if one.proved}
        label = f"{family} m{m} d{d} k{k}"
        if proofs and together.proved:
            best = min(proofs, key=lambda name: proofs[name])
            seconds = together.times.total
            later = f"{(seconds - proofs[best]) / SECONDS:.1%}"
            row = [label, f"{best}, {proofs[best]:.2f} s", f"{seconds:.2f} s", later]
        else:
            row = [label, "no proof" if not proofs else f"proof by {'+'.join(proofs)}"]
            row += ["proof" if together.proved else "no proof", None]
        least = problem.sense == "min"
        values, bounds = zip(*(_known(one) for one in alone.values()), strict=True)
        row += [together.objective, _best(values, least), together.bound, _best(bounds, not least)]
        yield row


def _solved(problem: Problem, engine: str) -> Result:
    return solve(problem, engine, time_limit=SECONDS, isolate=True)


def _known(result: Result) -> tuple[Fraction | None, Fraction | None]:
    """Return the value and the bound that were known before the margin's time."""
    if result.times.total <= (1 - MARGIN) * SECONDS:
        return result.objective, result.bound
    points = [one for one in result.trace if one.seconds <= (1 - MARGIN) * SECONDS]
    values = [one.objective for one in points if one.objective is not None]
    bounds = [one.bound for one in points if one.bound is not None]
    return (values[-1] if values else None), (bounds[-1] if bounds else None)


def _best(values: tuple[Fraction | None, ...], least: bool) -> Fraction | None:
    known = [value for value in values if value is not None]
    return None if not known else min(known) if least else max(known)


if __name__ == "__main__":
    main()
