"""Network: a feed-forward network with ReLU or identity activation, its columns, exact scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import ModelError, shown
from cpx.trees import Attribute
from cpx.trees.form import Label

__all__ = ["Column", "Layer", "Network"]

Floats = NDArray[np.float64]
Activation = Literal["relu", "identity"]
Decision = Literal["first", "positive"]

FORMAT, VERSION = "cpx-network", 1

MOST_NEURONS, MOST_LAYERS, MOST_INPUTS = 200, 4, 500
"""Neurons in hidden layers, hidden layers and inputs of networks that are explained."""

LARGEST = 1e30
"""Weights, biases and inputs are at most so large: no sum of bounds is ever infinite."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Weights, shape (neurons, inputs), and biases, shape (neurons,)."""

    weights: Floats
    biases: Floats


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the table, and what it gives to inputs of the network.

    Attributes
    ----------
    attribute : Attribute
        Its name, and its values where these are listed.
    inputs : tuple of int
        The inputs that are made of it; empty where the network reads none.
    ends : (float, float) or None
        Of a column of numbers: its only input is any number from the first to the second.
    points : (k, inputs) array or None
        Of a column whose values are listed: what each of them gives.
    """

    attribute: Attribute
    inputs: tuple[int, ...]
    ends: tuple[float, float] | None = None
    points: Floats | None = None

    @property
    def listed(self) -> tuple[float, ...]:
        """The values, where these are listed."""
        return (0.0, 1.0) if self.attribute.kind == "boolean" else self.attribute.values or ()

    @property
    def varies(self) -> bool:
        """Whether its values give the network different inputs."""
        if self.ends is not None:
            return self.ends[0] < self.ends[1]
        return self.points is not None and len(np.unique(self.points, axis=0)) > 1

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON values; numbers as hexadecimal floats, exactly."""
        data: dict[str, Any] = {"attribute": self.attribute.to_dict(), "inputs": [*self.inputs]}
        if self.ends is not None:
            data["ends"] = [end.hex() for end in self.ends]
        if self.points is not None:
            data["points"] = [[v.hex() for v in point] for point in self.points.tolist()]
        return data

    @classmethod
    def from_dict(cls, data: Any) -> Column:
        """Read what :meth:`to_dict` wrote; :class:`Network` checks it."""
        points = data.get("points")
        ends = [*map(float.fromhex, data["ends"])] if "ends" in data else None
        return cls(
            Attribute.from_dict(data["attribute"]),
            tuple(data["inputs"]),
            None if ends is None else (ends[0], ends[1]),
            None if points is None else _table(points, len(data["inputs"])),
        )


@dataclass(frozen=True, eq=False)
class Network:
    """A network that gives each row one of several classes, by sums that are exact.

    Each layer adds up its inputs times its weights, and its biases; all but the last then take
    the activation. What is exact: weights, biases and inputs are floats, that is, fractions, and
    they are multiplied and added as such. Libraries round, and may answer otherwise on rows where
    two scores differ by no more than that rounding.

    Parameters
    ----------
    layers : sequence of Layer
        The last has a score for each class, or one score of the second of two classes.
    columns : sequence of Column
        Which together give each input once.
    classes : sequence of labels
    decision : {"first", "positive"}
        The class with the highest score, the first of those with equal scores; or the second
        class when the score is > 0.
    activation : {"relu", "identity"}
    source : str
        Where the network comes from, free.
    live : object, optional
        The model that it was read from, to be asked; not saved.

    Raises
    ------
    ModelError
        Naming what does not fit, and networks that are too large.

    Examples
    --------
    >>> layers = [Layer(np.array([[1.0], [-1.0]]), np.zeros(2)),
    ...           Layer(np.array([[1.0, 1.0]]), np.array([-0.5]))]
    >>> a = Column(Attribute("a", lower=-1, upper=1), (0,), (-1.0, 1.0))
    >>> network = Network(layers, [a], ["near", "far"], "positive")
    >>> network.scores([0.75]), network.class_of([0.75])
    ((Fraction(1, 4),), 1)
    """

    layers: tuple[Layer, ...]
    columns: tuple[Column, ...]
    classes: tuple[Label, ...]
    decision: Decision
    activation: Activation = "relu"
    source: str = ""
    live: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("layers", "columns", "classes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._refuse_wrong_shapes()
        self._refuse_too_large()

    def _refuse_wrong_shapes(self) -> None:
        if self.activation not in ("relu", "identity"):
            raise ModelError(f"activation must be relu or identity, got {shown(self.activation)}")
        if self.decision not in ("first", "positive"):
            raise ModelError(f"decision must be first or positive, got {shown(self.decision)}")
        if not self.layers or not self.columns:
            raise ModelError("a network has at least one layer and one column")
        width = self.n_inputs
        for i, layer in enumerate(self.layers):
            count = len(layer.biases) if layer.biases.ndim == 1 else -1
            if layer.weights.shape != (count, width) or not count:
                raise ModelError(f"layer {i}: weights and biases are not for {width} inputs")
            width = count
        scores = 1 if self.decision == "positive" else len(self.classes)
        if width != scores or len(self.classes) < 2 or (scores == 1 and len(self.classes) > 2):
            raise ModelError(f"{len(self.classes)} classes do not fit {width} scores")
        given = sorted(i for column in self.columns for i in column.inputs)
        if given != [*range(self.n_inputs)]:
            raise ModelError("the columns must give each input once")
        for column in self.columns:
            self._refuse_wrong_values(column)

    def _refuse_wrong_values(self, column: Column) -> None:
        name, size = shown(column.attribute.name), len(column.inputs)
        if (column.ends is None) == (column.points is None) and size:
            raise ModelError(f"column {name} must have either ends or points")
        if column.ends is not None and (size != 1 or not column.ends[0] <= column.ends[1]):
            raise ModelError(f"column {name}: ends are those of one input, increasing")
        if column.points is not None and column.points.shape != (len(column.listed), size):
            raise ModelError(f"column {name}: a point for each of its values is needed")

    def _refuse_too_large(self) -> None:
        hidden = [len(layer.biases) for layer in self.layers[:-1]]
        for what, count, most in (
            ("neurons in hidden layers", sum(hidden), MOST_NEURONS),
            ("hidden layers", len(hidden), MOST_LAYERS),
            ("inputs", self.n_inputs, MOST_INPUTS),
        ):
            if count > most:
                raise ModelError(f"the network has {count} {what}, at most {most} are explained")
        numbers = [array for layer in self.layers for array in (layer.weights, layer.biases)]
        numbers += [np.array(c.ends) for c in self.columns if c.ends is not None]
        numbers += [c.points for c in self.columns if c.points is not None]
        for array in numbers:
            if not (np.abs(array) <= LARGEST).all():
                raise ModelError(f"weights, biases and inputs must be numbers up to {LARGEST:g}")

    @property
    def twins(self) -> list[NDArray[np.int64]]:
        """The neuron of each hidden layer with the negated sum of each other one, -1 for none."""
        return []

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """What is said of each column."""
        return tuple(column.attribute for column in self.columns)

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the network."""
        return sum(len(column.inputs) for column in self.columns)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the live model, and what can be made again."""
        return {**{k: v for k, v in vars(self).items() if k != "_integers"}, "live": None}

    # ---------------------------------------------------------------- scores

    @cached_property
    def _integers(self) -> list[tuple[NDArray[Any], list[int], int]]:
        """Weights and biases of each layer as integers, and what they are over: 2 to a power."""
        found = []
        for layer in self.layers:
            numbers = [v.as_integer_ratio() for v in np.ravel(layer.weights).tolist()]
            biases = [v.as_integer_ratio() for v in layer.biases.tolist()]
            power = max(d.bit_length() - 1 for _, d in numbers + biases)
            whole = [(n << power) // d for n, d in numbers]
            table = np.empty(len(whole), dtype=object)
            table[:] = whole
            shape = layer.weights.shape
            found.append((table.reshape(shape), [(n << power) // d for n, d in biases], power))
        return found

    def scores(self, inputs: Sequence[float]) -> tuple[Fraction, ...]:
        """Return the exact scores of inputs, shape (n_inputs,)."""
        ratios = [float(v).as_integer_ratio() for v in inputs]
        power = max(d.bit_length() - 1 for _, d in ratios)
        values = [(n << power) // d for n, d in ratios]
        for i, (weights, biases, more) in enumerate(self._integers):
            if i and self.activation == "relu":
                values = [max(v, 0) for v in values]
            column = np.empty(len(values), dtype=object)
            column[:] = values
            sums = weights.dot(column)
            values = [int(s) + (b << power) for s, b in zip(sums, biases)]
            power += more
        return tuple(Fraction(v, 1 << power) for v in values)

    def class_of(self, inputs: Sequence[float]) -> int:
        """Return the index of the class of inputs, in exact arithmetic."""
        scores = self.scores(inputs)
        return int(scores[0] > 0) if self.decision == "positive" else scores.index(max(scores))

    def lead(self, own: int, rival: int) -> Floats:
        """Return what the scores are multiplied by: the lead of a class over another one."""
        if self.decision == "positive":
            return np.array([1.0 if own == 1 else -1.0])
        found = np.zeros(len(self.classes))
        found[own], found[rival] = 1.0, -1.0
        return found

    def keeps_ties(self, own: int, rival: int) -> bool:
        """Whether a class is given where its lead over another one is 0."""
        return own < rival

    def against_rest(self, wanted: int) -> Network:
        """Return a network that says whether a class has a score that no other one exceeds.

        Its scores are that of the class and the highest of the others, in exact numbers: what is
        added are weights of 1 and -1. A score is carried on as relu(s) - relu(-s), and the higher
        of two is b + relu(a - b).

        >>> layers = [Layer(np.array([[1.0], [2.0], [-1.0]]), np.array([0.0, -1.0, 0.5]))]
        >>> a = Column(Attribute("a", lower=-1, upper=1), (0,), (-1.0, 1.0))
        >>> two = Network(layers, [a], ["low", "high", "other"], "first").against_rest(0)
        >>> two.scores([0.75]), two.class_of([0.75]), two.class_of([0.5])
        ((Fraction(3, 4), Fraction(1, 2)), 0, 0)
        """
        layers, linear = list[Layer](), self.activation == "identity"
        for i, layer in enumerate(self.layers):
            weights, biases = layer.weights, layer.biases
            if i and linear:
                weights = np.hstack([weights, -weights])
            if linear or i == len(self.layers) - 1:
                weights, biases = np.vstack([weights, -weights]), np.hstack([biases, -biases])
            layers.append(Layer(weights + 0.0, biases + 0.0))
        carried = np.hstack([np.eye(len(self.classes)), -np.eye(len(self.classes))])
        own, rest = carried[wanted], [*np.delete(carried, wanted, axis=0)]
        while len(rest) > 1:
            pairs = [*zip(rest[::2], rest[1::2])]
            alone = [own, *rest[2 * len(pairs) :]]
            rows = [row for a, b in pairs for row in (a - b, b, -b)]
            rows += [row for one in alone for row in (one, -one)]
            layers.append(Layer(np.array(rows), np.zeros(len(rows))))
            signs, unit = [(1, 1, -1)] * len(pairs) + [(1, -1)] * len(alone), np.eye(len(rows))
            ends = np.cumsum([0, *map(len, signs)])
            kept = [np.array(s) @ unit[i : i + len(s)] for s, i in zip(signs, ends)]
            own = kept.pop(len(pairs))
            rest = kept
        layers.append(Layer(np.array([own, rest[0]]), np.zeros(2)))
        classes = self.classes[wanted], "another class"
        return _Derived(tuple(layers), self.columns, classes, "first", "relu")

    # ---------------------------------------------------------------- inputs

    def inputs_of(self, x: Sequence[float]) -> tuple[float, ...]:
        """Return what values of the columns give, where nothing changes numbers before."""
        found = np.zeros(self.n_inputs)
        for column, value in zip(self.columns, x):
            if column.points is not None:
                found[[*column.inputs]] = column.points[column.listed.index(value)]
            elif column.inputs:
                found[column.inputs[0]] = value
        return tuple(found.tolist())

    def rounded_scores(self, inputs: ArrayLike) -> Floats:
        """Return the scores of rows of inputs as floats, shape (n, scores)."""
        values = np.asarray(inputs, dtype=np.float64)
        for i, layer in enumerate(self.layers):
            if i and self.activation == "relu":
                values = np.maximum(values, 0)
            values = values @ layer.weights.T + layer.biases
        return values

    # ------------------------------------------------------------ saved form

    def to_dict(self) -> dict[str, Any]:
        """Return the network as JSON values; numbers as hexadecimal floats, exactly."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "activation": self.activation,
            "decision": self.decision,
            "source": self.source,
            "classes": [*self.classes],
            "columns": [column.to_dict() for column in self.columns],
            "layers": [
                {
                    "weights": [[v.hex() for v in row] for row in layer.weights.tolist()],
                    "biases": [v.hex() for v in layer.biases.tolist()],
                }
                for layer in self.layers
            ],
        }

    @classmethod
    def from_dict(cls, data: Any) -> Network:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        ModelError
            Naming what is wrong.
        """
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise ModelError(f"no network: format must be {FORMAT}")
        if data.get("version") != VERSION:
            raise ModelError(f"version {shown(data.get('version'))} is not known, {VERSION} is")
        try:
            columns = [Column.from_dict(column) for column in data["columns"]]
            width = sum(len(column.inputs) for column in columns)
            layers = []
            for layer in data["layers"]:
                biases = np.array([*map(float.fromhex, layer["biases"])])
                layers.append(Layer(_table(layer["weights"], width), biases))
                width = len(biases)
            activation, decision = data["activation"], data["decision"]
            classes, source = tuple(data["classes"]), str(data.get("source", ""))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            told = f"{type(error).__name__}: {error}"
            raise ModelError(f"the network cannot be read: {told}") from error
        return cls(tuple(layers), tuple(columns), classes, decision, activation, source)


class _Derived(Network):
    """A network that is made of one that is small enough; sums are there twice, once negated."""

    def _refuse_too_large(self) -> None:
        pass

    @cached_property
    def twins(self) -> list[NDArray[np.int64]]:
        found = []
        for layer in self.layers[:-1]:
            sums = np.column_stack([layer.weights, layer.biases])
            same = (sums[:, None, :] == -sums[None, :, :]).all(axis=2)
            found.append(np.where(same.any(axis=1), same.argmax(axis=1), -1))
        return found


def _table(rows: Any, width: int) -> Floats:
    table = np.array([[*map(float.fromhex, row)] for row in rows], dtype=np.float64)
    return table.reshape(len(rows), width)
