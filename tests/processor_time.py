"""Processor time, by which a test may say that something ends soon: a busy machine adds none."""

from __future__ import annotations

import os


def processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended.

    What hangs without working is ended by the limit that pytest has for a test.
    """
    return sum(os.times()[:4])
