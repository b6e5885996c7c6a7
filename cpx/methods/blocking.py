"""The best few answers from any exact engine: each one is excluded from the next solve.

An answer is a set of features. For engines that solve statements a clause over the variables that
choose them excludes it, for others that keep side constraints one of these. So every exact engine
lists the n best, or all optimal ones, with a proof.

The clauses of a kernel rule are chosen from all that it may have, as rules are selected: there a
formula is one set, while the slots of its statement have it in every order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Status
from cpx.answers.values import Value
from cpx.backends import backend as find_backend
from cpx.backends.base import Progress
from cpx.errors import CheckFailed
from cpx.methods.cuts import Constrained, Cut, Excluding, ExcludingRatio, Selected
from cpx.modelling.base import Problem
from cpx.modelling.ratio import RatioProblem
from cpx.models.expected_prediction.form import ExpectationForm
from cpx.models.kernel_rule.form import DNFForm
from cpx.models.monomial.form import MonomialForm
from cpx.models.monomial.search.presolve import sample_weights
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.learning import RuleSetLearning, conjunctions, number_of
from cpx.models.sufficient_reason.minimum_subset.form import SubsetForm
from cpx.solving.run import run

__all__ = ["Blocked", "enumerate_by_blocking"]

Features = tuple[int, ...]


@dataclass
class Blocked:
    """What came of an enumeration.

    Attributes
    ----------
    answers : list of Explanation
        In the order in which they were found: no value is better than the one before.
    finished : bool
        It is proved that no better one is missing.
    more : bool
        One that is missing is as good as the last of these.
    notes : list of str
        Warnings of the engine, each once, and why it ended early.
    """

    answers: list[Explanation]
    finished: bool
    more: bool
    notes: list[str]


def enumerate_by_blocking(
    problem: Problem,
    backend: str,
    progress: Progress,
    best: Result,
    most: int,
    *,
    as_good: bool = False,
) -> Blocked:
    """List the first ``most`` irredundant answers, or of those as good as the best.

    Parameters
    ----------
    problem : Problem
        Of a single rule, a smallest set, an expected prediction, a set of rules, whose features
        are the rules, or a rule of a kernel machine.
    backend : str
        An exact engine that solves statements, or keeps side constraints.
    progress : Progress
        Of the enumeration: its options, its clock, and what stops it.
    best : Result
        Of the engine, on the problem: optimal.
    most : int
    as_good : bool
        Only sets as good as ``best`` are wanted.

    Raises
    ------
    CheckFailed
        When the engine finds something better than what it has proved to be the best.
    """
    return _Enumeration(problem, backend, progress, as_good).run(best, most)


class _Enumeration:
    def __init__(self, problem: Problem, backend: str, progress: Progress, as_good: bool) -> None:
        self.problem, self.backend, self.progress = problem, backend, progress
        engine, form = find_backend(backend), problem.form()
        self._by_statement = engine.needs_model or engine.starts_workers
        self.formulas = form if isinstance(form, DNFForm) else None
        if self.formulas is not None:
            form = self.formulas.selection()
        self.selection = form if isinstance(form, RuleSelection) else None
        self.monomials = form if isinstance(form, MonomialForm) else None
        self.expected = form if isinstance(form, ExpectationForm) else None
        self.subsets = isinstance(form, SubsetForm)
        side = problem.side_constraints if self.selection is None else self.selection.side
        self._terms = [(a, frozenset(T)) for row in side.linear for a, T in row.terms]
        self._wanted = side.wanted
        self._required = tuple(getattr(self.selection or problem, "required", ()))
        self.as_good = as_good
        self.cuts: list[Cut] = []
        self.answers: list[Explanation] = []
        self.value: Value | None = None
        self.notes: dict[str, None] = {}
        self._every = tuple(range(len(problem.feature_names)))
        if self.selection is not None:
            self.selection = self._without_needless_literals(self.selection)
            rules = np.ones(self.selection.shape[0], dtype=np.bool_)
            rules[list(self.selection.forbidden)] = False
            self._every = tuple(np.flatnonzero(rules).tolist())
        if self.formulas is not None:
            self.cuts.append(Cut((), self._every))
        elif self.expected is not None and problem.sense == "max":
            self._leave_out(self._required, self._idle(self._required))

    def run(self, best: Result, most: int) -> Blocked:
        """Take the answer of a solve, cut it off, and solve again."""
        result, found = best, best.explanation
        features = None if found is None else self._numbers(found.features)
        while True:
            proved = result.status is Status.OPTIMAL
            if features is None:
                return self._end(result.status is Status.INFEASIBLE)
            features = self._least(features)
            answer = self._answer(features)
            value = self.problem.evaluate(answer).objective
            equal = self._no_better(value)
            if self.as_good and value != best.objective:
                return self._end(proved)
            if not self._cut(features):
                # One more than is wanted tells whether the last has equals.
                if len(self.answers) == most:
                    return self._end(proved or equal, equal)
                self.answers.append(answer)
                self.value = value
            if not proved or self.progress.expired or self.progress.interrupted:
                return self._end(False)
            result = self._next(features, value)
            features = None if result.explanation is None else result.explanation.features

    def _end(self, finished: bool, more: bool = False) -> Blocked:
        return Blocked(self.answers, finished, more, list(self.notes))

    def _next(self, last: Features, known: Value) -> Result:
        """Solve without what is cut off; nothing that is left is better than the last."""
        problem, cuts = self.problem, tuple(self.cuts)
        rest: Problem
        options = replace(self.progress.options, time_limit=self.progress.remaining)
        if self.selection is not None:
            rest = Selected(problem, cuts, self.selection.cost(last), selected=self.selection)
            if self.formulas is not None:
                options = replace(options, encoding=None)
        elif not self._by_statement:
            rest = Constrained(problem, cuts, known)
        elif isinstance(problem, RatioProblem):
            rest = ExcludingRatio(problem, cuts, known)
        else:
            rest = Excluding(problem, cuts, known)
        result = run(rest, self.backend, options, cancel=self.progress.cancel)
        for text in (*result.warnings, result.error):
            if text and "not independently checked" not in text:
                self.notes[text] = None
        if result.status is Status.ERROR:
            if result.explanation is not None:
                answer = self._answer(result.explanation.features)
                self._no_better(self.problem.evaluate(answer).objective)
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

    def _numbers(self, features: Features) -> Features:
        """Return an answer of the problem as what is enumerated: of a formula its clauses."""
        if self.formulas is None:
            return features
        d = self.formulas.table.shape[1]
        return tuple(sorted(number_of(clause, d) for clause in self.formulas.clauses(features)))

    def _answer(self, features: Features) -> Explanation:
        """Return what is enumerated as an answer of the problem."""
        if self.formulas is not None:
            clauses = [self._literals[rule] for rule in features]
            features = tuple(self.formulas.features(clauses))
        return self.problem.explanation(features)

    def _feasible(self, features: Features) -> bool:
        return self.problem.evaluate(self._answer(features)).feasible

    # ------------------------------------------------------------------ cuts

    def _cut(self, features: Features) -> bool:
        """Cut off a set, and all that are redundant because of it; say whether it is itself."""
        if self.subsets:
            # What contains it is enough as well, and has a feature that can be left out: any that
            # no side constraint may ask for.
            others = [j for j in self._every if j not in features]
            asked = tuple(j for j in others if j in self._wanted)
            if asked:
                self._leave_out(features, [j for j in others if j not in self._wanted])
            self.cuts.append(Cut(features, asked))
            return any(self._feasible(_less(features, j)) for j in features)
        if self.problem.sense == "min" and self.expected is not None:
            # Its size is what counts: smaller ones were found before, and larger ones have more.
            self.cuts.append(Cut(features))
            return False
        itself = Cut(features, tuple(j for j in self._every if j not in features))
        smaller = self._smaller(features)
        if redundant := [always for rest, always in smaller if always or self._feasible(rest)]:
            # Then, if always, what contains it is redundant as well.
            self.cuts.append(Cut(features) if any(redundant) else itself)
            return True
        idle = self._idle(features)
        self._leave_out(features, idle)
        self.cuts.append(replace(itself, without=tuple({*itself.without}.difference(idle))))
        self._leave_out_longer(features)
        return False

    def _least(self, features: Features) -> Features:
        """Return a set that says the same, from which nothing can be left out that is not cut."""
        if self.subsets:
            return features
        while True:
            for rest, _ in self._smaller(features):
                if not any(cut.excludes(rest) for cut in self.cuts) and self._feasible(rest):
                    features = rest
                    break
            else:
                return features

    def _smaller(self, features: Features) -> Iterator[tuple[Features, bool]]:
        """Yield what says the same with less, and whether it may always take its place.

        That is, also within every set that contains this one.
        """
        for j in set(features).difference(self._required):
            rest = _less(features, j)
            if self.expected is not None:
                same = self._value(rest) == self._value(features)
                always = same and self._harmless(rest, j) and j in self._idle(rest)
            else:
                same = bool((self._left(rest) == self._left(features)).all())
                # A formula has a clause.
                same = same and (bool(rest) or self.formulas is None)
                always = self._harmless(rest, j)
            if same:
                yield rest, always
        if self._literals:
            assert self.selection is not None
            form, left = self.selection, self._left(features)
            for c in features:
                others = _less(features, c)
                for p in self._shorter(c):
                    # What it covers besides is covered, and costs nothing once more.
                    if form.prices[p] <= form.prices[c] and not (form.covers[p] & left).any():
                        yield tuple(sorted({*others, p})), self._harmless(others, c, p)

    def _harmless(self, others: Features, j: int, instead: int | None = None) -> bool:
        """Whether no side constraint can break when one takes the place of j beside the others."""
        return not any(
            T.isdisjoint(others)
            and (j in T and instead not in T if a > 0 else instead in T and j not in T)
            for a, T in self._terms
        )

    def _idle(self, features: Features) -> list[int]:
        """Return what says nothing more beside some features, and beside all that contain them."""
        if self.expected is not None:
            idle = self.expected.idle(features)
        else:
            idle = self._rows[self._left(features)].all(axis=0)
        idle[[*features, *self._required]] = False
        found = set(np.flatnonzero(idle).tolist()).intersection(self._every)
        return sorted(j for j in found if self._harmless(features, j))

    def _leave_out(self, features: Features, idle: Sequence[int]) -> None:
        """Cut off what contains a set and one of the idle features."""
        if idle:
            self.cuts.append(Cut(features, idle=tuple(idle)))

    def _leave_out_longer(self, features: Features) -> None:
        """Cut off what has a longer rule, for which one of these would do beside the others."""
        if not self._literals or self._terms:
            return
        assert self.selection is not None
        form = self.selection
        for c in features:
            others, short = _less(features, c), {*self._literals[c]}
            needed = form.covers[c] & self._left(others)
            longer = [r for r in self._every if r not in features and short < {*self._literals[r]}]
            longer = [r for r in longer if form.prices[c] <= form.prices[r]]
            self._leave_out(others, [r for r in longer if (form.covers[r] >= needed).all()])

    def _without_needless_literals(self, form: RuleSelection) -> RuleSelection:
        """Forbid rules that cover what a shorter one covers."""
        needless = {
            r
            for r in range(len(self._literals))
            for p in self._shorter(r)
            if (form.covers[r] == form.covers[p]).all() and self._harmless((), r, p)
        }
        return replace(form, forbidden=tuple(sorted(needless.union(form.forbidden))))

    def _shorter(self, rule: int) -> list[int]:
        """Return the rules with one literal less; a clause of a formula has one."""
        literals, least = self._literals[rule], 0 if self.formulas is None else 1
        if len(literals) <= least:
            return []
        return [self._number[_less(literals, j)] for j in literals]

    @cached_property
    def _literals(self) -> tuple[Features, ...]:
        """The literals of all conjunctions, by number, where the rules are these."""
        problem = self.problem
        if self.formulas is not None:
            return tuple(conjunctions(self.formulas.table.shape[1], self.formulas.max_literals))
        if not isinstance(problem, RuleSetLearning):
            return ()
        return tuple(conjunctions(problem.samples.d, problem.max_literals))

    @cached_property
    def _number(self) -> dict[Features, int]:
        return {literals: r for r, literals in enumerate(self._literals)}

    def _value(self, features: Features) -> Value:
        return self.problem.evaluate(self._answer(features)).objective

    def _left(self, features: Features) -> Any:
        """Return which samples that count some features leave to the others."""
        return self._rows[:, list(features)].all(axis=1)

    @cached_property
    def _rows(self) -> Any:
        """Which samples that count each feature leaves to the others, apart from required ones.

        A rule leaves those that agree, a set of rules those that none of them covers.
        """
        if self.selection is not None:
            return ~self.selection.covers.T
        form = self.monomials
        assert form is not None
        matters = sample_weights(form).signed != 0
        matters &= form.covered(form.required)
        return form.agreement[matters]


def _less(features: Features, feature: int) -> Features:
    return tuple(j for j in features if j != feature)
