"""Problems of one rule in words: samples, limits, rivals, and what is degenerate in the data.

Numbers are exact here that are rounded elsewhere.
"""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from cpx.answers.explanation import Explanation, SampleEvaluation
from cpx.answers.rule import Rule
from cpx.answers.text import one_line
from cpx.answers.values import Value, class_words, exact_percent, listed
from cpx.data.bits import string_of
from cpx.data.samples import Samples
from cpx.modelling.base import Listing, Problem
from cpx.modelling.competing import competing
from cpx.models.monomial.form import CoverageLimits, WeightedMonomial

LIMITS = ("min_coverage", "max_coverage", "min_precision")
"""Parameters that limit what a rule covers; they are exact shares."""


def conclusion(samples: Samples) -> str:
    """Return what a rule about x says: the class of x, by name where it is known."""
    return class_words(str(samples.context.get("class", Rule.conclusion)))


def samples_in_words(samples: Samples) -> list[str]:
    """Return how many samples and features there are."""
    distinct = f" ({samples.m} distinct)" if samples.m < samples.total else ""
    rows = f"all {samples.total} rows" if samples.population else f"{samples.total} samples"
    return [f"{rows}{distinct}", f"{samples.d} features"]


class MonomialText(Problem):
    """What a problem of one rule says of itself and of its answers.

    A subclass has the samples and the parameters, and names what is optimised.
    """

    samples: Samples
    k: int
    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    one_per_group: bool

    @property
    @abstractmethod
    def shares(self) -> dict[str, Fraction]:
        """The shares that are asked for, by the names of the parameters."""

    @property
    @abstractmethod
    def limits(self) -> CoverageLimits | None:
        """The limits on what the rule covers, as weights; None when there are none."""

    @abstractmethod
    def evaluate(self, explanation: Explanation) -> SampleEvaluation:
        """Return the exact figures of an explanation."""

    @abstractmethod
    def claim(self) -> str:
        """Name what is optimised, for sentences about what was proved."""

    # ---------------------------------------------------------- the instance

    @property
    def conclusion(self) -> str:
        """The class that rules stand for, in words."""
        return conclusion(self.samples)

    def _brief(self) -> list[str]:
        """Return samples, features, k and limits."""
        return [*samples_in_words(self.samples), f"k = {self.k}", *self.short_limits()]

    def _facts(self) -> dict[str, str]:
        """Return samples, features, rules, limits, where they come from, and other parameters."""
        samples, limits = self.samples, self.limits
        found = {
            "samples": f"m = {samples.m}, weight {samples.weights.sum()}",
            "agreeing": f"{samples.same.sum()} samples, weight {samples.agreeing}",
            "features": f"d = {samples.d}",
            "rules": f"S subset of {{0, ..., {samples.d - 1}}}, {', '.join(self._choice())}",
        }
        if limits is not None:
            found["limits"] = limits.in_words()
        told = {"k", "required", "forbidden", "one per group"}
        told |= {name.replace("_", " ") for name in LIMITS}
        found |= {name: text for name, text in super()._facts().items() if name not in told}
        for key in ("classifier", "distribution", "seed", "class"):
            if key in samples.context:
                found[key] = str(samples.context[key])
        return found

    def _choice(self) -> list[str]:
        choice = [f"|S| <= {self.k}"]
        for features, verb in ((self.required, "contains"), (self.forbidden, "avoids")):
            if features:
                choice.append(f"S {verb} {{{', '.join(map(str, features))}}}")
        if self.one_per_group:
            choice.append("at most one feature of each group")
        return choice

    def short_limits(self) -> list[str]:
        """Return the limits as they stand in a title: ``["coverage >= 5 %"]``."""
        signs = dict(zip(LIMITS, ("coverage >=", "coverage <=", "precision >="), strict=True))
        return [f"{signs[name]} {exact_percent(share)}" for name, share in self.shares.items()]

    def candidate(self) -> str:
        """Return the rules that compete: ``"rule of at most 4 conditions that covers ..."``."""
        size = f"rule of at most {self.k} condition{'s' * (self.k != 1)}"
        parts = []
        low, high, precision = map(self.shares.get, LIMITS)
        if low:
            parts.append(f"covers at least {exact_percent(low)} of the samples")
        elif self.limits is not None and self.limits.least and not precision:
            parts.append("covers a sample")
        if high is not None and high < 1:
            parts.append(f"covers at most {exact_percent(high)} of the samples")
        if precision:
            parts.append(f"has a precision of at least {exact_percent(precision)}")
        return competing(self, size, after=parts)

    # ------------------------------------------------------- what was proved

    def conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with the sentence that says what was proved of it."""
        value = f"{self.claim()} {self._figure(explanation)}"
        if proved:
            sentence = f"{value} is optimal: no {self.candidate()} {self._better()}"
        elif bound is None:
            sentence = f"{value}, without a bound"
        else:
            sentence = f"{value}, not proved optimal: {self._at_best(bound)}"
        return replace(explanation, proved=sentence)

    def _figure(self, explanation: Explanation) -> str:
        return f"{self.evaluate(explanation).objective} of {self.samples.total}"

    def _better(self) -> str:
        """Say what no other rule does, when this one is optimal."""
        return "has less on these samples"

    def _at_best(self, bound: Value) -> str:
        """Say what is proved of all rules."""
        return f"every {self.candidate()} has at least {bound}"

    # ---------------------------------------------------- what is degenerate

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate in the data, in the order of importance."""
        samples, notes = self.samples, []
        m, d = samples.agreement.shape
        if samples.same.all():
            notes.append("all samples agree with x: the empty rule is right everywhere")
        elif not samples.same.any():
            notes.append(f"no sample agrees with x: {self.without_agreement()}")
        if self.k == 0:
            notes.append("k = 0: the empty rule is the only candidate")
        elif self.k == d:
            notes.append(f"k = d = {d}: the size of the rule is not restricted")
        limits = self.limits
        if limits is not None and limits.most is not None and limits.most < limits.least:
            notes.append(
                f"the limits contradict: at least {limits.least} and at most {limits.most} of "
                f"{samples.total} must be covered"
            )
        meanings = "never excludes a sample", "excludes every sample"
        for constant, meaning in zip(samples.constant, meanings, strict=True):
            if constant.size:
                names = listed([samples.features[j] for j in constant])
                notes.append(f"constant feature, {meaning}: {names}")
        distinct = samples.distinct
        if distinct < m:
            notes.append(f"identical samples: {m} rows, {distinct} distinct")
        return tuple(notes)

    def without_agreement(self) -> str:
        """Say what is left to a rule when no sample agrees with x."""
        wanted = self.shares.get("min_precision")
        if wanted:
            return f"no rule has the precision {wanted}"
        return "a rule can only avoid covering samples"


_WIDTH, _MOST_LINES = 96, 6


def listings_of(
    samples: Samples, form: WeightedMonomial, objective: Sequence[str]
) -> Iterator[Listing]:
    """Yield features, samples with what they cost in the form, and the objective."""
    m, d = form.shape
    title = "Features j: literal, samples that agree with x on it"
    yield Listing(title, _features(samples), d, "features")
    title = "Samples i: a_i0 a_i1 ..., class, weight, cost, features that differ"
    yield Listing(title, _samples(samples, form), m, "samples")
    yield Listing("", objective, len(objective), "")


def _features(samples: Samples) -> Iterator[str]:
    agreeing = samples.agreement.sum(axis=0)
    for j, literal in enumerate(samples.features):
        group = "" if samples.groups is None else f", group {samples.groups[j]}"
        yield f"  {j:>4}  {one_line(literal)}: {agreeing[j]}{group}"


def _samples(samples: Samples, form: WeightedMonomial) -> Iterator[str]:
    for i, row in enumerate(form.agreement):
        same = "same " if samples.same[i] else "other"
        costs = [
            f"{cost} {when}"
            for cost, when in (
                (form.cost_covered[i], "if covered"),
                (form.cost_uncovered[i], "if not covered"),
            )
            if cost
        ]
        differs = ", ".join(map(str, np.flatnonzero(~row))) or "none"
        words = " and ".join(costs) or "no cost"
        yield (
            f"  {i:>4}  {string_of(row)}  {same}  {samples.weights[i]:>3}  {words:<16}  "
            f"{{{differs}}}".replace("{none}", "none")
        )


def objective_in_words(form: WeightedMonomial, claim: str, greatest: int | None) -> list[str]:
    """Return the objective spelled out; ``greatest`` is what costs are taken from, if they are."""
    pairs = zip(form.cost_covered.tolist(), form.cost_uncovered.tolist(), strict=True)
    terms = [
        f"{cost if cost > 1 else ''}[{i} {what}]".strip()
        for i, (on, off) in enumerate(pairs)
        for cost, what in ((on, "covered"), (off, "not covered"))
        if cost
    ]
    text = f"minimise {claim}(S) = {' + '.join(terms) or '0'}"
    if greatest is not None:
        costs = f" - ({' + '.join(terms)})" if terms else ""
        text = f"maximise {claim}(S) = {greatest}{costs}"
    lines = textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"    ... {len(terms):,} terms in all"]
    return ["Objective: [i covered] is 1 when a_ij = 1 for all j in S, else 0", *lines]
