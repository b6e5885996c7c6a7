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
from cpx.answers.claim import source_words
from cpx.answers.result import Termination, Times
from cpx.compare import Comparison, Design, Run, compare
from cpx.compare.cases import cases_of
from cpx.compare.plan import plan
from cpx.compare.report import _data, as_html
from cpx.compare.report_tables import as_csv, grids
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


def test_engines_that_ignore_the_seed_run_once_and_stand_for_each() -> None:
    comparison = compare({"a": tiny(), "b": tiny(k=2)}, "search,cpsat", seeds=[3, 5])
    assert [(run.instance, run.engine, run.seed) for run in comparison.runs] == [
        ("a", "search", 3), ("a", "cpsat", 3), ("a", "cpsat", 5),
        ("b", "search", 3), ("b", "cpsat", 3), ("b", "cpsat", 5),
    ]  # fmt: skip
    cases, scores = comparison.cases(), comparison.scores()
    assert cases.per_case("proved", ["search", "cpsat"]).tolist() == [[1, 1]] * 4
    assert scores["runs"].to_dict() == {"search": 2 * 2, "cpsat": 2 * 2}
    seconds = {r.instance: r.result.times.total for r in comparison.runs if r.engine == "search"}
    assert scores.loc["search", "par2"] == pytest.approx(sum(seconds.values()) / 2)
    assert comparison.virtual_best()["seed"].tolist() == [3, 5, 3, 5]
    page = unescape(as_html(comparison))
    assert "6 runs" in page
    assert "The run of an engine that ignores the seed stands for each seed." in page
    # A start may be found with the seed.
    started = plan(Design([tiny()], "search,search{warm_start=true}", seeds=[3, 5]))
    assert [task.options.seed for task in started.tasks] == [3, 3, 5]
    # Alone it is one case.
    assert compare([tiny()], "search", seeds=[3, 5]).scores()["runs"].tolist() == [1]


def test_a_run_with_a_seed_that_no_other_has_stands_for_theirs() -> None:
    options = {"time_limit": 10.0, "threads": 1, "gap": None, "warm_start": False}

    def made(engine: str, *seeds: int) -> list[Run]:
        return [by(engine, 6, 6, options={**options, "seed": seed}) for seed in seeds]

    def seeds(*runs: Run) -> list[int]:
        found = cases_of(runs)
        assert found.frame["again"].sum() == len(found.runs) - len(runs)
        assert not found.frame.duplicated(["case", "configuration"]).any()
        return sorted(run.seed for run in found.runs if run.engine == "search")

    for runs, expected in (
        (made("search", 7) + made("cpsat", 0, 1), [0, 1]),
        (made("search", 0, 7) + made("cpsat", 0, 1), [0, 1]),
        (made("search", 0, 1, 7) + made("cpsat", 0, 1), [0, 1, 7]),
        (made("search", 0) + made("greedy", 0, 1), [0, 1]),
        (made("search", 0, 1), [0, 1]),
    ):
        assert seeds(*runs) == expected
        assert seeds(*reversed(runs)) == expected


def test_a_failure_that_stands_for_each_seed_is_told_once() -> None:
    limits = {"time_limit": 10.0, "threads": 1, "gap": None, "warm_start": False}
    others = [by("cpsat", 6, 6, options={**limits, "seed": seed}) for seed in (0, 1)]
    crash = {"termination": Termination.SOLVER_ERROR, "error": "it broke", "trace": ()}
    options = {**limits, "seed": 0}
    failed = run("ERROR", None, None, backend="search", options=options, **crash)
    comparison = Comparison((failed, *others))
    page = unescape(as_html(comparison))
    assert "1 run failed: search clausal 1" in page
    assert len(grids(comparison.cases(), comparison.scores())["errors"].rows) == 1


def test_an_encoding_of_ones_own_is_told() -> None:
    statement = {"encoding": "mine", "sets": 4, "whole": True}
    known = source_words(statement)
    own, ours = by("a", 6, 6, encoding="mine", statement=statement), by("b", 6, 6)
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
    scores = grids(comparison.cases(), comparison.scores())["scores"]
    assert "'=a clausal" in as_csv(scores)


@pytest.mark.parametrize(
    "engine",
    [
        "search",
        "milp:cbc",
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
