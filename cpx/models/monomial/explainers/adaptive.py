"""The most precise rule up to epsilon, with no more samples than the question needs.

Samples are drawn in rounds, each twice as large as the last. After each, the search bounds the
precision of all rules that are left, see :mod:`cpx.models.monomial.explainers.guarantees`. Where
it proves that every rule better than the best one known has some condition, the next rounds are
drawn given that condition: there all samples tell something about the rules that are left, and
these are fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.answers.result import Result, Status
from cpx.data.oracle import Oracle, classifier_name
from cpx.data.samples import Samples
from cpx.data.statistics import UniformLimits, exact_lower
from cpx.errors import InvalidOption
from cpx.models.monomial.explainers.conclusions import break_tie
from cpx.models.monomial.explainers.guarantees import (
    above,
    allowed_rules,
    highest_precision,
    rounded_down,
    rounded_up,
)
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.solving import solve

if TYPE_CHECKING:
    from cpx.models.monomial.explainers.conditions import Conditions
    from cpx.models.monomial.explainers.question import Question

_FIRST = 500
"""Samples of the first round."""

_MOST = 2**20
"""Samples of a round at most."""

_BATCH = 10_000
"""Rows that the classifier is asked about at once, at most."""

_SECONDS = 1.0
"""What a batch should take, so that a time limit is kept."""

_LEAST = 0.1
"""Share of a time limit that is left to the first search."""

_OF_BEST = 4
"""In each round, one sample for so many is drawn given the best rule."""

_NARROW = Fraction(9, 10)
"""Sampling given a condition is worth while below this coverage."""


@dataclass(frozen=True)
class Answer:
    """What the rounds found.

    problem: On the last samples that were drawn without a condition.
    result: Of solving it, with the surest rule: that of the greatest lower limit.
    low, high: Limits of its precision from below, and of that of every rule from above.
    queries: Rows that the classifier was asked about.
    stopped: Why it ended before epsilon was reached; empty when it was.
    """

    problem: MaxPrecision
    result: Result
    low: float
    high: float
    queries: int
    stopped: str

    def guarantee(self, question: Question) -> dict[str, Any]:
        """Return what is known of the rule; see :func:`~.guarantees.guarantee`."""
        samples, low = self.problem.samples, rounded_down(self.low)
        return {
            "rows": samples.context["distribution"]["name"],
            "samples": samples.total,
            "delta": question.delta,
            "rounds": True,
            "precision": low,
            "more_precise": above(rounded_up(self.high), low),
        }


class Rounds:
    """Rounds of samples and solves for one question.

    conditions: Returns what is true of x; see :meth:`Question.problem`.
    question: With epsilon and delta, for the objective precision.
    called: Returns the name of a class.
    reserved: Of the queries allowed, those that are left for later.
    time_limit: Seconds for all.
    """

    def __init__(
        self,
        oracle: Oracle,
        conditions: Callable[[], Conditions],
        question: Question,
        seed: int,
        called: Callable[[Any], str],
        reserved: int,
        time_limit: float | None,
    ) -> None:
        self.oracle, self.conditions, self.question = oracle, conditions, question
        assert question.epsilon is not None
        assert question.delta is not None
        self.epsilon, self.delta = float(question.epsilon), float(question.delta)
        self.rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
        self.called, self.seed = called, seed
        self.left = None if question.max_queries is None else question.max_queries - reserved - 1
        if self.left is not None and self.left < 1:
            raise InvalidOption(
                f"max_queries = {question.max_queries} leaves none: x and {reserved} fresh "
                "samples are asked about as well"
            )
        self.deadline = None if time_limit is None else monotonic() + time_limit
        # For a first rule, however long the classifier took.
        self.least = _LEAST * (time_limit or 0)
        self.queries, self.batch = 1, 100
        # What is known: the surest rule, and the conditions that all better ones have.
        self.common: tuple[int, ...] = ()
        self.share = Fraction(1)
        self.surest: tuple[int, ...] | None = None
        self.low, self.high = 0.0, 1.0
        self.whole: MaxPrecision | None = None

    def run(self) -> Answer | None:
        """Draw rounds until epsilon is reached, or a limit.

        None where the rows of the distribution can be listed and are fewer than the next round
        would draw: then all of them should be used.
        """
        size, number, stopped = _FIRST, 0, ""
        bits, same = self._nothing()
        problem = result = None
        while True:
            number += 1
            if self._lists_fewer_rows(size):
                return None
            new, stopped = self._affordable(size - len(same))
            more = self._draw(new, self.common)
            bits, same = np.vstack([bits, more[0]]), np.concatenate([same, more[1]])
            part = self._stated(bits, same)
            delta = self.delta / (number * (number + 1))
            seconds = self._seconds(0.01 if result else self.least)
            found = solve(part, "search", time_limit=seconds, hint=self._hint(part))
            found = break_tie(part, found)
            if result is None or (found.explanation is not None and not self.common):
                problem, result = part, found
                self.whole = part
            if found.explanation is not None:
                self._limit(part, found, delta, len(same))
            assert problem is not None
            # As it is printed: rounded to the safe side.
            gap = rounded_up(self.high) - rounded_down(self.low)
            if result.explanation is None or gap <= self.epsilon + 1e-9:
                stopped = ""
                break
            if not stopped and self.left == 0:  # taken by the samples of the best rule
                stopped = self._reached()
            stopped = stopped or self._out_of_time()
            if found.explanation is None and not stopped:
                stopped = "no rule covers enough in the last round"
            if not stopped and size >= _MOST:
                stopped = f"{size} samples were drawn"
            if stopped:
                break
            if self._narrowed(part, delta):
                bits, same = self._nothing()
            else:
                size = min(2 * size, _MOST)
        features = self.surest
        if features is None:
            features = () if result.explanation is None else result.explanation.features
        high = max(self.high, self.low)
        result = _about(problem, result, features)
        return Answer(problem, result, self.low, high, self.queries, stopped)

    # ------------------------------------------------------------------ samples

    def _nothing(self) -> tuple[Any, Any]:
        d = self.oracle.bits.size
        return np.zeros((0, d), dtype=bool), np.zeros(0, dtype=bool)

    def _lists_fewer_rows(self, size: int) -> bool:
        rows = self.oracle.distribution.population()
        if rows is None or (self.left is not None and self.left < len(rows.bits)):
            return False
        return len(rows.bits) <= size + size // _OF_BEST

    def _affordable(self, wanted: int) -> tuple[int, str]:
        """Return how many samples can be drawn, with those of the best rule, and what ends it."""
        if self.left is None:
            return wanted, ""
        most = self.left * _OF_BEST // (_OF_BEST + 1)
        if wanted < most:
            return wanted, ""
        return max(1, most), self._reached()

    def _reached(self) -> str:
        return f"max_queries = {self.question.max_queries} was reached"

    def _draw(self, m: int, features: tuple[int, ...]) -> tuple[Any, Any]:
        """Draw m samples given some features, and ask about them in batches."""
        parts = [self._nothing()]
        while m > 0:
            count = min(m, self.batch)
            start = monotonic()
            rows, agreement = self.oracle.draw(count, features, self.rng)
            parts.append((agreement, self.oracle.same(rows)))
            taken = max(monotonic() - start, 1e-6)
            self.batch = int(min(_BATCH, max(1, count * _SECONDS / taken), 10 * self.batch))
            self.queries, m = self.queries + count, m - count
            if self.left is not None:
                self.left -= count
            if self._out_of_time():
                break
        return np.vstack([part[0] for part in parts]), np.concatenate([p[1] for p in parts])

    def _stated(self, bits: Any, same: Any) -> MaxPrecision:
        """State the problem on samples that have the common conditions."""
        D = self.oracle.distribution
        context = {
            "classifier": classifier_name(self.oracle.classifier),
            "distribution": {"name": D.name, **D.parameters()},
            "seed": self.seed,
            "m": len(same),
            "class": self.called(self.oracle.label),
        }
        samples = Samples(
            bits, same, features=self.oracle.literals, groups=D.groups, context=context
        )
        problem = self.question.problem(samples.merged(), self.conditions)
        assert isinstance(problem, MaxPrecision)
        if self.common:
            floor = Fraction(problem.min_coverage or 0) / self.share
            required = tuple(sorted({*problem.required, *self.common}))
            problem = replace(problem, required=required, min_coverage=min(Fraction(1), floor))
        return problem

    # ------------------------------------------------------------------- limits

    def _limit(self, problem: MaxPrecision, result: Result, delta: float, size: int) -> None:
        """Bound the precision of the best rule from below, and of all rules from above."""
        assert result.explanation is not None
        features = result.explanation.features
        limits = self._limits(problem, delta)
        found = problem.evaluate(result.explanation)
        low = limits.lower(found.agreeing_covered, found.covered)
        if self.oracle.distribution.conditional and not self._out_of_time():
            wanted = -(-size // _OF_BEST)
            few = wanted if self.left is None else min(wanted, self.left)
            if few > 0:
                same = self._draw(few, features)[1]
                tail = delta / 4
                low = max(low, float(exact_lower(int(same.sum()), same.size, tail)))
        assert self.whole is not None
        # What is said is said of rules that cover enough in every round.
        enough = self.whole.evaluate(self.whole.explanation(features)).feasible
        if enough and (low > self.low or self.surest is None):
            self.low, self.surest = low, features
        if result.bound is not None:
            high = highest_precision(
                problem, limits, Fraction(result.bound), self.low, self.deadline
            )
            # A rule without the common conditions is no better than the surest one.
            self.high = min(self.high, max(high, self.low))

    def _limits(self, problem: MaxPrecision, delta: float) -> UniformLimits:
        """Return limits of both sides for all rules, with three quarters of a round's delta."""
        return UniformLimits(allowed_rules(problem), 0.75 * delta, 2)

    def _narrowed(self, problem: MaxPrecision, delta: float) -> bool:
        """Find conditions that every rule has which can be better than the surest one."""
        if not self.oracle.distribution.conditional or problem.max_coverage is not None:
            return False
        limits, new = self._limits(problem, delta), list(self.common)
        for j in self.surest or ():
            if j in problem.required or self._out_of_time():
                continue
            without = replace(problem, forbidden=(*problem.forbidden, j))
            best = solve(without, "search", time_limit=self._seconds(0.01))
            if best.status is Status.INFEASIBLE:
                new.append(j)
            elif best.bound is not None:
                if best.explanation is not None:
                    own = without.evaluate(best.explanation)
                    if limits.upper(own.agreeing_covered, own.covered) > self.low:
                        continue  # a rule that may be better
                known, bound = self.low - 0.002, Fraction(best.bound)
                if highest_precision(without, limits, bound, known, self.deadline) <= self.low:
                    new.append(j)
        samples = problem.samples
        share = Fraction(int(samples.weights[samples.covered(new)].sum()), samples.total)
        if len(new) == len(self.common) or not 0 < share < _NARROW:
            return False
        self.common, self.share = tuple(sorted(new)), self.share * share
        return True

    # --------------------------------------------------------------------- time

    def _hint(self, problem: MaxPrecision) -> tuple[int, ...] | None:
        """Return the surest rule where the problem allows it."""
        if self.surest is None:
            return None
        found = problem.evaluate(problem.explanation(self.surest))
        return self.surest if found.feasible else None

    def _seconds(self, least: float) -> float | None:
        return None if self.deadline is None else max(least, self.deadline - monotonic())

    def _out_of_time(self) -> str:
        late = self.deadline is not None and monotonic() >= self.deadline
        return "the time limit was reached" if late else ""


def _about(problem: MaxPrecision, result: Result, features: tuple[int, ...]) -> Result:
    """Return the result with another rule, which need not be the best on these samples."""
    if result.explanation is None or result.explanation.features == features:
        return result
    rule = problem.explanation(features)
    value, bound = Fraction(problem.evaluate(rule).objective), result.bound
    proved = bound is not None and value == bound
    return replace(
        result,
        explanation=problem._conclude(rule, proved, value, bound),
        objective=value,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
    )
