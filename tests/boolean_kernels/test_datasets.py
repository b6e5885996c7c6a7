"""The data sets are those that are published, and their rules are right."""

from __future__ import annotations

import numpy as np
import pytest

from cpx.errors import InvalidOption, UnknownName
from cpx.models.kernel_rule.boolean_kernels import (
    artificial,
    dataset,
    monks,
    tic_tac_toe,
    with_noise,
)
from cpx.models.kernel_rule.boolean_kernels.datasets import DATASETS
from cpx.models.kernel_rule.form import true_of


@pytest.mark.parametrize("name", DATASETS)
def test_the_rule_is_true_of_the_positive_rows_alone(name: str) -> None:
    data = dataset(name)
    assert (true_of(data.rule, data.X) == data.y).all()
    assert len(set(data.X.sum(axis=1).tolist())) == 1
    assert len(np.unique(data.X, axis=0)) == len(data.X) == len(data.y)
    assert len(data.features) == data.X.shape[1]


def test_sizes_are_those_of_the_paper() -> None:
    assert tic_tac_toe().X.shape == (958, 27)
    # UCI: 626 boards on which x has won, 16 draws.
    assert tic_tac_toe().y.sum() == 626
    blank = tic_tac_toe().X[:, 2::3].any(axis=1)
    assert (~blank & ~tic_tac_toe().y).sum() == 16
    assert monks(1).X.shape == monks(3).X.shape == (432, 17)
    assert (monks(1).y.sum(), monks(3).y.sum()) == (216, 228)
    for name in DATASETS[3:]:
        d, c = int(name[5]), int(name[8])
        data = dataset(name, seed=1)
        assert data.X.shape == (1000, 30)
        assert len(data.rule) == d
        assert max(map(len, data.rule)) == c


def test_seeds_and_noise_repeat() -> None:
    assert (artificial("art-d5-c4", seed=2).X == artificial("art-d5-c4", seed=2).X).all()
    assert artificial("art-d5-c4", seed=2).rule != artificial("art-d5-c4", seed=3).rule
    y = tic_tac_toe().y
    assert (with_noise(y, 0.05, 1) != y).sum() == 48
    assert (with_noise(y, 0.05, 1) == with_noise(y, 0.05, 1)).all()


def test_wrong_names_and_numbers_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'monks-1'"):
        dataset("monks1")
    with pytest.raises(UnknownName):
        artificial("tic-tac-toe")
    with pytest.raises(InvalidOption, match="number must be 1 or 3"):
        monks(2)
    with pytest.raises(InvalidOption, match="ones must be an integer from 5 to 25"):
        artificial("art-d2-c4", ones=2)
    with pytest.raises(InvalidOption, match="share must be"):
        with_noise(np.zeros(3, dtype=bool), 1.5, 0)
