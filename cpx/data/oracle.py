"""The example oracle EX(f, D), f and a distribution at x; the precision of a rule; labels of f."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpx.data.base import Distribution, ReadRow
from cpx.data.statistics import clopper_pearson
from cpx.errors import ClassifierError, shortened, shown
from cpx.support.shares import ExactFloat, share_text
from cpx.support.validation import open_unit, positive_integer, valid_seed

BoolArray = npt.NDArray[np.bool_]


class KnownRow(NamedTuple):
    """A row that the classifier was asked about.

    x: In a form that the distribution reads.
    label: Its class.
    about: What else is known of it, for who shows it.
    """

    x: Any
    label: Any
    about: Any = None


@dataclass(frozen=True, eq=False)
class Oracle:
    """A classifier, the instance x it is asked about, and the distribution of the rows.

    A problem is stated on samples, and that is all that is saved and all that exact engines
    see. A method that draws samples of its own needs what they come from;
    :class:`cpx.Explainer` attaches it to the problems it states, see
    :meth:`cpx.models.Problem.with_oracle`.

    Parameters
    ----------
    classifier : object with ``predict``, or callable
        f, on rows as the distribution makes them.
    x : one row
        In any form that ``distribution.encode`` takes.
    distribution : Distribution
        D.
    said : cpx.data.samples.Labelled, optional
        What f says of all rows of D, where it was asked before.
    known : KnownRow, optional
        What f says of x, where it was asked before.

    Examples
    --------
    >>> from cpx.data import Uniform
    >>> oracle = Oracle(lambda z: z[:, 0], [1, 0], Uniform(2))
    >>> rows, agreement = oracle.draw(100, [0], np.random.default_rng(0))
    >>> agreement.shape, bool(agreement[:, 0].all()), bool(oracle.same(rows).all())
    ((100, 2), True, True)
    """

    classifier: Any
    x: Any
    distribution: Distribution
    said: Any = None
    known: KnownRow | None = None

    @cached_property
    def bits(self) -> BoolArray:
        """Boolean features of x, shape (d,)."""
        return self._read.bits

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """The literal of each feature that is true of x."""
        return self.distribution.literal_names(self.bits)

    @cached_property
    def label(self) -> Any:
        """The class f(x)."""
        if self.known is not None:
            return self.known.label
        return labels(self.classifier, self._read.row)[0]

    @cached_property
    def _read(self) -> ReadRow:
        return ReadRow(*self.distribution.read(self.x))

    @property
    def row(self) -> Any:
        """X as f takes it: a table or an array of one row."""
        return self._read.row

    @property
    def fastest(self) -> Any:
        """The instance in the form that D reads fastest."""
        return self._read if self.distribution.takes_read_rows else self.x

    def same(self, rows: Any) -> BoolArray:
        """Return which rows have the class of x, shape (m,).

        Raises
        ------
        ClassifierError
            When f raises or does not answer with one label per row.
        """
        return np.asarray(labels(self.classifier, rows) == self.label, dtype=bool)

    def draw(
        self, m: int, features: Sequence[int], rng: np.random.Generator
    ) -> tuple[Any, BoolArray]:
        """Draw samples that agree with x on the given features.

        Parameters
        ----------
        m : int
        features : sequence of int
            S; empty for samples of D itself.
        rng : numpy.random.Generator

        Returns
        -------
        rows : table of m rows
            As the classifier takes them.
        agreement : (m, d) array of bool
            Where they have the value of x.

        Raises
        ------
        DataError
            When D gives z_S = x_S no mass.
        """
        D, x = self.distribution, self.fastest
        batch = D.sample_given(m, x, features, rng) if features else D.sample(m, rng, x)
        return batch.rows, batch.bits == self.bits


@dataclass(frozen=True)
class PrecisionEstimate:
    """Precision on samples that were not used to find the rule.

    ``agreeing`` of ``drawn`` samples of the distribution conditioned on the rule
    have the class of x; ``low`` and ``high`` are the exact (Clopper-Pearson)
    limits of the precision at the level ``confidence``.

    Where all rows of the distribution are at hand, it is the precision itself: ``drawn`` is
    the number of rows that the rule covers, ``low`` equals ``high``, and the confidence is 1.
    """

    agreeing: int
    drawn: int
    low: float
    high: float
    confidence: float = 0.95

    @property
    def value(self) -> ExactFloat:
        """The observed share."""
        return ExactFloat(Fraction(self.agreeing, self.drawn))

    @classmethod
    def known(cls, agreeing: int, covered: int) -> PrecisionEstimate:
        """Return the precision of a rule that covers so many of all rows there are.

        Examples
        --------
        >>> print(PrecisionEstimate.known(313, 318))
        0.984, exact: 313 of the 318 rows that it covers
        """
        share = agreeing / covered
        return cls(agreeing, covered, share, share, 1.0)

    @classmethod
    def measured(cls, agreeing: int, drawn: int, confidence: float) -> PrecisionEstimate:
        """Return the precision of a rule that was measured on so many samples drawn given it."""
        return cls(agreeing, drawn, *clopper_pearson(agreeing, drawn, confidence), confidence)

    @property
    def exact(self) -> bool:
        """Whether this is the precision itself, and no estimate."""
        return self.confidence == 1

    def __str__(self) -> str:
        if self.exact:
            told = f"{self.agreeing} of the {self.drawn} rows that it covers"
            return f"{share_text(self.value)}, exact: {told}"
        return (
            f"{share_text(self.value)} [{share_text(self.low)}, {share_text(self.high)}] "
            f"({100 * self.confidence:.10g}% interval, {self.drawn} fresh samples)"
        )


def estimate_precision(
    f: Any,
    x: Any,
    D: Distribution,
    features: Sequence[int],
    n: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> PrecisionEstimate:
    """Estimate the precision of a monomial on fresh samples.

    Draws n samples of D conditioned on z_S = x_S and counts those with the class of x.

    Parameters
    ----------
    f : object with ``predict``, or callable
        The classifier.
    x : one row
        The explained instance.
    D : Distribution
        The distribution of the statement.
    features : sequence of int
        The monomial S; empty for the precision of always predicting the class of x.
    n : int
        Number of fresh samples.
    seed : int
        Non-negative. The stream is not the one of ``Samples.draw`` with the same seed, so
        the samples are independent of those the rule was found on.
    confidence : float
        Level of the Clopper-Pearson interval.

    Returns
    -------
    PrecisionEstimate

    Raises
    ------
    DataError
        When x does not fit D.
    NoMass
        When D gives z_S = x_S no mass.
    ClassifierError
        When f raises or does not answer with one label per row.
    InvalidOption
        When another argument is out of range.

    Examples
    --------
    >>> from cpx.data import Uniform
    >>> conjunction = lambda z: z[:, 0] & z[:, 1]
    >>> print(estimate_precision(conjunction, [1, 1, 0], Uniform(3), [0, 1], n=100))
    1.000 [0.964, 1.000] (95% interval, 100 fresh samples)
    """
    return precision_of(Oracle(f, x, D), features, n, seed, confidence)


def precision_of(
    oracle: Oracle, features: Sequence[int], n: int, seed: int, confidence: float = 0.95
) -> PrecisionEstimate:
    """Return what :func:`estimate_precision` does, for a classifier, a row and a distribution."""
    n = positive_integer("n", n)
    open_unit("confidence", confidence)
    # The spawn key separates this stream from default_rng(seed).
    rng = np.random.default_rng(np.random.SeedSequence(valid_seed(seed), spawn_key=(1,)))
    batch = oracle.distribution.sample_given(n, oracle.fastest, features, rng)
    agreeing = int(np.count_nonzero(oracle.same(batch.rows)))
    return PrecisionEstimate.measured(agreeing, n, float(confidence))


def labels(f: Any, rows: Any) -> npt.NDArray[Any]:
    """Return the labels the classifier gives to the rows.

    Parameters
    ----------
    f : object with ``predict``, or callable
        The classifier; ``predict`` is taken when there is one.
    rows : data frame or (m, n) array
        What f takes.

    Returns
    -------
    (m,) array
        One label per row; an answer of shape (m, 1) is flattened.

    Raises
    ------
    ClassifierError
        When f is no classifier, raises, or answers with something that is not one class
        label per row: another length or number of dimensions, probabilities, missing
        labels.

    Examples
    --------
    >>> labels(lambda z: z[:, 0] > 2, np.array([[1.0], [3.0]]))
    array([False,  True])
    """
    return _checked(_answer(f, rows), len(rows), classifier_name(f))


def numbers_of(f: Any, rows: Any) -> npt.NDArray[np.float64]:
    """Return the number that a model predicts of each row, shape (m,).

    Raises ClassifierError: When it is no model, raises, or answers with something that is not one
        finite number per row.

    >>> numbers_of(lambda z: z[:, 0] / 2, np.array([[1.0], [3.0]]))
    array([0.5, 1.5])
    """
    name, answer = classifier_name(f), _answer(f, rows)
    told = f"the model {name} must answer with a number for each of {len(rows)} rows"
    try:
        array = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ClassifierError(f"{told}: {shortened(error)}") from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.shape != (len(rows),):
        raise ClassifierError(f"{told}, got the shape {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.argmax(~np.isfinite(array)))
        raise ClassifierError(f"{told}, got {shown(array[row].item())} for row {row}")
    return array


def _answer(f: Any, rows: Any) -> Any:
    """Ask a model about a copy of the rows."""
    ask = getattr(f, "predict", f)
    if not callable(ask) or isinstance(f, type):
        raise ClassifierError(
            f"the classifier must have a method predict or be callable, got {shown(f)}"
        )
    try:
        rows = in_trained_order(f, rows)
        # Some classifiers scale in place: the table of the caller is not for that.
        return ask(rows.copy() if hasattr(rows, "copy") else rows)
    except ClassifierError:
        raise
    except Exception as error:
        raise ClassifierError(
            f"the classifier {classifier_name(f)} raised {type(error).__name__}: "
            f"{shortened(error)}"
        ) from error


def in_trained_order(f: Any, rows: Any) -> Any:
    """Return a frame with its columns in the order in which a model was trained on them.

    Some models refuse another order, and some take columns by position whatever they are called.
    """
    names, given = getattr(f, "feature_names_in_", None), getattr(rows, "columns", None)
    if names is None or given is None or [*given] == [*range(len(given))]:
        return rows  # by position
    # LightGBM writes numbers as digits, and spaces as underscores.
    trained, own = ([str(name).replace(" ", "_") for name in some] for some in (names, given))
    if trained == own or len({*own}) < len(own) or {*trained} != {*own}:
        return rows
    return rows.iloc[:, [own.index(name) for name in trained]]


def contrary(f: Any, row: str) -> str:
    """Say that a model gives a row another class than when it is asked about it alone."""
    return (
        f"{classifier_name(f)} gives {row} another class among other rows than alone: its answers "
        "are random, or depend on the rows beside"
    )


def classifier_name(f: Any) -> str:
    """Return the class name of a classifier, or the name of a function.

    Of a scikit-learn pipeline, the last step is named too: ``Pipeline(MLPClassifier)``.

    >>> classifier_name(labels), classifier_name(np.random.default_rng(0))
    ('labels', 'Generator')
    """
    if type(f).__name__ == "AskedNumbers":
        return classifier_name(f.model)
    if type(f).__name__ == "Pipeline" and getattr(f, "steps", None):
        return f"Pipeline({type(f.steps[-1][1]).__name__})"
    if hasattr(f, "predict") or not hasattr(f, "__name__"):
        return type(f).__name__
    return str(f.__name__)


def _checked(answer: Any, m: int, name: str) -> npt.NDArray[Any]:
    """Return the answer of a classifier as m labels, or say what it is instead."""
    from pandas import isna

    # A scalar, a string, None or a generator has no shape, and no label per row.
    if not isinstance(answer, (list, tuple)) and not hasattr(answer, "__array__"):
        raise ClassifierError(
            f"the classifier {name} must answer with an array of labels, "
            f"got {type(answer).__name__}"
        )
    try:
        array = np.asarray(answer)
    except Exception as error:
        raise ClassifierError(
            f"the classifier {name} must answer with an array of labels ({shortened(error)})"
        ) from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim == 2 and array.shape[0] == m:
        raise ClassifierError(
            f"the classifier {name} answered with an array of shape {array.shape}, and one "
            "label per row is explained: of several take one, such as lambda rows: "
            "model.predict(rows)[:, 0]; of probabilities the greatest, such as lambda rows: "
            "proba(rows).argmax(axis=1)"
        )
    if array.shape != (m,):
        raise ClassifierError(
            f"the classifier {name} answered with shape {array.shape} for {m} rows: "
            "one label per row expected"
        )
    if array.dtype.kind not in "biufUSO":
        raise ClassifierError(
            f"the classifier {name} answered with entries of type {array.dtype}, no class labels"
        )
    missing = isna(array)
    if missing.any():
        raise ClassifierError(
            f"the classifier {name} gave no label (NaN or None) to {int(missing.sum())} "
            f"of {m} rows, the first being row {int(np.flatnonzero(missing)[0])}"
        )
    if array.dtype.kind == "f" and (array != np.floor(array)).any():
        value = array[array != np.floor(array)][0]
        raise ClassifierError(
            f"the classifier {name} answered with numbers such as {shown(value.item())}: "
            "these are probabilities or a regression, and class labels are needed: say what is "
            "asked of them, above=50_000, below=... or between=(low, high)"
        )
    return array
