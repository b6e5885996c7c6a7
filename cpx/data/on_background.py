"""What the distributions made of background rows have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cpx.data.background import Background
from cpx.data.uniform import Distribution
from cpx.errors import DataError, InvalidOption, NoMass, shown
from cpx.support.validation import index_set, positive_integer

__all__ = ["OnBackground"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class OnBackground(Distribution):
    """What the distributions made of background rows have in common.

    Attributes
    ----------
    options : tuple of str
        The arguments after the background, each optional.
    """

    options: ClassVar[tuple[str, ...]] = ()

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

    def chosen(self, features: Iterable[int]) -> list[int]:
        """Return the features, increasing and checked."""
        return sorted(index_set("features", features, self.n_features, error=InvalidOption))

    def any_rows(self, m: int, rng: np.random.Generator) -> IntArray:
        """Return m background rows drawn with replacement, as an index for assemble."""
        drawn = rng.integers(0, self.background.n_rows, size=positive_integer("m", m))
        return self.whole_rows(drawn)

    def whole_rows(self, drawn: IntArray) -> IntArray:
        """Return the index that takes all attributes from the drawn rows."""
        return np.repeat(drawn[:, None], self.background.n_attributes, axis=1)

    def by_attribute(self, chosen: list[int]) -> dict[int, list[int]]:
        """Return the chosen features of each attribute touched by them."""
        touched: dict[int, list[int]] = {}
        for j in chosen:
            touched.setdefault(int(self.background.attribute_of[j]), []).append(j)
        return touched

    def matching(self, bits: BoolArray, chosen: list[int]) -> IntArray:
        """Return the background rows that agree with ``bits`` in the chosen features."""
        agree = (self.background.bits[:, chosen] == bits[chosen]).all(axis=1)
        return np.flatnonzero(agree)

    def no_mass(self, bits: BoolArray, chosen: list[int]) -> NoMass:
        """Return the error for features of x that no background row has."""
        names = self.literal_names(bits)
        return NoMass(
            f"no background row satisfies {shown(' and '.join(names[j] for j in chosen))}, so the "
            f"distribution {self.name!r} cannot be conditioned on it: use 'perturbed', or more "
            "background rows"
        )
