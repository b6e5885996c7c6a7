"""A comparison says what it compares: encodings, starts, threads, limits, versions, load."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from html import unescape
from io import StringIO
from typing import Any

import numpy as np
import pytest

import cpx
from cpx import solve
from cpx.answers.result import Times
from cpx.compare import Comparison, Design, compare
from cpx.compare.plan import plan
from cpx.compare.report import _data, as_html
from cpx.compare.report_tables import as_csv, as_latex, as_markdown, grids
from cpx.library import make

from .helpers import run, tiny

START = {"method": "beam search", "value": 7, "seconds": 0.1}


def by(engine: str, value: int, bound: int, **more: Any) -> Any:
    status = "OPTIMAL" if value == bound else "FEASIBLE"
    return run(status, value, bound, backend=engine, **more)


def test_engines_are_left_to_themselves_unless_asked() -> None:
    problem = make("planted", 100, 20, 2, 0)
    (alone,) = compare([problem], "milp").runs
    assert alone.result.options["warm_start"] is False
    assert alone.result.start is None
    assert alone.configuration == "milp:highs"
    for design in (
        Design([problem], "milp", warm_start=True),
        Design([problem], "milp{warm_start=true}"),
        Design([problem], "milp", options=[{"warm_start": True}]),
    ):
        (task,) = plan(design).tasks
        assert task.options.warm_start
        assert task.configuration == "milp:highs{warm_start=true}"
    (started,) = compare(design).runs
    start = started.result.start
    assert start is not None
    assert start["method"] == "beam search"
    assert solve(problem, "milp").start == {**start, "seconds": pytest.approx(0, abs=1e9)}


def test_the_value_of_a_start_is_marked_and_not_the_engines() -> None:
    given = by("a", 7, 3, start=START)
    better = by("b", 6, 3, start=START)
    own = by("c", 6, 3)
    assert (given.from_start, better.from_start, own.from_start) == (True, False, False)
    assert given.seconds_to_best is None
    assert given.row(False)["seconds_to_best"] is None
    assert given.row(False)["start"] == "beam search"
    assert better.seconds_to_best == own.seconds_to_best == 0.5
    lines = str(Comparison((given, better, own))).splitlines()
    assert next(line for line in lines if line.startswith("a ")).split()[-4] == "start"
    both = Comparison((given, by("d", 7, 3)))
    assert "1 of its best values are those of its start" in as_html(both)
    table = both.scores()
    assert table.loc["a", "to_best"] == table.loc["a", "to_target"] == math.inf
    assert table.loc["d", "to_best"] == 0.5
    # It is in the file, and stays there.
    assert cpx.Result.from_dict(given.result.to_dict()) == given.result
    with pytest.raises(cpx.errors.InvalidInstance, match="start"):
        cpx.Result.from_dict(given.result.to_dict() | {"start": {"value": "many"}})


def test_encodings_stand_beside_the_names() -> None:
    problems = [make("planted", 40, 8, 2, 0), make("planted", 60, 12, 4, 0)]
    comparison = compare(problems, "search,cpsat,maxsat", time_limit=20)
    cases = comparison.cases()
    solved: dict[str, set[str]] = {}
    for one in comparison.runs:
        solved.setdefault(one.configuration, set()).add(one.result.encoding)
    for name, encodings in solved.items():
        label = f"{name} {'/'.join(sorted(encodings))}".strip()
        assert cases.labels[name] == label
        assert label in str(comparison)
        assert label in as_html(comparison)
    assert cases.labels["search"] == "search"
    # The scores are found by the names that were given.
    assert set(comparison.scores().index) == {"search", "cpsat", "maxsat:rc2"}


def test_a_table_has_what_each_ran_with() -> None:
    comparison = compare([tiny()], "search,cpsat", seeds=[0, 1], time_limit=[5, 10])
    cases, scores = comparison.cases(), comparison.scores()
    grid = grids(cases, scores)["settings"]
    rows = {row.cells[0].text.split()[0]: [c.text for c in row.cells[1:]] for row in grid.rows}
    encoding, start, threads, limit, seed, versions = rows["cpsat"]
    assert (start, threads, limit, seed) == ("none", "1", "5 s, 10 s", "0, 1")
    assert encoding == comparison.runs[-1].result.encoding
    assert "ortools" in versions
    assert rows["search"][4] == "ignored"
    page = as_html(comparison)
    assert "1 thread" in page
    assert "What each configuration ran with" in page


def test_an_encoding_of_ones_own_is_told() -> None:
    known = "the statement is your encoding 'mine': it agrees with the definition on 4 sets"
    own, ours = by("a", 6, 6, encoding="mine", statement=known), by("b", 6, 6)
    for text in (str(Comparison((own, own, ours))), unescape(as_html(Comparison((own, ours))))):
        assert text.count(f"a: {known}") == 1
    assert [made.row(False)["own_encoding"] for made in (own, ours)] == [known, ""]
    both = Comparison((own, ours))
    settings = grids(both.cases(), both.scores())["settings"]
    cells = [row.cells[1].text for row in settings.rows]
    assert sorted(cells) == ["clausal", "mine, your own"]


def test_a_refuted_bound_is_not_shown() -> None:
    both = Comparison((by("a", 9, 9), by("b", 6, 2)))
    cells = next(line for line in str(both).splitlines() if line.startswith("a ")).split()
    assert cells[:5] == ["a", "clausal", "WRONG", "9", "-"]
    assert cells[5] == "-"
    data = _data(both.cases(), ["a", "b"])
    shown = dict(zip([name for name, *_ in data["columns"]], data["runs"], strict=True))
    assert (shown["bound"], shown["gap"][0]) == ([None, 2], None)


def test_a_busy_machine_is_told() -> None:
    idle = replace(by("a", 5, 5), machine={"host": "quiet", "cores": 2, "load": 1.9})
    busy = replace(by("b", 5, 5), machine={"host": "loud", "cores": 2, "load": 6.2})
    told = "busy machine loud: the load was up to 6 on 2 cores"
    for text in (str(Comparison((idle, busy))), as_html(Comparison((idle, busy)))):
        assert told in text
        assert "quiet:" not in text
    assert "busy machine" not in str(Comparison((idle,)))


def test_processor_time_is_scored_and_par_has_a_factor() -> None:
    times = Times(total=4.0, cpu=1.5)
    runs = [
        by("a", 5, 5, name="one", times=times),
        by("a", 5, 3, name="two", times=Times(total=10.0, cpu=9.0)),
        by("b", 5, 5, name="one", times=times),
        by("b", 5, 5, name="two", times=times),
    ]
    table = Comparison(tuple(runs)).scores(par=10)
    assert table.loc["b", ["par2", "par2_cpu", "par10", "par10_cpu"]].tolist() == [4, 1.5, 4, 1.5]
    means = table.loc["a", ["par2", "par2_cpu", "par10", "par10_cpu"]].tolist()
    assert means == [(4 + 20) / 2, (1.5 + 20) / 2, (4 + 100) / 2, (1.5 + 100) / 2]
    free = [replace(r, result=replace(r.result, options={"time_limit": None})) for r in runs[:2]]
    assert Comparison(tuple(free)).scores(par=3)["par3"].isna().all()


def test_tables_are_csv_too() -> None:
    comparison = Comparison((by("=a", 5, 5), by("b", 6, 3)))
    for grid in grids(comparison.cases(), comparison.scores()).values():
        rows = list(csv.reader(StringIO(as_csv(grid))))
        assert rows[0] == [column.name for column in grid.columns]
        assert len(rows) == 1 + len(grid.rows)
        assert as_markdown(grid).count("\n") == 2 + len(grid.rows)
        assert as_latex(grid)
    scores = grids(comparison.cases(), comparison.scores())["scores"]
    assert "'=a clausal" in as_csv(scores)


@pytest.mark.parametrize(
    "engine",
    [
        "search",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("cpsat", "maxsat", "milp")),
    ],
)
def test_processor_time_has_a_limit(engine: str) -> None:
    rng = np.random.default_rng(0)
    samples = cpx.Samples(rng.random((1000, 100)) < 0.7, rng.random(1000) < 0.5)
    problem: Any = cpx.MaxPrecision(samples, k=7, min_coverage="1/50")
    if engine != "search":
        problem = cpx.KMonomial(samples, k=10, required=[0, 1, 2])
    (one,) = compare([problem], engine, time_limit=100, cpu_limit=0.5).runs
    assert one.result.options["cpu_limit"] == 0.5
    assert str(one.result.termination) == "TIME_LIMIT"
    assert 0.4 < one.result.times.cpu < 10
    assert one.row(False)["cpu_limit"] == 0.5


@pytest.mark.parametrize("limit", [0, -1, math.inf, math.nan, "1", True])
def test_limits_of_processor_time_are_refused_by_name(limit: Any) -> None:
    with pytest.raises(cpx.errors.InvalidOption, match="cpu_limit must be seconds > 0"):
        compare([tiny()], "search", cpu_limit=limit)
