"""How stable the best rule is: the rules that are nearly as good, and how often each would win."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.answers.axes import axes_or_new
from cpx.answers.explanation import Explanation
from cpx.answers.html import Shown
from cpx.answers.text import Block, Fact, Facts, Table, as_text
from cpx.answers.values import Value, decimal, digits, plural
from cpx.errors import InvalidOption
from cpx.explainers.solutions import solutions
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.problem import MonomialProblem
from cpx.models.monomial.weighted import KMonomial, NegativeOnly
from cpx.options import TIME_LIMIT
from cpx.support.shares import percent, share_text
from cpx.support.validation import closed_unit, integer_in, valid_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SHOWN = 20


@dataclass(frozen=True)
class Rivals(Shown):
    """Rules within epsilon of the best one, the best first, then those that cover more.

    Attributes
    ----------
    rules : tuple of Explanation
    values : tuple of int or Fraction
        The objective of each.
    wins : tuple of float
        In what share of the resamples each of them is the best of them.
    common : tuple of str
        The conditions that all of them have.
    complete : bool
        Whether it is proved that no rule within epsilon is missing.
    epsilon : float
    resamples : int
    """

    rules: tuple[Explanation, ...]
    values: tuple[Value, ...]
    wins: tuple[float, ...]
    common: tuple[str, ...]
    complete: bool
    epsilon: float
    resamples: int

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.rules)

    def __str__(self) -> str:
        return as_text(self.blocks())

    def blocks(self) -> list[Block]:
        """Return the rules as a table, and what they have in common."""
        count = plural(len(self.rules), "rule")
        told = f"{count} within {self.epsilon:g} of the best" + (
            "; none is missing" if self.complete else "; there may be more"
        )
        places = digits(self.values)
        rows = tuple(
            (
                percent(wins, 0),
                decimal(value, places),
                share_text(found.coverage or 0),
                str(found.rule),
            )
            for wins, value, found in list(zip(self.wins, self.values, self.rules, strict=True))[
                :_MOST_SHOWN
            ]
        )
        wins = f"how often a rule is the best of these in {self.resamples} resamples"
        facts = [
            Fact("rivals", told),
            Fact("common", " and ".join(self.common) or "no condition is in all of them"),
            Fact("wins", wins),
        ]
        return [Table(("wins", "value", "coverage", "rule"), rows, left=(3,)), Facts.of(facts)]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how often each rule wins, as bars; with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; those of a new figure of pyplot when not given.
        """
        shown = min(len(self.rules), _MOST_SHOWN)
        ax = axes_or_new(ax, 8, 0.8 + 0.35 * shown)
        ax.barh(range(shown), self.wins[:shown], color="#56B4E9")
        ax.set_yticks(range(shown), [str(found.rule) for found in self.rules[:shown]])
        ax.invert_yaxis()
        ax.set_xlim(0, 1)
        ax.set_xlabel(
            f"share of {self.resamples} resamples in which the rule is the best of these"
        )
        return ax


def rivals(
    problem: MonomialProblem,
    epsilon: float = 0.01,
    *,
    most: int = 200,
    resamples: int = 200,
    seed: int = 0,
    time_limit: float | None = TIME_LIMIT,
) -> Rivals:
    """Return all rules within epsilon of the best one, and how often each would win.

    Samples of the same number are drawn from the samples, with replacement, and the rules are
    measured on each; ties go to the rule that covers more, then to the first in the order of
    :func:`cpx.solutions`, on every resample alike. Where more rules than are listed have the
    greatest precision, those that cover most are listed.

    Parameters
    ----------
    problem : MonomialProblem
        Such as :meth:`cpx.Explainer.problem` returns.
    epsilon : float, default=0.01
        How much less precise, or, for the other objectives, how much worse as a share of all
        weight, a rival may be.
    most : int, default=200
        How many rules are listed at most.
    resamples : int, default=200
    seed : int, default=0
        Of the resamples.
    time_limit : float or None, default=10.0
        Seconds for the search.

    Returns
    -------
    Rivals

    Examples
    --------
    >>> from cpx import MaxPrecision, Samples
    >>> from cpx.models.monomial import rivals
    >>> samples = Samples([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 1, 1, 0],
    ...                   [50, 30, 19, 1], features=("a", "b", "c"))
    >>> print(rivals(MaxPrecision(samples, k=1), resamples=100))
     wins   value  coverage  rule
    100 %  1.0000     0.990  a => same class as x
      0 %  0.9900     1.000  (always) => same class as x
    rivals     2 rules within 0.01 of the best; none is missing
    common     no condition is in all of them
    wins       how often a rule is the best of these in 100 resamples
    """
    if not isinstance(problem, (MaxPrecision, MaxCoverage, KMonomial, NegativeOnly)):
        raise InvalidOption(
            "problem must be MaxPrecision, MaxCoverage, KMonomial or NegativeOnly, got "
            f"{type(problem).__name__}"
        )
    margin = Fraction(str(closed_unit("epsilon", epsilon)))
    count = integer_in("resamples", resamples, 1, 10**6)
    rng = np.random.default_rng(valid_seed(seed))
    wanted = integer_in("most", most, 1, 10**5 - 1) + 1
    ranking = solutions(problem, wanted, time_limit=time_limit)
    if not isinstance(problem, MaxPrecision):
        margin *= problem.samples.total
    near = [
        place
        for place, value in enumerate(ranking.values)
        if abs(Fraction(value) - Fraction(ranking.values[0])) <= margin
    ]
    complete = ranking.complete and (len(near) < len(ranking) or len(ranking) <= most)
    rules = [ranking.rules[place] for place in near]
    values = [ranking.values[place] for place in near]
    if isinstance(problem, MaxPrecision) and len(rules) == wanted and values[0] == values[-1]:
        # Of more rules of the greatest precision than are listed, those that cover most.
        widest = solutions(problem.covering(values[0]), most, time_limit=time_limit)
        rules = [problem.explanation(found.features) for found in widest.rules] or rules
    order = sorted(
        range(len(rules)), key=lambda i: (abs(values[i] - values[0]), -(rules[i].coverage or 0))
    )[:most]
    rules, values = [rules[i] for i in order], [values[i] for i in order]
    common = set.intersection(*(set(found.features) for found in rules)) if rules else set()
    return Rivals(
        tuple(rules),
        tuple(values),
        _wins(problem, rules, count, rng),
        tuple(problem.feature_names[j] for j in sorted(common)),
        complete,
        float(epsilon),
        count,
    )


def _wins(
    problem: MonomialProblem, rules: Sequence[Explanation], count: int, rng: Any
) -> tuple[float, ...]:
    """Return how often each rule is the best of these on samples drawn from the samples."""
    if not rules:
        return ()
    samples, limits = problem.samples, problem.limits
    covers = np.array([samples.covered(found.features) for found in rules], dtype=np.float64)
    agreeing = covers * samples.same
    won = np.zeros(len(rules), dtype=np.int64)
    chances = samples.weights / samples.total
    for _ in range(count):
        drawn = rng.multinomial(samples.total, chances)
        c, a = covers @ drawn, agreeing @ drawn
        if isinstance(problem, MaxPrecision):
            value = np.where(c > 0, a / np.maximum(c, 1), -1.0)
        elif isinstance(problem, MaxCoverage):
            value = c
        else:
            negative = isinstance(problem, NegativeOnly)
            missed = 0 if negative else drawn[samples.same].sum() - a
            value = -(c - a + missed)
        if limits is not None:
            allowed = [limits.allow(int(x), int(y)) for x, y in zip(c, a, strict=True)]
            value = np.where(allowed, value, -np.inf)
        # The greatest value, then the greatest coverage, then the first.
        won[np.lexsort((np.arange(len(c)), -c, -value))[0]] += 1
    return tuple((won / count).tolist())
