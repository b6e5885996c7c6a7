"""The saved form of problems, version 1, by their declared parameters: JSON values in and out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cpx.data.bits import bits_of, matrix_of, string_of, strings_of
from cpx.data.samples import Samples
from cpx.errors import InvalidInstance, nearest, shown
from cpx.modelling.parameters import (
    Json,
    Kind,
    Parameter,
    given_parameters,
    parameter,
    parameters_of,
)

VERSION = 1
BITS = {"type": "string", "pattern": "^[01]+$"}
"""JSON Schema of a row of bits."""

_FRAME = ("format", "version", "problem", "parameters")


def written(problem: Any, arrays: bool = False) -> Json:
    """Return a problem as JSON values; what is empty or was not given is left out.

    arrays: Whether large arrays may stay arrays, and what was written before be the same objects,
        for who only reads them.
    """
    above: Json = {}
    parameters: Json = {}
    below: Json = {}
    for declared, value in sorted(given_parameters(problem), key=lambda given: given[0].place):
        into = parameters if declared.key is None else below if declared.place >= 0 else above
        into |= declared.kind.entries(declared.key or declared.name, value, arrays)
    head = {"format": "cpx-instance", "version": VERSION, "problem": problem.kind}
    return {**head, **above, "parameters": parameters, **below}


def arguments_of(cls: type, data: Mapping[str, Any]) -> Json:
    """Return the arguments of the problem that :func:`written` wrote.

    Raises InvalidInstance: Naming an unknown or missing key or parameter, or a value of a wrong
        type.
    """
    declared = parameters_of(cls).values()
    own = [p for p in declared if p.key is None]
    beside = [p for p in declared if p.key is not None]
    _refuse_unknown("key", data, [*_FRAME, *_keys(beside)])
    parameters = data.get("parameters")
    if not isinstance(parameters, Mapping):
        raise InvalidInstance(f"parameters must be an object, got {shown(parameters)}")
    _refuse_unknown("parameter", parameters, _keys(own))
    arguments = {}
    for group, holder in ((own, parameters), (beside, data)):
        for p in group:
            key = p.key or p.name
            for needed in p.kind.needed(key) if p.required else ():
                if needed not in holder:
                    raise InvalidInstance(f"the key {shown(needed)} is missing")
            if key in holder:
                arguments[p.name] = p.kind.read(key, holder)
    return arguments


def _keys(declared: Iterable[Parameter]) -> list[str]:
    return [key for p in declared for key in p.kind.properties(p.key or p.name)]


def _refuse_unknown(what: str, data: Mapping[str, Any], known: list[str]) -> None:
    """Raise InvalidInstance naming the first key that is not known."""
    for key in data:
        if key not in known:
            raise InvalidInstance(
                f"unknown {what} {shown(key)}{nearest(str(key), known)}; known: "
                + ", ".join(sorted(known))
            )


# -------------------------------------------------------------------- schema


def schema_of(classes: Iterable[Any]) -> list[Json]:
    """Return the JSON Schemas of classes of problems, one for those that differ in kind only."""
    found: list[Json] = []
    kinds: list[list[str]] = []
    for cls in classes:
        schema = _schema(cls)
        if schema in found:
            kinds[found.index(schema)].append(cls.kind)
        else:
            found.append(schema)
            kinds.append([cls.kind])
    for schema, names in zip(found, kinds, strict=True):
        schema["properties"]["problem"] = {"enum": sorted(names)}
    return found


def _schema(cls: type) -> Json:
    declared = sorted(parameters_of(cls).values(), key=lambda p: p.place)
    own = [p for p in declared if p.key is None]
    beside = [p for p in declared if p.key is not None]
    context = {"type": "object", "description": "where the instance comes from; free"}
    return {
        "type": "object",
        "required": [*("format", "version", "problem", "parameters"), *_needed(beside)],
        "additionalProperties": False,
        "properties": {
            "format": {"const": "cpx-instance"},
            "version": {"const": VERSION},
            "problem": {},
            "parameters": {
                "type": "object",
                "required": _needed(own),
                "additionalProperties": False,
                "properties": _properties(own),
            },
            "context": context,
            **_properties(beside),
        },
    }


def _needed(declared: Iterable[Parameter]) -> list[str]:
    return [key for p in declared if p.required for key in p.kind.needed(p.key or p.name)]


def _properties(declared: Iterable[Parameter]) -> Json:
    found: Json = {}
    for p in declared:
        properties = p.kind.properties(p.key or p.name)
        # A kind with several keys says of each what it means.
        more = {"description": p.meaning} if len(properties) == 1 else {}
        found |= {key: {**schema, **more} for key, schema in properties.items()}
    return found


# ------------------------------------------------------------------- samples


class _SampleData(Kind):
    """Samples, which have keys of their own in a file."""

    def check(self, name: str, value: Any, problem: Any) -> Samples | None:
        """Return the samples."""
        if not isinstance(value, Samples):
            raise InvalidInstance(f"{name} must be Samples, got {type(value).__name__}")
        return value

    def entries(self, key: str, value: Samples, arrays: bool) -> Json:
        """Return what describes the samples; weights of 1 and what is not known are left out."""
        rows = value.agreement if arrays else strings_of(value.agreement)
        data: Json = {"samples": rows, "labels": string_of(value.same)}
        if (value.weights != 1).any():
            data["weights"] = value.weights.tolist()
        data["features"] = list(value.features)
        if value.groups is not None:
            data["groups"] = list(value.groups)
        if value.context:
            data["context"] = dict(value.context)
        return data

    def read(self, key: str, holder: Mapping[str, Any]) -> Samples:
        """Return the samples of a file."""
        optional = {
            key: holder[key]
            for key in ("weights", "groups", "context", "features")
            if holder.get(key) is not None
        }
        for key in ("weights", "groups", "features"):
            if not isinstance(optional.get(key, []), list):
                raise InvalidInstance(f"{key} must be a list, got {shown(optional[key])}")
        if not isinstance(optional.get("context", {}), dict):
            raise InvalidInstance(f"context must be an object, got {shown(optional['context'])}")
        return Samples(
            matrix_of(holder["samples"]), bits_of(holder["labels"], "labels"), **optional
        )

    def properties(self, key: str) -> Json:
        """Return the schemas of the keys."""
        return {
            "samples": {
                "type": "array",
                "minItems": 1,
                "items": BITS,
                "description": "one string per sample; character j is a_ij = [z_ij = x_j]",
            },
            "labels": {**BITS, "description": "character i is s_i = [f(z_i) = f(x)]"},
            "weights": {
                "type": "array",
                "items": {"type": "integer", "minimum": 1},
                "description": "one per sample; absent: all 1",
            },
            "features": {
                "type": "array",
                "items": {"type": "string"},
                "description": "one literal per feature, true of x",
            },
            "groups": {
                "type": "array",
                "items": {"type": "integer"},
                "description": "attribute each feature comes from",
            },
            "context": {"type": "object", "description": "where the instance comes from; free"},
        }

    def needed(self, key: str) -> tuple[str, ...]:
        """Return the keys that a file must have."""
        return ("samples", "labels")


SAMPLES = parameter(_SampleData(), "agreement with x, labels and weights", key="samples")
"""The declaration of the samples of a problem."""


_ROWS = ("samples", "labels", "weights")


class _UnseenSamples(_SampleData):
    """Samples that no engine sees: an object with rows, labels and weights."""

    keeps_empty = True

    def check(self, name: str, value: Any, problem: Any) -> Samples | None:
        """Return samples of the same features."""
        super().check(name, value, problem)
        known = problem.samples
        if value.d != known.d:
            raise InvalidInstance(f"{name} has {value.d} features, samples has {known.d}")
        return Samples(value.agreement, value.same, value.weights, known.features, known.groups)

    def entries(self, key: str, value: Samples, arrays: bool) -> Json:
        """Return one key, of an object without what the samples of the problem say already."""
        data = super().entries(key, value, arrays)
        return {key: {name: data[name] for name in _ROWS if name in data}}

    def read(self, key: str, holder: Mapping[str, Any]) -> Samples:
        """Return the samples of a file."""
        data = holder[key]
        if not isinstance(data, Mapping):
            raise InvalidInstance(f"{key} must be an object, got {shown(data)}")
        _refuse_unknown("key", data, list(_ROWS))
        for name in _ROWS[:2]:
            if name not in data:
                raise InvalidInstance(f"the key {shown(name)} of {key} is missing")
        return super().read(key, data)

    def properties(self, key: str) -> Json:
        """Return the schema of the key."""
        rows = {name: schema for name, schema in super().properties(key).items() if name in _ROWS}
        return {
            key: {
                "type": "object",
                "required": list(_ROWS[:2]),
                "additionalProperties": False,
                "properties": rows,
            }
        }

    def needed(self, key: str) -> tuple[str, ...]:
        """Return the key."""
        return (key,)


UNSEEN = parameter(
    _UnseenSamples(), "samples that no engine sees, to measure the answer on", key="unseen"
)
"""The declaration of samples that are kept aside."""
