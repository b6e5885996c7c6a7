"""What is known of a learned rule set, each bound with what it bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from cpx.answers.text import Fact, Facts, as_text
from cpx.models.rule_set.classifier.self_confidence import PARTS
from cpx.support.shares import share_text

__all__ = ["LearningReport", "SurrogateReport"]


@dataclass(frozen=True)
class LearningReport:
    """Rules learned from labelled rows by :func:`cpx.learn_rules`.

    Attributes
    ----------
    errors, total : int
        Weight of the rows that get the wrong class, and of all.
    n_rules : int
    price : Fraction
        Of a rule, in errors.
    objective : Fraction
        Errors and prices: the zero-one loss. No bound of it is known.
    hamming : Fraction
        Least Hamming loss and price of a set that was found.
    hamming_bound : Fraction
        No set of rules of at most k literals each has a lower one.
    closed : bool
        Whether it was proved that no rule is left to add to the linear programme.
    unit : Fraction
        Weight of rows that all these figures count as 1: less than 1 where weights are not whole.
    counted : pair of int, optional
        Where errors weigh by the self-confidence of rows: the weight without it of the rows that
        get the wrong class, and of all, in units of ten times ``unit``.
    finished : bool
        Whether no step of learning was ended by the time limit or by ``stop``.

    Examples
    --------
    >>> print(LearningReport(3, 100, 2, Fraction(1), Fraction(5), Fraction(6), Fraction(5), True))
    errors     3 of 100, 2 rules at 1: 5 in all, no bound
    Hamming    6, at least 5 for every set; no rule is left to add
    """

    errors: int
    total: int
    n_rules: int
    price: Fraction
    objective: Fraction
    hamming: Fraction
    hamming_bound: Fraction
    closed: bool
    unit: Fraction = Fraction(1)
    counted: tuple[int, int] | None = None
    finished: bool = True

    @property
    def proved(self) -> bool:
        """Whether no set of rules has a lower Hamming loss and price than ``hamming``."""
        return self.hamming == self.hamming_bound

    def facts(self) -> list[Fact]:
        """Return what is printed and shown."""
        left = "no rule is left" if self.closed else "rules may be left"
        # By self-confidence rows count in parts, which say less than weights do.
        unit = Fraction(1) if self.counted is None else self.unit
        low, high = float(self.hamming_bound * unit), float(self.hamming * unit)
        facts = [Fact("Hamming", f"{high:g}, at least {low:g} for every set; {left} to add")]
        if self.counted is not None:
            wrong, rows = (_number(count * PARTS * unit) for count in self.counted)
            weighed = " by self-confidence"
            return [Fact("wrong", f"{wrong} of {rows}"), _loss(self, unit, weighed), *facts]
        parts = Fact("unit", f"errors are counted in parts of {float(self.unit):.3g} of weight")
        return [_loss(self), *facts, *[parts] * (self.unit != 1)]

    def __str__(self) -> str:
        return as_text([Facts.of(self.facts())])


@dataclass(frozen=True)
class SurrogateReport:
    """Rules learned by asking a black box.

    Attributes
    ----------
    errors, total : int
        Weight of the rows of the table that do not get the label of the black box, and of all.
    n_rules : int
    price : Fraction
        Of a rule, in errors.
    objective : Fraction
        Errors and prices on the rows of the table.
    quality : float
        Q, the fidelity less the price of the rules, on rows and queries.
    quality_bound : float or None
        No set of the last candidates has a greater Q there; only of the exact loop.
    queries : int
        Instances that the black box was asked about besides the rows.
    rechecked, changed : int
        Rows that were asked again, and how many of them got another label.

    Examples
    --------
    >>> print(SurrogateReport(3, 100, 2, Fraction(1), Fraction(5), 0.96, None, 50, 80, 0))
    errors     3 of 100, 2 rules at 1: 5 in all, no bound
    quality    0.960 on rows and 50 queries, no bound
    asked      80 rows again, 0 got another label
    """

    errors: int
    total: int
    n_rules: int
    price: Fraction
    objective: Fraction
    quality: float
    quality_bound: float | None
    queries: int
    rechecked: int
    changed: int

    @property
    def fidelity(self) -> float:
        """Share of the rows that get the label of the black box."""
        return 1 - self.errors / self.total

    @property
    def proved(self) -> bool:
        """Whether the quality is the maximum over all sets of the last candidates."""
        return self.quality_bound is not None and self.quality >= self.quality_bound

    def facts(self) -> list[Fact]:
        """Return what is printed and shown."""
        most = "no bound"
        if self.quality_bound is not None:
            most = f"at most {share_text(self.quality_bound)} for every set of the last candidates"
        quality = f"{share_text(self.quality)} on rows and {self.queries} queries, {most}"
        again = f"{self.rechecked} rows again, {self.changed} got another label"
        return [_loss(self), Fact("quality", quality), Fact("asked", again)]

    def __str__(self) -> str:
        return as_text([Facts.of(self.facts())])


def _loss(
    report: LearningReport | SurrogateReport, unit: Fraction = Fraction(1), weighed: str = ""
) -> Fact:
    n = report.n_rules
    price, objective = (f"{float(figure * unit):g}" for figure in (report.price, report.objective))
    rules = f"{n} rule{'s' * (n != 1)} at {price}"
    share = f"{_number(report.errors * unit)} of {_number(report.total * unit)}{weighed}"
    return Fact("errors", f"{share}, {rules}: {objective} in all, no bound")


def _number(value: Fraction) -> str:
    """Return a number in digits, all of them where it is whole."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"
