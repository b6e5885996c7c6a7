"""How near a run was to the best known value, and its bound too, at each moment."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from cpx.answers.result import Result, Status
from cpx.answers.values import Value

__all__ = ["Curve", "Steps", "relative_distance"]


def relative_distance(value: Value | None, reference: Value | None) -> float:
    """Return the distance of a value, or of a bound, from a reference: from 0 to 1.

    This is the primal gap of Berthold (2013): ``|v - r| / max(|v|, |r|)``, 0 where the two are
    equal, 1 where they have different signs, and 1 where there is none of the two.

    >>> relative_distance(8, 6), relative_distance(6, 6), relative_distance(None, 6)
    (0.25, 0.0, 1.0)
    >>> relative_distance(-1, 6), relative_distance(0, 6)
    (1.0, 1.0)
    """
    if value is None or reference is None:
        return 1.0
    if value == reference:
        return 0.0
    if (value < 0) != (reference < 0):
        return 1.0
    # Integers and fractions are divided exactly and rounded once: what differs is not 0 apart.
    if isinstance(value, int) and isinstance(reference, int):
        return abs(value - reference) / max(abs(value), abs(reference))
    first, second = Fraction(value), Fraction(reference)
    return float(abs(first - second) / max(abs(first), abs(second)))


class Steps(NamedTuple):
    """A distance that falls from 1 in steps: ``distances[i]`` from ``seconds[i]`` on."""

    seconds: list[float]
    distances: list[float]

    @classmethod
    def of(cls, points: Iterable[tuple[float, float]]) -> Steps:
        """Keep the points at which the distance falls."""
        steps, last = cls([], []), 1.0
        for seconds, distance in points:
            if distance < last:
                steps.seconds.append(seconds)
                steps.distances.append(distance)
                last = distance
        return steps

    def at(self, seconds: float) -> float:
        """Return the distance at a moment."""
        i = bisect_right(self.seconds, seconds)
        return self.distances[i - 1] if i else 1.0

    def first(self, distance: float) -> float:
        """Return when it was first at most so far; infinity when never."""
        near = (s for s, d in zip(self.seconds, self.distances, strict=True) if d <= distance)
        return next(near, math.inf)

    def integral(self, horizon: float) -> float:
        """Return the area below the steps from 0 to a moment, in seconds.

        >>> Steps([1.0, 3.0], [0.5, 0.0]).integral(10)
        2.0
        """
        area, since, distance = 0.0, 0.0, 1.0
        for seconds, lower in zip(self.seconds, self.distances, strict=True):
            until = min(seconds, horizon)
            area += (until - since) * distance
            since, distance = until, lower
        return area + (horizon - since) * distance


class Curve(NamedTuple):
    """The distances of a run's value and of its bound from the best known value."""

    value: Steps
    bound: Steps

    @classmethod
    def of(cls, result: Result, reference: Value | None, infeasible: bool) -> Curve:
        """Read them off the trace of a result.

        Where infeasibility is proved there is nothing to come near to: both distances are 1 until
        the run has proved it.
        """
        if infeasible:
            closed = result.status is Status.INFEASIBLE
            steps = Steps.of([(result.times.total, 0.0)] if closed else [])
            return cls(steps, steps)
        trace = result.trace
        return cls(
            Steps.of((p.seconds, relative_distance(p.objective, reference)) for p in trace),
            Steps.of((p.seconds, relative_distance(p.bound, reference)) for p in trace),
        )


SILENT = Curve(Steps([], []), Steps([], []))
"""Of a run that failed or is wrong."""
