"""Certificates under fitted distributions, whose attributes depend on each other."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cpx
from cpx.data import Background, Binarizer
from cpx.data.distributions import ChowLiu, Mixture
from cpx.models.certificate.methods import certificate, noise_sensitivity, stabilising_scores

NOISE, PAIRS, RUNS = 0.4, 1500, 10


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    tint = rng.choice(list("rgb"), 200)
    size = np.where(rng.random(200) < 0.8, tint == "r", rng.random(200) < 0.5)
    round_ = np.where(rng.random(200) < 0.7, size, tint == "g")
    return pd.DataFrame({"tint": tint, "big": size.astype(int), "round": round_.astype(int)})


def _f(rows: pd.DataFrame) -> np.ndarray:
    return np.asarray((rows["big"] == 1) ^ ((rows["tint"] == "g") & (rows["round"] == 1)))


def _fitted(cls: Any) -> Any:
    table = _table()
    return cls(Background(table, Binarizer().fit(table)), components=2)


def _truth(D: Any, fixed: dict[int, int]) -> tuple[float, np.ndarray]:
    """Noise sensitivity, and the probability of each feature, by going through all states."""
    codes = np.array(list(product(*(range(n) for n in D.mixture.cardinalities))))
    # A state of a category, or of a number of two values, is a value.
    rows, bits = D.background.assemble(D.rows_of(codes, np.random.default_rng(0)))
    inside = np.all([bits[:, j] == b for j, b in fixed.items()] or [[True] * len(rows)], axis=0)
    chance = np.exp(D.mixture.log_likelihood(codes))
    chance = np.where(inside, chance, 0)
    chance /= chance.sum()
    value, total = _f(rows), 0.0
    for kept in product((True, False), repeat=3):
        likely = np.prod([1 - NOISE if own else NOISE for own in kept])
        columns = [c for c, own in zip(rows, kept, strict=True) if own]
        groups = (
            rows[columns].astype(str).agg("|".join, axis=1)
            if columns
            else pd.Series("", rows.index)
        )
        for group in groups.unique():
            own = np.asarray(groups == group)
            mass = chance[own].sum()
            if mass:
                yes = chance[own & value].sum() / mass
                total += likely * mass * 2 * yes * (1 - yes)
    return total, chance @ bits


@pytest.mark.parametrize(("cls", "fixed"), [(Mixture, {}), (ChowLiu, {3: 1}), (ChowLiu, {0: 0})])
def test_noise_and_scores_by_going_through_all_states(cls: Any, fixed: dict[int, int]) -> None:
    D = _fitted(cls)
    truth, shares = _truth(D, fixed)
    found = []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        scores = stabilising_scores(_f, D, NOISE, PAIRS, rng, fixed)
        found.append([noise_sensitivity(_f, D, NOISE, PAIRS, rng, fixed), *scores])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / (RUNS - 1) ** 0.5
    expected = [truth]
    for j in range(D.n_features):
        each = ((0, 1 - shares[j]), (1, shares[j]))
        rest = [share * _truth(D, {**fixed, j: b})[0] for b, share in each if share > 1e-9]
        expected.append(0.0 if j in fixed else truth - sum(rest))
    assert (abs(mean - expected) < 5 * error + 1e-3).all(), (mean, expected, error)


def test_a_copy_of_a_column_certifies_as_well() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 400)
    rows = np.column_stack([first, np.where(rng.random(400) < 0.99, first, 1 - first)])
    D = ChowLiu(Background(np.column_stack([rows, rng.integers(0, 2, (400, 3))])))
    found = certificate(lambda z: z[:, 0], D.background.rows[0], 3, rows=D, epsilon=0.1)
    assert found is not None
    assert found.features in ((0,), (1,))


def test_the_engine_takes_fitted_distributions() -> None:
    table = _table()
    explainer = cpx.Explainer(_f, table, distribution="mixture{components=2}")
    problem = explainer.problem(table.iloc[3], k=4, objective="loss")
    result = cpx.solve(problem, "certificates{pairs=2000}")
    assert result.verified is True
    assert result.explanation is not None
    assert result.explanation.precision is not None
    assert result.explanation.precision >= 0.9
