"""Candidates for sets of rules: literals of a table, and conjunctions of them.

- ``literals``: thresholds and categories of a table as literals, true or false of each sample;
- ``trees``: the paths of scikit-learn's trees and forests;
- ``around_samples``: for some samples, the best rule that covers them, or the widest precise
  one, by exact search;
- ``association``: literals that often hold together in the class, by association mining;
- ``files``: rules as text, in the syntax in which they are printed.

All give the rules as sets of literals, what :class:`cpx.RuleSetSelection` takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.models.rule_set.methods.candidates.around_samples import anchors, monomials
    from cpx.models.rule_set.methods.candidates.association import association_rules
    from cpx.models.rule_set.methods.candidates.files import read_rules
    from cpx.models.rule_set.methods.candidates.literals import Literals
    from cpx.models.rule_set.methods.candidates.trees import forest_paths, model_paths

__all__ = [
    "Literals",
    "anchors",
    "association_rules",
    "forest_paths",
    "model_paths",
    "monomials",
    "read_rules",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "Literals": "literals",
        "anchors": "around_samples",
        "association_rules": "association",
        "forest_paths": "trees",
        "model_paths": "trees",
        "monomials": "around_samples",
        "read_rules": "files",
    },
)
