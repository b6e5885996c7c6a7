from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cpx import KMonomial, Samples, solve
from cpx.backends import backend
from cpx.backends.maxsat.oracle import SOLVERS
from cpx.compare import compare, engine_names
from cpx.errors import CpxError, InvalidOption, UnknownName
from cpx.options import EngineOption, SolveOptions, named_text, read_named, split_names


def _problem(seed: int = 0, m: int = 40, d: int = 7, k: int = 3) -> KMonomial:
    rng = np.random.default_rng(seed)
    agreement = rng.random((m, d)) < 0.6
    same = agreement[:, 0] & agreement[:, 1] ^ (rng.random(m) < 0.2)
    return KMonomial(Samples(agreement, same), k=k)


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("cpsat", "cpsat", {}),
        ("cpsat{}", "cpsat", {}),
        ("milp:highs{ presolve = off , mip_max_nodes=3}", "milp:highs",
         {"presolve": "off", "mip_max_nodes": 3}),
        ('a{b=[1,"x,}"],c="1",d=true,e=False,f=1.5}', "a",
         {"b": [1, "x,}"], "c": "1", "d": True, "e": False, "f": 1.5}),
    ],
)  # fmt: skip
def test_names_are_read_and_written(text: str, name: str, options: dict[str, Any]) -> None:
    assert read_named("engine", text) == (name, options)
    assert read_named("engine", named_text(name, options)) == (name, options)


@pytest.mark.parametrize(
    "text",
    ["a{", "a{b}", "a{b=}", "a{=1}", "a{b=1,b=2}", "a{b=1}x", "a{b=1e999}", "a{b=[}", "a{b=é}"],
)
def test_what_is_no_list_of_options_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption):
        read_named("engine", text)


def test_lists_of_engines_are_split_outside_braces() -> None:
    assert split_names('a{b=1,c=["x","y"]} ,d,') == ['a{b=1,c=["x","y"]}', "d"]
    wanted = "maxsat:*{minz=false,trim=2},cpsat{cut_level=0}"
    assert engine_names(wanted) == [
        "maxsat:rc2{minz=false,trim=2}",
        "maxsat:stratified{minz=false,trim=2}",
        "maxsat:lsu{minz=false,trim=2}",
        "cpsat{cut_level=0}",
    ]


def test_options_that_an_engine_does_not_have_name_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'linearization_level'") as caught:
        backend("cpsat{linearisation_level=2}")
    # Of some 300 options only the nearest are told.
    assert "names, such as linearization_level" in str(caught.value)
    assert len(str(caught.value)) < 400
    with pytest.raises(UnknownName, match="beam_width"):
        solve(_problem(), "search", engine={"beamwidth": 2})
    # What has a name of ours, or would change what is claimed, is not among them.
    for name in ("cpsat{num_workers=2}", "cpsat{fix_variables_to_their_hinted_value=true}",
                 "milp:highs{mip_feasibility_tolerance=0.1}", "milp:highs{mip_rel_gap=0.5}",
                 "milp:cbc{preprocess=on}", "milp:cbc{ratioGap=1}"):  # fmt: skip
        with pytest.raises(UnknownName):
            backend(name)


@pytest.mark.parametrize(
    "name",
    ["cpsat{linearization_level=1.5}", "cpsat{linearization_level=true}", "search{beam_width=0}",
     "cpsat{search_branching=UPWARDS}", "maxsat{oracle=cadical153}", "maxsat{minz=1}"],
)  # fmt: skip
def test_values_of_a_wrong_kind_are_refused(name: str) -> None:
    with pytest.raises(InvalidOption, match="must be"):
        backend(name)


def test_values_that_only_the_engine_refuses_are_told() -> None:
    with pytest.raises(InvalidOption, match="HiGHS refuses the value 'x' of presolve"):
        solve(_problem(), "milp:highs{presolve=x}")
    with pytest.raises(InvalidOption, match="linearization_level"):
        solve(_problem(), "cpsat", engine={"linearization_level": 2**40})
    assert "linearization_level" in solve(_problem(), "cpsat{linearization_level=-7}").raw_status


ENGINES = [
    "search{beam_width=1,tie_nodes=0}",
    "cpsat{linearization_level=2,optimize_with_core=true,cp_model_presolve=false}",
    'cpsat{interleave_search=true,subsolvers=["core","default_lp"]}',
    "cpsat{search_branching=PORTFOLIO_SEARCH}",
    "cpsat{warm_start=false}",
    *[f"maxsat:rc2{{oracle={name},trim=2}}" for name in SOLVERS],
    "maxsat:rc2{adapt=false,exhaust=false,minz=false}",
    "maxsat:stratified{minz=false}",
    "maxsat:lsu{exhaust=false}",
    "milp:highs{presolve=off,mip_heuristic_effort=0,solver=ipm}",
    "milp:cbc{cutsOnOff=off,heuristicsOnOff=off,strongBranching=0,nodeStrategy=depth}",
]


@pytest.mark.parametrize("engine", ENGINES)
def test_options_never_change_what_is_claimed(engine: str) -> None:
    for seed in range(2):
        problem = _problem(seed)
        right = solve(problem, "search")
        found = solve(problem, engine)
        assert found.verified
        assert (found.objective, found.bound) == (right.objective, right.bound)


@pytest.mark.parametrize(
    "engine",
    ["cpsat{max_number_of_conflicts=1,cp_model_presolve=false}", "cpsat{stop_after_presolve=true}",
     "milp:highs{mip_max_nodes=1,presolve=off,mip_heuristic_effort=0}",
     "milp:cbc{maxNodes=1,cutsOnOff=off,heuristicsOnOff=off}"],
)  # fmt: skip
def test_limits_of_the_engine_end_without_a_proof(engine: str) -> None:
    problem = _problem(1, 140, 18, 4)
    best = solve(problem, "search").objective
    found = solve(problem, engine, time_limit=20, encoding="clausal")
    assert str(found.status) in ("FEASIBLE", "UNKNOWN"), found
    assert found.objective is None or found.objective >= best
    assert found.bound is None or found.bound <= best


def test_options_are_in_the_result_and_group_the_runs() -> None:
    comparison = compare(
        [_problem()], "search,search{beam_width=1},cpsat,cpsat{warm_start=false,cut_level=0}"
    )
    assert [run.configuration for run in comparison.runs] == [
        "search", "search{beam_width=1}", "cpsat", "cpsat{cut_level=0}",
    ]  # fmt: skip
    assert [run.engine for run in comparison.runs] == ["search", "search", "cpsat", "cpsat"]
    assert comparison.runs[3].result.options["engine"] == {"cut_level": 0}
    assert comparison.runs[3].result.options["warm_start"] is False
    named = compare([_problem()], "search,cpsat{cut_level=0}", encodings=["clausal", "reified"])
    assert [run.configuration for run in named.runs] == [
        "search", "cpsat{cut_level=0} clausal", "cpsat{cut_level=0} reified",
    ]  # fmt: skip
    assert named.runs[0].host
    assert named.runs[0].machine["cpu"]


def test_given_in_both_places_they_must_agree() -> None:
    with pytest.raises(InvalidOption, match="cut_level is 1 in the options and 0"):
        solve(_problem(), "cpsat{cut_level=0}", engine={"cut_level": 1})
    for wrong in ([], {3: 1}, "x"):
        with pytest.raises(InvalidOption, match="engine"):
            SolveOptions(engine=wrong)
    with pytest.raises(InvalidOption, match="warm_start"):
        SolveOptions(warm_start=1)


def test_fuzzed_names_are_read_or_refused() -> None:
    rng = np.random.default_rng(0)
    alphabet = list('a{}[]"=,:1.e-\\ tñ\0')
    for _ in range(3000):
        text = "".join(rng.choice(alphabet, rng.integers(0, 25)))
        try:
            name, options = read_named("engine", text)
        except CpxError:
            continue
        assert read_named("engine", named_text(name, options)) == (name, options)


def test_option_words() -> None:
    assert EngineOption(list).read("x", "core") == ["core"]
    with pytest.raises(InvalidOption, match="x must be an integer from 0 to 3, got 4"):
        EngineOption(int, 0, 3).read("x", 4)
    with pytest.raises(InvalidOption, match="a list of texts"):
        EngineOption(list).read("x", [1])
