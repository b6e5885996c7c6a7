"""How rules of kernel machines are listed: by their clauses, chosen from all as rules are.

There a formula is one set, while the slots of its statement have it in every order.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from cpx.answers.explanation import Explanation
from cpx.methods.listing import Cut, Features
from cpx.modelling.base import Problem
from cpx.models.kernel_rule.form import DNFForm
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.learning import MOST_STATED, conjunctions, number_of
from cpx.models.rule_set.listing import RuleSetListing


class KernelRuleListing(RuleSetListing):
    """Formulas of which no clause can be left out, nor a feature of one."""

    engines: ClassVar[tuple[str, ...]] = ("cpsat", "maxsat", "search")
    least_literals: ClassVar[int] = 1

    def begin(self) -> None:
        """Cut off the empty formula as well."""
        super().begin()
        self.cuts.append(Cut((), self.every))

    @classmethod
    def refusal(cls, problem: Problem) -> str:
        """Refuse more clauses than a statement chooses from."""
        count = _form(problem).n_clauses
        if count <= MOST_STATED:
            return ""
        return (
            f"a rule has at most {MOST_STATED} clauses to choose from, here are {count}: "
            "ask for a smaller max_literals"
        )

    @cached_property
    def formulas(self) -> DNFForm:
        """The problem as plain arrays."""
        return _form(self.problem)

    def selection(self) -> RuleSelection:
        """Return the choice of clauses as one of rules."""
        return self.formulas.selection()

    @cached_property
    def literals(self) -> tuple[Features, ...]:
        """The features of all clauses, by number."""
        return tuple(conjunctions(self.formulas.table.shape[1], self.formulas.max_literals))

    def numbers(self, features: Features) -> Features:
        """Return the clauses of an answer."""
        d = self.formulas.table.shape[1]
        return tuple(sorted(number_of(clause, d) for clause in self.formulas.clauses(features)))

    def answer(self, features: Features) -> Explanation:
        """Return the formula of some clauses."""
        clauses = [self.literals[rule] for rule in features]
        return self.problem.explanation(self.formulas.features(clauses))

    def same(self, rest: Features, features: Features) -> bool:
        """Whether both are true of the same samples; a formula has a clause."""
        return bool(rest) and super().same(rest, features)


def _form(problem: Problem) -> DNFForm:
    form = problem.form()
    assert isinstance(form, DNFForm)
    return form
