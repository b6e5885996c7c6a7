"""Other ways to a set of rules, on the same samples and measured alike.

- ``found``: a set of rules with its figures, and the table that compares several;
- ``cart``: the leaves of one decision tree;
- ``peers``: BRCG of AIX360, SkopeRules and Bayesian rule sets of imodels, each in an interpreter
  of its own that runs ``driver``;
- ``picking``: anchors of many samples, few of which cover the most: greedily (SP-anchors), or
  proved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.baselines.cart import cart_rules
    from cpx.baselines.found import FoundRules, comparison
    from cpx.baselines.peers import bayesian_rules, brcg_rules, skope_rules
    from cpx.baselines.picking import maximum_coverage, optimal_pick, submodular_pick

__all__ = [
    "FoundRules",
    "bayesian_rules",
    "brcg_rules",
    "cart_rules",
    "comparison",
    "maximum_coverage",
    "optimal_pick",
    "skope_rules",
    "submodular_pick",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "FoundRules": "found",
        "bayesian_rules": "peers",
        "brcg_rules": "peers",
        "cart_rules": "cart",
        "comparison": "found",
        "maximum_coverage": "picking",
        "optimal_pick": "picking",
        "skope_rules": "peers",
        "submodular_pick": "picking",
    },
)
