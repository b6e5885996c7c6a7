"""What change is wanted: which class, by which columns, to which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cpx.errors import InvalidOption
from cpx.explainers.options import WEIGHTS, Option, features
from cpx.models.sufficient_reason.features import NamedFeatures, several
from cpx.options import TIME_LIMIT
from cpx.support.validation import share

__all__ = ["ContrastQuestion"]

_RAREST = 0.05


def ranges_of(given: Sequence[str]) -> dict[str, Any]:
    """Read ranges as the shell has them: COLUMN=LOW:HIGH, a side may be empty, or values.

    >>> ranges_of(["age=18:70", "city=Ulm|Kiel", "debt=:9"])
    {'age': (18.0, 70.0), 'city': ['Ulm', 'Kiel'], 'debt': (None, 9.0)}
    """
    found: dict[str, Any] = {}
    for text in given:
        name, equals, limits = text.rpartition("=")
        if not equals:
            raise InvalidOption(f"range must be COLUMN=LOW:HIGH or COLUMN=A|B, got {text!r}")
        if ":" not in limits:
            found[name] = [_number(part) for part in limits.split("|")]
            continue
        low, _, high = (part.strip() for part in limits.partition(":"))
        ends = tuple(None if not part else _number(part) for part in (low, high))
        if any(isinstance(end, str) for end in ends):
            raise InvalidOption(f"range must be COLUMN=LOW:HIGH with numbers, got {text!r}")
        found[name] = ends
    return found


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class ContrastQuestion:
    """Which change is wanted; see :meth:`ContrastExplainer.explain`."""

    target: Annotated[
        Any, Option("The class to reach: any other one.", "CLASS", shell="target-class")
    ] = None
    actionable: Annotated[
        object, Option("Columns that may change: all.", "COLUMN", many=True, read=features)
    ] = None
    frozen: Annotated[
        object, Option("Columns that may not change.", "COLUMN", many=True, read=features)
    ] = ()
    ranges: Annotated[
        Mapping[Any, Any] | None,
        Option(
            "What a column may change to: COLUMN=LOW:HIGH, or values as in COLUMN=A|B.",
            "RANGE",
            many=True,
            read=ranges_of,
        ),
    ] = None
    weights: Annotated[Sequence[int] | Mapping[Any, int] | None, WEIGHTS] = None
    plausible: Annotated[
        float | bool | None,
        Option(
            "Only values that the table has, in rows that are no rarer than this share of it.",
            "SHARE",
            float,
        ),
    ] = None
    n: Annotated[
        int, Option("Changes that are listed, none with all columns of another.", "N", int)
    ] = 1
    time_limit: Annotated[float | None, Option("Seconds.", "SECONDS", shell=None)] = TIME_LIMIT

    @property
    def rarest(self) -> float | None:
        """The share of the table that may be rarer than the changed row, None for any."""
        if self.plausible is None or self.plausible is False:
            return None
        return _RAREST if self.plausible is True else float(share("plausible", self.plausible))

    def kept(self, columns: NamedFeatures, names: Sequence[str]) -> tuple[int, ...]:
        """Return the columns that may not change, of columns of these names."""
        frozen = {*columns.numbers("frozen", several(self.frozen))}
        if self.actionable is not None:
            free = {*columns.numbers("actionable", several(self.actionable))}
            if both := sorted(free & frozen):
                raise InvalidOption(f"actionable and frozen both have {names[both[0]]!r}")
            frozen |= {*range(len(columns))} - free
        return tuple(sorted(frozen))

    def numbered_ranges(self, columns: NamedFeatures) -> dict[int, Any]:
        """Return what columns may change to, by their numbers."""
        found = {}
        for name, limits in (self.ranges or {}).items():
            (a,) = columns.numbers("ranges", [name])
            found[a] = limits
        return found
