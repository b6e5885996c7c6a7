"""Work sharing: tasks that busy threads leave, and idle ones take."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

__all__ = ["TaskPool"]

Task = Callable[[], None]


class _Batch:
    """Tasks, each of which is done by the first thread that takes it."""

    def __init__(
        self, changed: threading.Condition, tasks: Sequence[Callable[[], object]]
    ) -> None:
        self.changed, self.open, self._left = changed, len(tasks), list(tasks)

    def work(self) -> None:
        while True:
            with self.changed:
                if not self._left:
                    return
                task = self._left.pop()
            try:
                task()
            finally:
                with self.changed:
                    self.open -= 1
                    if not self.open:
                        self.changed.notify_all()


class TaskPool:
    """Tasks of any thread, done by those that call :meth:`help`.

    Nobody waits for a task that is left: who leaves it does it where no other thread did.

    >>> pool = TaskPool()
    >>> pool.wanted  # no thread is idle
    False
    >>> pool.leave(lambda: print("done"))
    >>> pool.help(0.01)
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

    def share(self, tasks: Sequence[Callable[[], object]]) -> None:
        """Do tasks, together with the threads that are idle, until all are done."""
        batch = _Batch(self.changed, tasks)
        self.leave(*[batch.work] * min(self._idle, len(tasks) - 1))
        batch.work()
        with self.changed:
            while batch.open:
                self.changed.wait()

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
