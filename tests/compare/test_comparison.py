from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cpx.compare import Comparison
from cpx.errors import InvalidInstance, OutputError, printable
from cpx.support.files import from_cell

from .helpers import run

MIXED = Comparison(
    (
        run("OPTIMAL", 5, 5, name="one", seconds=2.0),
        run("FEASIBLE", 7, 3, name="one", backend="milp", solver="highs"),
        run("OPTIMAL", 6, 6, name="two", backend="bad"),
        run("FEASIBLE", 5, 4, name="two"),
        run("ERROR", None, None, name="two", backend="ill", raw_status="Boom: x"),
    ),
    {"jobs": 1, "memory": None},
    complete=False,
)


def test_saved_and_loaded_again(tmp_path: Path) -> None:
    MIXED.save(tmp_path)
    assert Comparison.load(tmp_path) == MIXED


def test_files_round_trip(tmp_path: Path) -> None:
    MIXED.save(tmp_path)
    assert Comparison.load(tmp_path) == MIXED
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert [row["contradicted"] for row in rows] == ["False", "False", "True", "False", "False"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.csv", "runs.jsonl"]


def test_no_text_is_a_formula(tmp_path: Path) -> None:
    names = ("=1+1", "+a", "-a", "@a", "\ta", "\ra", "'=1", "''=1", "'plain", "a = 1", "")
    runs = tuple(run("OPTIMAL", -5, -5, name=name) for name in names)
    Comparison(runs, {}, complete=True).save(tmp_path)
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["instance"][:1] not in tuple("=+-@\t\r") for row in rows)
    assert [from_cell(row["instance"]) for row in rows] == [*map(printable, names)]
    assert {row["objective"] for row in rows} == {"-5"}


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInstance, match=r"runs\.jsonl: cannot be read"):
        Comparison.load(tmp_path)
    for text, message in (
        ("{", "no JSON"),
        ("[]", "not an object"),
        ('{"session": {}}', "format"),
        ('{"format": "cpx-runs", "version": 2, "session": {}}', "version 2"),
        ('{"run": 3}', "a run must be an object"),
    ):
        (tmp_path / "runs.jsonl").write_text(text + "\n")
        with pytest.raises(InvalidInstance, match=message):
            Comparison.load(tmp_path)
    with pytest.raises(OutputError):
        MIXED.save(tmp_path / "not there")


def test_wrong_answers_are_flagged_loudly_and_not_ranked() -> None:
    assert list(MIXED.contradictions) == ["two"]
    assert MIXED.failed
    assert MIXED.best("two").objective == 5
    text = str(MIXED)
    # Once, below the table of its instance, and not in the summary again.
    assert text.count("bad (encoding clausal, seed 0) claims the optimum 6") == 1
    assert "CONTRADICTION: bad (encoding clausal, seed 0) claims the optimum 6" in text
    assert next(
        line for line in text.partition("all instances")[2].splitlines() if "WRONG" in line
    )
    line = next(line for line in text.splitlines() if line.startswith("bad"))
    assert "WRONG" in line
    assert "*" not in line


def test_table_lines() -> None:
    text = str(MIXED)
    lines = [line.split() for line in text.splitlines()]
    assert [
        "cpsat",
        "clausal",
        "proved",
        "5",
        "*",
        "5",
        "0",
        "%",
        "1.00",
        "2.00",
        "0.00",
        "-",
    ] in lines
    row = "milp:highs clausal time limit 7 3 57.1 % 0.50 1.00 0.00 -"
    assert row.split() in lines
    assert ["virtual", "best", "proved", "5", "5", "0", "%", "2.00"] in lines
    assert ["error:", "ill:", "Boom:", "x"] in lines
    assert "interrupted: not all runs were made" in text
    # In a pipe nothing is wrapped or cut.
    assert sum(
        "has a checked solution of value 5; not ranked" in line for line in text.splitlines()
    )


def test_table_is_aligned_and_plain() -> None:
    text = str(Comparison(MIXED.runs[:2]))
    assert text.isascii()
    header, rule, *_ = text.splitlines()[1:]
    assert header.startswith("engine")
    assert set(rule.strip()) == {"-"}


def test_encodings_and_seeds_get_columns_when_there_are_several() -> None:
    two = Comparison((run("OPTIMAL", 5, 5), run("OPTIMAL", 5, 5, encoding="reified")))
    header = str(two).splitlines()[1]
    assert "encoding" in header
    assert "seed" not in header


def test_small_gaps_are_not_rounded_to_a_proof() -> None:
    text = str(Comparison((run("FEASIBLE", 100_000, 99_999),)))
    assert " 0.1 %" in text


def test_empty() -> None:
    assert str(Comparison()) == "no runs"
