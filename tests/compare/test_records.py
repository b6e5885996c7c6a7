from __future__ import annotations

from dataclasses import replace

import pytest

from cpx.compare.records import COLUMNS, Run, best_of, contradictions
from cpx.errors import InvalidInstance

from .helpers import run


def test_engines_that_agree_are_not_flagged() -> None:
    runs = [run("OPTIMAL", 5, 5), run("FEASIBLE", 7, 3), run("UNKNOWN", None, 5)]
    assert contradictions(runs) == {}
    best = best_of(runs)
    assert (best.objective, best.bound, best.proved, best.seconds) == (5, 5, True, 1.0)


def test_a_solution_refutes_a_proof_of_optimality() -> None:
    runs = [run("OPTIMAL", 6, 6, backend="bad"), run("FEASIBLE", 5, 2)]
    wrong = contradictions(runs)
    assert list(wrong) == [0]
    assert "bad" in wrong[0]
    assert "claims the optimum 6" in wrong[0]
    best = best_of(runs, wrong)
    assert (best.objective, best.bound, best.proved, best.seconds) == (5, 2, False, None)


def test_of_two_different_optima_the_worse_one_is_wrong() -> None:
    runs = [run("OPTIMAL", 5, 5), run("OPTIMAL", 6, 6)]
    assert list(contradictions(runs)) == [1]


def test_a_solution_refutes_a_bound_and_infeasibility() -> None:
    runs = [run("FEASIBLE", 8, 7), run("INFEASIBLE", None, None), run("FEASIBLE", 5, 2)]
    wrong = contradictions(runs)
    assert list(wrong) == [0, 1]
    assert "claims the bound 7" in wrong[0]
    assert "claims infeasibility" in wrong[1]


def test_when_maximising_the_sides_change() -> None:
    runs = [run("OPTIMAL", 5, 5, sense="max"), run("FEASIBLE", 6, 9, sense="max")]
    wrong = contradictions(runs)
    assert list(wrong) == [0]
    best = best_of(runs, wrong)
    assert (best.objective, best.bound) == (6, 9)


def test_unchecked_values_and_errors_refute_nothing() -> None:
    runs = [
        run("OPTIMAL", 5, 5),
        run("FEASIBLE", 3, None, verified=False),
        run("ERROR", 2, 9),
    ]
    assert contradictions(runs) == {}
    assert best_of(runs).objective == 5


def test_bounds_of_several_engines_together_close_the_gap() -> None:
    best = best_of([run("FEASIBLE", 5, 1), run("UNKNOWN", None, 5)])
    assert (best.proved, best.gap, best.seconds) == (True, 0.0, None)


def test_infeasible_alone_is_proved() -> None:
    best = best_of([run("INFEASIBLE", None, None), run("UNKNOWN", None, None)])
    assert (best.proved, best.infeasible, best.objective) == (True, True, None)


def test_nothing_at_all() -> None:
    best = best_of([run("ERROR", None, None)])
    assert (best.objective, best.bound, best.proved) == (None, None, False)


def test_round_trip_and_rows() -> None:
    made = run("FEASIBLE", 7, 3)
    assert Run.from_dict(made.to_dict()) == made
    row = made.row(contradicted=False)
    assert tuple(row) == COLUMNS
    assert (row["objective"], row["bound"], row["seconds_to_best"]) == (7, 3, 0.5)
    assert row["gap"] == pytest.approx(4 / 7)
    counted = replace(made.result, statistics={"cores": 2, "core_sizes": [3, 4]})
    row = replace(made, result=counted).row(contradicted=False)
    assert (row["cores"], row["core_sizes"], row["nodes"]) == (2, [3, 4], None)


@pytest.mark.parametrize("change", [{"sense": "up"}, {"instance": 3}, {"result": {}}])
def test_damaged_runs_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInstance):
        Run.from_dict(run("FEASIBLE", 7, 3).to_dict() | change)
    with pytest.raises(InvalidInstance, match="fingerprint"):
        Run.from_dict({"instance": "a"})
