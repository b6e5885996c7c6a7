"""The leaves of a tree model over the states of attributes, signed for one class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.data.coding import Coding
from cpx.errors import InvalidInstance, shown
from cpx.models.expected_prediction.paths import leaf_paths
from cpx.models.expected_prediction.regions import Outcome, regions_of
from cpx.models.expected_prediction.state_sets import StateSets
from cpx.trees.exact import scaled
from cpx.trees.form import TreeModel
from cpx.trees.tree import MISSING, Tree

Predicted = Literal["score", "probability", "decision", "posterior"]
"""What is expected of a row: its score, the probability of the class, whether it gets the class,
or the probability of the component of the distribution that stands for the class."""


@dataclass(frozen=True, eq=False)
class LeafForm:
    """Leaves with what they give to the score of a class, and the states that reach them.

    The score of a row is ``(base + the values of the leaves it reaches) / (2**exponent *
    divisor)``: log-odds for the class, an average probability of it, or a share of votes. The
    more, the surer is the class: scores that speak against it are negated. Where a probability or
    the decision is expected of them, leaves are :mod:`~cpx.models.expected_prediction.regions`.

    tree: Tree of each leaf, increasing.
    leaf: The tests of all leaves one after the other: the leaf of each, increasing.
    attribute: The attribute of each test, increasing within a leaf. Each attribute is tested once.
    mask: Which states of the attribute lead to the leaf: the number of a set.
    masks: None of the sets is empty, none has all states.
    threshold: A row with a score above this has the class. Where scores are log-odds against one
        of several other classes, no row is above.
    tied: Whether all rows with a score of just the threshold are of one class.
    """

    values: NDArray[Any]
    tree: NDArray[np.int64]
    leaf: NDArray[np.int64]
    attribute: NDArray[np.int64]
    mask: NDArray[np.int64]
    masks: StateSets
    base: int
    exponent: int
    divisor: int
    threshold: Fraction
    tied: bool

    @property
    def n_attributes(self) -> int:
        """Number A of attributes."""
        return len(self.masks.attributes)

    @property
    def scale(self) -> int:
        """What integers are divided by to become scores."""
        return self.divisor << self.exponent

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the tests of each leaf begin, and their number N; shape (L + 1,)."""
        return np.searchsorted(self.leaf, np.arange(len(self.values) + 1)).astype(np.int64)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The attributes that some leaf depends on."""
        return tuple(np.unique(self.attribute).tolist())

    @classmethod
    def of(
        cls,
        model: TreeModel,
        coding: Coding,
        label: int,
        prediction: Predicted = "score",
        rival: int | None = None,
    ) -> LeafForm:
        """Return the leaves of a model that some row of states reaches.

        coding: The states of the attributes; it fits the model (:func:`refuse_misfit`).
        label: Index of the class.
        rival: The class whose scores are compared with, where those of several are.
        Raises InvalidInstance: For a model that does not predict what is asked, or has too many
            regions.
        """
        if prediction in ("probability", "decision"):
            return cls._of_regions(model, coding, label, prediction)
        paths = leaf_paths(model, coding)
        values, base, divisor, threshold, tied = _scores(model, paths.trees, label, rival)
        tree = np.repeat(np.arange(len(paths.trees)), [tree.n_leaves for tree in paths.trees])
        return cls(
            values[paths.reached],
            tree[paths.reached],
            paths.leaf,
            paths.attribute,
            paths.mask,
            paths.masks,
            base,
            model.exact.exponent,
            divisor,
            threshold,
            tied,
        )

    @classmethod
    def _of_regions(
        cls,
        model: TreeModel,
        coding: Coding,
        label: int,
        outcome: Outcome,
    ) -> LeafForm:
        """Return a leaf for each region; a decision is 1 where a row gets the class, else 0."""
        if outcome == "probability" and (model.rule != "sum" or model.prediction is not None):
            told = "numbers" if model.prediction is not None else "an average or votes already"
            raise InvalidInstance(
                f"prediction probability is for models that add up log-odds; this one has {told}"
            )
        made = regions_of(model, coding, label, outcome)
        threshold = Fraction(outcome == "probability", 2)
        of_one_tree = np.zeros(len(made.values), dtype=np.int64)
        tests = made.leaf, made.attribute, made.mask, made.masks
        return cls(made.values, of_one_tree, *tests, 0, made.exponent, 1, threshold, False)


def has_probability(model: TreeModel) -> bool:
    """Whether the scores of a model are log-odds, from which its probabilities follow."""
    if model.rule != "sum" or model.prediction is not None:
        return False
    link = "sigmoid" if len(model.base) == 1 else "softmax"
    return model.live is None or (model.live.link, model.live.scale) == (link, 1.0)


def refuse_misfit(model: TreeModel, coding: Coding) -> None:
    """Refuse states of attributes that are not those of the model's columns.

    Raises InvalidInstance: For another number of columns, for a threshold of the model that no cut
        is at, and for missing values where a tree has no branch for them.
    """
    columns = sorted(c for group in coding.columns for c in group)
    if columns != list(range(model.n_attributes)):
        raise InvalidInstance(
            f"coding: the distribution is over {len(columns)} columns, the model has "
            f"{model.n_attributes}"
        )
    if coding.cast != model.cast:
        raise InvalidInstance(f"coding: values are {coding.cast}, the model takes {model.cast}")
    for a, group in enumerate(coding.columns):
        for i, c in enumerate(group):
            name, own = model.attributes[c].name, coding.column_names[c]
            if own != name:
                raise InvalidInstance(
                    f"coding: column {c} is {shown(own)}, in the model {shown(name)}"
                )
            if c not in model.used:
                continue
            lost = ~np.isin(model.thresholds[c], coding.cuts[c])
            if lost.any():
                raise InvalidInstance(
                    f"coding: the model tests {shown(name)} at "
                    f"{model.thresholds[c][lost][0]:g}, and states are not told apart there"
                )
            if (coding.states[a][:, i] == MISSING).any() and model.refuses_missing(c):
                raise InvalidInstance(
                    f"coding: {shown(name)} may be missing, and the model has no branch for that"
                )


def _scores(
    model: TreeModel, trees: Sequence[Tree], label: int, rival: int | None
) -> tuple[NDArray[Any], int, int, Fraction, bool]:
    """Return values of all leaves for a class, base, divisor, threshold, whether it is a tie."""
    exponent = model.exact.exponent

    def of_score(score: int) -> NDArray[Any]:
        """Return what all leaves add to a score, times 2**exponent."""
        return np.concatenate(
            [
                scaled(tree.values[:, tree.outputs.index(score)], exponent)
                if score in tree.outputs
                else np.array([0] * tree.n_leaves, dtype=object)
                for tree in trees
            ]
        )

    base, scores = model.exact.base_values, len(model.base)
    divisor = 1 if model.rule == "sum" else len(model.trees)
    if scores == 1:
        sign = 1 if label == 1 else -1
        return sign * of_score(0), sign * base[0], divisor, Fraction(0), True
    own = of_score(label)
    if model.rule == "sum":
        other = 1 - label if rival is None else rival
        margins, start = own - of_score(other), base[label] - base[other]
        if scores == 2:
            return margins, start, 1, Fraction(0), True
        ends = np.cumsum([tree.n_leaves for tree in trees])[:-1]
        most = start + sum(part.max() for part in np.split(margins, ends))
        return margins, start, 1, Fraction(most, 1 << exponent), False
    every = [of_score(k) for k in range(scores)]
    if scores > 2 and min(min(v.min() for v in every), *base) < 0:
        raise InvalidInstance("tree_model: probabilities must not be negative")
    # Above half of all there is, a class has more than the others together. That is 1/2 but
    # for the rounding of probabilities.
    totals = np.split(sum(every), np.cumsum([tree.n_leaves for tree in trees])[:-1])
    most = sum(base) + sum(total.max() for total in totals)
    threshold = Fraction(most, 2 * divisor << exponent)
    tied = scores == 2 and all(total.min() == total.max() for total in totals)
    return own, base[label], divisor, threshold, tied
