"""Threads that have nothing to do, and what busy ones leave to them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

__all__ = ["Crew"]

Task = Callable[[], None]


class Crew:
    """Tasks of any thread, done by those that call :meth:`help`.

    Nobody waits for a task that is left: who leaves it does it where no other thread did.

    Examples
    --------
    >>> crew = Crew()
    >>> crew.wanted  # no thread is idle
    False
    >>> crew.leave(lambda: print("done"))
    >>> crew.help(0.01)
    done
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._tasks: deque[Task] = deque()
        self._idle = 0

    @property
    def wanted(self) -> bool:
        """Whether a thread is idle and has no task to take."""
        return self._idle > len(self._tasks)

    def leave(self, *tasks: Task) -> None:
        """Leave tasks to idle threads."""
        with self.changed:
            self._tasks.extend(tasks)
            self.changed.notify_all()

    def help(self, seconds: float) -> None:
        """Do a task, if there is one now or after so many seconds, or sooner."""
        with self.changed:
            if not self._tasks:
                self._idle += 1
                self.changed.wait(seconds)
                self._idle -= 1
            task = self._tasks.popleft() if self._tasks else None
        if task is not None:
            task()
