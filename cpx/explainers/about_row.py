"""What an explanation shows of the row: its values, and how sure the model is of its class."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cpx.answers.explanation import AboutRow
from cpx.data.targets import AskedNumbers
from cpx.support.cells import is_missing, plain
from cpx.trees.attribute import value_text
from cpx.trees.form import TreeModel
from cpx.trees.regressors import LiveNumbers


def of_classifier(
    classifier: Any, row: Any, label: Any, places: Iterable[int], names: Sequence[str]
) -> AboutRow:
    """Return what is known of a row of any classifier.

    Parameters
    ----------
    classifier : object
        Asked for probabilities where it has ``predict_proba`` and ``classes_``.
    row : table or array of one row
        As the classifier takes it.
    label : label
        What it says of the row.
    places : iterable of int
        The columns that the explanation speaks of.
    names : sequence of str
        Of these columns.
    """
    cells = row.iloc[0].tolist() if hasattr(row, "iloc") else list(np.asarray(row)[0])
    values = [(name, _text(cells[place])) for place, name in zip(places, names)]
    if (predicts := _predicted(classifier, row)) is not None:
        return AboutRow(tuple(values), predicts=predicts)
    classes = getattr(classifier, "classes_", None)
    said = _probabilities(classifier, row) if classes is not None else None
    if classes is None or said is None or len(said) != len(classes):
        return AboutRow(tuple(values))
    return _with_probability(values, said, [c == label for c in classes])


def _predicted(classifier: Any, row: Any) -> str | None:
    """Return the number that a model predicts, and on which side of limits it is."""
    if isinstance(classifier, AskedNumbers):
        return classifier.target.told(float(classifier.values(row)[0]))
    ask = getattr(classifier, "predicted", None)
    return None if ask is None else ask(row)


def predicted_by_trees(model: TreeModel, x: Sequence[float]) -> str | None:
    """Return what a tree model predicts of a row, where that is a number, in words."""
    value = model.predicted(x)
    if value is None or model.prediction is None:
        return None
    said = float(value)
    if isinstance(model.live, LiveNumbers):
        said = float(model.live.values(np.array([x], dtype=np.float64))[0])
    return model.prediction.target.told(said)


def _probabilities(classifier: Any, row: Any) -> Sequence[float] | None:
    ask = getattr(classifier, "predict_proba", None)
    if ask is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = np.asarray(ask(row), dtype=np.float64)
    except Exception:  # the class is what is explained; a probability is told where there is one
        return None
    return [*map(float, said[0])] if said.ndim == 2 and len(said) == 1 else None


def of_trees(model: TreeModel, x: Sequence[float], columns: Iterable[int]) -> AboutRow:
    """Return what is known of a row of a tree model, of which an explanation names columns."""
    values = [(model.attributes[a].name, _text(x[a])) for a in columns]
    if (predicts := predicted_by_trees(model, x)) is not None:
        return AboutRow(tuple(values), predicts=predicts)
    own, said = int(model.predict_index(x)[0]), probabilities_by_trees(model, x)
    if said is None:
        return AboutRow(tuple(values))
    return _with_probability(values, said, [i == own for i in range(len(said))])


def probabilities_by_trees(model: TreeModel, x: Sequence[float]) -> list[float] | None:
    """Return the probability of each class of a row; None where the model gives none."""
    said = None
    if model.live is not None:
        row = np.array([x], dtype=np.float64)
        table = model.live.probabilities(row, len(model.classes))
        said = None if table is None else [*map(float, table[0])]
    elif model.rule in ("average", "vote"):
        scores = model.scores(x)
        said = [float(score / sum(scores)) for score in scores] if sum(scores) else None
    return said if said is not None and len(said) == len(model.classes) else None


def _with_probability(
    values: Sequence[tuple[str, str]], said: Sequence[float], own: Sequence[bool]
) -> AboutRow:
    mine = [p for p, yes in zip(said, own) if yes]
    others = [p for p, yes in zip(said, own) if not yes]
    if len(mine) != 1:
        return AboutRow(tuple(values))
    return AboutRow(tuple(values), mine[0], max(others, default=0.0))


def _text(value: Any) -> str:
    value = plain(value)
    if is_missing(value):
        return "missing"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value_text(float(value)) if number else str(value)
