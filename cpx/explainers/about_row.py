"""What an explanation shows of the row: its values, and how sure the model is of its class."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import AboutRow
from cpx.data.base import Distribution
from cpx.data.condition import Equals, OneOf
from cpx.data.oracle import KnownRow, in_trained_order, labels
from cpx.data.targets import AskedNumbers
from cpx.trees.form import TreeModel
from cpx.trees.regressors import LiveNumbers


def known_rows(classifier: Any, distribution: Distribution, rows: Sequence[Any]) -> list[KnownRow]:
    """Read rows and ask the classifier about them, all that have the same types at once."""
    from cpx.data.frames import stacked  # loads pandas

    read, found = distribution.read_many(rows), dict[int, KnownRow]()
    for places, table in stacked([one.row for one in read]):
        said = [*labels(classifier, table)]
        for place, label, about in zip(places, said, of_rows(classifier, table, said)):
            x = read[place] if distribution.takes_read_rows else rows[place]
            found[place] = KnownRow(x, label, about)
    return [found[place] for place in range(len(rows))]


def of_rows(classifier: Any, rows: Any, labels: Sequence[Any]) -> list[AboutRow]:
    """Return what a classifier says of rows of these labels, without the values of the rows."""
    if (predicted := _predicted(classifier, rows)) is not None:
        return [AboutRow((), predicts=told) for told in predicted]
    classes = getattr(classifier, "classes_", None)
    said = None if classes is None else _probabilities(classifier, rows)
    if classes is None or said is None or said.shape != (len(labels), len(classes)):
        return [AboutRow(()) for _ in labels]
    known = [*classes]
    return [
        with_probability((), [*map(float, shares)], [c == label for c in known])
        for label, shares in zip(labels, said)
    ]


def _predicted(classifier: Any, rows: Any) -> list[str] | None:
    """Return the numbers that a model predicts, and on which side of limits they are."""
    if isinstance(classifier, AskedNumbers):
        return [classifier.target.told(float(value)) for value in classifier.values(rows)]
    ask = getattr(classifier, "predicted", None)
    told: list[str] | None = None if ask is None else ask(rows)
    return told


def predicted_by_trees(model: TreeModel, x: Sequence[float]) -> str | None:
    """Return what a tree model predicts of a row, where that is a number, in words."""
    value = model.predicted(x)
    if value is None or model.prediction is None:
        return None
    said = float(value)
    if isinstance(model.live, LiveNumbers):
        said = float(model.live.values(np.array([x], dtype=np.float64))[0])
    return model.prediction.target.told(said)


def with_values(about: AboutRow, values: Iterable[Equals | OneOf]) -> AboutRow:
    """Return it with the values that the row has in some columns."""
    return replace(about, values=tuple((one.title, one.told) for one in values))


def cells_of(row: Any) -> list[Any]:
    """Return the values of a table or array of one row."""
    return row.iloc[0].tolist() if hasattr(row, "iloc") else [*np.asarray(row)[0]]


def _probabilities(classifier: Any, rows: Any) -> NDArray[np.float64] | None:
    ask = getattr(classifier, "predict_proba", None)
    if ask is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(ask(in_trained_order(classifier, rows)), dtype=np.float64)
    except Exception:  # the class is what is explained; a probability is told where there is one
        return None


def of_trees(model: TreeModel, x: Sequence[float], columns: Sequence[int]) -> AboutRow:
    """Return what is known of a row of a tree model, of which an explanation names columns."""
    named = [model.attributes[a] for a in columns]
    values = [(one.title, one.in_words(x[a])) for one, a in zip(named, columns)]
    if (predicts := predicted_by_trees(model, x)) is not None:
        return AboutRow(tuple(values), predicts=predicts)
    own, said = int(model.predict_index(x)[0]), probabilities_by_trees(model, x)
    if said is None:
        return AboutRow(tuple(values))
    return with_probability(values, said, [i == own for i in range(len(said))])


def probabilities_by_trees(model: TreeModel, x: Sequence[float]) -> list[float] | None:
    """Return the probability of each class of a row; None where the model gives none."""
    said = None
    if model.live is not None:
        row = np.array([x], dtype=np.float64)
        known = model.live.said.get(row.tobytes())
        if known is not None and len(known) == len(model.classes):
            return [*map(float, known)]
        table = model.live.probabilities(row, len(model.classes))
        said = None if table is None else [*map(float, table[0])]
    elif model.rule in ("average", "vote"):
        scores = model.scores(x)
        said = [float(score / sum(scores)) for score in scores] if sum(scores) else None
    return said if said is not None and len(said) == len(model.classes) else None


def with_probability(
    values: Sequence[tuple[str, str]], said: Sequence[float], own: Sequence[bool]
) -> AboutRow:
    """Return what is known of a row of these values: how likely its class is, and the next.

    said: The probability of each class.
    own: Which class is that of the row.
    """
    mine = [p for p, yes in zip(said, own) if yes]
    others = [p for p, yes in zip(said, own) if not yes]
    if len(mine) != 1:
        return AboutRow(tuple(values))
    return AboutRow(tuple(values), mine[0], max(others, default=0.0))
