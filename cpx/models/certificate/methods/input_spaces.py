"""What a tree can be about: rows of fair bits, of independent attributes, or of fitted states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.background import OnBackground
from cpx.data.base import Distribution
from cpx.data.bits import bit_row
from cpx.data.distributions import Product
from cpx.data.fitted.circuit_passes import Room, conditionals
from cpx.data.fitted.fitted import FittedToStates
from cpx.data.uniform import Uniform
from cpx.errors import InvalidOption, NoMass, shown
from cpx.support.validation import integer, positive_integer

__all__ = ["Bits", "Domain", "Restriction", "checked_restriction", "domain_of"]

Bits = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

Restriction = Mapping[int, int]
"""Features with the bit they are fixed to; empty for all rows."""


class Domain(ABC):
    """Rows of a distribution, drawn with some of their features fixed.

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

        Each attribute of the second row is drawn anew with probability ``noise``, given those
        that are not. The weights, shape (m, d), make the pairs, for each feature, pairs of the
        rows in which that feature is fixed as well, to a bit drawn as it is distributed.
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


class _OfTable(Domain):
    """Rows whose features are those of a background."""

    def __init__(self, distribution: OnBackground) -> None:
        self._background = distribution.background
        self.d = distribution.n_features
        self._attribute = self._background.attribute_of
        self._of_table = distribution

    def encode(self, x: Any) -> Bits:
        return self._of_table.encode(x).astype(np.int8)

    def row(self, x: Any) -> Any:
        return self._of_table.row(x)

    def names(self, node: Restriction) -> tuple[str, ...]:
        return _names(self._of_table, node)


class _Attributes(_OfTable):
    def __init__(self, distribution: Product) -> None:
        super().__init__(distribution)
        self.distribution = distribution

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


class _States(_OfTable):
    """Rows of a distribution fitted to the states of attributes, which may depend on each other.

    With z_K what is kept of a row, the rest of the second row is drawn given z_K and what is
    fixed. With a feature fixed to its bit b as well, a pair is as likely as here where the
    attribute was kept; where it was drawn anew, the pair is more likely by the factor
    1 / Pr[z_i = b | z_K] if it has the bit b again, and does not occur if not.
    """

    def __init__(self, distribution: FittedToStates) -> None:
        super().__init__(distribution)
        self.distribution = distribution
        self._circuit = distribution.mixture.circuit
        self._features = distribution.feature_of_states
        self._first = self._circuit.offsets[:-1]

    def open(self, fixed: Restriction) -> BoolArray:
        shares = self._shares(fixed)
        return np.asarray((shares > 0) & (shares < 1))

    def share(self, fixed: Restriction, feature: int) -> float:
        return float(self._shares(fixed)[feature])

    def draw(self, m: int, fixed: Restriction, rng: np.random.Generator) -> Any:
        return self._background.assemble(self._drawn(m, fixed, rng)[1])[0]

    def noisy_pairs(
        self, m: int, noise: float, fixed: Restriction, rng: np.random.Generator
    ) -> tuple[Any, Floats]:
        codes, index = self._drawn(m, fixed, rng)
        redrawn = rng.random(codes.shape) < noise
        allowed = np.repeat(self._allowed(fixed), m, axis=0)
        for a in range(codes.shape[1]):
            self._keep(allowed, ~redrawn[:, a], a, codes[:, a])
        shares = self._given(allowed)
        given = shares.copy()
        anew = codes.copy()
        for a in range(codes.shape[1]):
            these = redrawn[:, a]
            if not these.any():
                continue
            if a:
                given[these] = self._given(allowed[these])
            of = np.cumsum(given[these, self._place(a)], axis=1)
            of /= of[:, -1:]
            anew[these, a] = (rng.random((len(of), 1)) >= of).sum(axis=1)
            self._keep(allowed, these, a, anew[:, a])
        second = np.where(redrawn, self.distribution.rows_of(anew, rng), index)
        rows, bits = self._background.assemble(np.concatenate([index, second]))
        likely = shares @ self._features
        of_bit = np.where(bits[:m], likely, 1 - likely)
        drawn = np.zeros_like(of_bit)
        np.divide(1.0, of_bit, out=drawn, where=bits[:m] == bits[m:])
        return rows, np.where(redrawn[:, self._attribute], drawn, 1.0)

    def _place(self, attribute: int) -> slice:
        offsets = self._circuit.offsets
        return slice(int(offsets[attribute]), int(offsets[attribute + 1]))

    def _drawn(
        self, m: int, fixed: Restriction, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int32], IntArray]:
        """Return states of m rows, and for each a background row that has it."""
        codes = self.distribution.mixture.sample_event(m, self._masks(fixed), rng)
        return codes, self.distribution.rows_of(codes, rng)

    def _masks(self, fixed: Restriction) -> list[Any]:
        bits = np.zeros(self.d, dtype=bool)
        bits[list(fixed)] = list(map(bool, fixed.values()))
        return self.distribution.masks(bits, sorted(fixed))

    def _allowed(self, fixed: Restriction) -> npt.NDArray[np.uint8]:
        """Return which states a row may have, shape (1, states)."""
        allowed = np.ones((1, int(self._circuit.offsets[-1])), dtype=np.uint8)
        for a, mask in enumerate(self._masks(fixed)):
            if mask is not None:
                allowed[0, self._place(a)] = mask
        return allowed

    def _keep(
        self, allowed: npt.NDArray[np.uint8], rows: BoolArray, attribute: int, codes: Any
    ) -> None:
        """Allow some rows one state of an attribute."""
        place, which = self._place(attribute), np.flatnonzero(rows)
        allowed[which, place] = 0
        allowed[which, place.start + codes[which]] = 1

    def _given(self, allowed: npt.NDArray[np.uint8]) -> Floats:
        """Return the probability of each state given those that a row may have."""
        found = np.empty(allowed.shape)
        nodes = self._circuit.arrays
        if not conditionals(
            nodes, Room.of(nodes), np.ascontiguousarray(allowed), found.reshape(-1)
        ):
            raise NoMass("what is fixed of a row has the probability 0")
        return found

    def _shares(self, fixed: Restriction) -> Floats:
        """Return how probable each feature is, shape (d,)."""
        found: Floats = (self._given(self._allowed(fixed)) @ self._features)[0]
        # What is decided is so up to rounding.
        found[np.isclose(found, 1, rtol=0, atol=1e-12)] = 1
        return found


def _names(distribution: Distribution, node: Restriction) -> tuple[str, ...]:
    literals = [
        distribution.literal_names(np.full(distribution.n_features, bool(bit))) for bit in (0, 1)
    ]
    return tuple(literals[bit][j] for j, bit in node.items())


def domain_of(rows: Any) -> Domain:
    """Return what a tree is about.

    rows: A number of fair bits, or a distribution that can be drawn from with features fixed.
    Raises InvalidOption: For any other distribution.
    """
    if isinstance(rows, Domain):
        return rows
    if isinstance(rows, Uniform):
        return _FairBits(rows)
    if isinstance(rows, Product):
        return _Attributes(rows)
    if isinstance(rows, FittedToStates):
        return _States(rows)
    if isinstance(rows, Distribution):
        raise InvalidOption(
            "certificates need the distribution 'uniform', 'product' or a fitted one, got "
            f"{shown(rows.name)}"
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
