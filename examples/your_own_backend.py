"""A backend in forty lines: greedy search, which finds rules and proves nothing."""

import numpy as np

import cpx
from cpx.answers.result import Termination
from cpx.backends import Backend, Outcome, register


@register
class Greedy(Backend):
    """Adds the condition that lowers the objective most, until none does."""

    name = "greedy"
    summary = "greedy search: fast, no bound"

    def solve(self, problem, options, progress):
        """Report every step; see cpx/backends/TEMPLATE.py for the contract."""
        chosen: list[int] = []
        best = progress.found(problem.explanation(chosen))
        with progress.phase("solve"):
            while not progress.should_stop:
                values = {
                    j: progress.found(problem.explanation([*chosen, j]))
                    for j in range(problem.n_features)
                    if j not in chosen
                }
                feasible = {j: value for j, value in values.items() if value is not None}
                step = min(feasible, key=feasible.__getitem__, default=None)
                if step is None or (best is not None and feasible[step] >= best):
                    return Outcome(False, Termination.COMPLETED, "no step improves")
                chosen.append(step)
                best = feasible[step]
        return Outcome(False, progress.why_stopped(), "stopped")


rng = np.random.default_rng(0)
agreement = rng.random((400, 20)) < 0.7
same = agreement[:, :4].all(axis=1) ^ (rng.random(400) < 0.1)
problem = cpx.KMonomial(cpx.Samples(agreement, same), k=5)

greedy = cpx.solve(problem, "greedy")
print(f"greedy: {greedy.status}, value {greedy.objective}, bound {greedy.bound}")
# Its rule is a start for an engine that can prove something.
exact = cpx.solve(problem, "cpsat", hint=greedy.explanation)
print(f"cpsat:  {exact.status}, value {exact.objective}, bound {exact.bound}")
print(exact.explanation)
