"""A bound on the expected prediction under a mixture: the greatest one under a component.

Given z, the components have the probabilities w_c(z), which sum to 1. So

    EP(z) = sum_c w_c(z) EP_c(z) <= max_c EP_c(z) <= max_c max_z' EP_c(z'),

and each EP_c is a sum of tables where the component has no edges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cpx.backends.search.table_sums.beam import beam
from cpx.backends.search.table_sums.branch_and_bound import BranchAndBound
from cpx.backends.search.table_sums.objective import GreatestValue, Solution
from cpx.data.tree_mixture import ONE, TreeMixture

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.models.expected_prediction.problem import MLSE

__all__ = ["bound_by_components"]


def bound_by_components(problem: MLSE, progress: Progress) -> str:
    """Report the bound, and the best sets of the components; return what was done in words."""
    mixture = problem.distribution
    if not mixture.edgeless:
        return "beam search; no bound by components that have edges"
    bound, nodes = 0, 0
    for c in range(mixture.n_components):
        alone = TreeMixture(np.array([ONE]), mixture.parents[c : c + 1], mixture.tables[c : c + 1])
        part = replace(problem, distribution=alone)
        if not part.stated:
            return "beam search; no bound, as leaves test too many attributes"
        tree = _greatest(part, progress)
        nodes += tree.nodes
        if tree.best is not None:
            progress.found(problem.explanation(tree.best.features))
        value = tree.objective.most_valuable(tree.bound)
        if tree.best is not None:
            value = max(value, tree.best.value)
        bound = value if c == 0 else max(bound, value)
        if progress.interrupted or progress.expired:
            return f"stopped at component {c + 1} of {mixture.n_components}"
    # The tables round each leaf and the base, by a half at most, and then the sum is rounded.
    roundings = len(problem.leaves.values) + 1
    progress.bound(bound + roundings // 2 + 2)
    return f"{mixture.n_components} components, {nodes} nodes"


def _greatest(part: MLSE, progress: Progress) -> BranchAndBound:
    """Search for the greatest expected score under one component."""
    objective = GreatestValue(part.form, part.k)
    best: Solution | None = None
    for chosen in beam(objective):
        solution = objective.solution(chosen)
        if objective.better(solution, best):
            best = solution

    def stop() -> bool:
        # The value is all that is asked for.
        known = tree.best is not None and objective.most_valuable(tree.bound) <= tree.best.value
        return known or progress.interrupted or progress.expired

    tree = BranchAndBound(
        objective, best, found=lambda found: None, proved=lambda bound: None, stop=stop
    )
    tree.search()
    return tree
