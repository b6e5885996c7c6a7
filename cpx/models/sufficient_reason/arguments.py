"""Arguments of sufficient reasons that depend on the model, checked."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from cpx.errors import InvalidInstance, shown
from cpx.models.sufficient_reason.form import Definition
from cpx.trees.form import Label, TreeModel

__all__ = ["DEFINITIONS", "known_definition", "known_label", "known_unit"]

DEFINITIONS: tuple[Definition, ...] = ("sufficient", "majoritary", "tree-specific")


def known_label(predicted: Label, label: Label | None) -> Label:
    """Return the class of x, or refuse another one that was given."""
    if label is not None and (
        label != predicted or isinstance(label, str) != isinstance(predicted, str)
    ):
        raise InvalidInstance(f"label is {shown(label)}, and the model gives x {shown(predicted)}")
    return predicted


def known_definition(model: TreeModel, definition: Definition | None) -> Definition:
    """Return the definition, by default that of the model, or refuse one that is not for it."""
    votes = model.rule == "vote" and model.decision == "first"
    if definition is None:
        if len(model.trees) == 1:
            return "sufficient"
        return "majoritary" if votes else "tree-specific"
    if definition not in DEFINITIONS:
        raise InvalidInstance(
            f"definition must be one of {', '.join(DEFINITIONS)}, got {shown(definition)}"
        )
    if definition == "majoritary" and not votes:
        raise InvalidInstance(
            f"definition majoritary is for models that vote, this one has {model.rule}"
        )
    return definition


def known_unit(given: Any, definition: Definition) -> Fraction:
    """Return a unit that was given as a fraction, or refuse it."""
    try:
        unit = Fraction(given)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        unit = Fraction(-1)
    if unit < 0 or given is True:
        raise InvalidInstance(f"unit must be a fraction of at least 0, got {shown(given)}")
    if unit and definition != "tree-specific":
        raise InvalidInstance(f"unit is for tree-specific reasons, got {shown(given)}")
    return unit
