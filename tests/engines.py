"""The engines under test, by the names a user gives."""

from __future__ import annotations

from cpx.backends import backend_class, names
from cpx.backends.base import Backend, Outcome, Progress
from cpx.modelling.base import Problem
from cpx.processes.overtime import OutOfTime

OURS = ("cpsat", "maxsat", "milp", "search")

ENGINES = [
    f"{name}:{solver}" if solver else name
    for name in names()
    if name in OURS
    for solver in backend_class(name).solvers[:3] or ("",)
    if name != "milp" or solver in ("highs", "cbc")
]

HEURISTICS = ("beam", "greedy")
"""Of rules."""

DELETERS = ("deletion", "best-of-orders:5")
"""Heuristics of smallest sets."""

OF_REASONS = ("hitting-sets", *DELETERS)
"""What answers sufficient reasons in the full sense."""


def solve_alone(engine: Backend, problem: Problem, progress: Progress) -> Outcome:
    """Let an engine solve with nothing around it but what ends stating when the time is over."""
    try:
        return engine.solve(problem, progress.options, progress)
    except OutOfTime:
        return Outcome(False, progress.why_stopped(), "stopped while the problem was stated")
