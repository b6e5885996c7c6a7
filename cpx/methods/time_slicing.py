"""Turns of engines on fewer cores than they would use.

Shared evenly, three engines have two thirds of a core each on two cores, and none does what it
would do alone. Here one that has been silent for a while waits, the last named first, and the
others have a core each. Nobody knows which engine will rise late, so each has a start and a part
of the time in any case, and whoever speaks in it stays.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

# What an engine has before it has to wait: parts of the limit, and of the time so far. With three
# on two cores each of the others loses a third of that, less than 4 % of the limit.
_OF_LIMIT, _OF_TIME = 1 / 12, 1 / 32
_START = 1.0  # seconds, where there is no limit
# Who has spoken in this last part of its time need not wait.
_RECENT = 1 / 4


@dataclass(eq=False)
class Turn:
    """The turns of one engine: when it works, and when it last spoke.

    waits: Set while it has to wait.
    """

    waits: threading.Event = field(default_factory=threading.Event)
    _worked: float = 0.0
    _spoke: float = 0.0

    def speak(self) -> None:
        """Note that it has found or proved what no other one had."""
        self._spoke = self._worked

    def work(self, seconds: float) -> None:
        """Count the time since the last deal, if it had a turn."""
        if not self.waits.is_set():
            self._worked += seconds

    def may_wait(self, least: float) -> bool:
        """Whether it has had its least time and has been silent for a while."""
        silent = self._worked - self._spoke
        return self._worked > least and silent > _RECENT * self._worked


def deal(turns: Sequence[Turn], cores: int, elapsed: float, limit: float | None) -> None:
    """Let the engines that work have turns on the cores, one on each.

    turns: Who comes first has precedence.
    cores: How many can work at the same time.
    elapsed: Seconds since the start.
    limit: Seconds that they have.
    """
    start = _START if limit is None else _OF_LIMIT * limit
    least = start + _OF_TIME * elapsed
    may_wait = [turn for turn in reversed(turns) if turn.may_wait(least)]
    waiting = may_wait[: max(0, len(turns) - cores)]
    for turn in turns:
        if turn in waiting:
            turn.waits.set()
        else:
            turn.waits.clear()
