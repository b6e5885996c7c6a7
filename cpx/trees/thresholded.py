"""Models of two classes whose second one is given from some score of another model on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import UnsupportedModel, shown
from cpx.trees.floats import float_key, key_float
from cpx.trees.hold import linked
from cpx.trees.summed import ADABOOST, ONLY_RULES, Opener, Part, held_by


def threshold_part(model: Any, open_: Opener) -> Part:
    """Open a model with a threshold of its own: it gives the second class from there on."""
    held = getattr(model, "estimator_", model.estimator)
    by, least = given_threshold(model, held)
    return _cut(held, open_, type(model).__name__, by, lambda score: score >= least)


def given_threshold(model: Any, held: Any) -> tuple[str, float]:
    """Return the method that a threshold is for, and from which score on it gives the second."""
    name, response = type(model).__name__, model._get_response_method()
    tuned = getattr(model, "best_threshold_", None)
    threshold = model.threshold if tuned is None else tuned
    told = model.pos_label if tuned is None else model._curve_scorer._get_pos_label()
    if told not in (None, model.classes_[1]):
        raise UnsupportedModel(
            f"the {name} has a threshold for {shown(str(told))}, the first of its "
            f"classes; one for the second is read. {ONLY_RULES}"
        )
    by = _scored_by(held, [response] if isinstance(response, str) else response)
    if threshold == "auto":
        threshold = 0.5 if by == "predict_proba" else 0.0
    return by, float(threshold)


def calibrated_part(model: Any, open_: Opener) -> Part:
    """Open a calibrated model: of one model and two classes a threshold of its scores."""
    by, second = second_by_curve(model)
    (held,) = model.calibrated_classifiers_
    return _cut(held.estimator, open_, type(model).__name__, by, second)


def second_by_curve(model: Any) -> tuple[str, Callable[[float], bool]]:
    """Return the method whose scores one curve calibrates, and what says which are the second."""
    name, held = type(model).__name__, held_by(model, "calibrated_classifiers_")
    if len(held) > 1:
        raise UnsupportedModel(
            f"the {name} averages {len(held)} models, each by a curve of its own, which is no sum "
            f"of trees; one with ensemble=False is read. {ONLY_RULES}"
        )
    if len(model.classes_) != 2 or held[0].method not in ("sigmoid", "isotonic"):
        raise UnsupportedModel(
            f"the {name} with method={shown(held[0].method)} and {len(model.classes_)} classes is "
            "no sum of trees; one of two classes with sigmoid or isotonic is read. " + ONLY_RULES
        )
    (curve,) = held[0].calibrators

    def second(score: float) -> bool:
        p = float(np.ravel(curve.predict(np.array([score])))[0])
        return p > 1 - p

    return _scored_by(held[0].estimator, ["decision_function", "predict_proba"]), second


def _scored_by(held: Any, methods: Sequence[str]) -> str:
    return next(method for method in methods if hasattr(held, method))


def _cut(held: Any, open_: Opener, name: str, by: str, second: Callable[[float], bool]) -> Part:
    """Return the part whose second class is decided by a score of another, which must rise.

    by: The method that gives the score, "decision_function" or "predict_proba".
    second: Whether a score gives the second class.
    """
    part = open_(held)
    model, live = part.model, part.model.live
    two = len(model.base) == 2
    if live is None or (two and live.link != "average") or len(model.classes) != 2:
        raise UnsupportedModel(f"the {name} has a threshold for what is no sum of trees")
    if two:
        times = len(model.trees) if model.rule == "average" else 1
        cut = times * first_score(second, 0.0, 1.0, name)
        trees = [
            replace(t, values=_column(t.outputs, t.values, 1), outputs=(0,)) for t in model.trees
        ]
        base = model.base[1] - cut
    else:
        largest = float(np.finfo(np.float64).max)
        proba = by == "predict_proba"
        scale = live.scale if proba or model.source == ADABOOST else 1.0

        def told(score: float) -> bool:
            scores = np.array([[score * scale]])
            return second(float((linked(scores, live.link) if proba else scores)[0, 0]))

        cut = first_score(told, -largest, largest, name)
        trees, base = [*model.trees], model.base[0] - cut
    cut_model = replace(
        model,
        trees=tuple(trees),
        rule="sum",
        decision="nonnegative",
        base=(base,),
        live=replace(live, link="unknown", title=name),
        source=f"sklearn {name} of {model.source}",
    )
    return replace(part, model=cut_model)


def first_score(second: Callable[[float], bool], low: float, high: float, name: str) -> float:
    """Return the least number of a range from which on something holds."""
    if second(low) or not second(high):
        raise UnsupportedModel(
            f"the {name} does not give one class up to a score and the other from there"
        )
    below, above = float_key(low), float_key(high)
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if second(key_float(middle)) else (middle, above)
    return key_float(above)


def _column(outputs: tuple[int, ...], values: NDArray[np.float64], score: int) -> Any:
    if score in outputs:
        return values[:, [outputs.index(score)]]
    return np.zeros((len(values), 1))
