"""The kinds of explanations that families offer, with their options, each declared once."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Protocol, get_args, get_type_hints

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Status
from cpx.backends import names
from cpx.errors import CpxError, InvalidOption, UnknownName, nearest, shown
from cpx.explainers.options import Option
from cpx.explainers.rows import values_of
from cpx.modelling.base import Problem
from cpx.support.families import Door, families, family_of
from cpx.support.lazy_imports import named_object

__all__ = [
    "Alike",
    "Answer",
    "Batch",
    "Declared",
    "Kind",
    "RowExplainer",
    "called_elsewhere",
    "kind",
    "kinds",
    "loaded",
    "with_reachable",
]


@dataclass(frozen=True)
class Answer:
    """The whole answer for a row, also where there is no explanation.

    label: What the class of x is called.
    brief: What was asked, in a few words each.
    problem: What was solved, where it is a problem that engines solve.
    """

    result: Result
    label: str
    brief: tuple[str, ...]
    problem: Any = None


class RowExplainer(Protocol):
    """What a family offers: made of a model, rows X and options, it explains row after row.

    asks: Their fields are the options of a row; the keyword arguments of ``__init__`` are those of
        all rows. Each is annotated with an :class:`~cpx.explainers.options.Option`. A ``problem(x,
        **asked)`` states the problem, where there is one.
    """

    asks: ClassVar[tuple[type, ...]]

    def explain(self, x: Any, **asked: Any) -> Explanation:
        """Explain one row; raise EngineError, or Infeasible, where there is no answer."""

    def answer(self, x: Any, **asked: Any) -> Answer:
        """Return the whole answer for one row, also where there is no explanation."""

    def for_many(self, rows: Sequence[Any], asked: Mapping[str, Any]) -> Batch:
        """Return rows made ready, with what can be learnt once for all of them."""

    def of_row(self, found: Any, x: Any) -> Explanation:
        """Return what was found for a row with an equal key as what is said of this one."""


@dataclass(frozen=True)
class Batch:
    """Many rows made ready.

    by: Who explains them.
    rows: As it takes them.
    keys: Rows with equal ones have the same answer.
    """

    by: RowExplainer
    rows: Sequence[Any]
    keys: Sequence[Hashable]


class Alike:
    """What is common to explainers that explain equal rows alike, and others one by one."""

    def for_many(self, rows: Sequence[Any], asked: Mapping[str, Any]) -> Batch:
        """Return the rows as they are; those with equal values are the same question."""
        by: Any = self
        return Batch(by, rows, [*map(values_of, rows)])

    def of_row(self, found: Any, x: Any) -> Any:
        """Return the explanation itself: the rows are equal."""
        return found


@dataclass(frozen=True)
class Declared:
    """An option of a kind: its default, what it means, and whether it is the same for all rows."""

    default: Any
    option: Option | None
    prepared: bool


@dataclass(frozen=True)
class Kind:
    """A kind of explanation by its name.

    name: As ``cpx.explain(kind=...)`` and the method of :class:`cpx.Explainer` have it.
    door: What its family registered.
    """

    name: str
    door: Door

    @property
    def explainer(self) -> Any:
        """The class that explains rows."""
        return named_object(self.door.explainer, f"the explanation {self.name}", CpxError)

    @property
    def needs_rows(self) -> bool:
        """Whether there is nothing to explain without X."""
        return inspect.signature(self.explainer).parameters["X"].default is inspect.Parameter.empty

    @property
    def options(self) -> Mapping[str, Declared]:
        """All options, those of all rows first."""
        return _options(self.explainer)

    @property
    def prepared(self) -> Mapping[str, Any]:
        """The options of all rows, with their defaults."""
        return {name: one.default for name, one in self.options.items() if one.prepared}

    @property
    def asked(self) -> Mapping[str, Any]:
        """The options of one row, with their defaults."""
        return {name: one.default for name, one in self.options.items() if not one.prepared}


@cache
def _options(explainer: Any) -> Mapping[str, Declared]:
    found: dict[str, Declared] = {}
    for name, parameter in inspect.signature(explainer, eval_str=True).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            found[name] = Declared(parameter.default, _option(parameter.annotation), True)
        elif parameter.kind is parameter.VAR_KEYWORD:
            # Options that are passed on, each with the default of who takes it.
            (passed,) = get_args(parameter.annotation)
            found |= dict.fromkeys(passed.__annotations__, Declared(None, None, True))
    for cls in explainer.asks:
        hints = get_type_hints(cls, include_extras=True)
        found |= {f.name: Declared(f.default, _option(hints[f.name]), False) for f in fields(cls)}
    return found


def _option(hint: Any) -> Option | None:
    return next((one for one in get_args(hint)[1:] if isinstance(one, Option)), None)


def kinds() -> Iterator[Kind]:
    """Yield all kinds of explanations, ours first."""
    for family in families():
        for name, door in family.doors.items():
            yield Kind(name, door)


def loaded() -> Iterator[Kind]:
    """Yield the kinds whose explainers can be imported.

    One that stands on a family which is left out cannot; who asks for it by name is told so.
    """
    for one in kinds():
        with suppress(CpxError):
            _ = one.explainer
            yield one


def kind(name: object) -> Kind:
    """Return the kind of a name.

    Raises UnknownName: With those that there are.
    """
    for one in kinds():
        if one.name == name:
            return one
    raise UnknownName("kind", name, [one.name for one in kinds()], called_elsewhere())


def called_elsewhere() -> dict[str, str]:
    """Return our name of each kind by what other packages and papers call it."""
    return {other: one.name for one in kinds() for other in one.door.elsewhere}


def refuse_unknown(options: Mapping[str, Any], known: Mapping[str, Any], asked_for: str) -> None:
    """Raise for an option that a kind does not have, and say which one has it."""
    for name in options:
        if name in known:
            continue
        for other in loaded():
            if other.name != asked_for and name in {**other.prepared, **other.asked}:
                raise InvalidOption(
                    f"{name} is for kind={shown(other.name)}, this is kind={shown(asked_for)}"
                )
        if name in ("engine", "solver") and "backend" in known:
            engines = ", ".join(names())
            raise InvalidOption(f"there is no option {shown(name)}: backend is one of {engines}")
        raise InvalidOption(f"there is no option {shown(name)}{nearest(name, known)}")


def with_reachable(problem: Problem, result: Result) -> Result:
    """Return a result; where nothing keeps the limits, a warning says what can be had."""
    family = family_of(problem.kind)
    told = None if family is None else family.reachable.get(problem.kind)
    if told is None or result.status is not Status.INFEASIBLE:
        return result
    found: Result = named_object(told, "what can be had", CpxError)(problem, result)
    return found
