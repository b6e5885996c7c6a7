"""Parquet files and Arrow files (Feather), read column by column by PyArrow where it is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.errors import DataError, EngineMissing, shown
from cpx.support.cells import EXACT

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ArrowFile", "arrow_file"]

_MARKS = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"FEA1": "Feather 1"}
_INDEX = re.compile("__index_level_[0-9]+__")


@dataclass(frozen=True)
class ArrowFile:
    """A table that is opened, and whose columns are read when they are asked for.

    header: Names of the columns, without the unnamed index of a frame of pandas.
    column: Returns a column of Arrow by its name.
    """

    path: Path
    header: list[str]
    n_rows: int
    column: Callable[[str], Any]

    def read(self, name: str, missing: Collection[str]) -> pd.Series[Any]:
        """Return a column as from CSV: NaN where it is missing, and where a text says so.

        Types are those of the file, and categories its dictionaries. Numbers without missing
        values are not copied where they lie side by side.

        Raises DataError: For a column that holds neither numbers, truth values, texts nor dates.
        """
        import pandas as pd

        column = self._one_piece(name)
        kind = column.type
        told = str(kind)
        if told.startswith("decimal"):
            from cpx.data.text_columns import TextColumns

            return TextColumns(()).read(
                name, ("" if v is None else str(v) for v in column.to_pylist())
            )
        if told == "null":
            return pd.Series(np.full(len(column), np.nan), name=name)
        if told.startswith("dictionary"):
            codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            words = column.dictionary.to_pylist()
            return pd.Series(
                pd.Categorical.from_codes(codes, words, ordered=kind.ordered), name=name
            )
        if told in ("string", "large_string", "string_view"):
            return pd.Series(_texts(column, missing), name=name)
        whole = column.null_count == 0
        if told == "bool" or (not whole and re.fullmatch("u?int64", told) and _is_large(column)):
            values = column.to_numpy(zero_copy_only=False)
            if not whole:
                values = np.array([np.nan if v is None else v for v in column.to_pylist()], object)
            return pd.Series(
                values, name=name, dtype="bool" if whole and told == "bool" else object
            )
        if re.fullmatch("u?int(8|16|32|64)|halffloat|float|double", told):
            return pd.Series(column.to_numpy(zero_copy_only=False), name=name, copy=False)
        if told.startswith("timestamp"):
            return pd.Series(column.to_pandas(), name=name)
        if told.startswith("date"):
            return pd.Series(column.cast("timestamp[s]").to_pandas(), name=name)
        raise DataError(
            f"{self.path}: column {shown(name)} holds {shown(told)}: neither numbers, truth "
            "values, texts nor dates"
        )

    def _one_piece(self, name: str) -> Any:
        """Return a column whose values lie side by side."""
        import pyarrow

        try:
            column = self.column(name)
        except (OSError, pyarrow.ArrowException) as error:
            raise DataError(
                f"{self.path}: column {shown(name)} cannot be read: {error}"
            ) from error
        if pyarrow.types.is_dictionary(column.type):
            column = column.unify_dictionaries()
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def arrow_file(path: Path) -> ArrowFile | None:
    """Open a file whose first bytes are those of Parquet or Arrow; None for any other.

    Raises DataError: When it is broken, or two columns have one name.
    Raises EngineMissing: Without PyArrow.
    """
    with path.open("rb") as file:
        start = file.read(6)
    kind = next((kind for mark, kind in _MARKS.items() if start.startswith(mark)), None)
    if kind is None:
        return None
    try:
        import pyarrow
        from pyarrow import feather, ipc, parquet
    except ImportError as error:
        raise EngineMissing(
            f"{path}: a file of {kind} needs PyArrow to be read; pip install pyarrow"
        ) from error
    column: Callable[[str], Any]
    try:
        if kind == "Parquet":
            opened = parquet.ParquetFile(path, memory_map=True)
            names, n_rows = opened.schema_arrow.names, opened.metadata.num_rows

            def column(name: str) -> Any:
                return opened.read([name]).column(name)
        elif kind == "Arrow":
            table = ipc.open_file(pyarrow.memory_map(str(path))).read_all()
            names, n_rows, column = table.column_names, table.num_rows, table.column
        else:
            table = feather.read_table(path)
            names, n_rows, column = table.column_names, table.num_rows, table.column
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{path}: cannot be read as {kind}: {error}") from error
    header = [name for name in names if not _INDEX.fullmatch(name)]
    for place, name in enumerate(header):
        if not name.strip():
            raise DataError(f"{path}: column {place} has no name but {shown(name)}: give it one")
        if header.index(name) != place:
            raise DataError(f"{path}: two columns are named {shown(name)}: rename one")
    return ArrowFile(path, header, n_rows, column)


def _texts(column: Any, missing: Collection[str]) -> np.ndarray[Any, Any]:
    """Return texts as objects, each different one once, and NaN for those that are missing."""
    found, missing = column.dictionary_encode(), {word.strip() for word in missing}
    words = [np.nan if text.strip() in missing else text for text in found.dictionary.to_pylist()]
    codes = found.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*words, np.nan], dtype=object)[codes])


def _is_large(column: Any) -> bool:
    """Whether some integers of a column are no floats."""
    from pyarrow import compute

    ends = compute.min_max(column).as_py()
    return any(abs(end) > EXACT for end in ends.values() if end is not None)
