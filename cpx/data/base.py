"""The base class of distributions over rows, and the batches of rows drawn from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]


class Batch(NamedTuple):
    """Sampled rows as the classifier takes them, and their (m, d) Boolean features."""

    rows: Any
    bits: BoolArray


class ReadRow(NamedTuple):
    """A row that was read: as the classifier takes it, and its Boolean features, shape (d,)."""

    row: Any
    bits: BoolArray


class Distribution(ABC):
    """A distribution D of rows z that can be sampled as it is and given z_S = x_S.

    Attributes
    ----------
    name : str
        Short name, as on the command line.
    n_features : int
        Number d of Boolean features.
    groups : tuple of d int
        Attribute of each feature.
    feature_names : tuple of d str
        Positive literals.
    conditional : bool
        Whether ``sample_given`` draws from D given z_S = x_S, and not from another
        distribution for each S.
    takes_read_rows : bool
        Whether x may be a :class:`ReadRow` wherever it is asked for: reading a row of a table
        takes longer than drawing a thousand.
    """

    name: ClassVar[str]
    conditional: ClassVar[bool] = True
    takes_read_rows: ClassVar[bool] = False
    n_features: int
    groups: tuple[int, ...]
    feature_names: tuple[str, ...]

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the parameters as JSON values, for the context of an instance."""

    @abstractmethod
    def row(self, x: Any) -> Any:
        """Return x as a table of one row, as the classifier takes it."""

    @abstractmethod
    def encode(self, x: Any) -> BoolArray:
        """Return the Boolean features of x, shape (d,)."""

    def read(self, x: Any) -> tuple[Any, BoolArray]:
        """Return x as the classifier takes it, and its Boolean features."""
        return self.row(x), self.encode(x)

    def read_many(self, rows: Sequence[Any]) -> list[ReadRow]:
        """Read many rows; where they are rows of a table, in little more time than one."""
        return [ReadRow(*self.read(x)) for x in rows]

    @abstractmethod
    def literal_names(self, bits: Any) -> tuple[str, ...]:
        """Return the literals true of a row with the given features."""

    @abstractmethod
    def sample(self, m: int, rng: np.random.Generator, x: Any = None) -> Batch:
        """Draw m rows.

        Parameters
        ----------
        m : int
            At least 1.
        rng : numpy.random.Generator
        x : one row, optional
            The explained instance; only distributions that depend on x look at it.
        """

    @abstractmethod
    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw m rows conditioned on having the values of x in the given features.

        Raises
        ------
        NoMass
            When D gives this event no mass, naming the literals.
        """

    def population(self) -> Batch | None:
        """Return all rows there are, where they are few and have the same probability.

        None, the default, where rows have to be drawn.
        """
        return None

    def __repr__(self) -> str:
        listed = ", ".join(f"{key}={value!r}" for key, value in self.parameters().items())
        return f"{type(self).__name__}({listed})"
