"""What is asked: a folder per family of problems, each stated in named encodings.

``problem_class("k-monomial")`` finds a problem by the name it has in saved instances.
"""

# "X as X" is how a name is exported: a new problem needs its one line here, and no other.
from cpx.modelling.base import Problem as Problem
from cpx.modelling.ratio import RatioProblem as RatioProblem
from cpx.modelling.registry import PROBLEMS as PROBLEMS
from cpx.modelling.registry import add_encoding as add_encoding
from cpx.modelling.registry import problem_class as problem_class
from cpx.modelling.registry import register as register
from cpx.modelling.statement import Encoding as Encoding
from cpx.modelling.statement import Statement as Statement
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
