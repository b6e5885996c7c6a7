"""What searches of rule sets write down for a proof: how much was looked at, or prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RecordedTree(NamedTuple):
    """A search that came to its end.

    nodes: Sets of rules whose larger sets were looked at.
    shared: Whether this took shares of costs.
    """

    nodes: int
    shared: bool = False


@dataclass(frozen=True, eq=False)
class RecordedPrices:
    """Prices of different samples, at which no rule is worth more than a number.

    literals (n, d): The samples of the class.
    shares (n,): Their prices as shares of what an error on each weighs.
    rules: The number of rules that share what an error of another class weighs.
    """

    literals: NDArray[np.bool_]
    shares: NDArray[np.float64]
    largest: float
    rules: int
