"""Distributions over rows: product, empirical and perturbed samples of background data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.background import Background
from cpx.data.uniform import Batch, Distribution, Uniform
from cpx.errors import DataError, InvalidOption, NoMass, UnknownName, shown
from cpx.support.validation import closed_unit, index_set, positive_integer

__all__ = [
    "DISTRIBUTIONS",
    "MOST_ROWS",
    "Batch",
    "Distribution",
    "Empirical",
    "Perturbed",
    "Product",
    "Uniform",
    "distribution",
]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

MOST_ROWS = 100_000
"""Background rows that are all used, rather than sampled."""


class _OnBackground(Distribution):
    """What the distributions made of background rows have in common."""

    def __init__(self, background: Background) -> None:
        if not isinstance(background, Background):
            raise DataError(f"a Background expected, got {type(background).__name__}")
        self.background = background
        self.n_features = background.n_features
        self.groups = background.groups
        self.feature_names = background.feature_names

    def parameters(self) -> dict[str, Any]:
        """Return the number of background rows."""
        return {"background_rows": self.background.n_rows}

    def row(self, x: Any) -> Any:
        """Return x as a table of one row like the background."""
        return self.background.row(x)

    def encode(self, x: Any) -> BoolArray:
        """Return the features of x."""
        return self.background.encode(x)

    def literal_names(self, bits: Any) -> tuple[str, ...]:
        """Return the literals true of a row with the given features."""
        return self.background.literal_names(bits)

    def _chosen(self, features: Iterable[int]) -> list[int]:
        """Return the features, increasing and checked."""
        return sorted(index_set("features", features, self.n_features, error=InvalidOption))

    def _any_rows(self, m: int, rng: np.random.Generator) -> IntArray:
        """Return m background rows drawn with replacement, as an index for assemble."""
        drawn = rng.integers(0, self.background.n_rows, size=positive_integer("m", m))
        return self._whole_rows(drawn)

    def _whole_rows(self, drawn: IntArray) -> IntArray:
        """Return the index that takes all attributes from the drawn rows."""
        return np.repeat(drawn[:, None], self.background.n_attributes, axis=1)

    def _by_attribute(self, chosen: list[int]) -> dict[int, list[int]]:
        """Return the chosen features of each attribute touched by them."""
        touched: dict[int, list[int]] = {}
        for j in chosen:
            touched.setdefault(int(self.background.attribute_of[j]), []).append(j)
        return touched

    def _matching(self, bits: BoolArray, chosen: list[int]) -> IntArray:
        """Return the background rows that agree with ``bits`` in the chosen features."""
        agree = (self.background.bits[:, chosen] == bits[chosen]).all(axis=1)
        return np.flatnonzero(agree)

    def _no_mass(self, bits: BoolArray, chosen: list[int]) -> NoMass:
        names = self.literal_names(bits)
        return NoMass(
            f"no background row satisfies {shown(' and '.join(names[j] for j in chosen))}, so the "
            f"distribution {self.name!r} cannot be conditioned on it: use 'perturbed', or more "
            "background rows"
        )


class Product(_OnBackground):
    """Each attribute drawn independently from its column of the background.

    Conditioning restricts an attribute to the background rows that agree with x on its
    features in S.

    Parameters
    ----------
    background : Background

    Examples
    --------
    >>> D = Product(Background(np.array([[0, 0], [1, 1]])))
    >>> bits = D.sample(100, np.random.default_rng(0)).bits
    >>> sorted({(int(a), int(b)) for a, b in bits})
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """

    name = "product"

    def sample(self, m: int, rng: np.random.Generator, x: Any = None) -> Batch:
        """Draw m rows; x is not looked at."""
        return Batch(*self.background.assemble(self._index(m, rng)))

    def _index(self, m: int, rng: np.random.Generator) -> IntArray:
        shape = (positive_integer("m", m), self.background.n_attributes)
        return rng.integers(0, self.background.n_rows, size=shape)

    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw m rows that agree with x on the given features."""
        chosen = self._chosen(features)
        bits = self.encode(x)
        index = self._index(m, rng)
        for attribute, mine in self._by_attribute(chosen).items():
            candidates = self._matching(bits, mine)
            if not len(candidates):
                raise self._no_mass(bits, mine)
            index[:, attribute] = rng.choice(candidates, size=m)
        return Batch(*self.background.assemble(index))


class Empirical(_OnBackground):
    """Whole background rows, drawn with replacement.

    Conditioning draws among the rows that agree with x on S.

    Parameters
    ----------
    background : Background

    Examples
    --------
    >>> D = Empirical(Background(np.array([[0, 0], [1, 1]])))
    >>> D.sample_given(2, [1, 1], [0], np.random.default_rng(0)).rows
    array([[1, 1],
           [1, 1]], dtype=int8)
    >>> D.population().bits.tolist()
    [[False, False], [True, True]]
    """

    name = "empirical"

    def population(self) -> Batch | None:
        """Return the background rows, unless there are more than 100,000."""
        if self.background.n_rows > MOST_ROWS:
            return None
        return Batch(self.background.rows, self.background.bits)

    def sample(self, m: int, rng: np.random.Generator, x: Any = None) -> Batch:
        """Draw m rows; x is not looked at."""
        return Batch(*self.background.assemble(self._any_rows(m, rng)))

    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw m of the background rows that agree with x on the given features."""
        chosen = self._chosen(features)
        bits = self.encode(x)
        candidates = self._matching(bits, chosen)
        if not len(candidates):
            raise self._no_mass(bits, chosen)
        drawn = rng.choice(candidates, size=positive_integer("m", m))
        return Batch(*self.background.assemble(self._whole_rows(drawn)))


class Perturbed(_OnBackground):
    """Background rows with the values of x written in ("set the value").

    Given z_S = x_S, a sample is a background row in which every attribute touched by S
    takes the value of a random background row that satisfies the literals of x on it, or
    the value of x itself where none does. So every S can be conditioned on.

    Parameters
    ----------
    background : Background
    keep : float
        Probability that an attribute outside S takes the value of x, independently. With
        0 the unconditional samples are the background; the larger, the closer to x.

    Examples
    --------
    >>> D = Perturbed(Background(np.array([[0, 0], [0, 1]])), keep=0.5)
    >>> D.sample_given(100, [1, 1], [0], np.random.default_rng(0)).bits.all(axis=0)
    array([ True, False])
    """

    name = "perturbed"
    conditional = False

    def __init__(self, background: Background, keep: float = 0.0) -> None:
        super().__init__(background)
        self.keep = closed_unit("keep", keep)

    def parameters(self) -> dict[str, Any]:
        """Return the number of background rows and ``keep``."""
        return {**super().parameters(), "keep": self.keep}

    def sample(self, m: int, rng: np.random.Generator, x: Any = None) -> Batch:
        """Draw m background rows, with attributes of x written in where ``keep`` > 0.

        Raises
        ------
        DataError
            When ``keep`` > 0 and no x is given.
        """
        if self.keep == 0:
            return Batch(*self.background.assemble(self._any_rows(m, rng)))
        if x is None:
            raise DataError("the distribution 'perturbed' with keep > 0 needs x to sample")
        return self.sample_given(m, x, (), rng)

    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw m rows that agree with x on the given features; every S has mass."""
        chosen = self._chosen(features)
        source = self.background.with_row(x)
        bits, x_row = source.bits[-1], self.background.n_rows
        index = self._any_rows(m, rng)
        if self.keep > 0:
            index[rng.random(index.shape) < self.keep] = x_row
        for attribute, mine in self._by_attribute(chosen).items():
            candidates = self._matching(bits, mine)
            index[:, attribute] = rng.choice(candidates, size=m) if len(candidates) else x_row
        return Batch(*source.assemble(index))


DISTRIBUTIONS: dict[str, type[Distribution]] = {
    cls.name: cls for cls in (Empirical, Perturbed, Product, Uniform)
}
"""The distributions by name."""


def distribution(name: str, background: Background, **options: Any) -> Distribution:
    """Return a distribution by its name.

    Parameters
    ----------
    name : {"empirical", "perturbed", "product", "uniform"}
    background : Background
        For ``uniform`` only its features count: the classifier takes the 0/1 matrix.
    **options
        ``keep`` for ``perturbed``.

    Raises
    ------
    UnknownName
        When there is no such distribution.
    InvalidOption
        When the distribution has no such option.

    Examples
    --------
    >>> distribution("perturbed", Background(np.eye(3)), keep=0.5)
    Perturbed(background_rows=3, keep=0.5)
    """
    if name not in DISTRIBUTIONS:
        raise UnknownName("distribution", name, DISTRIBUTIONS)
    known = {"keep"} if name == "perturbed" else set()
    for option in options:
        if option not in known:
            raise InvalidOption(
                f"the distribution {shown(name)} has no option {shown(option)}; "
                f"it has: {', '.join(known) or 'none'}"
            )
    if name == "uniform":
        if background.binarizer is not None:
            return Uniform(background.n_features, binarizer=background.binarizer)
        return Uniform(background.n_features, background.feature_names, background.groups)
    if name == "perturbed":
        return Perturbed(background, **options)
    return Product(background) if name == "product" else Empirical(background)
