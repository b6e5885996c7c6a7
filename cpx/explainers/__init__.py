"""From a classifier and an instance to an explanation: what :func:`cpx.explain` does.

- ``one_call``: :func:`cpx.explain`, for either kind of explanation;
- ``arguments``: those that are given by name, for editors and type checkers;
- ``question``: which rule is wanted;
- ``conclusions``: ties between rules broken, what is noted, the comparison with the best;
- ``conditions``: the conditions that a person writes, read as features;
- ``explainer``: the steps to a rule, one by one, for any classifier;
- ``sufficient``: what forces a prediction of a tree model;
- ``probabilistic``: what makes a tree model expect its class, when little of a row is known;
- ``background``: the rows that this is asked of, and the distribution fitted to them;
- ``expectations``: from an engine's answer to such an explanation, or to why there is none;
- ``sampled_probability``: the same by rows that are drawn;
- ``solutions``: the best few answers, or all optimal ones;
- ``rivals``: rules nearly as good as the best, and how often each would win;
- ``guarantees``: what holds of a rule, and of all rules, beyond the samples;
- ``adaptive``: samples in rounds, until the precision is known up to epsilon;
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
