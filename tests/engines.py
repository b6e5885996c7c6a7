"""The engines under test, by the names a user gives."""

from __future__ import annotations

from cpx.backends import backend_class, names

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
