"""Other rule learners, compared on the same samples by the same figures.

- ``evaluation``: a set of rules with its figures, and the table that compares them;
- ``cart``: the leaves of one decision tree;
- ``picking``: anchors of many samples, few of which cover the most: greedily (SP-anchors), or
  proved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.models.rule_set.methods.rule_learners.cart import cart_rules
    from cpx.models.rule_set.methods.rule_learners.evaluation import FoundRules, comparison
    from cpx.models.rule_set.methods.rule_learners.picking import (
        maximum_coverage,
        optimal_pick,
        submodular_pick,
    )

__all__ = [
    "FoundRules",
    "cart_rules",
    "comparison",
    "maximum_coverage",
    "optimal_pick",
    "submodular_pick",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "FoundRules": "evaluation",
        "cart_rules": "cart",
        "comparison": "evaluation",
        "maximum_coverage": "picking",
        "optimal_pick": "picking",
        "submodular_pick": "picking",
    },
)
