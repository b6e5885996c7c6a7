"""Decision sets that mimic a black box, learned by asking it.

J. Lu, M. Ester: An Active Approach for Model Interpretation (NeurIPS 2019 workshop on
human-centric machine learning): Active Decision Set Induction, in our own code.

- ``attributes``, ``domain``: the input space in cells, rules as sets of cells;
- ``black_box``: asking, counting, and noticing that answers change;
- ``state``: the labelled instances, and what a decision set covers of them;
- ``histograms``, ``growing``, ``actions``: the local actions and their values;
- ``sampling``: what to ask next;
- ``local_search``: Algorithm 1;
- ``estimator``: :class:`ActiveDecisionSet`;
- ``candidates``, ``selection``, ``exact``: :class:`ExactDecisionSet`, which selects optimal sets;
- ``literals``, ``exchange``, ``learned``: :class:`LearnedDecisionSet`, by column generation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.methods.active.conditions import Interval, OneOf, SetRule
    from cpx.methods.active.decision_set import DecisionSet
    from cpx.methods.active.estimator import ActiveDecisionSet
    from cpx.methods.active.exact import ExactDecisionSet, Round
    from cpx.methods.active.learned import LearnedDecisionSet
    from cpx.methods.active.local_search import Step

__all__ = [
    "ActiveDecisionSet",
    "DecisionSet",
    "ExactDecisionSet",
    "Interval",
    "LearnedDecisionSet",
    "OneOf",
    "Round",
    "SetRule",
    "Step",
]

_HOME = {
    "ActiveDecisionSet": "estimator",
    "DecisionSet": "decision_set",
    "ExactDecisionSet": "exact",
    "Interval": "conditions",
    "LearnedDecisionSet": "learned",
    "OneOf": "conditions",
    "Round": "exact",
    "SetRule": "conditions",
    "Step": "local_search",
}

__getattr__, __dir__ = lazily(__name__, _HOME)
