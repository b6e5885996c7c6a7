"""The kinds of problems that are known, found through the entry points ``cpx.problems``.

Ours are registered like those of other packages. A class is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from cpx.errors import InvalidInstance, UnknownName, shown
from cpx.models.base import Problem

__all__ = ["PROBLEMS", "problem_class", "register", "require_registered"]

GROUP = "cpx.problems"

# The entry points of our own pyproject, so that a source tree on the path works uninstalled.
_OURS = {
    "k-monomial": "cpx.models.monomial.k_monomial:KMonomial",
    "negative-only": "cpx.models.monomial.negative_only:NegativeOnly",
    "max-precision": "cpx.models.monomial.max_precision:MaxPrecision",
    "max-coverage": "cpx.models.monomial.max_coverage:MaxCoverage",
    "min-certificate": "cpx.models.certificate.problem:MinCertificate",
    "sufficient-reason": "cpx.models.sufficient_reason.problem:SufficientReason",
    "rule-set": "cpx.models.rule_set.selection:RuleSetSelection",
    "rule-set-learning": "cpx.models.rule_set.learning:RuleSetLearning",
    "kernel-rule": "cpx.models.kernel_rule.problem:KernelRule",
}

_registered: dict[str, type[Problem]] = {}


def register(cls: type[Problem]) -> type[Problem]:
    """Register a class of problems for this process, without an entry point; a decorator.

    Other processes and other sessions only know installed entry points: what is saved by a class
    that is registered here can be loaded where it is registered again.
    """
    _registered[cls.kind] = cls
    return cls


@cache
def _entry_points() -> dict[str, EntryPoint]:
    found = {kind: EntryPoint(kind, value, GROUP) for kind, value in _OURS.items()}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point)
    return found


@cache
def _loaded(kind: str) -> type[Problem]:
    point = _entry_points()[kind]
    module, _, attribute = point.value.partition(":")
    try:
        cls = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InvalidInstance(
            f"problem {shown(kind)} ({point.value}) cannot be loaded: {error}"
        ) from error
    if not (isinstance(cls, type) and issubclass(cls, Problem) and cls.kind == kind):
        raise InvalidInstance(
            f"problem {shown(kind)} ({point.value}) is no cpx.models.Problem of that kind"
        )
    return cls


class _Problems(Mapping[str, type[Problem]]):
    """Classes of problems by their kind; ours first."""

    def __getitem__(self, kind: str) -> type[Problem]:
        if kind in _registered:
            return _registered[kind]
        return _loaded(kind)

    def __iter__(self) -> Iterator[str]:
        return iter({**_entry_points(), **_registered})

    def __len__(self) -> int:
        return len({*_entry_points(), *_registered})


PROBLEMS: Mapping[str, type[Problem]] = _Problems()
"""Problem classes by their kind, of all installed packages."""


def problem_class(kind: object) -> type[Problem]:
    """Return the class of a kind of problem.

    Raises
    ------
    UnknownName
        With the known kinds and the nearest one.
    InvalidInstance
        When the module of a registered one cannot be imported, or has no such problem.

    Examples
    --------
    >>> problem_class("k-monomial").__name__
    'KMonomial'
    """
    if not isinstance(kind, str) or kind not in [*PROBLEMS]:
        raise UnknownName("problem", kind, PROBLEMS)
    return PROBLEMS[kind]


def require_registered(problem: Problem) -> None:
    """Raise InvalidInstance unless the class of a problem is the one its kind stands for.

    What is saved under the name of another class, such as a parent, would be read as that.
    """
    cls, kind = type(problem), problem.kind
    known = PROBLEMS[kind] if kind in [*PROBLEMS] else None
    if known is not cls:
        why = f"its kind {shown(kind)} is not registered"
        if known is not None:
            why = f"its kind {shown(kind)} is that of {known.__name__}"
        raise InvalidInstance(
            f"{cls.__name__} cannot be saved: {why}; a package names its problems in the entry "
            f"points {GROUP}"
        )
