from __future__ import annotations

import os
import subprocess
import sys

import pytest

import cpx

from .conftest import Run

COMMANDS = (
    "demo",
    "explain",
    "score",
    "learn",
    "extract",
    "make",
    "solve",
    "best",
    "check",
    "show",
    "export",
    "grade",
    "tree",
    "library",
    "compare",
    "report",
    "complexity",
    "backends",
    "doctor",
    "conformance",
)


def test_help_lists_the_commands_in_order(run: Run) -> None:
    text = run("--help").stdout
    places = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert "Exit codes: 0 proved, 3 a solution without proof" in text
    assert "..." not in text.split("Explain:")[1].split("Start here")[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_teaches(run: Run, name: str) -> None:
    done = run(name, "--help")
    assert done.exit_code == 0
    assert f"  cpx {name}" in done.stdout  # an example on its own line
    assert "Exit codes: 0" in done.stdout
    assert "\\b" not in done.stdout


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"cpx {cpx.__version__}\n"


def test_unknown_command_and_option_are_usage_errors(run: Run) -> None:
    assert run("slove").exit_code == 2
    assert run("backends", "--jsn").exit_code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("cpx solve inst.json --backend mil", {"milp", "milp:highs", "milp:cbc"}),
        ("cpx solve inst.json --encoding ch", {"channelling"}),
        ("cpx compare inst.json --backends cpsat,maxsat:l", {"cpsat,maxsat:lsu"}),
        ("cpx show inst.json --as cp", {"cpmpy", "cp-sat"}),
        ("cpx export inst.json --to w", {"wcnf"}),
        ("cpx explain t.csv --distribution un", {"uniform"}),
        ("cpx sol", {"solve"}),
    ],
)
def test_the_shell_completes_names(
    words: str, expected: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    from cpx.cli import app

    monkeypatch.setenv("_CPX_COMPLETE", "complete_zsh")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", words)
    with pytest.raises(SystemExit):
        app(prog_name="cpx")
    found = capsys.readouterr().out.replace("\\", "")
    for name in expected:
        assert f'"{name}"' in found


def _cpu() -> float:
    """Processor time of finished child processes: other work on the machine does not count."""
    spent = os.times()
    return spent.children_user + spent.children_system


def test_help_is_fast_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nsys.argv = ['cpx', '--help']\nfrom cpx.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'sklearn', 'cpmpy', 'ortools', 'pysat', 'pulp'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    times = []
    for _ in range(5):
        start = _cpu()
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        times.append(_cpu() - start)
    assert done.stdout.splitlines()[-1] == "[]"
    assert min(times) < 0.3
