"""Explanations of many rows in the shell: which rows, and the page or the table of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cpx.errors import DataError, InvalidOption, shown

if TYPE_CHECKING:
    import pandas as pd

    from cpx.answers.explanations import Explanations
    from cpx.answers.explanations_page import Beside

_SLICE = re.compile(r"(\d*):(\d*)")
_FORMS = (".html", ".csv")


def bounds(rows: str) -> tuple[int | None, int | None]:
    """Read A:B, either of which may be left out.

    >>> bounds("0:100"), bounds(":"), bounds("7:")
    ((0, 100), (None, None), (7, None))
    """
    match = _SLICE.fullmatch(rows)
    if match is None:
        raise InvalidOption(f"--rows must be A:B, such as 0:100, got {shown(rows)}")
    first, end = (int(text) if text else None for text in match.groups())
    if first is not None and end is not None and first >= end:
        raise InvalidOption(f"--rows {rows} are no rows")
    return first, end


def chosen(X: pd.DataFrame, rows: str) -> pd.DataFrame:
    """Return the rows A:B of a table; those that are not there are an error."""
    first, end = bounds(rows)
    if max(first or 0, (end or 1) - 1) >= len(X):
        raise DataError(f"rows {rows} are not there: the table has rows 0 to {len(X) - 1}")
    return X.iloc[first:end]


def require_output(path: Path | None, as_json: bool) -> None:
    """Raise before anything runs for a form that there is not, or a package that is missing."""
    if as_json:
        raise InvalidOption("--json is for one row: -o table.csv writes many as a table")
    if path is not None and path.suffix not in _FORMS:
        raise InvalidOption(f"-o must end with {' or '.join(_FORMS)} for --rows, got {path}")
    if path is not None and path.suffix == ".html":
        from cpx.answers.pages import require_pages

        require_pages()


def deliver_many(
    found: Explanations,
    path: Path | None,
    title: str,
    files: Mapping[int, Beside] | None = None,
) -> int:
    """Write the page or the table, print the first rows and the overview; return the exit code."""
    from cpx.answers.explanations_page import explanations_page
    from cpx.answers.text import Paragraph
    from cpx.cli.output import note, print_blocks
    from cpx.support.files import write_atomic

    def write(text: str) -> None:
        assert path is not None
        write_atomic(path, text.encode())
        note(f"wrote {path}")

    if path is not None and path.suffix != ".html":
        # First, as Ctrl-C may end the overview.
        write(found.to_frame().to_csv(index_label="row"))
    together = found.overview()
    if path is not None and path.suffix == ".html":
        write(explanations_page(found, title, together, files))
    print_blocks([Paragraph(title), *found.blocks(), *together.blocks()])
    answered = found.answered
    if not answered:
        return 4
    return 0 if all(one.result is not None and one.result.proved for one in found) else 3
