"""Rules of a kernel machine: the formula of maximum weight in the feature space of its kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value
from cpx.data.bits import bit_array, matrix_of, strings_of
from cpx.errors import InvalidInstance
from cpx.modelling.base import Problem
from cpx.modelling.claims import claimed
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import CONTEXT, NAME, Integer, Json, Kind, ListKind, parameter
from cpx.modelling.saved import BITS
from cpx.modelling.side_constraints.form import (
    NO_SIDE_CONSTRAINTS,
    SideConstraints,
)
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.side_constraints.vocabulary import Vocabulary
from cpx.modelling.statement import Encoding, Statement
from cpx.models.kernel_rule.encodings import slots
from cpx.models.kernel_rule.form import DNF, DNFForm, canonical
from cpx.support.validation import entries, index, name_list, positive_fraction

_MOST_WEIGHT = 2**53


class Table(Kind):
    """A table of bits with at least one row."""

    schema: ClassVar[Json] = {"type": "array", "minItems": 1, "items": BITS}

    def check(self, name: str, value: Any, problem: Any) -> NDArray[np.bool_]:
        """Return the table."""
        return bit_array(name, value, 2, error=InvalidInstance)

    def saved(self, value: NDArray[np.bool_]) -> list[str]:
        """Return a string for each row."""
        return strings_of(value)

    def read(self, key: str, holder: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return the table of a file."""
        return matrix_of(holder[key])


class SignedWeights(ListKind):
    """An integer of either sign for each sample."""

    schema: ClassVar[Json] = {"type": "array", "items": {"type": "integer"}}

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, ...]:
        """Return the integers."""
        found = entries(name, value, "integers", len(problem.samples))
        weights = tuple(index(f"{name}[{i}]", w) for i, w in enumerate(found))
        if sum(map(abs, weights)) >= _MOST_WEIGHT:
            raise InvalidInstance(
                f"{name} must have absolute values that add up to less than 2**53"
            )
        return weights


class Unit(Kind):
    """A positive fraction."""

    range: ClassVar[str] = "a positive fraction"
    schema: ClassVar[Json] = {"type": "string", "pattern": "^[0-9]+(/[0-9]+)?$"}

    def check(self, name: str, value: Any, problem: Any) -> Fraction:
        """Return the fraction."""
        return positive_fraction(name, value)

    def saved(self, value: Fraction) -> str:
        """Return the fraction as text."""
        return str(value)


class Names(ListKind):
    """What each feature means; ``x0``, ``x1``, ... for none."""

    schema: ClassVar[Json] = {"type": "array", "items": {"type": "string"}}

    def check(self, name: str, value: Any, problem: Any) -> tuple[str, ...]:
        """Return the names."""
        return name_list(name, entries(name, value, "strings") or None, problem.d)


# A solution chooses from a feature of each clause, and each such choice has a name.
_MOST_INDICES = 10**6


@dataclass(frozen=True, eq=False)
class KernelRule(Problem):
    """Find the rule of maximum weight of a kernel machine.

    A rule f is a disjunction of 1 to D conjunctions of 1 to C features, none of them negated: a
    feature of the kernel of all such formulas. Its weight in the machine [1]_ is, over the
    support vectors::

        w_f  =  sum of y_i alpha_i over those that f is true of

    No weight is above the sum of the positive y_i alpha_i, and a rule that is true of all
    positive support vectors and of no negative one reaches it. Weights are stored as integers,
    multiples of a unit.

    Parameters
    ----------
    samples : array of 0 and 1, shape (m, d)
        The support vectors.
    weights : sequence of int, length m
        y_i alpha_i of each, in units. Their absolute values add up to less than 2**53.
    max_clauses, max_literals : int
        D, at least 1, and C, from 1 to d.
    unit : Fraction, int or str
        What a weight of 1 stands for.
    features : sequence of str
        What each feature means; ``x0``, ``x1``, ... unless given.
    name : str
        Name of the instance, free.
    context : mapping
        Where the instance comes from, free; ``class`` is what the positive class is called.

    Raises
    ------
    InvalidInstance
        Naming the argument and its value.

    Notes
    -----
    A solution is a set of indices ``t d + j``: feature j is in clause t.

    References
    ----------
    .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN
       2018, section 4, eq. 2.

    Examples
    --------
    >>> from cpx import solve
    >>> rows = [[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    >>> problem = KernelRule(rows, [3, 2, -4, -1], max_clauses=2, max_literals=2)
    >>> result = solve(problem, "search")
    >>> str(result.status), result.objective, str(result.explanation)
    ('OPTIMAL', 5, '(x0 and x1) or x2 => positive')
    """

    samples: NDArray[np.bool_] = field(
        metadata=parameter(Table(), "one string per support vector", key="samples")
    )
    weights: tuple[int, ...] = field(
        metadata=parameter(SignedWeights(), "y_i alpha_i of each, in units", key="weights")
    )
    max_clauses: int = field(
        metadata=parameter(Integer(1), "maximum number of clauses of the rule")
    )
    max_literals: int = field(
        metadata=parameter(Integer(1, "d"), "maximum number of features of a clause")
    )
    unit: Fraction | int | str = field(
        default=Fraction(1), metadata=parameter(Unit(), "what a weight of 1 stands for")
    )
    features: tuple[str, ...] = field(
        default=(), metadata=parameter(Names(), "what each feature means", key="features")
    )
    name: str = field(default="", metadata=NAME)
    context: Mapping[str, Any] = field(default_factory=dict, metadata=CONTEXT)
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )

    kind: ClassVar[str] = "kernel-rule"
    sense: ClassVar[Literal["min", "max"]] = "max"
    encodings: ClassVar[tuple[Encoding[DNFForm], ...]] = (Encoding("slots", slots),)

    def _validate(self) -> None:
        """Refuse more clauses and features than a solution can be chosen from."""
        if self.max_clauses * self.d > _MOST_INDICES:
            raise InvalidInstance(
                f"max_clauses times the number of features must be at most {_MOST_INDICES}, got "
                f"{self.max_clauses} times {self.d}"
            )

    # ----------------------------------------------------------- the problem

    def form(self) -> DNFForm:
        """Return the problem as plain arrays."""
        return self._form

    @cached_property
    def _form(self) -> DNFForm:
        weights = np.array(self.weights, dtype=np.int64)
        return DNFForm(
            self.samples, weights, self.max_clauses, self.max_literals, self.side_constraints
        )

    @property
    def d(self) -> int:
        """Number d of features."""
        return int(self.samples.shape[1])

    @property
    def n_features(self) -> int:
        """Number D d of indices that a solution chooses from."""
        return self.max_clauses * self.d

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each index means, clause by clause."""
        return self.features * self.max_clauses

    def _vocabulary(self, untrue: Iterable[str] = ()) -> Vocabulary:
        """Return what names stand for: a feature in any clause."""
        names = ((name, range(j, self.n_features, self.d)) for j, name in enumerate(self.features))
        return Vocabulary(names, untrue=untrue)

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding (default: ``slots``)."""
        statement: Statement = stated_in(self, encoding).build(self._form)
        return constrained(statement, self.side_constraints)

    def rule(self, explanation: Explanation) -> DNF:
        """Return the clauses of an explanation, each with its features."""
        return self._form.clauses(explanation.features)

    def explanation_of(self, clauses: Iterable[Iterable[int]]) -> Explanation:
        """Return the explanation with these clauses."""
        return self.explanation(self._form.features([list(clause) for clause in clauses]))

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the rule with these indices, its clauses in order, each once."""
        clauses = self._form.clauses(features)
        called = str(self.context.get("class", "positive"))
        rule = Rule.of(self._form.features(clauses), self.feature_names, called)
        named = tuple(tuple(self.features[j] for j in clause) for clause in clauses)
        return Explanation(replace(rule, conditions=(named or "never",)))

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the weight of the rule in units, and whether it has a kernel feature's form."""
        clauses = self.rule(explanation)
        return Evaluation(self._form.value(clauses), feasible=self._form.allows(clauses))

    def _trivial_bound(self) -> int:
        """Return the sum of the positive weights."""
        return self._form.greatest

    def _shortened(self, explanation: Explanation) -> Explanation:
        """Drop clauses, then features of clauses, that the weight does not depend on."""
        clauses = [list(clause) for clause in self.rule(explanation)]
        value = self._form.value(clauses)
        for clause in list(reversed(clauses)):
            others = [other for other in clauses if other is not clause]
            if others and self._as_good(others, value):
                clauses = others
        for clause in clauses:
            for j in list(reversed(clause)):
                if len(clause) > 1:
                    clause.remove(j)
                    if not self._as_good(clauses, value):
                        clause.append(j)
                        clause.sort()
        return replace(explanation, rule=self.explanation_of(clauses).rule)

    def _as_good(self, clauses: Sequence[Sequence[int]], value: int) -> bool:
        """Whether clauses have that weight, and are allowed once each is there only once."""
        rule = canonical(clauses)
        return self._form.value(rule) == value and self._form.allows(rule)

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what is claimed of it, and what it is true of."""
        covered, weights = self._form.covered(self.rule(explanation)), self._form.weights
        positive, negative = (
            [int((covered & side).sum()), int(side.sum())] for side in (weights > 0, weights < 0)
        )
        figures = {"positive": positive, "negative": negative, "most": self._form.greatest}
        return claimed(self, explanation, proved, objective, bound, **figures)

    def _brief(self) -> list[str]:
        """Return support vectors, features and the form of rules."""
        m, d = self.samples.shape
        form = f"at most {self.max_clauses} clauses of at most {self.max_literals} features"
        return [f"{m} support vectors", f"{d} features", form]

    def _facts(self) -> dict[str, str]:
        """Return support vectors, weights, unit and the form of rules."""
        weights, (m, d) = self._form.weights, self.samples.shape
        return {
            "samples": f"m = {m}, {(weights > 0).sum()} positive, {(weights < 0).sum()} negative",
            "features": f"d = {d}",
            "rules": f"D = {self.max_clauses} clauses of C = {self.max_literals} features at most",
            "unit": f"a weight of 1 stands for {self.unit}",
            "positive": f"weight {self._form.greatest}",
        }

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        weights = self._form.weights
        if not (weights > 0).any():
            return ("no support vector is positive: no rule has a weight above 0",)
        if not (weights < 0).any():
            return ("no support vector is negative",)
        return ()
