"""What a model says of sets of features: which it allows, with which value, and what forbids one.

A set may be chosen in a model where its constraints hold for some values of the other variables;
its value is the best one that these have. Each set is asked for by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from cpx.modelling.statement import Statement

__all__ = ["Chosen", "SetModel", "StatedModel", "every_set"]

Chosen = tuple[int, ...]
"""A set of features, in their order."""

_SECONDS = 1.0


def every_set(n: int) -> Iterable[Chosen]:
    """Return all sets of n features, the smaller ones first."""
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


class SetModel(ABC):
    """A model of which the features are told.

    Attributes
    ----------
    n : int
        Number of features.
    senses : tuple of str
        Directions of its objective, ``"min"`` or ``"max"``: of a right model one.
    rows : sequence of (str, str)
        Its constraints: what they are called, and what they say.
    """

    n: int
    senses: tuple[str, ...]
    rows: Sequence[tuple[str, str]]

    @abstractmethod
    def value(self, chosen: Chosen) -> int | float | None:
        """Return the best value that the model gives a set, None where it forbids it.

        Raises TimeoutError: Where that is not known in a second.
        """

    @abstractmethod
    def values(self) -> Mapping[str, Sequence[int | float]]:
        """Return the values of all variables, by their arrays, that the last value is of."""

    @abstractmethod
    def allows(self, chosen: Chosen, rows: Sequence[int]) -> bool:
        """Whether some of the constraints, by their numbers, allow a set."""

    def forbidding(self, chosen: Chosen) -> list[int]:
        """Return constraints that forbid a set together, and of which each is needed for that.

        Empty where it is the ranges of variables that forbid it, and not constraints.
        """
        kept = list(range(len(self.rows)))
        size = len(kept)
        while size > 0:
            size //= 2
            at, step = 0, max(1, size)
            while at < len(kept):
                fewer = kept[:at] + kept[at + step :]
                if self.allows(chosen, fewer):
                    at += step
                else:
                    kept = fewer
            if step == 1:
                break
        return kept


class StatedModel(SetModel):
    """A statement, asked with CP-SAT."""

    def __init__(self, stated: Statement) -> None:
        from cpmpy.transformations.normalize import toplevel_list
        from ortools.sat.python.cp_model import CpSolver

        from cpx.backends.cpsat.compile import compile_cp_model, safe_parameters

        self.stated = stated
        self.n = len(stated.variables["X"])
        self.senses = (stated.sense,)
        if stated.model.objective_ is not None:
            self.senses = ("min" if stated.model.objective_is_min else "max", stated.sense)
        self._constraints = toplevel_list(stated.model.constraints)
        self.rows = [(f"constraint {i}", str(row)) for i, row in enumerate(self._constraints, 1)]
        self._model, self._native = compile_cp_model(stated)
        self._ranges = [self._range(literal) for literal in self._native["X"]]
        self._solver = CpSolver()
        settings = {"num_workers": 1, "max_time_in_seconds": _SECONDS}
        for name, value in {**settings, **safe_parameters(self._model)}.items():
            setattr(self._solver.parameters, name, value)

    def _range(self, literal: Any) -> tuple[Any, bool, int, int] | int:
        """Return the domain of a feature, whether it is negated, and its limits; or a constant."""
        if isinstance(literal, int):
            return literal
        place, negated = (literal.index, False) if literal.index >= 0 else (~literal.index, True)
        domain = self._model.proto.variables[place].domain
        return domain, negated, domain[0], domain[len(domain) - 1]

    def value(self, chosen: Chosen) -> int | None:
        """Return the best value, None for none; TimeoutError where that is not known."""
        from ortools.sat.python import cp_model

        for j, known in enumerate(self._ranges):
            wanted = int(j in chosen)
            if isinstance(known, int):
                if known != wanted:
                    return None
                continue
            domain, negated, low, high = known
            wanted ^= negated
            if not low <= wanted <= high:
                return None
            domain[0] = domain[len(domain) - 1] = wanted
        status = self._solver.solve(self._model)
        if status == cp_model.INFEASIBLE:
            return None
        if status != cp_model.OPTIMAL:
            raise TimeoutError
        total = self.stated.model.objective_
        return self.stated.offset + (0 if total is None else round(self._solver.objective_value))

    def values(self) -> Mapping[str, Sequence[int | float]]:
        """Return the values of the arrays, as the last set has them."""
        return {
            name: [v if isinstance(v, int) else int(self._solver.value(v)) for v in array]
            for name, array in self._native.items()
        }

    def allows(self, chosen: Chosen, rows: Sequence[int]) -> bool:
        """Whether some of the constraints allow a set."""
        import cpmpy as cp

        fixed = [x == int(j in chosen) for j, x in enumerate(self.stated.variables["X"])]
        model = cp.Model([*(self._constraints[row] for row in rows), *fixed])
        return bool(model.solve(solver="ortools", time_limit=_SECONDS, num_workers=1))

    def completion_mistake(
        self, chosen: Chosen, sets: Mapping[Chosen, int | None], every_solution: bool = True
    ) -> str:
        """Say what is wrong with the values that ``complete`` has for a set; empty for nothing.

        sets: The value of each set by the definition.
        every_solution: Whether the model has all solutions; another one completes those that it
            leaves out as those that it has.
        """
        from cpmpy.expressions.variables import NegBoolView
        from cpmpy.transformations.get_variables import get_variables_model

        known = {v.name for array in self.stated.variables.values() for v in _plain(array)}
        for variable in get_variables_model(self.stated.model):
            if variable.name not in known:
                return f"the variable {variable.name} is in no array of the statement"
        found = self.stated.complete(chosen)
        for name, array in self.stated.variables.items():
            if name not in found or len(found[name]) != len(array):
                told = "no" if name not in found else f"{len(found[name])}"
                return f"it has {told} values for the {len(array)} variables of {name}"
            for place, (variable, raw) in enumerate(zip(array, found[name], strict=True)):
                if isinstance(variable, NegBoolView):
                    variable._bv._value = not raw
                elif not isinstance(variable, int):
                    if not variable.lb <= raw <= variable.ub:
                        return f"it makes {name}[{place}] {raw}, which the variable cannot be"
                    variable._value = bool(raw) if variable.is_bool() else int(raw)
        said = tuple(j for j, x in enumerate(found["X"]) if x)
        if said != chosen and every_solution:
            return "its X is another set"
        for number, row in enumerate(self._constraints, 1):
            if not (row if isinstance(row, bool) else row.value()):
                return f"its values break the constraint {number}: {row}"
        total = self.stated.model.objective_
        reached = self.stated.offset + (0 if total is None else int(total.value()))
        return "" if reached == sets.get(said) else f"its values have the objective {reached}"


def _plain(array: Any) -> Iterable[Any]:
    """Yield the variables of an array, without their negations and without constants."""
    for variable in array:
        if not isinstance(variable, int):
            yield getattr(variable, "_bv", variable)
