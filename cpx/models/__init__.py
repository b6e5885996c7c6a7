"""What is asked: a folder per family of problems, each stated in named encodings.

``problem_class("k-monomial")`` finds a problem by the name it has in saved instances.
"""

from __future__ import annotations

from cpx.models.base import Encoding, Problem, RatioProblem, Statement
from cpx.models.certificate.problem import MinCertificate
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.monomial.k_monomial import KMonomial
from cpx.models.monomial.max_coverage import MaxCoverage
from cpx.models.monomial.max_precision import MaxPrecision
from cpx.models.monomial.negative_only import NegativeOnly
from cpx.models.registry import PROBLEMS, problem_class, register
from cpx.models.rule_set.learning import RuleSetLearning
from cpx.models.rule_set.selection import RuleSetSelection
from cpx.models.sufficient_reason.problem import SufficientReason

__all__ = [
    "PROBLEMS",
    "Encoding",
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
    "problem_class",
    "register",
]
