"""Instances and results read from files, and checks of the files that are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.errors import InvalidInstance, OutputError

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.modelling.base import Problem


def read_result(path: Path) -> Result:
    """Read a saved result; whatever is wrong with it is named with the path."""
    from cpx.answers.result import Result

    data = result_object(path)
    try:
        return Result.from_dict(data)
    except InvalidInstance as error:
        raise InvalidInstance(f"{path}: {error}") from error


def result_object(path: Path) -> dict[str, Any]:
    """Read the JSON object of a result as it stands, right or wrong."""
    from cpx.support.files import parse_json, read_text

    text = read_text(path, InvalidInstance)
    try:
        data = parse_json(text, InvalidInstance)
    except InvalidInstance as error:
        raise InvalidInstance(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("format") != "cpx-result":
        raise InvalidInstance(f"{path}: not a result: 'format' must be 'cpx-result'")
    if data.get("version") != 1:
        raise InvalidInstance(f"{path}: the version of the result is not known; known: 1")
    return data


def read_instance(path: Path) -> Problem:
    """Read an instance; whatever is wrong with it is named with the path."""
    from cpx.modelling.instances import load

    return load(path)


def output_path(path: Path | None, *inputs: Path) -> Path | None:
    """Check that an output can be written and overwrites none of the inputs."""
    from cpx.support.files import ensure_writable

    if path is None:
        return None
    target = ensure_writable(path)
    for source in inputs:
        if target.exists() and source.exists() and target.samefile(source):
            raise OutputError(f"cannot write {target}: it is the input")
    return target
