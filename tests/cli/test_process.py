"""What only a real process shows: pipes, signals, the entry point."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from cpx.compare import Comparison
from tests.terminal import start

CPX = [sys.executable, "-m", "cpx.cli"]
Completed = subprocess.CompletedProcess[str]
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def test_a_pipe_has_no_progress_bar_and_one_json_object(inst: Path) -> None:
    done = subprocess.run(
        [*CPX, "solve", str(inst), "--json"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FORCE_COLOR": "1"},
    )
    assert json.loads(done.stdout)["status"] == "OPTIMAL"
    assert done.stderr == ""


def until(true: Callable[[], object]) -> None:
    """Wait until something is so, for a minute at most."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def processes_in(folder: Path) -> list[str]:
    """Return the processes that run in a folder, or have their temporary files there."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            here = os.readlink(process / "cwd")
            environment = (process / "environ").read_bytes()
            if str(folder) in here or f"CPX_FOLDER={folder}".encode() in environment:
                found.append(process.name)
    return found


def has_ortools(process: str) -> bool:
    """Whether a process has loaded OR-Tools, so that its solve is about to begin."""
    with suppress(OSError):
        return "ortools" in Path("/proc", process, "maps").read_text()
    return False


@posix
@pytest.mark.parametrize(
    ("number", "engine", "isolate"),
    [
        (signal.SIGINT, "cpsat", "--isolate"),
        pytest.param(signal.SIGTERM, "cpsat", "--no-isolate", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, "milp:cbc", "--isolate", marks=pytest.mark.slow),
        (signal.SIGTERM, "milp:cbc", "--no-isolate"),
    ],
)
def test_an_interrupted_solve_writes_its_incumbent(
    hard: Path, tmp_path: Path, number: int, engine: str, isolate: str
) -> None:
    folder, written = tmp_path / "temporary", tmp_path / "result.json"
    folder.mkdir()
    # Other encodings have CP-SAT prove it at once.
    asked = ["-b", engine, "--encoding", "clausal", "--hint", "0", isolate, "-o", str(written)]
    process = start(
        [*CPX, "solve", str(hard), *asked],
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    # The folders of the worker, and of CBC in it, are made when the solve is about to begin.
    if engine == "milp:cbc":
        until(lambda: list(folder.rglob("model.mps")))
    elif sys.platform == "linux":
        until(lambda: any(map(has_ortools, [str(process.pid), *processes_in(folder)])))
        time.sleep(0.5)
    else:
        time.sleep(4)
    # ``timeout`` signals the program and then its group, and so the program twice.
    process.send_signal(number)
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    result = json.loads(written.read_text())
    assert (result["status"], result["termination"]) == ("FEASIBLE", "INTERRUPTED")
    assert result["explanation"]["rule"]["literals"]
    assert result["verified"] is True
    if engine == "milp:cbc":
        assert result["times"]["compile"] > 0
    assert list(folder.iterdir()) == []
    if sys.platform == "linux":
        until(lambda: not processes_in(folder))


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux about processes")
def test_nothing_is_left_of_a_command_that_is_killed(hard: Path, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = start(
        [*CPX, "solve", str(hard), "-b", "milp:cbc", "--encoding", "clausal"],
        env={**os.environ, "TMPDIR": str(folder)},
    )
    until(lambda: list(folder.rglob("model.mps")))
    process.kill()
    process.communicate()
    until(lambda: not processes_in(folder))
    until(lambda: not list(folder.iterdir()))


TWICE = """
import subprocess, sys, threading, time
from cpx.processes import children, interrupts
interrupts.install()
child = children.Child([sys.executable, "-c", "import time; time.sleep(100)"])
with interrupts.noted(threading.Event()):
    print(child.process.pid, child.folder, flush=True)
    while True:
        time.sleep(0.05)
"""


@posix
def test_a_second_signal_ends_all_at_once() -> None:
    process = start([sys.executable, "-c", TWICE])
    pid, folder = process.stdout.readline().split()
    assert Path(folder).is_dir()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.8)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == -signal.SIGTERM
    assert not Path(folder).exists()

    def gone() -> bool:
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
        return False

    until(gone)


# Sends itself SIGTERM when a function is first entered, so that the moment is always the same.
# Sent again, it would end the command at once.
AT = """
import os, signal, sys
import {module} as module
real = {owner}.{name}
def interrupted(*args, **options):
    {owner}.{name} = real
    os.kill(os.getpid(), signal.SIGTERM)
    return real(*args, **options)
{owner}.{name} = interrupted
from cpx.cli import main
main()
"""


def interrupted_at(module: str, owner: str, name: str, *args: object) -> Completed:
    script = AT.format(module=module, owner=owner, name=name)
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@posix
@pytest.mark.parametrize(
    "model",
    [
        (),
        ("--model", "tree"),
        pytest.param(("--model", "tree", "--loop", "exact"), marks=pytest.mark.slow),
    ],
)
def test_sigterm_in_learning_keeps_the_rules_so_far(tmp_path: Path, model: tuple[str]) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (150, 4))
    y = np.where((X[:, 0] > 4) ^ (rng.random(150) < 0.2), "yes", "no")
    table, rules = tmp_path / "table.csv", tmp_path / "rules.json"
    text = [",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True)]
    table.write_text("\n".join(["a,b,c,d,y", *text]))
    where = (
        "cpx.models.rule_set.methods.column_generation.generate",
        "module.Generation",
        "by_search",
    )
    if model:
        where = ("cpx.models.decision_set.black_box", "module.BlackBox", "ask")
    done = interrupted_at(*where, "learn", table, "--target", "y", *model, "-o", rules)
    assert done.returncode == 3, done.stderr
    assert "interrupted: these are the rules found by then" in done.stderr
    found = json.loads(rules.read_text())
    assert "a > 4" in str(found["rules"]) or "a > 3" in str(found["rules"]), found["rules"]


@posix
@pytest.mark.parametrize("name", ["_search", "_checked"])
def test_sigterm_in_a_list_keeps_the_best_rule(hard: Path, inst: Path, name: str) -> None:
    home = "cpx.models.monomial.listing" if name == "_search" else "cpx.explainers.solutions"
    done = interrupted_at(home, "module", name, "best", inst)
    assert done.returncode == (3 if name == "_search" else 0), done.stderr
    assert "1.      1      0.667" in done.stdout


@posix
def test_sigterm_before_there_is_anything_ends_the_command(inst: Path) -> None:
    done = interrupted_at("cpx.modelling.instances", "module", "load", "show", inst)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "cpx: interrupted\n")


@posix
@pytest.mark.parametrize(
    "code",
    [
        # Before a command has begun, and in code that Python itself keeps an eye on.
        "main(lambda: os.kill(os.getpid(), signal.SIGTERM))",
        "main(lambda: app(['show', 'x.json']))",
    ],
)
def test_the_exit_status_is_that_of_the_signal_wherever_it_came(code: str) -> None:
    script = f"""
import os, signal, sys
import cpx.modelling.instances
from cpx.cli import app, main
cpx.modelling.instances.load = lambda *args: exec("os.kill(os.getpid(), signal.SIGTERM)")
{code}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "cpx: interrupted\n")


@posix
def test_sigterm_while_the_answer_is_written_lets_it_be_written(
    inst: Path, tmp_path: Path
) -> None:
    written = tmp_path / "result.json"
    done = interrupted_at(
        "cpx.support.files", "module", "write_atomic", "solve", inst, "-b", "search", "-o", written
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(written.read_text())["status"] == "OPTIMAL"


@posix
def test_ctrl_c_in_a_comparison_keeps_the_finished_runs(
    inst: Path, hard: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    asked = ["-b", "cpsat", "--encoding", "clausal", "-t", "100", "-o", str(folder)]
    process = start(
        [*CPX, "compare", str(inst), str(hard), *asked],
        stderr=subprocess.PIPE,
    )
    runs = folder / "runs.jsonl"
    while process.poll() is None and not (runs.exists() and "OPTIMAL" in runs.read_text()):
        time.sleep(0.1)
    time.sleep(0.4)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    assert "interrupted: not all runs were made" in out
    saved = Comparison.load(folder)
    assert not saved.complete
    assert saved.runs[0].result.status == "OPTIMAL"


def test_a_closed_pipe_is_quiet(hard: Path) -> None:
    done = subprocess.run(
        f"{' '.join(CPX)} show {hard} --as wcnf --full | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""
