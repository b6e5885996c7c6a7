"""Models of scikit-learn that hold others: pipelines, searches, votes, bags, boosts, calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import ModelError, UnsupportedModel, shown
from cpx.trees.attribute import Attribute
from cpx.trees.building import Nodes, assemble, attribute_list
from cpx.trees.checks import class_labels, label_list, refuse_one_class
from cpx.trees.floats import float_key, key_float
from cpx.trees.form import Decision, Rule, TreeModel
from cpx.trees.front import Block, Front, names_and_width
from cpx.trees.hold import linked
from cpx.trees.live import Link, LiveModel
from cpx.trees.pipeline import LivePipeline, composed
from cpx.trees.transformers import Subset
from cpx.trees.tree import REFUSED, Tree

Reader = Callable[[Any], TreeModel]

_ADABOOST = "sklearn AdaBoostClassifier"

_ONLY_RULES = "kind='rule' explains any classifier by its predict alone"


@dataclass(frozen=True)
class Part:
    """A tree model and the transformers in front of it.

    model: Over the columns that the blocks make, side by side.
    blocks: Each makes columns of those of the table; one without transformers is the table itself.
    widths: How many columns each makes.
    """

    model: TreeModel
    blocks: tuple[Block, ...]
    widths: tuple[int, ...]

    def behind(self, steps: Sequence[Any]) -> Part:
        """Return the same behind further transformers."""
        return replace(self, blocks=tuple((*steps, *block) for block in self.blocks))


def wraps(model: Any) -> bool:
    """Whether a model holds others that this module opens."""
    return _opener(model) is not None


def read_wrapped(
    model: Any,
    read: Reader,
    *,
    classes: Sequence[Any] | None = None,
    attributes: Sequence[str | Attribute] | None = None,
) -> TreeModel:
    """Read a model that holds others, as one tree model over the columns of the table.

    read: Reads a model that holds no others.
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
    front = Front(part.blocks, names, width, absent)
    whole = live and LivePipeline(model, live.classes, live.link, live.scale, title, front=front)
    return composed(front, replace(inner, classes=classes), attributes, whole)


# ------------------------------------------------------------------ what they hold


def _opener(model: Any) -> Callable[[Any, Reader], Part] | None:
    for cls in type(model).__mro__:
        if cls.__module__.startswith(("sklearn.", "imblearn.")) and cls.__name__ in _OPENERS:
            return _OPENERS[cls.__name__]
    return _best if hasattr(model, "best_estimator_") else None


def _opened(model: Any, read: Reader) -> Part:
    opener = _opener(model)
    if opener is not None:
        return opener(model, read)
    inner = read(model)
    return Part(inner, ((),), (inner.n_attributes,))


def _pipeline(model: Any, read: Reader) -> Part:
    *front, (_, last) = model.steps
    return _opened(last, read).behind([step for _, step in front])


def _best(model: Any, read: Reader) -> Part:
    """Open a search for parameters: it predicts by the best that it found."""
    if not hasattr(model, "best_estimator_"):
        raise ModelError(f"the {type(model).__name__} is not fitted, or does not refit the best")
    return _opened(model.best_estimator_, read)


def _frozen(model: Any, read: Reader) -> Part:
    return _opened(model.estimator, read)


def _fitted(model: Any, name: str) -> Any:
    if not hasattr(model, name):
        raise ModelError(f"the {type(model).__name__} is not fitted")
    return getattr(model, name)


# ---------------------------------------------------------------- thresholds of scores


def _threshold(model: Any, read: Reader) -> Part:
    """Open a model with a threshold of its own: it gives the second class from there on."""
    name, response = type(model).__name__, model._get_response_method()
    held = getattr(model, "estimator_", model.estimator)
    tuned = getattr(model, "best_threshold_", None)
    threshold = model.threshold if tuned is None else tuned
    if model.pos_label not in (None, model.classes_[1]):
        raise UnsupportedModel(
            f"the {name} has a threshold for {shown(str(model.pos_label))}, the first of its "
            f"classes; one for the second is read. {_ONLY_RULES}"
        )
    by = _scored_by(held, [response] if isinstance(response, str) else response)
    if threshold == "auto":
        threshold = 0.5 if by == "predict_proba" else 0.0
    return _cut(held, read, name, by, lambda score: score >= threshold)


def _calibrated(model: Any, read: Reader) -> Part:
    """Open a calibrated model: of one model and two classes a threshold of its scores."""
    name, held = type(model).__name__, _fitted(model, "calibrated_classifiers_")
    if len(held) > 1:
        raise UnsupportedModel(
            f"the {name} averages {len(held)} models, each by a curve of its own, which is no sum "
            f"of trees; one with ensemble=False is read. {_ONLY_RULES}"
        )
    if len(model.classes_) != 2 or held[0].method not in ("sigmoid", "isotonic"):
        raise UnsupportedModel(
            f"the {name} with method={shown(held[0].method)} and {len(model.classes_)} classes is "
            "no sum of trees; one of two classes with sigmoid or isotonic is read. " + _ONLY_RULES
        )
    (curve,) = held[0].calibrators

    def second(score: float) -> bool:
        p = float(np.ravel(curve.predict(np.array([score])))[0])
        return p > 1 - p

    by = _scored_by(held[0].estimator, ["decision_function", "predict_proba"])
    return _cut(held[0].estimator, read, name, by, second)


def _scored_by(held: Any, methods: Sequence[str]) -> str:
    return next(method for method in methods if hasattr(held, method))


def _cut(
    held: Any, read: Reader, name: str, by: str, second: Callable[[float], bool]
) -> Part:
    """Return the part whose second class is decided by a score of another, which must rise.

    by: The method that gives the score, "decision_function" or "predict_proba".
    second: Whether a score gives the second class.
    """
    part = _opened(held, read)
    model, live = part.model, part.model.live
    if live is None or (len(model.base) == 2 and live.link != "average") or len(model.classes) != 2:
        raise UnsupportedModel(f"the {name} has a threshold for what is no sum of trees")
    if len(model.base) == 2:
        times = len(model.trees) if model.rule == "average" else 1
        cut = times * _first(second, 0.0, 1.0, name)
        trees = [
            replace(t, values=_column(t.outputs, t.values, 1), outputs=(0,)) for t in model.trees
        ]
        base = model.base[1] - cut
    else:
        largest = float(np.finfo(np.float64).max)
        scale = live.scale if by == "predict_proba" or model.source == _ADABOOST else 1.0
        if by == "predict_proba":
            told = lambda s: second(float(linked(np.array([[s * scale]]), "sigmoid")[0, 0]))
        else:
            told = lambda s: second(s * scale)
        cut = _first(told, -largest, largest, name)
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


def _first(second: Callable[[float], bool], low: float, high: float, name: str) -> float:
    """Return the least number of a range from which on something holds."""
    if second(low) or not second(high):
        raise UnsupportedModel(f"the {name} does not give one class up to a score and the other from there")
    below, above = float_key(low), float_key(high)
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if second(key_float(middle)) else (middle, above)
    return key_float(above)


def _column(outputs: tuple[int, ...], values: NDArray[np.float64], score: int) -> Any:
    if score in outputs:
        return values[:, [outputs.index(score)]]
    return np.zeros((len(values), 1))


# ---------------------------------------------------------------------- sums of models


def _voting(model: Any, read: Reader) -> Part:
    held, name = _fitted(model, "estimators_"), type(model).__name__
    given = model.weights
    if given is not None:
        pairs = zip(given, model.estimators)
        given = [w for w, (_, one) in pairs if not (isinstance(one, str) and one == "drop")]
    weights = [1.0] * len(held) if given is None else [float(w) for w in given]
    parts = [_opened(one, read) for one in held]
    places = [[int(label) for label in part.model.classes] for part in parts]
    if model.voting == "soft":
        return _averaged(model, parts, weights, places)
    one_each = all(w == 1 for w in weights)
    votes = [_votes(name, part, w, own, len(model.classes_)) for part, w, own in zip(parts, weights, places)]
    return _sum(model, parts, votes, "vote" if one_each else "sum", "average")


def _bagging(model: Any, read: Reader) -> Part:
    width, parts = int(model.n_features_in_), []
    for one, columns in zip(_fitted(model, "estimators_"), model.estimators_features_):
        part = _opened(one, read)
        chosen = tuple(int(c) for c in columns)
        if chosen != tuple(range(width)):
            part = part.behind([Subset(chosen)])
        parts.append(part)
    places = [[int(label) for label in part.model.classes] for part in parts]
    return _averaged(model, parts, [1.0] * len(parts), places)


def _adaboost(model: Any, read: Reader) -> Part:
    labels, name = label_list(model.classes_), type(model).__name__
    parts = [_opened(one, read) for one in _fitted(model, "estimators_")]
    weights = [float(w) for w in model.estimator_weights_[: len(parts)]]
    count, total = len(labels), float(sum(weights))
    refuse_one_class(name, labels)
    votes = []
    for part, w in zip(parts, weights):
        own = [labels.index(label) for label in part.model.classes]
        (values,) = _votes(name, part, w, own, count)
        votes.append([values[:, [1]] - values[:, [0]] if count == 2 else values])
    if count == 2:
        return _sum(model, parts, votes, "sum", "sigmoid", 2 / total, "positive", finite=True)
    scale = count / ((count - 1) ** 2 * total)
    return _sum(model, parts, votes, "sum", "softmax", scale, finite=True)


def _votes(
    name: str, part: Part, weight: float, places: Sequence[int], count: int
) -> list[NDArray[np.float64]]:
    """Return the votes of the one tree of a part, leaf by leaf."""
    model = part.model
    if len(model.trees) != 1 or model.rule not in ("average", "vote"):
        raise UnsupportedModel(
            f"the {name} counts the votes of {model.source}, each of several trees, which is no "
            f"sum of trees; votes of single trees are read. {_ONLY_RULES}"
        )
    tree = model.trees[0]
    scores = np.zeros((tree.n_leaves, count))
    scores[:, [places[k] for k in tree.outputs]] = tree.values
    votes = np.zeros_like(scores)
    votes[np.arange(len(scores)), scores.argmax(axis=1)] = weight
    return [votes]


def _averaged(
    model: Any, parts: Sequence[Part], weights: Sequence[float], places: Sequence[Sequence[int]]
) -> Part:
    """Return the part that averages probabilities: all trees alike, where that is the same."""
    for part in parts:
        live = part.model.live
        if live is None or live.link != "average" or len(part.model.base) == 1:
            raise UnsupportedModel(
                f"the {type(model).__name__} averages the probabilities of {part.model.source}, "
                f"which are no sums of trees. {_ONLY_RULES}"
            )
    count, total = len(model.classes_), sum(Fraction(w) for w in weights)
    trees = sum(len(part.model.trees) for part in parts)
    shares = [Fraction(w) / total for w in weights]
    alike = all(
        part.model.rule == "average" and share == Fraction(len(part.model.trees), trees)
        for part, share in zip(parts, shares)
    )
    values = []
    for part, share, own in zip(parts, shares, places):
        inner = part.model
        times = 1.0 if alike else float(share / (len(inner.trees) if inner.rule == "average" else 1))
        values.append([_spread(t.values * times, [own[k] for k in t.outputs], count) for t in inner.trees])
    return _sum(model, parts, values, "average" if alike else "sum", "average")


def _spread(values: NDArray[np.float64], places: Sequence[int], count: int) -> Any:
    spread = np.zeros((len(values), count))
    spread[:, [*places]] = values
    return spread


def _sum(
    model: Any,
    parts: Sequence[Part],
    values: Sequence[Sequence[NDArray[np.float64]]],
    rule: Rule,
    link: Link,
    scale: float = 1.0,
    decision: Decision = "first",
    finite: bool = False,
) -> Part:
    """Return the part that adds up the trees of parts, with other values at their leaves.

    values: Of each part and tree.
    finite: Whether the whole refuses missing values.
    """
    casts = {part.model.cast for part in parts}
    if len(casts) > 1:
        raise UnsupportedModel(
            f"the {type(model).__name__} holds models that compare in float32 and in float64"
        )
    blocks, widths = dict[tuple[int, ...], Block](), dict[tuple[int, ...], int]()
    for part in parts:
        for block, width in zip(part.blocks, part.widths):
            key = tuple(map(id, block))
            blocks[key], widths[key] = block, width
    starts = dict(zip(widths, np.cumsum([0, *widths.values()]).tolist()))
    nodes, may = [], np.zeros(sum(widths.values()), dtype=np.bool_)
    for part, own in zip(parts, values):
        columns = np.concatenate(
            [starts[tuple(map(id, b))] + np.arange(w) for b, w in zip(part.blocks, part.widths)]
        )
        may[columns] |= [a.missing for a in part.model.attributes]
        pairs = zip(part.model.trees, own, strict=True)
        nodes += [_nodes(part.model, tree, columns, leaf_values, finite) for tree, leaf_values in pairs]
    classes = label_list(model.classes_)
    names = getattr(model, "feature_names_in_", None) if [*blocks] == [()] else None
    titles = [f"x{c}" for c in range(len(may))] if names is None else [str(n) for n in names]
    scores = 1 if decision != "first" else len(classes)
    whole = assemble(
        nodes,
        [Attribute(title, missing=bool(m) and not finite) for title, m in zip(titles, may)],
        classes=classes,
        rule=rule,
        decision=decision,
        base=(0.0,) * scores,
        cast=casts.pop(),
        source=f"sklearn {type(model).__name__}",
        named=names is not None,
        live=LiveModel(model, classes, link, scale, type(model).__name__),
    )
    return Part(whole, tuple(blocks.values()), tuple(widths.values()))


def _nodes(
    model: TreeModel, tree: Tree, columns: NDArray[np.int64], values: Any, finite: bool
) -> Nodes:
    inner = tree.attribute >= 0
    threshold = np.zeros(len(inner))
    for i in np.flatnonzero(inner).tolist():
        cuts, split = model.thresholds[tree.attribute[i]], tree.split[i]
        threshold[i] = cuts[split] if split < len(cuts) else np.inf
    return Nodes(
        attribute=np.where(inner, columns[np.maximum(tree.attribute, 0)], -1),
        threshold=threshold,
        left=tree.left,
        right=tree.right,
        missing=np.full(len(inner), REFUSED) if finite else tree.missing,
        values=values[np.maximum(tree.leaf, 0)],
        outputs=tuple(range(values.shape[1])),
    )


_OPENERS: dict[str, Callable[[Any, Reader], Part]] = {
    "Pipeline": _pipeline,
    "FrozenEstimator": _frozen,
    "FixedThresholdClassifier": _threshold,
    "TunedThresholdClassifierCV": _threshold,
    "CalibratedClassifierCV": _calibrated,
    "VotingClassifier": _voting,
    "BaggingClassifier": _bagging,
    "AdaBoostClassifier": _adaboost,
}
