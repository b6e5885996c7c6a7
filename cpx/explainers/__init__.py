"""From a classifier and an instance to an explanation: what :func:`cpx.explain` does.

- ``one_call``: :func:`cpx.explain`, for either kind of explanation;
- ``arguments``: those that are given by name, for editors and type checkers;
- ``question``: which rule is wanted, and the conditions that a person writes, read as features;
- ``explainer``: the steps to a rule, one by one, for any classifier;
- ``conclusions``: ties between rules broken, what is guaranteed, the comparison with the best;
- ``sufficient``: what forces a prediction of a tree model;
- ``ranking``: the best few rules, or all optimal ones;
- ``rule_set_classifier``: a set of rules as a classifier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.explainers.explainer import Explainer
    from cpx.explainers.one_call import explain

__all__ = ["Explainer", "explain"]

__getattr__, __dir__ = lazily(__name__, {"Explainer": "explainer", "explain": "one_call"})
