"""Sufficient reasons of tree models, found and proved by algorithms of our own.

Names are imported on first use, so that ``import cpx.reasons`` loads no engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cpx.reasons.minimum import MinimumReason, minimum_reason
    from cpx.reasons.oracle import Oracle, Stopped

__all__ = ["MinimumReason", "Oracle", "Stopped", "minimum_reason"]

_HOME = {
    "MinimumReason": "minimum",
    "Oracle": "oracle",
    "Stopped": "oracle",
    "minimum_reason": "minimum",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
