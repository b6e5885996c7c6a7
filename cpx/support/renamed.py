"""Old names of documented modules: still imported, with a warning that says the new name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

__all__ = ["RENAMED", "accept_old_names"]

RENAMED = {
    "cpx.backends.running": "cpx.backends.interruptible",
    "cpx.backends.search.heaviest": "cpx.backends.search.max_weight",
    "cpx.candidates": "cpx.methods.candidates",
    "cpx.classifier": "cpx.explainers.rule_set_classifier",
    "cpx.explaining": "cpx.explainers",
    "cpx.explanation": "cpx.answers.explanation",
    "cpx.methods.asking": "cpx.methods.queries",
    "cpx.models.k_monomial": "cpx.models.monomial.k_monomial",
    "cpx.models.losses": "cpx.models.minimum_subset.form",
    "cpx.models.rulesets": "cpx.models.rule_set",
    "cpx.ranking": "cpx.explainers.ranking",
    "cpx.reasons": "cpx.methods.reasons",
    "cpx.result": "cpx.answers.result",
    "cpx.rule_sets": "cpx.answers.rule_set",
    "cpx.rules": "cpx.answers.rule",
}
"""New names of modules that the documentation named, by the old ones."""


class _OldName:
    """Finds a module under its old name: it is the module of the new name, not a copy."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        new = _new_name(fullname)
        return (
            None if new is None else ModuleSpec(fullname, cast("Loader", self), loader_state=new)
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        import warnings

        new = str(spec.loader_state)
        warnings.warn(
            f"{spec.name} is now {new}; the old name will go",
            DeprecationWarning,
            stacklevel=2,
        )
        module = import_module(new)
        # The import system writes the spec that it has into the module: keep the true one.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def _new_name(name: str) -> str | None:
    old = name
    while old.startswith("cpx."):
        if old in RENAMED:
            return RENAMED[old] + name[len(old) :]
        old = old.rpartition(".")[0]
    return None


def accept_old_names() -> None:
    """Make the old names importable; done once, by ``import cpx``."""
    if not any(isinstance(finder, _OldName) for finder in sys.meta_path):
        sys.meta_path.insert(0, _OldName())
