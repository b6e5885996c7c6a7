"""The saved form of sufficient reasons, version 1: JSON values in and out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cpx.errors import InvalidInstance, ModelError, shown
from cpx.models.monomial.saved import refuse_unknown
from cpx.trees.form import TreeModel

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.problem import SufficientReason

__all__ = ["read", "written"]

_KEYS = frozenset(
    ("format", "version", "problem", "name", "parameters", "model", "x", "class", "context")
)
_PARAMETERS = frozenset(("level", "definition", "unit", "required", "forbidden", "weights"))


def written(problem: SufficientReason) -> dict[str, Any]:
    """Return a problem as JSON values; parameters that were not given are left out."""
    parameters: dict[str, Any] = {
        "level": problem.level,
        "definition": problem.definition,
        "unit": str(problem.unit),
    }
    for key in ("required", "forbidden", "weights"):
        if value := getattr(problem, key):
            parameters[key] = list(value)
    data: dict[str, Any] = {"format": "cpx-instance", "version": 1, "problem": problem.kind}
    if problem.name:
        data["name"] = problem.name
    data["parameters"] = parameters
    data["x"] = [None if math.isnan(value) else value for value in problem.x]
    data["class"] = problem.label
    data["model"] = problem.tree_model.to_dict()
    if problem.context:
        data["context"] = dict(problem.context)
    return data


def read(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the problem that :func:`written` wrote.

    Raises
    ------
    InvalidInstance
        Naming an unknown or missing key or parameter, or what is wrong with the model.
    """
    refuse_unknown("key", data, _KEYS)
    parameters = data.get("parameters")
    if not isinstance(parameters, Mapping):
        raise InvalidInstance(f"parameters must be an object, got {shown(parameters)}")
    refuse_unknown("parameter", parameters, _PARAMETERS)
    holders = [("model", data), ("x", data), ("class", data)]
    holders += [(key, parameters) for key in ("level", "definition", "unit")]
    for key, holder in holders:
        if holder.get(key) is None:
            raise InvalidInstance(f"the key {shown(key)} is missing")
    if not isinstance(data["x"], list):
        raise InvalidInstance(f"x must be a list, got {shown(data['x'])}")
    try:
        model = TreeModel.from_dict(data["model"])
    except ModelError as error:
        raise InvalidInstance(f"model: {error}") from error
    arguments = {key: value for key, value in parameters.items() if value is not None}
    return {
        "tree_model": model,
        "x": data["x"],
        "label": data["class"],
        "name": data.get("name", ""),
        "context": data.get("context", {}),
        **arguments,
    }
