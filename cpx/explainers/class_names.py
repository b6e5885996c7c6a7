"""What a class is called, by names that are given by position or by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cpx.errors import InvalidOption, shown
from cpx.trees.form import TreeModel

__all__ = ["class_context"]


def class_context(
    model: TreeModel, own: int, names: Sequence[str] | Mapping[Any, str] | None
) -> dict[str, str]:
    """Return what the class of index ``own`` is called as context of a problem, if that is said.

    Raises
    ------
    InvalidOption
        When there are not as many names as classes.
    """
    if names is None:
        return {}
    classes = model.classes
    if isinstance(names, Mapping):
        called = {str(key): str(name) for key, name in names.items()}
        return {"class": called.get(str(classes[own]), str(classes[own]))}
    if isinstance(names, str) or len(names) != len(classes):
        raise InvalidOption(
            f"class_names must name the {len(classes)} classes of the model "
            f"({', '.join(map(str, classes[:5]))}), got {shown(names)}"
        )
    return {"class": str(names[own])}
