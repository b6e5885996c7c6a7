"""Saved instances, version 1: UTF-8 JSON, plain or gzipped, never pickle.

The format is described in the documentation (page "file format") and by the JSON Schema
that :func:`schema` generates.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from cpx.errors import DataError, InvalidInstance, UnknownName, shown
from cpx.modelling.base import Problem
from cpx.modelling.registry import PROBLEMS, problem_class, require_registered
from cpx.modelling.saved import VERSION, arguments_of, schema_of
from cpx.support.files import parse_json, read_text, write_atomic

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


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
        raise InvalidInstance(f"format must be 'cpx-instance', got {shown(data.get('format'))}")
    version = data.get("version")
    if isinstance(version, bool) or version != VERSION:
        raise InvalidInstance(f"version {shown(version)} is not known; known: {VERSION}")
    if "problem" not in data:
        raise InvalidInstance(
            "the key 'problem' is missing; known problems: " + ", ".join(PROBLEMS)
        )
    cls = problem_class(data["problem"])
    return cls(**arguments_of(cls, data))


def loads(text: str) -> Problem:
    """Read an instance from JSON text."""
    data = parse_json(
        text, InvalidInstance, object_pairs_hook=_no_twins, parse_constant=_no_constant
    )
    if _SURROGATE.search(text):
        _refuse_surrogates(data)
    return from_dict(data)


def dumps(problem: Problem) -> str:
    """Return an instance as JSON text, one line per key, per sample and per tree.

    Raises
    ------
    InvalidInstance
        For a problem of a class that is not registered: nothing could read it as what it is.
    """
    require_registered(problem)
    lines = [
        f" {json.dumps(key)}: {_text(key, value)}" for key, value in problem.to_dict().items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _text(key: str, value: Any) -> str:
    # Short lines keep files readable and diffs small.
    if key == "samples":
        rows = ",\n  ".join(json.dumps(row) for row in value)
        return f"[\n  {rows}\n ]"
    if key == "unseen":
        parts = ",\n  ".join(f"{json.dumps(k)}: {_text(k, v)}" for k, v in value.items())
        return f"{{\n  {parts}\n }}"
    if key == "model":
        plain = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items() if k != "trees"]
        trees = ",\n   ".join(json.dumps(tree) for tree in value["trees"])
        return "{\n  " + ",\n  ".join([*plain, f'"trees": [\n   {trees}\n  ]']) + "\n }"
    return json.dumps(value, allow_nan=False)


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
    except (DataError, InvalidInstance, UnknownName) as error:
        raise InvalidInstance(f"{path}: {error}") from error


def save(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Write an instance, gzipped when the name ends in ``.gz``; whole or not at all."""
    data = dumps(problem).encode("utf-8")
    if str(path).endswith(".gz"):
        # No time stamp: equal instances give equal files.
        data = gzip.compress(data, mtime=0)
    write_atomic(path, data)


def fingerprint(problem: Problem) -> str:
    """Return a SHA-256 of what decides the answer: all but name, context and unseen samples."""
    aside = ("name", "context", "unseen")
    data = {k: v for k, v in problem.to_dict().items() if k not in aside}
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of instances, version 1."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cpx instance, version 1",
        "oneOf": schema_of(PROBLEMS.values()),
    }


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InvalidInstance(f"the key {shown(key)} occurs twice")
            seen.add(key)
    return data


def _refuse_surrogates(data: object) -> None:
    # Half a character: JSON can say it, but nothing can print it or write it to a file.
    try:
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise InvalidInstance(f"a text has {shown(half)}, which is half a character") from None


def _no_constant(text: str) -> float:
    raise InvalidInstance(f"{text} is no JSON number")
