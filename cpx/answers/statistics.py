"""What engines count while they search: the same names where they mean the same."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["LONGEST", "NAMES", "in_words"]

NAMES: Mapping[str, str] = {
    "nodes": "nodes of branch and bound",
    "lp_iterations": "iterations of the simplex method",
    "conflicts": "conflicts, each of which gave a learned clause or constraint",
    "decisions": "literals decided, not propagated",
    "propagations": "literals propagated",
    "restarts": "restarts",
    "calls": "calls of a SAT solver or of another oracle",
    "cores": "cores: sets of costs not all of which can be avoided",
    "core_literals": "literals in the cores together",
    "core_sizes": "sizes of the first 1,000 cores, in the order in which they were found",
}
"""Names of statistics of a result, and what they count. All parts of a solve are added up."""

LONGEST = 1000
"""So many entries of a list are kept."""


def in_words(statistics: Mapping[str, int | list[int]]) -> str:
    """Return statistics in one line, in the order of :data:`NAMES`.

    >>> in_words({"cores": 2, "core_literals": 5, "calls": 1})
    '1 call, 2 cores, 5 core literals'
    """
    order = {name: place for place, name in enumerate(NAMES)}
    names = sorted(statistics, key=lambda name: order.get(name, len(order)))
    counts = ((name.replace("_", " "), statistics[name]) for name in names)
    return ", ".join(_counted(n, name) for name, n in counts if isinstance(n, int))


def _counted(number: int, plural: str) -> str:
    words = plural.replace("lp ", "LP ")
    return f"{number:,} {words[:-1] if number == 1 else words}"
