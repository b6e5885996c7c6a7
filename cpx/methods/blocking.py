"""The best few answers from any exact engine: each one is excluded from the next solve.

An answer is a set of features. For engines that solve statements a clause over the variables that
choose them excludes it, for others that keep side constraints one of these. So every exact engine
lists the n best, or all optimal ones, with a proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cpx.answers.explanation import Evaluation, Explanation
from cpx.answers.result import Result, Status
from cpx.answers.values import Value
from cpx.backends import backend as find_backend
from cpx.backends.base import Progress
from cpx.backends.search.presolve import sample_weights
from cpx.errors import CheckFailed
from cpx.models.base import Problem, form_of
from cpx.models.minimum_subset.form import subset_form_of
from cpx.models.monomial.form import MonomialForm
from cpx.models.ratio import RatioProblem, RatioStep
from cpx.models.rule_set.form import RuleSelection
from cpx.models.statement import Encoding, Statement, Values
from cpx.solving.run import run

__all__ = ["Blocked", "Cut", "enumerate_by_blocking"]

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

    def excludes(self, features: Iterable[int]) -> bool:
        """Whether a set of features is not allowed."""
        given = set(features)
        there = given.issuperset(self.chosen) and given.isdisjoint(self.without)
        return there and not (self.idle and given.isdisjoint(self.idle))

    def clauses(self, variables: Any) -> list[Any]:
        """Return the constraints on the variables that choose features."""
        import cpmpy as cp

        literals = [~variables[j] for j in self.chosen]
        literals += [variables[j] for j in self.without]
        if self.idle:
            return [cp.any([*literals, ~variables[j]]) for j in self.idle]
        return [cp.any(literals) if literals else cp.BoolVal(False)]

    @property
    def text(self) -> str:
        """The same as a side constraint."""
        parts = [f"not feature[{j}]" for j in self.chosen]
        parts += [f"feature[{j}]" for j in self.without]
        if self.idle:
            parts.append(" + ".join(f"feature[{j}]" for j in self.idle) + " <= 0")
        return " or ".join(parts) or "0 >= 1"


@dataclass(frozen=True, eq=False)
class _Excluding(Problem):
    """A problem without some of its solutions; nothing of it is saved.

    Parameters
    ----------
    base : Problem
        Whose statements choose features by the array ``X``.
    cuts : tuple of Cut
    known : int or Fraction, optional
        What is known to bound the objective, as what is left of the solutions is no better.
    """

    base: Problem
    cuts: tuple[Cut, ...]
    known: Value | None = None

    kind: ClassVar[str] = "some solutions excluded"

    def __post_init__(self) -> None:
        """Nothing is declared here, so that nothing is checked."""

    @property
    def sense(self) -> Any:  # type: ignore[override]
        """That of the problem."""
        return self.base.sense

    @property
    def encodings(self) -> Any:  # type: ignore[override]
        """Those of the problem that leave out no solution."""
        return tuple(encoding for encoding in self.base.encodings if encoding.every_solution)

    @property
    def n_features(self) -> int:
        """How many features a solution chooses from."""
        return len(self.base.feature_names)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Those of the problem."""
        return self.base.feature_names

    @property
    def unstated(self) -> str:
        """Why the problem has no statement; empty where it has one."""
        return self.base.unstated

    def encoding(self, name: str | None = None) -> Encoding[Any]:  # type: ignore[override]
        """Return an encoding of the problem."""
        return self.base.encoding(name)

    def stated_in(self, name: str | None = None) -> Encoding[Any]:
        """Return an encoding that can state the problem."""
        return self.base.stated_in(name)

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem, and the cuts."""
        return self._cut(self.base.model(encoding))

    def _cut(self, statement: Statement) -> Statement:
        import cpmpy as cp

        given = statement.model
        X = statement.variables["X"]
        clauses = [clause for cut in self.cuts for clause in cut.clauses(X)]
        model = cp.Model([*given.constraints, *clauses])
        if given.objective_ is not None:
            model.objective(given.objective_, minimize=given.objective_is_min)
        core = None if statement.core is None else self._cut(statement.core)
        return replace(statement, model=model, core=core)

    def decode(self, values: Values) -> Explanation:
        """Do as the problem does."""
        return self.base.decode(values)

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Do as the problem does."""
        return self.base.explanation(features)

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the value of a solution; one that is cut off is none."""
        found = self.base.evaluate(explanation)
        cut_off = any(cut.excludes(explanation.features) for cut in self.cuts)
        return replace(found, feasible=False) if cut_off else found

    def trivial_bound(self) -> Any:
        """Return the bound that is known."""
        return self.base.trivial_bound() if self.known is None else self.known

    def to_check(self) -> dict[str, Any]:
        """Return what tells the checker that it knows nothing of this."""
        return {"format": "cpx-instance", "version": 1, "problem": self.kind, "parameters": {}}


@dataclass(frozen=True, eq=False)
class _ExcludingStep(_Excluding, RatioStep):
    base: RatioStep

    def ratio_bound(self, bound: int) -> Fraction:
        """Do as the step does."""
        return self.base.ratio_bound(bound)


@dataclass(frozen=True, eq=False)
class _ExcludingRatio(_Excluding, RatioProblem):  # type: ignore[override]
    base: RatioProblem

    def first(self) -> Explanation:
        """Return the rule that the problem begins with, cut off or not."""
        return self.base.first()

    def step(self, value: Fraction) -> _ExcludingStep:
        """Return the step of the problem, with the cuts."""
        return _ExcludingStep(self.base.step(value), self.cuts)


def _excluding(base: Problem, cuts: Iterable[Cut], known: Value | None) -> _Excluding:
    cls = _ExcludingRatio if isinstance(base, RatioProblem) else _Excluding
    return cls(base, tuple(cuts), known)  # type: ignore[arg-type]


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
        One whose statements choose features by the array ``X``: of a single rule, a smallest
        set, or a set of rules, whose features are the rules.
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
        form = form_of(problem)
        self.monomials = form if isinstance(form, MonomialForm) else None
        self.selection = form if isinstance(form, RuleSelection) else None
        self.subsets = subset_form_of(problem) is not None
        self.as_good = as_good
        self.cuts: list[Cut] = []
        self.answers: list[Explanation] = []
        self.value: Value | None = None
        self.notes: dict[str, None] = {}
        # Of a selection the statement leaves out rules for what it knows of its constraints.
        engine = find_backend(backend)
        states = engine.needs_model or engine.starts_workers
        self._by_statement = states and self.selection is None

    def run(self, best: Result, most: int) -> Blocked:
        """Take the answer of a solve, cut it off, and solve again."""
        result = best
        while True:
            found, proved = result.explanation, result.status is Status.OPTIMAL
            if found is None:
                return self._end(result.status is Status.INFEASIBLE)
            equal = self._no_better(result)
            if self.as_good and result.objective != best.objective:
                return self._end(proved)
            if not self._cut(found.features):
                # One more than is wanted tells whether the last has equals.
                if len(self.answers) == most:
                    return self._end(proved or equal, equal)
                self.answers.append(found)
                self.value = result.objective
            if not proved or self.progress.expired or self.progress.interrupted:
                return self._end(False)
            result = self._next(result.objective)

    def _end(self, finished: bool, more: bool = False) -> Blocked:
        return Blocked(self.answers, finished, more, list(self.notes))

    def _next(self, known: Value | None) -> Result:
        """Solve without what is cut off; nothing that is left is better than ``known``."""
        rest: Problem = _excluding(self.problem, self.cuts, known)
        if not self._by_statement:
            rest = self.problem.where(*(cut.text for cut in self.cuts))
        options = replace(self.progress.options, time_limit=self.progress.remaining)
        result = run(rest, self.backend, options, cancel=self.progress.cancel)
        for text in (*result.warnings, result.error):
            if text and "not independently checked" not in text:
                self.notes[text] = None
        if result.status is Status.ERROR:
            self._no_better(result)
            return replace(result, explanation=None)
        return result

    def _no_better(self, found: Result) -> bool:
        """Whether an answer is as good as the last, and no better, which would be an error."""
        first, then = self.value, found.objective
        if first is None or then is None:
            return False
        if self.progress.is_better(then, first):
            raise CheckFailed(
                f"{self.backend} proved that nothing is better than {first}, and found {then}"
            )
        return then == first

    # ------------------------------------------------------------------ cuts

    def _cut(self, features: Features) -> bool:
        """Cut off a set, and all that are redundant because of it; say whether it is itself."""
        every = range(len(self.problem.feature_names))
        wanted = self.problem.side_constraints.wanted
        if self.subsets:
            # What contains it is enough as well, and has a feature that can be left out: any that
            # no side constraint may ask for.
            asked = tuple(j for j in every if j in wanted and j not in features)
            if asked:
                free = tuple(j for j in every if j not in wanted and j not in features)
                self._leave_out(features, free)
                self.cuts.append(Cut(features, asked))
            else:
                self.cuts.append(Cut(features))
            return any(self._feasible_without(features, j) for j in features)
        itself = Cut(features, tuple(j for j in every if j not in features))
        form = self.monomials or self.selection
        if form is None:
            self.cuts.append(itself)
            return False
        covered = self._rows[:, list(features)].all(axis=1)
        for j in features:
            rest = [i for i in features if i != j]
            if j not in form.required and ((self._rows[:, rest].all(axis=1) == covered).all()):
                if j in wanted and not self._feasible_without(features, j):
                    continue
                # So it is in every set that contains this one, unless that needs the feature.
                self.cuts.append(itself if j in wanted else Cut(features))
                return True
        idle = self._rows[covered].all(axis=0)
        idle[list(features)] = False
        idle[[*form.required, *wanted]] = False
        self._leave_out(features, tuple(np.flatnonzero(idle).tolist()))
        others = tuple(j for j in every if j not in features and not idle[j])
        self.cuts.append(Cut(features, others))
        return False

    def _leave_out(self, features: Features, idle: Features) -> None:
        """Cut off what contains a set and one of the idle features."""
        if idle:
            self.cuts.append(Cut(features, idle=idle))

    def _feasible_without(self, features: Features, feature: int) -> bool:
        rest = tuple(j for j in features if j != feature)
        return self.problem.evaluate(self.problem.explanation(rest)).feasible

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
