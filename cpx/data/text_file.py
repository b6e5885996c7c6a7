"""Text files with a table: their encoding, their separator, and rows of as many fields each."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from cpx.errors import DataError, shortened, shown

_SEPARATORS = ",;\t|"
_START = 2**17  # characters that tell the separator
_FIRST_ROWS = 100

# The longer marks first, for that of UTF-16 begins that of UTF-32.
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


class TextTable(NamedTuple):
    """The names of columns, their cells as texts, and what a reader should know."""

    header: list[str]
    columns: list[tuple[str, ...]]
    notes: list[str]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0


def text_table(path: Path, raw: bytes) -> TextTable:
    """Return the table of a file's content.

    Raises DataError: Naming the file: when it is no text or empty, a row has more or fewer fields
        than the header, a quote is not closed, or a column has no name, or the name of another
        one.
    """
    text, notes = _decoded(path, raw)
    # Files that were put together have marks in them; those of DOS end with a sign.
    text = text.lstrip("\ufeff").rstrip("\x1a")
    first, _, rest = text.partition("\n")
    if said := re.fullmatch(r'"?sep=(.)"?\r?', first):  # for Excel
        separator, text = said[1], rest
    else:
        separator = _separator(text[:_START])
    rows = _rows(path, text, separator)
    header = [name.strip() for name in next(rows, [])]
    if not header:
        raise DataError(f"{path}: the file is empty")
    for c, name in enumerate(header):
        if not name:
            raise DataError(
                f"{path}: column {c} has no name; an index saved with the table, or separators "
                "at the ends of lines, should be removed"
            )
        if name in header[:c]:
            raise DataError(f"{path}: there are two columns named {shown(name)}: rename one")
    return TextTable(header, list(zip(*rows)) or [()] * len(header), notes)


def _rows(path: Path, text: str, separator: str) -> Iterator[list[str]]:
    """Yield the rows that are not blank; all must have as many fields as the first."""
    reader = _reader(text, separator, strict=True)
    width = 0
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if width and len(row) != width:
                raise DataError(
                    f"{path}: cannot be read as CSV: line {reader.line_num} has {len(row)} "
                    f"fields, the header has {width}; a field with {_called(separator)} in it "
                    "must be quoted"
                )
            width = len(row)
            yield row
    except csv.Error as error:
        raise DataError(
            f"{path}: cannot be read as CSV: line {reader.line_num}: {shortened(error)}"
        ) from error


def _called(separator: str) -> str:
    return {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}.get(
        separator, shown(separator)
    )


def _reader(text: str, separator: str, strict: bool) -> Any:
    # Blanks before a quote would make it a part of the field.
    spaced = re.search(re.escape(separator) + ' +"', text) is not None
    return csv.reader(
        StringIO(text, newline=""), delimiter=separator, strict=strict, skipinitialspace=spaced
    )


def _separator(text: str) -> str:
    """Return what makes the most fields, as many in each of the first rows."""
    best, most = ",", (False, 1)
    for separator in _SEPARATORS:
        try:
            rows = [row for row in islice(_reader(text, separator, False), _FIRST_ROWS) if row]
        except csv.Error:
            continue
        if len(text) == _START:
            rows = rows[: max(1, len(rows) - 1)]  # the last one may be cut
        widths = {len(row) for row in rows if len(row) > 1 or row[0].strip()}
        width = len(rows[0]) if rows else 0
        found = (len(widths) == 1, width)
        if width > 1 and found > most:
            best, most = separator, found
    return best


def _decoded(path: Path, raw: bytes) -> tuple[str, list[str]]:
    """Return the text of a file, and a note where its encoding is a guess.

    One with no letter in UTF-8 is taken for Windows-1252; broken UTF-8 is refused.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            try:
                return raw[len(mark) :].decode(encoding), []
            except UnicodeDecodeError as error:
                raise DataError(f"{path}: cannot be read as {encoding}: {error}") from error
    start = raw[:1000]
    if b"\0" in start:
        for encoding, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
            if zeros.count(0) > 0.7 * len(zeros):
                with suppress(UnicodeDecodeError):
                    if "\0" not in (text := raw.decode(encoding)):
                        return text, []
                break
        raise DataError(
            f"{path}: cannot be read as CSV: it is no text; a workbook or a database must be "
            "saved as CSV first"
        )
    try:
        return raw.decode("utf-8"), []
    except UnicodeDecodeError as error:
        where = f"byte {raw[error.start : error.start + 1].hex()} in line " + str(
            raw.count(b"\n", 0, error.start) + 1
        )
    if not raw.decode("utf-8", errors="ignore").isascii():
        # Other letters are UTF-8, and would be read as two or three each.
        raise DataError(
            f"{path}: cannot be read as CSV: it is UTF-8 but for {where}; mend the byte, or save "
            "the whole file in UTF-8"
        )
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError:
        raise DataError(
            f"{path}: cannot be read as CSV: it is not UTF-8 ({where}); save it in UTF-8"
        ) from None
    note = (
        f"it is not UTF-8 ({where}), and was read as Windows-1252 (Latin-1); where letters look "
        "wrong, save it in UTF-8"
    )
    return text, [note]
