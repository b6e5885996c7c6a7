"""``-`` is standard input where a file is read, and standard output where one is written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cpx.cli import app


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call the command line in an empty directory, with something on standard input."""
    monkeypatch.chdir(tmp_path)

    def call(data: bytes, *args: object) -> Any:
        done = CliRunner().invoke(app, [str(arg) for arg in args], input=data)
        assert not Path("-").exists()
        return done

    return call


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_instance_and_its_result(piped: Any, inst: Path, pack: Any) -> None:
    data = pack(inst.read_bytes())
    done = piped(data, "solve", "-", "-b", "search", "-o", "-")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["objective"] == 1
    assert "a => yes" in done.stderr
    assert "cpx-dash" not in done.output
    assert piped(done.stdout_bytes, "check", inst, "-").exit_code == 0
    assert piped(done.stdout_bytes, "solve", inst, "-b", "search", "--hint", "-").exit_code == 0
    for command in (["show"], ["best"], ["compare", "-b", "search"]):
        assert piped(data, command[0], "-", *command[1:]).exit_code == 0
    proof = piped(data, "solve", "-", "-b", "search", "-o", "r.json", "--proof", "-").stdout_bytes
    assert json.loads(proof.splitlines()[0])["format"] == "cpx-proof"
    checked = piped(proof, "check", inst, "r.json", "--proof", "-")
    assert "OK proof" in checked.stdout


def test_exports(piped: Any, inst: Path) -> None:
    done = piped(inst.read_bytes(), "export", "-", "--to", "wcnf", "-o", "-")
    assert done.stdout.startswith("c k-monomial 'tiny'")
    assert done.stdout.rstrip().endswith(" 0")
    assert done.stderr.startswith("wrote standard output: wcnf, encoding clausal")


def test_tables_rows_and_models(piped: Any, table: Path) -> None:
    data = table.read_bytes()
    options = ("--target", "y", "--row", "0", "--model", "tree", "-k", "2")
    for pack in (bytes, gzip.compress):
        made = piped(pack(data), "make", "rule", "-", *options, "-m", "50", "-o", "-")
        instance = json.loads(made.stdout)
        assert instance["format"] == "cpx-instance"
        assert instance["name"] == "standard-input-0-k2"
    explained = piped(data, "explain", "-", *options, "-m", "50", "--fresh", "50")
    assert "standard input row 0" in explained.stdout
    learned = piped(data, "learn", "-", "--target", "y", "--time-limit", "2", "-o", "-")
    assert "rules" in json.loads(learned.stdout)


def test_designs(piped: Any, inst: Path) -> None:
    done = piped(b"instances = ['inst.json']\nengines = ['search']", "compare", "-", "--json")
    assert json.loads(done.stdout)["runs"][0]["objective"] == 1


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["check", "-", "-"], "INST and RESULT: '-' is standard input, and can be given once"),
        (["solve", "-", "--hint", "-"], "INST and --hint: '-' is standard input"),
        (["compare", "-", "-"], "INST and INST: '-' is standard input"),
        (["solve", "inst.json", "-o", "-", "--proof", "-"], "--output and --proof: '-' is st"),
        (["compare", "inst.json", "-o", "-"], "--output is a directory, and cannot be '-'"),
        (["library", "planted", "-o", "-"], "--output is a directory"),
        (["report", "-"], "DIR is a directory"),
        (["solve", "-"], "standard input is empty"),
    ],
)
def test_what_cannot_be(piped: Any, inst: Path, args: list[str], told: str) -> None:
    done = piped(b"", *args)
    assert done.exit_code == 2
    assert told in done.stderr


def test_errors_name_standard_input(piped: Any) -> None:
    done = piped(b"{", "solve", "-")
    assert done.stderr.startswith("cpx: error: standard input: no JSON")
