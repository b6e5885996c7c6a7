"""Names chosen by an environment variable, to run a benchmark on a part of its cases."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cpx.errors import UnknownName

__all__ = ["chosen"]


def chosen(variable: str, known: Iterable[str]) -> list[str]:
    """Return the names in a variable, a list with commas; all that are known where it is not set.

    Raises
    ------
    UnknownName
        For another name, with the variable, the nearest name and all that are known.
    """
    names = list(known)
    text = os.environ.get(variable)
    if text is None:
        return names
    wanted = [name.strip() for name in text.split(",")]
    for name in wanted:
        if name not in names:
            raise UnknownName(f"name in {variable}", name, names)
    return wanted
