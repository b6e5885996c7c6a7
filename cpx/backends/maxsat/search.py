"""Base class of the MaxSAT searches: incumbent, bounds, warm start."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from cpx.backends.maxsat.oracle import SOLVERS, Oracle, Stopped

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.backends.maxsat.wcnf import Compiled
    from cpx.modelling.statement import Statement


class Search:
    """The state of one solve: least cost known, bounds told to the progress.

    upper: Least cost that is attained by some solution of the statement.
    lower: Greatest cost proven to be necessary.
    model: The SAT model ``upper`` was read off.
    oracle: Loaded by :meth:`start`.
    pool: Fresh variables.
    settings: Options of the engine by their own names.
    """

    def __init__(self, statement: Statement, compiled: Compiled, progress: Progress) -> None:
        from pysat.formula import IDPool

        self.statement, self.compiled, self.progress = statement, compiled, progress
        self.settings = progress.options.engine
        self.random = random.Random(progress.options.seed)
        self._shuffled_start = progress.options.seed != 0
        self.upper: int | None = None
        self.lower = 0
        self.model: list[int] = []
        self.pool = IDPool(start_from=compiled.top + 1)
        self.oracle = Oracle(
            lambda: progress.should_stop, self.see, self.settings.get("oracle", SOLVERS[0])
        )

    def see(self, model: list[int]) -> None:
        """Take note of a model; raise Stopped when it is good enough.

        Encodings may be one-sided: a model may claim a greater cost than its decoded
        explanation has. The explanation's own value is attained by some other model, so
        the lesser of the two is an upper bound on the optimum of the statement.
        """
        cost = self.compiled.cost(model)
        value = self.progress.incumbent(self.compiled.values(model))
        if value is not None:
            # What has a statement has integer values.
            cost = min(cost, self.compiled.cost_of_objective(int(value)))
        if self.upper is None or cost < self.upper:
            self.upper, self.model = cost, model
        if self.progress.should_stop:
            raise Stopped

    def prove(self, lower: int) -> None:
        """Report that no solution costs less than ``lower``."""
        self.lower = max(self.lower, lower)
        self.progress.bound(self.compiled.objective(self.lower))

    def adopt(self) -> None:
        """Go on from a solution that another engine has found, where that is the best known."""
        found, objective = self.progress.explanation, self.progress.objective
        if found is None or objective is None:
            return
        cost = self.compiled.cost_of_objective(int(objective))
        if self.upper is None or cost < self.upper:
            values = self.statement.complete(found.features)
            self.upper, self.model = cost, self.compiled.literals(values)

    @property
    def solved(self) -> bool:
        """Whether an optimal solution of the statement is known to be optimal."""
        return self.upper == self.lower

    def start(self, hint: list[int] | None) -> bool:
        """Load the hard clauses and find a first model.

        hint: Literals of a known solution, preferred by the solver.
        """
        oracle, compiled = self.oracle, self.compiled
        oracle.load(compiled.clauses)
        # Avoiding all costs is the natural first try; an unknown variable is left at false.
        phases = [-literal for literal in compiled.costs]
        if self._shuffled_start:
            phases += [v * self.random.choice((1, -1)) for v in compiled.free_variables()]
        oracle.set_phases(phases if hint is None else hint)
        # Under phases alone, auxiliary variables could lead the solver away from the hint.
        found = bool(hint and oracle.solve_limited(hint)) or bool(oracle.solve_limited())
        if found:
            self.prove(0)
        return found
