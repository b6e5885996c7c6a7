"""Encodings of one's own, graded: what they state of tiny instances, held against the definition.

Of a tiny instance every set of features is looked at. By the definition a set may be chosen or
not, and has a value; by the encoding it may be chosen where its constraints hold for some values
of the other variables, and has the best value of these. One program asks for a set that the
encoding allows and values better than the definition does; the values that the encoding completes
a set by say which sets it allows, and where they do not, one program for that set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain, combinations, islice
from typing import Any

import numpy as np

from cpx.modelling.base import Problem
from cpx.modelling.encodings import find_encoding
from cpx.modelling.ratio import RatioProblem
from cpx.modelling.statement import Encoding, Statement
from cpx.testing.cases import Case, cases

__all__ = ["Grade", "grade"]

Sets = dict[tuple[int, ...], int | None]
"""The value of every set of features, None of those that may not be chosen."""

_MOST_FEATURES = 4
_MOST_SAMPLES = 40
_MOST_CASES = 40
_SECONDS = 1.0
_MOST_CELLS = 20_000  # samples times features of an instance of which some sets are looked at
_MOST_PROBED, _ORDERS = 7, 2
_WORDS = {"min": "least", "max": "greatest"}


@dataclass(frozen=True)
class Grade:
    """How an encoding states tiny instances.

    wrong: Where it differs from the definition; empty where no difference was found.
    cases: On how many tiny instances it agrees.
    sets: On how many sets of features of the instance that was asked about it agrees.
    whole: Whether these are all sets.
    """

    wrong: str = ""
    cases: int = 0
    sets: int = 0
    whole: bool = False


def grade(problem: Problem, name: str) -> Grade:
    """Grade an encoding on tiny instances of the kind of a problem, and on itself if it is tiny.

    name: Of an encoding of problems of this kind.

    >>> from cpx import KMonomial, Samples
    >>> grade(KMonomial(Samples([[1, 1], [1, 0], [0, 1]], [1, 0, 0]), k=2), "clausal")
    Grade(wrong='', cases=0, sets=4, whole=True)
    """
    if find_spec("ortools") is None:
        return Grade()
    encoding = find_encoding(problem, name)
    samples = getattr(getattr(problem, "samples", None), "agreement", np.empty((0, 0)))
    few = len(samples) <= _MOST_SAMPLES
    if (
        few
        and _features(problem) <= _MOST_FEATURES
        and (sets := _sets(problem, _every(_features(problem))))
    ):
        if (wrong := _difference(problem, encoding, sets)) is None:
            return Grade(sets=len(sets), whole=True)
        if wrong:
            return Grade(wrong.format("this instance"))
    found = _of_cases(problem._stated_as or problem.kind, encoding)
    if found.wrong or (not few and samples.size > _MOST_CELLS):
        return found
    sets = _sets(problem, _some(_features(problem)))
    wrong = _difference(problem, encoding, sets, whole=False)
    if wrong:
        return Grade(wrong.format("this instance"))
    return replace(found, sets=len(sets)) if wrong is None else found


@lru_cache(maxsize=64)
def _of_cases(kind: str, encoding: Encoding[Any]) -> Grade:
    """Grade an encoding on the tiny cases of a kind."""
    count = 0
    for case in _cases(kind):
        wrong = _difference(
            case.problem, encoding, _sets(case.problem, _every(_features(case.problem)))
        )
        if wrong:
            return Grade(wrong.format(f"the tiny instance {case.name!r}"))
        count += wrong is None
    return Grade(cases=count)


def _features(problem: Problem) -> int:
    """Return how many features there are to choose from; more than are tiny where none is told."""
    return int(getattr(problem, "n_features", _MOST_FEATURES + 1))


def _cases(kind: str) -> Iterator[Case]:
    """Yield the tiny cases of a kind."""
    alike = (
        case
        for case in cases()
        if kind in (case.problem._stated_as, case.problem.kind)
        and not case.problem._unstated
        and _features(case.problem) <= _MOST_FEATURES
    )
    return islice(alike, _MOST_CASES)


def _asked(problem: Problem) -> Problem:
    """Return what is stated of a problem: of a ratio a step."""
    return problem.first_step() if isinstance(problem, RatioProblem) else problem


def _every(n: int) -> Iterable[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


def _some(n: int) -> Iterable[tuple[int, ...]]:
    """Return a few sets of each small size, always the same."""
    orders = [np.random.default_rng(seed).permutation(n).tolist() for seed in range(_ORDERS)]
    sizes = range(min(n, _MOST_PROBED) + 1)
    return dict.fromkeys(tuple(sorted(order[:size])) for size in sizes for order in orders)


def _sets(problem: Problem, chosen_ones: Iterable[tuple[int, ...]]) -> Sets:
    found, asked = Sets(), _asked(problem)
    for chosen in chosen_ones:
        measured = asked.evaluate(asked.explanation(chosen))
        found[chosen] = int(measured.objective) if measured.feasible else None
    return found


def _difference(
    problem: Problem, encoding: Encoding[Any], sets: Sets, whole: bool = True
) -> str | None:
    """Say in what an encoding differs from the definition; None where it does not.

    The sets are all that there are, or, where they are not the ``whole``, some of them. The
    braces in what is said are for what the instance is called. Nothing is said where the encoding
    does not state the instance, as one that is made for a single one.
    """
    asked, sign = _asked(problem), 1 if problem.sense == "min" else -1
    try:
        stated = asked.model(encoding.name)
        if len(stated.variables["X"]) != _features(problem) or not _reads_features(asked, sets):
            return ""
        if other := _other_direction(stated, asked):
            return other
        found = _better(stated, sets, sign)
    except Exception:
        return ""
    if found is not None:
        chosen, value = found
        if sets[chosen] is None:
            return f"too weak: of {{}} it allows the set {_shown(chosen)}, which may not be chosen"
        return (
            f"wrong objective: of {{}} it gives the set {_shown(chosen)} the value {value}, "
            f"which is {sets[chosen]}"
        )
    worth = {S: sign * value for S, value in sets.items() if value is not None}
    best = min(worth.values(), default=0)
    missing = []
    for chosen, value in worth.items():
        # An encoding may leave out what is no better than a solution that it has.
        if not encoding.every_solution and (value > best or not whole):
            continue
        try:
            reached = _reached(stated, chosen, sign)
        except TimeoutError:
            return ""
        if reached is None:
            missing.append(chosen)
        elif reached > value:
            return (
                f"wrong objective: of {{}} it gives the set {_shown(chosen)} the value "
                f"{sign * reached}, which is {sign * value}"
            )
    most = 0 if encoding.every_solution else [*worth.values()].count(best) - 1
    if len(missing) <= max(0, most):
        return None
    return f"too strong: of {{}} it forbids the set {_shown(missing[0])}, which may be chosen"


def _other_direction(stated: Statement, asked: Problem) -> str:
    """Say that a model, or what the statement says of it, asks for the worst value."""
    if stated.model.objective_ is None:
        return ""
    for sense in ("min" if stated.model.objective_is_min else "max", stated.sense):
        if sense != asked.sense:
            return f"wrong objective: of {{}} it asks for the {_WORDS[sense]} value"
    return ""


def _reads_features(problem: Problem, sets: Sets) -> bool:
    """Whether X says of each feature whether it is chosen, as in most kinds of problems."""
    n = _features(problem)
    values = ({"X": np.isin(np.arange(n), chosen).astype(np.int64)} for chosen in sets)
    found = (problem.decode(value).features for value in values)
    return all(features == chosen for features, chosen in zip(found, sets))


def _shown(chosen: tuple[int, ...]) -> str:
    return "{{" + ", ".join(map(str, chosen)) + "}}"


def _better(stated: Statement, sets: Sets, sign: int) -> tuple[tuple[int, ...], int] | None:
    """Return a set that the encoding allows and the definition does not, or not with a value."""
    import cpmpy as cp

    X, total = list(stated.variables["X"]), stated.model.objective_
    rows = []
    for chosen, value in sets.items():
        row = [x if j in chosen else ~x for j, x in enumerate(X)]
        if value is not None and total is not None:
            row.append(sign * total < sign * (value - stated.offset))
        if value is None or total is not None or sign * stated.offset < sign * value:
            rows.append(cp.all(row))
    model = cp.Model([*stated.model.constraints, cp.any(rows)])
    if not rows or not model.solve(solver="ortools", time_limit=_SECONDS):
        return None
    return tuple(j for j, x in enumerate(X) if x.value()), _value(total) + stated.offset


def _reached(stated: Statement, chosen: tuple[int, ...], sign: int) -> int | None:
    """Return the best value, times the sign, that the encoding gives a set; None for none.

    Raises TimeoutError where that is not known in time.
    """
    import cpmpy as cp
    from cpmpy.solvers.solver_interface import ExitStatus

    X, total = list(stated.variables["X"]), stated.model.objective_
    fixed = [x if j in chosen else ~x for j, x in enumerate(X)]
    model = cp.Model([*stated.model.constraints, *fixed])
    if total is not None:
        model.minimize(sign * total)
    model.solve(solver="ortools", time_limit=_SECONDS)
    ended = model.status().exitstatus
    if ended is ExitStatus.UNSATISFIABLE:
        return None
    if ended is not ExitStatus.OPTIMAL and (total is not None or ended is not ExitStatus.FEASIBLE):
        raise TimeoutError
    return sign * (_value(total) + stated.offset)


def _value(total: Any) -> int:
    from cpmpy.expressions.utils import argval

    return 0 if total is None else int(argval(total))
