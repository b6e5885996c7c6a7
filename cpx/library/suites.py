"""Suites: lists of instances that experiments share."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from cpx.errors import UnknownName
from cpx.library.families import FAMILIES, Entry

__all__ = ["SUITES", "suite"]

_GROWTH = {
    "rules": [(400, 12, 3), (100, 12, 3), (1600, 12, 3), (400, 6, 3), (400, 24, 3), (400, 48, 3)],
    "reason": [(15, 12, 1), (5, 12, 1), (25, 12, 1), (45, 12, 1), (15, 6, 1), (15, 24, 1)],
}
_MONOMIALS = [
    (400, 24, 4),
    (100, 24, 4),
    (1600, 24, 4),
    (400, 12, 4),
    (400, 48, 4),
    (400, 84, 4),
    (400, 24, 2),
    (400, 24, 6),
]
"""One size at a time grows from the first point."""


def _small() -> list[Entry]:
    return [
        Entry(family, *point, seed)
        for family in FAMILIES
        for point in _GROWTH.get(family, _MONOMIALS)
        for seed in range(3)
    ]


SUITES = MappingProxyType(
    {
        "try": "one instance of each family",
        "small": "all families, each size growing by itself, three seeds: 204 instances",
    }
)
"""What the suites are, by name."""


def suite(name: str) -> Sequence[Entry]:
    """Return the instances of a suite.

    Examples
    --------
    >>> [entry.name for entry in suite("try")][:2]
    ['planted-m400-d24-k4-s0', 'parity-m400-d24-k4-s0']
    >>> len(suite("small"))
    204
    """
    if name == "try":
        return [Entry(family.name, *family.usual, 0) for family in FAMILIES.values()]
    if name == "small":
        return _small()
    raise UnknownName("suite", name, SUITES)
