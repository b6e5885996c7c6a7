"""The options of a solve: with the same meaning for every engine, and of engines by their names.

``cpsat{linearization_level=2}`` is an engine with one of its own options set; a backend lists the
options that it takes (:meth:`Backend.options <cpx.backends.base.Backend.options>`). Those that
would change what an engine may claim, such as its tolerances, are not among them, nor what has a
name of ours: threads, seeds, limits.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cpx.errors import InvalidOption, shown
from cpx.support.validation import (
    count,
    entries,
    finite_number,
    integer_in,
    seconds,
    text,
    valid_seed,
)

TIME_LIMIT = 10.0
"""Seconds, wherever a person waits for an answer, unless others are given."""

RUN_LIMIT = 60.0
"""Seconds of each run of a comparison, unless others are given."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")
_LONGEST = 10_000


@dataclass(frozen=True)
class SolveOptions:
    """Options every backend understands.

    Parameters
    ----------
    time_limit : float or None
        Seconds > 0 for stating, compiling and solving together; None for no limit.
    threads : int
        Threads the engine may use.
    seed : int
        Seed of every random choice of the engine.
    gap : float or None
        Stop once the relative gap (see :func:`cpx.answers.result.relative_gap`) is at most this.
    hint : sequence of int or None
        Features of a known explanation.
    encoding : str or None
        Name of an encoding of the problem; None for the problem's default.
    engine : mapping of str to value
        Options of the engine by their own names, such as ``{"linearization_level": 2}``; those
        that it does not have are refused when it is asked to solve.
    warm_start : bool
        Whether there may be a value and a bound before an engine without a good start of its own
        begins, and whether its own choice of encoding may be one that the exact search helps to
        state.
    cpu_limit : float or None
        Seconds of processor time > 0 of the process that solves, all its threads together, and
        of the programs that it has started; None for no such limit. Where there is no ``/proc``,
        as on macOS and Windows, programs count once they have ended, and no worker is killed at
        it.
    log : bool
        Let the engine print its own log, where it has one, to standard output.

    Raises
    ------
    InvalidOption
        Naming the option and its value.

    Examples
    --------
    >>> SolveOptions(time_limit=5).time_limit
    5.0
    """

    time_limit: float | None = None
    threads: int = 1
    seed: int = 0
    gap: float | None = None
    hint: Sequence[int] | None = None
    encoding: str | None = None
    engine: Mapping[str, Any] = field(default_factory=dict, hash=False)
    warm_start: bool = True
    cpu_limit: float | None = None
    log: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("time_limit", seconds(self.time_limit))
        put("cpu_limit", seconds(self.cpu_limit, "cpu_limit"))
        put("threads", integer_in("threads", self.threads, 1, 2**31 - 1))
        put("seed", valid_seed(self.seed))
        if self.gap is not None:
            put("gap", finite_number("gap", self.gap))
        if self.hint is not None:
            given = entries("hint", self.hint, "feature indices", error=InvalidOption)
            # Where rules are learned, their numbers outgrow any machine word.
            put("hint", tuple(sorted({count("hint", j) for j in given})))
        if self.encoding is not None:
            text("encoding", self.encoding, error=InvalidOption)
        if not isinstance(self.engine, Mapping) or not all(
            isinstance(name, str) for name in self.engine
        ):
            raise InvalidOption(
                f"engine must map names of options to values, got {shown(self.engine)}"
            )
        put("engine", {name: self.engine[name] for name in sorted(self.engine)})
        if not isinstance(self.warm_start, bool):
            raise InvalidOption(f"warm_start must be True or False, got {shown(self.warm_start)}")

    @property
    def hint_features(self) -> tuple[int, ...] | None:
        """The hint as feature indices, increasing."""
        return None if self.hint is None else tuple(self.hint)

    @property
    def seconds(self) -> float | None:
        """The lesser of the two limits; None without any."""
        limits = [limit for limit in (self.time_limit, self.cpu_limit) if limit is not None]
        return min(limits, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""
        hint = self.hint_features
        return {
            "time_limit": self.time_limit,
            "threads": self.threads,
            "seed": self.seed,
            "gap": self.gap,
            "hint": None if hint is None else list(hint),
            "encoding": self.encoding,
            "engine": dict(self.engine),
            "warm_start": self.warm_start,
            # Files of comparisons that have none are as they were.
            **({} if self.cpu_limit is None else {"cpu_limit": self.cpu_limit}),
        }


@dataclass(frozen=True)
class EngineOption:
    """What one option of an engine takes.

    Attributes
    ----------
    kind : type
        ``bool``, ``int``, ``float``, ``str``, or ``list``, of texts.
    least, most : int or float, optional
        Of a number.
    choices : tuple of str
        Of a text; empty where any will do.

    Examples
    --------
    >>> EngineOption(float, least=0).read("effort", 1)
    1.0
    """

    kind: type
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()

    def read(self, name: str, value: Any) -> Any:
        """Return the value as the engine takes it.

        Raises
        ------
        InvalidOption
            With the name, what it takes, and the value.
        """
        if self.kind is list:
            if isinstance(value, str):
                return [value]
            if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
                return list(value)
        elif self.kind in (int, float):
            whole = isinstance(value, int) and not isinstance(value, bool)
            number = whole or (self.kind is float and isinstance(value, float))
            if number and self.least <= value <= self.most:
                return self.kind(value)
        elif isinstance(value, self.kind) and (not self.choices or value in self.choices):
            return value
        raise InvalidOption(f"{name} must be {self._wanted()}, got {shown(value)}")

    def _wanted(self) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        kinds = {bool: "true or false", int: "an integer", float: "a number", str: "a text"}
        text = kinds.get(self.kind, "a list of texts")
        if self.least > -math.inf:
            text += f" from {self.least:g}"
        return text + (f" to {self.most:g}" if self.most < math.inf else "")


# ---------------------------------------------------------- as text


def names(text: str) -> list[str]:
    """Read names with commas, each of which may have braces and quotes.

    >>> names("zip, code")
    ['zip', 'code']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def read_named(what: str, text: str) -> tuple[str, dict[str, Any]]:
    """Split a name into the name and its options; ``what`` is named in messages.

    The values are those of JSON, and words without quotes.

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
