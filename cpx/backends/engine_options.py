"""Options of engines by their own names.

``cpsat{linearization_level=2}`` is an engine with one of its options set; a backend lists the
options that it takes (:meth:`Backend.options <cpx.backends.base.Backend.options>`). Those that
would change what an engine may claim, such as its tolerances, are not among them, nor what has a
name of ours: threads, seeds, limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from cpx.errors import InvalidOption, shown

__all__ = ["EngineOption"]


@dataclass(frozen=True)
class EngineOption:
    """What one option of an engine takes.

    Attributes
    ----------
    kind : type
        ``bool``, ``int``, ``float``, ``str``, or ``list``, of texts.
    least, most : int or float, optional
        Of a number.
    choices : tuple of str
        Of a text; empty where any will do.

    Examples
    --------
    >>> EngineOption(float, least=0).read("effort", 1)
    1.0
    """

    kind: type
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()

    def read(self, name: str, value: Any) -> Any:
        """Return the value as the engine takes it.

        Raises
        ------
        InvalidOption
            With the name, what it takes, and the value.
        """
        if self.kind is list:
            if isinstance(value, str):
                return [value]
            if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
                return list(value)
        elif self.kind in (int, float):
            whole = isinstance(value, int) and not isinstance(value, bool)
            number = whole or (self.kind is float and isinstance(value, float))
            if number and self.least <= value <= self.most:
                return self.kind(value)
        elif isinstance(value, self.kind) and (not self.choices or value in self.choices):
            return value
        raise InvalidOption(f"{name} must be {self._wanted()}, got {shown(value)}")

    def _wanted(self) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        kinds = {bool: "true or false", int: "an integer", float: "a number", str: "a text"}
        text = kinds.get(self.kind, "a list of texts")
        if self.least > -math.inf:
            text += f" from {self.least:g}"
        return text + (f" to {self.most:g}" if self.most < math.inf else "")
