"""Where sets are evaluated for long, the time went by with the empty one as the only answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

import cpx


def test_the_first_set_that_is_told_is_more_than_what_is_required() -> None:
    kind = np.random.default_rng(0).integers(0, 2, size=(200, 40))
    X = pd.DataFrame(np.repeat(kind, 2, axis=1)).rename(columns=str)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, kind[:, :5].sum(axis=1) > 2)
    explainer = cpx.Explainer(tree, X, distribution="chow-liu")
    found = explainer.expectation(X.iloc[0], k=20)
    told = [point.objective for point in found.result.trace if point.objective is not None]
    assert told[0] > found.problem.value(())
