"""Sufficient reasons of tree models, found and proved by algorithms of our own.

Names are imported on first use, so that ``import cpx.models.sufficient_reason.methods`` loads no
engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.methods.enumeration import (
        Reasons,
        enumerate_reasons,
        necessary_attributes,
        relevant_attributes,
    )
    from cpx.models.sufficient_reason.methods.smallest_change import SmallestChange, contrastive
    from cpx.models.sufficient_reason.sufficiency.oracle import GaveUp, Stopped, SufficiencyOracle

__all__ = [
    "GaveUp",
    "Reasons",
    "SmallestChange",
    "Stopped",
    "SufficiencyOracle",
    "contrastive",
    "enumerate_reasons",
    "necessary_attributes",
    "relevant_attributes",
]

_HOME = {
    "GaveUp": "cpx.models.sufficient_reason.sufficiency.oracle",
    "SufficiencyOracle": "cpx.models.sufficient_reason.sufficiency.oracle",
    "Reasons": "enumeration",
    "SmallestChange": "smallest_change",
    "Stopped": "cpx.models.sufficient_reason.sufficiency.oracle",
    "contrastive": "smallest_change",
    "enumerate_reasons": "enumeration",
    "necessary_attributes": "enumeration",
    "relevant_attributes": "enumeration",
}

__getattr__, __dir__ = lazily(__name__, _HOME)
