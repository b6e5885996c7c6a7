"""The summary over all instances, on screen, in notebooks and as JSON."""

from __future__ import annotations

import json
import time

import pytest

from cpx.answers.result import Termination
from cpx.answers.text import Table, as_text
from cpx.cli.compare import summary
from cpx.cli.progress import seconds_left
from cpx.compare import Comparison
from cpx.compare.records import Skipped
from cpx.compare.summary import findings

from .helpers import run

MANY = Comparison(
    (
        run("OPTIMAL", 5, 5, name="one", seconds=2.0),
        run("FEASIBLE", 7, 3, name="one", backend="milp", solver="highs"),
        run("OPTIMAL", 6, 6, name="two", seconds=4.0),
        run("FEASIBLE", 6, 3, name="two", backend="milp", solver="highs"),
        run("FEASIBLE", 8, 3, name="three"),
        run("OPTIMAL", 8, 8, name="three", backend="milp", solver="highs", seconds=8.0),
    )
)


def told(comparison: Comparison) -> list[str]:
    return [fact.text for fact in findings(comparison.cases(), comparison.scores())]


def test_the_summary_says_who_proves_what() -> None:
    assert told(MANY) == [
        "cpsat clausal proves 2 of 3, in 3.00 s at the median and 4.00 s at most; has the best "
        "known value in 1 more",
        "milp:highs clausal proves 1 of 3, in 8.00 s; has the best known value in 1 more",
        "the virtual best engine proves 3 of 3, 1 more than cpsat clausal alone; proved by one "
        "only: cpsat clausal 2, milp:highs clausal 1",
    ]


def test_the_summary_is_printed_below_the_tables_of_several_instances() -> None:
    text = str(MANY)
    assert text.index("three  k-monomial") < text.index("all instances") < text.index("proves 2")
    lines = [line.split() for line in text.splitlines()]
    row = "cpsat clausal 2 of 3 3 of 3 3 of 3 8.67 6.67 4.00 20.8 % 1.000 2.0 1.33"
    assert row.split() in lines
    assert "all instances" not in str(Comparison(MANY.runs[:2]))
    assert "all instances" in MANY._repr_html_()


def test_the_summary_says_what_failed_and_what_is_not_compared() -> None:
    crash = Termination.SOLVER_ERROR
    ill = run("ERROR", None, None, name="one", backend="ill", termination=crash)
    found = told(Comparison((*MANY.runs, ill)))
    assert "1 run failed: ill clausal 1" in found
    assert "ranks are on the 1 of 3 cases that all have run" in found


def test_the_summary_as_json() -> None:
    comparison = Comparison(MANY.runs, skipped=(Skipped("one", "beam", "no reason"),))
    data = json.loads(json.dumps(summary(comparison), allow_nan=False))
    assert data["complete"] is True
    assert [row["configuration"] for row in data["scores"]] == ["cpsat", "milp:highs"]
    assert data["scores"][1]["to_proof"] is None  # infinite: not reached in the median
    assert data["skipped"] == [{"instance": "one", "configuration": "beam", "reason": "no reason"}]
    assert len(data["runs"]) == 6
    assert data["runs"][1]["objective"] == 7


def test_wide_tables_lose_text_before_figures() -> None:
    table = Table(("engine", "seconds"), (("x" * 40, "1.00"),), (0,), title="t")
    narrow = as_text([table], width=30).splitlines()
    assert narrow[-1] == "x" * 19 + "…" + "      1.00"
    assert len(as_text([table]).splitlines()[-1]) == 40 + 3 + 7


def test_the_end_is_expected_by_configuration() -> None:
    assert seconds_left({"a": 3}, {}, 1.0) is None
    # Two jobs: 20 s of runs took 10.
    assert seconds_left({"a": 4, "b": 1}, {"a": [2.0], "b": [18.0]}, 10.0) == 13.0
    # One that has not run takes as long as the others do.
    assert seconds_left({"c": 1}, {"a": [2.0], "b": [4.0]}, 6.0) == 3.0
    assert seconds_left({"a": 0}, {"a": [2.0]}, 2.0) == 0.0


@pytest.mark.slow
def test_three_thousand_runs_are_summarised_at_once() -> None:
    from benchmarks.reports import comparison

    made = comparison(3000)
    str(comparison(30))  # imports
    start = time.process_time()
    assert "all instances" in str(made)
    assert time.process_time() - start < 3  # 0.5 on an idle machine
