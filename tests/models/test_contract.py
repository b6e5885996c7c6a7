"""What a problem and an engine have for all to see, and what their classes say of the rest."""

from __future__ import annotations

import inspect

import pytest

from cpx.answers.html import Shown
from cpx.backends.base import Backend
from cpx.modelling.base import Problem

PROBLEM = (
    *("kind", "encodings", "sense", "side_constraints", "oracle", "feature_names"),
    *("form", "model", "decode", "explanation", "evaluate"),
    *("where", "to_dict"),
)
BACKEND = (
    *("name", "solvers", "solver", "requires", "supported_options", "needs_model", "exact"),
    *("summary", "full_name", "options", "available", "installed"),
    *("accepts", "solve"),
)


CLASSES = [(Problem, Shown, PROBLEM), (Backend, object, BACKEND)]


def members(cls: type, base: type = object) -> set[str]:
    """Return the names of a class, and of its annotations, that a base does not have."""
    names = {*dir(cls), *inspect.get_annotations(cls)} - {*dir(base)}
    return {name for name in names if not name.startswith("__")}


@pytest.mark.parametrize(
    ("cls", "base", "public"), [(Problem, Shown, PROBLEM), (Backend, object, BACKEND)]
)
def test_the_public_members_are_few(cls: type, base: type, public: tuple[str, ...]) -> None:
    found = {name for name in members(cls, base) if not name.startswith("_")}
    # Set in the constructor.
    assert found | {"solver"} & {*public} == {*public}


@pytest.mark.parametrize(("cls", "base"), [(Problem, Shown), (Backend, object)])
def test_every_hook_is_told_of(cls: type, base: type) -> None:
    text = inspect.getdoc(cls) or ""
    ours = {"_abc_impl", "_known_as", "_has_program", "_no_text"}
    hooks = {name for name in members(cls, base) if name.startswith("_")} - ours
    assert {
        name for name in hooks if f"{name} " not in text and f"``{name}``" not in text
    } == set()
