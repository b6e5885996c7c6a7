"""Threads, and what happens where there is no memory for one."""

from __future__ import annotations

import _thread
import threading
from typing import Any

import pytest

from cpx.processes.threads import run_threads, start_thread


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


def test_an_error_in_one_thread_stops_the_others_and_is_raised() -> None:
    told = threading.Event()

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_threads([lambda: told.wait(10), fail], told.set)
    assert told.is_set()


def test_without_memory_for_a_thread_those_that_run_are_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told, begin = threading.Event(), _thread.start_new_thread

    def second_fails(function: Any, arguments: Any) -> Any:
        monkeypatch.setattr(_thread, "start_new_thread", refuse)
        return begin(function, arguments)

    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", second_fails)
    with pytest.raises(MemoryError, match="thread"):
        run_threads([lambda: told.wait(10)] * 2, told.set)
    assert told.is_set()


def test_the_caller_looks_on_while_threads_run() -> None:
    looked = threading.Event()
    run_threads([lambda: looked.wait(10)], lambda: None, looked.set)
    assert looked.is_set()
