"""Child processes: what ends with them, what is removed, and who kills whom."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

from cpx.processes import children
from cpx.processes.children import Child, scratch

pytestmark = pytest.mark.skipif(os.name == "nt", reason="programs and groups are others there")

PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    # Idle workers of other tests are not ours to end.
    monkeypatch.setattr(children, "_running", weakref.WeakSet())
    monkeypatch.setattr(children, "_folders", {})
    return tmp_path


def gone(pid: int) -> bool:
    """Wait for the end of a process that is not ours to wait for."""
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_with_a_child_ends_what_it_has_started(place: Path) -> None:
    with Child(["sh", "-c", "sleep 60 & echo $!; wait"], "cpx-x-", **PIPES) as child:
        grandchild = int(child.stdout.readline())
        assert child.running()
        assert not child.wait(0.01)
        (folder,) = place.iterdir()
        assert folder == child.folder
        assert folder.name.startswith("cpx-x-")
    assert list(place.iterdir()) == []
    assert child.process.returncode == -signal.SIGKILL
    assert child.stdin.closed
    assert child.stdout.closed
    assert child not in children._running
    assert gone(grandchild)


def test_a_child_that_is_not_alone_gets_signals_for_itself() -> None:
    code = "sleep 60 & echo $!; wait"
    with Child(["sh", "-c", code], "cpx-", alone=False, **PIPES) as child:
        other = int(child.stdout.readline())
        assert os.getpgid(child.process.pid) == os.getpgid(0)
        child.signal(signal.SIGTERM)
        assert child.wait(30)
    assert child.process.returncode == -signal.SIGTERM
    os.kill(other, signal.SIGKILL)  # it was there still


def test_a_signal_to_one_that_has_ended_is_lost(place: Path) -> None:
    with Child(["true"], place) as child:
        assert child.wait(30)
        assert not child.running()
        child.signal(signal.SIGTERM)
        child.kill()
    assert child.process.returncode == 0
    assert place.exists()  # a folder that was given is not removed


def test_a_child_finds_its_folder_and_the_environment_that_it_is_given(place: Path) -> None:
    with Child(
        ["sh", "-c", 'echo "$TMPDIR $CPX_FOLDER $ONE $HOME"'],
        environment={"ONE": "1", "PATH": os.environ["PATH"], "TMPDIR": "elsewhere"},
        **PIPES,
    ) as child:
        told = child.stdout.read().decode()
    assert told == f"{child.folder} {child.folder} 1 \n"
    assert not children.is_child()


def test_a_program_that_is_not_there_leaves_no_folder(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Child([str(place / "nothing")])
    assert list(place.iterdir()) == []
    kept = place / "kept"
    kept.mkdir()
    with pytest.raises(FileNotFoundError):
        Child([str(place / "nothing")], kept)
    assert kept.exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what Linux has")
def test_a_guard_is_one_that_does_what_it_is_asked(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    find = children.find_guard.__wrapped__  # what it found before is kept
    monkeypatch.setenv("PATH", str(place))
    assert find() is None
    tool = place / "setpriv"
    for status in (0, 1):
        tool.write_text(f"#!/bin/sh\necho said\nexit {status}\n")
        tool.chmod(0o755)
        assert find() == (None if status else str(tool))
    assert capfd.readouterr() == ("", "")


def test_another_python_looks_where_this_one_does(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(Path(children.__file__).parents[2])
    missing = str(place / "archive.zip")
    monkeypatch.chdir(place)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([".", missing]))
    monkeypatch.setattr(sys, "path", ["", missing, str(place)])
    found = children.python_environment()["PYTHONPATH"].split(os.pathsep)
    assert found == [missing, root, str(place)]


@pytest.mark.parametrize("with_a_program", [True, False])
def test_a_guarded_child_ignores_sigterm_and_ends_with_its_parent(
    with_a_program: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if with_a_program and children.find_guard() is None:
        pytest.skip("no setpriv of util-linux")
    unguarded = "" if with_a_program else "children.find_guard = lambda: None\n"
    if unguarded:
        monkeypatch.setattr(children, "find_guard", lambda: None)
    with Child(
        ["sh", "-c", "kill -TERM $$; echo alive; sleep 60"], guarded=True, **PIPES
    ) as child:
        assert child.stdout.readline() == b"alive\n"
    code = (
        "import os, signal, subprocess\nfrom cpx.processes import children\n"
        f"{unguarded}from cpx.processes.children import Child\n"
        "child = Child(['sh', '-c', 'echo $$; exec sleep 60'], guarded=True, "
        "stdout=subprocess.PIPE)\n"
        "print(int(child.stdout.readline()), flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False)
    if sys.platform.startswith("linux"):
        assert gone(int(told.stdout))
    else:
        os.kill(int(told.stdout), signal.SIGKILL)


def test_a_guarded_child_of_a_parent_that_is_gone_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if children.find_guard() is None:
        pytest.skip("no setpriv of util-linux")
    monkeypatch.setattr(children.os, "getpid", lambda: 0)
    with Child(["echo", "started"], guarded=True, **PIPES) as child:
        assert (child.stdout.read(), child.process.wait(30)) == (b"", 1)


def test_a_guarded_program_that_is_not_there_is_an_error(place: Path) -> None:
    for name in ("no-such-program", str(place / "nothing"), "sub/nothing"):
        with pytest.raises(FileNotFoundError):
            Child([name], guarded=True)
    here = place / "sub"
    here.mkdir()
    (here / "tool").write_text("#!/bin/sh\necho found\n")
    (here / "tool").chmod(0o755)
    with Child(["./tool"], here, guarded=True, cwd=here, **PIPES) as child:
        assert child.stdout.read() == b"found\n"


def test_all_is_ended_and_removed_at_once(place: Path) -> None:
    with scratch("cpx-y-") as folder:
        (folder / "file").write_text("x")
        child = Child(["sleep", "60"], "cpx-z-", **PIPES)
        children.end_all()
        assert list(place.iterdir()) == []
        assert child.wait(30)
        child.end()
        assert child.process.returncode == -signal.SIGKILL


def test_a_temporary_folder_is_removed_also_after_an_error(place: Path) -> None:
    made = []

    def fail() -> None:
        with scratch("cpx-y-") as folder:
            made.append(folder in children._folders)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert made == [True]
    assert children._folders == {}
    assert list(place.iterdir()) == []


def test_only_a_folder_of_ours_is_removed_as_its_own(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, left in (("cpx-own", False), ("photos", True)):
        (place / name).mkdir()
        monkeypatch.setenv("CPX_FOLDER", str(place / name))
        assert children.is_child()
        children.remove_own_folder()
        assert (place / name).exists() is left
        children.remove_own_folder()  # once more does no harm
    monkeypatch.delenv("CPX_FOLDER")
    children.remove_own_folder()
    assert children.module("a.b", "-x") == [sys.executable, "-m", "a.b", "-x"]
