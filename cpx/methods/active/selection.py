"""The optimal decision set of candidates, its rivals, and how certain its lead over them is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from cpx.models.rule_set import RuleSetSelection
from cpx.result import Status
from cpx.solving import solve

__all__ = ["Rival", "Selection", "lead"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rival:
    """A set of candidates, and the lower limit of the lead of the best set over it."""

    chosen: tuple[int, ...]
    lead: float


def lead(
    ours: BoolArray, theirs: BoolArray, labels: BoolArray, n_real: int, chance: float
) -> float:
    """Return a lower limit of the difference in fidelity between two decision sets.

    Where the two differ, one of them is right. With p the share of the real instances there,
    and a the share of those where the first is right, the difference is ``p * (2a - 1)``. For
    a, the lower limit of Hoeffding's inequality is taken, on all labelled instances there.

    Parameters
    ----------
    ours, theirs : (n,) array of bool
        What each of the two covers.
    labels : (n,) array of bool
        What should be covered.
    n_real : int
        So many of the first instances are real.
    chance : float
        Chance that the limit is wrong.

    Examples
    --------
    >>> ours, theirs = np.array([1, 1, 0, 0], dtype=bool), np.array([1, 1, 1, 1], dtype=bool)
    >>> lead(ours, theirs, ours, 4, 0.05)
    -0.36...
    """
    apart = ours != theirs
    n = int(apart.sum())
    p = float(apart[:n_real].mean())
    if n == 0:
        return -p
    right = float((ours == labels)[apart].mean())
    low = max(0.0, right - math.sqrt(math.log(1 / chance) / (2 * n)))
    return p * (2 * low - 1)


class Selection:
    """Selects from candidates, by an exact engine.

    Parameters
    ----------
    covers : (candidates, n) array of bool
    labels : (n,) array of bool
    n_real : int
        So many of the first instances are real.
    penalty : float
    backend : str
    time_limit : float or None
        Of each solve.

    Attributes
    ----------
    chosen : tuple of int
        The best set, once :meth:`solve` was called.
    objective, bound : float
        Its Q, and what no set of candidates exceeds.
    proved : bool
    """

    def __init__(
        self,
        covers: BoolArray,
        labels: BoolArray,
        n_real: int,
        penalty: float,
        backend: str,
        time_limit: float | None,
    ) -> None:
        self._covers, self._labels, self._n_real = covers, labels, n_real
        self._penalty, self._backend, self._time_limit = penalty, backend, time_limit
        self._problem = RuleSetSelection.of_coverage(
            covers, labels, texts=[f"candidate {r}" for r in range(len(covers))], penalty=penalty
        )
        self.chosen: tuple[int, ...] = ()
        self.objective = self.bound = 0.0
        self.proved = False

    def solve(self, known: Sequence[int]) -> None:
        """Find the best set, from a known one."""
        result = solve(
            self._problem, self._backend, time_limit=self._time_limit, hint=tuple(known)
        )
        if result.explanation is not None:
            self.chosen = result.explanation.features
        self.objective = self._quality(self._problem.form.cost(self.chosen))
        self.bound = 1.0 if result.bound is None else self._quality(result.bound)
        self.proved = result.status is Status.OPTIMAL

    def _quality(self, cost: float | Fraction) -> float:
        return 1 - float(Fraction(cost) / (self._problem.scale * self._problem.total))

    def rivals(self, confidence: float) -> list[Rival]:
        """Return the best set without each rule of the best one, and that with each other rule.

        A rival is as certain to be worse as the confidence says, for all of them together.
        """
        sets = set()
        for r in self.chosen:
            rest = tuple(i for i in self.chosen if i != r)
            other = replace(self._problem, forbidden=(r,))
            result = solve(other, self._backend, time_limit=self._time_limit, hint=rest)
            sets.add(rest if result.explanation is None else result.explanation.features)
        more = set(range(len(self._covers))) - set(self.chosen)
        sets |= {tuple(sorted((*self.chosen, r))) for r in more}
        chance = (1 - confidence) / max(1, len(sets))
        return [Rival(one, self._lead(one, chance)) for one in sorted(sets)]

    def _lead(self, other: tuple[int, ...], chance: float) -> float:
        ours, theirs = self.covered(self.chosen), self.covered(other)
        longer = self._penalty * (len(other) - len(self.chosen))
        return longer + lead(ours, theirs, self._labels, self._n_real, chance)

    def covered(self, chosen: Sequence[int]) -> BoolArray:
        """Return what a set covers, shape (n,)."""
        return np.asarray(self._covers[list(chosen)].any(axis=0))
