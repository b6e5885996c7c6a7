"""Distributions over rows by their names, and those that draw from background rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.background import Background, OnBackground
from cpx.data.base import Batch, Distribution
from cpx.data.fitted.fitted import ChowLiu, Factorised, Fitted, Mixture
from cpx.data.uniform import Uniform
from cpx.errors import DataError, InvalidOption, UnknownName, shown
from cpx.options import read_named
from cpx.support.validation import closed_unit, positive_integer

__all__ = [
    "DISTRIBUTIONS",
    "MOST_ROWS",
    "Batch",
    "ChowLiu",
    "Distribution",
    "Empirical",
    "Factorised",
    "Fitted",
    "Mixture",
    "Perturbed",
    "Product",
    "Uniform",
    "distribution",
]


MOST_ROWS = 100_000
"""Background rows that are all used, rather than sampled."""


class Product(OnBackground):
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

    def _index(self, m: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        shape = (positive_integer("m", m), self.background.n_attributes)
        return rng.integers(0, self.background.n_rows, size=shape)

    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw m rows that agree with x on the given features."""
        chosen = self.chosen(features)
        bits = self.encode(x)
        index = self._index(m, rng)
        for attribute, mine in self.by_attribute(chosen).items():
            candidates = self.matching(bits, mine)
            if not len(candidates):
                raise self.no_mass(bits, mine)
            index[:, attribute] = rng.choice(candidates, size=m)
        return Batch(*self.background.assemble(index))


class Empirical(OnBackground):
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
        return Batch(*self.background.assemble(self.any_rows(m, rng)))

    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw m of the background rows that agree with x on the given features."""
        chosen = self.chosen(features)
        bits = self.encode(x)
        candidates = self.matching(bits, chosen)
        if not len(candidates):
            raise self.no_mass(bits, chosen)
        drawn = rng.choice(candidates, size=positive_integer("m", m))
        return Batch(*self.background.assemble(self.whole_rows(drawn)))


class Perturbed(OnBackground):
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
    options = ("keep",)
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
            return Batch(*self.background.assemble(self.any_rows(m, rng)))
        if x is None:
            raise DataError("the distribution 'perturbed' with keep > 0 needs x to sample")
        return self.sample_given(m, x, (), rng)

    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw m rows that agree with x on the given features; every S has mass."""
        chosen = self.chosen(features)
        source = self.background.with_row(x)
        bits, x_row = source.bits[-1], self.background.n_rows
        index = self.any_rows(m, rng)
        if self.keep > 0:
            index[rng.random(index.shape) < self.keep] = x_row
        for attribute, mine in self.by_attribute(chosen).items():
            candidates = self.matching(bits, mine)
            index[:, attribute] = rng.choice(candidates, size=m) if len(candidates) else x_row
        return Batch(*source.assemble(index))


DISTRIBUTIONS: dict[str, type[Distribution]] = {
    cls.name: cls
    for cls in (ChowLiu, Empirical, Factorised, Fitted, Mixture, Perturbed, Product, Uniform)
}
"""The distributions by name."""


def distribution(name: str, background: Background, **options: Any) -> Distribution:
    """Return a distribution by its name.

    Parameters
    ----------
    name : str
        ``empirical``, ``product``, ``perturbed`` or ``uniform``; fitted to the background:
        ``factorised``, ``mixture``, ``chow-liu``, or ``fitted`` for the best of these.
        Options may follow in braces: ``mixture{components=5, smoothing=2}``.
    background : Background
        For ``uniform`` only its features count: the classifier takes the 0/1 matrix.
    **options
        The other parameters of its class: ``keep`` for ``perturbed``, ``components``,
        ``smoothing`` and ``seed`` for the fitted ones.

    Raises
    ------
    UnknownName
        When there is no such distribution.
    InvalidOption
        When it is no name, the distribution has no such option, or what is in the braces
        cannot be read.

    Examples
    --------
    >>> distribution("perturbed{keep=0.5}", Background(np.eye(3)))
    Perturbed(background_rows=3, keep=0.5)
    """
    if not isinstance(name, str):
        raise InvalidOption(
            f"distribution must be a name or a Distribution of rows, got {shown(name)}"
        )
    name, written = read_named("distribution", name)
    if twice := sorted(written.keys() & options.keys()):
        raise InvalidOption(f"{twice[0]} is given twice, in {shown(name)} and as an option")
    options = written | options
    if name not in DISTRIBUTIONS:
        raise UnknownName("distribution", name, DISTRIBUTIONS)
    cls = DISTRIBUTIONS[name]
    known = cls.options if issubclass(cls, OnBackground) else ()
    for option in options:
        if option not in known:
            raise InvalidOption(
                f"the distribution {shown(name)} has no option {shown(option)}; "
                f"it has: {', '.join(known) or 'none'}"
            )
    if issubclass(cls, OnBackground):
        return cls(background, **options)
    if background.binarizer is not None:
        return Uniform(background.n_features, binarizer=background.binarizer)
    return Uniform(background.n_features, background.feature_names, background.groups)
