"""Problems of one rule in words: samples, limits, rivals, and what is degenerate in the data.

Numbers are exact here that are rounded elsewhere.
"""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.answers.claim import Claim, Words, competing, exact
from cpx.answers.evaluation import SampleEvaluation
from cpx.answers.explanation import Explanation
from cpx.answers.text import one_line
from cpx.answers.values import Value, exact_percent, in_words, listed, plural
from cpx.data.bits import string_of
from cpx.data.samples import Samples
from cpx.modelling.base import Listing, Problem
from cpx.modelling.claims import asked, claimed
from cpx.models.monomial.form import CoverageLimits, WeightedMonomial
from cpx.support.shares import share_text

LIMITS = ("min_coverage", "max_coverage", "min_precision")
"""Parameters that limit what a rule covers; they are exact shares."""


def samples_in_words(samples: Samples) -> list[str]:
    """Return how many samples and features there are."""
    distinct = f" ({samples.m} distinct)" if samples.m < samples.total else ""
    rows = f"all {samples.total} rows" if samples.population else f"{samples.total} samples"
    return [f"{rows}{distinct}", f"{samples.d} features"]


MEASURES = {
    "k-monomial": ("loss", "has less on these samples"),
    "negative-only": ("covered disagreeing weight", "has less on these samples"),
    "max-precision": ("precision", "is more precise"),
    "max-precision-step": ("gain", "has more on these samples"),
    "max-coverage": ("coverage", "covers more"),
}
"""What is optimised, and what no other rule does when one is optimal."""

_COST = ("cost", "has less on these samples")
"""The same of kinds of other families."""

_COVERS_SOMETHING = ("max-precision", "max-precision-step")


def measure(kind: str) -> str:
    """Name what a kind of problem optimises."""
    return MEASURES.get(kind, _COST)[0]


def candidate(kind: str, over: Mapping[str, Any]) -> str:
    """Return the rules that compete: ``"rule of at most 4 conditions that covers ..."``."""
    parts = []
    low, high, precision = (exact(over, name) for name in LIMITS)
    if low:
        parts.append(f"covers at least {exact_percent(low)} of the samples")
    elif (kind in _COVERS_SOMETHING or "min_precision" in over) and not precision:
        parts.append("covers a sample")
    if "max_coverage" in over and high < 1:
        parts.append(f"covers at most {exact_percent(high)} of the samples")
    if precision:
        parts.append(f"has a precision of at least {exact_percent(precision)}")
    size = f"rule of at most {plural(over.get('k', 0), 'condition')}"
    return competing(over, size, after=parts)


def words(claim: Claim, found: Explanation) -> Words:
    """Return what is said of a rule."""
    kind, rivals = claim.problem, candidate(claim.problem, claim.over)
    compared, notes = "best" in claim.figures, tuple[str, ...]()
    told = _compared(claim, rivals) if compared else proved_words(claim, rivals)
    if not claim.beyond:
        return Words(told)
    share = found.precision
    if (
        kind == "k-monomial"
        and claim.optimal
        and not found.features
        and share is not None
        and share < 1
    ):
        # Where most samples agree with x, no condition may lower the loss: a fact about the loss,
        # not about x, so a reader should know what else can be asked.
        notes = (
            f"no condition lowers the loss: by loss, always predicting {found.rule.says} is "
            f"the best answer. It is right for {share} of the samples; the "
            "objective precision asks for a rule that is right more often where it applies",
        )
    return Words(told, beyond_words(claim, claim.beyond, rivals), notes)


def proved_words(claim: Claim, rivals: str) -> str:
    """Return what was proved of a rule."""
    kind, figures, bound = claim.problem, claim.figures, claim.bound
    if claim.optimal is None:
        return ""
    name, better = MEASURES.get(kind, _COST)
    covered, total = figures["covered"], figures["total"]
    told = f"{name} {claim.value} of {total}"
    if kind == "max-precision":
        told = f"{name} {figures['agreeing']}/{covered} ({share_text(claim.value or 0)})"
    elif kind == "max-precision-step":
        told = f"{name} {claim.value}"
    elif kind == "max-coverage":
        told = f"{name} {covered}/{total} ({share_text(Fraction(covered, total))})"
    if claim.optimal:
        more = "; no rule that is as precise covers more" * claim.best_of_ties
        return f"{told} is optimal: no {rivals} {better}{more}"
    if bound is None:
        return f"{told}, without a bound"
    limit = f"every {rivals} has at least {bound}"
    if kind == "max-precision":
        limit = f"no {rivals} has a precision above {in_words(bound)}"
    elif kind == "max-precision-step":
        limit = f"no {rivals} has more than {bound}"
    elif kind == "max-coverage":
        limit = f"no {rivals} covers more than {bound}"
    return f"{told}, not proved optimal: {limit}"


def _compared(claim: Claim, rivals: str) -> str:
    """Return how a rule that someone wrote compares with the best one that was found."""
    figures, value = claim.figures, claim.value
    told = f"{measure(claim.problem)} {'undefined' if value is None else in_words(value)}"
    if not figures["feasible"]:
        told += f", but it is not what was asked for, a {rivals}"
    if figures["best"] is None:
        return f"{told}; {'there is none' if figures['closed'] else 'none was found'}"
    best = Explanation.from_dict(figures["best"])
    return f"{told}; the best one found is {best}, {best.proved}"


def beyond_words(claim: Claim, beyond: Mapping[str, Any], rivals: str) -> str:
    """Return what holds of the rows that samples were drawn from.

    ``beyond`` is what :func:`cpx.models.monomial.explainers.guarantees.guarantee` returns.
    """
    rows, samples = beyond["rows"], beyond["samples"]
    if "delta" not in beyond:
        return f"exact: all {samples} rows of {rows!r} were used, none was drawn by chance"
    opening = f"with probability at least {chance(beyond['delta'])} over the samples drawn,"
    if "rounds" in beyond:
        rivals += " of every round"
    elif exact(claim.over, "min_precision"):
        rivals += " on the samples"
    if (gap := beyond.get("loss_above")) is not None:
        wrong = claim.problem == "k-monomial"
        what = "gets wrong" if wrong else "covers in another class"
        return (
            f"{opening} the share of rows of {rows!r} that the rule {what} is at most {gap:g} "
            f"above that of every {rivals}"
        )
    claims = {
        "precision": "its precision is at least {:g}",
        "coverage": "it covers at least {:g}",
        "most_coverage": f"no {rivals} covers more than {{:g}}",
        "most_precision": f"no {rivals} has a precision above {{:g}}",
        "more_precise": f"no {rivals} is more than {{:g}} more precise",
    }
    told = [text.format(beyond[name]) for name, text in claims.items() if name in beyond]
    if not told:
        return f"none: {samples} samples are too few, a smaller epsilon draws more"
    return f"{opening} of the rows of {rows!r}: {'; '.join(told)}"


def chance(delta: float) -> Decimal:
    """Return 1 - delta, never more than is proved: 1 - 1e-7 to six digits would be 1."""
    left = Decimal(repr(float(delta)))
    return Context(rounding=ROUND_FLOOR).subtract(Decimal(1), left)


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

    # ---------------------------------------------------------- the instance

    @property
    def conclusion(self) -> str:
        """Name of the class that rules stand for; empty where it is not known."""
        return str(self.samples.context.get("class", ""))

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
        return candidate(self.kind, asked(self))

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what is claimed of it, and what it covers."""
        found = self.evaluate(explanation)
        counts = {"covered": found.covered, "agreeing": found.agreeing_covered}
        return claimed(self, explanation, proved, objective, bound, **counts, total=found.total)

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
