"""What the search of rule sets writes down for a proof: how much it has looked at."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["RecordedTree"]


class RecordedTree(NamedTuple):
    """A search that came to its end.

    Attributes
    ----------
    nodes : int
        Sets of rules whose larger sets were looked at.
    """

    nodes: int
