"""Grading: from an encoding that somebody has written to a verdict with a counterexample."""

from __future__ import annotations

import inspect
import os
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from cpx.errors import CpxError, InvalidInstance, InvalidOption, UnknownName, shortened, shown
from cpx.modelling.base import Problem
from cpx.modelling.encodings import encoding_names, find_encoding, known_for_now, stated_in
from cpx.modelling.instances import from_dict
from cpx.modelling.registry import problem_class
from cpx.modelling.statement import Encoding, Statement
from cpx.support.families import families
from cpx.support.own_files import run_file
from cpx.support.validation import positive_integer, seconds
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
from cpx.testing.tiny import size, smaller, tiny, traits
from cpx.testing.verdicts import Counterexample, Part, Verdict
from cpx.testing.written_models import SUFFIXES, read_model

__all__ = ["grade"]

Made = Callable[[Problem], SetModel]
"""States an instance."""

_MOST_FEATURES, _MOST_OF_ONE = 6, 12
_TRIES = 400  # of smaller instances
_PLAIN = "plain"
_MORE = ("side_constraints",)
"""What encodings have nothing to do with."""


def grade(
    encoding: Callable[[Any], Any] | Encoding[Any] | str | os.PathLike[str],
    problem: str | Problem | None = None,
    *,
    without: Iterable[str] = (),
    n: int | None = None,
    time_limit: float | None = 10.0,
    seed: int = 0,
) -> Verdict:
    """Grade an encoding against the definition, on tiny instances, set by set.

    Every set of features of an instance is tried by itself. It must be allowed exactly when it
    is a solution, with the value that the problem gives it; ``complete`` must give all variables
    values of that kind.

    Parameters
    ----------
    encoding : function, Encoding, str or path
        A function from the arrays of a problem to a statement, as on the page "adding an
        encoding"; the name of an encoding that is known; a Python file that has one such
        function, or ``"FILE.py:NAME"``; or a model in a file of a solver (WCNF, OPB, LP or MPS),
        which states a single instance.
    problem : str or Problem, optional
        The kind of problem; default: the first that is known, that of rules of least loss. A
        problem asks for a grade on this instance alone, as the file of a solver needs it.
    without : iterable of str
        What need not be stated: instances with it are left out. Names of parameters, such as
        ``"one_per_group"``, and ``"limits"``, ``"weights"`` and ``"k = 0"``.
    n : int, optional
        On how many instances at most.
    time_limit : float
        Seconds after which no further instance is tried.
    seed : int
        Of the random instances.

    Returns
    -------
    Verdict

    Raises
    ------
    InvalidInstance, InvalidOption, UnknownName
        For a file that cannot be read, a name that is not known, problems whose statements have
        no variable for each feature, and an instance of more than 12 features.

    Examples
    --------
    >>> import cpx
    >>> verdict = cpx.grade("clausal", without=["limits"])
    >>> verdict.right, verdict.points
    (True, Fraction(1, 1))
    """
    problem = (
        next(kind for family in families() for kind in family.problems)
        if problem is None
        else problem
    )
    limit = seconds(time_limit)
    most = inf if n is None else positive_integer("n", n)
    left_out = frozenset([without] if isinstance(without, str) else without)
    if isinstance(encoding, str | os.PathLike):
        path = Path(encoding)
        if path.suffix.lower() in SUFFIXES:
            return _of_file(path, problem)
    kind = problem if isinstance(problem, str) else problem.kind
    given = _encoding(encoding, kind)
    with known_for_now(_stated_as(problem), given) as known:

        def made(instance: Problem) -> SetModel:
            return StatedModel(asked(instance).model(known.name))

        if isinstance(problem, Problem):
            return _Grading(given, problem.kind, made).of_one(problem)
        grading = _Grading(given, kind, made)
        tried: set[str] = set()
        start = None
        for data in tiny(kind, seed):
            if grading.tried >= most:
                break
            # What is imported for the first instance takes seconds on a busy machine.
            if start is not None and limit is not None and time.monotonic() - start > limit:
                grading.ended_after = limit
                break
            instance = _instance(data, known)
            if instance is None:
                continue
            special = traits(instance)
            tried.update(special)
            if not left_out & set(special) and not set(_MORE) & set(special):
                grading.add(instance, special)
                start = start or time.monotonic()
        if unknown := left_out - tried - {"limits", "weights"}:
            raise UnknownName("part of instances", min(unknown), sorted(tried))
        return grading.verdict()


def _stated_as(problem: str | Problem) -> str:
    cls = problem_class(problem) if isinstance(problem, str) else problem
    return cls._stated_as or cls.kind


def _instance(data: dict[str, Any], encoding: Encoding[Any]) -> Problem | None:
    """Return an instance that encodings state and that is small enough; None for another one."""
    try:
        problem = from_dict(data)
        stated_in(problem, encoding.name)
    except (InvalidInstance, InvalidOption):
        return None
    return problem if 0 < n_features(problem) <= _MOST_FEATURES else None


# ------------------------------------------------------------------ what is graded


def _encoding(given: object, kind: str) -> Encoding[Any]:
    """Return what is graded as an encoding."""
    if isinstance(given, Encoding):
        return given
    if isinstance(given, str | os.PathLike):
        text = os.fspath(given)
        file, _, name = text.rpartition(":") if not text.endswith(".py") else (text, "", "")
        if file.endswith(".py"):
            return _of_module(Path(file), name, kind)
        if Path(text).suffix:
            known = ", ".join((".py", *SUFFIXES))
            raise InvalidOption(f"{shown(text)} is no model: a file must end in one of {known}")
        return find_encoding(problem_class(kind), text)
    if not callable(given):
        raise InvalidOption(
            f"encoding must be a function, an Encoding or a file, got {shown(given)}"
        )
    return Encoding(getattr(given, "__name__", "encoding"), given)


def _of_module(path: Path, name: str, kind: str) -> Encoding[Any]:
    """Return the encoding of a name in a Python file, or the only one."""
    cls = problem_class(kind)
    before = {known: find_encoding(cls, known) for known in encoding_names(cls)}
    module = run_file(path)
    found: dict[str, object] = {}
    for known in encoding_names(cls):
        if before.get(known) != find_encoding(cls, known):
            found[known] = find_encoding(cls, known)
    public = {key: value for key, value in vars(module).items() if not key.startswith("_")}
    if not found:
        found = {key: value for key, value in public.items() if isinstance(value, Encoding)}
    if not found or name:
        found |= {
            key: value
            for key, value in public.items()
            if inspect.isfunction(value)
            and value.__module__ == module.__name__
            and (name == key or len(inspect.signature(value).parameters) == 1)
        }
    if name and name not in found:
        raise UnknownName(f"encoding of {path}", name, tuple(found))
    if not name and len(found) != 1:
        told = f"which of {', '.join(found)}? {path}:NAME says it" if found else "there is none"
        raise InvalidOption(f"{path}: one function from arrays to a statement is graded: {told}")
    return _encoding(found[name] if name else next(iter(found.values())), kind)


def _of_file(path: Path, problem: str | Problem) -> Verdict:
    """Grade the model in the file of a solver, which states one instance."""
    if not isinstance(problem, Problem):
        raise InvalidOption(
            f"{path} states one instance: give it as the problem, or by --instance INST"
        )
    model = read_model(path)
    return _Grading(Encoding(path.name, _unused), problem.kind, lambda instance: model).of_one(
        problem
    )


def _unused(form: object) -> Statement:
    raise AssertionError("a file is read, not stated")


# ------------------------------------------------------------------ how it is graded


@dataclass(frozen=True)
class _Wrong:
    """An instance on which a model is wrong."""

    problem: Problem
    found: Difference

    @property
    def size(self) -> tuple[int, ...]:
        """How soon it is shown: wrong values of hints come last."""
        return (self.found.fault == "wrong complete", *size(self.problem.to_dict()))


class _Grading:
    """What is known of a model after some instances."""

    def __init__(self, encoding: Encoding[Any], kind: str, made: Made) -> None:
        self.encoding, self.kind, self.made = encoding, kind, made
        self.faults: Counter[Any] = Counter()
        self.parts: dict[str, Part] = {}
        self.smallest: _Wrong | None = None
        self.completes = True
        self.ended_after: float | None = None

    @property
    def tried(self) -> int:
        """On how many instances."""
        return sum(part.right + part.wrong for part in self.parts.values())

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
        part = special[0] if len(special) == 1 else "several" if special else "plain"
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
        try:
            file = inspect.getsourcefile(self.encoding.build)
        except TypeError:
            file = None
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == file]
        place = f" in line {lines[-1]}" if lines else ""
        return f"{type(error).__name__}{place}: {shortened(error)}"

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
                if tries > _TRIES:
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
