"""The options of a solve: with the same meaning for every engine, and of engines by their names.

``cpsat{linearization_level=2}`` is an engine with one of its own options set; a backend lists the
options that it takes (:meth:`Backend.options <cpx.backends.base.Backend.options>`). Those that
would change what an engine may claim, such as its tolerances, are not among them, nor what has a
name of ours: threads, seeds, limits.
"""

from __future__ import annotations

import math
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

__all__ = ["EngineOption", "SolveOptions"]


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
        Whether an engine without a good start of its own may be handed one.
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
    log: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("time_limit", seconds(self.time_limit))
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
