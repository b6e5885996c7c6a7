"""Problems of one rule in words: samples, limits, rivals, and what is degenerate in the data.

Numbers are exact here that are rounded elsewhere.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from cpx.answers.rule import Rule
from cpx.models.monomial.saved import LIMITS

if TYPE_CHECKING:
    from cpx.data.samples import Samples
    from cpx.models.monomial.problem import MonomialProblem

__all__ = [
    "candidate",
    "class_words",
    "conclusion",
    "degenerate",
    "percent",
    "samples_in_words",
    "short_limits",
]


def class_words(name: str) -> str:
    """Return the name of a class; "=> 1" reads like a value, "=> class 1" does not.

    Examples
    --------
    >>> class_words("1"), class_words("benign")
    ('class 1', 'benign')
    """
    return f"class {name}" if name.lstrip("-").replace(".", "", 1).isdigit() else name


def conclusion(samples: Samples) -> str:
    """Return what a rule about x says: the class of x, by name where it is known."""
    return class_words(str(samples.context.get("class", Rule.conclusion)))


def percent(share: Fraction) -> str:
    """Return a share in percent, or as a fraction where percents would be rounded.

    Examples
    --------
    >>> percent(Fraction(1, 20)), percent(Fraction(1, 3))
    ('5 %', '1/3')
    """
    text = f"{float(100 * share):g}"
    return f"{text} %" if Fraction(text) == 100 * share else str(share)


def candidate(problem: MonomialProblem) -> str:
    """Return the rules that compete: ``"rule of at most 4 conditions that covers ..."``."""
    size = f"rule of at most {problem.k} condition{'s' * (problem.k != 1)}"
    parts = []
    if problem.required:
        parts.append("has what is required")
    if problem.forbidden:
        parts.append("has nothing forbidden")
    if problem.one_per_group:
        parts.append("has at most one condition of each group")
    low, high, precision = map(problem.shares.get, LIMITS)
    if low:
        parts.append(f"covers at least {percent(low)} of the samples")
    elif problem.limits is not None and problem.limits.least and not precision:
        parts.append("covers a sample")
    if high is not None and high < 1:
        parts.append(f"covers at most {percent(high)} of the samples")
    if precision:
        parts.append(f"has a precision of at least {percent(precision)}")
    return f"{size} that {' and '.join(parts)}" if parts else size


def samples_in_words(samples: Samples) -> list[str]:
    """Return how many samples and features there are."""
    rows = f" ({samples.m} distinct)" if samples.m < samples.total else ""
    return [f"{samples.total} samples{rows}", f"{samples.d} features"]


def short_limits(problem: MonomialProblem) -> list[str]:
    """Return the limits as they stand in a title: ``["coverage >= 5 %"]``."""
    signs = dict(zip(LIMITS, ("coverage >=", "coverage <=", "precision >="), strict=True))
    return [f"{signs[name]} {percent(share)}" for name, share in problem.shares.items()]


def degenerate(problem: MonomialProblem) -> tuple[str, ...]:
    """Return what is degenerate in the data of a problem, in the order of importance."""
    samples, notes = problem.samples, []
    m, d = samples.agreement.shape
    if samples.same.all():
        notes.append("all samples agree with x: the empty rule is right everywhere")
    elif not samples.same.any():
        notes.append(f"no sample agrees with x: {problem.without_agreement()}")
    if problem.k == 0:
        notes.append("k = 0: the empty rule is the only candidate")
    elif problem.k == d:
        notes.append(f"k = d = {d}: the size of the rule is not restricted")
    limits = problem.limits
    if limits is not None and limits.most is not None and limits.most < limits.least:
        notes.append(
            f"the limits contradict: at least {limits.least} and at most {limits.most} of "
            f"{samples.total} must be covered"
        )
    meanings = "never excludes a sample", "excludes every sample"
    for constant, meaning in zip(samples.constant, meanings, strict=True):
        if constant.size:
            listed = ", ".join(samples.features[j] for j in constant[:5])
            more = f" and {constant.size - 5} more" if constant.size > 5 else ""
            notes.append(f"constant feature, {meaning}: {listed}{more}")
    distinct = samples.distinct
    if distinct < m:
        notes.append(f"identical samples: {m} rows, {distinct} distinct")
    return tuple(notes)
