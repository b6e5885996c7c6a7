"""Old names of documented modules, functions and attributes: accepted, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

RENAMED = {
    "cpx.answers.proof_rows": "cpx.answers.proof",
    "cpx.answers.rule_set": "cpx.answers.rule",
    "cpx.backends.interruptible": "cpx.backends.progress",
    "cpx.backends.running": "cpx.backends.progress",
    "cpx.backends.search.heaviest": "cpx.backends.search.max_weight",
    "cpx.backends.search.sets": "cpx.backends.search.rule_sets",
    "cpx.backends.search.sets.shares": "cpx.backends.search.rule_sets.cost_splitting",
    "cpx.baselines": "cpx.methods.rule_learners",
    "cpx.candidates": "cpx.methods.candidates",
    "cpx.classifier": "cpx.explainers.rule_set_classifier",
    "cpx.data.intervals": "cpx.data.statistics",
    "cpx.explaining": "cpx.explainers",
    "cpx.explanation": "cpx.answers.explanation",
    "cpx.methods.asking": "cpx.methods.queries",
    "cpx.methods.column_generation.bound": "cpx.methods.column_generation.bounds",
    "cpx.models.expected_prediction.sufficiency": "cpx.models.expected_prediction.same_decision",
    "cpx.models.k_monomial": "cpx.models.monomial.weighted",
    "cpx.models.losses": "cpx.models.minimum_subset.form",
    "cpx.models.monomial.k_monomial": "cpx.models.monomial.weighted",
    "cpx.models.monomial.max_precision": "cpx.models.monomial.precision_coverage",
    "cpx.models.rulesets": "cpx.models.rule_set",
    "cpx.ranking": "cpx.explainers.ranking",
    "cpx.reasons": "cpx.methods.reasons",
    "cpx.result": "cpx.answers.result",
    "cpx.rule_sets": "cpx.answers.rule",
    "cpx.rules": "cpx.answers.rule",
    "cpx.testing.smallest": "cpx.testing.minimum_subset",
}
"""New names of modules that the documentation named, by the old ones."""

MOVED_OUT = {
    f"cpx.methods.rule_learners.{name}": "benchmarks.peers.rule_learners"
    for name in ("bayesian_rules", "brcg_rules", "peers", "skope_rules")
}
"""Where names are that left the package, in a clone of the repository."""


class _OldName:
    """Finds a module under its old name: it is the module of the new name, not a copy."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # ``from package import name`` looks for a module when the package has no such name.
        if fullname in MOVED_OUT:
            name = fullname.rpartition(".")[2]
            raise ImportError(
                f"{name} is no longer part of the package: it is in {MOVED_OUT[fullname]}, in a "
                "clone of the repository",
                name=fullname,
            )
        new = _new_name(fullname)
        return (
            None if new is None else ModuleSpec(fullname, cast("Loader", self), loader_state=new)
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
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


def old_names(module: str, renamed: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module some of whose names are new, by the old ones."""

    def get(name: str) -> Any:
        if name not in renamed:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        new = renamed[name]
        _warn(f"{module}.{name}", new)
        return getattr(sys.modules[module], new)

    return get


class OldAttribute:
    """A class attribute under its old name."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.old = name

    def __get__(self, instance: object, owner: type) -> Any:
        _warn(f"{owner.__name__}.{self.old}", self.new)
        return getattr(owner, self.new)


def accept_old_attributes(cls: type) -> None:
    """Give a class, which sets attributes under old names of its base class, the new names."""
    for name in list(vars(cls)):
        for base in cls.__mro__[1:]:
            old = vars(base).get(name)
            if isinstance(old, OldAttribute):
                _warn(f"{cls.__name__}.{name}", old.new)
                setattr(cls, old.new, vars(cls)[name])
                delattr(cls, name)
                break


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is now {new}; the old name will go", DeprecationWarning, stacklevel=3)
