"""Grading: from an encoding that somebody has written to a verdict with a counterexample."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from typing import Any

from cpx.errors import InvalidOption
from cpx.modelling.base import Problem
from cpx.modelling.encodings import known_for_now
from cpx.modelling.instances import from_dict
from cpx.modelling.registry import problem_class
from cpx.modelling.statement import Encoding
from cpx.support.families import families
from cpx.support.validation import positive_integer, seconds
from cpx.testing.apart import Stopped, called_apart, confined
from cpx.testing.grading import asked
from cpx.testing.minizinc_models import MINIZINC, MiniZincModel
from cpx.testing.over_instances import Grading, stopped, unstated
from cpx.testing.set_models import SetModel, StatedModel
from cpx.testing.submissions import find_submitted, is_python
from cpx.testing.tiny import tiny
from cpx.testing.verdicts import Verdict
from cpx.testing.written_models import SUFFIXES, read_model

__all__ = ["grade"]


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
        which states a single instance; or a MiniZinc model ``.mzn`` that takes its data from
        outside, or states a single instance. A Python file is run in a process of its own, which
        is ended where it does not end by itself, unless there is no time limit.
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
    kind = problem if isinstance(problem, str) else problem.kind
    terms = (problem, most, limit, seed)
    if not isinstance(encoding, str | os.PathLike):
        return _grade(encoding, left_out, *terms)
    path = Path(encoding)
    if path.suffix.lower() in SUFFIXES:
        return _of_file(path, problem)
    if path.suffix.lower() == MINIZINC:
        model = MiniZincModel(path)
        if isinstance(problem, Problem):
            model.check(problem, every=False)
        else:
            model.check(from_dict(next(tiny(kind, seed))), every=True)
        grading = Grading(_named(path), kind, model.of)
        return grading.of(*terms, left_out | {"limits"})
    if limit is None or not is_python(encoding):
        return _grade(encoding, left_out, *terms)
    try:
        return called_apart(_grade_apart, os.fspath(encoding), left_out, *terms)
    except Stopped as ended:
        if not ended.note:
            raise InvalidOption(f"{path}, when it is run: {ended.why}") from None
        return stopped(path.name, from_dict(json.loads(ended.note)), ended.why)


def _grade_apart(
    encoding: str,
    left_out: frozenset[str],
    problem: str | Problem,
    most: float,
    limit: float | None,
    seed: int,
    note: Path,
) -> Verdict:
    """Grade an encoding in this process, which is for nothing else; see :func:`called_apart`."""
    import cpx.backends.cpsat.compile  # noqa: F401  # takes seconds, which are not the encoding's

    confined()
    note.touch()
    return _grade(encoding, left_out, problem, most, limit, seed, note)


def _grade(
    encoding: object,
    left_out: frozenset[str],
    problem: str | Problem,
    most: float,
    limit: float | None,
    seed: int,
    note: Path | None = None,
) -> Verdict:
    """Grade an encoding here; ``note`` gets each instance before it is stated."""
    kind = problem if isinstance(problem, str) else problem.kind
    given = find_submitted(encoding, kind)
    with known_for_now(_stated_as(problem), given) as known:

        def made(instance: Problem) -> SetModel:
            if note is not None:
                note.write_text(json.dumps(instance.to_dict()), encoding="utf-8")
            return StatedModel(asked(instance).model(known.name))

        grading = Grading(given, kind, made)
        return grading.of(problem, most, limit, seed, left_out, known.name)


def _stated_as(problem: str | Problem) -> str:
    cls = problem_class(problem) if isinstance(problem, str) else problem
    return cls._stated_as or cls.kind


def _of_file(path: Path, problem: str | Problem) -> Verdict:
    """Grade the model in the file of a solver, which states one instance."""
    if not isinstance(problem, Problem):
        raise InvalidOption(
            f"{path} states one instance: give it as the problem, or by --instance INST"
        )
    model = read_model(path)
    return Grading(_named(path), problem.kind, lambda instance: model).of_one(problem)


def _named(path: Path) -> Encoding[Any]:
    return Encoding(path.name, unstated)
