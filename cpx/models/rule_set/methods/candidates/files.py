"""Candidate rules from a file: as text, one per line, or as a JSON list."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from io import StringIO

from cpx.errors import DataError, nearest, shown
from cpx.support.files import from_cell, parse_json, read_text


def read_rules(path: str | os.PathLike[str], names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    r"""Read rules as sets of literals.

    Parameters
    ----------
    path : str or path
        ``.json``: a list of rules, each a text or a list of conditions. Any other name: text
        with a rule a line, or CSV whose first line has a column ``rule``.
    names : sequence of str
        The literals in words. A rule is conditions joined by "and", ``"(always)"`` is the one
        without conditions.

    Raises
    ------
    DataError
        Naming the file, the rule and the condition that is not known, and the nearest one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rules.txt"
    ...     _ = path.write_text("a <= 1 and b\nb\n")
    ...     read_rules(path, ["a <= 1", "a > 1", "b"])
    ((0, 2), (2,))
    """
    text = read_text(path, DataError)
    known = {_spaced(name): j for j, name in enumerate(names)}
    found: dict[tuple[int, ...], None] = {}
    for place, rule in enumerate(_texts(path, text), start=1):
        try:
            found[_read(rule, known)] = None
        except DataError as error:
            raise DataError(f"{path}: rule {place}: {error}") from None
    if not found:
        raise DataError(f"{path}: there are no rules")
    return tuple(found)


def _texts(path: str | os.PathLike[str], text: str) -> list[str | list[str]]:
    if str(path).removesuffix(".gz").endswith(".json"):
        try:
            rules = parse_json(text, DataError)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        if not isinstance(rules, list):
            raise DataError(f"{path}: a list of rules expected, got {type(rules).__name__}")
        return rules
    lines = [line for line in text.splitlines() if line.strip()]
    header = next(csv.reader(lines[:1]), [])
    if "rule" in (name.strip() for name in header):
        at = [name.strip() for name in header].index("rule")
        return [
            from_cell(row[at])
            for row in csv.reader(StringIO("\n".join(lines[1:])))
            if len(row) > at
        ]
    return list(lines)


def _read(rule: object, known: Mapping[str, int]) -> tuple[int, ...]:
    if isinstance(rule, str):
        return tuple(sorted(set(_conditions(_spaced(rule), known))))
    if isinstance(rule, list) and all(isinstance(part, str) for part in rule):
        return tuple(sorted({j for part in rule for j in _conditions(_spaced(part), known)}))
    raise DataError(f"a text or a list of conditions expected, got {shown(rule)}")


def _conditions(text: str, known: Mapping[str, int]) -> list[int]:
    """Read conditions joined by "and"; names of columns may have an "and" themselves."""
    text = text.partition(" => ")[0]
    words, found = ([] if text in ("", "(always)") else text.split(" and ")), []
    while words:
        for end in range(len(words), 0, -1):
            literal = known.get(" and ".join(words[:end]))
            if literal is not None:
                break
        else:
            raise DataError(f"unknown condition {shown(words[0])}{nearest(words[0], known)}")
        found.append(literal)
        words = words[end:]
    return found


def _spaced(text: str) -> str:
    return " ".join(text.split())
