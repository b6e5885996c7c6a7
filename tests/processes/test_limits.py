"""Limits of memory, cores, and what is left by who was killed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cpx import KMonomial, Samples
from cpx.answers.result import Status, Termination
from cpx.options import SolveOptions
from cpx.processes import children, limits
from cpx.processes.limits import Limits, MemoryGroup, claimed_cores, locked_folder, usable_cores
from cpx.solving import isolate
from cpx.solving.isolate import run_isolated
from cpx.solving.servers import shutdown
from tests.processor_time import processor_seconds

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what Linux has")


def _problem() -> KMonomial:
    rng = np.random.default_rng(0)
    agreement = rng.random((60, 8)) < 0.6
    return KMonomial(Samples(agreement, agreement[:, 0] & agreement[:, 1]), k=2)


@linux
def test_a_control_group_is_used_where_one_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A folder with the files of one, in which nothing is enforced.
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory\n")
    monkeypatch.setattr(limits, "_own_group", lambda: tmp_path)
    made: list[Path] = []

    def keep(group: MemoryGroup) -> None:
        made.append(group.folder)
        (group.folder / "memory.peak").write_text("12345\n")

    enforced = 50_000_000
    real = MemoryGroup.__init__

    def init(group: MemoryGroup, limit: int) -> None:
        real(group, limit)
        keep(group)

    monkeypatch.setattr(MemoryGroup, "__init__", init)
    shutdown()
    result = run_isolated(
        _problem(), "search", SolveOptions(time_limit=60), limits=Limits(memory=enforced)
    )
    # So little address space would not do.
    assert result.status is Status.OPTIMAL
    assert result.memory == 12345
    (folder,) = made
    assert (folder / "memory.max").read_text() == str(enforced)
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "cgroup.procs").read_text() == "0"


@linux
def test_the_only_process_of_a_group_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    monkeypatch.setattr(limits, "_own_group", lambda: tmp_path)
    group = MemoryGroup(10**9)
    assert (tmp_path / "cpx-main" / "cgroup.procs").read_text() == "0"
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory"
    assert group.peak() is None
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    (tmp_path / "cgroup.subtree_control").write_text("")
    MemoryGroup(10**9)
    # Others are there: they are left where they are, and the system decides.
    assert (tmp_path / "cpx-main" / "cgroup.procs").read_text() == "0"
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (tmp_path / "cgroup.subtree_control").write_text("")
    last = MemoryGroup(10**9)  # the group made room before
    for file in last.folder.iterdir():
        file.unlink()  # which the system does itself
    last.remove()
    assert not last.folder.exists()
    last.remove()


@linux
def test_a_group_that_cannot_be_limited_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("memory\n")
    monkeypatch.setattr(limits, "_own_group", lambda: tmp_path)

    def refuse(path: Path, text: str) -> int:
        raise PermissionError(path.name)

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(PermissionError, match=r"memory\.max"):
        MemoryGroup(10**9)
    assert [path.name for path in tmp_path.iterdir()] == ["cgroup.subtree_control"]


def test_without_control_groups_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_own_group", lambda: tmp_path / "nothing")
    with pytest.raises(OSError, match="nothing"):
        MemoryGroup(10**9)


@linux
def test_cores_are_claimed_by_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    every = usable_cores()
    with claimed_cores(len(every)) as all_of_them:
        assert all_of_them == every
        with claimed_cores(1) as none:
            assert none is None
        code = "from cpx.processes.limits import claimed_cores as c\nwith c(1) as m: print(m)"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )  # fmt: skip
        assert done.stdout == "None\n"
    with claimed_cores(1) as one:
        assert one is not None
        assert len(one) == 1


@linux
def test_what_is_not_enough_is_given_back_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 4321)
    with claimed_cores(len(usable_cores()) + 1) as none:
        assert none is None
        with claimed_cores(1) as one:
            assert one is not None
    (folder,) = tmp_path.iterdir()
    assert folder.name == "cpx-cores-4321"
    # Nobody else is to hold our locks.
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@linux
def test_the_cores_are_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set() if pid else {5, 2})
    assert usable_cores() == [2, 5]


@linux
def test_our_group_is_that_of_version_2(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["4:memory:/other", "0::/user/one"]
    monkeypatch.setattr(Path, "read_text", lambda path: "\n".join(lines))
    assert limits._own_group() == Path("/sys/fs/cgroup/user/one")
    lines.pop()
    with pytest.raises(FileNotFoundError, match="version 2"):
        limits._own_group()


@linux
def test_without_a_place_for_locks_no_core_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"cpx-cores-{os.getuid()}").write_text("")
    with claimed_cores(1) as none:
        assert none is None


@linux
def test_the_system_tells_how_many_it_has_ended_for_memory() -> None:
    told = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    before = int(told["oom_kill"]) if "oom_kill" in told else None
    now = limits.kills_for_memory()
    assert now is before if before is None else before <= (now or 0) <= before + 1000


@linux
def test_folders_of_the_killed_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = (
        "import os, signal\nfrom cpx.processes.children import scratch\n"
        "with scratch('cpx-x-') as folder:\n"
        "    (folder / 'model.mps').write_text('x')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    (left,) = tmp_path.iterdir()
    # One whose owner lives is not touched, nor what is not known to be ours.
    held = tmp_path / "cpx-y-1.locked"
    held.mkdir()
    lock = locked_folder(held)
    (tmp_path / "cpx-old").mkdir()
    monkeypatch.setattr(children, "_swept", False)
    files = os.listdir("/proc/self/fd")
    with children.scratch("cpx-z-") as mine:
        assert sorted(tmp_path.iterdir()) == sorted([mine, held, tmp_path / "cpx-old"])
    assert not left.exists()
    assert len(os.listdir("/proc/self/fd")) == len(files)
    assert lock is not None
    os.close(lock)


@linux
@pytest.mark.parametrize(
    ("engine", "megabytes"),
    [
        *((e, m) for e in ("cpsat", "maxsat:rc2", "milp:highs") for m in (10, 100, 200)),
        *(("search", m) for m in (10, 100)),  # 200 are enough for it
    ],
)
def test_without_memory_engines_end_at_once_with_what_is_known(
    engine: str, megabytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Less address space than the worker has, so that there is none for a thread.
    monkeypatch.setattr(isolate, "_memory_group", lambda _: None)
    options = SolveOptions(time_limit=600, hint=(0,))
    start = processor_seconds()
    result = run_isolated(_problem(), engine, options, limits=Limits(memory=megabytes * 10**6))
    assert processor_seconds() - start < 60
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.MEMORY_LIMIT)
    assert result.verified
    assert result.explanation is not None
    assert result.explanation.features == (0,)
