"""Parameters of sufficient reasons of networks, declared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from cpx.errors import InvalidInstance, ModelError, nearest, shown
from cpx.modelling.parameters import Indices, Json, Kind
from cpx.models.sufficient_reason.networks.network import Network
from cpx.models.sufficient_reason.parameters import ATTRIBUTE, HEX_LIST, LabelOfRow
from cpx.support.validation import entries, feature_list, real

_HEX_TABLE = {"type": "array", "items": HEX_LIST}


class SavedNetwork(Kind):
    """A network."""

    schema: ClassVar[Json] = {
        "type": "object",
        "required": [
            *("format", "version", "activation", "decision", "classes", "columns", "layers"),
        ],
        "additionalProperties": False,
        "properties": {
            "format": {"const": "cpx-network"},
            "version": {"const": 1},
            "activation": {"enum": ["relu", "identity"]},
            "decision": {"enum": ["first", "positive"]},
            "source": {"type": "string"},
            "classes": {"type": "array", "minItems": 2, "items": LabelOfRow.schema},
            "columns": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["attribute", "inputs"],
                    "additionalProperties": False,
                    "properties": {
                        "attribute": ATTRIBUTE,
                        "inputs": {"type": "array", "items": {"type": "integer"}},
                        "ends": {
                            **HEX_LIST,
                            "description": "its input is any number from the first to the second",
                        },
                        "points": {
                            **_HEX_TABLE,
                            "description": "its inputs, for each of its values",
                        },
                    },
                },
            },
            "layers": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["weights", "biases"],
                    "additionalProperties": False,
                    "properties": {
                        "weights": {**_HEX_TABLE, "description": "per neuron and input"},
                        "biases": HEX_LIST,
                    },
                },
            },
        },
    }

    def check(self, name: str, value: Any, problem: Any) -> Network:
        """Return the network."""
        if not isinstance(value, Network):
            raise InvalidInstance(f"{name} must be a Network, got {type(value).__name__}")
        return value

    def saved(self, value: Network) -> Json:
        """Return the saved form of the network."""
        return value.to_dict()

    def read(self, key: str, holder: Mapping[str, Any]) -> Network:
        """Return the network of a file."""
        try:
            return Network.from_dict(holder[key])
        except ModelError as error:
            raise InvalidInstance(f"{key}: {error}") from error


class NetworkRow(Kind):
    """The values of the row, in the order of the columns."""

    schema: ClassVar[Json] = {"type": "array", "items": {"type": "number"}}

    def check(self, name: str, value: Any, problem: Any) -> tuple[float, ...]:
        """Return the values, each of which its column can have."""
        columns = problem.network.columns
        given = entries(name, value, "numbers", len(columns))
        found = tuple(_finite(f"{name}[{i}]", v) for i, v in enumerate(given))
        for column, v in zip(columns, found):
            own = column.attribute
            low, high = own.interval
            if (column.listed and v not in column.listed) or not low <= v <= high:
                raise InvalidInstance(
                    f"{name}: {shown(own.name)} is {v:g}, no value of its column"
                )
        return found

    def saved(self, value: tuple[float, ...]) -> list[float]:
        """Return a list."""
        return [*value]


class Inputs(Kind):
    """What the row gives to the network; by default the values themselves."""

    schema: ClassVar[Json] = HEX_LIST

    def check(self, name: str, value: Any, problem: Any) -> tuple[float, ...]:
        """Return the inputs, each of which its column can give."""
        network = problem.network
        given = network.inputs_of(problem.x) if value is None else value
        given = entries(name, given, "numbers", network.n_inputs)
        found = tuple(_finite(f"{name}[{i}]", v) for i, v in enumerate(given))
        for column, v in zip(network.columns, problem.x):
            own, fine = [found[i] for i in column.inputs], True
            if column.ends is not None:
                fine = column.ends[0] <= own[0] <= column.ends[1]
            elif column.points is not None:
                fine = column.points[column.listed.index(v)].tolist() == own
            if not fine:
                told = shown(column.attribute.name)
                raise InvalidInstance(f"{name}: {shown(own)} is not what column {told} can give")
        return found

    def saved(self, value: tuple[float, ...]) -> list[str]:
        """Return hexadecimal floats."""
        return [v.hex() for v in value]

    def read(self, key: str, holder: Mapping[str, Any]) -> tuple[float, ...]:
        """Return the inputs of a file."""
        try:
            return tuple(map(float.fromhex, holder[key]))
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInstance(f"{key} must be hexadecimal floats: {error}") from error


class Columns(Indices):
    """Columns by number or by name."""

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, ...]:
        """Return their numbers."""
        return NetworkColumns(problem.network).numbers(name, value)

    def read(self, key: str, holder: Mapping[str, Any]) -> Any:
        """Return the list of a file; ``null`` is none."""
        return () if holder[key] is None else holder[key]


class NetworkColumns:
    """The columns of a network as features, by number or name."""

    def __init__(self, network: Network) -> None:
        self.model = network
        self.names = [attribute.name for attribute in network.attributes]

    def __len__(self) -> int:
        return len(self.names)

    def numbers(self, which: str, given: Any) -> tuple[int, ...]:
        """Return columns given by number or name, sorted.

        which: Name of the argument, for errors.
        Raises InvalidInstance: When something is no column, or a name is that of several.
        """
        if not isinstance(given, str) and isinstance(given, Iterable):
            given = [self._number(which, one) if isinstance(one, str) else one for one in given]
        return feature_list(which, given, len(self))

    def _number(self, which: str, name: str) -> int:
        if self.names.count(name) != 1:
            what = "several columns" if name in self.names else "no column"
            near = "" if name in self.names else nearest(name, self.names)
            raise InvalidInstance(f"{which}: {shown(name)} names {what} of the model{near}")
        return self.names.index(name)


def _finite(name: str, value: Any) -> float:
    found = real(value)
    if found is None or not math.isfinite(found):
        raise InvalidInstance(f"{name} must be a finite number, got {shown(value)}")
    return found + 0.0
