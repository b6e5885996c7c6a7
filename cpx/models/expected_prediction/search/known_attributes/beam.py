"""Beam search for the attributes of greatest expected prediction, for all sizes in one run.

This is algorithm 1 of Wang, Khosravi and Van den Broeck, Probabilistic Sufficient Explanations
(IJCAI 2021): the best sets of each size are extended by every attribute; of the extensions those
of the greatest expected prediction are kept, of equal ones the likeliest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.backends.base import Progress
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.evaluator import Evaluator, Stopped
from cpx.models.expected_prediction.form import ExpectationForm
from cpx.models.expected_prediction.likelihood import LikelihoodFloor

_EQUAL = 1e-12
"""Expected scores that differ by less than this part of the greatest one are equal: floats of
sets with the same exact expectation do."""


class KnownSet(NamedTuple):
    """Attributes that are known, the expected score, and the logarithm of Pr."""

    features: tuple[int, ...]
    expected: float
    log_probability: float


def frontier(
    problem: ExpectedPrediction, most: int, width: int = 5, threads: int = 1
) -> list[KnownSet]:
    """Return the best set of each size that beam search meets, up to a size.

    most: The greatest number of attributes.
    width: So many sets of each size are extended.
    threads: That measure the sets of a size.

    >>> from cpx.models.expected_prediction.cases import random_expectation
    >>> problem = random_expectation(5)
    >>> [found.features for found in frontier(problem, 2)]
    [(), (1,), (0, 1)]
    """
    of = problem.scores.evaluator, most, width, problem.required, problem.forbidden
    levels = beam_levels(*of, threads=threads, likely=problem.likelihood_floor)
    return [level[0] for level in levels]


class KnownLevels:
    """The best sets of each size, for :class:`~cpx.methods.beam.Beam`.

    They are ranked by the expected prediction, equal ones by their probability. Where the fewest
    attributes are wanted, the first set that reaches the threshold is the last.
    """

    def __init__(self, form: ExpectationForm, width: int, progress: Progress) -> None:
        self.form, self.progress, self.sizes = form, progress, form.sizes()
        self.count = 0
        self.levels: Iterator[list[KnownSet]] = iter(())
        if not form.contradicts:
            self.levels = beam_levels(
                form.scores.evaluator,
                form.most,
                width,
                form.required,
                form.forbidden,
                lambda: progress.should_stop,
                progress.options.threads,
                form.likely,
            )

    @property
    def message(self) -> str:
        """How much was done."""
        return (
            "the required features contradict" if self.form.contradicts else f"{self.count} sizes"
        )

    def __iter__(self) -> Iterator[list[tuple[int, ...]]]:
        """Yield the sets of each size that may be the best."""
        best = -math.inf
        for level in self.levels:
            self.count += 1
            if self.form.least is not None:
                yield [known.features for known in level]
                known_size = self.progress.objective
                if known_size is not None and known_size <= len(level[0].features):
                    return
            # Ties, and floats that are almost equal, are for the exact evaluation.
            elif level[0].expected > best - abs(best) * 1e-9:
                best = max(best, level[0].expected)
                yield [level[0].features]


def beam_levels(
    evaluator: Evaluator,
    most: int,
    width: int,
    required: Sequence[int] = (),
    forbidden: Sequence[int] = (),
    stop: Callable[[], bool] = lambda: False,
    threads: int = 1,
    likely: LikelihoodFloor | None = None,
) -> Iterator[list[KnownSet]]:
    """Yield the best sets of each size, the best first, from the required ones on.

    most, width: The greatest size, and how many sets of each are kept.
    required, forbidden: Attributes that all sets have, and that none has.
    stop: Asked now and then: where it says so, there are no more sizes.
    threads: That share the work on each size.
    likely: How likely sets must be.
    """
    A = evaluator.leaves.n_attributes
    banned = np.zeros(A, dtype=np.bool_)
    banned[list(forbidden)] = True
    seen = np.zeros((1, A), dtype=np.bool_)
    seen[0, list(required)] = True
    expected, logs = evaluator.evaluate(seen)
    size = abs(evaluator.base) + float(np.abs(evaluator.values).sum())
    scale = _EQUAL * max(1e-290, size)
    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        while True:
            yield [
                KnownSet(tuple(np.flatnonzero(row).tolist()), float(mean), float(log))
                for row, mean, log in zip(seen, expected, logs)
            ]
            if int(seen[0].sum()) >= most:
                return
            try:
                # What all components need is made by the first set, before threads ask for it.
                shared = (pool, threads) if len(seen) > 1 else ()
                more = evaluator.extensions(seen, stop, *shared)
            except Stopped:
                return
            free = ~(seen | banned)
            if likely is not None:
                free &= likely.extended(more.log_probability_with, seen)
            if not free.any():
                return
            rows, columns = np.nonzero(free)
            means, log_with = more.expected_with[free], more.log_probability_with[free]
            order = np.lexsort((columns, -log_with, -np.rint(means / scale)))
            kept = _different(seen, rows, columns, order, width)
            seen = seen[rows[kept]]
            seen[np.arange(len(kept)), columns[kept]] = True
            expected, logs = means[kept], log_with[kept]


def _different(
    seen: NDArray[np.bool_],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    order: NDArray[np.int64],
    width: int,
) -> list[int]:
    """Return the first extensions in some order that are different sets."""
    met, kept = set[bytes](), list[int]()
    for place in order.tolist():
        row = seen[rows[place]].copy()
        row[columns[place]] = True
        key = row.tobytes()
        if key not in met:
            met.add(key)
            kept.append(place)
            if len(kept) == width:
                break
    return kept
