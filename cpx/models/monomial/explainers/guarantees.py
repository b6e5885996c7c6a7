"""What holds of rules beyond the samples with a given probability."""

from __future__ import annotations

import math
from fractions import Fraction
from time import monotonic
from typing import Any

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.answers.result import Status
from cpx.answers.values import Value
from cpx.data.statistics import UniformLimits, exact_upper
from cpx.errors import EngineMissing
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.problem import MonomialProblem
from cpx.solving import solve

__all__ = [
    "Frontier",
    "above",
    "allowed_rules",
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
) -> dict[str, Any]:
    """Return what holds of a rule under the distribution, with probability 1 - delta.

    problem: On samples that were drawn.
    explanation: The rule, best on the samples or not.
    bound: Proven bound on the objective of every rule allowed.
    delta: By default 0.05.
    time_limit: Seconds to find out how precise other rules can be.
    Returns: ``rows``, what they were drawn from, ``samples``, their number, ``delta``, and what
        is known, rounded to the safe side: the least ``precision`` and ``coverage`` of the rule;
        the greatest coverage (``most_coverage``) and precision (``most_precision``) of any rule
        that competes, by how much one can be ``more_precise``, or by how much the share of rows
        that the rule gets wrong can be above that of another (``loss_above``). Nothing of a loss
        without a bound. The page on guarantees has the proof.
    """
    delta, rules = delta or DELTA, allowed_rules(problem)
    drawn = problem.samples.context["distribution"]["name"]
    told: dict[str, Any] = {"rows": drawn, "samples": problem.samples.total, "delta": delta}
    found = problem.evaluate(explanation)
    if not isinstance(problem, MaxPrecision | MaxCoverage):
        if bound is None:
            return {}
        limits = UniformLimits(rules, delta, 2)
        most = limits.upper(int(found.objective), found.total)
        least = limits.lower(int(bound), found.total)
        return told | {"loss_above": rounded_up(most - least)}
    limits = UniformLimits(rules, delta)
    low = rounded_down(limits.lower(found.agreeing_covered, found.covered))
    least = rounded_down(limits.lower(found.covered, found.total))
    told |= {name: v for name, v in (("precision", low), ("coverage", least)) if v > 0}
    if bound is not None and isinstance(problem, MaxCoverage):
        most = rounded_up(limits.upper(int(bound), found.total))
        told |= {"most_coverage": most} if most < 1 else {}
    elif bound is not None and isinstance(problem, MaxPrecision):
        known = limits.upper(found.agreeing_covered, found.covered)
        deadline = None if time_limit is None else monotonic() + time_limit
        high = rounded_up(highest_precision(problem, limits, Fraction(bound), known, deadline))
        if low > 0:
            told["more_precise"] = above(high, low)
        elif high < 1:
            told["most_precision"] = high
    return told


def above(high: float, low: float) -> float:
    """Return by how much one limit in thousandths is above another one."""
    return max(0.0, round(high - low, 3))


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
