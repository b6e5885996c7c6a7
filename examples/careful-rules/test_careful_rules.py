"""The package goes through all that a problem of cpx goes through."""

import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from careful_rules.judge import judge
from careful_rules.problem import Careful
from typer.testing import CliRunner

import cpx
from cpx.backends import backend, backend_class
from cpx.backends import names as engines
from cpx.check import UNJUDGED, violations
from cpx.check.proofs import Refused, proved
from cpx.cli import app
from cpx.compare import compare
from cpx.errors import InvalidInstance, InvalidOption, UnknownName
from cpx.export import EXPORT_FORMS, SHOW_FORMS, export_bytes, show
from cpx.modelling import instances
from cpx.modelling.encodings import encoding_names, find_encoding
from cpx.modelling.instances import fingerprint
from cpx.modelling.instances import schema as instance_schema
from cpx.solving.proofs import prove
from cpx.testing.random_instances import draw, truth


def _problem(seed=0, **parameters):
    rng = np.random.default_rng(seed)
    bits = rng.random((14, 5)) < 0.7
    same = bits[:, 0] & bits[:, 1] | (rng.random(14) < 0.2)
    samples = cpx.Samples(bits, same, weights=rng.integers(1, 4, 14), features=tuple("abcde"))
    return Careful(samples, k=2, **parameters)


def _least(problem):
    """Return the least cost of an allowed rule, by trying all."""
    sets = (S for k in range(problem.k + 1) for S in itertools.combinations(range(5), k))
    found = [problem.evaluate(problem.explanation(S)) for S in sets]
    return min(one.objective for one in found if one.feasible)


PROBLEM = _problem(alarm=7, name="first")
# cpsat, maxsat and milp state it, search takes its form, beam and greedy its form as heuristics.
ENGINES = [
    name
    for name in engines()
    if backend_class(name)._in_all
    and backend(name).available()
    and backend(name).accepts(PROBLEM)
    and not backend(name)._asks_classifier
]


def test_the_engines_that_must_take_it_do():
    assert {"cpsat", "maxsat", "milp", "search", "beam", "greedy"} <= {*ENGINES}


@pytest.mark.parametrize("name", ["first.json", "first.json.gz"])
def test_saved_and_loaded(tmp_path, name):
    cpx.save(PROBLEM, tmp_path / name)
    again = cpx.load(tmp_path / name)
    assert type(again) is Careful
    assert again.alarm == 7
    assert again.to_dict() == PROBLEM.to_dict()
    assert fingerprint(again) == fingerprint(PROBLEM) != fingerprint(replace(again, alarm=8))


def test_what_is_wrong_is_refused_by_name():
    data = PROBLEM.to_dict()
    for change, message in (
        ({"alarm": 0}, "alarm must be at least 1, got 0"),
        ({"alrm": 3}, "unknown parameter 'alrm' .did you mean 'alarm'"),
    ):
        with pytest.raises(InvalidInstance, match=message):
            instances.from_dict({**data, "parameters": {**data["parameters"], **change}})


def test_the_schema_has_it():
    (own,) = (
        s for s in instance_schema()["oneOf"] if s["properties"]["problem"]["enum"] == ["careful"]
    )
    assert own["properties"]["parameters"]["properties"]["alarm"]["minimum"] == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_solved_and_checked(engine):
    # In a worker, which finds the package by its entry points, the engine that is quick to load.
    result = cpx.solve(PROBLEM, engine, isolate=engine == "search", time_limit=60)
    assert result.verified, result.warnings
    if backend(engine).exact:
        assert str(result.status) == "OPTIMAL"
        assert result.objective == _least(PROBLEM)


def _states_all(name):
    encoding = find_encoding(Careful, name)
    return encoding.faithful and encoding.limits


@pytest.mark.parametrize("encoding", [*filter(_states_all, encoding_names(Careful))])
def test_every_encoding_has_the_least_cost(encoding):
    for seed in range(3):
        problem = _problem(seed, alarm=seed + 1, min_coverage="1/10")
        assert cpx.solve(problem, "cpsat", encoding=encoding).objective == _least(problem)


def test_the_encoding_of_this_package_states_problems_of_cpx():
    plain = cpx.KMonomial(PROBLEM.samples, k=2)
    assert "big-m" in encoding_names(cpx.KMonomial)
    assert "big-m" not in encoding_names(cpx.models.NegativeOnly)
    optimum = cpx.solve(plain, "search").objective
    for engine in ("cpsat", "milp"):
        # In a worker, which finds the encoding by its entry point.
        result = cpx.solve(plain, engine, encoding="big-m", isolate=engine != "milp")
        assert (result.objective, result.encoding) == (optimum, "big-m")
        assert result.verified
    found = compare([plain], ["cpsat"], encodings=["clausal", "big-m"], time_limit=60)
    assert [run.configuration for run in found.runs] == ["cpsat clausal", "cpsat big-m"]
    assert {run.result.objective for run in found.runs} == {optimum}
    assert "Big-M rows" in show(plain, "statement", "big-m")
    assert b"encoding big-m" in export_bytes(plain, "lp", "big-m")
    with pytest.raises(UnknownName, match="did you mean 'big-m'"):
        cpx.solve(plain, encoding="bigm")
    with pytest.raises(InvalidOption, match="cannot state limits"):
        cpx.solve(replace(plain, min_coverage="1/10"), encoding="big-m")


def test_conformance_solves_its_cases_in_the_encoding():
    from cpx.testing import conformance

    stated = [(case, name) for case, name in conformance.stated("monomial") if name == "big-m"]
    assert len(stated) > 20
    for case, name in stated:
        conformance.check_case("cpsat", case, name)


def test_every_engine_solves_the_cases_of_the_family():
    from cpx.testing import conformance

    for engine in ("search", "cpsat"):
        stated = conformance.cases_of(engine, "careful")
        assert len(stated) >= 4
        for case, encoding in stated:
            conformance.check_case(engine, case, encoding)


def test_random_instances_are_solved_as_by_brute_force():
    for seed in range(20):
        instance = draw("careful", np.random.default_rng(seed))
        problem, right = instances.from_dict(instance), truth(instance)
        result = cpx.solve(problem, "search")
        assert (result.objective, result.proved) == (right.optimum, True), seed
        if problem.side_constraints:
            continue
        saved, proof = problem.to_dict(), prove(problem, result)
        assert proved(saved, proof.to_bytes()).bound == right.optimum
        if right.optimum:
            better = {**result.to_dict(), "bound": right.optimum + 1, "status": "FEASIBLE"}
            with pytest.raises(Refused, match="costs"):
                prove(problem, cpx.Result.from_dict(better))


def test_a_proof_that_was_altered_is_refused():
    problem = next(p for p in map(_problem, range(20)) if _least(p) > 3)
    proof = prove(problem, cpx.solve(problem, "search"))
    lines = proof.to_bytes().decode().splitlines(keepends=True)
    assert len(lines) > 4
    for at in range(1, len(lines)):
        for new in ([], ["bound\n"], ["split 0\n"], ["no rule\n"], [lines[at]] * 2):
            other = [*lines[:at], *new, *lines[at + 1 :]]
            if other != lines:
                with pytest.raises(Refused):
                    proved(problem.to_dict(), "".join(other).encode())


def test_compared():
    names = ["search", "cpsat"]
    found = compare([PROBLEM], names, time_limit=60)
    assert [run.result.objective for run in found.runs] == [_least(PROBLEM)] * 2
    assert all(run.result.verified for run in found.runs)


def test_shown_and_exported():
    for form in SHOW_FORMS:
        assert show(PROBLEM, form), form
    text = show(PROBLEM, "statement")
    assert "Find a monomial of at most k features that is hardly ever wrong." in text
    assert "alarm        7" in text
    for form in EXPORT_FORMS:
        assert export_bytes(PROBLEM, form), form


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7},{i % 3},{i % 7 > 3}\n" for i in range(60))
    Path("table.csv").write_text(f"a,b,y\n{rows}")
    for arguments, told in (
        ("make --help", "A rule that is hardly ever wrong."),
        ("make careful --help", "What a false alarm costs, in misses: at least 1."),
        (
            "make careful table.csv --target y --row 6 --model tree -k 2 --alarm 20 -o first.json",
            "wrote first.json: class True by tree: careful",
        ),
        ("solve first.json -o result.json", "recomputed from the data"),
        ("check first.json result.json", "OK OPTIMAL"),
        ("show first.json", "careful 'table-6-k2'"),
        ("export first.json --to lp -o first.lp", "wrote first.lp"),
    ):
        done = CliRunner().invoke(app, arguments.split())
        assert done.exit_code == 0, done.output
        assert told in done.stdout, arguments
    assert cpx.load("first.json").alarm == 20


def test_the_judge_sees_what_is_wrong():
    instance, right = PROBLEM.to_dict(), cpx.solve(PROBLEM).to_dict()
    assert judge(instance)(right) == violations(instance, right) == []
    for change in (
        {"objective": right["objective"] + 1},
        {"bound": right["bound"] + 1},
        {"status": "FEASIBLE"},
        {"explanation": {**right["explanation"], "features": [0, 1, 2]}},
        {"explanation": None},
    ):
        assert violations(instance, {**right, **change}), change


@dataclass(frozen=True, eq=False)
class Heir(Careful):
    """A class that no entry point names."""


@dataclass(frozen=True, eq=False)
class Other(Careful):
    """A kind that no entry point names."""

    kind = "other"


def test_what_is_not_registered_is_not_saved_as_its_parent(tmp_path):
    for cls, why in ((Heir, "its kind 'careful' is that of Careful"), (Other, "'other' is not")):
        with pytest.raises(InvalidInstance, match=f"{cls.__name__} cannot be saved: .*{why}"):
            cpx.save(cls(PROBLEM.samples, k=1), tmp_path / "heir.json")
    assert not [*tmp_path.iterdir()]


def test_without_a_judge_the_answer_says_so():
    problem = Other(PROBLEM.samples, k=2)
    result = cpx.solve(problem)
    assert str(result.status) == "OPTIMAL"
    assert not result.verified
    assert f"not independently checked: {UNJUDGED}" in result.warnings
