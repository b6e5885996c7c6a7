"""A model held against the definition on one instance after another, and the verdict on it."""

from __future__ import annotations

import inspect
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from cpx.errors import CpxError, InvalidInstance, InvalidOption, UnknownName, shortened
from cpx.modelling.base import Problem
from cpx.modelling.encodings import stated_in
from cpx.modelling.instances import from_dict
from cpx.modelling.statement import Encoding, Statement
from cpx.processes.overtime import OutOfTime
from cpx.testing.apart import CPU_SECONDS, ended_in_time
from cpx.testing.grading import (
    Difference,
    Sets,
    asked,
    difference,
    n_features,
    reads_features,
    values_of,
)
from cpx.testing.set_models import SetModel, StatedModel, every_set
from cpx.testing.submissions import line_in
from cpx.testing.tiny import size, smaller, tiny, traits
from cpx.testing.verdicts import Counterexample, Part, Verdict

__all__ = ["Grading", "stopped", "unstated"]

Made = Callable[[Problem], SetModel]
"""States an instance."""

_MOST_FEATURES, _MOST_OF_ONE = 6, 12
_TRIES = 400  # of smaller instances
_PLAIN = "plain"
_MORE = ("side_constraints",)
"""What encodings have nothing to do with."""


def unstated(form: object) -> Statement:
    """Stand for the function of an encoding where a file is read instead."""
    raise AssertionError("a file is read, not stated")


def stopped(name: str, problem: Problem, why: str) -> Verdict:
    """Return the verdict on what did not end on an instance: no points."""
    found = Counterexample(problem, more=why)
    return Verdict(
        name, problem.kind, {"fails": 1}, {_part(traits(problem)): Part(wrong=1)}, found, "fails"
    )


@dataclass(frozen=True)
class _Wrong:
    """An instance on which a model is wrong."""

    problem: Problem
    found: Difference

    @property
    def size(self) -> tuple[int, ...]:
        """How soon it is shown: wrong values of hints come last."""
        return (self.found.fault == "wrong complete", *size(self.problem.to_dict()))


class Grading:
    """What is known of a model after some instances."""

    def __init__(self, encoding: Encoding[Any], kind: str, made: Made) -> None:
        self.encoding, self.kind, self.made = encoding, kind, made
        self.faults: Counter[Any] = Counter()
        self.parts: dict[str, Part] = {}
        self.smallest: _Wrong | None = None
        self.completes = True
        self.ended_after: float | None = None
        self._shrink_until = inf
        self._current: Problem | None = None

    @property
    def tried(self) -> int:
        """On how many instances."""
        return sum(part.right + part.wrong for part in self.parts.values())

    def of(
        self,
        problem: str | Problem,
        most: float,
        limit: float | None,
        seed: int,
        left_out: frozenset[str],
        encoding: str = "",
    ) -> Verdict:
        """Return the verdict on one instance, or on the tiny ones of a kind.

        encoding: The name by which instances are asked whether they are stated in it.
        """
        try:
            if isinstance(problem, Problem):
                return self.of_one(problem)
            self._every(most, limit, seed, left_out, encoding)
            return self.verdict()
        except OutOfTime as error:
            assert self._current is not None
            where = line_in(error, self._file)
            why = f"it had not ended after {CPU_SECONDS:g} s{where}: it was stopped"
            return stopped(self.encoding.name, self._current, why)

    def _every(
        self,
        most: float,
        limit: float | None,
        seed: int,
        left_out: frozenset[str],
        encoding: str,
    ) -> None:
        tried: set[str] = set()
        start = None
        for data in tiny(self.kind, seed):
            if self.tried >= most:
                break
            # What is imported for the first instance takes seconds on a busy machine.
            if start is not None and limit is not None and time.monotonic() - start > limit:
                self.ended_after = limit
                break
            instance = _instance(data, encoding)
            if instance is None:
                continue
            special = traits(instance)
            tried.update(special)
            if not left_out & set(special) and not set(_MORE) & set(special):
                self.add(instance, special)
                start = start or time.monotonic()
        if unknown := left_out - tried - {"limits", "weights"}:
            raise UnknownName("part of instances", min(unknown), sorted(tried))
        self._shrink_until = inf if limit is None else time.monotonic() + max(limit, 1.0)

    def of_one(self, problem: Problem) -> Verdict:
        """Return the verdict on one instance."""
        if n_features(problem) > _MOST_OF_ONE:
            raise InvalidOption(
                f"the instance has {n_features(problem)} features: all sets are tried, of "
                f"{_MOST_OF_ONE} at most"
            )
        self.add(problem, ())
        return self.verdict(shrinks=False)

    def add(self, problem: Problem, special: tuple[str, ...]) -> None:
        """Grade an instance."""
        try:
            found = self._difference(problem)
        except TimeoutError:
            return
        part = _part(special)
        if found is not None:
            self.faults[found.fault] += 1
            if part == "plain" and _one_of_the_best(problem, found):
                part = "ties"
            wrong = _Wrong(problem, found)
            if self.smallest is None or wrong.size < self.smallest.size:
                self.smallest = wrong
        known = self.parts.get(part, Part())
        counted = (known.right, known.wrong + 1) if found else (known.right + 1, known.wrong)
        self.parts[part] = Part(*counted)

    def verdict(self, *, shrinks: bool = True) -> Verdict:
        """Return the verdict, with the smallest counterexample."""
        if not self.parts:
            raise InvalidOption(f"no instance of {self.kind} was tried: allow more time, or more")
        found = None
        if self.smallest is not None:
            found = self._smallest(self.smallest) if shrinks else self.smallest
        order = sorted(self.parts, key=lambda name: (name != "plain", name == "several", name))
        return Verdict(
            self.encoding.name,
            self.kind,
            dict(self.faults.most_common()),
            {name: self.parts[name] for name in order},
            None if found is None else self._told(found),
            "" if found is None else found.found.fault,
            self.ended_after,
            self.completes,
        )

    def _difference(self, problem: Problem) -> Difference | None:
        """Return the first difference; None where there is none."""
        self._current = problem
        with ended_in_time():
            return self._first_difference(problem)

    def _first_difference(self, problem: Problem) -> Difference | None:
        stated, sets = asked(problem), _all(problem)
        if not reads_features(stated, sets):
            raise InvalidOption(
                f"statements of {self.kind} have no variable X_j for each feature j: they cannot "
                "be graded set by set"
            )
        model = self._model(problem)
        if isinstance(model, Difference):
            return model
        found = difference(model, stated, sets, self.encoding.every_solution)
        if found is None and isinstance(model, StatedModel):
            found = self._completion(model, sets)
        return found

    def _model(self, problem: Problem) -> SetModel | Difference:
        """Return the model of an instance, or why there is none."""
        try:
            model = self.made(problem)
        except Exception as error:
            return Difference("fails", more=self._raised(error))
        if model.n == n_features(problem):
            return model
        told = f"X has {model.n} variables, and the instance {n_features(problem)} features"
        return Difference("fails", more=told)

    def _completion(self, model: StatedModel, sets: Sets) -> Difference | None:
        """Return the first set that ``complete`` gives wrong values."""
        complete: object = model.stated.complete  # None in exercises about constraints alone
        if complete is None:
            self.completes = False
            return None
        for chosen, right in sets.items():
            if right is None:
                continue
            try:
                mistake = model.completion_mistake(chosen, sets, self.encoding.every_solution)
            except Exception as error:
                mistake = self._raised(error)
            if mistake:
                return Difference("wrong complete", chosen, right, right, mistake)
        return None

    def _raised(self, error: Exception) -> str:
        """Say what was raised, and in which line of the file that is graded."""
        return f"{type(error).__name__}{line_in(error, self._file)}: {shortened(error)}"

    @property
    def _file(self) -> str | None:
        """The Python file that is graded, where there is one."""
        if self.encoding.build is unstated:
            return None
        try:
            return inspect.getsourcefile(self.encoding.build)
        except TypeError:
            return None

    def _smallest(self, wrong: _Wrong) -> _Wrong:
        """Return an instance with the same fault from which nothing can be taken away."""
        tries = 0
        known = traits(wrong.problem)
        while True:
            for data in smaller(wrong.problem.to_dict()):
                try:
                    problem = from_dict(data)
                except CpxError:
                    continue
                tries += 1
                if tries > _TRIES or time.monotonic() > self._shrink_until:
                    return wrong
                if problem._unstated or not set(traits(problem)) <= set(known):
                    continue
                try:
                    found = self._difference(problem)
                except TimeoutError:
                    continue
                if found is not None and found.fault == wrong.found.fault:
                    wrong = _Wrong(problem, found)
                    break
            else:
                return wrong

    def _told(self, wrong: _Wrong) -> Counterexample:
        """Return the counterexample with all that can be said of it."""
        problem, found = wrong.problem, wrong.found
        sets, model = _all(problem), self._model(problem)
        if isinstance(model, Difference) or (found.more and found.fault != "wrong complete"):
            return Counterexample(problem, more=found.more)
        best = min if asked(problem).sense == "min" else max
        said = {chosen: model.value(chosen) for chosen in sets}
        model.value(found.chosen)
        rows = model.forbidding(found.chosen) if found.fault == "too strong" else []
        return Counterexample(
            problem,
            found.chosen,
            found.right,
            found.said,
            best((v for v in sets.values() if v is not None), default=None),
            best((v for v in said.values() if v is not None), default=None),
            {} if found.said is None else model.values(),
            tuple(model.rows[row] for row in rows),
            found.more,
        )


def _all(problem: Problem) -> Sets:
    return values_of(problem, every_set(n_features(problem)))


def _one_of_the_best(problem: Problem, found: Difference) -> bool:
    """Whether the set that is wrong is one of several best ones."""
    if found.right is None or found.fault == "wrong complete":
        return False
    known = [value for value in _all(problem).values() if value is not None]
    best = min(known) if asked(problem).sense == "min" else max(known)
    return found.right == best and known.count(best) > 1


def _part(special: tuple[str, ...]) -> str:
    """Return to which part of the instances one belongs, by what is special about it."""
    return special[0] if len(special) == 1 else "several" if special else _PLAIN


def _instance(data: dict[str, Any], encoding: str) -> Problem | None:
    """Return an instance that encodings state and that is small enough; None for another one.

    encoding: Its name; empty for a model that is no encoding.
    """
    try:
        problem = from_dict(data)
        if encoding:
            stated_in(problem, encoding)
    except (InvalidInstance, InvalidOption):
        return None
    return problem if 0 < n_features(problem) <= _MOST_FEATURES else None
