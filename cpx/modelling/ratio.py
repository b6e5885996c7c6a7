"""Base classes of problems whose objective is a ratio, solved in linear steps."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal

from cpx.answers.explanation import Explanation
from cpx.modelling.base import Problem


class RatioProblem(Problem):
    """A problem to maximise a ratio of two integers, the denominator positive.

    Objectives and bounds are exact fractions. A ratio has no linear statement; engines that
    need one solve linear steps instead, see :mod:`cpx.solving.dinkelbach`.
    """

    sense: ClassVar[Literal["min", "max"]] = "max"
    ratio: ClassVar[str]
    """The objective as a formula, for ``cpx show``."""

    @abstractmethod
    def first(self) -> Explanation:
        """Return a rule found without work, feasible or not, whose ratio is tried first."""

    @abstractmethod
    def step(self, value: Fraction) -> RatioStep:
        """Return the problem to maximise ``q * numerator - p * denominator`` for value p/q.

        It has integer objectives, which may be divided by a common factor, and the same
        solutions. One with a positive objective has a ratio above the value, one with
        objective 0 the value itself.
        """

    def first_step(self) -> RatioStep:
        """Return the step at the ratio of :meth:`first`."""
        return self.step(Fraction(self.evaluate(self.first()).objective))

    @abstractmethod
    def _trivial_bound(self) -> Fraction:
        """Return a bound on the ratio that needs no proof by search."""


class RatioStep(Problem):
    """One step of a :class:`RatioProblem`: an ordinary problem with integer objectives."""

    @abstractmethod
    def ratio_bound(self, bound: int) -> Fraction:
        """Return the bound on the ratio that a bound on the objective implies."""
