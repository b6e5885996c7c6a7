"""Sets of rules in words: what was proved, what the instance is, what is degenerate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.answers.claim import Claim, Words, competing, exact
from cpx.answers.explanation import Explanation
from cpx.answers.values import Value, exact_percent, listed, plural
from cpx.data.samples import Samples
from cpx.modelling.base import Problem
from cpx.modelling.claims import claimed
from cpx.models.rule_set.form import RuleSelection
from cpx.support.validation import Share

_LIMITS = {
    "max_rules": "at most {} rule",
    "max_literals": "at most {} literal",
    "max_overlap": "a weight of at most {} covered more than once",
}


def words(claim: Claim, found: Explanation) -> Words:
    """Return what is said of a set: what its value is made of, and what was proved of it."""
    figures, bound, size = claim.figures, claim.bound, len(found.features)
    if claim.optimal is None:
        return Words()
    price, rival = exact(figures, "price"), _rival(claim)
    loss = "Hamming loss" if claim.over.get("loss") == "hamming" else "error"
    told = f"{loss} {figures['error']} of {figures['total']} and {plural(size, 'rule')} at "
    told += f"{_number(price)}, {_number(figures['error'] + price * size)} in all"
    if claim.optimal:
        return Words(f"{told}, is optimal: no {rival} has less")
    if bound is None:
        return Words(f"{told}, without a bound")
    least = _number(Fraction(bound, price.denominator))
    return Words(f"{told}, not proved optimal: every {rival} has at least {least}")


def _rival(claim: Claim) -> str:
    """Return what a set is compared with."""
    over = claim.over
    if claim.problem == "rule-set-learning":
        most = plural(over.get("max_literals", 0), "literal")
        return competing(over, f"set of rules of at most {most}")
    limits = (f"has {limit}" for limit in limits_of(over))
    return competing(over, f"set of the {over.get('rules', 0)} candidates", before=limits)


def limits_of(over: Mapping[str, Any]) -> list[str]:
    """Return the limits of a selection in words."""
    found = []
    for name, text in _LIMITS.items():
        most = over.get(name)
        if most is not None:
            several = "s" * (most != 1 and name != "max_overlap")
            found.append(text.format(most) + several)
    return found


class RuleSetText(Problem):
    """What a problem about sets of rules says of itself and of its answers."""

    samples: Samples
    penalty: Share
    loss: str
    class_weights: tuple[int, int] | None

    @property
    @abstractmethod
    def total(self) -> int:
        """Weight M of all samples, with those of their classes."""

    @property
    @abstractmethod
    def scale(self) -> int:
        """The objective is counted in units of 1 / ``scale`` of the samples' weight."""

    @property
    @abstractmethod
    def price(self) -> int:
        """What a rule costs, in the units of the objective."""

    @abstractmethod
    def error(self, chosen: Iterable[int]) -> int:
        """Return the weight of the errors of a set, by the loss."""

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what is claimed of it, and what its value is made of."""
        price = str(Fraction(self.price, self.scale))
        figures = {"error": self.error(explanation.features), "total": self.total, "price": price}
        return claimed(self, explanation, proved, objective, bound, **figures)

    def _brief_of(self, rules: str, *more: str) -> list[str]:
        """Return samples, what rules there are, the price of one, and more."""
        price = f"penalty {exact_percent(Fraction(self.penalty))}"
        loss = ["Hamming loss"] * (self.loss == "hamming")
        return [f"{self.samples.total} samples", rules, price, *loss, *more]

    def _facts_of(self, rules: Mapping[str, str]) -> dict[str, str]:
        """Return samples, what rules there are, objective and unit."""
        samples = self.samples
        price = _number(Fraction(self.price, self.scale))
        loss = "error(S)" if self.loss == "zero-one" else "Hamming loss(S)"
        found = {
            "samples": f"m = {samples.m}, weight {samples.total}",
            "of the class": f"{samples.same.sum()} samples, weight {samples.agreeing}",
            "literals": f"d = {samples.d}",
            **rules,
            "objective": f"{loss} + {price} |S|: penalty {self.penalty} of {self.total}",
        }
        if self.scale > 1:
            found["unit"] = f"the objective is counted in units of 1/{self.scale}"
        if self.class_weights is not None:
            other, own = self.class_weights
            found["weights"] = f"an error counts {own} on the class, {other} on another one"
        return found

    def _notes(self) -> tuple[str, ...]:
        """Say that all samples, or none, are of the class."""
        same = self.samples.same
        if same.all():
            return ("all samples are of the class: a rule that covers all is right everywhere",)
        if not same.any():
            return ("no sample is of the class: no rule saves an error",)
        return ()


class SelectionText(RuleSetText):
    """What a selection from candidates says besides: its limits."""

    rules: tuple[tuple[int, ...], ...]
    max_rules: int | None
    required: tuple[int, ...]
    forbidden: tuple[int, ...]

    @property
    @abstractmethod
    def covers(self) -> NDArray[np.bool_]:
        """Whether candidate r covers sample i, shape (R, m)."""

    @property
    @abstractmethod
    def selection_form(self) -> RuleSelection:
        """The problem as plain arrays."""

    def _brief(self) -> list[str]:
        """Return samples, candidates, the price of a rule and limits."""
        return self._brief_of(plural(len(self.rules), "candidate"), *limits_of(vars(self)))

    def _facts(self) -> dict[str, str]:
        """Return samples, candidates, objective and limits."""
        found = self._facts_of({"candidates": f"R = {len(self.rules)}"})
        if limits := limits_of(vars(self)):
            found["limits"] = ", ".join(limits)
        for which in ("required", "forbidden"):
            if rules := getattr(self, which):
                found[which] = "{" + ", ".join(map(str, rules)) + "}"
        return found

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        out = []
        if both := sorted({*self.required} & {*self.forbidden}):
            out.append(f"required and forbidden contradict: rules {both} are in both")
        elif not self.selection_form.within_limits(self.required):
            out.append("the required rules alone break a limit: there is no solution")
        out += super()._notes()
        if self.max_rules == 0:
            out.append("max_rules = 0: the empty set is the only candidate")
        counts = self.covers.sum(axis=1)
        for value, meaning in ((0, "cover no sample"), (self.samples.m, "cover every sample")):
            constant = np.flatnonzero(counts == value).tolist()
            if constant:
                out.append(f"candidates that {meaning}: {listed(list(map(str, constant)))}")
        return tuple(out)


def _number(value: Fraction) -> str:
    """Return a fraction as a decimal number where that is exact."""
    text = f"{float(value):.12g}"
    return text if "e" not in text and Fraction(text) == value else str(value)
