"""Handling of Ctrl-C and SIGTERM: a solve is ended and keeps its incumbent.

SIGTERM is what ``timeout``, batch systems and containers send. In the command :func:`install`
makes it do what Ctrl-C does; in other programs SIGTERM is not ours to handle.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_BOTH = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM") if hasattr(signal, name))

# ``timeout`` and some batch systems send a signal to a program and to its group: twice.
_SAME = 0.5

_events: list[threading.Event] = []
_first: tuple[int, float] | None = None


def install() -> None:
    """Let SIGTERM do what Ctrl-C does, and a second signal end the program at once.

    A signal that whoever started the program ignores stays ignored.
    """
    global _first
    _first = None
    for number in _BOTH:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)


def exit_status() -> int | None:
    """Return the exit status of a program ended by the first signal; None without one."""
    return None if _first is None else 128 + _first[0]


def ignore() -> None:
    """Leave both to the process that started this one, which passes on what it wants."""
    for number in _BOTH:
        signal.signal(number, signal.SIG_IGN)


def once() -> None:
    """Let the first of them raise KeyboardInterrupt; later ones do nothing."""

    def handle(number: int, frame: FrameType | None) -> None:
        ignore()
        interrupt()

    for number in _BOTH:
        signal.signal(number, handle)


@contextmanager
def noted(event: threading.Event) -> Iterator[None]:
    """Let the first signal set an event in this block, not raise KeyboardInterrupt.

    For work that looks at the event, or that ends soon and must not be cut. A second Ctrl-C
    raises KeyboardInterrupt, and in the command ends it. Signals reach the main thread: in
    another one this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    plain = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    _events.append(event)
    try:
        if plain:
            signal.signal(signal.SIGINT, lambda number, frame: interrupt())
        yield
    finally:
        if plain:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        _events.remove(event)


@contextmanager
def held() -> Iterator[None]:
    """Do what must not be done in part; KeyboardInterrupt comes after it."""
    event = threading.Event()
    with noted(event):
        yield
    if event.is_set() and not _events:
        raise KeyboardInterrupt


def interrupt() -> None:
    """Set the events of the blocks that we are in; raise where there is none, or none new."""
    if all(event.is_set() for event in _events):
        raise KeyboardInterrupt
    for event in _events:
        event.set()


def _handle(number: int, frame: FrameType | None) -> None:
    global _first
    if _first is None:
        _first = (number, time.monotonic())
        interrupt()
    elif time.monotonic() - _first[1] > _SAME:
        _end_at_once(number)


def _end_at_once(number: int) -> None:
    from cpx.processes.children import end_all

    end_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    # The first process of a container is not ended by a signal that it does not handle.
    os._exit(128 + number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise what a signal raised during the block, also when a library kept it to itself.

    scikit-learn's perceptron turns ``KeyboardInterrupt`` into a warning, and whatever is raised
    in a callback of a compiled library is printed and forgotten.

    >>> from contextlib import suppress
    >>> try:
    ...     with interruptible(), suppress(KeyboardInterrupt):
    ...         signal.raise_signal(signal.SIGINT)
    ... except KeyboardInterrupt:
    ...     print("interrupted all the same")
    interrupted all the same
    """
    raised: list[BaseException] = []

    def noting(handler: Callable[..., Any]) -> Callable[..., None]:
        def handle(*args: Any) -> None:
            try:
                handler(*args)
            except BaseException as error:
                raised.append(error)
                raise

        return handle

    handlers: dict[signal.Signals, Any] = {}
    # Signals come to the main thread only, and only there handlers can be set.
    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        handlers = {number: handler for number, handler in found.items() if callable(handler)}
    for number, handler in handlers.items():
        signal.signal(number, noting(handler))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if raised:
        raise raised[0]
