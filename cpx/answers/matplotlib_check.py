"""Whether pictures can be drawn."""

from __future__ import annotations

from cpx.errors import EngineMissing

__all__ = ["require_matplotlib"]


def require_matplotlib() -> None:
    """Raise EngineMissing with the pip line unless matplotlib is installed."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise EngineMissing("figures need matplotlib: pip install 'cpx-explain[plots]'")
