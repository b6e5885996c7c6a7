"""Names with options: ``cpsat{linearization_level=2}``, ``mixture{components=5}``.

The values are those of JSON, and words without quotes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from cpx.errors import InvalidOption, shown

__all__ = ["named_text", "read_named", "split_names"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")
_LONGEST = 10_000


def read_named(what: str, text: str) -> tuple[str, dict[str, Any]]:
    """Split a name into the name and its options; ``what`` is named in messages.

    Examples
    --------
    >>> read_named("engine", 'cpsat{linearization_level=2, subsolvers=["core"]}')
    ('cpsat', {'linearization_level': 2, 'subsolvers': ['core']})
    >>> read_named("engine", "milp:cbc")
    ('milp:cbc', {})

    Raises
    ------
    InvalidOption
        When what is in the braces is no list of ``name=value``.
    """
    name, brace, rest = text.partition("{")
    if not brace:
        return text, {}
    if len(text) > _LONGEST:
        raise InvalidOption(f"the name of the {what} is too long: {shown(text)}")
    if not rest.endswith("}"):
        raise InvalidOption(f"the options of the {what} end with '}}', got {shown(text)}")
    options: dict[str, Any] = {}
    for part in _split(rest[:-1]):
        option, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not _NAME.fullmatch(option):
            raise InvalidOption(
                f"options of the {what} are written name=value, got {shown(part)} in {shown(text)}"
            )
        if option in options:
            raise InvalidOption(f"{option} is given twice in {shown(text)}")
        options[option] = _value(option, value)
    return name.strip(), options


def named_text(name: str, options: Mapping[str, Any]) -> str:
    """Return a name with its options, in the one way in which it is written.

    Examples
    --------
    >>> named_text("milp:highs", {"presolve": "off", "mip_heuristic_effort": 0.5})
    'milp:highs{mip_heuristic_effort=0.5,presolve=off}'
    """
    if not options:
        return name
    each = (f"{option}={_written(options[option])}" for option in sorted(options))
    return name + "{" + ",".join(each) + "}"


def split_names(text: str, mark: str = ",") -> list[str]:
    """Split a list of names at the commas, or other marks, that are not within braces.

    Examples
    --------
    >>> split_names("search, cpsat{cut_level=0,symmetry_level=0}")
    ['search', 'cpsat{cut_level=0,symmetry_level=0}']
    """
    return _split(text, mark)


def _split(text: str, mark: str = ",") -> list[str]:
    """Split at marks outside brackets and quotes; what is empty is left out."""
    parts, start, depth, quoted = [], 0, 0, False
    for i, sign in enumerate(text):
        if sign == '"' and text[i - 1 : i] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        elif sign == mark and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _value(name: str, text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        if _WORD.fullmatch(text):
            return text
    raise InvalidOption(f"{name} must be a number, true, false, a word or JSON, got {shown(text)}")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _written(value: Any) -> str:
    plain = isinstance(value, str) and _WORD.fullmatch(value) and _value("", value) == value
    return value if plain else json.dumps(value)
