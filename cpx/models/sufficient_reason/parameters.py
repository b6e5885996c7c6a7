"""Parameters of sufficient reasons that depend on the model and the row, declared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from cpx.errors import InvalidInstance, ModelError, shown
from cpx.modelling.parameters import Choice, Indices, Json, Kind, parameter
from cpx.modelling.row import row_values
from cpx.trees.form import Label, TreeModel
from cpx.trees.hold import hold


class RowValues(Kind):
    """The values of the row, in the order of the attributes of the model."""

    schema: ClassVar[Json] = {"type": "array", "items": {"type": ["number", "null"]}}

    def check(self, name: str, value: Any, problem: Any) -> tuple[float, ...]:
        """Return the values, NaN for a missing one, once the live model agrees on them."""
        x = row_values(replace(problem.tree_model, live=None), value)
        hold(problem.tree_model, x)
        return x

    def saved(self, value: tuple[float, ...]) -> list[float | None]:
        """Return a list with None for what is missing."""
        return [None if math.isnan(number) else number for number in value]

    def read(self, key: str, holder: Mapping[str, Any]) -> list[Any]:
        """Return the list of a file."""
        if not isinstance(holder[key], list):
            raise InvalidInstance(f"{key} must be a list, got {shown(holder[key])}")
        return list(holder[key])


class LevelName(Choice):
    """What features are; not every level is for every row."""

    def check(self, name: str, value: Any, problem: Any) -> str:
        """Return the name."""
        level = super().check(name, value, problem)
        _ = problem.features
        return level


class DefinitionName(Choice):
    """What a reason must keep; by default what fits the model."""

    def check(self, name: str, value: Any, problem: Any) -> str:
        """Return the name, or refuse one that is not for the model."""
        model = problem.tree_model
        votes = model.rule == "vote" and model.decision == "first"
        if value is None:
            if len(model.trees) == 1:
                return "sufficient"
            return "majoritary" if votes else "tree-specific"
        definition = super().check(name, value, problem)
        if definition == "majoritary" and not votes:
            raise InvalidInstance(
                f"{name} majoritary is for models that vote, this one has {model.rule}"
            )
        return definition


class Features(Indices):
    """Features by number or by name."""

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, ...]:
        """Return their numbers."""
        return tuple(problem.features.numbers(name, value))

    def read(self, key: str, holder: Mapping[str, Any]) -> Any:
        """Return the list of a file; ``null`` is none."""
        return () if holder[key] is None else holder[key]


@dataclass(frozen=True)
class LabelOfRow(Kind):
    """The class of the row: what the model says, or the same given by the user to be sure.

    model: The field of the problem that has the model.
    """

    model: str = "tree_model"

    schema: ClassVar[Json] = {"type": ["string", "number", "boolean"]}

    def check(self, name: str, value: Any, problem: Any) -> Label:
        """Return the class of the row, or refuse another one."""
        predicted: Label = getattr(problem, self.model).classes[problem.label_index]
        if value is not None and (
            value != predicted or isinstance(value, str) != isinstance(predicted, str)
        ):
            raise InvalidInstance(
                f"{name} is {shown(value)}, and the model gives x {shown(predicted)}"
            )
        return predicted


class WantedClass(Kind):
    """A class of the model that is not that of the row, or None."""

    range: ClassVar[str] = "another class of the model"
    schema: ClassVar[Json] = LabelOfRow.schema

    def check(self, name: str, value: Any, problem: Any) -> Label | None:
        """Return the class."""
        if value is None:
            return None
        own, classes = problem.label_index, problem.tree_model.classes
        for c, label in enumerate(classes):
            if label == value and isinstance(label, str) == isinstance(value, str) and c != own:
                found: Label = label
                return found
        others = [label for c, label in enumerate(classes) if c != own]
        raise InvalidInstance(f"{name} must be one of {shown(others)}, got {shown(value)}")


class Unit(Kind):
    """A fraction of at least 0; what is automatic for None."""

    range: ClassVar[str] = "a fraction of at least 0"
    schema: ClassVar[Json] = {"type": "string", "pattern": "^[0-9]+(/[0-9]+)?$"}

    def check(self, name: str, value: Any, problem: Any) -> Fraction:
        """Return the fraction."""
        if value is None:
            return Fraction(problem.automatic_unit())
        try:
            unit = Fraction(value)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            unit = Fraction(-1)
        if unit < 0 or value is True:
            raise InvalidInstance(f"{name} must be a fraction of at least 0, got {shown(value)}")
        if unit and problem.definition != "tree-specific":
            raise InvalidInstance(f"{name} is for tree-specific reasons, got {shown(value)}")
        return unit

    def saved(self, value: Fraction) -> str:
        """Return the fraction as text."""
        return str(value)


# ------------------------------------------------------------------ the model

HEX = {"type": "string", "description": "a hexadecimal float, exact"}
HEX_LIST = {"type": "array", "items": HEX}
_INTEGERS = {"type": "array", "items": {"type": "integer"}}
ATTRIBUTE = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["real", "integer", "boolean", "categorical"]},
        "lower": HEX,
        "upper": HEX,
        "values": HEX_LIST,
        "labels": {"type": "array", "items": {"type": "string"}},
        "label": {"type": "string"},
        "unit": {"type": "string"},
        "missing": {"type": "boolean"},
    },
}
_TREE = {
    "type": "object",
    "required": ["outputs", "attribute", "split", "missing", "values"],
    "additionalProperties": False,
    "properties": {
        "outputs": {**_INTEGERS, "description": "scores that the leaves add to"},
        "attribute": {**_INTEGERS, "description": "per node in preorder; -1 is a leaf"},
        "split": {
            **_INTEGERS,
            "description": "per test: the last cell that goes left; above t: t + 1 + k, set k",
        },
        "missing": {"type": "string", "pattern": "^[lr-]*$", "description": "per test"},
        "values": {**HEX_LIST, "description": "per leaf and output"},
    },
}
_MODEL = {
    "type": "object",
    "required": [
        *("format", "version", "rule", "decision", "cast", "sums", "strict", "classes", "base"),
        *("attributes", "thresholds", "trees"),
    ],
    "additionalProperties": False,
    "properties": {
        "format": {"const": "cpx-tree-model"},
        "version": {"const": 1},
        "rule": {"enum": ["vote", "average", "sum"]},
        "decision": {"enum": ["first", "positive", "nonnegative"]},
        "cast": {"enum": ["float32", "float64"]},
        "sums": {"enum": ["float32", "float64"]},
        "strict": {"type": "boolean"},
        "source": {"type": "string"},
        "named": {"type": "boolean"},
        "classes": {"type": "array", "minItems": 1, "items": LabelOfRow.schema},
        "base": HEX_LIST,
        "attributes": {"type": "array", "items": ATTRIBUTE},
        "thresholds": {"type": "array", "items": HEX_LIST},
        "sets": {
            "type": "array",
            "items": {"type": "array", "items": _INTEGERS},
            "description": "per attribute: the cells that its set tests send left",
        },
        "trees": {"type": "array", "minItems": 1, "items": _TREE},
    },
}


class Model(Kind):
    """A tree model."""

    schema: ClassVar[Json] = _MODEL

    def check(self, name: str, value: Any, problem: Any) -> TreeModel:
        """Return the model."""
        if not isinstance(value, TreeModel):
            raise InvalidInstance(f"{name} must be a TreeModel, got {type(value).__name__}")
        return value

    def entries(self, key: str, value: TreeModel, arrays: bool) -> Json:
        """Return the saved form of the model, which is stored with the row."""
        return {key: value.saved_form if arrays else value.to_dict()}

    def read(self, key: str, holder: Mapping[str, Any]) -> TreeModel:
        """Return the model of a file."""
        try:
            return TreeModel.from_dict(holder[key])
        except ModelError as error:
            raise InvalidInstance(f"{key}: {error}") from error


# Parameters of all problems about a row of a tree model.
MODEL = parameter(Model(), "the tree model", key="model", place=1)
ROW = parameter(RowValues(), "the row, null for a missing value", key="x")
LABEL = parameter(LabelOfRow(), "the class of the row", key="class", needed=True)
