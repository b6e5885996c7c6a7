"""Instances and results read from files, checks of files that are written, and of targets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.errors import DataError, InvalidInstance, InvalidOption, OutputError, UnknownName, shown

if TYPE_CHECKING:
    import pandas as pd

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


def read_columns(
    table: Path,
    target: str | None,
    missing: list[str],
    categorical: list[str] | None = None,
    trains: bool = True,
    numbers: bool = False,
) -> tuple[pd.DataFrame, Any]:
    """Return the columns of a table but the target, and the target where a model is trained.

    Raises DataError: For a table that cannot be read, and a target of a single class.
    """
    from cpx.cli.progress import phase
    from cpx.data.tables import read_rows, read_table

    with phase(f"reading {table}"):
        if not trains:
            return read_rows(table, target, missing=missing), None
        X, y = read_table(table, str(target), categorical, missing=missing, numbers=numbers)
    if y.nunique() < 2:
        raise DataError(
            f"{table}: the target column {shown(y.name)} has a single class, {shown(y.iloc[0])}: "
            "there is nothing to explain"
        )
    return X, y


def class_of(y: pd.Series[Any], label: str | None) -> str:
    """Return the class that is described: the last one of two, or the one that is named."""
    # In the order of the values, so that 10 comes after 9.
    known = [str(v) for v in sorted(y.unique().tolist(), key=lambda v: (str(type(v)), v))]
    if label is None and len(known) > 2:
        raise InvalidOption(
            f"--label is missing: the target {shown(y.name)} has {len(known)} classes, "
            f"{', '.join(known[:5])}{' ...' * (len(known) > 5)}"
        )
    if label is not None and label not in known:
        raise UnknownName("class", label, known)
    return label or known[-1]
