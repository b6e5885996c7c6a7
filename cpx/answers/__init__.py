"""Answers: what a solve returns, and how it reads as text, as HTML and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation, Reason
    from cpx.answers.explanations import Explanations
    from cpx.answers.plots import plot_rules, plot_selection
    from cpx.answers.result import Result, Status, Termination
    from cpx.answers.rule import Rule, RuleSet

__all__ = [
    "Explanation",
    "Explanations",
    "Reason",
    "Result",
    "Rule",
    "RuleSet",
    "Status",
    "Termination",
    "plot_rules",
    "plot_selection",
]

_HOMES = {
    "Explanation": "explanation",
    "Explanations": "explanations",
    "Reason": "explanation",
    "Result": "result",
    "Rule": "rule",
    "RuleSet": "rule",
    "Status": "result",
    "Termination": "result",
    "plot_rules": "plots",
    "plot_selection": "plots",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
