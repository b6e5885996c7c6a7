from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from cpx import KMonomial, Samples, backends, solve
from cpx.backends import backend_class
from cpx.solving import servers, worker
from cpx.solving.servers import Server, prepare, shutdown


@pytest.fixture(autouse=True)
def none_idle() -> Iterator[None]:
    shutdown()
    yield
    shutdown()


def closed(server: Server) -> bool:
    """Say whether the end of the messages comes, after whatever was said before."""
    while not (message := server.messages.get(timeout=20)).get("closed"):
        assert message != {}
    return True


def test_what_was_prepared_or_given_back_is_taken_once() -> None:
    prepare("search")
    server = Server.take("search")
    assert server.child.running()
    server.give_back("search")
    assert Server.take("search") is server
    other = Server.take("search")
    assert other is not server
    other.end()
    server.end()


def test_who_prepares_and_waits_hears_that_the_engine_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, sent, kept = list[int](), list[dict[str, str]](), list[str]()
    answers = SimpleQueue[dict[str, str]]()
    server = SimpleNamespace(messages=answers, send=sent.append, give_back=kept.append)
    monkeypatch.setattr(Server, "take", lambda backend: server)

    def wait() -> bool:
        asked.append(len(asked))
        if len(asked) == 3:
            answers.put({"loaded": "search"})
        return len(asked) < 9

    prepare("search", wait=wait)
    assert sent == [{"backend": "search"}]
    assert len(asked) == 3
    assert answers.empty()
    assert kept == ["search"]


def test_one_that_died_is_ended_and_another_one_comes() -> None:
    server = Server.take("milp:highs")
    folder = server.child.folder
    server.give_back("milp:cbc")  # of the same family
    server.child.kill()
    assert server.child.wait(20)
    assert closed(server)
    other = Server.take("milp:highs")
    assert other is not server
    assert not folder.exists()
    other.end()


def test_an_idle_one_ends_by_itself_and_leaves_nothing() -> None:
    prepare("search")
    (server,) = servers._idle[backend_class("search")]
    # Idle once it has loaded the engine, which a busy machine takes long to do.
    solve(KMonomial(Samples([[1, 0], [0, 1]], [1, 0]), k=1), "search", isolate=True)
    shutdown()
    assert server.child.process.returncode == 0
    assert server.child.stdout.closed
    assert not server.child.folder.exists()
    assert not servers._idle


def test_nothing_reads_from_one_that_was_ended() -> None:
    """The number of its pipe is given to other files."""

    class Slow(SimpleQueue[dict[str, Any]]):
        def put(self, item: dict[str, Any], block: bool = True, timeout: object = None) -> None:
            time.sleep(0.2)
            super().put(item)

    server = Server.take("search")
    server.messages = Slow()
    server.end()
    assert not server._thread.is_alive()
    assert server.messages.get_nowait() == {"closed": True}


def test_files_and_folders_of_the_last_job_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server.take("search")
    folder = server.child.folder
    (folder / "model.mps").write_text("x")
    (folder / "sub").mkdir()
    (folder / "sub" / "log.txt").write_text("y")
    (folder / "link").symlink_to(folder / "sub")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(os, "rmdir", refuse)
        server.tidy()  # what cannot be removed stays, and is no error
    assert [path.name for path in folder.iterdir()] == ["sub"]
    server.tidy()
    assert list(folder.iterdir()) == []
    server.end()


def test_a_folder_that_was_cleaned_away_is_made_again() -> None:
    server = Server.take("search")
    server.child.folder.rmdir()
    server.tidy()
    assert server.child.folder.is_dir()
    if os.name == "posix":
        assert stat.S_IMODE(server.child.folder.stat().st_mode) == 0o700
    server.end()


def test_sending_to_one_that_died_is_no_error() -> None:
    server = Server.take("search")
    server.child.kill()
    assert server.child.wait(20)
    server.send({"backend": "search"}, b"x" * 100_000)
    assert closed(server)
    server.end()


def test_an_engine_is_loaded_once_however_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    class Engine:
        _preload = staticmethod(lambda: loaded.append("preload"))
        requires: ClassVar[dict[str, str]] = {}

    monkeypatch.setattr(backends, "backend", lambda name: Engine)
    worker._preload.cache_clear()
    worker._preload("mine")
    worker._preload("mine")
    worker._preload.cache_clear()
    assert loaded == ["preload"]
