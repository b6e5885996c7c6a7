"""Sets of rules in words: what was proved, what the instance is, what is degenerate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.values import Value, exact_percent, listed, plural
from cpx.data.samples import Samples
from cpx.modelling.base import Problem
from cpx.modelling.competing import competing
from cpx.models.rule_set.form import RuleSelection
from cpx.support.validation import Share

_LIMITS = {
    "max_rules": "at most {} rule",
    "max_literals": "at most {} literal",
    "max_overlap": "a weight of at most {} covered more than once",
}


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

    @property
    @abstractmethod
    def rival(self) -> str:
        """What a set is compared with: "set of the 5 candidates"."""

    def conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with the sentence that says what was proved of it."""
        chosen = explanation.features
        error, size = self.error(chosen), len(chosen)
        price = Fraction(self.price, self.scale)
        value = error + price * size
        loss = "error" if self.loss == "zero-one" else "Hamming loss"
        told = f"{loss} {error} of {self.total} and {plural(size, 'rule')} at {_number(price)}"
        told += f", {_number(value)} in all"
        if proved:
            told += f", is optimal: no {self.rival} has less"
        elif bound is None:
            told += ", without a bound"
        else:
            least = _number(Fraction(bound, self.scale))
            told += f", not proved optimal: every {self.rival} has at least {least}"
        return replace(explanation, proved=told)

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

    def _limits(self) -> list[str]:
        found = []
        for name, text in _LIMITS.items():
            most = getattr(self, name)
            if most is not None:
                several = "s" * (most != 1 and name != "max_overlap")
                found.append(text.format(most) + several)
        return found

    @property
    def rival(self) -> str:
        """What a set is compared with."""
        limits = (f"has {limit}" for limit in self._limits())
        return competing(self, f"set of the {len(self.rules)} candidates", before=limits)

    def _brief(self) -> list[str]:
        """Return samples, candidates, the price of a rule and limits."""
        return self._brief_of(plural(len(self.rules), "candidate"), *self._limits())

    def _facts(self) -> dict[str, str]:
        """Return samples, candidates, objective and limits."""
        found = self._facts_of({"candidates": f"R = {len(self.rules)}"})
        if limits := self._limits():
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
