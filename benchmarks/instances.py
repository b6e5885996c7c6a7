"""Instances for the benchmarks, made from data that ships with scikit-learn."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np

from cpx import KMonomial, Samples


@cache
def _network():
    """Train the classifier of the paper: a default MLP on 3 bins of each column."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    from cpx.data import Binarizer
    from cpx.data.perceptron import MLPClassifier

    table, target = load_breast_cancer(return_X_y=True, as_frame=True)
    binarizer = Binarizer(n_bins=3, strategy="quantile").fit(table)
    bits = binarizer.transform(table).astype(np.int8)
    train, test, train_target, _ = train_test_split(bits, target, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = MLPClassifier(random_state=0).fit(train, train_target)
    return network, test


def central(m: int = 1000, k: int = 5, row: int = 0, seed: int = 0, d: int | None = None):
    """Return the central problem: breast cancer, an MLP, uniform samples of {0,1}^d.

    Koriche et al., section 4.1: default multi-layer perceptron on 3 bins per attribute,
    samples uniform over {0,1}^d, here d = 90, k = 5; the table is not one of theirs. Row 0 of
    the test rows is of the class that one uniform sample in five gets, which makes its problem
    hard: the best rule beats the trivial ones by a hair. With ``d`` only the first d features
    are kept.
    """
    network, test = _network()
    x = test[row]
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, (m, x.size), dtype=np.int8)
    same = network.predict(z) == network.predict(x[None])[0]
    return KMonomial(Samples((z == x)[:, :d], same), k=k, name=f"breast-cancer-{row}-m{m}")
