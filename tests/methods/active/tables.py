"""Tables, black boxes and slow but plain evaluations, for the tests of decision sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from cpx.models.decision_set import Interval, SetRule
from cpx.models.decision_set.input_space import Domain
from cpx.models.decision_set.state import Evidence


def mixed(n: int, seed: int = 0) -> pd.DataFrame:
    """Return a table of all kinds of columns, with missing values."""
    rng = np.random.default_rng(seed)
    size = rng.normal(10, 3, n)
    size[rng.random(n) < 0.05] = np.nan
    return pd.DataFrame(
        {
            "size": size,
            "age": rng.integers(18, 80, n),
            "state": rng.choice(np.array(["CA", "TX", "NY", None], dtype=object), n),
            "code": pd.Categorical(rng.integers(1, 4, n)),
        }
    )


def box(table: pd.DataFrame) -> np.ndarray:
    """Return "yes" for large ones, and for the young of two states."""
    some = (table["age"] <= 35) & table["state"].isin(["CA", "TX"])
    return np.where((table["size"] > 12) | some, "yes", "no")


def holds(rule: SetRule, row: pd.Series[Any]) -> bool:
    """Say whether a row satisfies a rule, read from its conditions."""
    for condition in rule.conditions:
        value = row[condition.attribute]
        if isinstance(condition, Interval):
            low = -np.inf if condition.low is None else condition.low
            high = np.inf if condition.high is None else condition.high
            if pd.isna(value) or not low < value <= high:
                return False
        elif (None if pd.isna(value) else value) not in condition.values:
            return False
    return True


def random_mask(domain: Domain, rng: np.random.Generator) -> np.ndarray:
    """Return a rule with conditions on about half of the attributes."""
    mask = domain.everything()
    for a, attribute in enumerate(domain.attributes):
        if rng.random() < 0.5:
            cells = np.zeros(attribute.width, dtype=bool)
            if attribute.name in ("size", "age"):
                i, j = sorted(rng.choice(attribute.width, 2, replace=False).tolist())
                cells[i:j] = True
            else:
                cells[:-1] = rng.random(attribute.width - 1) < 0.5
                cells[rng.integers(attribute.width - 1)] = True
            mask[domain.span(a)] = cells
    return mask


def evidence(n: int = 120, seed: int = 0, room: int = 50) -> Evidence:
    table = mixed(n, seed)
    domain = Domain(table, n_cells=8)
    return Evidence(domain, domain.values(table), box(table) == "yes", room)
