"""One run of a solver of CPMpy: its variables to values, its bounds made safe, its claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.modelling.statement import Statement

__all__ = ["Reader", "Run"]

Reader = Callable[[Sequence[Any]], Sequence[float]]
"""Takes variables of CPMpy, none of them a negation, and returns their values in a solution."""


class Run:
    """Between a compiled model and the progress."""

    def __init__(self, compiled: Any, statement: Statement, progress: Progress) -> None:
        self.compiled, self.statement, self.progress = compiled, statement, progress
        self._known = {name: _Known(array, self) for name, array in statement.variables.items()}

    @property
    def sizes(self) -> dict[str, int]:
        """Variables that the engine has."""
        return {"variables": len(self.compiled._varmap)}

    def solution(self, read: Reader) -> None:
        """Report the solution that ``read`` reads, now."""
        self.progress.incumbent(_Values(self._known, read))

    def cpmpy_solution(self) -> None:
        """Report the solution that CPMpy has written into its variables."""
        self.solution(lambda each: [int(variable.value()) for variable in each])

    def bound(self, value: int) -> None:
        """Report a bound on the objective of the model."""
        self.progress.bound(value + self.statement.offset)

    def claim(self, objective: float | None) -> int | None:
        """Return the problem's objective of an objective of the model."""
        return None if objective is None else round(objective) + self.statement.offset

    def known(self, values: Mapping[str, NDArray[np.int64]]) -> dict[Any, int]:
        """Return the variables that the engine has, with their values in a solution."""
        varmap = self.compiled._varmap
        return {
            variable: int(value)
            for name, array in self.statement.variables.items()
            for variable, value in zip(array, values[name], strict=True)
            if getattr(variable, "name", None) in varmap
        }

    def outcome(self, finished: bool, claimed: int | None, raw_status: str) -> Outcome:
        """Return what is proved.

        finished: Whether the engine says that it has searched everything: that its solution is
            optimal, or, without one, that there is none.
        claimed: The value that it believes its solution has.
        raw_status: Its own word.
        """
        progress = self.progress
        if self.statement.model.objective_ is None and progress.objective is not None:
            # Any solution will do.
            finished, claimed = True, self.statement.offset
        termination = Termination.COMPLETED
        if not finished:
            termination = progress.why_stopped()
            if termination is Termination.COMPLETED and not progress.gap_reached:
                # The engine's clock may run a little ahead of ours.
                limited = progress.remaining is not None
                termination = Termination.TIME_LIMIT if limited else Termination.SOLVER_ERROR
        return Outcome(finished, termination, raw_status, claimed, self.sizes)


class _Known:
    """Which variables of an array the engine has; found once, since solutions can be many."""

    def __init__(self, array: Any, run: Run) -> None:
        self._array, self._run = array, run

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], list[Any], NDArray[np.int64], NDArray[np.bool_]]:
        from cpmpy.expressions.variables import NegBoolView, _NumVarImpl

        # A variable of no constraint is none of the engine; its least value will do.
        values = [int(v.lb) if isinstance(v, _NumVarImpl) else int(v) for v in self._array]
        known, places, negated = list[Any](), list[int](), list[bool]()
        for place, variable in enumerate(self._array):
            view = isinstance(variable, NegBoolView)
            positive = variable._bv if view else variable
            if getattr(positive, "name", None) in self._run.compiled._varmap:
                known.append(positive)
                places.append(place)
                negated.append(view)
        return (
            np.array(values, dtype=np.int64),
            known,
            np.array(places, dtype=np.int64),
            np.array(negated, dtype=np.bool_),
        )

    def values(self, read: Reader) -> NDArray[np.int64]:
        """Return the values of the array in a solution."""
        others, known, places, negated = self._places
        values = others.copy()
        found = np.array([round(value) for value in read(known)], dtype=np.int64)
        values[places] = np.where(negated, 1 - found, found)
        return values


class _Values(Mapping[str, NDArray[np.int64]]):
    """Values of the named arrays, each read when it is asked for: a rule needs one of many."""

    def __init__(self, arrays: Mapping[str, _Known], read: Reader) -> None:
        self._arrays, self._read = arrays, read

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self._arrays[name].values(self._read)

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)
