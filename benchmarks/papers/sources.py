"""Sources of data sets: a directory of files, or OpenML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cpx.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.papers.datasets import Dataset

__all__ = ["Directory", "OpenML", "Source", "Table"]

INDEX = "index.json"


@dataclass(frozen=True, eq=False)
class Table:
    """A table with its target.

    Attributes
    ----------
    X : data frame
        Feature columns; ``categorical`` names those whose numbers are categories.
    y : Series
        The classes.
    categorical : tuple of str
    """

    X: pd.DataFrame
    y: pd.Series[Any]
    categorical: tuple[str, ...] = ()


class Source(Protocol):
    """Something that has the tables of data sets."""

    def identity(self, dataset: Dataset) -> str:
        """Return a text that changes when the table does, without reading all of it.

        Raises
        ------
        DataError
            When the source does not have the data set.
        """

    def fetch(self, dataset: Dataset) -> None:
        """Make sure that the table can be loaded later.

        Raises
        ------
        DataError
            Naming the data set, when it cannot be had.
        """

    def load(self, dataset: Dataset) -> Table:
        """Return the table.

        Raises
        ------
        DataError
            Naming the data set, when it cannot be had.
        """


@dataclass(frozen=True)
class Directory:
    """A directory with ``<file>.csv.gz`` per data set, the last column being ``target``.

    ``index.json`` maps each file stem to an object with ``categorical_columns``, the columns
    whose values are categories even where they look like numbers.
    """

    path: Path

    def identity(self, dataset: Dataset) -> str:
        """Return the hash of the file and of what the index says of it."""
        digest = hashlib.sha256(json.dumps(self._categorical(dataset)).encode())
        try:
            digest.update(self._file(dataset).read_bytes())
        except OSError as error:
            raise DataError(
                f"data set {dataset.name!r}: {self._file(dataset)} cannot be read: "
                f"{error.strerror}"
            ) from error
        return f"sha256:{digest.hexdigest()[:16]}"

    def fetch(self, dataset: Dataset) -> None:
        """Do nothing: :meth:`identity` has read the file."""

    def load(self, dataset: Dataset) -> Table:
        """Read the file."""
        from cpx.data import read_table

        categorical = self._categorical(dataset)
        X, y = read_table(self._file(dataset), "target", categorical)
        return _without(Table(X, y, tuple(categorical)), dataset.drop)

    def _file(self, dataset: Dataset) -> Path:
        return self.path / f"{dataset.file}.csv.gz"

    def _categorical(self, dataset: Dataset) -> list[str]:
        index = self.path / INDEX
        try:
            entries = json.loads(index.read_text(encoding="utf-8"))
        except OSError as error:
            raise DataError(f"{index} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise DataError(f"{index} is no JSON: {error}") from error
        entry = entries.get(dataset.file) if isinstance(entries, Mapping) else None
        columns = entry.get("categorical_columns") if isinstance(entry, Mapping) else None
        if not isinstance(columns, list) or not all(isinstance(c, str) for c in columns):
            raise DataError(
                f"{index}: {dataset.file!r} must be an object with a list of column names "
                "'categorical_columns'"
            )
        return columns


@dataclass(frozen=True)
class OpenML:
    """OpenML through scikit-learn, which keeps what it fetched in its own cache.

    A column is categorical where OpenML says so.
    """

    def identity(self, dataset: Dataset) -> str:
        """Return the identifier: a data set of OpenML never changes."""
        return f"openml:{dataset.openml_id}"

    def fetch(self, dataset: Dataset) -> None:
        """Put the table into scikit-learn's cache."""
        self.load(dataset)

    def load(self, dataset: Dataset) -> Table:
        """Fetch the table, or read it from the cache; rows without a class are left out."""
        from sklearn.datasets import fetch_openml

        try:
            bunch = fetch_openml(data_id=dataset.openml_id, as_frame=True, parser="auto")
        # Whatever the network or the server does, and what cannot be parsed.
        except Exception as error:
            raise DataError(
                f"data set {dataset.name!r} (OpenML {dataset.openml_id}) could not be fetched: "
                f"{type(error).__name__}: {error}; '--data DIR' reads {dataset.file}.csv.gz "
                "from a directory instead"
            ) from error
        X, y = bunch.data, bunch.target
        if y is None or y.ndim != 1:
            raise DataError(
                f"data set {dataset.name!r} (OpenML {dataset.openml_id}) has no single target"
            )
        known = y.notna()
        return _without(Table(X[known], y[known]), dataset.drop)


def _without(table: Table, columns: tuple[str, ...]) -> Table:
    X = table.X.drop(columns=list(columns), errors="ignore")
    return Table(X, table.y, tuple(name for name in table.categorical if name in X))
