"""Models of scikit-learn that hold others, opened: pipelines, searches, votes, calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cpx.errors import ModelError, UnsupportedModel
from cpx.trees.attribute import Attribute
from cpx.trees.building import attribute_list
from cpx.trees.checks import class_labels
from cpx.trees.dates import days_of
from cpx.trees.form import TreeModel
from cpx.trees.front import Block, Front, names_and_width
from cpx.trees.pipeline import composed
from cpx.trees.summed import ONLY_RULES, Opener, Part, adaboost_part, bagging_part, voting_part
from cpx.trees.thresholded import calibrated_part, threshold_part

Reader = Callable[[Any], TreeModel]


def wraps(model: Any) -> bool:
    """Whether a model holds others that this module opens."""
    return _opener(model) is not None


def behind(model: Any) -> tuple[Block, Any]:
    """Return the transformers that a model has in front, and the model behind them.

    Of pipelines, and of searches that refit the best; another model is behind none.
    """
    opener, steps = _opener(model), tuple[Any, ...]()
    if opener is _pipeline and model.steps and hasattr(model.steps[-1][1], "predict"):
        steps, model = tuple(step for _, step in model.steps[:-1]), model.steps[-1][1]
    elif opener is _best and hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    elif opener is _frozen:
        model = model.estimator
    else:
        return (), model
    inner, last = behind(model)
    return (*steps, *inner), last


def read_wrapped(
    model: Any,
    read: Reader,
    *,
    classes: Sequence[Any] | None = None,
    attributes: Sequence[str | Attribute] | None = None,
    rows: Any = None,
) -> TreeModel:
    """Read a model that holds others, as one tree model over the columns of the table.

    read: Reads a model that holds no others.
    rows: Of the table, which say which days columns of dates have; None for none.
    Raises UnsupportedModel: Naming what is in the way.
    """
    part = _opened(model, read)
    inner, live = part.model, part.model.live
    classes = inner.classes if classes is None else class_labels(classes, len(inner.classes))
    title = type(model).__name__
    if part.blocks == ((),):
        own = inner
        if attributes is not None:
            given = attribute_list(attributes, [a.name for a in inner.attributes])
            own = inner.with_attributes(given)
        asked = live and replace(live, model=model, title=title)
        return replace(own, classes=classes, live=asked)
    names, width = names_and_width(model, part.blocks)
    absent = np.nan if inner.source.startswith("xgboost") else 0.0
    front = Front(part.blocks, names, width, absent, dates=days_of(rows, names))
    whole = live and replace(live, model=model, title=title)
    return composed(front, replace(inner, classes=classes), attributes, whole)


# ------------------------------------------------------------------ what they hold


def _opener(model: Any) -> Callable[[Any, Opener], Part] | None:
    for cls in type(model).__mro__:
        if cls.__module__.startswith(("sklearn.", "imblearn.")) and cls.__name__ in _OPENERS:
            return _OPENERS[cls.__name__]
    return _best if hasattr(model, "best_estimator_") else None


def _opened(model: Any, read: Reader) -> Part:
    opener = _opener(model)
    if opener is not None:
        return opener(model, lambda held: _opened(held, read))
    inner = read(model)
    return Part(inner, ((),), (inner.n_attributes,))


def _pipeline(model: Any, open_: Opener) -> Part:
    if not model.steps or not hasattr(model.steps[-1][1], "predict"):
        raise ModelError("the Pipeline has no model at its end")
    *front, (_, last) = model.steps
    return open_(last).behind([step for _, step in front])


def _best(model: Any, open_: Opener) -> Part:
    """Open a search for parameters: it predicts by the best that it found."""
    if not hasattr(model, "best_estimator_"):
        raise ModelError(f"the {type(model).__name__} is not fitted, or does not refit the best")
    return open_(model.best_estimator_)


def _frozen(model: Any, open_: Opener) -> Part:
    return open_(model.estimator)


def _stacked(model: Any, open_: Opener) -> Part:
    """Refuse a stack: another model stands behind its models."""
    name = type(model).__name__
    last, held = getattr(model, "final_estimator_", None), getattr(model, "estimators_", None)
    if last is None or held is None:
        raise ModelError(f"the {name} is not fitted")
    own = ", ".join(type(one).__name__ for one in held)
    raise UnsupportedModel(
        f"the {name} gives what {own} predict to a {type(last).__name__}, which is no sum of "
        "trees of the columns: each of its estimators_ by itself is read, and so is a soft "
        f"VotingClassifier of trees in its place. {ONLY_RULES}"
    )


_OPENERS: dict[str, Callable[[Any, Opener], Part]] = {
    "Pipeline": _pipeline,
    "GridSearchCV": _best,
    "RandomizedSearchCV": _best,
    "HalvingGridSearchCV": _best,
    "HalvingRandomSearchCV": _best,
    "FrozenEstimator": _frozen,
    "FixedThresholdClassifier": threshold_part,
    "TunedThresholdClassifierCV": threshold_part,
    "CalibratedClassifierCV": calibrated_part,
    "VotingClassifier": voting_part,
    "BaggingClassifier": bagging_part,
    "AdaBoostClassifier": adaboost_part,
    "StackingClassifier": _stacked,
    "StackingRegressor": _stacked,
}
