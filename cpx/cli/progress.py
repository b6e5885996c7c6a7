"""Progress bars on standard error, shown on terminals only."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Self

from cpx.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from cpx.backends import Event
    from cpx.compare import Run, Task

_SHORT_WAIT = 60.0  # seconds, below which nobody has to know the end


def on_terminal() -> bool:
    """Whether a person sees standard error."""
    return sys.stderr.isatty()


@contextmanager
def phase(text: str, long: bool = False) -> Iterator[None]:
    """Show what is going on while the block runs; in a pipe, where that may take long."""
    if not on_terminal():
        if long:
            from cpx.cli.output import note

            note(text)
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(printable(text))):
        yield


@contextmanager
def training(model: str, rows: int) -> Iterator[None]:
    """Say that a model is trained while the block does so, of small tables in one thread.

    On a busy machine the threads of boosting wait for each other: 7 s in place of 0.1.
    """
    from cpx.support.one_thread import one_thread

    limited = one_thread() if rows <= 100_000 else nullcontext()
    with phase(f"training {model} on {rows} rows", long=True), limited:
        yield


@contextmanager
def solve_progress(engine: str, limit: float | None) -> Iterator[Callable[[Event], None] | None]:
    """Show best value, bound and gap of one solve; yields the listener for it."""
    if not on_terminal():
        yield None
        return
    with _bars() as bars:
        task = bars.add_task(printable(engine), total=limit, state="starting")
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
                task = self._bars.add_task(printable(name), total=limit, state="starting")
                self._tasks[key] = task

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

            note(f"[{self.done}/{self.total}] {line}{self._end()}")
            return
        with self._lock:
            if key in self._tasks:
                self._bars.remove_task(self._tasks.pop(key))
            self._bars.update(self._all, state=self._count())

    def _count(self) -> str:
        return f"{self.done} of {self.total} done{self._end()}"

    def _end(self) -> str:
        """Say when all will be done, where that is known."""
        return ""


class CompareProgress(RunProgress):
    """Shows the runs of a comparison."""

    def __init__(self) -> None:
        super().__init__(0)
        self._waiting: Counter[str] = Counter()
        self._limits = 0  # how many different ones the runs have
        self._spent: dict[str, list[float]] = defaultdict(list)
        self._began = time.monotonic()

    def begin(self, tasks: Sequence[Task]) -> None:
        """Note what will be run."""
        self.total = len(tasks)
        self._waiting = Counter(task.configuration for task in tasks)
        self._limits = len({task.options.time_limit for task in tasks})
        self._began = time.monotonic()

    def _end(self) -> str:
        left = seconds_left(self._waiting, self._spent, time.monotonic() - self._began)
        if left is None or left < _SHORT_WAIT:
            return ""
        return f", ends about {time.strftime('%H:%M', time.localtime(time.time() + left))}"

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
        self._waiting[run.configuration] -= 1
        self._spent[run.configuration].append(result.times.total)
        values = (result.objective, result.bound)
        places = digits(values)
        value, bound = (None if v is None else decimal(v, places) for v in values)
        what = run.configuration
        if result.encoding and not result.options.get("encoding"):
            what += f" {result.encoding}"
        what += f" seed {run.seed}"
        limit = result.options.get("time_limit")
        if self._limits > 1:
            what += f" limit {limit:g} s" if limit else " no limit"
        self.ended(
            run.key,
            f"{run.instance} {what}: {result.status} "
            f"{value} (bound {bound}) in {result.times.total:.2f} s",
        )


def seconds_left(
    waiting: Mapping[str, int], spent: Mapping[str, Sequence[float]], elapsed: float
) -> float | None:
    """Return how long the runs that are left will take; None before one is done.

    waiting: Runs of each configuration that are not done.
    spent: Seconds of those that are done.
    elapsed: Seconds since the first one began.

    >>> seconds_left({"fast": 10, "slow": 2}, {"fast": [1.0, 1.0], "slow": [18.0]}, 10.0)
    23.0
    """
    done = [seconds for each in spent.values() for seconds in each]
    if not sum(done):
        return None
    means = {name: sum(each) / len(each) for name, each in spent.items() if each}
    overall = sum(done) / len(done)
    left = sum(count * means.get(name, overall) for name, count in waiting.items())
    # Several at a time, and the time between runs: as it has been so far.
    return left * elapsed / sum(done)


def _state(event: Event) -> str:
    from cpx.answers.result import relative_gap
    from cpx.answers.values import decimal, digits
    from cpx.support.shares import percent

    _, value, bound = event.point
    gap, places = relative_gap(value, bound), digits((value, bound))
    best, limit = ("-" if v is None else decimal(v, places) for v in (value, bound))
    return f"best {best}  bound {limit}  gap {'-' if gap is None else percent(gap)}"


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
        TextColumn("{task.description}", markup=False),
        Clock(),
        Seconds(),
        TextColumn("[bold]{task.fields[state]}"),
        console=Console(stderr=True),
        transient=True,
    )
