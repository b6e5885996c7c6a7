"""The best few rules of a problem, and all optimal ones: by the search, or by any exact engine."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx import check
from cpx.answers.explanation import Explanation
from cpx.answers.html import Shown
from cpx.answers.result import Result, Status
from cpx.answers.text import Block, Fact, Facts, Table, as_text
from cpx.answers.values import Value, decimal, digits, to_json
from cpx.backends import backend as find_backend
from cpx.backends.base import Progress
from cpx.backends.progress import run_interruptibly
from cpx.errors import CheckFailed, InvalidOption
from cpx.explainers.unreachable import with_reachable
from cpx.methods.blocking import enumerate_by_blocking
from cpx.methods.cuts import Constrained
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.form import ExpectationForm
from cpx.models.kernel_rule.form import DNFForm
from cpx.models.monomial.form import MonomialForm, RatioMonomial, monomial_form
from cpx.models.monomial.problem import MonomialProblem
from cpx.models.monomial.search.presolve import reduce
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.learning import MOST_STATED
from cpx.models.sufficient_reason.minimum_subset.form import SubsetForm
from cpx.options import SolveOptions
from cpx.processes.interrupts import noted
from cpx.solving.run import run
from cpx.support.shares import share_text
from cpx.support.validation import integer_in

if TYPE_CHECKING:
    from cpx.models.monomial.search.solution_pool import BestSets

_MOST = 100_000

_SOONEST: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (MonomialForm, ("search", "cpsat")),
    (RuleSelection, ("maxsat", "cpsat", "search")),
    (object, ("cpsat", "maxsat", "search", "hitting-sets")),
)
"""Engines by the form of a problem, those first that listed such answers soonest."""


@dataclass(frozen=True)
class Ranking(Shown):
    """Rules of one problem in their order, checked against the data one by one.

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
    """

    rules: tuple[Explanation, ...]
    values: tuple[Value, ...]
    complete: bool
    more: bool
    optimal_only: bool
    best: Result
    undecided: int = 0

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
            **self._figures(),
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

    def _figures(self) -> dict[str, list[str]]:
        """Return what the table has of each rule besides its words."""
        expected = [found for found in self if isinstance(found, ExpectedExplanation)]
        if expected:
            # Values are in units of the instance, or numbers of attributes.
            return {
                "attributes": [str(len(found.features)) for found in expected],
                "expected": [f"{found.expected:.4f}" for found in expected],
                "likelihood": [f"{math.exp(found.log_likelihood):.3g}" for found in expected],
            }
        places = digits(self.values)
        columns = {"value": [decimal(value, places) for value in self.values]}
        if any(found.coverage is not None for found in self):
            columns["precision"] = [_share(found.precision) for found in self]
            columns["coverage"] = [_share(found.coverage) for found in self]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as plain JSON values."""
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
            "proved": self.proved,
            "best": self.best.to_dict(),
        }


def _share(value: Fraction | None) -> str:
    return "-" if value is None else share_text(value)


def best_rules(
    problem: Problem,
    n: int = 10,
    *,
    backend: str | None = None,
    encoding: str | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Ranking:
    """Return the ``n`` best rules of a problem, found and proved by an exact engine.

    Rules are whatever the problem asks for: single rules, sets of rules, rules of kernel
    machines, sets of attributes. Single rules with a feature that can be left out without
    covering another sample that counts are not listed: they say the same as a shorter one.
    Required features always stay. Of rules with as many conditions that cover the same samples
    the search lists one, with = rather than !=. Under the negative-only loss the disagreeing
    samples count, otherwise all do.

    Parameters
    ----------
    problem : Problem
        Any of the problems of one rule, such as :class:`cpx.MaxPrecision`; of sets of rules or
        rules of kernel machines, where a rule, clause or literal too many for what is covered is
        not listed; expected predictions; or reasons, of which nothing can be left out, by their
        size or weight. The page on several rules says which answers count as the same.
    n : int
        How many rules, from 1 to 100,000.
    backend : str, optional
        ``search``, which lists single rules in one search, or any exact engine: it solves the
        problem once for each answer, without those that it has found. Of equally good rules at
        the end of the list it takes any, the search takes the first. Default: the engine that
        is installed and lists answers to such problems soonest.
    encoding : str, optional
        Name of an encoding, for engines that need one.
    time_limit : float, optional
        Seconds > 0 in all.
    threads, seed : int
        Of the engine. The search uses its threads for the best rule; it finds the others by one.

    Returns
    -------
    Ranking

    Raises
    ------
    InvalidOption
        When an argument is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import KMonomial, Samples, best_rules
    >>> samples = Samples(np.array([[1, 1], [1, 0], [0, 1]], dtype=bool),
    ...                   np.array([True, True, False]), features=("a", "b"))
    >>> print(best_rules(KMonomial(samples, k=2), n=3))
        value  precision  coverage  rule
    1.      0      1.000     0.667  a => same class as x
    2.      1      0.667     1.000  (always) => same class as x
    3.      1      1.000     0.333  a and b => same class as x
    proved     no rule is missing before the last of these
    checked    yes, every rule was recomputed from the data
    """
    options = SolveOptions(time_limit, threads, seed, encoding=encoding)
    return _rank(problem, n, backend, options, optimal_only=False)


def optimal_rules(
    problem: Problem,
    most: int = 1000,
    *,
    backend: str | None = None,
    encoding: str | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Ranking:
    """Return all optimal rules of a problem, or the first ``most`` of them.

    As :func:`best_rules` does otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import KMonomial, Samples, optimal_rules
    >>> samples = Samples(np.array([[1, 1], [1, 1], [0, 0]], dtype=bool),
    ...                   np.array([True, True, False]), features=("a", "b"))
    >>> print(optimal_rules(KMonomial(samples, k=2)))
        value  precision  coverage  rule
    1.      0      1.000     0.667  a => same class as x
    2.      0      1.000     0.667  b => same class as x
    proved     all optimal rules, of value 0
    checked    yes, every rule was recomputed from the data
    """
    options = SolveOptions(time_limit, threads, seed, encoding=encoding)
    return _rank(problem, most, backend, options, optimal_only=True)


def _rank(
    problem: Problem, n: int, backend: str | None, options: SolveOptions, optimal_only: bool
) -> Ranking:
    form = monomial_form(problem) if isinstance(problem, Problem) else None
    if form is None and (why := _not_listed(problem)):
        raise InvalidOption(why)
    backend = backend or _soonest(problem)
    engine = find_backend(backend)
    n = integer_in("most" if optimal_only else "n", n, 1, _MOST)
    engine.require()
    by_search = engine.full_name == "search"
    engine.require_accepts(problem)
    excludes = engine.needs_model or engine.starts_workers
    if not engine.exact or not (excludes or engine.takes(Constrained(problem, ()))):
        raise InvalidOption(
            f"backend {engine.full_name} lists no rules: it proves nothing, or excludes none"
        )
    encoding = engine.encoding_of(problem, options.encoding, options.time_limit)
    if not encoding.faithful:
        raise InvalidOption(f"encoding {options.encoding!r} has another optimum than the problem")
    if form is not None and options.encoding and not encoding.every_solution:
        raise InvalidOption(f"encoding {options.encoding!r} leaves out rules: name another one")
    with noted(cancel := threading.Event()):
        progress = Progress(problem, options, cancel=cancel)
        best = run(problem, backend, options, cancel=cancel)
        if best.status is not Status.OPTIMAL or best.explanation is None:
            complete = best.status is Status.INFEASIBLE
            best = with_reachable(problem, best)
            return _checked(problem, best, [best.explanation], complete, False, optimal_only)
        if form is not None and by_search:
            return _by_search(problem, form, best, progress, n, optimal_only)
        found = enumerate_by_blocking(problem, backend, progress, best, n, as_good=optimal_only)
    rules = sorted(found.answers, key=partial(_order, problem))
    best = best.with_warnings(*found.notes)
    return _checked(problem, best, rules, found.finished, found.more, optimal_only)


def _soonest(problem: Problem) -> str:
    """Return the engine that lists answers to a problem soonest, of those that can."""
    form = problem.form()
    names = next(names for kind, names in _SOONEST if isinstance(form, kind))
    engines = map(find_backend, names)
    able = (one.full_name for one in engines if one.available() and one.accepts(problem))
    return next(able, names[0])


def _not_listed(problem: Problem) -> str:
    """Say why answers to a problem of more than single rules are not listed, if so."""
    form = problem.form() if isinstance(problem, Problem) else None
    if isinstance(form, DNFForm):
        # They are chosen from all clauses: in the slots of a statement each has many places.
        few = form.n_clauses <= MOST_STATED
        told = (
            f"a rule has at most {MOST_STATED} clauses to choose from, here are {form.n_clauses}"
        )
        return "" if few else f"{told}: ask for a smaller max_literals"
    if isinstance(form, RuleSelection | ExpectationForm | SubsetForm):
        return ""
    # What is known of other problems does not say which answers are redundant.
    kind = type(problem).__name__
    told = f"problem must be one of rules, of sets of rules or of smallest sets, got {kind}"
    return getattr(problem, "unstated", "") or told


def _order(problem: Problem, rule: Explanation) -> tuple[Value, int, int, tuple[int, ...]]:
    """Return what rules are sorted by: value, tie, size, features."""
    found, size = problem.evaluate(rule), len(rule.features)
    sign = 1 if problem.sense == "min" else -1
    return sign * found.objective, found.tie, size, rule.features


def _by_search(
    problem: Problem,
    form: MonomialForm,
    best: Result,
    progress: Progress,
    n: int,
    optimal_only: bool,
) -> Ranking:
    assert best.explanation is not None
    wanted = n if optimal_only else n + 1
    while True:
        found = _search(form, progress, best.explanation.features, wanted, optimal_only)
        if found is None:
            return _checked(problem, best, [best.explanation], False, False, optimal_only)
        columns, several = found
        rules = [problem.explanation(features) for features in columns]
        if optimal_only:
            break
        listed, twins = len(rules), _without_twins(problem, rules)
        if len(twins) > n or not several.finished or listed < wanted or wanted > _MOST:
            if len(twins) > n:
                last, next_one = (problem.evaluate(twins[i]).objective for i in (n - 1, n))
                several.more = last == next_one
            rules = twins[:n]
            break
        wanted = min(2 * wanted, _MOST + 1)
    if not several.finished and (
        not rules or problem.evaluate(rules[0]).objective != best.objective
    ):
        # Stopped early, the list may lack the best rule, which is known.
        rules = [best.explanation, *rules][:n]
    return _checked(problem, best, rules, several.finished, several.more, optimal_only)


def _without_twins(problem: Problem, rules: Sequence[Explanation]) -> list[Explanation]:
    """Keep one of the rules of a size that cover the same samples: it says all they say.

    That is the one that says fewest values are not there, and of these the first.
    """
    assert isinstance(problem, MonomialProblem)
    best: dict[tuple[int, bytes], Explanation] = {}
    for rule in rules:
        key = len(rule.features), problem.samples.covered(rule.features).tobytes()
        known = best.get(key)
        if known is None or _negations(rule) < _negations(known):
            best[key] = rule  # in the place of the first
    return list(best.values())


def _negations(rule: Explanation) -> int:
    return sum(" != " in text or text.startswith("not ") for text in rule.rule.words)


def _search(
    form: MonomialForm, progress: Progress, best: tuple[int, ...], n: int, optimal_only: bool
) -> tuple[list[tuple[int, ...]], BestSets] | None:
    """Return the sets, and how they were found; None when it was stopped before it began."""
    from cpx.models.monomial.search.solution_pool import best_sets

    reduced = reduce(form, every=True)
    assert reduced is not None
    if progress.expired or progress.interrupted:
        return None
    signal = np.zeros(2, dtype=np.int64)
    known = [int(j) for j in np.flatnonzero(np.isin(reduced.features, best))]

    def stop() -> None:
        signal[0] = 1

    found = run_interruptibly(
        lambda: best_sets(
            reduced,
            n,
            known,
            ratio=isinstance(form, RatioMonomial),
            as_good=optimal_only,
            signal=signal,
        ),
        progress,
        stop,
    )
    return [reduced.original(columns) for columns in found.columns], found


def _checked(
    problem: Problem,
    best: Result,
    rules: Sequence[Explanation | None],
    complete: bool,
    more: bool,
    optimal_only: bool,
) -> Ranking:
    """Measure all rules, and let the independent checker do so too."""
    found = [rule for rule in rules if rule is not None]
    values = [problem.evaluate(rule).objective for rule in found]
    listed = [
        replace(problem.conclude(rule, False, value, None), proved="")
        for rule, value in zip(found, values, strict=True)
    ]
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
    return Ranking(tuple(listed), tuple(values), complete, more, optimal_only, best, undecided)
