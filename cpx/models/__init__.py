"""What is asked: a folder per family of problems, each stated in named encodings.

Each family says in its ``FAMILY`` what it registers (:mod:`cpx.support.families`). A family may
import those before it in :data:`FAMILIES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.modelling.ratio import RatioProblem
    from cpx.modelling.registry import PROBLEMS, add_encoding, problem_class, register
    from cpx.modelling.statement import Encoding, Statement
    from cpx.models.certificate.problem import MinCertificate
    from cpx.models.expected_prediction.fewest import FewestExpected
    from cpx.models.expected_prediction.problem import MLSE
    from cpx.models.kernel_rule.problem import KernelRule
    from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
    from cpx.models.monomial.weighted import KMonomial, NegativeOnly
    from cpx.models.rule_set.learning import RuleSetLearning
    from cpx.models.rule_set.selection import RuleSetSelection
    from cpx.models.sufficient_reason.problem import SufficientReason

FAMILIES = (
    "monomial",
    "rule_set",
    "decision_set",
    "kernel_rule",
    "sufficient_reason",
    "certificate",
    "expected_prediction",
)
"""The folders of our families, in their order."""

_HOMES = {
    "MLSE": "cpx.models.expected_prediction.problem",
    "Encoding": "cpx.modelling.statement",
    "FewestExpected": "cpx.models.expected_prediction.fewest",
    "KMonomial": "cpx.models.monomial.weighted",
    "KernelRule": "cpx.models.kernel_rule.problem",
    "MaxCoverage": "cpx.models.monomial.precision_coverage",
    "MaxPrecision": "cpx.models.monomial.precision_coverage",
    "MinCertificate": "cpx.models.certificate.problem",
    "NegativeOnly": "cpx.models.monomial.weighted",
    "PROBLEMS": "cpx.modelling.registry",
    "Problem": "cpx.modelling.base",
    "RatioProblem": "cpx.modelling.ratio",
    "RuleSetLearning": "cpx.models.rule_set.learning",
    "RuleSetSelection": "cpx.models.rule_set.selection",
    "Statement": "cpx.modelling.statement",
    "SufficientReason": "cpx.models.sufficient_reason.problem",
    "add_encoding": "cpx.modelling.registry",
    "problem_class": "cpx.modelling.registry",
    "register": "cpx.modelling.registry",
}

__all__ = [
    "FAMILIES",
    "MLSE",
    "PROBLEMS",
    "Encoding",
    "FewestExpected",
    "KMonomial",
    "KernelRule",
    "MaxCoverage",
    "MaxPrecision",
    "MinCertificate",
    "NegativeOnly",
    "Problem",
    "RatioProblem",
    "RuleSetLearning",
    "RuleSetSelection",
    "Statement",
    "SufficientReason",
    "add_encoding",
    "problem_class",
    "register",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
