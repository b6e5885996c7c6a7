"""Problems of other packages in ``cpx make``: their parameters are read as they are declared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cpx.errors import InvalidOption, UnknownName, shown

if TYPE_CHECKING:
    from cpx.models.monomial.problem import MonomialProblem

__all__ = ["declared_values", "one_rule_problems", "restated"]


def one_rule_problems() -> dict[str, type[MonomialProblem]]:
    """Return the problems of one rule that are no objective of ``cpx make``, by their kinds."""
    from cpx.explainers.question import OBJECTIVES
    from cpx.models import PROBLEMS
    from cpx.models.monomial.problem import MonomialProblem

    return {
        kind: cls
        for kind, cls in PROBLEMS.items()
        if issubclass(cls, MonomialProblem) and cls not in OBJECTIVES.values()
    }


def declared_values(kind: str, given: Sequence[str]) -> dict[str, Any]:
    """Read ``NAME=VALUE`` for parameters that a kind of problem declares, and no rule has.

    A value is JSON, or else text: ``alarm=20``, ``share=1/3``, ``columns=[0, 2]``. Whether it is
    one that the parameter can have is checked when the problem is made.

    Raises
    ------
    UnknownName
        For a name that is not declared.
    InvalidOption
        For what has no name, and a parameter that is missing.
    """
    from cpx.models.monomial.problem import MonomialProblem
    from cpx.models.parameters import parameters_of

    of_all = parameters_of(MonomialProblem)
    declared = parameters_of(one_rule_problems()[kind])
    own = {name: p for name, p in declared.items() if name not in of_all}
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidOption(f"--set takes NAME=VALUE, got {shown(text)}")
        if name not in own:
            raise UnknownName(f"parameter of {kind}", name, own)
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    for name, parameter in own.items():
        if parameter.required and name not in values:
            told = f"{parameter.meaning}, {parameter.kind.range}"
            raise InvalidOption(f"--set {name}=... is missing: {told}")
    return values


def restated(problem: MonomialProblem, kind: str, values: dict[str, Any]) -> MonomialProblem:
    """Return the problem of a kind with the samples and limits of another one of one rule.

    Raises
    ------
    InvalidInstance
        For a value that its parameter cannot have.
    """
    from cpx.models.monomial.problem import MonomialProblem
    from cpx.models.parameters import parameters_of

    shared = {name: getattr(problem, name) for name in parameters_of(MonomialProblem)}
    return one_rule_problems()[kind](**shared, **values)
