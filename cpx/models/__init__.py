"""What is asked: a folder per family of problems, each stated in named encodings.

Each family says in its ``FAMILY`` what it registers (:mod:`cpx.support.families`): the classes of
its problems are here by their names. A family may import those before it in :data:`FAMILIES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.families import problem_classes
from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.modelling.ratio import RatioProblem
    from cpx.modelling.registry import PROBLEMS, add_encoding, problem_class, register
    from cpx.modelling.statement import Encoding, Statement
    from cpx.models.certificate.precise import PreciseCertificate as PreciseCertificate
    from cpx.models.certificate.problem import MinCertificate as MinCertificate
    from cpx.models.expected_prediction.fewest import FewestExpected as FewestExpected
    from cpx.models.expected_prediction.problem import MLSE as MLSE
    from cpx.models.kernel_rule.problem import KernelRule as KernelRule
    from cpx.models.monomial.precision_coverage import MaxCoverage as MaxCoverage
    from cpx.models.monomial.precision_coverage import MaxPrecision as MaxPrecision
    from cpx.models.monomial.weighted import KMonomial as KMonomial
    from cpx.models.monomial.weighted import NegativeOnly as NegativeOnly
    from cpx.models.rule_set.learning import RuleSetLearning as RuleSetLearning
    from cpx.models.rule_set.selection import RuleSetSelection as RuleSetSelection
    from cpx.models.sufficient_reason.problem import SufficientReason as SufficientReason

FAMILIES = (
    "monomial",
    "rule_set",
    "decision_set",
    "kernel_rule",
    "sufficient_reason",
    "certificate",
    "expected_prediction",
    "all_kinds",
)
"""The folders of our families, in their order."""

_HOMES = {
    "Encoding": "cpx.modelling.statement",
    "PROBLEMS": "cpx.modelling.registry",
    "Problem": "cpx.modelling.base",
    "RatioProblem": "cpx.modelling.ratio",
    "Statement": "cpx.modelling.statement",
    "add_encoding": "cpx.modelling.registry",
    "problem_class": "cpx.modelling.registry",
    "register": "cpx.modelling.registry",
}

__all__ = [
    "FAMILIES",
    "PROBLEMS",
    "Encoding",
    "Problem",
    "RatioProblem",
    "Statement",
    "add_encoding",
    "problem_class",
    "register",
]

__getattr__, __dir__ = lazily(__name__, _HOMES, problem_classes)
