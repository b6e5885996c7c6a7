"""A change of least weight may have more columns than another one: no smaller one was denied."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import cpx


def test_a_light_change_of_more_columns() -> None:
    rows = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    first, both = rows[:, 0] == 1, rows[:, 1:].all(axis=1)
    explainer = cpx.Explainer(DecisionTreeClassifier(random_state=0).fit(rows, first | both), rows)
    light = explainer.contrast([0, 0, 0], weights=[5, 1, 1])
    told = "x1 > 0.5 (now 0) and x2 > 0.5 (now 0) give True in place of False"
    assert str(light) == told
    assert light.proved.startswith("weight 2: no lighter change gives another class; checked by")
    small = explainer.contrast([0, 0, 0])
    assert str(small) == "x0 > 0.5 (now 0) gives True in place of False"
    assert small.proved.startswith("1 column: no smaller change gives another class; checked by")
