"""The best few answers from any exact engine: each one is excluded from the next solve.

A linear constraint over the features excludes it, as if it were a side constraint. Engines that
solve statements have these in the statement, others keep them. So every exact engine lists the n
best answers, or all optimal ones, with a proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Status
from cpx.answers.values import Value
from cpx.backends import backend as find_backend
from cpx.backends.base import Progress
from cpx.errors import CheckFailed
from cpx.methods.listing import Cut, Listed, Listing
from cpx.modelling.base import Problem
from cpx.modelling.encodings import encoding_names
from cpx.modelling.side_constraints.form import SideConstraint, SideConstraints
from cpx.solving.run import run

if TYPE_CHECKING:
    _Base = Problem
else:
    _Base = object


class _Excluding(_Base):
    """What is different in a problem without some of its answers."""

    known: Value | None = None
    _tolerance = 0

    def _trivial_bound(self) -> Value | None:
        """Return the bound that is known, as what is left of the answers is no better."""
        return super()._trivial_bound() if self.known is None else self.known

    def _tie_step(self, objective: Value) -> None:
        """Break no ties: all of them are listed."""

    def _shortened(self, explanation: Explanation) -> Explanation:
        """Keep an answer as it is: what makes others redundant is known better elsewhere."""
        return explanation

    def _conclude(self, explanation: Explanation, *found: Any) -> Explanation:
        """Say nothing of an answer: that is done once they are all there."""
        return explanation

    def _to_check(self) -> dict[str, Any]:
        """Return what tells the checker that it knows nothing of this."""
        kind = "some answers excluded"
        return {"format": "cpx-instance", "version": 1, "problem": kind, "parameters": {}}

    def __reduce__(self) -> Any:
        return _restored, (type(self).__mro__[2], self.__getstate__())


@cache
def _excluding(cls: type[Problem]) -> type[Problem]:
    return type(f"_Excluding{cls.__name__}", (_Excluding, cls), {})


def _restored(cls: type[Problem], state: dict[str, Any]) -> Problem:
    """Return a problem of a class that no module has, from another process."""
    made: Problem = object.__new__(_excluding(cls))
    vars(made).update(state)
    return made


def excluding(
    problem: Any, cuts: Iterable[Cut], known: Value | None = None, kept: Iterable[str] = ()
) -> Problem:
    """Return a problem without some of its answers; it cannot be saved.

    problem: With side constraints among its parameters.
    known: What is known to bound the objective.
    kept: Attributes that are computed already, and do not depend on side constraints; forms among
        them get the cuts.
    """
    rows = tuple(cut.row for cut in cuts)
    side = SideConstraints((*problem.side_constraints, SideConstraint("", rows)))
    state = {
        name: replace(value, side=side) if hasattr(value, "side") else value
        for name, value in vars(problem).items()
        if name in {*kept, *(declared.name for declared in fields(problem))}
    }
    return _restored(type(problem), {**state, "side_constraints": side, "known": known})


def by_excluding(
    listing: Listing,
    backend: str,
    progress: Progress,
    best: Result,
    most: int,
    *,
    as_good: bool = False,
) -> Listed:
    """List the first ``most`` irredundant answers, or of those as good as the best.

    listing: Of the problem; it gets the cuts.
    backend: An exact engine that solves statements, or keeps side constraints.
    progress: Of the whole list: its options, its clock, and what stops it.
    best: Of the engine, on the problem: optimal.
    as_good: Only sets as good as ``best`` are wanted.
    Raises CheckFailed: When the engine finds something better than what it has proved to be the
        best.
    """
    return _Enumeration(listing, backend, progress, best, as_good).run(most)


class _Enumeration:
    """The answers found so far."""

    def __init__(
        self, listing: Listing, backend: str, progress: Progress, best: Result, as_good: bool
    ) -> None:
        self.listing, self.backend, self.progress = listing, backend, progress
        self.best, self.as_good = best, as_good
        self.answers: list[Explanation] = []
        self.value: Value | None = None
        self.notes: dict[str, None] = {}
        self.options, names = progress.options, encoding_names(listing.choice)
        if self.options.encoding not in names:
            # Each solve has little to prove: a larger encoding that the engine prefers for one
            # alone takes longer in all.
            first = names[0] if find_backend(backend).needs_model else None
            self.options = replace(self.options, encoding=first)

    def run(self, most: int) -> Listed:
        """Take the answer of a solve, cut it off, and solve again."""
        listing, result = self.listing, self.best
        listing.begin()
        found = result.explanation
        features = None if found is None else listing.numbers(found.features)
        while True:
            proved = result.status is Status.OPTIMAL
            if features is None:
                return self._end(result.status is Status.INFEASIBLE)
            features = listing.least(features)
            answer = listing.answer(features)
            value = listing.problem.evaluate(answer).objective
            equal = self._no_better(value)
            if self.as_good and value != self.best.objective:
                return self._end(proved)
            once = [] if listing.cut(features) else listing.once([*self.answers, answer])
            if len(once) == len(self.answers):
                self.answers = once
            elif once:
                # One more than is wanted tells whether the last has equals.
                if len(self.answers) == most:
                    return self._end(proved or equal, equal)
                self.answers = once
                self.value = value
            left = self.progress.remaining
            over = left == 0 or self.progress.expired or self.progress.interrupted
            if not proved or over:
                return self._end(False)
            result = self._next(features, left)
            features = None if result.explanation is None else result.explanation.features

    def _end(self, finished: bool, more: bool = False) -> Listed:
        notes = tuple(text for text in self.notes if text not in self.best.warnings)
        return Listed(self.answers, finished, more, notes)

    def _next(self, last: tuple[int, ...], left: float | None) -> Result:
        """Solve without what is cut off in so many seconds; nothing left is better."""
        choice = self.listing.choice
        known = choice.evaluate(choice.explanation(last)).objective
        rest = excluding(choice, self.listing.cuts, known, self.listing.kept)
        options = replace(self.options, time_limit=left)
        result = run(rest, self.backend, options, cancel=self.progress.cancel)
        for text in (*result.warnings, result.error):
            if text and "not independently checked" not in text:
                self.notes[text] = None
        if result.status is Status.ERROR:
            if result.explanation is not None:
                self._no_better(self.listing.value(result.explanation.features))
            return replace(result, explanation=None)
        return result

    def _no_better(self, then: Value) -> bool:
        """Whether an answer is as good as the last, and no better, which would be an error."""
        first = self.value
        if first is None:
            return False
        if self.progress.is_better(then, first):
            raise CheckFailed(
                f"{self.backend} proved that nothing is better than {first}, and found {then}"
            )
        return then == first
