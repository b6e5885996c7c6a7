"""``cpx encodings``: the table, as text, as data and as a figure."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run, instance


def test_the_command_writes_text_data_and_figures(run: Run, tmp_path: Path) -> None:
    (tmp_path / "inst.json").write_text(json.dumps(instance()))
    done = run("encodings", "inst.json", "--as", "wcnf,lp", "-o", "t.md")
    assert done.exit_code == 0
    assert "not the problem, for study only: table1-literal" in done.stdout
    text = (tmp_path / "t.md").read_text()
    assert "| clausal | lp |" in text
    done = run("encodings", "inst.json", "--encoding", "clausal,sizes", "--json", "-o", "t.csv")
    rows = json.loads(done.stdout)["rows"]
    assert [(row["encoding"], row["form"]) for row in rows[3:5]] == [
        ("clausal", "cp-sat"),
        ("sizes", "wcnf"),
    ]
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 1 + len(rows)
    assert run("encodings", "inst.json", "--as", "wcnf,lp", "-o", "t.svg").exit_code == 0
    drawn = (tmp_path / "t.svg").read_text()
    assert "<svg" in drawn
    done = run("encodings", "inst.json", "-o", "t.txt")
    assert (done.exit_code, "must end with one of .md" in done.stderr) == (2, True)
    done = run("tree", "inst.json", "-o", "t.png")
    assert (done.exit_code, "'t.png' must end with .svg" in done.stderr) == (2, True)
