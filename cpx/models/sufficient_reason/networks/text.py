"""Sufficient reasons of networks in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpx.answers.claim import Claim, Words, competing
from cpx.answers.explanation import Explanation
from cpx.models.sufficient_reason.text import forces, least_weight, ties

__all__ = ["candidate", "network_words", "ties"]

_WHAT = "sufficient reason"


def candidate(over: Mapping[str, Any]) -> str:
    """Name what competes."""
    return competing(over, _WHAT)


def network_words(claim: Claim, found: Explanation) -> Words:
    """Return what is said of a reason: what was proved, what it forces, and in what sense."""
    figures = claim.figures
    told = least_weight(claim, _WHAT, "column", len(found.features))
    said = forces(found.rule, figures, "attributes")
    notes = (
        "sufficient: every such row gets the class, by exact sums of the stored weights",
        "columns keep the very value of x, the others take any value they can have",
        f"ties: {ties(figures['decision'], figures.get('second', ''))}",
    )
    return Words(told, said, notes)
