"""Reader of MLPClassifier, alone or behind transformers, over the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.targets import refuse_target, target_of
from cpx.errors import DataError, InvalidOption, ModelError, UnsupportedModel, shortened, shown
from cpx.models.sufficient_reason.networks.live import LiveNetwork
from cpx.models.sufficient_reason.networks.network import Column, Layer, Network
from cpx.trees import Attribute, TreeModel
from cpx.trees.additive import column_numbers
from cpx.trees.building import attribute_list
from cpx.trees.checks import class_labels, label_list, refuse_one_class
from cpx.trees.dates import days_of
from cpx.trees.front import NOT_TAKEN, Front, names_and_width
from cpx.trees.live import LiveModel
from cpx.trees.tree import Tree
from cpx.trees.wrapped import behind

__all__ = ["NetworkReader"]

Floats = NDArray[np.float64]

MOST_VALUES = 256
"""Values of a column of numbers that are listed one by one."""


class NetworkReader:
    """A network that is read once, and its columns with the values of one row after the other.

    Parameters
    ----------
    model : MLPClassifier, or Pipeline or search with one at its end
        Of ReLU or identity activation. Each column that the transformers make must be made of one
        of the table.
    rows : DataFrame or array of shape (n, columns)
        They say between which numbers columns vary.
    classes, attributes, **options
        As for :func:`cpx.read_model`.

    Attributes
    ----------
    columns : TreeModel
        A tree that tests nothing, over the columns of the table: by it rows are read.

    Raises
    ------
    UnsupportedModel
        For other activations, several labels at once, transformers that are not followed, and
        networks that are too large.
    InvalidOption, ModelError, DataError
        When rows are needed, an option is none of the reader's, the model is not fitted, or the
        rows do not fit it.
    """

    def __init__(
        self,
        model: Any,
        rows: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        attributes: Sequence[str | Attribute] | None = None,
        **options: Any,
    ) -> None:
        steps, last = behind(model)
        self.name = type(last).__name__
        self._refuse(last, options)
        own = label_list(last.classes_)
        refuse_one_class(self.name, own)
        self.labels = own if classes is None else class_labels(classes, len(own))
        self.layers = tuple(
            Layer(np.array(w, dtype=np.float64).T.copy(), np.array(b, dtype=np.float64))
            for w, b in zip(last.coefs_, last.intercepts_)
        )
        self.activation = last.activation
        names, width = names_and_width(model, (steps,))
        self.front = Front((steps,), names, width, dates=days_of(rows, names))
        self.given = attribute_list(attributes, [self.front.title(c) for c in range(width)])
        self.columns = self._columns(names is not None or attributes is not None)
        told = f"the {self.name} takes any number for"
        self.numbers = self._numbers(rows, told)
        self.live = LiveNetwork(LiveModel(model, own, "unknown", front=self.front))

    def _refuse(self, last: Any, options: dict[str, Any]) -> None:
        limits = [options.pop(name, None) for name in ("above", "below", "between")]
        refuse_target(target_of(*limits), self.name)
        if given := [name for name, value in options.items() if value not in (None, False, True)]:
            raise InvalidOption(f"{given[0]} is no option of networks")
        if not hasattr(last, "coefs_") or not hasattr(last, "classes_"):
            raise ModelError(f"the {self.name} is not fitted")
        if last.activation not in ("relu", "identity"):
            raise UnsupportedModel(
                f"the {self.name} has the activation {last.activation}; networks of relu or "
                "identity are explained exactly. kind='rule' explains any classifier by its "
                "predict alone"
            )
        if last.out_activation_ == "logistic" and last.n_outputs_ > 1:
            raise UnsupportedModel(f"the {self.name} predicts several labels at once, one is read")

    def _numbers(self, rows: Any, told: str) -> list[Floats]:
        try:
            return column_numbers(self.front, rows, self.given, told)
        except InvalidOption as error:
            raise InvalidOption(str(error).replace(" is worth:", ":")) from None

    def _columns(self, named: bool) -> TreeModel:
        attributes = []
        for c, stated in enumerate(self.given):
            labels = self.front.labels(c)
            one = Attribute(stated.name, label=stated.label, unit=stated.unit)
            if labels is not None:
                listed = self.front.listed(c)
                one = replace(one, kind="categorical", values=listed, labels=labels)
            attributes.append(one)
        scores = len(self.layers[-1].biases)
        node = np.array([-1], dtype=np.int32)
        leaf = Tree(node, node, node, np.zeros((1, scores)), tuple(range(scores)))
        return TreeModel(
            attributes=tuple(attributes),
            classes=self.labels,
            trees=(leaf,),
            thresholds=tuple(np.zeros(0) for _ in attributes),
            rule="sum",
            decision="positive" if scores == 1 else "first",
            base=(0.0,) * scores,
            source=f"sklearn {self.name}",
            named=named,
        )

    # ----------------------------------------------------------- of one row

    def inputs(self, x: Sequence[float]) -> tuple[float, ...]:
        """Return what a row of numbers gives to the network.

        Raises DataError: When the transformers do not take it.
        """
        return tuple(self._made(np.array([x], dtype=np.float64))[0].tolist())

    def network(self, attributes: Sequence[Attribute], x: Sequence[float]) -> Network:
        """Return the network whose columns have these names, and the values of a row too."""
        columns = [self._column(c, own, x[c]) for c, own in enumerate(attributes)]
        try:
            return Network(
                self.layers,
                tuple(columns),
                self.labels,
                "positive" if len(self.layers[-1].biases) == 1 else "first",
                self.activation,
                self.columns.source,
                self.live,
            )
        except ModelError as error:
            raise UnsupportedModel(f"{self.name}: {error}") from None

    def told(self, network: Network) -> str:
        """Say which numbers columns may have."""
        listed = [
            column.attribute.name
            for column in network.columns
            if column.attribute.kind == "real" and len(column.listed) > 2
        ]
        text = "numbers may be anything from the least to the greatest of X and x"
        return text + f"; of {', '.join(listed)} those of X and x" * bool(listed)

    def _column(self, c: int, own: Attribute, value: float) -> Column:
        stated, made_of = self.given[c], tuple(self.front.made_of[c])
        if own.labels is not None:
            return Column(own, made_of, points=self.images(c, own.values or ()))
        if not made_of:
            return Column(replace(own, lower=None, upper=None), ())
        known = self.numbers[c]
        listed = stated.kind == "boolean" or stated.values is not None
        if not listed:
            low, high = stated.interval
            if low <= value <= high:
                known = np.unique(np.append(known, value + 0.0))
        if value not in known:
            raise DataError(f"x: {shown(own.name)} is {value:g}, no value of the attribute")
        if known.tolist() == [0.0, 1.0] or stated.kind == "boolean":
            return Column(replace(own, kind="boolean"), made_of, points=self.images(c, (0, 1)))
        if not listed and self._is_continuous[c]:
            ends = self.images(c, known[[0, -1]].tolist()).ravel().tolist()
            own = replace(own, lower=float(known[0]), upper=float(known[-1]))
            return Column(own, made_of, ends=(min(ends), max(ends)))
        every = self.images(c, known.tolist())
        own_image = every[known == value][:1]
        images, first = np.unique(every, axis=0, return_index=True)
        # Of values that are worth the same one is listed, that of x where it is one of them.
        first = first[(images != own_image).any(axis=1)]
        if len(images) > MOST_VALUES:
            raise UnsupportedModel(
                f"column {shown(own.name)} has {len(images)} values that the transformers tell "
                f"apart, of which they make several columns or steps: at most {MOST_VALUES} are "
                "listed"
            )
        kept = np.unique(np.append(known[first], value))
        return Column(
            replace(own, values=tuple(kept.tolist())), made_of, points=self.images(c, kept)
        )

    @cached_property
    def _is_continuous(self) -> list[bool]:
        """Of which columns one input is made that rises, or falls, with each number."""
        found = []
        for c, known in enumerate(self.numbers):
            if len(self.front.made_of[c]) != 1 or self.front.categories(c) is not None:
                found.append(False)
                continue
            between = known[:-1] + (known[1:] - known[:-1]) / 2
            every = np.unique(np.concatenate([known, between]))
            steps = np.diff(self.images(c, every.tolist())[:, 0])
            found.append(bool((steps > 0).all() or (steps < 0).all()))
        return found

    def images(self, c: int, values: Sequence[float] | Floats) -> Floats:
        """Return what values of a column give to its inputs, shape (n, inputs)."""
        rows = np.tile(self.front.reference, (len(values), 1))
        rows[:, c] = values
        return self._made(rows)[:, self.front.made_of[c]]

    def _made(self, rows: Floats) -> Floats:
        try:
            made = self.front.made(rows)
        except NOT_TAKEN as error:
            raise DataError(f"a value of the rows is not taken: {shortened(error)}") from error
        if not np.isfinite(made).all():
            raise DataError("a value of the rows becomes none that the network takes")
        return made + 0.0
