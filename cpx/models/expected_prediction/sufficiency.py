"""Same-decision probability: how often rows with the known values of x get its class."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.statistics import PrecisionEstimate, clopper_pearson
from cpx.errors import InvalidOption
from cpx.models.expected_prediction.leaves import model_cells
from cpx.support.validation import open_unit, positive_integer, valid_seed

if TYPE_CHECKING:
    from cpx.models.expected_prediction.problem import ExpectedPrediction

__all__ = ["MOST_STATES", "same_decision", "sampled_same_decision"]

MOST_STATES = 2**16
"""So many combinations of states are counted one by one at most."""


def same_decision(problem: ExpectedPrediction, chosen: Iterable[int]) -> Fraction:
    """Return the exact probability that a row with these states of x gets its class.

    All combinations of states of the other attributes that the model tests are counted.

    Parameters
    ----------
    problem : MLSE or FewestExpected
    chosen : iterable of int
        Attributes whose states are known.

    Raises
    ------
    InvalidOption
        When there are more than ``MOST_STATES`` combinations.

    Examples
    --------
    >>> from cpx.testing.expected_prediction import random_expectation
    >>> problem = random_expectation(3)
    >>> same_decision(problem, range(problem.n_features))
    Fraction(1, 1)
    """
    S, mixture = {*chosen}, problem.distribution
    free = [a for a in problem.leaves.used if a not in S]
    sizes = [mixture.cardinalities[a] for a in free]
    if prod(sizes) > MOST_STATES:
        raise InvalidOption(
            f"{prod(sizes)} combinations of states are more than {MOST_STATES}: their share is "
            "estimated from samples"
        )
    states = np.stack([g.ravel() for g in np.indices(sizes)], axis=1) if free else _ONE_ROW
    codes = np.repeat(np.asarray(problem.codes)[None, :], len(states), axis=0)
    codes[:, free] = states
    same = _same(problem, codes)
    masks: list[NDArray[np.bool_] | None] = [None] * problem.n_features
    for a in S:
        masks[a] = np.arange(mixture.cardinalities[a]) == problem.codes[a]
    whole = mixture.exact_event_probability(masks)
    if mixture.edgeless:
        return _products(problem, S, free, same) / whole
    total = Fraction(0)
    for row in states[same]:
        for a, state in zip(free, row.tolist(), strict=True):
            masks[a] = np.arange(mixture.cardinalities[a]) == state
        total += mixture.exact_event_probability(masks)
    return total / whole


_ONE_ROW = np.zeros((1, 0), dtype=np.int64)


def _products(
    problem: ExpectedPrediction, S: set[int], free: list[int], same: NDArray[np.bool_]
) -> Fraction:
    """Return the probability of the known states and of the combinations that get the class."""
    from cpx.data.tree_mixture import ONE

    mixture, total = problem.distribution, 0
    for weight, tables in zip(mixture.weights.tolist(), mixture.tables, strict=True):
        known = weight
        for a in S:
            known *= int(tables[a][0, problem.codes[a]])
        likely: NDArray[Any] = np.array([1], dtype=object)
        for a in free:
            likely = np.multiply.outer(likely, tables[a][0].astype(object)).ravel()
        total += known * int(likely[same].sum())
    return Fraction(total, ONE ** (1 + len(S) + len(free)))


def sampled_same_decision(
    problem: ExpectedPrediction,
    chosen: Iterable[int],
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> PrecisionEstimate:
    """Return the share of rows drawn with these states of x that get its class.

    Parameters
    ----------
    problem : MLSE or FewestExpected
    chosen : iterable of int
        Attributes whose states are known.
    samples : int
        How many independent rows are drawn, at least 1.
    seed : int
    confidence : float
        Of the exact (Clopper-Pearson) limits, between 0 and 1.

    Examples
    --------
    >>> from cpx.testing.expected_prediction import random_expectation
    >>> problem = random_expectation(3)
    >>> sampled_same_decision(problem, range(problem.n_features), 100).agreeing
    100
    """
    count = positive_integer("samples", samples)
    level = open_unit("confidence", confidence)
    rng = np.random.default_rng(valid_seed(seed))
    codes = problem.distribution.sample_given(count, problem.codes, [*chosen], rng)
    agreeing = int(_same(problem, codes).sum())
    low, high = clopper_pearson(agreeing, count, level)
    return PrecisionEstimate(agreeing, count, low, high, level)


def _same(problem: ExpectedPrediction, codes: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Say of each row of states whether the model gives it the class of x."""
    model = problem.tree_model
    cells = model_cells(model, problem.coding, codes)
    return np.asarray(model.decide(model.totals_of(cells)) == problem.label_index)
