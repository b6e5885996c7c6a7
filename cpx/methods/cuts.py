"""Problems without some of their solutions, which cuts exclude."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cpx.answers.explanation import Evaluation, Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value
from cpx.modelling.base import Problem
from cpx.modelling.ratio import RatioProblem, RatioStep
from cpx.modelling.side_constraints.form import (
    LinearConstraint,
    SideConstraint,
    SideConstraints,
)
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Encoding, Statement, Values
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.problem import RuleSetProblem

__all__ = ["Constrained", "Cut", "Excluding", "ExcludingRatio", "Selected"]

Features = tuple[int, ...]


@dataclass(frozen=True)
class Cut:
    """What is not allowed: all of ``chosen`` and none of ``without``, together.

    With all other features in ``without`` that is one set; with none, a set and all that
    contain it, or those of them that have one of ``idle``, where there are some.
    """

    chosen: Features
    without: Features = ()
    idle: Features = ()

    def excludes(self, features: Iterable[int]) -> bool:
        """Whether a set of features is not allowed."""
        return not all(clause.holds(set(features)) for clause in self.clause.means)

    @cached_property
    def clause(self) -> SideConstraint:
        """The same as a side constraint that nobody wrote."""
        absent = [(j,) for j in self.chosen] + [self.idle] * bool(self.idle)
        terms = [(-1, T) for T in absent] + [(1, (j,)) for j in self.without]
        return SideConstraint("", (LinearConstraint(tuple(terms), 1 - len(absent)),))


@dataclass(frozen=True, eq=False)
class Excluding(Problem):
    """A problem without some of its solutions; nothing of it is saved.

    Parameters
    ----------
    base : Problem
        Whose statements choose features by the array ``X``.
    cuts : tuple of Cut
    known : int or Fraction, optional
        What is known to bound the objective, as what is left of the solutions is no better.
    """

    base: Problem
    cuts: tuple[Cut, ...]
    known: Value | None = None

    kind: ClassVar[str] = "some solutions excluded"

    def __post_init__(self) -> None:
        """Nothing is declared here, so that nothing is checked."""

    @property
    def sense(self) -> Any:  # type: ignore[override]
        """That of the problem."""
        return self.base.sense

    @property
    def encodings(self) -> Any:  # type: ignore[override]
        """Those of the problem that leave out no solution."""
        return tuple(encoding for encoding in self.base.encodings if encoding.every_solution)

    @property
    def n_features(self) -> int:
        """How many features a solution chooses from."""
        return len(self.base.feature_names)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Those of the problem."""
        return self.base.feature_names

    @property
    def unstated(self) -> str:
        """Why the problem has no statement; empty where it has one."""
        return self.base.unstated

    def encoding(self, name: str | None = None) -> Encoding[Any]:  # type: ignore[override]
        """Return an encoding of the problem."""
        return self.base.encoding(name)

    def stated_in(self, name: str | None = None) -> Encoding[Any]:
        """Return an encoding that can state the problem."""
        return self.base.stated_in(name)

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem, and the cuts."""
        return constrained(self.base.model(encoding), self._clauses)

    @cached_property
    def _clauses(self) -> SideConstraints:
        return SideConstraints(cut.clause for cut in self.cuts)

    def decode(self, values: Values) -> Explanation:
        """Do as the problem does."""
        return self.base.decode(values)

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Do as the problem does."""
        return self.base.explanation(features)

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the value of a solution; one that is cut off is none."""
        found = self.base.evaluate(explanation)
        cut_off = any(cut.excludes(explanation.features) for cut in self.cuts)
        return replace(found, feasible=False) if cut_off else found

    def trivial_bound(self) -> Any:
        """Return the bound that is known."""
        return self.base.trivial_bound() if self.known is None else self.known

    def to_check(self) -> dict[str, Any]:
        """Return what tells the checker that it knows nothing of this."""
        return {"format": "cpx-instance", "version": 1, "problem": self.kind, "parameters": {}}


@dataclass(frozen=True, eq=False)
class _ExcludingStep(Excluding, RatioStep):
    base: RatioStep

    def ratio_bound(self, bound: int) -> Fraction:
        """Do as the step does."""
        return self.base.ratio_bound(bound)


@dataclass(frozen=True, eq=False)
class ExcludingRatio(Excluding, RatioProblem):  # type: ignore[override]
    base: RatioProblem

    def first(self) -> Explanation:
        """Return the rule that the problem begins with, cut off or not."""
        return self.base.first()

    def step(self, value: Fraction) -> _ExcludingStep:
        """Return the step of the problem, with the cuts."""
        return _ExcludingStep(self.base.step(value), self.cuts)


@dataclass(frozen=True, eq=False)
class Constrained(Excluding):
    """The same for engines that take arrays and keep side constraints, which the cuts are."""

    @property
    def side_constraints(self) -> SideConstraints:  # type: ignore[override]
        """Those of the problem, and the cuts."""
        return SideConstraints((*self.base.side_constraints, *self._clauses))

    @property
    def selection(self) -> Any:
        """The problem without any, in which features are required and forbidden."""
        return replace(self.base, side_constraints=())  # type: ignore[type-var]

    @property
    def required(self) -> Features:
        """What the problem requires."""
        return tuple(getattr(self.base, "required", ()))

    def form(self) -> object:
        """Return the arrays of the problem."""
        return self.base.form()


@dataclass(frozen=True, eq=False)
class Selected(Excluding):
    """The choice of rules, or of clauses, by a form, which has the cuts as side constraints.

    Encodings and searches that leave out rules do so by what they know of their constraints.
    """

    selected: RuleSelection = field(kw_only=True)

    sense: ClassVar[Any] = "min"
    encodings: ClassVar[Any] = RuleSetProblem.encodings

    @property
    def n_features(self) -> int:
        """How many rules there are."""
        return self.selected.shape[0]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Their numbers."""
        return tuple(map(str, range(self.n_features)))

    @cached_property
    def side_constraints(self) -> SideConstraints:  # type: ignore[override]
        """Those of the form, and the cuts."""
        return SideConstraints((*self.selected.side, *self._clauses))

    def form(self) -> RuleSelection:
        """Return the form with all that holds."""
        return replace(self.selected, side=self.side_constraints)

    def encoding(self, name: str | None = None) -> Encoding[Any]:  # type: ignore[override]
        """Return an encoding of sets of rules."""
        of = self.base if isinstance(self.base, RuleSetProblem) else RuleSetProblem
        return replace(of.encoding(name), faithful=True, stand_in=None)

    def stated_in(self, name: str | None = None) -> Encoding[Any]:
        """Return an encoding of sets of rules."""
        return self.encoding(name)

    def model(self, encoding: str | None = None) -> Statement:
        """State the choice."""
        statement: Statement = self.encoding(encoding).build(self.form())
        return constrained(statement, self.side_constraints)

    def decode(self, values: Values) -> Explanation:
        """Return the rules that are chosen."""
        return self.explanation(np.flatnonzero(np.asarray(values["X"]) > 0).tolist())

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the numbers of the rules."""
        return Explanation(Rule.of(features, self.feature_names, ""))

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the cost of a set by the form."""
        chosen = explanation.features
        return Evaluation(self.selected.cost(chosen), feasible=self.form().allows(chosen))

    def trivial_bound(self) -> Any:
        """Return the bound that is known."""
        return 0 if self.known is None else self.known
