"""Progress bars on standard error, shown on terminals only."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from cpx.backends import Event
    from cpx.compare import Run, Task

__all__ = ["CompareProgress", "RunProgress", "on_terminal", "phase", "solve_progress"]


def on_terminal() -> bool:
    """Whether a person sees standard error."""
    return sys.stderr.isatty()


@contextmanager
def phase(text: str) -> Iterator[None]:
    """Show what is going on while the block runs."""
    if not on_terminal():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def solve_progress(engine: str, limit: float | None) -> Iterator[Callable[[Event], None] | None]:
    """Show best value, bound and gap of one solve; yields the listener for it."""
    if not on_terminal():
        yield None
        return
    with _bars() as bars:
        task = bars.add_task(engine, total=limit, state="starting")
        yield lambda event: bars.update(task, state=_state(event))


class RunProgress:
    """Shows the runs that are going on, and how many are done."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self._bars: Bars | None = _bars() if on_terminal() else None
        self._tasks: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
            self._all = self._bars.add_task("all runs", total=None, state=self._count())
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def started(self, key: Hashable, name: str, limit: float | None) -> None:
        """Note that a run starts; called from worker threads."""
        if self._bars is not None:
            with self._lock:
                self._tasks[key] = self._bars.add_task(name, total=limit, state="starting")

    def heard(self, key: Hashable, event: Event) -> None:
        """Note that a run gets better; called from worker threads."""
        if self._bars is not None:
            with self._lock:
                if key in self._tasks:
                    self._bars.update(self._tasks[key], state=_state(event))

    def ended(self, key: Hashable, line: str) -> None:
        """Note that a run is done; the line says how, where there are no bars."""
        self.done += 1
        if self._bars is None:
            from cpx.cli.output import note

            note(f"[{self.done}/{self.total}] {line}")
            return
        with self._lock:
            if key in self._tasks:
                self._bars.remove_task(self._tasks.pop(key))
            self._bars.update(self._all, state=self._count())

    def _count(self) -> str:
        return f"{self.done} of {self.total} done"


class CompareProgress(RunProgress):
    """Shows the runs of a comparison."""

    def __init__(self) -> None:
        super().__init__(0)

    def begin(self, tasks: Sequence[Task]) -> None:
        """Note what will be run."""
        self.total = len(tasks)

    def listen(self, task: Task, event: Event | None) -> None:
        """Note that a run starts or gets better; called from worker threads."""
        if event is None:
            name = f"{task.instance} {task.configuration}"
            self.started(task.key, name, task.options.time_limit)
        else:
            self.heard(task.key, event)

    def finished(self, run: Run) -> None:
        """Note that a run is done."""
        from cpx.answers.values import decimal, digits

        result = run.result
        values = (result.objective, result.bound)
        places = digits(values)
        value, bound = (None if v is None else decimal(v, places) for v in values)
        what = run.configuration
        if result.encoding and not result.options.get("encoding"):
            what += f" {result.encoding}"
        self.ended(
            run.key,
            f"{run.instance} {what} seed {run.seed}: {result.status} "
            f"{value} (bound {bound}) in {result.times.total:.2f} s",
        )


def _state(event: Event) -> str:
    from cpx.answers.result import relative_gap
    from cpx.answers.values import decimal, digits

    _, value, bound = event.point
    gap, places = relative_gap(value, bound), digits((value, bound))
    best, limit = ("-" if v is None else decimal(v, places) for v in (value, bound))
    return f"best {best}  bound {limit}  gap {'-' if gap is None else f'{gap:.1%}'}"


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn
    from rich.progress import Task as Line
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    class Clock(ProgressColumn):
        """Share of the time limit that is over."""

        def render(self, task: Line) -> ProgressBar | Text:
            if task.total is None:
                return Text("")
            return ProgressBar(
                total=task.total, completed=min(task.elapsed or 0.0, task.total), width=20
            )

    class Seconds(ProgressColumn):
        """Seconds so far, and the limit."""

        def render(self, task: Line) -> Text:
            limit = "" if task.total is None else f" of {task.total:g}"
            return Text(f"{task.elapsed or 0.0:.0f}{limit} s", style="cyan")

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        Clock(),
        Seconds(),
        TextColumn("[bold]{task.fields[state]}"),
        console=Console(stderr=True),
        transient=True,
    )
