from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpx.compare import Comparison

from ..compare.helpers import run as made
from .conftest import Run


def kept(folder: Path) -> None:
    runs = [
        made("OPTIMAL", 5, 5, name="one", seconds=2.0),
        made("FEASIBLE", 7, 3, name="one", backend="milp", solver="highs"),
        made("OPTIMAL", 6, 6, name="two", seconds=4.0),
    ]
    folder.mkdir()
    Comparison(tuple(runs)).save(folder)


@pytest.mark.parametrize("forms", ["svg", pytest.param("svg,png", marks=pytest.mark.slow)])
def test_report_writes_a_page_figures_and_tables(run: Run, tmp_path: Path, forms: str) -> None:
    kept(tmp_path / "results")
    done = run("report", "results", "--title", "Two <b>", "--figures", forms, "--tables")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    page = Path("results/report.html").read_text(encoding="utf-8")
    assert "Two &lt;b&gt;" in page
    assert "cpsat clausal proves 2 of 2" in page
    drawn = {path.stem for path in Path("results/figures").glob("*.svg")}
    assert drawn >= {"cactus", "profile", "anytime", "scatter", "heatmap", "runs-1-one"}
    pixels = {path.stem for path in Path("results/figures").glob("*.png")}
    assert pixels == (drawn if "png" in forms else set())
    tables = {path.name for path in Path("results/tables").iterdir()}
    assert tables == {
        f"{name}.csv" for name in ("scores", "settings", "pairs", "explanations", "intervals")
    }
    # The same results make the same files.
    before = {path: path.read_bytes() for path in Path("results").rglob("*.svg")}
    run("report", "results", "-o", "page.html", "--figures", "svg")
    assert Path("page.html").exists()
    assert before == {path: path.read_bytes() for path in Path("results").rglob("*.svg")}


def test_report_refuses_what_it_does_not_know(run: Run, tmp_path: Path) -> None:
    kept(tmp_path / "results")
    for given, told in (
        (("report", "nowhere"), "nowhere"),
        (
            ("report", "results", "--figures", "gif"),
            "must be one of pdf, png, svg, got 'gif'",
        ),
        (("report", "results", "-o", "no/such/page.html"), "does not exist"),
    ):
        done = run(*given)
        assert done.exit_code == 2, done.output
        assert told in done.stderr
    assert not Path("results/report.html").exists()


def test_compare_prints_one_json_object(run: Run, inst: Path) -> None:
    done = run("compare", inst, "-b", "search,cpsat", "-t", 30, "--json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert {row["configuration"]: row["proved"] for row in data["scores"]} == {
        "search": 1,
        "cpsat": 1,
    }
    assert [row["objective"] for row in data["runs"]] == [1, 1]
