"""What a family of instances of the library is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cpx.library.samples import Drawn
from cpx.modelling.base import Problem

__all__ = ["Draw", "Family"]

Draw = Callable[[int, int, int, int], Drawn]
"""Takes m, d, k and the seed."""


@dataclass(frozen=True)
class Family:
    """Instances of one definition, which grow in m, d and k.

    Attributes
    ----------
    name : str
    words : str
        What an instance is, in one line.
    sizes : str
        What m, d and k are.
    usual : tuple of int
        m, d and k where none are given.
    growth : sequence of tuple of int
        Sizes of the suite "small", one growing at a time from the first.
    build : callable
        Takes m, d, k and the seed.
    draw : callable or None
        Takes the same, where the problem is one of samples of a definition.
    """

    name: str
    words: str
    sizes: str
    usual: tuple[int, int, int]
    growth: Sequence[tuple[int, int, int]]
    build: Callable[[int, int, int, int], Problem]
    draw: Draw | None = None
