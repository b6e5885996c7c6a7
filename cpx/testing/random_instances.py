"""Random instances of the kinds that families draw, as the JSON objects that are saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpx.errors import InvalidInstance, UnknownName
from cpx.support.families import families
from cpx.support.lazy_imports import named_object
from cpx.testing.drawing import Instance, Random
from cpx.testing.truth import Truth

__all__ = ["draw", "kinds_drawn", "truth"]


def kinds_drawn() -> list[str]:
    """Return the kinds of problems that are drawn, and that a brute force solves."""
    return [kind for family in families() for kind in family.draw if kind in family.brute]


def draw(kind: str, rng: Random, scale: int = 1) -> Instance:
    """Return a random instance of a kind.

    kind: One of :func:`kinds_drawn`.
    scale: 1 for what the brute force can try whole; sizes grow with it.

    >>> import numpy as np
    >>> draw("k-monomial", np.random.default_rng(0))["problem"]
    'k-monomial'
    """
    instance: Instance = {"format": "cpx-instance", "version": 1, "problem": kind}
    registered = {kind: name for family in families() for kind, name in family.draw.items()}
    instance |= _registered("random instances", registered, kind)(kind, rng, scale)
    return instance


def truth(instance: Mapping[str, Any]) -> Truth:
    """Return what is right about a tiny saved instance, by the brute force of its family.

    >>> instance = {"problem": "k-monomial", "parameters": {"k": 1}, "samples": ["10", "01"],
    ...             "labels": "10"}
    >>> truth(instance).best
    (0, (0,))
    """
    registered = {kind: name for family in families() for kind, name in family.brute.items()}
    found: Truth = _registered("brute force", registered, instance["problem"])(instance)
    return found


def _registered(what: str, registered: Mapping[str, str], kind: str) -> Any:
    if kind not in registered:
        raise UnknownName("problem", kind, tuple(registered))
    return named_object(registered[kind], f"{what} of {kind}", InvalidInstance)
