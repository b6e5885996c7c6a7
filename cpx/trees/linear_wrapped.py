"""Linear models and naive Bayes inside of others, as one sum over columns where that is exact.

Calibration by one curve and thresholds move where a sum of two classes turns; averages of
regressors and one against the rest add up. Votes, and averages of probabilities, are no such sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.targets import Target
from cpx.errors import UnsupportedModel
from cpx.trees.checks import label_list
from cpx.trees.front import Block
from cpx.trees.hold import linked
from cpx.trees.linear import Sum, Terms, kind_of_sum, sum_of
from cpx.trees.summed import ONLY_RULES, held_by
from cpx.trees.thresholded import first_score, given_threshold, second_by_curve
from cpx.trees.transformers import Subset
from cpx.trees.wrapped import behind

__all__ = ["SumPart", "kind_inside", "opened"]


@dataclass(frozen=True)
class SumPart:
    """A sum over the columns that blocks of transformers make, side by side.

    widths: How many columns each block makes.
    """

    total: Sum
    blocks: tuple[Block, ...]
    widths: tuple[int, ...]


def kind_inside(model: Any) -> str:
    """Return the class of the linear models or naive Bayes that a model holds, "" for others."""
    _, last = behind(model)
    if kind := kind_of_sum(last):
        return kind
    name = _name(last)
    if name not in _OPENERS and name not in _REFUSED:
        return ""
    kinds = [kind_inside(one) for one in _held(last)]
    return next((kind for kind in kinds if kind), "") if kinds and all(kinds) else ""


def opened(model: Any, target: Target | None, output: int | None) -> SumPart:
    """Return the sum that a model is, which has linear models or naive Bayes at its ends.

    Raises UnsupportedModel: Naming what is no sum.
    """
    steps, last = behind(model)
    if kind_of_sum(last):
        total = sum_of(last, target, output)
        return SumPart(total, (steps,), (int(last.n_features_in_),))
    name = _name(last)
    if name in _REFUSED:
        raise UnsupportedModel(_REFUSED[name](last))
    part = _OPENERS[name](last, target, output)
    return replace(part, blocks=tuple((*steps, *block) for block in part.blocks))


def _name(model: Any) -> str:
    known = {**_OPENERS, **_REFUSED}
    own = (c for c in type(model).__mro__ if c.__module__.startswith("sklearn."))
    return next((cls.__name__ for cls in own if cls.__name__ in known), "")


def _held(model: Any) -> list[Any]:
    """Return the models that one holds."""
    if hasattr(model, "calibrated_classifiers_"):
        return [one.estimator for one in model.calibrated_classifiers_]
    if hasattr(model, "estimators_"):
        return [*model.estimators_]
    held = getattr(model, "estimator_", getattr(model, "estimator", None))
    return [] if held is None else [held]


# ------------------------------------------------------------------ of two classes


def _calibrated(model: Any, target: Target | None, output: int | None) -> SumPart:
    held = model.calibrated_classifiers_[0].estimator
    by, second = second_by_curve(model)
    return _cut(model, opened(held, target, output), by, second)


def _threshold(model: Any, target: Target | None, output: int | None) -> SumPart:
    held = getattr(model, "estimator_", model.estimator)
    by, least = given_threshold(model, held)
    return _cut(model, opened(held, target, output), by, lambda score: score >= least)


def _cut(model: Any, part: SumPart, by: str, second: Callable[[float], bool]) -> SumPart:
    """Return the sum whose second class is given from some score of another one on."""
    total, name = part.total, type(model).__name__
    if len(total.classes) != 2 or (by == "predict_proba" and total.link == "unknown"):
        raise UnsupportedModel(
            f"the {name} has a threshold for what is no sum over columns. {ONLY_RULES}"
        )
    starts, terms = total.starts, total.terms
    if len(starts) == 2:
        if by != "predict_proba":
            raise UnsupportedModel(f"the {name} has a threshold for two scores. {ONLY_RULES}")
        starts, terms = ((*starts[1], *(-v for v in starts[0])),), _difference(terms)
    largest = float(np.finfo(np.float64).max)

    def told(score: float) -> bool:
        scores = np.array([[score]])
        return second(
            float((linked(scores, "sigmoid") if by == "predict_proba" else scores)[0, 0])
        )

    cut = first_score(told, -largest, largest, name)
    moved = replace(
        total,
        model=model,
        classes=label_list(model.classes_),
        starts=((*starts[0], -cut),),
        terms=terms,
        decision="nonnegative",
        link="unknown",
    )
    return replace(part, total=moved)


def _difference(terms: Terms) -> Terms:
    def of_both(column: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        found = terms(column, values)
        return found[:, [1]] - found[:, [0]]

    return of_both


# ------------------------------------------------------------------ of several models


def _average(model: Any, target: Target | None, output: int | None) -> SumPart:
    """Return the average of what regressors predict; equal transformers are one block."""
    held = held_by(model, "estimators_")
    shares = np.ones(len(held))
    if getattr(model, "weights", None) is not None:
        pairs = zip(model.weights, model.estimators)
        shares = np.array([w for w, (_, one) in pairs if not (isinstance(one, str))], dtype=float)
    shares = shares / shares.sum()
    columns = getattr(model, "estimators_features_", [None] * len(held))
    parts = []
    for one, chosen in zip(held, columns, strict=True):
        part = opened(one, target, output)
        if chosen is not None and [*chosen] != [*range(int(model.n_features_in_))]:
            subset = Subset(tuple(map(int, chosen)))
            part = replace(part, blocks=tuple((subset, *block) for block in part.blocks))
        parts.append(part)
    return _averaged(model, parts, shares.tolist())


def _one_against_rest(model: Any, target: Target | None, output: int | None) -> SumPart:
    """Return the sum of the scores of one model for each class; of two classes there is one."""
    parts = [opened(one, target, output) for one in held_by(model, "estimators_")]
    labels = label_list(model.classes_)
    if any(len(part.total.starts) != 1 for part in parts) or model.multilabel_:
        raise UnsupportedModel(
            f"the {type(model).__name__} has models of several scores each. {ONLY_RULES}"
        )
    starts = tuple(part.total.starts[0] for part in parts)
    if len(parts) == 1:
        total = replace(parts[0].total, model=model, classes=labels, link="unknown")
        return replace(parts[0], total=total)

    def own_score(p: int, added: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.zeros((len(added), len(parts)))
        found[:, [p]] = added
        return found

    total = replace(
        parts[0].total,
        model=model,
        classes=labels,
        starts=starts,
        decision="first",
        link="unknown",
    )
    return _side_by_side(total, parts, own_score)


def _averaged(model: Any, parts: Sequence[SumPart], shares: Sequence[float]) -> SumPart:
    """Return the sum of regressors, each times its share; the last of a start is its constant."""
    starts = tuple(
        (
            *(share * v for share, part in zip(shares, parts) for v in part.total.starts[k][:-1]),
            start[-1],
        )
        for k, start in enumerate(parts[0].total.starts)
    )
    total = replace(parts[0].total, model=model, starts=starts)
    return _side_by_side(total, parts, lambda p, added: shares[p] * added)


def _side_by_side(
    total: Sum,
    parts: Sequence[SumPart],
    given: Callable[[int, NDArray[np.float64]], NDArray[np.float64]],
) -> SumPart:
    """Return a sum over what the parts are over; blocks that are the same stand there once.

    given: What the terms of part p add to the scores of the whole.
    """
    blocks: dict[tuple[int, ...], tuple[Block, int, list[tuple[int, int]]]] = {}
    for p, part in enumerate(parts):
        first = 0
        for block, width in zip(part.blocks, part.widths, strict=True):
            blocks.setdefault(tuple(map(id, block)), (block, width, []))[2].append((p, first))
            first += width
    places = [
        [(p, first + i) for p, first in owners]
        for _, width, owners in blocks.values()
        for i in range(width)
    ]

    def terms(column: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        own = [given(p, parts[p].total.terms(c, values)) for p, c in places[column]]
        return np.asarray(np.sum(own, axis=0))

    widths = tuple(width for _, width, _ in blocks.values())
    return SumPart(
        replace(total, terms=terms), tuple(block for block, _, _ in blocks.values()), widths
    )


# ------------------------------------------------------------------ what is none


def _refused_votes(model: Any) -> str:
    held, name = _held(model), type(model).__name__
    kind = kind_inside(held[0])
    soft = getattr(model, "voting", "soft") == "soft" and name != "AdaBoostClassifier"
    if soft and all(hasattr(one, "predict_proba") for one in held):
        what = f"averages the probabilities of {len(held)} models such as {kind}, a sum of curves"
    else:
        what = f"counts the votes of {len(held)} models such as {kind}, each a sum of its own"
    return (
        f"the {name} {what}, which is no sum over columns: one of the models by itself, a vote of "
        f"trees, or an average of regressors is read. {ONLY_RULES}"
    )


_OPENERS: dict[str, Callable[[Any, Target | None, int | None], SumPart]] = {
    "CalibratedClassifierCV": _calibrated,
    "FixedThresholdClassifier": _threshold,
    "TunedThresholdClassifierCV": _threshold,
    "BaggingRegressor": _average,
    "VotingRegressor": _average,
    "OneVsRestClassifier": _one_against_rest,
}
_REFUSED: dict[str, Callable[[Any], str]] = {
    "VotingClassifier": _refused_votes,
    "BaggingClassifier": _refused_votes,
    "AdaBoostClassifier": _refused_votes,
}
