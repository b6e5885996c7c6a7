"""Proofs about certificates of a given error: that the rules of fewer features are not precise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cpx.check.proofs.document import Claim
from cpx.models.certificate.proof_precise import rules
from cpx.models.monomial.prove import close

__all__ = ["prove"]


def prove(
    instance: Mapping[str, Any], goal: Claim, over: Callable[[], bool], trusted: bool = False
) -> tuple[Claim | None, list[str]]:
    """Return the goal and the lines that prove it, or nothing where time is up before.

    Refused is raised where the goal is wrong; if it is ``trusted``, only where that is met.
    """
    root = rules(instance, goal).root
    if root is None:
        return goal, []
    lines, left_open = close(root, over, trusted=trusted)
    return (None, []) if left_open else (goal, lines)
