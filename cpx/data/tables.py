"""Tables and rows read from CSV, Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.data.arrow_file import arrow_file
from cpx.data.categories import infinite
from cpx.data.text_columns import TextColumns, is_number
from cpx.data.text_file import TextTable, text_table
from cpx.errors import DataError, InvalidOption, nearest, shortened, shown
from cpx.support.files import read_bytes
from cpx.support.validation import integer
from cpx.support.warnings import warn

if TYPE_CHECKING:
    import pandas as pd

_NOT_UNPACKED = (".tar", ".zst")

# A target of so many different numbers is none of classes where few rows have each.
_MANY_CLASSES, _FEW_ROWS = 20, 10


def read_table(
    path: str | Path,
    target: str,
    categorical: Sequence[str] | None = None,
    *,
    missing: str | Iterable[str] = (),
    numbers: bool = False,
) -> tuple[pd.DataFrame, pd.Series[Any]]:
    r"""Read a CSV, Parquet or Arrow file and split off the target column.

    Columns of Parquet and Arrow files have the types of the file, and are not copied where the
    file has them in memory. In CSV fields end with commas, semicolons, tabs or bars. A column is
    of numbers, of truth values (true, false), or of texts. Whatever is not sure is a warning that
    names the column: cells that look missing, columns of nearly only numbers, decimal commas,
    codes such as 007, dates.

    Parameters
    ----------
    path : str or Path
        A ``.csv`` file in UTF-8 with a header, or a compressed one (``.csv.gz``, ``.bz2``,
        ``.xz``, ``.zip``). What begins like a Parquet or Arrow file is read by PyArrow.
    target : str
        Name of the column with the classes.
    categorical : sequence of str, optional
        Columns whose numbers are categories; they get pandas' category type, which
        binarizer and named classifiers understand.
    missing : str or iterable of str, optional
        Cells without a value, such as ``["?", "NA"]``; the empty field always is one.
    numbers : bool
        Whether the target is one of numbers to predict, and not of classes.

    Returns
    -------
    X : data frame
        All other columns.
    y : Series
        The target.

    Raises
    ------
    EngineMissing
        For a Parquet or Arrow file without PyArrow.
    DataError
        When the file cannot be read, a column is not there, unnamed or there twice, there
        are no rows or no columns left, or the target has missing values or no classes;
        naming the file and the column.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("size,colour,y\n1.5,red,no\n2.5,blue,yes\n")
    ...     X, y = read_table(path, target="y")
    >>> X.shape, y.tolist()
    ((2, 2), ['no', 'yes'])
    """
    path = Path(path)
    wanted = [("target", target), *(("categorical", name) for name in categorical or ())]
    table = _read(path, missing, wanted)
    X, y = table.drop(columns=target), table[target]
    if X.shape[1] == 0:
        raise DataError(f"{path}: there is no column besides the target {shown(target)}")
    if y.isna().any():
        raise DataError(
            f"{path}: the target column {shown(target)} has no value in "
            f"{int(y.isna().sum())} rows, "
            f"the first being row {int(y.isna().argmax())}: remove them"
        )
    (_require_numbers if numbers else _require_classes)(path, y)
    for name in categorical or ():
        if name != target:
            X[name] = X[name].astype("category")
    return X, y


def row(X: pd.DataFrame, i: int) -> pd.DataFrame:
    """Return row number i, counted from 0, as a frame of one row with its column types.

    Raises
    ------
    DataError
        When there is no such row; negative numbers are no rows.

    Examples
    --------
    >>> import pandas as pd
    >>> row(pd.DataFrame({"a": [1, 2]}), 1)["a"].tolist()
    [2]
    """
    number = integer(i)
    if number is None or not 0 <= number < len(X):
        raise DataError(f"row {shown(i)} is not there: the table has rows 0 to {len(X) - 1}")
    return X.iloc[[number]]


def read_row(path: str | Path, *, missing: str | Iterable[str] = ()) -> dict[str, Any]:
    r"""Read a file with one row, as :func:`read_table` reads it.

    Returns: Value by name of the column, in their order; NaN for an empty field, and for those
        that ``missing`` names, as for :func:`read_table`.
    Raises DataError: When the file cannot be read, has no row or several, or a column has no name
        of its own.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "row.csv"
    ...     _ = path.write_text("size,age\n1.5,\n")
    ...     read_row(path)
    {'size': 1.5, 'age': nan}
    """
    table = _read(Path(path), missing)
    if len(table) != 1:
        raise DataError(f"{path}: one row is wanted, there are {len(table)}")
    return {str(name): column.tolist()[0] for name, column in table.items()}


def read_rows(
    path: str | Path, target: str | None = None, *, missing: str | Iterable[str] = ()
) -> pd.DataFrame:
    r"""Read the rows of a file as :func:`read_table` does, without a target if there is one.

    Raises DataError: As for :func:`read_table`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("size,y\n1.5,no\n")
    ...     read_rows(path).columns.tolist(), read_rows(path, "y").columns.tolist()
    (['size', 'y'], ['size'])
    """
    if target is None:
        return _read(Path(path), missing)
    return _read(Path(path), missing, [("target", target)]).drop(columns=target)


def _read(
    path: Path, missing: str | Iterable[str], wanted: Iterable[tuple[str, str]] = ()
) -> pd.DataFrame:
    """Read a file whose columns include those wanted, and warn of what is not sure in it."""
    import pandas as pd

    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    if path.suffix in _NOT_UNPACKED:
        raise DataError(f"{path}: {path.suffix} is not unpacked here; unpack it first")
    words = [missing] if isinstance(missing, str) else list(missing)
    for word in words:
        if not isinstance(word, str):
            raise InvalidOption(f"missing must be texts of cells, got {shown(word)}")
    arrow = arrow_file(path)
    text = None if arrow else text_table(path, read_bytes(path, DataError, packed=True))
    table = arrow or text
    assert table is not None
    for what, name in wanted:
        if name not in table.header:
            raise DataError(
                f"{path}: {what} column {shown(name)} is not "
                f"there{nearest(str(name), table.header)}; "
                f"the columns are: {shortened(', '.join(table.header))}"
                f"{_header_hint(text) if text else ''}"
            )
    if not table.n_rows:
        raise DataError(f"{path}: the table has a header but no rows")
    notes: list[str] = []
    if arrow is not None:
        found = {name: arrow.read(name, words) for name in arrow.header}
    elif text is not None:
        columns = TextColumns(words)
        found = {name: columns.read(name, cells) for name, cells in zip(text.header, text.columns)}
        notes = [*text.notes, *columns.notes()]
    for name, column in found.items():
        if column.dtype.kind == "f" and (strange := column[np.isinf(column)]).size:
            raise DataError(f"{path}: {infinite(name, strange.iloc[0])}")
    for note in notes:
        warn(f"{path}: {note}")
    # Columns are not copied, and are those of the file where it is one of numbers in memory.
    return pd.DataFrame(found, copy=False)


def _header_hint(table: TextTable) -> str:
    """Say what may be wrong with a header that lacks a column."""
    if len(table.header) == 1:
        return "; fields end with commas, semicolons, tabs or bars"
    if any(is_number(name) for name in table.header):
        return "; the first line must have the names of the columns"
    return ""


def _require_numbers(path: Path, y: pd.Series[Any]) -> None:
    """Refuse a target of anything else than numbers, or of a single one."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not is_numeric_dtype(y.dtype) or is_bool_dtype(y.dtype):
        value = next((v for v in y.tolist() if not isinstance(v, int | float)), y.iloc[0])
        raise DataError(
            f"{path}: the target {shown(y.name)} has {shown(value)}, which is no number: above, "
            "below and between are asked of numbers"
        )


def _require_classes(path: Path, y: pd.Series[Any]) -> None:
    """Refuse a target of measurements, and warn of one that may be."""
    values = y.tolist()
    if str(y.name) in map(str, set(values)):
        warn(
            f"{path}: {shown(y.name)} is the name of the target and one of its classes; the first "
            "line must have the names of the columns"
        )
    different = len(set(values))
    many, few = different > _MANY_CLASSES, len(values) < _FEW_ROWS * different
    told = f"{path}: the target {shown(y.name)} has {different} different"
    if any(isinstance(value, str) for value in values):
        if many and different == len(values):
            raise DataError(f"{told} texts in {different} rows: no classes")
        if many and few:
            warn(f"{told} texts, and each is taken for a class")
        return
    fraction = next((v for v in values if isinstance(v, float) and v != int(v)), None)
    if fraction is not None or (many and few):
        example = f" such as {fraction!r}" if fraction is not None else ""
        raise DataError(
            f"{told} numbers{example}: no classes; say what is asked of them: above=50_000, "
            "below=... or between=(low, high), in the shell --above 50000, --below or --between"
        )
    if many:
        warn(f"{told} numbers, and each is taken for a class")
