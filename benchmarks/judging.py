"""Validity and minimality of a reason, by the independent checker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cpx import SufficientReason, check
from cpx.check import UNDECIDED


def confirmed(problem: SufficientReason, features: tuple[int, ...]) -> bool | None:
    """Return what the checker says of a set by the definition of the problem."""
    claim = {
        "status": "FEASIBLE",
        "objective": len(features),
        "bound": None,
        "gap": None,
        "trace": [],
        "explanation": problem.explanation(features).to_dict(),
    }
    said = check.violations(problem.to_dict(), claim)
    if not said:
        return True
    return None if said == [UNDECIDED] else False


def valid(problem: SufficientReason, features: tuple[int, ...]) -> tuple[bool, str]:
    """Say whether a set is a sufficient reason of a forest that votes, and who decided it.

    A majoritary reason is sufficient, and quickly checked. Where the checker does not decide
    the full definition within its steps, the oracle of :mod:`cpx.models.sufficient_reason.methods`
    does.
    """
    if confirmed(replace(problem, definition="majoritary"), features):
        return True, "checker"
    full = replace(problem, definition="sufficient")
    said = confirmed(full, features)
    if said is not None:
        return said, "checker"
    return full.enough(features), "oracle"


def needs_all(problem: SufficientReason, features: tuple[int, ...]) -> bool:
    """Say whether no single feature can be left out, by the definition of the problem."""
    return not any(problem.enough(tuple(f for f in features if f != left)) for left in features)


def share(values: list[Any]) -> float | None:
    """Return the percentage of true values."""
    return 100 * sum(map(bool, values)) / len(values) if values else None
