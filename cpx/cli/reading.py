"""Reading the files that commands are given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cpx.errors import InvalidInstance, OutputError

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.models import Problem

__all__ = ["output_path", "read_instance", "read_instances", "read_result"]


def read_result(path: Path) -> Result:
    """Read a saved result; whatever is wrong with it is named with the path."""
    from cpx.answers.result import Result
    from cpx.support.files import read_text

    text = read_text(path, InvalidInstance)
    try:
        return Result.from_json(text)
    except InvalidInstance as error:
        raise InvalidInstance(f"{path}: {error}") from error


def read_instance(path: Path) -> Problem:
    """Read an instance; whatever is wrong with it is named with the path."""
    from cpx.instances import load

    return load(path)


def read_instances(paths: list[Path]) -> dict[str, Problem]:
    """Read instances by their names; by their paths where names are missing or equal."""
    problems = [read_instance(path) for path in paths]
    wanted = [str(getattr(problem, "name", "") or "") for problem in problems]
    names = [
        name if name and wanted.count(name) == 1 else str(path)
        for name, path in zip(wanted, paths, strict=True)
    ]
    for path in paths:
        if names.count(str(path)) > 1:
            raise InvalidInstance(f"{path} is given twice")
    return dict(zip(names, problems, strict=True))


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
