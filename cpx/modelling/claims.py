"""What is claimed of an answer to a problem, and which answers it is compared with, as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cpx.answers.claim import Claim
from cpx.answers.explanation import Explanation
from cpx.answers.values import Value
from cpx.modelling.parameters import given_parameters


def asked(problem: Any) -> dict[str, Any]:
    """Return which answers to a problem compete, as :attr:`cpx.answers.claim.Claim.over`."""
    found: dict[str, Any] = {}
    for declared, value in given_parameters(problem):
        if declared.key is None:
            saved = value if isinstance(value, tuple | list) else declared.kind.saved(value)
            found |= counted(declared.name, saved)
    return found | counted("where", problem.side_constraints.texts)


def counted(name: str, value: Any) -> dict[str, Any]:
    """Return a parameter that says something, a list as its length."""
    if isinstance(value, tuple | list):
        return {name: len(value)} if value else {}
    return {} if value is None or value is False else {name: value}


def claimed(
    problem: Any,
    explanation: Explanation,
    proved: bool,
    objective: Value | None,
    bound: Value | None,
    **figures: Any,
) -> Explanation:
    """Return an explanation with what is claimed of it.

    Parameters
    ----------
    problem : Problem
    explanation : Explanation
    proved : bool
        Whether it is optimal.
    objective, bound : int, Fraction or None
    **figures
        What the words of this kind have besides, as JSON.
    """
    over = asked(problem)
    claim = Claim(problem.kind, over, figures, optimal=proved, value=objective, bound=bound)
    return replace(explanation, claim=claim)
