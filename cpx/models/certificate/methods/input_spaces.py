"""What a tree can be about: rows of fair bits, or rows of independent attributes of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.base import Distribution
from cpx.data.bits import bit_row
from cpx.data.distributions import Product
from cpx.data.uniform import Uniform
from cpx.errors import InvalidOption, shown
from cpx.support.validation import integer, positive_integer

__all__ = ["Bits", "Domain", "Restriction", "checked_restriction", "domain_of"]

Bits = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

Restriction = Mapping[int, int]
"""Features with the bit they are fixed to; empty for all rows."""


class Domain(ABC):
    """Rows of independent attributes, drawn with some of their features fixed.

    d: Number of Boolean features.
    """

    d: int

    @abstractmethod
    def encode(self, x: Any) -> Bits:
        """Return the features of an instance, shape (d,)."""

    @abstractmethod
    def row(self, x: Any) -> Any:
        """Return an instance as a table of one row."""

    @abstractmethod
    def names(self, node: Restriction) -> tuple[str, ...]:
        """Return the literals of a restriction in words, in its order."""

    @abstractmethod
    def open(self, fixed: Restriction) -> BoolArray:
        """Return which features still vary once others are fixed, shape (d,)."""

    @abstractmethod
    def share(self, fixed: Restriction, feature: int) -> float:
        """Return the probability that an open feature is 1 once others are fixed."""

    @abstractmethod
    def draw(self, m: int, fixed: Restriction, rng: np.random.Generator) -> Any:
        """Draw m rows with the fixed features at their bits."""

    @abstractmethod
    def noisy_pairs(
        self, m: int, noise: float, fixed: Restriction, rng: np.random.Generator
    ) -> tuple[Any, Floats]:
        """Draw m rows and below them the same rows with noise, and weigh the pairs.

        Each attribute of the second row is drawn anew with probability ``noise``. The weights,
        shape (m, d), make the pairs, for each feature, pairs of the rows in which that feature
        is fixed as well, to a bit drawn as it is distributed.
        """


class _FairBits(Domain):
    def __init__(self, distribution: Uniform | int) -> None:
        self.distribution = distribution
        if isinstance(distribution, int):
            self.d = distribution
            self._words = Uniform(self.d)
        else:
            self.d = distribution.n_features
            self._words = distribution

    def encode(self, x: Any) -> Bits:
        if self._words.binarizer is not None:
            return self._words.encode(x).astype(np.int8)
        return bit_row("an instance", x, self.d, error=InvalidOption).astype(np.int8)

    def row(self, x: Any) -> Any:
        return self.encode(x)[None, :]

    def names(self, node: Restriction) -> tuple[str, ...]:
        return _names(self._words, node)

    def open(self, fixed: Restriction) -> BoolArray:
        free = np.ones(self.d, dtype=bool)
        free[list(fixed)] = False
        return free

    def share(self, fixed: Restriction, feature: int) -> float:
        return 0.5

    def draw(self, m: int, fixed: Restriction, rng: np.random.Generator) -> Any:
        return self._bits(m, fixed, rng)

    def noisy_pairs(
        self, m: int, noise: float, fixed: Restriction, rng: np.random.Generator
    ) -> tuple[Any, Floats]:
        first, anew = self._bits(m, fixed, rng), self._bits(m, fixed, rng)
        second = np.where(rng.random((m, self.d)) < noise, anew, first)
        # Of a bit, that it was drawn anew and is the same as before cannot be told from that it
        # was not: the chance that it is the same stands for both.
        return np.concatenate([first, second]), (first == second) / (1 - noise / 2)

    def _bits(self, m: int, fixed: Restriction, rng: np.random.Generator) -> Bits:
        rows = rng.integers(0, 2, size=(m, self.d), dtype=np.int8)
        for j, bit in fixed.items():
            rows[:, j] = bit
        return rows


class _Attributes(Domain):
    def __init__(self, distribution: Product) -> None:
        self.distribution = distribution
        self.d = distribution.n_features
        self._background = distribution.background
        self._attribute = self._background.attribute_of

    def encode(self, x: Any) -> Bits:
        return self.distribution.encode(x).astype(np.int8)

    def row(self, x: Any) -> Any:
        return self.distribution.row(x)

    def names(self, node: Restriction) -> tuple[str, ...]:
        return _names(self.distribution, node)

    def open(self, fixed: Restriction) -> BoolArray:
        shares = self._shares(self._sources(fixed))
        return np.asarray((shares > 0) & (shares < 1))

    def share(self, fixed: Restriction, feature: int) -> float:
        return float(self._shares(self._sources(fixed))[feature])

    def draw(self, m: int, fixed: Restriction, rng: np.random.Generator) -> Any:
        return self._background.assemble(self._index(m, self._sources(fixed), rng))[0]

    def noisy_pairs(
        self, m: int, noise: float, fixed: Restriction, rng: np.random.Generator
    ) -> tuple[Any, Floats]:
        sources = self._sources(fixed)
        first, anew = self._index(m, sources, rng), self._index(m, sources, rng)
        redrawn = rng.random(first.shape) < noise
        second = np.where(redrawn, anew, first)
        rows, bits = self._background.assemble(np.concatenate([first, second]))
        # With a feature fixed to its bit b, the value drawn anew has that bit too: it is as
        # likely as here divided by the probability of b. A value that was kept has it anyway.
        shares = self._shares(sources)
        of_bit = np.where(bits[:m], shares, 1 - shares)
        drawn = np.where(bits[:m] == bits[m:], 1 / of_bit, 0.0)
        return rows, np.where(redrawn[:, self._attribute], drawn, 1.0)

    def _sources(self, fixed: Restriction) -> list[IntArray]:
        """Return, for each attribute, the background rows that it can be drawn from."""
        background = self._background
        every = np.arange(background.n_rows)
        sources = [every] * background.n_attributes
        bits = np.zeros(self.d, dtype=bool)
        bits[list(fixed)] = list(map(bool, fixed.values()))
        for attribute, mine in self.distribution.by_attribute(sorted(fixed)).items():
            sources[attribute] = self.distribution.matching(bits, mine)
            if not len(sources[attribute]):
                raise self.distribution.no_mass(bits, mine)
        return sources

    def _index(self, m: int, sources: list[IntArray], rng: np.random.Generator) -> IntArray:
        return np.column_stack([rng.choice(rows, size=m) for rows in sources])

    def _shares(self, sources: list[IntArray]) -> Floats:
        """Return how often each feature is 1 among the rows its attribute is drawn from."""
        bits = self._background.bits
        return np.array(
            [bits[sources[a], j].mean() for j, a in enumerate(self._attribute)], dtype=float
        )


def _names(distribution: Distribution, node: Restriction) -> tuple[str, ...]:
    literals = [
        distribution.literal_names(np.full(distribution.n_features, bool(bit))) for bit in (0, 1)
    ]
    return tuple(literals[bit][j] for j, bit in node.items())


def domain_of(rows: Any) -> Domain:
    """Return what a tree is about.

    rows: A number of fair bits, or a distribution whose attributes are independent.
    Raises InvalidOption: For any other distribution.
    """
    if isinstance(rows, Domain):
        return rows
    if isinstance(rows, Uniform):
        return _FairBits(rows)
    if isinstance(rows, Product):
        return _Attributes(rows)
    if isinstance(rows, Distribution):
        raise InvalidOption(
            "certificates need attributes that are independent, the distribution 'uniform' or "
            f"'product', got {shown(rows.name)}"
        )
    return _FairBits(positive_integer("d", rows))


def checked_restriction(fixed: Restriction, d: int) -> dict[int, int]:
    """Return a restriction sorted by feature, or raise InvalidOption."""
    for j, bit in fixed.items():
        number, value = integer(j), int(bit) if bit in (0, 1) else None
        if number is None or not 0 <= number < d or value is None:
            raise InvalidOption(
                f"a restriction maps features from 0 to {d - 1} to 0 or 1, got "
                f"{shown(j)}: {shown(bit)}"
            )
    return {int(j): int(fixed[j]) for j in sorted(fixed)}
