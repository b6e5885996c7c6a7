"""The problem that is behind rules of a table, and rules as an answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cpx.data.binarizer import Binarizer
from cpx.data.samples import Samples
from cpx.errors import CheckFailed, DataError, shown
from cpx.explainers.rule_set_classifier.labels import Target, two_classes
from cpx.explainers.rule_set_classifier.table_rules import TableRules
from cpx.methods.candidates.literals import Literals
from cpx.models.text import plural

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.explainers.rule_set_classifier.estimator import RuleSetClassifier
    from cpx.models.rule_set.learning import RuleSetLearning

__all__ = ["LabelledRows", "answer", "stated"]

BoolArray = npt.NDArray[np.bool_]

_BINS = 10


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """A table with labels, in the literals that rules are made of.

    Attributes
    ----------
    binarizer : Binarizer
    literals : Literals
    target : Target
    same : (n,) array of bool
        Which rows are of the positive class.
    """

    binarizer: Binarizer
    literals: Literals
    target: Target
    same: BoolArray

    @classmethod
    def of(cls, asked: RuleSetClassifier, X: Any, y: Any) -> LabelledRows:
        """Binarize a table and check its labels, by the parameters of a classifier."""
        bins = _BINS if asked.n_bins is None else asked.n_bins
        binarizer = Binarizer(
            bins, categorical=asked.categorical, max_categories=asked.max_categories
        ).fit(X)
        bits = binarizer.transform(X)
        classes, labels = two_classes(y, len(bits))
        target = Target(classes, asked.positive)
        return cls(binarizer, Literals.of_bits(bits, binarizer), target, target.same(labels))

    @property
    def samples(self) -> Samples:
        """The rows, equal ones merged."""
        return self.literals.samples(self.same, {"class": str(self.target.positive)})


def stated(asked: RuleSetClassifier, X: Any, y: Any, name: str) -> RuleSetLearning:
    """Return the problem of learning rules from a table by the parameters of a classifier."""
    from cpx.models.rule_set.learning import RuleSetLearning

    return RuleSetLearning(
        LabelledRows.of(asked, X, y).samples,
        asked.k,
        asked.penalty,
        class_weights=asked.class_weights,
        name=name,
    )


def answer(rules: TableRules, problem: RuleSetLearning, *, closed: bool) -> Result:
    """Return rules as an answer to a problem, confirmed by the independent checker.

    Parameters
    ----------
    rules : TableRules
    problem : RuleSetLearning
    closed : bool
        Whether learning ended because no rule was left to add, and not by its time limit.

    Raises
    ------
    DataError
        When the rules are not among those of the problem.
    CheckFailed
        When the checker finds something else than the problem.
    """
    from cpx.answers.result import Result, Status, Termination
    from cpx.check import complaints
    from cpx.support.versions import installed_version

    explanation = problem.explanation_of(_literals(rules, problem))
    objective = problem.cost(explanation.features)
    result = Result(
        status=Status.FEASIBLE,
        termination=Termination.COMPLETED if closed else Termination.TIME_LIMIT,
        objective=objective,
        explanation=problem.conclude(explanation, False, objective, None),
        backend="column-generation",
        versions={"cpx-explain": installed_version("cpx-explain") or "uninstalled"},
        verified=True,
    )
    if found := complaints(problem.to_dict(), result.to_dict()):
        raise CheckFailed(f"the learned rules: {'; '.join(found)}")
    return result


def _literals(rules: TableRules, problem: RuleSetLearning) -> list[list[int]]:
    place = {name: j for j, name in enumerate(problem.samples.features)}
    for names in rules.literal_names:
        for name in names:
            if name not in place:
                raise DataError(
                    f"the problem has no literal {shown(name)}, which the rules have: "
                    "state it for "
                    "the rows that they were learned from"
                )
        if len(names) > problem.max_literals:
            raise DataError(
                f"the problem has rules of at most {plural(problem.max_literals, 'literal')}, got "
                f"{shown(' and '.join(names))}"
            )
    return [[place[name] for name in names] for names in rules.literal_names]
