"""Certificates in words: what was proved, and what the samples say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpx.answers.claim import Claim, Words, exact
from cpx.answers.explanation import Explanation
from cpx.answers.values import exact_percent
from cpx.models.sufficient_reason.text import least_weight


def sought(over: Mapping[str, Any]) -> str:
    """Name what is asked for."""
    share = exact_percent(exact(over, "epsilon"))
    return f"certificate on these samples with at most {share} disagreeing"


def words(claim: Claim, found: Explanation) -> Words:
    """Return what is said of a certificate."""
    told = least_weight(claim, sought(claim.over), "condition", len(found.features))
    note = (
        "on the samples: {disagreeing} of {total} are covered and have another class, "
        "{tolerated} tolerated; nothing is said of other rows"
    )
    return Words(told, notes=(note.format(**claim.figures),))


def precisely_sought(over: Mapping[str, Any]) -> str:
    """Name what is asked for, where the error is that of what is covered."""
    return f"certificate with an error of at most {exact_percent(exact(over, 'epsilon'))}"


def precise_words(claim: Claim, found: Explanation) -> Words:
    """Return what is said of a certificate whose error is that of what is covered."""
    told = least_weight(claim, precisely_sought(claim.over), "condition", len(found.features))
    note = (
        "error: {disagreeing} of {covered} that are covered have another class, of {total} in all"
    )
    return Words(told, notes=(note.format(**claim.figures),))
