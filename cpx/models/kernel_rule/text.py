"""Rules of kernel machines in words: what was proved, and what they are true of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpx.answers.claim import Claim, Words, competing, exact
from cpx.answers.explanation import Explanation
from cpx.support.shares import at_most


def words(claim: Claim, found: Explanation) -> Words:
    """Return what is said of a rule: its weight, and which support vectors it is true of."""
    figures = claim.figures
    counts = [f"{held} of {every}" for held, every in (figures["positive"], figures["negative"])]
    note = f"true of {counts[0]} positive and {counts[1]} negative support vectors"
    return Words(_proved(claim), notes=(note,))


def _proved(claim: Claim) -> str:
    over, value, bound, most = claim.over, claim.value, claim.bound, claim.figures["most"]
    if claim.optimal is None or value is None:
        return ""
    told, rival = f"weight {_real(over, value)}", competing(over, "rule")
    if claim.optimal and value == most:
        return f"{told} is optimal: all positive weight and no negative"
    if claim.optimal:
        return f"{told} is optimal: no such {rival} has more; all positive: {_real(over, most)}"
    if bound is None:
        return f"{told}, without a bound"
    limit = at_most(bound * exact(over, "unit"), 7)
    return f"{told}, not proved optimal: no {rival} has more than {limit}"


def _real(over: Mapping[str, Any], units: Any) -> str:
    return f"{float(units * exact(over, 'unit')):.7g}"
