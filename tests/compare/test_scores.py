"""Each score on an example small enough to compute by hand."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from cpx.answers.result import Termination, TracePoint
from cpx.compare import Run
from cpx.compare.anytime import Steps, relative_distance
from cpx.compare.cases import Cases, cases_of
from cpx.compare.scores import points, ranks, scores, virtual_best
from cpx.compare.statistics import holm, intervals, pairs, signed_rank
from tests.seeds import each

from .helpers import run


def by(backend: str, status: str, value: int | None, bound: int | None, **more: object) -> Run:
    return run(status, value, bound, backend=backend, **more)


# The limit is 10 s; each run has its value and bound after half of its time.
RUNS = [
    by("x", "OPTIMAL", 4, 4, name="a", seconds=2.0),
    by("y", "FEASIBLE", 5, 3, name="a", seconds=10.0),
    by("z", "UNKNOWN", None, None, name="a", seconds=10.0, trace=()),
    by("x", "FEASIBLE", 7, 5, name="b", seconds=10.0),
    by("y", "OPTIMAL", 6, 6, name="b", seconds=4.0),
    by("z", "OPTIMAL", 6, 6, name="b", seconds=6.0),
]


@pytest.fixture(scope="module")
def cases() -> Cases:
    return cases_of(RUNS)


def test_scores_by_hand(cases: Cases) -> None:
    table = scores(cases)
    expected = {
        "runs": [2, 2, 2],
        "solved": [2, 2, 1],
        "proved": [1, 1, 1],
        "wrong": [0, 0, 0],
        "failed": [0, 0, 0],
        "best": [1, 1, 1],
        "rank": [2, 1.5, 2.5],
        "points": [2, 2.6, 1.4],
        "par2": [(2 + 20) / 2, (20 + 4) / 2, (20 + 6) / 2],
        "quality": [(1 + 7 / 8) / 2, (5 / 6 + 1) / 2, 1 / 2],
        "gap": [(2 / 7) / 2, (2 / 5) / 2, 1 / 2],
        # b, x: 5 s without a value, then 1/7 away; a, y: 5 s, then 1/5 away.
        "primal_integral": [(1 + 5 + 5 / 7) / 2, (5 + 5 / 5 + 2) / 2, (10 + 3) / 2],
        "dual_integral": [(1 + 5 + 5 / 6) / 2, (5 + 5 / 4 + 2) / 2, (10 + 3) / 2],
        "to_best": [math.inf, math.inf, math.inf],
        "to_proof": [math.inf, math.inf, math.inf],
        "proved_alone": [1, 0, 0],
        "contribution": [(20 + 4) / 2 - 3, (2 + 6) / 2 - 3, 0],
    }
    for name, column in expected.items():
        assert table.loc[["x", "y", "z"], name].tolist() == pytest.approx(column), name
    assert table.index.tolist() == ["y", "x", "z"]


def test_medians_of_times() -> None:
    three = [by("x", "OPTIMAL", 4, 4, name=name, seconds=s) for name, s in zip("abc", (1, 2, 6))]
    late = by("x", "FEASIBLE", 100, 3, name="d", seconds=10.0)
    near = [TracePoint(3.0, 101, 3), TracePoint(7.0, 100, 3)]
    d = [late, by("y", "OPTIMAL", 100, 100, name="d", trace=tuple(near))]
    table = scores(cases_of([*three, d[0]]))
    assert table.loc["x", ["to_best", "to_proof"]].tolist() == [2.0, 4.0]
    table = scores(cases_of(d))
    assert table.loc["y", ["to_target", "to_best"]].tolist() == [3.0, 7.0]
    assert table.loc["x", ["to_target", "to_best", "to_proof"]].tolist() == [5, 5, math.inf]


def test_ranks_and_points_by_hand(cases: Cases) -> None:
    assert ranks(cases).tolist() == [[1, 2, 3], [3, 1, 2]]
    assert points(cases).tolist() == [[2, 1, 0], [0, 1 + 6 / 10, 1 + 4 / 10]]


def test_points_of_equal_answers_without_proof() -> None:
    same = [by(name, "FEASIBLE", 5, 3, seconds=10.0) for name in "xy"]
    zero = [by(name, "OPTIMAL", 5, 5, name="zero", seconds=0.0) for name in "xy"]
    nothing = [by(name, "UNKNOWN", None, 3, name="nothing") for name in "xy"]
    assert points(cases_of([*same, *zero, *nothing])).tolist() == [[0.5, 0.5], [0.5, 0.5], [0, 0]]


def test_virtual_best_by_hand(cases: Cases) -> None:
    best = virtual_best(cases)
    assert best["configuration"].tolist() == ["x", "y"]
    assert best["value"].tolist() == [4, 6]
    assert best["par2"].mean() == 3


def test_equal_answers_share_their_rank_and_seeds_are_averaged() -> None:
    same = [by(name, "FEASIBLE", 5, 3) for name in "xyz"]
    assert ranks(cases_of(same)).tolist() == [[2, 2, 2]]
    options = {"time_limit": 10.0, "threads": 1, "gap": None}
    seeds = [
        by("x", "OPTIMAL", 4, 4, name="a", seconds=s, options={**options, "seed": s})
        for s in (1, 3)
    ]
    twice = cases_of([*seeds, by("x", "OPTIMAL", 4, 4, name="b", seconds=8.0)])
    assert scores(twice).loc["x", "par2"] == (2 + 8) / 2


def test_a_maximum_a_fraction_and_no_solution() -> None:
    share = {"sense": "max", "name": "share"}
    runs = [
        by("x", "OPTIMAL", Fraction(9, 10), Fraction(9, 10), **share),
        by("y", "FEASIBLE", Fraction(3, 5), 1, **share),
        by("x", "INFEASIBLE", None, None, name="none", seconds=3.0),
        by("y", "UNKNOWN", None, None, name="none", seconds=10.0),
    ]
    table = scores(cases_of(runs))
    assert table.loc["x", ["solved", "proved", "best", "quality", "gap"]].tolist() == [
        2,
        2,
        2,
        1,
        0,
    ]
    assert table.loc["y", "quality"] == pytest.approx((2 / 3 + 0) / 2)
    # Until infeasibility is proved there is nothing to be near to.
    assert table.loc["x", "primal_integral"] == pytest.approx((0.5 + 3) / 2)


def test_refuted_claims_are_marked_and_not_ranked() -> None:
    lies = [
        by("liar", "OPTIMAL", 9, 9, name="a", seconds=0.1),
        by("liar", "OPTIMAL", 6, 6, name="b", seconds=0.1),
    ]
    found = cases_of([*RUNS, *lies])
    assert found.ranked == ["x", "y", "z"]
    (told,) = found.refuted.values()
    assert "liar" in told
    assert "4" in told
    table = scores(found)
    assert table.index[-1] == "liar"
    assert table.loc["liar", ["wrong", "proved"]].tolist() == [1, 1]
    assert table.loc["liar", ["rank", "points", "contribution"]].isna().all()
    honest = scores(cases_of(RUNS))
    assert table.loc[honest.index, honest.columns].equals(honest)
    assert "liar" not in set(virtual_best(found)["configuration"])
    assert "liar" not in {*pairs(found)["first"], *pairs(found)["second"]}


def test_an_answer_that_the_data_refute_is_wrong_and_a_crash_is_not() -> None:
    told = "the engine claims the value 5, the data give 6"
    lie = by("liar", "ERROR", 5, 5, error=told)
    lied = cases_of([_with(lie, Termination.COMPLETED)])
    assert lied.frame[["wrong", "failed", "solved"]].values.tolist() == [[True, False, False]]
    assert "the data give 6" in lied.refuted[0]
    crashed = cases_of([_with(lie, Termination.SOLVER_ERROR)])
    assert crashed.frame[["wrong", "failed"]].values.tolist() == [[False, True]]
    assert crashed.ranked == ["liar"]


def _with(run: Run, termination: Termination) -> Run:
    return replace(run, result=replace(run.result, termination=termination))


def test_best_known_values_from_elsewhere() -> None:
    table = scores(cases_of(RUNS, known={"a": 3, "b": 9}))
    # The value 3 refutes x's optimum 4 on a; of b the runs know better.
    assert table.loc["x", "wrong"] == 1
    assert table.loc["y", "quality"] == pytest.approx((4 / 6 + 1) / 2)


def test_of_a_run_made_twice_the_last_one_counts() -> None:
    again = by("z", "OPTIMAL", 4, 4, name="a", seconds=1.0)
    assert scores(cases_of([*RUNS, again])).loc["z", ["runs", "proved"]].tolist() == [2, 2]


def test_answers_count_unchecked_only_where_there_is_no_judge() -> None:
    doubtful = by("x", "FEASIBLE", 3, 1, verified=False)
    assert scores(cases_of([doubtful])).loc["x", "solved"] == 1
    assert scores(cases_of([doubtful, by("y", "FEASIBLE", 5, 1)])).loc["x", "solved"] == 0


def test_options_and_chosen_encodings_compete() -> None:
    options = {"time_limit": 10.0, "threads": 1, "seed": 0, "gap": None}
    each = [{"encoding": "reified"}, {"engine": {"a": 1}}, {"warm_start": True}, {}]
    runs = [by("x", "OPTIMAL", 5, 5, options=options | more) for more in each]
    names = ["x reified", "x{a=1}", "x{warm_start=true}", "x"]
    assert cases_of(runs).configurations == names


def test_without_a_limit_there_is_no_penalty() -> None:
    free = {"options": {"time_limit": None, "seed": 0}}
    runs = [by("x", "OPTIMAL", 4, 4, **free), by("y", "FEASIBLE", 4, 1, **free)]
    table = scores(cases_of(runs))
    assert table.loc["x", "par2"] == 1
    assert np.isnan(table.loc["y", "par2"])


def test_what_has_missing_runs_is_compared_on_common_cases() -> None:
    table = scores(cases_of(RUNS[:-1]))  # z has no run on b
    assert table.loc[["x", "y", "z"], "rank"].tolist() == [1, 2, 3]
    assert table.loc["z", "runs"] == 1
    (first, *_) = pairs(cases_of(RUNS[:-1])).query("second == 'z'").to_dict("records")
    assert (first["cases"], first["wins"]) == (1, 1)


def test_nothing_at_all() -> None:
    nothing = cases_of([])
    assert scores(nothing).empty
    assert pairs(nothing).empty
    assert virtual_best(nothing).empty


def test_pairs_by_hand(cases: Cases) -> None:
    table = pairs(cases).set_index(["first", "second"])
    counts = table[["cases", "wins", "ties", "losses"]]
    assert counts.loc[("x", "y")].tolist() == [2, 1, 0, 1]
    assert counts.loc[("y", "z")].tolist() == [2, 2, 0, 0]
    # PAR-2: 2 - 20 and 20 - 4; the signs of two differences have four assignments.
    assert table.loc[("x", "y"), "difference"] == -1
    assert table.loc[("x", "y"), "p"] == 1.0
    assert table.loc[("y", "z"), "p"] == 1.0  # 0 and -2
    (same,) = pairs(cases_of([by(name, "FEASIBLE", 5, 3) for name in "xy"])).to_dict("records")
    assert [same[name] for name in ("cases", "wins", "ties", "losses", "p")] == [1, 0, 1, 0, 1]


def test_signed_rank_tries_all_signs() -> None:
    differences = np.array([0.0, 1.0, -1.0, 2.0, 2.0, 5.0, 7.0, -0.5])
    order = np.array([1, 3.5, 3.5, 5.5, 5.5, 7, 8, 2])  # the zero is ranked, and then dropped
    kept = order[1:]
    seen = abs((np.sign(differences) * order).sum())
    sums = [abs(np.dot(signs, kept)) for signs in itertools.product((-1, 1), repeat=7)]
    share = sum(s >= seen for s in sums) / len(sums)
    assert signed_rank(differences) == pytest.approx(share)
    assert signed_rank(-differences) == pytest.approx(share)
    # So of 13, too; no difference says nothing.
    more = np.array([1.0, 2, 2, -2, 2, 3, 3, 3, -3, 3, 4, -4, 4])
    ranks = np.array([1.0, 3.5, 3.5, 3.5, 3.5, 8, 8, 8, 8, 8, 12, 12, 12])
    every = 1 - 2 * (np.arange(2**13)[:, None] >> np.arange(13) & 1)
    least = abs((np.sign(more) * ranks).sum())
    assert signed_rank(more) == pytest.approx((abs(every @ ranks) >= least).mean())
    assert signed_rank(np.zeros(2)) == 1.0
    assert np.isnan(signed_rank(np.zeros(0)))


def test_signed_rank_is_near_its_normal_form() -> None:
    differences = np.random.default_rng(0).normal(0.5, 1, 13)
    more = np.append(differences, 0.01)
    assert signed_rank(differences) == pytest.approx(signed_rank(more), abs=0.03)


def test_holm_by_hand() -> None:
    found = holm(np.array([0.04, np.nan, 0.01, 0.5]))
    assert found.tolist()[2:] == [0.03, 0.5]
    assert found[0] == 0.08
    assert np.isnan(found[1])
    assert holm(np.array([0.6, 0.7])).tolist() == [1.0, 1.0]


def test_intervals_hold_their_mean_and_repeat() -> None:
    runs = [
        by("x", "OPTIMAL" if n % 3 else "FEASIBLE", 5, 5 if n % 3 else 1, name=str(n))
        for n in range(60)
    ]
    found = cases_of(runs)
    table = intervals(found, ("proved",), seed=1)
    row = table.loc[("proved", "x")]
    assert row["mean"] == pytest.approx(40 / 60)
    # The normal interval is 1.96 sqrt(2/3 * 1/3 / 60) = 0.119 to each side.
    assert row["mean"] - row["low"] == pytest.approx(0.119, abs=0.02)
    assert row["high"] - row["mean"] == pytest.approx(0.119, abs=0.02)
    assert table.equals(intervals(found, ("proved",), seed=1))
    assert intervals(cases_of(runs[:1]))["low"].isna().all()
    assert intervals(cases_of(runs[:2]), ("proved",))["low"].tolist() == [0]


def test_distances_and_integrals() -> None:
    assert relative_distance(10**17 + 1, 10**17) > 0
    assert relative_distance(Fraction(1, 2), Fraction(3, 4)) == pytest.approx(1 / 3)
    steps = Steps.of([(1.0, 0.5), (2.0, 0.7), (3.0, 0.0)])  # what gets worse does not count
    assert steps == Steps([1.0, 3.0], [0.5, 0.0])
    assert [steps.at(t) for t in (0.5, 1.0, 2.9, 3.0)] == [1.0, 0.5, 0.5, 0.0]
    assert steps.integral(2) == 1.5
    assert steps.integral(0.5) == 0.5
    assert (steps.first(0.5), steps.first(0.1), Steps([], []).first(0.1)) == (1.0, 3.0, math.inf)


def random_runs(seed: int, engines: str = "pqrs", instances: int = 8) -> list[Run]:
    draw, runs = random.Random(seed), []
    for n in range(instances):
        optimum = draw.randint(1, 50)
        for name in engines:
            if draw.random() < 0.5:
                seconds = draw.choice([0.5, 1.0, draw.uniform(0, 10)])
                runs.append(by(name, "OPTIMAL", optimum, optimum, name=str(n), seconds=seconds))
            else:
                value = optimum + draw.randint(0, 3)
                runs.append(by(name, "FEASIBLE", value, 0, name=str(n), seconds=10.0))
    return runs


@each(range(10), 5)
def test_the_order_of_runs_does_not_matter(seed: int) -> None:
    runs = random_runs(seed)
    table = scores(cases_of(runs)).sort_index()
    shuffled = random.Random(seed).sample(runs, len(runs))
    other = scores(cases_of(shuffled)).sort_index()
    assert np.allclose(table, other, equal_nan=True)


@each(range(10), 5)
def test_who_is_best_everywhere_is_first_in_every_score(seed: int) -> None:
    runs = random_runs(seed)
    optima = {
        run.instance: min(r.result.objective or 0 for r in runs if r.instance == run.instance)
        for run in runs
    }
    king = [by("king", "OPTIMAL", v, v, name=name, seconds=0.01) for name, v in optima.items()]
    found = cases_of([*runs, *king])
    assert "king" in found.ranked
    table = scores(found)
    assert table.index[0] == "king"
    assert table.loc["king", "rank"] == 1
    for name in ("points", "quality", "proved", "solved", "best", "contribution"):
        assert table.loc["king", name] == table[name].max(), name
    for name in ("par2", "gap", "primal_integral", "dual_integral", "to_best", "to_proof"):
        assert table.loc["king", name] == table[name].min(), name


@pytest.mark.parametrize("seed", range(5))
def test_points_of_two_add_up_to_one(seed: int) -> None:
    found = cases_of(random_runs(seed, "pq"))
    assert np.allclose(points(found).sum(axis=1), 1)
