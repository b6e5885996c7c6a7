"""A rule set as a scikit-learn classifier.

- ``labels``: the two classes of a target column, checked;
- ``weights``: weights of rows, in whole parts;
- ``model_selection``: the price of a rule and its length, by accuracy on rows held out;
- ``table_rules``: rules over the columns of a table, in words, and what they cover;
- ``report``: what is known of a learned set, each bound with what it bounds;
- ``fitted_rules``: the parameters, and what fitted rules say of rows;
- ``learning``: learning from labels or from a black box, and the problem that is solved;
- ``estimator``: :class:`RuleSetClassifier`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.models.rule_set.classifier.estimator import RuleSetClassifier
    from cpx.models.rule_set.classifier.model_selection import Choice, Validated
    from cpx.models.rule_set.classifier.report import LearningReport, SurrogateReport

__all__ = ["Choice", "LearningReport", "RuleSetClassifier", "SurrogateReport", "Validated"]

_HOME = {
    "Choice": "model_selection",
    "LearningReport": "report",
    "RuleSetClassifier": "estimator",
    "SurrogateReport": "report",
    "Validated": "model_selection",
}

__getattr__, __dir__ = lazily(__name__, _HOME)
