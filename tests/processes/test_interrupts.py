"""What the first and the second Ctrl-C or SIGTERM do, inside and outside of what notes them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cpx.processes import interrupts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are others there")

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = [signal.getsignal(number) for number in BOTH]
    monkeypatch.setattr(interrupts, "_first", None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in zip(BOTH, before, strict=True):
        signal.signal(number, handler)


def test_the_first_is_noted_and_the_second_raises() -> None:
    event = threading.Event()
    with interrupts.noted(event):
        assert not event.is_set()
        signal.raise_signal(signal.SIGINT)
        assert event.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_signal_is_for_all_blocks_that_do_not_know_of_it() -> None:
    outer, inner = threading.Event(), threading.Event()
    with interrupts.noted(outer):
        signal.raise_signal(signal.SIGINT)
        with interrupts.noted(inner):
            # The inner block is new: this is the first that it hears.
            signal.raise_signal(signal.SIGINT)
        assert inner.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_handler_of_others_is_left_where_it_is() -> None:
    heard: list[int] = []

    def handler(number: int, frame: object) -> None:
        heard.append(number)

    signal.signal(signal.SIGINT, handler)
    with interrupts.noted(threading.Event()):
        signal.raise_signal(signal.SIGINT)
    assert heard == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is handler


def test_what_is_held_raises_at_its_end_unless_an_outer_block_notes_it() -> None:
    done = []

    def work() -> None:
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            done.append("inside")

    with pytest.raises(KeyboardInterrupt):
        work()
    event = threading.Event()
    with interrupts.noted(event):
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
        done.append("after")
    assert event.is_set()
    with interrupts.held():
        done.append("undisturbed")
    assert done == ["inside", "after", "undisturbed"]


def test_the_command_takes_both_for_one_another() -> None:
    interrupts.install()
    assert interrupts.exit_status() is None
    event = threading.Event()
    with interrupts.noted(event):
        signal.raise_signal(signal.SIGTERM)
        # The same once more, as to the group: not the second one.
        signal.raise_signal(signal.SIGTERM)
    assert event.is_set()
    assert interrupts.exit_status() == 128 + signal.SIGTERM
    interrupts.install()
    assert interrupts.exit_status() is None
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert interrupts.exit_status() == 130


def test_what_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupts.install()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is interrupts._handle


@pytest.mark.parametrize("number", BOTH)
def test_a_later_second_signal_ends_the_command_by_itself(number: signal.Signals) -> None:
    code = (
        "import signal, threading, time\nfrom cpx.processes import interrupts\n"
        "interrupts.install()\n"
        f"with interrupts.noted(threading.Event()):\n    signal.raise_signal({number:d})\n"
        f"    print('noted', flush=True)\n    time.sleep(0.6)\n"
        f"    signal.raise_signal({number:d})\n    print('not here')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.stdout, done.returncode) == (b"noted\n", -number)


def test_a_second_signal_leaves_no_folder(tmp_path: Path) -> None:
    code = (
        "import signal, threading, time\nfrom cpx.processes import children, interrupts\n"
        "interrupts.install()\n"
        "with children.scratch('cpx-') as folder, interrupts.noted(threading.Event()):\n"
        "    signal.raise_signal(2)\n    print(folder, flush=True)\n    time.sleep(0.6)\n"
        "    signal.raise_signal(2)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == -2
    assert done.stdout.startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", BOTH)
def test_a_worker_takes_one_and_no_more(number: signal.Signals) -> None:
    interrupts.once()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    signal.raise_signal(number)
    assert {signal.getsignal(each) for each in BOTH} == {signal.SIG_IGN}


@pytest.mark.parametrize("number", BOTH)
def test_what_a_library_keeps_to_itself_is_raised_after_it(number: signal.Signals) -> None:
    interrupts.install()
    before = [signal.getsignal(each) for each in BOTH]

    def work() -> None:
        with interrupts.interruptible():
            with suppress(KeyboardInterrupt):
                signal.raise_signal(number)
            assert interrupts.exit_status() == 128 + number

    with pytest.raises(KeyboardInterrupt):
        work()
    assert [signal.getsignal(each) for each in BOTH] == before
    with interrupts.interruptible():
        pass


def test_other_threads_are_left_alone() -> None:
    """Only the main thread can set handlers."""
    event, done = threading.Event(), []

    def work() -> None:
        with interrupts.noted(event), interrupts.held(), interrupts.interruptible():
            done.append(event in interrupts._events)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [False]


CLASH = """
from cpx.solving.clash import smallest_clash
smallest_clash(3, lambda some: None if {1} <= some else some)
"""
SCORE = """
from cpx.models.expected_prediction.methods.greatest_score import greatest_score
from cpx.models.expected_prediction.cases import random_expectation
greatest_score(random_expectation(0, "mixture"), ())
"""


@pytest.mark.parametrize("solve", [CLASH, SCORE])
def test_no_solve_by_cpsat_leaves_the_program_without_a_handler(solve: str) -> None:
    after = "import signal\ntry: signal.raise_signal(2)\nexcept KeyboardInterrupt: print('seen')"
    done = subprocess.run([sys.executable, "-c", solve + after], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "seen\n"), done.stderr
