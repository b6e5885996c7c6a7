"""The black box of the experiment: a network of five hidden layers, trained on Adult."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.papers.datasets import choose
from cpx.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.papers.sources import Table

__all__ = ["DATASET", "HIDDEN", "Network", "train"]

Labels = npt.NDArray[np.bool_]

DATASET = choose(["adult"])[0]

HIDDEN = (100, 100, 50, 50, 10)
"""Units of the five hidden layers; with an L2 penalty of 0.001, by the authors' code."""

UNUSED = ("fnlwgt", "education-num")
"""Columns that the authors' code drops."""


@dataclass(frozen=True, eq=False)
class Network:
    """A trained network with the rows it is explained on.

    Attributes
    ----------
    classifier : estimator
        On rows of the table.
    train_rows, test_rows : data frame
    train_labels, test_labels : array of bool
        Which rows it puts in the greater class.
    train_accuracy, test_accuracy : float
        Of its predictions.
    """

    classifier: Any
    train_rows: pd.DataFrame
    test_rows: pd.DataFrame
    train_labels: Labels
    test_labels: Labels
    train_accuracy: float
    test_accuracy: float


def train(table: Table, seed: int, iterations: int) -> Network:
    """Train the network on 90 % of the rows.

    Parameters
    ----------
    table : Table
        With two classes.
    seed : int
        Of the split and the network.
    iterations : int
        Greatest number of passes over the training rows.

    Raises
    ------
    DataError
        When there are not two classes.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import train_test_split
    from threadpoolctl import threadpool_limits

    from cpx.data.classifiers import named_classifier
    from cpx.data.perceptron import MLPClassifier

    X = table.X.drop(columns=list(UNUSED), errors="ignore")
    classes = np.unique(np.asarray(table.y).astype(str))
    if len(classes) != 2:
        raise DataError(f"the table must have two classes, got {len(classes)}")
    y = np.asarray(table.y).astype(str) == classes[1]
    seen, kept, y_seen, y_kept = train_test_split(X, y, test_size=0.1, random_state=seed)
    network = MLPClassifier(
        hidden_layer_sizes=HIDDEN, alpha=1e-3, max_iter=iterations, random_state=seed
    )
    classifier = named_classifier("mlp", seed).set_params(classifier=network)
    # Sums in another order are other sums: the weights must not depend on the cores.
    with warnings.catch_warnings(), threadpool_limits(1):
        # The number of iterations is part of the protocol, enough or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(seen, y_seen)
        said, said_kept = classifier.predict(seen), classifier.predict(kept)
    return Network(
        classifier,
        seen.reset_index(drop=True),
        kept.reset_index(drop=True),
        np.asarray(said, dtype=bool),
        np.asarray(said_kept, dtype=bool),
        float((said == y_seen).mean()),
        float((said_kept == y_kept).mean()),
    )
