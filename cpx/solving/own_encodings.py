"""Statements from outside: encodings that are none of cpx's own, and what is known of them.

The value of an answer is recomputed whatever was stated. A bound is not: an encoding that forbids
good answers proves the best of the others optimal. So such an encoding is held against the
definition on tiny instances before its bounds are believed, and every answer by it says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cpx.errors import InvalidOption
from cpx.modelling.base import Problem
from cpx.modelling.statement import Encoding
from cpx.support.lazy_imports import named_object

__all__ = ["Known", "known_of"]

_GRADE = "cpx.testing.grading:quick_grade"
"""By name: the tiny instances are in a room above this one, and are rarely needed."""


class Known(NamedTuple):
    """What is known of a statement, as a result has it, and whether what it proves is believed."""

    statement: dict[str, Any]
    believed: bool = True


def known_of(problem: Problem, form: Encoding[Any]) -> Known:
    """Say what is known of the encoding that a problem was stated in; nothing of its own ones."""
    if not form.name or any(own.name == form.name for own in problem.encodings):
        return Known({})
    if not form.faithful:
        return Known({"encoding": form.name, "marked": True})
    grade = named_object(_GRADE, "the grades of encodings", InvalidOption)(problem, form.name)
    known = {name: value for name, value in vars(grade).items() if value}
    return Known({"encoding": form.name, **known}, believed=not grade.wrong)
