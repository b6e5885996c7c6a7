"""Minimum hitting sets of a growing family of sets, by PySAT's RC2."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["HittingSets"]


class HittingSets:
    """Sets of least weight that meet every set of a family.

    Parameters
    ----------
    weights : mapping from int to int
        The elements, and what each costs, more than 0.

    Examples
    --------
    >>> sets = HittingSets({0: 1, 1: 1, 2: 1})
    >>> sets.add([0, 1]), sets.add([1, 2])
    (None, None)
    >>> sorted(sets.best()), sets.lower
    ([1], 1)
    """

    def __init__(self, weights: Mapping[int, int]) -> None:
        from pysat.examples.rc2 import RC2
        from pysat.formula import WCNF

        self._variable = {a: v for v, a in enumerate(weights, start=1)}
        self._element = {v: a for a, v in self._variable.items()}
        formula = WCNF()
        for a, weight in weights.items():
            formula.append([-self._variable[a]], weight=weight)
        self._solver: Any = RC2(formula, solver="g4")
        self.lower = 0
        """Proved: no set that meets all weighs less."""

    def add(self, elements: Iterable[int]) -> None:
        """Ask for sets that meet this one too."""
        self._solver.add_clause([self._variable[a] for a in elements])

    def best(self, deadline: float | None = None) -> frozenset[int] | None:
        """Return a set of least weight that meets all.

        Parameters
        ----------
        deadline : float, optional
            On the clock of ``time.monotonic``.

        Returns
        -------
        frozenset of int, or None
            None when the deadline came first; ``lower`` may have risen nevertheless.
        """
        timer = None
        if deadline is not None:
            left = max(deadline - time.monotonic(), 0.0)
            timer = threading.Timer(left, self._solver.interrupt)
            timer.daemon = True
            timer.start()
        try:
            model = self._solver.compute(expect_interrupt=deadline is not None)
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
            if deadline is not None:
                self._solver.clear_interrupt()
        self.lower = max(self.lower, int(self._solver.cost))
        if model is None:
            return None
        return frozenset(self._element[v] for v in model if v in self._element)

    def close(self) -> None:
        """Free the solver."""
        self._solver.delete()
