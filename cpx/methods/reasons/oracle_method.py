"""Base class of the methods that use the sufficiency oracle."""

from __future__ import annotations

from typing import ClassVar

from cpx.backends.base import Backend
from cpx.compiled.machine_code import load

__all__ = ["OracleMethod"]


class OracleMethod(Backend):
    """A method that asks :class:`~cpx.trees.sufficiency.oracle.SufficiencyOracle`."""

    requires: ClassVar[dict[str, str]] = {"llvmlite": "llvmlite>=0.45,<0.60"}
    needs_model: ClassVar[bool] = False

    @classmethod
    def preload(cls) -> None:
        """Import the packages, and load the compiled kernels."""
        super().preload()
        load()
