"""The best few answers to a problem, and all optimal ones: by the search, or any exact engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from cpx import check
from cpx.answers.explanation import Explanation
from cpx.answers.html import Shown
from cpx.answers.result import Result, Status
from cpx.answers.text import Block, Fact, Facts, Table, as_text
from cpx.answers.values import Value, decimal, to_json
from cpx.backends import backend as find_backend
from cpx.backends.base import Progress, encoding_for, require, require_accepts
from cpx.errors import CheckFailed, InvalidOption, shown
from cpx.explainers.doors import with_reachable
from cpx.methods.excluding import by_excluding
from cpx.methods.listing import MOST, Listing, listing_of
from cpx.modelling.base import Problem
from cpx.options import TIME_LIMIT, SolveOptions
from cpx.processes.interrupts import noted
from cpx.solving.run import run
from cpx.support.validation import integer_in


@dataclass(frozen=True)
class Solutions(Shown):
    """Answers to one problem in their order, checked against the data one by one.

    Attributes
    ----------
    rules : tuple of Explanation
        The best first; of equally good ones the likelier where that is asked for, then the
        shorter, then the one whose feature indices are lexicographically first.
    values : tuple of int or Fraction
        The objective of each.
    complete : bool
        It is proved that no rule is missing before the last of these.
    more : bool
        A rule that is missing is as good as the last of these.
    optimal_only : bool
        Whether only optimal rules were asked for.
    best : Result
        The solve that found the best one, with its bound and its proof.
    undecided : int
        So many of the rules could not be checked in the time that there is for it.
    figures : mapping of str to list of str
        What a table has of each rule besides its words.
    """

    rules: tuple[Explanation, ...]
    values: tuple[Value, ...]
    complete: bool
    more: bool
    optimal_only: bool
    best: Result
    undecided: int
    figures: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.rules)

    @property
    def proved(self) -> str:
        """What was proved of the list, as a sentence."""
        if not self.rules:
            return "no rule satisfies the constraints" if self.complete else "nothing was found"
        if not self.complete:
            return "stopped before the proof: better rules than some of these may be missing"
        if self.optimal_only:
            count = "these are not all optimal rules" if self.more else "all optimal rules"
            return f"{count}, of value {decimal(self.values[0])}"
        told = "no rule is missing before the last of these"
        if self.more and self.best.backend != "search":
            # Of its equals any are listed.
            told = "no better rule than the last of these is missing"
        return told + (", others are as good as the last" if self.more else "")

    def __str__(self) -> str:
        return as_text(self.blocks())

    def blocks(self) -> list[Block]:
        """Return the list as a table, and what was proved of it."""
        proved = Fact("proved", self.proved, "" if self.complete else "open")
        if not self.rules:
            return [Facts.of([proved, *(Fact("note", told) for told in self.best.warnings)])]
        columns = {
            "": [f"{place}." for place in range(1, len(self) + 1)],
            **self.figures,
            "rule": [str(found.rule) for found in self],
        }
        rows = tuple(zip(*columns.values(), strict=True))
        told = (
            f"not all rules: {self.undecided} could not be recomputed from the data in time"
            if self.undecided
            else "yes, every rule was recomputed from the data"
        )
        checked = Fact("checked", told, "open" if self.undecided else "")
        return [
            Table(tuple(columns), rows, left=(len(columns) - 1,)),
            Facts((proved, checked)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the list as plain JSON values."""
        return {
            "format": "cpx-ranking",
            "version": 1,
            "rules": [
                {"objective": to_json(value), **rule.to_dict()}
                for value, rule in zip(self.values, self.rules, strict=True)
            ],
            "complete": self.complete,
            "more": self.more,
            "optimal_only": self.optimal_only,
            "undecided": self.undecided,
            "best": self.best.to_dict(),
        }


def solutions(
    problem: Problem,
    n: int | Literal["optimal"] = 10,
    *,
    most: int = 1000,
    backend: str | None = None,
    encoding: str | None = None,
    time_limit: float | None = TIME_LIMIT,
    threads: int = 1,
    seed: int = 0,
) -> Solutions:
    """Return the ``n`` best answers to a problem, or all optimal ones, with the proof.

    Answers are whatever the problem asks for: single rules, sets of rules, rules of kernel
    machines, sets of attributes. Single rules with a feature that can be left out without
    covering another sample that counts are not listed: they say the same as a shorter one.
    Required features always stay. Of rules with as many conditions that cover the same
    samples one is listed, with = rather than !=. Under the negative-only loss the
    disagreeing samples count, otherwise all do.

    Parameters
    ----------
    problem : Problem
        Any of the problems of one rule, such as :class:`cpx.MaxPrecision`; of sets of rules or
        rules of kernel machines, where a rule, clause or literal too many for what is covered is
        not listed; expected predictions; or reasons, of which nothing can be left out, by their
        size or weight. The page on several rules says which answers count as the same.
    n : int or "optimal"
        How many answers, from 1 to 100,000; or all that are as good as the best.
    most : int
        How many optimal ones at most.
    backend : str, optional
        ``search``, which lists single rules in one search, or any exact engine: it solves the
        problem once for each answer, without those that it has found. Of equally good rules at
        the end of the list it takes any, the search takes the first. Default: the engine that
        is installed and lists answers to such problems soonest.
    encoding : str, optional
        Name of an encoding, for engines that need one.
    time_limit : float or None, default=10.0
        Seconds > 0 in all; None for no limit.
    threads, seed : int
        Of the engine. The search uses its threads for the best rule; it finds the others by one.

    Returns
    -------
    Solutions

    Raises
    ------
    InvalidOption
        When an argument is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import KMonomial, Samples, solutions
    >>> samples = Samples(np.array([[1, 1], [1, 0], [0, 1]], dtype=bool),
    ...                   np.array([True, True, False]), features=("a", "b"))
    >>> print(solutions(KMonomial(samples, k=2), n=3))
        value  precision  coverage  rule
    1.      0      1.000     0.667  a => same class as x
    2.      1      0.667     1.000  (always) => same class as x
    3.      1      1.000     0.333  a and b => same class as x
    proved     no rule is missing before the last of these
    checked    yes, every rule was recomputed from the data

    >>> samples = Samples(np.array([[1, 0], [0, 1], [0, 0]], dtype=bool),
    ...                   np.array([True, True, False]), features=("a", "b"))
    >>> print(solutions(KMonomial(samples, k=2), "optimal"))
        value  precision  coverage  rule
    1.      1      0.667     1.000  (always) => same class as x
    2.      1      1.000     0.333  a => same class as x
    3.      1      1.000     0.333  b => same class as x
    proved     all optimal rules, of value 1
    checked    yes, every rule was recomputed from the data
    """
    options = SolveOptions(time_limit, threads, seed, encoding=encoding)
    optimal_only = isinstance(n, str) and n == "optimal"
    if isinstance(n, str) and not optimal_only:
        raise InvalidOption(f'n must be an integer or "optimal", got {shown(n)}')
    listing = _listing(problem)
    engine = find_backend(backend or _soonest(listing))
    backend = backend or engine.full_name
    wanted = integer_in("most" if optimal_only else "n", most if optimal_only else n, 1, MOST)
    require(engine)
    require_accepts(engine, problem)
    able = engine.accepts(listing.choice)
    excludes = engine._starts_workers or engine._keeps_side_constraints(listing.choice)
    if not (engine.exact and able and excludes):
        raise InvalidOption(
            f"backend {engine.full_name} lists no rules: it proves nothing, or excludes none"
        )
    form = encoding_for(engine, problem, options.encoding, options.seconds, options.warm_start)
    if not form.faithful:
        raise InvalidOption(f"encoding {options.encoding!r} has another optimum than the problem")
    with noted(cancel := threading.Event()):
        progress = Progress(problem, options, cancel=cancel)
        best = run(problem, backend, options, cancel=cancel)
        if best.status is not Status.OPTIMAL or best.explanation is None:
            complete = best.status is Status.INFEASIBLE
            best = with_reachable(problem, best)
            return _checked(listing, best, [best.explanation], complete, False, optimal_only)
        if listing.searched and engine.full_name == "search":
            found = listing.by_search(best.explanation, progress, wanted, optimal_only)
            if found is None:
                return _checked(listing, best, [best.explanation], False, False, optimal_only)
            rules = found.answers
            if not found.finished and (
                not rules or problem.evaluate(rules[0]).objective != best.objective
            ):
                # Stopped early, the list may lack the best rule, which is known.
                rules = [best.explanation, *rules][:wanted]
        else:
            found = by_excluding(listing, backend, progress, best, wanted, as_good=optimal_only)
            rules = sorted(found.answers, key=partial(_order, problem))
        best = best.with_warnings(*found.notes)
        return _checked(listing, best, rules, found.finished, found.more, optimal_only)


def _listing(problem: Problem) -> Listing:
    """Return how the answers to a problem are listed."""
    kind = listing_of(problem) if isinstance(problem, Problem) else None
    if kind is None:
        # What is known of other problems does not say which answers are redundant.
        told = "problem must be one of rules, of sets of rules or of smallest sets, got "
        raise InvalidOption(getattr(problem, "unstated", "") or told + type(problem).__name__)
    if refused := kind.refusal(problem):
        raise InvalidOption(refused)
    return kind(problem)


def _soonest(listing: Listing) -> str:
    """Return the engine that lists answers to a problem soonest, of those that can."""
    engines = map(find_backend, listing.engines)
    able = (one.full_name for one in engines if one.available() and one.accepts(listing.problem))
    return next(able, listing.engines[0])


def _order(problem: Problem, rule: Explanation) -> tuple[Value, int, int, tuple[int, ...]]:
    """Return what rules are sorted by: value, tie, size, features."""
    found, size = problem.evaluate(rule), len(rule.features)
    sign = 1 if problem.sense == "min" else -1
    return sign * found.objective, found.tie, size, rule.features


def _measured(problem: Problem, rule: Explanation, value: Value) -> Explanation:
    """Return a rule with its figures, of which nothing is said to be proved."""
    told = problem._conclude(rule, False, value, None)
    return told if told.claim is None else replace(told, claim=told.claim.without_outcome())


def _checked(
    listing: Listing,
    best: Result,
    rules: Sequence[Explanation | None],
    complete: bool,
    more: bool,
    optimal_only: bool,
) -> Solutions:
    """Measure all rules, and let the independent checker do so too."""
    problem = listing.problem
    found = [rule for rule in rules if rule is not None]
    values = [problem.evaluate(rule).objective for rule in found]
    listed = [_measured(problem, rule, value) for rule, value in zip(found, values, strict=True)]
    # What was proved of the best rule is no part of these claims.
    claim = replace(best, status=Status.FEASIBLE, bound=None, trace=())
    results = (
        replace(claim, objective=value, explanation=rule)
        for value, rule in zip(values, listed, strict=True)
    )
    wrong = check.violations_each(problem.to_dict(), (result.to_dict() for result in results))
    undecided = 0
    for place, told in enumerate(wrong, 1):
        undecided += told == [check.UNDECIDED]
        if told not in ([], [check.UNJUDGED], [check.UNDECIDED]):
            raise CheckFailed(f"check of rule {place} failed: {told[0]}")
    figures = listing.columns(values, listed) if listed else {}
    return Solutions(
        tuple(listed), tuple(values), complete, more, optimal_only, best, undecided, figures
    )
