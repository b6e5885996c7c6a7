"""Threads, and what happens where there is no memory for one."""

from __future__ import annotations

import _thread
import threading
from typing import Any

import pytest

from cpx.processes.threads import start_thread


def test_the_event_is_set_at_the_end_and_not_before() -> None:
    go = threading.Event()
    ended = start_thread(lambda: go.wait(10))
    assert not ended.wait(0.05)
    go.set()
    assert ended.wait(10)


def test_a_thread_that_never_begins_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # As CPython does where it has no memory for the first call: the function is let go of.
    monkeypatch.setattr(_thread, "start_new_thread", lambda function, arguments: 0)
    with pytest.raises(MemoryError, match="thread"):
        start_thread(lambda: None)


def test_a_thread_that_the_system_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    with pytest.raises(MemoryError, match="thread"):
        start_thread(lambda: None)
