"""An engine whose module imports what it should import when it solves."""

from __future__ import annotations

from typing import ClassVar

import ortools  # noqa: F401

from cpx.backends.cpsat import CpSat


class ImportsAtOnce(CpSat):
    name: ClassVar[str] = "imports-at-once"
