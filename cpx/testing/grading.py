"""Encodings of one's own, held against the definition set by set, before they are believed.

Of a tiny instance every set of features is looked at. By the definition a set may be chosen or
not, and has a value; so it is by the model (:mod:`cpx.testing.set_models`). Where the two differ,
the model is another problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from typing import Any, Literal

import numpy as np

from cpx.modelling.base import Problem
from cpx.modelling.encodings import find_encoding
from cpx.modelling.ratio import RatioProblem
from cpx.modelling.statement import Encoding
from cpx.testing.cases import Case, cases
from cpx.testing.set_models import Chosen, SetModel, StatedModel, every_set

__all__ = [
    "Difference",
    "Fault",
    "Grade",
    "asked",
    "difference",
    "n_features",
    "quick_grade",
    "reads_features",
    "values_of",
]

Sets = Mapping[Chosen, int | None]
"""The value of every set of features by the definition, None of those that may not be chosen."""

Fault = Literal["too weak", "too strong", "wrong objective", "wrong complete", "fails"]
"""What is wrong: sets that are allowed, or forbidden, or valued, or completed as they should not
be; or that the model is not made at all."""

_MOST_FEATURES = 4
_MOST_SAMPLES = 40
_MOST_CASES = 40
_MOST_CELLS = 20_000  # samples times features of an instance of which some sets are looked at
_MOST_PROBED, _ORDERS = 7, 2
_WORDS = {"min": "least", "max": "greatest"}


@dataclass(frozen=True)
class Difference:
    """A set of features of which a model says something else than the definition.

    fault: What is wrong.
    chosen: The set.
    right: Its value by the definition; None where it may not be chosen.
    said: Its value by the model; None where the model forbids it.
    more: What is wrong beside values, in words.
    """

    fault: Fault
    chosen: Chosen = ()
    right: int | None = None
    said: int | float | None = None
    more: str = ""

    def words(self, instance: str) -> str:
        """Return it in words, given what the instance is called."""
        shown = "{" + ", ".join(map(str, self.chosen)) + "}"
        told = {
            "too weak": f"it allows the set {shown}, which may not be chosen",
            "too strong": f"it forbids the set {shown}, which may be chosen",
            "wrong objective": f"it gives the set {shown} the value {self.said}, "
            f"which is {self.right}",
        }
        return f"{self.fault}: of {instance} {self.more or told[self.fault]}"


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


def quick_grade(problem: Problem, name: str) -> Grade:
    """Grade an encoding on tiny instances of the kind of a problem, and on itself if it is tiny.

    name: Of an encoding of problems of this kind.

    >>> from cpx import KMonomial, Samples
    >>> problem = KMonomial(Samples([[1, 1], [1, 0], [0, 1]], [1, 0, 0]), k=2)
    >>> quick_grade(problem, "clausal")
    Grade(wrong='', cases=0, sets=4, whole=True)
    """
    if find_spec("ortools") is None:
        return Grade()
    encoding = find_encoding(problem, name)
    samples = getattr(getattr(problem, "samples", None), "agreement", np.empty((0, 0)))
    few = len(samples) <= _MOST_SAMPLES
    if few and n_features(problem) <= _MOST_FEATURES:
        sets = values_of(problem, every_set(n_features(problem)))
        if (wrong := _of_instance(problem, encoding, sets, "this instance")) == "":
            return Grade(sets=len(sets), whole=True)
        if wrong:
            return Grade(wrong)
    found = _of_cases(problem._stated_as or problem.kind, encoding)
    if found.wrong or (not few and samples.size > _MOST_CELLS):
        return found
    sets = values_of(problem, _some(n_features(problem)))
    wrong = _of_instance(problem, encoding, sets, "this instance", whole=False)
    if wrong:
        return Grade(wrong)
    return found if wrong is None else replace(found, sets=len(sets))


@lru_cache(maxsize=64)
def _of_cases(kind: str, encoding: Encoding[Any]) -> Grade:
    """Grade an encoding on the tiny cases of a kind."""
    count = 0
    for case in _cases(kind):
        sets = values_of(case.problem, every_set(n_features(case.problem)))
        wrong = _of_instance(case.problem, encoding, sets, f"the tiny instance {case.name!r}")
        if wrong:
            return Grade(wrong)
        count += wrong is not None
    return Grade(cases=count)


def _of_instance(
    problem: Problem, encoding: Encoding[Any], sets: Sets, called: str, whole: bool = True
) -> str | None:
    """Say in what an encoding differs from the definition; empty where it does not.

    None where nothing is known: it does not state the instance, as one that is made for another
    one, or sets take too long.
    """
    stated = asked(problem)
    try:
        model = StatedModel(stated.model(encoding.name))
        if model.n != n_features(problem) or not reads_features(stated, sets):
            return None
        found = difference(model, stated, sets, encoding.every_solution, whole)
    except Exception:
        return None
    return "" if found is None else found.words(called)


def n_features(problem: Problem) -> int:
    """Return how many features there are to choose from; more than are tiny where none is told."""
    return int(getattr(problem, "n_features", _MOST_FEATURES + 1))


def _cases(kind: str) -> Iterator[Case]:
    """Yield the tiny cases of a kind."""
    alike = (
        case
        for case in cases()
        if kind in (case.problem._stated_as, case.problem.kind)
        and not case.problem._unstated
        and n_features(case.problem) <= _MOST_FEATURES
    )
    return islice(alike, _MOST_CASES)


def asked(problem: Problem) -> Problem:
    """Return what is stated of a problem: of a ratio a step."""
    return problem.first_step() if isinstance(problem, RatioProblem) else problem


def _some(n: int) -> Iterable[Chosen]:
    """Return a few sets of each small size, always the same."""
    orders = [np.random.default_rng(seed).permutation(n).tolist() for seed in range(_ORDERS)]
    sizes = range(min(n, _MOST_PROBED) + 1)
    return dict.fromkeys(tuple(sorted(order[:size])) for size in sizes for order in orders)


def values_of(problem: Problem, chosen_ones: Iterable[Chosen]) -> dict[Chosen, int | None]:
    """Return the values of sets by the definition, None of those that may not be chosen."""
    found: dict[Chosen, int | None] = {}
    stated = asked(problem)
    for chosen in chosen_ones:
        measured = stated.evaluate(stated.explanation(chosen))
        found[chosen] = int(measured.objective) if measured.feasible else None
    return found


def difference(
    model: SetModel, problem: Problem, sets: Sets, every_solution: bool = True, whole: bool = True
) -> Difference | None:
    """Return the first set of which a model and the definition differ; None where they agree.

    problem: What is stated: of a ratio a step.
    sets: All that there are, or, where they are not the ``whole``, some of them.
    every_solution: Whether the model has all solutions. Another one may leave out those that are
        no better than one that it has.

    Raises TimeoutError: Where a set takes more than a second.
    """
    for sense in model.senses:
        if sense != problem.sense:
            return Difference("wrong objective", more=f"it asks for the {_WORDS[sense]} value")
    sign = 1 if problem.sense == "min" else -1
    known = [sign * value for value in sets.values() if value is not None]
    best = min(known, default=0)
    left_out, spared = [], 0 if every_solution else max(0, known.count(best) - 1)
    for chosen, right in sets.items():
        said = model.value(chosen)
        if right is None:
            if said is not None:
                return Difference("too weak", chosen, right, said)
            continue
        # A model without every solution may leave out, or cost more, what is not the best.
        owed = every_solution or (whole and sign * right == best)
        if said is None:
            left_out += [chosen] * owed
        elif sign * said < sign * right or (said != right and owed):
            return Difference("wrong objective", chosen, right, said)
        if len(left_out) > spared:
            return Difference("too strong", left_out[0], sets[left_out[0]])
    return None


def reads_features(problem: Problem, sets: Iterable[Chosen]) -> bool:
    """Whether X says of each feature whether it is chosen, as in most kinds of problems."""
    n = n_features(problem)
    values = ({"X": np.isin(np.arange(n), chosen).astype(np.int64)} for chosen in sets)
    found = (problem.decode(value).features for value in values)
    return all(features == chosen for features, chosen in zip(found, sets, strict=True))
