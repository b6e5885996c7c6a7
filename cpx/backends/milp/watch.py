"""Callbacks of a running MILP engine: a new solution, a new bound, and whether to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


def _never() -> bool:
    return False


def _ignore(_: Any) -> None:
    return None


@dataclass(frozen=True)
class Watch:
    """What a PuLP solver of ours calls while it runs, from whatever thread it runs in.

    should_stop: Asked often; True ends the run with the best solution so far.
    solution: Called with the values of a new best solution, one per column: the column of an
        ``LpVariable`` is its attribute ``index``, which the solver sets.
    bound: Called with the engine's bound on the objective of the ``LpProblem``: in the sense of
        the problem and with the constant of the objective, but not made safe against the engine's
        tolerances.
    """

    should_stop: Callable[[], bool] = _never
    solution: Callable[[NDArray[np.float64]], None] = _ignore
    bound: Callable[[float], None] = _ignore
