from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.papers.commands import app
from tests.benchmarks.papers.conftest import numbers, write_tables


def run(*args: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["koriche", *map(str, args)])
    return result.exit_code, result.output


@pytest.mark.usefixtures("_trained_here")
def test_a_table_is_made_and_resumed(tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data", vote=(numbers(), ["code"]))
    args = ["--data", data, "-o", tmp_path / "out", "-n", 2, "--datasets", "vote", "-k", 2]
    args += ["--methods", "loss,exact", "-m", 100]
    code, output = run(*args, "--show")
    assert (code, "2 to do" in output) == (3, True)
    code, output = run(*args)
    assert code == 0
    assert "4 tasks, 0 made before, 4 to do" in output
    assert "search |S|=k" in output
    code, output = run(*args)
    assert (code, "4 tasks, 4 made before, 0 to do" in output) == (0, True)
    kept = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert "| vote | 9 |" in kept
    assert len((tmp_path / "out" / "results.csv").read_text().splitlines()) == 5


def test_wrong_input_is_named(tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data", vote=(numbers(), ["code"]))
    for args, told in [
        (["--methods", "cob"], "unknown method 'cob' (did you mean 'cop'?)"),
        (["--datasets", "votes"], "unknown data set 'votes' (did you mean 'vote'?)"),
        (["--datasets", "iris"], "index.json: 'iris' must be an object"),
        (["--datasets", "vote", "--jobs", 0], "jobs must be at least 1, got 0"),
        (["--datasets", "vote", "-n", 0], "instances"),
    ]:
        code, output = run("--data", data, "-o", tmp_path / "out", *args)
        assert (code, told in output.replace("\n", " ")) == (2, True), output
