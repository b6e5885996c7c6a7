"""The kinds of explanations that families offer, with their options, each declared once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, ClassVar, Protocol, get_args

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Status
from cpx.errors import CpxError, InvalidOption, UnknownName, nearest, shown
from cpx.modelling.base import Problem
from cpx.support.families import Door, families, family_of
from cpx.support.lazy_imports import named_object

__all__ = ["Kind", "RowExplainer", "kind", "kinds", "with_reachable"]


class RowExplainer(Protocol):
    """What a family offers: made of a model, rows X and options, it explains row after row.

    Attributes
    ----------
    asks : tuple of dataclasses
        Their fields are the options of a row, with defaults; the keyword arguments of
        ``__init__`` are those of all rows. ``problem`` and ``solve`` may be left out.
    """

    asks: ClassVar[tuple[type, ...]]

    def explain(self, x: Any, **asked: Any) -> Explanation:
        """Explain one row; raise EngineError, or Infeasible, where there is no answer."""

    def for_many(self, asked: Mapping[str, Any]) -> RowExplainer:
        """Return what explains many rows, with what it can learn once for all of them."""


@dataclass(frozen=True)
class Kind:
    """A kind of explanation by its name.

    Attributes
    ----------
    name : str
        As ``cpx.explain(kind=...)`` and the method of :class:`cpx.Explainer` have it.
    door : Door
        What its family registered.
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
    def prepared(self) -> Mapping[str, Any]:
        """The options of all rows, with their defaults."""
        return _prepared(self.explainer)

    @property
    def asked(self) -> Mapping[str, Any]:
        """The options of one row, with their defaults."""
        return {
            f.name: None if f.default is MISSING else f.default
            for cls in self.explainer.asks
            for f in fields(cls)
        }


@cache
def _prepared(explainer: type) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(explainer, eval_str=True).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            found[name] = parameter.default
        elif parameter.kind is parameter.VAR_KEYWORD:
            # Options that are passed on, each with the default of who takes it.
            (passed,) = get_args(parameter.annotation)
            found |= dict.fromkeys(passed.__annotations__)
    return found


def kinds() -> Iterator[Kind]:
    """Yield all kinds of explanations, ours first."""
    for family in families():
        for name, door in family.doors.items():
            yield Kind(name, door)


def kind(name: object) -> Kind:
    """Return the kind of a name.

    Raises
    ------
    UnknownName
        With those that there are.
    """
    for one in kinds():
        if one.name == name:
            return one
    raise UnknownName("kind", name, [one.name for one in kinds()])


def refuse_unknown(options: Mapping[str, Any], known: Mapping[str, Any], asked_for: str) -> None:
    """Raise for an option that a kind does not have, and say which one has it."""
    for name in options:
        if name in known:
            continue
        for other in kinds():
            if other.name != asked_for and name in {**other.prepared, **other.asked}:
                raise InvalidOption(
                    f"{name} is for kind={shown(other.name)}, this is kind={shown(asked_for)}"
                )
        raise InvalidOption(f"there is no option {shown(name)}{nearest(name, known)}")


def with_reachable(problem: Problem, result: Result) -> Result:
    """Return a result; where nothing keeps the limits, a warning says what can be had."""
    family = family_of(problem.kind)
    told = None if family is None else family.reachable.get(problem.kind)
    if told is None or result.status is not Status.INFEASIBLE:
        return result
    found: Result = named_object(told, "what can be had", CpxError)(problem, result)
    return found
