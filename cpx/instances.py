"""Saved instances, version 1: UTF-8 JSON, plain or gzipped, never pickle.

The format is described in the documentation (page "file format") and by the JSON Schema
that :func:`schema` generates.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from cpx.errors import InvalidInstance, UnknownName
from cpx.files import read_text, write_atomic
from cpx.models import PROBLEMS, Problem, problem_class

__all__ = ["dumps", "fingerprint", "from_dict", "load", "loads", "save", "schema"]

_VERSION = 1


def from_dict(data: object) -> Problem:
    """Build the problem of an instance object.

    Raises
    ------
    InvalidInstance, UnknownName
        Naming the key, the value or the kind that is wrong.
    """
    if not isinstance(data, Mapping):
        raise InvalidInstance(f"an instance is a JSON object, got {type(data).__name__}")
    if data.get("format") != "cpx-instance":
        raise InvalidInstance(f"format must be 'cpx-instance', got {data.get('format')!r}")
    version = data.get("version")
    if isinstance(version, bool) or version != _VERSION:
        raise InvalidInstance(f"version {version!r} is not known; known: {_VERSION}")
    if "problem" not in data:
        raise InvalidInstance(
            "the key 'problem' is missing; known problems: " + ", ".join(PROBLEMS)
        )
    return problem_class(data["problem"]).from_dict(data)


def loads(text: str) -> Problem:
    """Read an instance from JSON text."""
    try:
        data = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except InvalidInstance:
        raise
    except ValueError as error:  # besides JSONDecodeError, integers of thousands of digits
        raise InvalidInstance(f"no JSON: {error}") from error
    except RecursionError:
        raise InvalidInstance("no instance: nested too deeply") from None
    return from_dict(data)


def dumps(problem: Problem) -> str:
    """Return an instance as JSON text, one line per key and per sample."""
    data = problem.to_dict()
    samples = data.pop("samples")
    # One sample per line keeps files readable and diffs small.
    rows = ",\n  ".join(json.dumps(row) for row in samples)
    lines = []
    for key, value in data.items():
        if key == "labels":
            lines.append(f' "samples": [\n  {rows}\n ]')
        lines.append(f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def load(path: str | os.PathLike[str]) -> Problem:
    """Read an instance from a ``.json`` or ``.json.gz`` file.

    Raises
    ------
    InvalidInstance
        With the path and what is wrong: not there, truncated, no UTF-8, no JSON, ...
    """
    text = read_text(path, InvalidInstance)
    try:
        return loads(text)
    except (InvalidInstance, UnknownName) as error:
        raise InvalidInstance(f"{path}: {error}") from error


def save(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Write an instance, gzipped when the name ends in ``.gz``; whole or not at all."""
    data = dumps(problem).encode("utf-8")
    if str(path).endswith(".gz"):
        # No time stamp: equal instances give equal files.
        data = gzip.compress(data, mtime=0)
    write_atomic(path, data)


def fingerprint(problem: Problem) -> str:
    """Return a SHA-256 of what decides the answer: all but name and context."""
    data = {k: v for k, v in problem.to_dict().items() if k not in ("name", "context")}
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of instances, version 1."""
    indices = {"type": "array", "items": {"type": "integer", "minimum": 0}, "uniqueItems": True}
    share = {
        "type": ["string", "number"],
        "pattern": "^([0-9]+/[0-9]*[1-9][0-9]*|[0-9]+(\\.[0-9]*)?|\\.[0-9]+)$",
        "minimum": 0,
        "maximum": 1,
    }
    parameters = {
        "type": "object",
        "required": ["k"],
        "additionalProperties": False,
        "properties": {
            "k": {"type": "integer", "minimum": 0, "description": "greatest number of features"},
            "required": {**indices, "description": "features that must be chosen"},
            "forbidden": {**indices, "description": "features that must not be chosen"},
            "one_per_group": {
                "type": "boolean",
                "description": "choose at most one feature of each group",
            },
            "min_coverage": {
                **share,
                "description": "least share of all weight covered, exact: '1/20'",
            },
            "max_coverage": {**share, "description": "greatest share of all weight covered"},
            "min_precision": {**share, "description": "least precision of the rule"},
        },
    }
    bits = {"type": "string", "pattern": "^[01]+$"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cpx instance, version 1",
        "type": "object",
        "required": ["format", "version", "problem", "parameters", "samples", "labels"],
        "additionalProperties": False,
        "properties": {
            "format": {"const": "cpx-instance"},
            "version": {"const": _VERSION},
            "problem": {"enum": sorted(PROBLEMS)},
            "name": {"type": "string"},
            "parameters": parameters,
            "samples": {
                "type": "array",
                "minItems": 1,
                "items": bits,
                "description": "one string per sample; character j is a_ij = [z_ij = x_j]",
            },
            "labels": {**bits, "description": "character i is s_i = [f(z_i) = f(x)]"},
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
        },
    }


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InvalidInstance(f"the key {key!r} occurs twice")
            seen.add(key)
    return data


def _no_constant(text: str) -> float:
    raise InvalidInstance(f"{text} is no JSON number")
