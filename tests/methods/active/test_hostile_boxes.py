"""Black boxes that write into their rows, and tables that tell nothing apart."""

from __future__ import annotations

import numpy as np
import pytest

from cpx.errors import DataError
from cpx.models.decision_set import ActiveDecisionSet, ExactDecisionSet, LearnedDecisionSet

LEARNERS = (ActiveDecisionSet, ExactDecisionSet, LearnedDecisionSet)


def writing(rows: np.ndarray) -> np.ndarray:
    answer = rows[:, 0] > 0.5
    rows[:] = 0
    return answer


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_table_of_the_caller_stays_as_it_is(learner) -> None:
    X = np.random.default_rng(0).random((40, 2))
    before = X.copy()
    model = learner(max_queries=5).fit(X, writing)
    assert (before == X).all()
    assert model.changed_ == 0
    assert model.score(X, X[:, 0] > 0.5) > 0.9


@pytest.mark.parametrize("learner", LEARNERS)
def test_constant_columns_are_refused(learner) -> None:
    with pytest.raises(DataError, match=r"all columns of the table are constant \(2 of them\)"):
        learner().fit(np.ones((10, 2)), lambda rows: np.arange(len(rows)) % 2 == 0)
