"""The protocol of Koriche et al., section 4.1: black box, instances, samples."""

from __future__ import annotations

import copy
import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.errors import DataError, InvalidOption
from cpx.support.validation import open_unit, positive_integer, valid_seed

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.papers.sources import Table
    from cpx.models.monomial.explainers.rule import RuleExplainer

__all__ = ["BlackBox", "Protocol", "instance_seed", "train"]


@dataclass(frozen=True)
class Protocol:
    """What all tasks of a reproduction share; part of the identity of each.

    Parameters
    ----------
    seed : int
        Seed of the split, the classifier, the samples and the engines.
    time_limit : float or None
        Seconds of each solve; None for no limit.
    fresh : int
        Samples on which a precision error is measured.
    test_share : float
        Share of the rows that the classifier is not trained on and the instances are from.
    n_bins : int
        Bins of equal width of a numeric column.
    """

    seed: int = 0
    time_limit: float | None = 60.0
    fresh: int = 1000
    test_share: float = 0.25
    n_bins: int = 3

    def __post_init__(self) -> None:
        valid_seed(self.seed)
        positive_integer("fresh", self.fresh)
        open_unit("test_share", self.test_share)
        if positive_integer("n_bins", self.n_bins) < 2:
            raise InvalidOption(f"n_bins must be at least 2, got {self.n_bins}")
        # Checked like the limit of any other solve, and an integer is the same limit.
        from cpx.options import SolveOptions

        limit = SolveOptions(time_limit=self.time_limit).time_limit
        object.__setattr__(self, "time_limit", limit)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A trained classifier with the instances whose predictions are explained.

    Attributes
    ----------
    explainer : RuleExplainer
        Of the classifier under the uniform distribution on {0,1}^d.
    rows : data frame
        The test rows in a random order.
    numbers : (n,) array of int
        Their positions in the table.
    accuracy : float
        Of the classifier on the test rows.
    """

    explainer: RuleExplainer
    rows: pd.DataFrame
    numbers: np.ndarray[Any, np.dtype[np.int64]]
    accuracy: float

    @property
    def d(self) -> int:
        """Number of binary features."""
        return int(self.explainer.distribution.n_features)

    def row(self, instance: int) -> int:
        """Return the position in the table of an instance.

        Instances beyond the number of test rows start again with the first row: their
        samples are others.
        """
        return int(self.numbers[instance % len(self.numbers)])

    def instance(self, instance: int, seed: int) -> tuple[pd.DataFrame, RuleExplainer]:
        """Return the row of an instance, and the explainer with a seed of its own for it."""
        at = instance % len(self.numbers)
        explainer = copy.copy(self.explainer)
        explainer.seed = instance_seed(seed, instance)
        return self.rows.iloc[[at]], explainer


def instance_seed(seed: int, instance: int) -> int:
    """Return the seed of the samples of an instance.

    Examples
    --------
    >>> len({instance_seed(seed, i) for seed in (0, 1) for i in range(100)})
    200
    """
    # Engines take seeds below 2**31.
    return int(np.random.SeedSequence([seed, instance]).generate_state(1)[0] >> 1)


def train(table: Table, protocol: Protocol) -> BlackBox:
    """Train the black box of a table: a default multi-layer perceptron on binary features.

    Parameters
    ----------
    table : Table
    protocol : Protocol

    Returns
    -------
    BlackBox

    Raises
    ------
    DataError
        When the table is too small to split, or the training rows have a single class.

    References
    ----------
    Koriche, Lagniez, Mengel, Tran: Learning Model Agnostic Explanations via Constraint
    Programming (ECML PKDD 2024), section 4.1.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import train_test_split
    from threadpoolctl import threadpool_limits

    from cpx.data.perceptron import MLPClassifier
    from cpx.models.monomial.explainers.rule import RuleExplainer

    classifier = MLPClassifier(random_state=protocol.seed)
    explainer = RuleExplainer(
        classifier,
        table.X,
        n_bins=protocol.n_bins,
        strategy="uniform",
        distribution="uniform",
        categorical=table.categorical,
        seed=protocol.seed,
    )
    bits = explainer.binarizer.transform(table.X).astype(np.int8)
    classes = np.asarray(table.y).astype(str)
    if len(classes) < 2:
        raise DataError("a table of one row cannot be split into training and test rows")
    seen, kept = train_test_split(
        np.arange(len(classes)), test_size=protocol.test_share, random_state=protocol.seed
    )
    if len(set(classes[seen])) < 2:
        raise DataError(f"all training rows are of the class {classes[seen][0]!r}")
    # Sums in another order are other sums: the weights must not depend on the cores.
    with warnings.catch_warnings(), threadpool_limits(1):
        # The default number of iterations is part of the protocol, enough or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(bits[seen], classes[seen])
        accuracy = float(classifier.score(bits[kept], classes[kept]))
    return BlackBox(explainer, table.X.iloc[kept].reset_index(drop=True), kept, accuracy)
