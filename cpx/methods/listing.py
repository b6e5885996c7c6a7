"""How answers are listed: what excludes each of them, what says the same, how a line reads."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.answers.values import Value, decimal, digits
from cpx.backends.base import Progress
from cpx.errors import EngineError
from cpx.modelling.base import Problem
from cpx.modelling.side_constraints.form import LinearConstraint
from cpx.support.families import registered
from cpx.support.lazy_imports import named_object
from cpx.support.shares import share_text

__all__ = ["MOST", "CoverageListing", "Cut", "Listed", "Listing", "listing_of"]

MOST = 100_000
"""So many answers at most are listed."""

Features = tuple[int, ...]


@dataclass(frozen=True)
class Cut:
    """What is not allowed: all of ``chosen`` and none of ``without``, together.

    With all other features in ``without`` that is one set; with none, a set and all that
    contain it, or those of them that have one of ``idle``, where there are some.
    """

    chosen: Features
    without: Features = ()
    idle: Features = ()

    @cached_property
    def row(self) -> LinearConstraint:
        """The same as a linear constraint."""
        absent = [(j,) for j in self.chosen] + [self.idle] * bool(self.idle)
        terms = [(-1, T) for T in absent] + [(1, (j,)) for j in self.without]
        return LinearConstraint(tuple(terms), 1 - len(absent))

    def excludes(self, features: Iterable[int]) -> bool:
        """Whether a set of features is not allowed."""
        return not self.row.holds(set(features))


@dataclass
class Listed:
    """What came of listing answers.

    Attributes
    ----------
    answers : list of Explanation
        In the order in which they were found: no value is better than the one before.
    finished : bool
        It is proved that no better one is missing.
    more : bool
        One that is missing is as good as the last of these.
    notes : tuple of str
        Warnings of the engine, each once, and why it ended early.
    """

    answers: list[Explanation]
    finished: bool
    more: bool = False
    notes: tuple[str, ...] = ()


class Listing:
    """How the answers to one problem are listed.

    An answer is a set of features. An engine finds one, it is cut off with all that are
    redundant because of it, and the engine finds the next. A family has a subclass for what it
    knows of its problems, and registers it for their forms.

    Parameters
    ----------
    problem : Problem
        Whose answers are wanted.

    Attributes
    ----------
    choice : Problem
        What is solved: the problem, or another one with the same answers.
    cuts : list of Cut
        What is cut off of the choice.
    """

    engines: ClassVar[tuple[str, ...]] = ("cpsat", "maxsat", "search", "hitting-sets")
    """Those first that listed such answers soonest."""

    searched: ClassVar[bool] = False
    """Whether the exact search lists answers itself, by :meth:`by_search`."""

    kept: ClassVar[tuple[str, ...]] = ()
    """What is computed of the choice once for all solves; no side constraint changes it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = self.choice = problem
        self.cuts: list[Cut] = []
        self.every: Features = tuple(range(len(problem.feature_names)))
        self.required: Features = tuple(getattr(problem, "required", ()))

    def begin(self) -> None:
        """Cut off what is redundant anyway, once the best answer is known."""

    @classmethod
    def refusal(cls, problem: Problem) -> str:
        """Say why the answers are not listed; "" where they are."""
        return ""

    def by_search(
        self, best: Explanation, progress: Progress, n: int, as_good: bool
    ) -> Listed | None:
        """List the first answers in one search; None when it was stopped before it began.

        Parameters
        ----------
        best : Explanation
            Of the problem, optimal.
        progress : Progress
        n : int
            How many are wanted at most.
        as_good : bool
            Only those as good as the best are wanted.
        """
        raise NotImplementedError

    def columns(self, values: Sequence[Value], answers: Sequence[Any]) -> dict[str, list[str]]:
        """Return what a table has of each answer besides its words."""
        places = digits(values)
        found = {"value": [decimal(value, places) for value in values]}
        if any(one.coverage is not None for one in answers):
            found["precision"] = [_share(one.precision) for one in answers]
            found["coverage"] = [_share(one.coverage) for one in answers]
        return found

    def once(self, answers: list[Explanation]) -> list[Explanation]:
        """Keep one of the answers that say the same with as many features."""
        return answers

    # --------------------------------------------- answers as sets of the choice

    def numbers(self, features: Features) -> Features:
        """Return an answer to the problem as one to the choice."""
        return features

    def answer(self, features: Features) -> Explanation:
        """Return an answer to the choice as one to the problem."""
        return self.problem.explanation(features)

    def feasible(self, features: Features) -> bool:
        """Whether a set is an answer to the problem, cut off or not."""
        return self.problem.evaluate(self.answer(features)).feasible

    def value(self, features: Features) -> Value:
        """Return the objective of the problem."""
        return self.problem.evaluate(self.answer(features)).objective

    # ------------------------------------------------------------ redundancy

    def same(self, rest: Features, features: Features) -> bool:
        """Whether a set says the same as one with another feature."""
        return False

    def idle(self, features: Features) -> list[int]:
        """Return what says nothing more beside some features, and beside all that contain them."""
        return []

    def always(self, rest: Features, j: int) -> bool:
        """Whether a feature is redundant in each set that contains it and the rest."""
        return self.harmless(rest, j)

    def smaller(self, features: Features) -> Iterator[tuple[Features, bool]]:
        """Yield what says the same with less, and whether it may always take its place.

        That is, also within every set that contains this one.
        """
        for j in set(features).difference(self.required):
            rest = less(features, j)
            if self.same(rest, features):
                yield rest, self.always(rest, j)

    def least(self, features: Features) -> Features:
        """Return a set that says the same, from which nothing can be left out that is not cut."""
        while True:
            for rest, _ in self.smaller(features):
                if not any(cut.excludes(rest) for cut in self.cuts) and self.feasible(rest):
                    features = rest
                    break
            else:
                return features

    def cut(self, features: Features) -> bool:
        """Cut off a set, and all that are redundant because of it; say whether it is itself."""
        others = [j for j in self.every if j not in features]
        smaller = self.smaller(features)
        if redundant := [always for rest, always in smaller if always or self.feasible(rest)]:
            # Then, if always, what contains it is redundant as well.
            self.cuts.append(Cut(features, () if any(redundant) else tuple(others)))
            return True
        idle = self.idle(features)
        self.leave_out(features, idle)
        self.cuts.append(Cut(features, tuple(j for j in others if j not in idle)))
        return False

    def leave_out(self, features: Features, idle: Sequence[int]) -> None:
        """Cut off what contains a set and one of the idle features."""
        if idle:
            self.cuts.append(Cut(features, idle=tuple(idle)))

    def harmless(self, others: Features, j: int, instead: int | None = None) -> bool:
        """Whether no side constraint can break when one takes the place of j beside the others."""
        return not any(
            T.isdisjoint(others)
            and (j in T and instead not in T if a > 0 else instead in T and j not in T)
            for a, T in self.terms
        )

    @cached_property
    def terms(self) -> list[tuple[int, frozenset[int]]]:
        """Coefficients and features of all terms of side constraints, but for the cuts."""
        side = self.choice.side_constraints
        return [(a, frozenset(T)) for row in side.linear for a, T in row.terms]

    def free(self, idle: Any, features: Features) -> list[int]:
        """Return which features of a mask can be left out beside some others."""
        idle[[*features, *self.required]] = False
        found = set(np.flatnonzero(idle).tolist()).intersection(self.every)
        return sorted(j for j in found if self.harmless(features, j))


class CoverageListing(Listing):
    """Answers that say the same where they leave the same rows to the others."""

    @property
    @abstractmethod
    def rows(self) -> Any:
        """Which rows each feature leaves to the others, apart from required ones; by columns."""

    def left(self, features: Features) -> Any:
        """Return which rows some features leave to the others."""
        return self.rows[:, list(features)].all(axis=1)

    def same(self, rest: Features, features: Features) -> bool:
        """Whether both leave the same rows."""
        return bool((self.left(rest) == self.left(features)).all())

    def idle(self, features: Features) -> list[int]:
        """Return what leaves all rows that some features leave."""
        return self.free(self.rows[self.left(features)].all(axis=0), features)


def listing_of(problem: Problem) -> type[Listing] | None:
    """Return what a family registers for the form of a problem, None without one."""
    value = registered("listings", problem.form())
    if value is None:
        return None
    found: type[Listing] = named_object(value, f"listing of {problem.kind}", EngineError)
    return found


def less(features: Features, feature: int) -> Features:
    """Return a set without a feature."""
    return tuple(j for j in features if j != feature)


def _share(value: Any) -> str:
    return "-" if value is None else share_text(value)
