"""Tables and rows read from CSV files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.errors import DataError, nearest, shortened, shown
from cpx.support.files import read_bytes
from cpx.support.validation import integer

if TYPE_CHECKING:
    import pandas as pd

_NOT_UNPACKED = (".tar", ".zst")


def read_table(
    path: str | Path, target: str, categorical: Sequence[str] | None = None
) -> tuple[pd.DataFrame, pd.Series[Any]]:
    r"""Read a CSV file with a header and split off the target column.

    Parameters
    ----------
    path : str or Path
        A ``.csv`` file in UTF-8, or a compressed one (``.csv.gz``, ``.bz2``, ``.xz``, ``.zip``).
    target : str
        Name of the column with the classes.
    categorical : sequence of str, optional
        Columns whose numbers are categories; they get pandas' category type, which
        binarizer and named classifiers understand.

    Returns
    -------
    X : data frame
        All other columns.
    y : Series
        The target.

    Raises
    ------
    DataError
        When the file cannot be read, a column is not there, unnamed or there twice, there
        are no rows or no columns left, or the target has missing values; naming the file
        and the column.

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
    raw = _bytes(path)
    header = _header(path, raw)
    for what, wanted in (("target", [target]), ("categorical", list(categorical or ()))):
        for name in wanted:
            if name not in header:
                raise DataError(
                    f"{path}: {what} column {shown(name)} is not "
                    f"there{nearest(str(name), header)}; "
                    f"the columns are: {shortened(', '.join(header))}"
                )
    table = _read(path, raw, index_col=False, low_memory=False)
    if table.empty:
        raise DataError(f"{path}: the table has a header but no rows")
    X, y = table.drop(columns=target), table[target]
    if X.shape[1] == 0:
        raise DataError(f"{path}: there is no column besides the target {shown(target)}")
    if y.isna().any():
        raise DataError(
            f"{path}: the target column {shown(target)} has no value in "
            f"{int(y.isna().sum())} rows, "
            f"the first being row {int(y.isna().argmax())}: remove them"
        )
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


def read_row(path: str | Path) -> dict[str, Any]:
    r"""Read a CSV file with a header and one row.

    Returns
    -------
    dict
        Value by name of the column, in their order; NaN for an empty field.

    Raises
    ------
    DataError
        When the file cannot be read, has no row or several, or a column has no name of its own.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "row.csv"
    ...     _ = path.write_text("size,age\n1.5,\n")
    ...     read_row(path)
    {'size': 1.5, 'age': nan}
    """
    path = Path(path)
    raw = _bytes(path)
    header = _header(path, raw)
    table = _read(path, raw, index_col=False)
    if len(table) != 1:
        raise DataError(f"{path}: one row is wanted, there are {len(table)}")
    return dict(zip(header, table.iloc[0].tolist(), strict=True))


def read_rows(path: str | Path, target: str | None = None) -> pd.DataFrame:
    r"""Read the rows of a CSV file with a header, without a target column if there is one.

    Raises
    ------
    DataError
        As for :func:`read_table`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("size,y\n1.5,no\n")
    ...     read_rows(path).columns.tolist(), read_rows(path, "y").columns.tolist()
    (['size', 'y'], ['size'])
    """
    if target is not None:
        return read_table(path, target)[0]
    path = Path(path)
    raw = _bytes(path)
    _header(path, raw)
    table = _read(path, raw, index_col=False, low_memory=False)
    if table.empty:
        raise DataError(f"{path}: the table has a header but no rows")
    return table


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    if path.suffix in _NOT_UNPACKED:
        raise DataError(f"{path}: {path.suffix} is not unpacked here; unpack it first")
    return read_bytes(path, DataError, packed=True)


def _header(path: Path, raw: bytes) -> list[str]:
    first = _read(path, raw, header=None, nrows=1, dtype=str, keep_default_na=False)
    header: list[str] = first.iloc[0].tolist()
    # pandas renames doubles and missing names on its own, so the header is read by itself.
    for c, name in enumerate(header):
        if not name.strip():
            raise DataError(
                f"{path}: column {c} has no name; an index saved with the table should be removed"
            )
        if name in header[:c]:
            raise DataError(f"{path}: there are two columns named {shown(name)}: rename one")
    return header


def _read(path: Path, raw: bytes, **options: Any) -> pd.DataFrame:
    """Read a CSV file's content; whatever goes wrong becomes a DataError naming the file."""
    import pandas as pd

    try:
        with warnings.catch_warnings():
            # A row longer than the header would lose its end with no more than a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table: pd.DataFrame = pd.read_csv(BytesIO(raw), **options)
    except pd.errors.EmptyDataError as error:
        raise DataError(f"{path}: the file is empty") from error
    # pandas' ParserError and UnicodeDecodeError are among the ValueErrors.
    except (ValueError, pd.errors.ParserWarning) as error:
        raise DataError(f"{path}: cannot be read as CSV: {shortened(error)}") from error
    return table
