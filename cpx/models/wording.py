"""Words for the limits of a problem, exact where numbers are rounded elsewhere."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from cpx.models.saved import LIMITS

if TYPE_CHECKING:
    from cpx.data.samples import Samples
    from cpx.models.monomial import MonomialProblem

__all__ = ["candidate", "class_words", "percent", "samples_in_words", "short_limits"]


def class_words(name: str) -> str:
    """Return the name of a class; "=> 1" reads like a value, "=> class 1" does not.

    Examples
    --------
    >>> class_words("1"), class_words("benign")
    ('class 1', 'benign')
    """
    return f"class {name}" if name.lstrip("-").replace(".", "", 1).isdigit() else name


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
