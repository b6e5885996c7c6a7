"""Parameters of expected predictions: the states, the distribution, the unit, exact numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

from cpx.data.coding import Coding
from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.distribution import StateDistribution, distribution_from_dict
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import CpxError, InvalidInstance, nearest, shown
from cpx.modelling.parameters import Choice, Indices, Json, Kind, parameter
from cpx.models.expected_prediction.leaves import refuse_misfit
from cpx.models.sufficient_reason import parameters as of_rows

_ONES = {"type": "array", "items": {"type": "integer", "minimum": 1}}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_INTEGER_LISTS = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}


class States(Kind):
    """The states of the attributes: which values count as the same."""

    schema: ClassVar[Json] = {
        "type": "object",
        "required": ["format", "version", "names", "columns", "cuts", "states", "cast"],
        "additionalProperties": False,
        "properties": {
            "format": {"const": "cpx-coding"},
            "version": {"const": 1},
            "names": _TEXTS,
            "columns": {**_INTEGER_LISTS, "description": "of each attribute"},
            "cuts": {
                "type": "array",
                "items": {"type": "array", "items": {"type": "string"}},
                "description": "of each column, hexadecimal floats",
            },
            "states": {
                "type": "array",
                "items": _INTEGER_LISTS,
                "description": "of each attribute, each with the cells of its columns",
            },
            "cast": {"enum": ["float32", "float64"]},
            "column_names": _TEXTS,
        },
    }

    def check(self, name: str, value: Any, problem: Any) -> Coding:
        """Return the coding, which must fit the model and have the states of x."""
        if not isinstance(value, Coding):
            raise InvalidInstance(f"{name} must be a Coding, got {type(value).__name__}")
        refuse_misfit(problem.tree_model, value)
        return value

    def saved(self, value: Coding) -> Json:
        """Return the saved form of the coding."""
        return value.to_dict()

    def read(self, key: str, holder: Mapping[str, Any]) -> Coding:
        """Return the coding of a file."""
        try:
            return Coding.from_dict(holder[key])
        except CpxError as error:
            raise InvalidInstance(f"{key}: {error}") from error


_NODES = {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}}
_SHARES = {"type": "array", "minItems": 1, "items": {"type": "number", "minimum": 0}}


class DistributionOfStates(Kind):
    """A distribution over the states: a mixture of trees, or a circuit."""

    schema: ClassVar[Json] = {
        "type": "object",
        "required": ["format", "version"],
        "additionalProperties": False,
        "properties": {
            "format": {"enum": ["cpx-tree-mixture", "cpx-circuit"]},
            "version": {"const": 1},
            "weights": {**_ONES, "description": "of the components, over 2**30"},
            "parents": {
                "type": ["array", "null"],
                "items": {"type": "array", "items": {"type": "integer", "minimum": -1}},
                "description": "of each component, the attribute each one depends on",
            },
            "tables": {
                "type": "array",
                "items": {"type": "array", "items": {"type": "array", "items": _ONES}},
                "description": "of each component and attribute, over 2**30",
            },
            "names": {**_TEXTS, "description": "of the attributes of a circuit"},
            "nodes": {
                "type": "array",
                "minItems": 1,
                "description": "of a circuit, children first: leaves, products and sums",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "attribute": {"type": "integer", "minimum": 0},
                        "probabilities": {**_SHARES, "description": "over 2**30, or sum 1"},
                        "product": _NODES,
                        "sum": _NODES,
                        "weights": {**_SHARES, "description": "over 2**30, or sum 1"},
                    },
                },
            },
        },
    }

    def check(self, name: str, value: Any, problem: Any) -> StateDistribution:
        """Return the distribution, which must be over the states of the attributes."""
        if not isinstance(value, TreeMixture | Circuit):
            raise InvalidInstance(
                f"{name} must be a TreeMixture or a Circuit, got {type(value).__name__}"
            )
        states, names = problem.coding.cardinalities, problem.coding.names
        if isinstance(value, Circuit) and value.names not in (None, names):
            raise InvalidInstance(
                f"{name} is over other attributes, or in another order: {shown(value.names)}, "
                f"coding has {shown(names)}"
            )
        if tuple(value.cardinalities) != tuple(states):
            if value.n_attributes != len(states):
                told = f"{value.n_attributes} attributes, coding has {len(states)}"
            else:
                pairs = zip(value.cardinalities, states, strict=True)
                a = next(a for a, (one, other) in enumerate(pairs) if one != other)
                told = (
                    f"{value.cardinalities[a]} states of {shown(names[a])}, coding has {states[a]}"
                )
            raise InvalidInstance(f"{name} is over other states: it has {told}")
        return value

    def saved(self, value: StateDistribution) -> Json:
        """Return the saved form of the distribution."""
        return value.to_dict()

    def read(self, key: str, holder: Mapping[str, Any]) -> StateDistribution:
        """Return the distribution of a file."""
        try:
            return distribution_from_dict(holder[key])
        except CpxError as error:
            raise InvalidInstance(f"{key}: {error}") from error


class Attributes(Indices):
    """Attributes by number or by name."""

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, ...]:
        """Return their numbers."""
        names = problem.coding.names
        if not isinstance(value, str) and isinstance(value, Iterable):
            value = [self._number(name, v, names) if isinstance(v, str) else v for v in value]
        return super().check(name, value, problem)

    def _number(self, which: str, given: str, names: tuple[str, ...]) -> int:
        if given not in names:
            raise InvalidInstance(
                f"{which}: {shown(given)} names no attribute{nearest(given, names)}"
            )
        return names.index(given)


class Number(Kind):
    """An exact number of either sign; a float means the decimal number it is printed as."""

    range: ClassVar[str] = "a number"
    schema: ClassVar[Json] = {"type": "string", "pattern": "^-?[0-9]+(/[0-9]+)?$"}

    def check(self, name: str, value: Any, problem: Any) -> Fraction:
        """Return the number as a fraction."""
        try:
            if isinstance(value, bool):
                raise TypeError
            return Fraction(repr(float(value)) if isinstance(value, float) else value)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            raise InvalidInstance(f"{name} must be a number, got {shown(value)}") from None

    def saved(self, value: Fraction) -> str:
        """Return the fraction as text."""
        return str(value)

    def words(self, value: Fraction) -> str:
        """Return the number as it is read, or as a fraction where that would round it."""
        text = f"{float(value):g}"
        return text if Fraction(text) == value else str(value)


class Unit(Number):
    """A positive fraction; what is automatic for None."""

    range: ClassVar[str] = "a positive fraction"
    schema: ClassVar[Json] = {"type": "string", "pattern": "^[0-9]+(/[0-9]+)?$"}

    def check(self, name: str, value: Any, problem: Any) -> Fraction:
        """Return the fraction, or refuse one so small that numbers get too large."""
        if value is None:
            return Fraction(problem.automatic_unit())
        unit = super().check(name, value, problem)
        if unit <= 0:
            raise InvalidInstance(f"{name} must be a positive fraction, got {shown(value)}")
        if problem.greatest_sum / unit > 2**_MOST_BITS:
            raise InvalidInstance(
                f"{name} {unit} is too small: scores would have more than {_MOST_BITS} bits"
            )
        return unit


_MOST_BITS = 44


# Parameters of all these problems.
MODEL, LABEL = of_rows.MODEL, of_rows.LABEL
ROW = parameter(of_rows.RowValues(), "the row, null for a missing value", key="x", place=1)
STATES = parameter(States(), "the states of the attributes", key="coding", place=2)
DISTRIBUTION = parameter(
    DistributionOfStates(),
    "the distribution over the states",
    key="distribution",
    place=2,
)
REQUIRED = parameter(Attributes("attribute"), "attributes that must be chosen", place=1)
FORBIDDEN = parameter(Attributes("attribute"), "attributes that must not be chosen", place=1)
PREDICTION = parameter(
    Choice(("score", "probability", "decision", "posterior"), unsaved="score"),
    "what is expected of a row: its score, the probability of the class, whether it gets it, or "
    "the probability of its component of the distribution",
)
UNIT = parameter(Unit(), "what scores are rounded to multiples of, leaf by leaf", needed=True)
