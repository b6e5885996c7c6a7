"""The saved form of monomial problems, version 1: JSON values in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.bits import bits_of, matrix_of, string_of, strings_of
from cpx.data.samples import Samples
from cpx.errors import InvalidInstance, nearest, shown

if TYPE_CHECKING:
    from cpx.models.monomial.problem import MonomialProblem

__all__ = ["LIMITS", "read", "refuse_unknown", "with_samples", "written"]

LIMITS = ("min_coverage", "max_coverage", "min_precision")
"""Parameters that are exact shares, saved as strings such as ``"19/20"``."""

_KEYS = frozenset(
    (
        "format",
        "version",
        "problem",
        "name",
        "parameters",
        "samples",
        "labels",
        "weights",
        "features",
        "groups",
        "context",
    )
)
_PARAMETERS = frozenset(("k", "required", "forbidden", "one_per_group", *LIMITS))


def written(problem: MonomialProblem, rows: NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """Return a problem as JSON values; parameters that were not given are left out.

    Where ``rows`` are given, they are the samples, in the place of strings.
    """
    parameters: dict[str, Any] = {"k": problem.k}
    if problem.required:
        parameters["required"] = list(problem.required)
    if problem.forbidden:
        parameters["forbidden"] = list(problem.forbidden)
    if problem.one_per_group:
        parameters["one_per_group"] = True
    parameters |= {name: str(share) for name, share in problem.shares.items()}
    return with_samples(problem.kind, problem.name, parameters, problem.samples, rows)


def with_samples(
    kind: str,
    name: str,
    parameters: dict[str, Any],
    samples: Samples,
    rows: NDArray[np.bool_] | None = None,
) -> dict[str, Any]:
    """Return a problem on samples as JSON values."""
    data: dict[str, Any] = {"format": "cpx-instance", "version": 1, "problem": kind}
    if name:
        data["name"] = name
    data["parameters"] = parameters
    data["samples"] = strings_of(samples.agreement) if rows is None else rows
    data["labels"] = string_of(samples.same)
    if (samples.weights != 1).any():
        data["weights"] = samples.weights.tolist()
    data["features"] = list(samples.features)
    if samples.groups is not None:
        data["groups"] = list(samples.groups)
    if samples.context:
        data["context"] = dict(samples.context)
    return data


def read(
    data: Mapping[str, Any], known: frozenset[str] = _PARAMETERS, needed: tuple[str, ...] = ("k",)
) -> dict[str, Any]:
    """Return the arguments of the problem that :func:`with_samples` wrote.

    Parameters
    ----------
    data : dict
    known : frozenset of str
        Its parameters.
    needed : tuple of str
        Those of them that must be there.

    Raises
    ------
    InvalidInstance
        Naming an unknown key or parameter, a missing key, or a value of a wrong type.
    """
    refuse_unknown("key", data, _KEYS)
    parameters = data.get("parameters")
    if not isinstance(parameters, Mapping):
        raise InvalidInstance(f"parameters must be an object, got {shown(parameters)}")
    refuse_unknown("parameter", parameters, known)
    held = [*((key, parameters) for key in needed), ("samples", data), ("labels", data)]
    for key, holder in held:
        if key not in holder:
            raise InvalidInstance(f"the key {shown(key)} is missing")
    for name in LIMITS:
        if name in parameters and parameters[name] is None:
            raise InvalidInstance(f"{name} must be a share from 0 to 1, got None")
    optional = {
        key: data[key]
        for key in ("weights", "groups", "context", "features")
        if data.get(key) is not None
    }
    for key in ("weights", "groups", "features"):
        if not isinstance(optional.get(key, []), list):
            raise InvalidInstance(f"{key} must be a list, got {shown(optional[key])}")
    if not isinstance(optional.get("context", {}), dict):
        raise InvalidInstance(f"context must be an object, got {shown(optional['context'])}")
    samples = Samples(matrix_of(data["samples"]), bits_of(data["labels"], "labels"), **optional)
    return {"samples": samples, "name": data.get("name", ""), **parameters}


def refuse_unknown(what: str, data: Mapping[str, Any], known: frozenset[str]) -> None:
    """Raise InvalidInstance naming the first key that is not known."""
    for key in data:
        if key not in known:
            raise InvalidInstance(
                f"unknown {what} {shown(key)}{nearest(str(key), known)}; known: "
                + ", ".join(sorted(known))
            )
