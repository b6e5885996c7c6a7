"""Votes, bags and boosts of tree models, as one sum of their trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import ModelError, UnsupportedModel
from cpx.trees.attribute import Attribute
from cpx.trees.building import Nodes, assemble
from cpx.trees.checks import label_list, refuse_one_class
from cpx.trees.form import Decision, Rule, TreeModel
from cpx.trees.front import Block
from cpx.trees.live import Link, LiveModel
from cpx.trees.transformers import Subset
from cpx.trees.tree import REFUSED, Tree

ADABOOST = "sklearn AdaBoostClassifier"

ONLY_RULES = "kind='rule' explains any classifier by its predict alone"


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


Opener = Callable[[Any], Part]
"""Opens a model that another one holds."""


def held_by(model: Any, name: str) -> Any:
    if not hasattr(model, name):
        raise ModelError(f"the {type(model).__name__} is not fitted")
    return getattr(model, name)


def voting_part(model: Any, open_: Opener) -> Part:
    held, name = held_by(model, "estimators_"), type(model).__name__
    given = model.weights
    if given is not None:
        pairs = zip(given, model.estimators)
        given = [w for w, (_, one) in pairs if not (isinstance(one, str) and one == "drop")]
    weights = [1.0] * len(held) if given is None else [float(w) for w in given]
    parts = [open_(one) for one in held]
    places = [[int(label) for label in part.model.classes] for part in parts]
    if model.voting == "soft":
        return _averaged(model, parts, weights, places)
    one_each = all(w == 1 for w in weights)
    votes = [
        _votes(name, part, w, own, len(model.classes_))
        for part, w, own in zip(parts, weights, places)
    ]
    return _sum(model, parts, votes, "vote" if one_each else "sum", "average")


def bagging_part(model: Any, open_: Opener) -> Part:
    held, parts = held_by(model, "estimators_"), []
    width = int(model.n_features_in_)
    for one, columns in zip(held, model.estimators_features_, strict=True):
        part = open_(one)
        chosen = tuple(int(c) for c in columns)
        if chosen != tuple(range(width)):
            part = part.behind([Subset(chosen)])
        parts.append(part)
    places = [[int(label) for label in part.model.classes] for part in parts]
    return _averaged(model, parts, [1.0] * len(parts), places)


def adaboost_part(model: Any, open_: Opener) -> Part:
    parts, name = [open_(one) for one in held_by(model, "estimators_")], type(model).__name__
    labels = label_list(model.classes_)
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
            f"sum of trees; votes of single trees are read. {ONLY_RULES}"
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
                f"which are no sums of trees. {ONLY_RULES}"
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
        times = (
            1.0 if alike else float(share / (len(inner.trees) if inner.rule == "average" else 1))
        )
        values.append(
            [_spread(t.values * times, [own[k] for k in t.outputs], count) for t in inner.trees]
        )
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
        nodes += [
            _nodes(part.model, tree, columns, leaf_values, finite) for tree, leaf_values in pairs
        ]
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
