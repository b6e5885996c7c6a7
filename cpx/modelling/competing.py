"""What an answer is compared with, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cpx.modelling.side_constraints.form import KEEPS_SIDE_CONSTRAINTS

if TYPE_CHECKING:
    from cpx.modelling.base import Problem

_ASKED = {
    "required": "has what is required",
    "forbidden": "has nothing forbidden",
    "one_per_group": "has at most one condition of each group",
    "side_constraints": KEEPS_SIDE_CONSTRAINTS,
}
"""What is said of all candidates where a parameter is given."""


def competing(
    problem: Problem, what: str, before: Iterable[str] = (), after: Iterable[str] = ()
) -> str:
    """Return what an answer to a problem is compared with: ``"set that has nothing forbidden"``.

    before, after: What else is said of it, before and after what all kinds of problems have.
    """
    asked = (told for name, told in _ASKED.items() if getattr(problem, name, ()))
    parts = [*before, *asked, *after]
    return f"{what} that {' and '.join(parts)}" if parts else what
