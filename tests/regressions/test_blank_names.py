"""A column whose name is blank would be printed as a condition on nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import DataError

VALUES = np.random.default_rng(0).normal(size=(60, 2))
TREE = DecisionTreeClassifier(max_depth=2, random_state=0).fit(VALUES, VALUES[:, 0] > 0)


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_a_column_without_a_name_is_refused_by_its_place(name: str) -> None:
    table = pd.DataFrame(VALUES, columns=["a", name])
    with pytest.raises(DataError, match="column 1 of the table has no name but '"):
        cpx.explain(TREE.predict, table, table.iloc[0], k=1)
    with pytest.raises(DataError, match="column 1 of x has no name but '"):
        cpx.explain(TREE, None, table.iloc[0], kind="reason")
