"""A bound on the expected prediction under a mixture, from the components one by one.

Given z, the components have the probabilities w_c(z), which sum to 1. So

    EP(z) = sum_c w_c(z) EP_c(z) <= sum_c w_c(z) U_c,        U_c = max_z' EP_c(z'),

and each EP_c is a sum of tables where the component has no edges. How much of its weight a
component can get depends on z: with u_c(z) its weight times Pr_c(z),

    w_c(z) = 1 / (1 + sum_{d != c} u_d(z) / u_c(z)) <= 1 / (1 + sum_{d != c} exp(-m_cd)) = W_c

where m_cd is the greatest log(u_c / u_d) of any set that may be chosen: a sum over attributes, so
that the greatest terms make it. The bound is the greatest sum_c w_c U_c of weights w_c <= W_c
that sum to 1: the best components get all that they can. With few attributes to choose, no
component gets all; with W_c = 1 it is max_c U_c. What is left of the interval is narrowed by
:mod:`~cpx.models.expected_prediction.search.known_attributes.dinkelbach`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from cpx.backends.base import Progress
from cpx.data.fitted.distribution import as_mixture
from cpx.data.fitted.tree_mixture import ONE
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.form import ExpectationForm, TableSumForm
from cpx.models.expected_prediction.search.known_attributes.dinkelbach import Dinkelbach
from cpx.models.expected_prediction.search.table_sums.beam import beam
from cpx.models.expected_prediction.search.table_sums.branch_and_bound import BranchAndBound
from cpx.models.expected_prediction.search.table_sums.value_and_penalty import (
    GreatestValue,
    Solution,
)


def bound_by_components(problem: Problem, form: ExpectationForm, progress: Progress) -> str:
    """Report the bound, and the best sets of the components; return what was done in words."""
    mixture = as_mixture(form.scores.distribution)
    parts, bounds, nodes, longest = list[TableSumForm](), list[int](), 0, 0.0
    for c in range(mixture.n_components):
        began = progress.elapsed
        if progress.remaining is not None and progress.remaining < longest:
            return f"stopped before component {c + 1} of {mixture.n_components}"
        part = form.component(c)
        if part is None:
            return "beam search; no bound, as no component alone is a sum of tables"
        tree = _greatest(part, progress)
        nodes += tree.nodes
        progress.count(nodes=tree.nodes)
        if tree.best is not None:
            progress.found(problem.explanation(tree.best.features))
        value = tree.objective.most_valuable(tree.bound)
        if tree.best is not None:
            value = max(value, tree.best.value)
        parts.append(part)
        bounds.append(value)
        if progress.interrupted or progress.expired:
            return f"stopped at component {c + 1} of {mixture.n_components}"
        longest = max(longest, progress.elapsed - began)
    # The tables round each leaf and the base, by a half at most, and then the sum is rounded.
    roundings = len(form.scores.leaves.values) + 1
    rounding = roundings // 2 + 1
    high = most_mixed(bounds, greatest_weights(form)) + rounding + 1
    progress.bound(high)

    def stop() -> bool:
        return progress.interrupted or progress.expired

    def met(features: tuple[int, ...]) -> None:
        progress.found(problem.explanation(features))

    ratios = Dinkelbach(
        parts, bounds, form.scores.evaluator.log_states, mixture.log_weights, rounding, met, stop
    )
    low = high if progress.objective is None else int(progress.objective)
    for _ in range(_HALVES):
        if high - low < 2 or not ratios.searches or stop():
            break
        theta = (low + high) // 2
        if ratios.proves(theta):
            high = theta
            progress.bound(high)
        else:
            low = theta
    return f"{mixture.n_components} components, {nodes} nodes"


def greatest_weights(form: ExpectationForm) -> list[float]:
    """Return W_c of each component: no set gives it more weight."""
    mixture, logs = as_mixture(form.scores.distribution), form.scores.evaluator.log_states
    apart = logs[:, None, :] - logs[None, :, :]
    required = [*{*form.required}]
    free = np.setdiff1d(np.arange(form.n_features), [*required, *form.forbidden])
    gains = -np.sort(-np.maximum(apart[:, :, free], 0), axis=2)
    most = gains[:, :, : form.most - len(required)].sum(axis=2)
    first = np.log(mixture.weights / ONE)
    most += first[:, None] - first[None, :] + apart[:, :, required].sum(axis=2)
    # The quotient of a component with itself is 1. Floats are off by far less than that part.
    inverse = np.exp(np.minimum(-most, 700.0)).sum(axis=1)
    return [min(1.0, (1 + _OFF) / float(v)) for v in inverse]


def most_mixed(bounds: Sequence[int], weights: Sequence[float]) -> int:
    """Return the greatest mean of bounds, each of a weight up to its own, rounded up.

    >>> most_mixed([10, 50, 30], [1.0, 0.25, 0.5])
    30
    """
    left, mean = Fraction(1), Fraction(0)
    for value, weight in sorted(zip(bounds, weights, strict=True), reverse=True):
        taken = min(left, Fraction(weight))
        mean += taken * value
        left -= taken
    # What is left by floats that sum to less than 1, of the greatest.
    return ceil(mean + left * max(bounds))


_HALVES = 4
"""How often the interval that is left is halved by Dinkelbach's method."""

_OFF = 1e-9
"""The part by which floats of weights are made greater than they are."""


def _greatest(part: TableSumForm, progress: Progress) -> BranchAndBound:
    """Search for the greatest expected score under one component."""
    objective = GreatestValue(part, part.k)
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
