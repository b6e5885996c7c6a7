"""Samples whose labels are known functions of random bits, or of a trained classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.samples import Samples
from cpx.errors import InvalidOption

Bools = NDArray[np.bool_]

_NOISE = 0.1
"""Share of the labels that are turned over."""

_NEEDLES = 4


@dataclass(frozen=True)
class Drawn:
    """Samples, and how to draw as many fresh ones of the same definition.

    again: Takes a random generator; None where the samples are the definition.
    """

    samples: Samples
    again: Callable[[np.random.Generator], Samples] | None = None


def uniform(m: int, d: int, rng: np.random.Generator) -> Bools:
    """Return agreement with x of m samples of the uniform distribution."""
    return rng.random((m, d)) < 0.5


def planted(m: int, d: int, k: int, rng: np.random.Generator) -> Drawn:
    """Plant a monomial of k features: the class of x, but for a tenth of the samples."""
    agreement = uniform(m, d, rng)
    chosen = rng.choice(d, min(k, d), replace=False)

    def labelled(agreement: Bools, rng: np.random.Generator) -> Samples:
        same = agreement[:, chosen].all(axis=1)
        return Samples(agreement, same ^ (rng.random(m) < _NOISE))

    return Drawn(labelled(agreement, rng), lambda rng: labelled(uniform(m, d, rng), rng))


def parity(m: int, d: int, k: int, rng: np.random.Generator) -> Drawn:
    """Take the parity of k features as the class, which no smaller set tells anything about."""
    agreement = uniform(m, d, rng)
    chosen = rng.choice(d, min(k, d), replace=False)

    def labelled(agreement: Bools) -> Samples:
        return Samples(agreement, (~agreement[:, chosen]).sum(axis=1) % 2 == 0)

    return Drawn(labelled(agreement), lambda rng: labelled(uniform(m, d, rng)))


def dnf(m: int, d: int, k: int, rng: np.random.Generator) -> Drawn:
    """Take a random formula as the classifier: 2 k terms of three literals, joined by or."""
    x = rng.random(d) < 0.5
    z = uniform(m, d, rng) ^ ~x
    terms = [rng.choice(d, min(3, d), replace=False) for _ in range(2 * k)]
    signs = [rng.random(term.size) < 0.5 for term in terms]

    def value(rows: Bools) -> Bools:
        met = [(rows[:, t] == s).all(axis=1) for t, s in zip(terms, signs, strict=True)]
        return np.asarray(np.any(met, axis=0), dtype=np.bool_)

    def labelled(z: Bools) -> Samples:
        return Samples(z == x, value(z) == value(x[None])[0])

    return Drawn(labelled(z), lambda rng: labelled(uniform(m, d, rng)))


def needle(m: int, d: int, k: int, rng: np.random.Generator) -> Drawn:
    """Hide four samples of the class of x, which agree on the same k features, among m."""
    agreement = uniform(m, d, rng)
    same = np.zeros(m, dtype=np.bool_)
    found = rng.choice(m, min(_NEEDLES, m), replace=False)
    same[found] = True
    agreement[np.ix_(found, rng.choice(d, min(k, d), replace=False))] = True
    return Drawn(Samples(agreement, same))


def trained(kind: str, m: int, d: int, seed: int) -> Drawn:
    """Label uniform samples by a classifier trained on the first d features of a table.

    The table is breast cancer of scikit-learn, three quantiles of each column; the row x is the
    test row with the number of the seed. The classifier depends on scikit-learn's version.
    """
    most = _table()[0].shape[1]
    if d > most:
        raise InvalidOption(f"d must be at most {most}, the features of the table: {d}")
    classify, test = _classifier(kind, d)
    x = test[seed % len(test)]

    def labelled(rng: np.random.Generator) -> Samples:
        z = rng.integers(0, 2, (m, d), dtype=np.int8)
        return Samples(z == x, classify(z) == classify(x[None])[0])

    return Drawn(labelled(np.random.default_rng(seed)), labelled)


@cache
def _table() -> tuple[NDArray[np.int8], Any]:
    from sklearn.datasets import load_breast_cancer

    from cpx.data.binarizer import Binarizer

    table, target = load_breast_cancer(return_X_y=True, as_frame=True)
    binarizer = Binarizer(n_bins=3, strategy="quantile").fit(table)
    return binarizer.transform(table).astype(np.int8), target


@cache
def _classifier(kind: str, d: int) -> tuple[Callable[[Any], Any], NDArray[np.int8]]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    from cpx.data.perceptron import MLPClassifier

    bits, target = _table()
    train, test, labels, _ = train_test_split(bits[:, :d], target, random_state=0)
    model = (
        MLPClassifier(random_state=0)
        if kind == "perceptron"
        else RandomForestClassifier(n_estimators=25, random_state=0)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the perceptron's limit of iterations
        return model.fit(train, labels).predict, test
