"""What families register as names of :mod:`cpx`, for type checkers alone."""

from cpx.models.certificate.problem import MinCertificate
from cpx.models.expected_prediction.problem import MLSE
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.weighted import KMonomial
from cpx.models.rule_set.classifier import RuleSetClassifier
from cpx.models.rule_set.methods.column_generation import learn_rules
from cpx.models.rule_set.selection import RuleSetSelection
from cpx.models.sufficient_reason.problem import SufficientReason

__all__ = [
    "MLSE",
    "KMonomial",
    "KernelRule",
    "MaxCoverage",
    "MaxPrecision",
    "MinCertificate",
    "RuleSetClassifier",
    "RuleSetSelection",
    "SufficientReason",
    "learn_rules",
]
