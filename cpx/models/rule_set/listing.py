"""How sets of rules are listed: those of which each rule covers what the others do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.methods.listing import CoverageListing, Features, less
from cpx.modelling.base import Problem
from cpx.modelling.encodings import find_encoding
from cpx.modelling.side_constraints.form import SideConstraints
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Statement
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.learning import RuleSetLearning, conjunctions
from cpx.models.rule_set.problem import RuleSetProblem


@dataclass(frozen=True, eq=False)
class RuleChoice(Problem):
    """The choice of rules by a form, by their numbers; nothing of it is saved."""

    selected: RuleSelection
    side_constraints: SideConstraints = field(default_factory=SideConstraints)

    kind: ClassVar[str] = "some rules of a form"
    encodings: ClassVar[Any] = RuleSetProblem.encodings

    def __post_init__(self) -> None:
        """Nothing is declared here, so that nothing is checked."""

    @property
    def n_features(self) -> int:
        """How many rules there are."""
        return self.selected.shape[0]

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Their numbers."""
        return tuple(map(str, range(self.n_features)))

    def form(self) -> RuleSelection:
        """Return the form."""
        return self.selected

    def model(self, encoding: str | None = None) -> Statement:
        """State the choice."""
        statement: Statement = find_encoding(self, encoding).build(self.selected)
        return constrained(statement, self.selected.side)

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the numbers of the rules."""
        return Explanation(Rule.of(features, self.feature_names, ""))

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the cost of a set by the form."""
        chosen = explanation.features
        return Evaluation(self.selected.cost(chosen), feasible=self.selected.allows(chosen))

    def _trivial_bound(self) -> int:
        """Return the least that a set can cost."""
        return self.selected.offset


class RuleSetListing(CoverageListing):
    """Sets of which no rule can be left out, nor a literal of one where rules are learned."""

    engines: ClassVar[tuple[str, ...]] = ("maxsat", "cpsat", "search")
    kept: ClassVar[tuple[str, ...]] = ("feature_names",)
    least_literals: ClassVar[int] = 0
    """Of a rule."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.form = self.selection()
        self.choice, self.required = RuleChoice(self.form, self.form.side), self.form.required

    def begin(self) -> None:
        """Forbid what covers the same as a shorter rule."""
        forbidden = self._with_needless_literals(self.form).union(self.form.forbidden)
        self.form = replace(self.form, forbidden=tuple(sorted(forbidden)))
        self.choice = RuleChoice(self.form, self.form.side)
        self.every = tuple(sorted(set(range(self.form.shape[0])).difference(forbidden)))

    def selection(self) -> RuleSelection:
        """Return the choice of rules as plain arrays."""
        form = self.problem.form()
        assert isinstance(form, RuleSelection)
        return form

    @cached_property
    def literals(self) -> tuple[Features, ...]:
        """The literals of all conjunctions, by number, where the rules are these."""
        problem = self.problem
        if not isinstance(problem, RuleSetLearning):
            return ()
        return tuple(conjunctions(problem.samples.d, problem.max_literals))

    @cached_property
    def number(self) -> dict[Features, int]:
        """The numbers of conjunctions, by their literals."""
        return {literals: r for r, literals in enumerate(self.literals)}

    @cached_property
    def rows(self) -> Any:
        """Which samples each rule does not cover."""
        return ~self.form.covers.T

    def smaller(self, features: Features) -> Iterator[tuple[Features, bool]]:
        """Yield sets with a rule less, then with a literal less."""
        yield from super().smaller(features)
        if not self.literals:
            return
        form, left = self.form, self.left(features)
        for c in features:
            others = less(features, c)
            for p in self._shorter(c):
                # What it covers besides is covered, and costs nothing once more.
                if form.prices[p] <= form.prices[c] and not (form.covers[p] & left).any():
                    yield tuple(sorted({*others, p})), self.harmless(others, c, p)

    def cut(self, features: Features) -> bool:
        """Cut off a set, and what has a longer rule where one of these would do."""
        redundant = super().cut(features)
        if not redundant and self.literals and not self.terms:
            self._leave_out_longer(features)
        return redundant

    def _leave_out_longer(self, features: Features) -> None:
        form = self.form
        for c in features:
            others, short = less(features, c), {*self.literals[c]}
            needed = form.covers[c] & self.left(others)
            longer = [r for r in self.every if r not in features and short < {*self.literals[r]}]
            longer = [r for r in longer if form.prices[c] <= form.prices[r]]
            self.leave_out(others, [r for r in longer if (form.covers[r] >= needed).all()])

    def _with_needless_literals(self, form: RuleSelection) -> set[int]:
        """Return the rules that cover what a shorter one covers."""
        return {
            r
            for r in range(len(self.literals))
            for p in self._shorter(r)
            if (form.covers[r] == form.covers[p]).all() and self.harmless((), r, p)
        }

    def _shorter(self, rule: int) -> list[int]:
        """Return the rules with one literal less."""
        literals = self.literals[rule]
        if len(literals) <= self.least_literals:
            return []
        return [self.number[less(literals, j)] for j in literals]
