"""What holds of rules beyond the samples with a given probability, and the words for it."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from time import monotonic

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.answers.result import Status
from cpx.answers.values import Value
from cpx.data.statistics import UniformLimits, exact_upper
from cpx.errors import EngineMissing
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.problem import MonomialProblem
from cpx.models.monomial.weighted import KMonomial
from cpx.solving import solve

__all__ = [
    "Frontier",
    "allowed_rules",
    "chance",
    "guarantee",
    "highest_precision",
    "rounded_down",
    "rounded_up",
]

DELTA = 0.05
"""Failure probability of what is guaranteed, unless it is given."""

_SCALE = 1000
"""Figures of a guarantee are rounded to thousandths, to the safe side."""

_STEPS = 6
"""Solves at most to bound the upper limit of all rules."""


def guarantee(
    problem: MonomialProblem,
    explanation: Explanation,
    bound: Value | None,
    delta: float | None = None,
    time_limit: float | None = None,
) -> str:
    """Return what holds of a rule under the distribution, with probability 1 - delta.

    problem: On samples that were drawn.
    explanation: The rule, best on the samples or not.
    bound: Proven bound on the objective of every rule allowed.
    delta: By default 0.05.
    time_limit: Seconds to find out how precise other rules can be.
    Returns: A sentence; the page on guarantees has its proof.
    """
    samples, rivals = problem.samples, problem.candidate()
    drawn = samples.context["distribution"]["name"]
    if problem.min_precision:
        rivals += " on the samples"
    opening = f"with probability at least {chance(delta)} over the samples drawn,"
    if not isinstance(problem, MaxPrecision | MaxCoverage):
        limits = UniformLimits(allowed_rules(problem), delta or DELTA, 2)
        return _loss(problem, explanation, bound, limits, opening, rivals)
    limits = UniformLimits(allowed_rules(problem), delta or DELTA)
    found, claims = problem.evaluate(explanation), []
    low = rounded_down(limits.lower(found.agreeing_covered, found.covered))
    if low > 0:
        claims.append(f"its precision is at least {low:g}")
    if (least := rounded_down(limits.lower(found.covered, found.total))) > 0:
        claims.append(f"it covers at least {least:g}")
    if bound is not None and isinstance(problem, MaxCoverage):
        most = rounded_up(limits.upper(int(bound), found.total))
        claims += [f"no {rivals} covers more than {most:g}"] if most < 1 else []
    elif bound is not None and isinstance(problem, MaxPrecision):
        known = limits.upper(found.agreeing_covered, found.covered)
        deadline = None if time_limit is None else monotonic() + time_limit
        high = rounded_up(highest_precision(problem, limits, Fraction(bound), known, deadline))
        claims += _more_precise(low, high, rivals)
    if not claims:
        return f"none: {samples.total} samples are too few, a smaller epsilon draws more"
    return f"{opening} of the rows of {drawn!r}: {'; '.join(claims)}"


def _more_precise(low: float, high: float, rivals: str) -> list[str]:
    """Say how much more precise than the rule another one can be, unless it is anything."""
    if low <= 0:
        return [f"no {rivals} has a precision above {high:g}"] if high < 1 else []
    return [f"no {rivals} is more than {max(0.0, round(high - low, 3)):g} more precise"]


def _loss(
    problem: MonomialProblem,
    explanation: Explanation,
    bound: Value | None,
    limits: UniformLimits,
    opening: str,
    rivals: str,
) -> str:
    """Say how much more than the best rule this one gets wrong, at most."""
    if bound is None:
        return ""
    total, drawn = problem.samples.total, problem.samples.context["distribution"]["name"]
    value = int(problem.evaluate(explanation).objective)
    what = "gets wrong" if isinstance(problem, KMonomial) else "covers in another class"
    most = rounded_up(limits.upper(value, total) - limits.lower(int(bound), total))
    return (
        f"{opening} the share of rows of {drawn!r} that the rule {what} is at most "
        f"{most:g} above that of every {rivals}"
    )


def chance(delta: float | None) -> Decimal:
    """Return 1 - delta, never more than is proved: 1 - 1e-7 to six digits would be 1."""
    left = Decimal(repr(float(delta or DELTA)))
    return Context(rounding=ROUND_FLOOR).subtract(Decimal(1), left)


def allowed_rules(problem: MonomialProblem) -> int:
    """Return how many rules of at most k conditions the problem allows, before any is sampled.

    >>> from cpx import MaxPrecision, Samples
    >>> samples = Samples([[1, 0, 1, 1]], [1], groups=(0, 0, 1, 2))
    >>> allowed_rules(MaxPrecision(samples, k=2))  # the empty one, 4 of one feature, 6 of two
    11
    >>> allowed_rules(MaxPrecision(samples, k=2, one_per_group=True, required=[0]))
    3
    """
    groups, chosen = problem.choice_groups, set(problem.required)
    free = [
        j for j in range(problem.n_features) if j not in chosen and j not in set(problem.forbidden)
    ]
    left = problem.k - len(chosen)
    if groups is None:
        sizes = [1] * len(free)
    else:
        used = {int(groups[j]) for j in chosen}
        ours = [int(groups[j]) for j in free if int(groups[j]) not in used]
        sizes = [ours.count(group) for group in sorted(set(ours))]
    # ways[i] is the number of choices of i features, at most one of each group.
    ways = [1] + [0] * max(0, left)
    for size in sizes:
        for i in range(len(ways) - 1, 0, -1):
            ways[i] += size * ways[i - 1]
    return max(1, sum(ways) if left >= 0 else 1)


class Frontier:
    """Bounds on what rules can cover, and the greatest upper limit of a precision they leave.

    A rule that covers a agreeing and b other samples has the upper limit U(a, b), which grows
    with a and falls with b. Each bound says ``(q - p) a - p b <= most`` of all rules, as a step
    of Dinkelbach's method at the precision p/q proves it.

    agreeing: Weight of the agreeing samples.
    least: Least weight that a rule covers.
    tail: Failure probability of each limit.

    >>> frontier = Frontier(agreeing=500, least=100, tail=1e-6)
    >>> frontier.add(Fraction(9, 10), 0)  # no rule has a precision above 9/10
    >>> u, a, b = frontier.highest()
    >>> a, b, round(u, 3)
    (90, 10, 0.987)
    """

    def __init__(self, agreeing: int, least: int, tail: float) -> None:
        self.tail = tail
        self._a = np.arange(agreeing + 1, dtype=np.int64)
        self._b = np.maximum(least - self._a, 0)

    def add(self, precision: Fraction, most: int) -> None:
        """Add a proven bound on the gain at a precision above 0."""
        p, q = precision.numerator, precision.denominator
        if p > 0:
            # The least b is rounded up: it is an integer.
            self._b = np.maximum(self._b, -((most - (q - p) * self._a) // p))

    def highest(self) -> tuple[float, int, int]:
        """Return the greatest upper limit that the bounds leave, and the a and b that have it."""
        limits = exact_upper(self._a, self._a + self._b, self.tail)
        at = int(limits.argmax())
        return float(limits[at]), int(self._a[at]), int(self._b[at])


def highest_precision(
    problem: MaxPrecision,
    limits: UniformLimits,
    bound: Fraction,
    known: float,
    deadline: float | None = None,
) -> float:
    """Return a bound on the precision of all allowed rules, with what the limits leave open.

    The upper limits themselves are maximised: from outside, by steps of Dinkelbach's method in
    the direction in which the highest point left is, each of which cuts it off.

    bound: Proven bound on the precision on the samples.
    known: The upper limit of some rule: no more than this is to be gained.
    deadline: When to stop, as :func:`time.monotonic` has it; what is proved until then is valid.
    """
    assert problem.limits is not None  # something must be covered
    frontier = Frontier(problem.samples.agreeing, problem.limits.least, limits.tail)
    frontier.add(bound, 0)
    highest, a, b = frontier.highest()
    for _ in range(_STEPS):
        left = None if deadline is None else deadline - monotonic()
        if highest >= 1 or b == 0 or highest <= known + 1 / _SCALE or (left and left <= 0):
            break
        step = problem.step(_direction(a, b, highest))
        try:
            found = solve(step, "search", time_limit=left)
        except EngineMissing:
            break
        if found.bound is None or found.status is Status.INFEASIBLE:
            break
        frontier.add(step.value, int(found.bound) * step.scale)
        before = highest
        highest, a, b = frontier.highest()
        if before - highest < 0.1 / _SCALE:
            break
    return highest


def _direction(a: int, b: int, limit: float) -> Fraction:
    """Return the precision p/q whose gain has the slope of the upper limit at (a, b).

    The slope is that of Chernoff's form, n kl(a / n, u) = a ln(a / (n u)) + b ln(b / (n (1 - u))),
    on which the derivative by a is ln(a / (n u)), and that by b is ln(b / (n (1 - u))).
    """
    n = a + b
    rise, fall = math.log(limit * n / max(a, 1)), math.log(b / (n * (1 - limit)))
    slope = rise / fall if fall > 0 else 1.0
    share = Fraction(1 / (1 + max(slope, 1e-3))).limit_denominator(_SCALE)
    return min(share, Fraction(_SCALE - 1, _SCALE))


def rounded_down(share: float) -> float:
    """Return thousandths, never more than the share; a millionth less, for limits are floats."""
    return max(0, math.floor(share * _SCALE - 1e-6)) / _SCALE


def rounded_up(share: float) -> float:
    """Return thousandths, never less than the share."""
    return min(_SCALE, math.ceil(share * _SCALE + 1e-6)) / _SCALE
