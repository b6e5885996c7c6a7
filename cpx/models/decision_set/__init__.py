"""Decision sets that mimic a black box, learned by querying it.

J. Lu, M. Ester: An Active Approach for Model Interpretation (NeurIPS 2019 workshop on
human-centric machine learning): Active Decision Set Induction, in our own code.

- ``attributes``, ``input_space``: the input space in cells, rules as sets of cells;
- ``black_box``: queries, counted and checked for answers that change;
- ``state``: the labelled instances, and what a decision set covers of them;
- ``decision_set``: what all learners share: fit, predict, score;
- ``growing``, ``actions``: the local changes of a decision set, and their values;
- ``sampling``: the instances of the next queries;
- ``local_search``: :class:`ActiveDecisionSet`, the algorithm of the paper;
- ``selection``, ``exact_active_learning``: :class:`ExactDecisionSet`, which selects optimal sets
  of candidates;
- ``exchange``, ``learned``: :class:`LearnedDecisionSet`, by column generation and exchange.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.families import Family
from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.models.decision_set.decision_set import DecisionSet
    from cpx.models.decision_set.exact_active_learning import ExactDecisionSet, Round
    from cpx.models.decision_set.learned import LearnedDecisionSet
    from cpx.models.decision_set.local_search import ActiveDecisionSet, Step
    from cpx.models.rule_set.conditions import Interval, OneOf, SetRule

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
    "ActiveDecisionSet": "local_search",
    "DecisionSet": "decision_set",
    "ExactDecisionSet": "exact_active_learning",
    "Interval": "cpx.models.rule_set.conditions",
    "LearnedDecisionSet": "learned",
    "OneOf": "cpx.models.rule_set.conditions",
    "Round": "exact_active_learning",
    "SetRule": "cpx.models.rule_set.conditions",
    "Step": "local_search",
}

FAMILY = Family(name="decision-set", problems={})

__getattr__, __dir__ = lazily(__name__, _HOME)
