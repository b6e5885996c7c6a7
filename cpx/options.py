"""The options of a solve, with the same meaning for every backend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cpx.errors import InvalidOption, shown

__all__ = ["SolveOptions"]


def _integer(name: str, value: object, least: int, below: float = 2**31) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidOption(f"{name} must be an integer, got {shown(value)}")
    number = int(value.__index__())
    if not least <= number < below:
        most = " and below 2**31" if math.isfinite(below) else ""
        raise InvalidOption(f"{name} must be at least {least}{most}, got {shown(number)}")
    return number


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

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        if self.time_limit is not None:
            limit = _number("time_limit", self.time_limit)
            if not limit > 0:
                raise InvalidOption(
                    f"time_limit must be seconds > 0, got {shown(self.time_limit)}"
                )
            put("time_limit", limit)
        put("threads", _integer("threads", self.threads, 1))
        put("seed", _integer("seed", self.seed, 0))
        if self.gap is not None:
            gap = _number("gap", self.gap)
            if gap < 0:
                raise InvalidOption(f"gap must be a number >= 0, got {shown(self.gap)}")
            put("gap", gap)
        if self.hint is not None:
            if not isinstance(self.hint, Iterable):
                raise InvalidOption(f"hint must be feature indices, got {shown(self.hint)}")
            # Where rules are learned, their numbers outgrow any machine word.
            put("hint", tuple(sorted({_integer("hint", j, 0, math.inf) for j in self.hint})))
        if self.encoding is not None and not isinstance(self.encoding, str):
            raise InvalidOption(f"encoding must be a name, got {shown(self.encoding)}")

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
        }


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise InvalidOption(f"{name} must be a number, got {shown(value)}")
    try:
        number = float(value.__float__())
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidOption(f"{name} must be finite, got {shown(value)}")
    return number
