"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from hypothesis import settings

from tests.defaults import limit_calls

limit_calls(None)

# The tests run on all cores already. Threads that wait for each other over small matrices took
# most of the time of those that train a network; what they start inherits it.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")  # so many threads LightGBM takes

# Hypothesis draws other examples in each run; ``make slow`` asks for more of them. An example may
# take as long as it does on a busy machine.
settings.register_profile("few", max_examples=30, deadline=None)
settings.register_profile("many", max_examples=300, deadline=None)
settings.load_profile("few")

# The commands are built from their functions once, and not whenever a test calls one.
if built := getattr(typer.testing, "_get_command", None):
    typer.testing._get_command = cache(built)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Jobs in the background of a shell script ignore Ctrl-C, and so would all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than there are cores: many tests wait, for a limit or a child."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 1


def pytest_sessionstart(session: pytest.Session) -> None:
    """Share among the processes the compiling of the test modules of a new clone.

    Each would compile all of them at the same time, which takes seconds. So each imports its part
    first, and finds what the others wrote when it collects. There is no garbage until then, and
    looking for it took a fourth of the time.
    """
    gc.disable()
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args != session.config.getini("testpaths"):
        return
    number, folder = int(worker["workerid"].removeprefix("gw")), Path(__file__).parent
    for path in sorted(folder.rglob("test_*.py"))[number :: worker["workercount"]]:
        name = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):  # told when it is collected
            import_module(name)


def pytest_collection_finish() -> None:
    """Keep what was collected, some million objects, out of all later garbage collections.

    These come after more objects than usual: there is little garbage in circles, and they took a
    fortieth of the time.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20)


@pytest.fixture(scope="session")
def demo_question() -> Any:
    """Return what ``cpx demo`` asks; a network is trained for it."""
    from cpx.cli.demo import _question

    return _question()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    """Undo what the command does to signals: it ends with them ignored, as its process does."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        return (yield)
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)
