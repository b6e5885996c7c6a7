"""What engines do with an instance, in words: cores, bounds, counts."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import numpy as np
import pytest

import cpx
from cpx.answers.statistics import NAMES
from cpx.backends import backend
from cpx.backends.progress import InnerProgress, Progress
from cpx.errors import InvalidOption
from cpx.export import SHOW_FORMS
from cpx.export.cores import cores
from cpx.export.solved import solved
from cpx.options import SolveOptions
from tests.seeds import each


def _instance(seed: int) -> cpx.KMonomial:
    rng = np.random.default_rng(seed)
    samples = cpx.Samples(
        rng.random((9, 5)) < 0.6, rng.random(9) < 0.4, weights=rng.integers(1, 4, 9)
    )
    return cpx.KMonomial(samples, k=2)


@each(range(8))
def test_each_core_is_one_and_the_bounds_end_at_the_optimum(seed: int) -> None:
    problem = _instance(seed)
    statement, found = problem.model("clausal"), cores(problem, "clausal")
    assert found.optimum == cpx.solve(problem).objective
    assert [found.first, *(core.bound for core in found.steps)][-1] == found.optimum
    allowed = [
        {name: values.tolist() for name, values in statement.complete(chosen).items()}
        for size in range(3)
        for chosen in combinations(range(5), size)
    ]
    # How many costs of a core a set of features pays, cores among them; the least paid is one.
    for values in allowed:
        paid: list[int] = []
        for core in found.steps:
            count = 0
            for literal in core.literals:
                if more := re.fullmatch(r"more than (\d+) of core (\d+)", literal):
                    count += paid[int(more[2]) - 1] > int(more[1])
                else:
                    name, place = literal.rstrip("]").split("[")
                    count += values[name][int(place)]
            paid.append(count)
            assert count >= 1
    bounds = [found.first, *(core.bound for core in found.steps)]
    assert [b - a for a, b in pairwise(bounds)] == [core.price for core in found.steps]


def test_an_instance_without_a_solution_has_no_cores() -> None:
    samples = cpx.Samples([[1, 0], [0, 1]], [1, 0])
    with pytest.raises(InvalidOption, match="no solution"):
        cores(cpx.KMonomial(samples, k=1, required=(0, 1)))


@pytest.mark.parametrize("form", ["statement", "wcnf", "lp"])
def test_what_an_engine_does_is_told(form: str) -> None:
    problem = _instance(1)
    text = solved(problem, form)
    assert form in SHOW_FORMS
    assert "OPTIMAL" in text
    assert ("cannot all be avoided" in text) == (form == "wcnf")
    bounds = re.findall(r"^ *\d+ +(\d+)$", text, re.M)
    assert int(bounds[-1]) == cpx.solve(problem).objective


COUNTED = {
    "search": {"nodes"},
    "cpsat": {"conflicts", "decisions", "propagations", "restarts", "lp_iterations"},
    "cpmpy:ortools": {"conflicts", "decisions", "propagations", "restarts", "lp_iterations"},
    "maxsat": {"calls", "conflicts", "decisions", "propagations", "restarts"},
    "exact": {"conflicts", "decisions", "propagations", "restarts", "cores"},
    "cpmpy:choco": {"conflicts", "restarts"},
    "cpmpy:z3": {"decisions"},
    "milp:highs": {"nodes", "lp_iterations"},
    "milp:cbc": {"nodes", "lp_iterations"},
    "milp:scip": {"nodes", "lp_iterations"},
}


@pytest.mark.parametrize("engine", COUNTED)
def test_engines_count_by_the_same_names(engine: str) -> None:
    if (
        engine in ("milp:scip", "exact", "cpmpy:choco", "cpmpy:z3")
        and not backend(engine).available()
    ):
        pytest.skip("not installed")
    result = cpx.solve(_instance(2), engine, warm_start=False)
    assert COUNTED[engine] <= result.statistics.keys() <= NAMES.keys()
    assert result.verified
    again = cpx.Result.from_json(result.to_json())
    assert again.statistics == result.statistics
    if engine == "maxsat":
        sizes = result.statistics["core_sizes"]
        assert result.statistics["core_literals"] == sum(sizes) >= len(sizes) > 0
        assert len(sizes) == result.statistics["cores"]


def test_parts_of_a_solve_are_added_up() -> None:
    problem = _instance(3)
    whole = Progress(problem, SolveOptions())
    whole.count(nodes=2, cores=1)
    InnerProgress(problem, SolveOptions(), whole).count(nodes=3)
    assert whole.statistics == {"nodes": 5, "cores": 1}
    result = cpx.solve(cpx.MaxPrecision(_instance(8).samples, k=2), "maxsat", warm_start=False)
    assert result.raw_status.startswith("3 steps")
    assert result.statistics["cores"] == 3  # one in each
