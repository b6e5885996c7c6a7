"""Sufficient reasons of tree models, found and proved by algorithms of our own.

Names are imported on first use, so that ``import cpx.reasons`` loads no engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.lazy import lazily

if TYPE_CHECKING:
    from cpx.reasons.contrast import SmallestChange, contrastive
    from cpx.reasons.minimal import MinimalReason, minimal_reason
    from cpx.reasons.minimum import MinimumReason, minimum_reason
    from cpx.reasons.oracle import GaveUp, Stopped, SufficiencyOracle
    from cpx.reasons.several import (
        Reasons,
        enumerate_reasons,
        necessary_attributes,
        relevant_attributes,
    )

__all__ = [
    "GaveUp",
    "MinimalReason",
    "MinimumReason",
    "Reasons",
    "SmallestChange",
    "Stopped",
    "SufficiencyOracle",
    "contrastive",
    "enumerate_reasons",
    "minimal_reason",
    "minimum_reason",
    "necessary_attributes",
    "relevant_attributes",
]

_HOME = {
    "GaveUp": "oracle",
    "MinimalReason": "minimal",
    "MinimumReason": "minimum",
    "SufficiencyOracle": "oracle",
    "Reasons": "several",
    "SmallestChange": "contrast",
    "Stopped": "oracle",
    "contrastive": "contrast",
    "enumerate_reasons": "several",
    "minimal_reason": "minimal",
    "minimum_reason": "minimum",
    "necessary_attributes": "several",
    "relevant_attributes": "several",
}

__getattr__, __dir__ = lazily(__name__, _HOME)
