"""What searches of rule sets write down for a proof: how much was looked at, or prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RecordedTree(NamedTuple):
    """A search that came to its end.

    Attributes
    ----------
    nodes : int
        Sets of rules whose larger sets were looked at.
    shared : bool
        Whether this took shares of costs.
    """

    nodes: int
    shared: bool = False


@dataclass(frozen=True, eq=False)
class RecordedPrices:
    """Prices of different samples, at which no rule is worth more than a number.

    Attributes
    ----------
    literals : ndarray of bool, shape (n, d)
        The samples of the class.
    shares : ndarray of float64, shape (n,)
        Their prices as shares of what an error on each weighs.
    largest : float
    rules : int
        The number of rules that share what an error of another class weighs.
    """

    literals: NDArray[np.bool_]
    shares: NDArray[np.float64]
    largest: float
    rules: int
