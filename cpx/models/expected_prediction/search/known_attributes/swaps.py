"""Local search by exchanges: one attribute of a set for another, while more is expected.

Beam search adds the attributes one by one, and never takes one back. Here each attribute of a set
is left out in turn, and one pass of the evaluator measures what any other one would do in its
place: the best exchange is made, until none is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cpx.models.expected_prediction.evaluator import Evaluator, Stopped
from cpx.models.expected_prediction.likelihood import LikelihoodFloor

_LEAST = 1e-9
"""What is gained by less, in parts of the greatest score, is no gain."""


def exchanged(
    evaluator: Evaluator,
    chosen: Sequence[int],
    fixed: Sequence[int] = (),
    forbidden: Sequence[int] = (),
    stop: Callable[[], bool] = lambda: False,
    likely: LikelihoodFloor | None = None,
) -> tuple[tuple[int, ...], float]:
    """Return a set that no exchange makes better, and its expected score.

    chosen: The set that is begun with.
    fixed, forbidden: Attributes that stay, and that are not taken.
    stop: Asked now and then; what is there when it says so is returned.
    likely: How likely sets must be.

    >>> from cpx.models.expected_prediction.cases import random_expectation
    >>> scores = random_expectation(5, "circuit").scores
    >>> exchanged(scores.evaluator, [0])[0], exchanged(scores.evaluator, [2])[0]
    ((1,), (1,))
    """
    S = [*chosen]
    seen = np.zeros((1, evaluator.leaves.n_attributes), dtype=np.bool_)
    seen[0, S] = True
    best = float(evaluator.expected(seen)[0])
    least = _LEAST * (abs(evaluator.base) + float(np.abs(evaluator.values).sum()))
    movable = [a for a in S if a not in {*fixed}]
    while movable and not stop():
        without = np.repeat(seen, len(movable), axis=0)
        without[np.arange(len(movable)), movable] = False
        try:
            found = evaluator.extensions(without, stop)
        except Stopped:
            break
        means = found.expected_with.copy()
        means[:, [*S, *forbidden]] = -np.inf
        if likely is not None:
            means[~likely.extended(found.log_probability_with, without)] = -np.inf
        place, added = np.unravel_index(int(means.argmax()), means.shape)
        if means[place, added] <= best + least:
            break
        best = float(means[place, added])
        seen[0, movable[place]], seen[0, added] = False, True
        S[S.index(movable[place])] = movable[place] = int(added)
    return tuple(sorted(S)), best
