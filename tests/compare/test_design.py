from __future__ import annotations

import random
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import cpx
from cpx import MaxPrecision, RuleSetSelection, Samples, save, solve
from cpx.compare import Comparison, Design, compare
from cpx.compare.plan import plan
from cpx.errors import CpxError, InvalidInstance, InvalidOption, UnknownName
from cpx.models.sufficient_reason.cases import random_votes

from .helpers import tiny

DESIGN = """
# Two encodings of CP-SAT, with and without its linear relaxation, and our search.
instances = ["instances/*.json"]
engines = ["search", "cpsat", "cpsat{linearization_level=2}"]
encodings = ["clausal", "reified"]
seeds = [0, 1]
time_limit = [5, 10.5]
memory = 4000
jobs = 2
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "instances").mkdir()
    for name in ("a", "b"):
        save(tiny(name), tmp_path / "instances" / f"{name}.json")
    (tmp_path / "design.toml").write_text(DESIGN)
    return tmp_path


def test_the_package_is_called_like_its_function() -> None:
    import inspect

    assert cpx.compare([tiny()], "search").runs[0].result.objective == 1
    assert callable(cpx.compare)
    assert cpx.compare.compare is compare
    assert cpx.compare.Comparison is Comparison
    assert inspect.signature(cpx.compare) == inspect.signature(compare)
    assert sys.modules["cpx.compare"] is cpx.compare
    assert "compare" in dir(cpx)


def test_one_file_names_the_whole_design(files: Path) -> None:
    made = plan(Design.load(files / "design.toml"))
    assert made.skipped == ()
    # Two limits; the search needs no encoding and ignores the seed, and runs once for both.
    assert len(made.tasks) == 2 * 2 * (1 + 2 * 2 * 2)
    first, *_, last = made.tasks
    assert (first.instance, first.configuration, first.options.time_limit) == ("a", "search", 5.0)
    assert last.configuration == "cpsat{linearization_level=2} reified"
    assert (last.options.time_limit, last.options.seed) == (10.5, 1)
    design = Design.load(files / "design.toml")
    assert (design.memory, design.jobs) == (4_000_000_000, 2)


def test_a_design_is_an_argument_of_compare() -> None:
    design = Design([tiny()], "cpsat", seeds=(0, 1))
    assert len(compare(design).runs) == 2
    with pytest.raises(InvalidOption, match="seeds is given, and a Design has the whole design"):
        compare(design, seeds=[3])


def test_a_design_is_run_from_python_and_the_file_is_all_of_it(files: Path) -> None:
    text = DESIGN.replace("[5, 10.5]", "30").replace("[0, 1]", "[0]").replace("jobs = 2", "")
    (files / "design.toml").write_text(text)
    found = cpx.compare(files / "design.toml", output=files / "results")
    assert len(found.runs) == 2 * 5
    assert found.complete
    assert not found.failed
    with pytest.raises(InvalidOption, match=r"threads is given, and .*design\.toml has the whole"):
        cpx.compare(files / "design.toml", threads=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("instances = [", "no TOML"),
        ("engines = ['search']", "must name its instances"),
        ("instances = []", "instances must not be empty"),
        ("instances = 3", "instances"),
        ("instances = ['instances/a.json']\nengine = 'search'", "did you mean 'engines'"),
        ("instances = ['instances/a.json']\nengines = []", "backends must not be empty"),
        ("instances = ['instances/a.json']\nseeds = 3", "seeds must be a list"),
        ("instances = ['instances/a.json']\nseeds = ['x']", "seed"),
        ("instances = ['instances/a.json']\ntime_limit = 'long'", "time_limit"),
        ("instances = ['instances/a.json']\nmemory = 'much'", "memory must be a number of MB"),
        ("instances = ['instances/a.json']\njobs = 0", "jobs"),
        ("instances = ['instances/a.json']\noptions = [3]", "options must map"),
    ],
)
def test_wrong_designs_are_named_with_their_file(files: Path, text: str, message: str) -> None:
    (files / "design.toml").write_text(text)
    with pytest.raises(CpxError, match=message) as caught:
        plan(Design.load(files / "design.toml"))
    assert "design.toml" in str(caught.value)


def test_pairs_that_cannot_be_done_are_skipped_and_listed() -> None:
    reasons = random_votes(3, 5, 4)
    problems = {"monomial": tiny(), "votes": reasons}
    found = compare(problems, "search,cpsat,hitting-sets", encodings=["clausal", "reified"])
    done = {(run.instance, run.configuration) for run in found.runs}
    assert ("monomial", "search") in done
    assert ("monomial", "cpsat clausal") in done
    skipped = {(pair.instance, pair.configuration): pair.reason for pair in found.skipped}
    assert ("votes", "cpsat reified") in skipped
    assert "stated for one tree" in skipped["votes", "cpsat reified"]
    assert ("monomial", "hitting-sets") in skipped
    assert not done & skipped.keys()


def test_an_engine_without_encodings_runs_once_whatever_encodings_are_compared() -> None:
    sets = RuleSetSelection(tiny().samples, [(0,), (0, 1)], penalty="1/8")
    problems = {"monomial": tiny(), "sets": sets}
    found = compare(problems, "search,cpsat", encodings=["clausal", "reified"])
    assert [(run.instance, run.configuration) for run in found.runs] == [
        ("monomial", "search"), ("monomial", "cpsat clausal"), ("monomial", "cpsat reified"),
        ("sets", "search"),
    ]  # fmt: skip
    assert {pair.configuration for pair in found.skipped} == {"cpsat clausal", "cpsat reified"}
    with pytest.raises(UnknownName, match="clausla"):
        compare([tiny()], "search", encodings=["clausla"])


def test_options_are_an_axis() -> None:
    found = compare([tiny()], "search,cpsat", options=[{}, {"cut_level": 0}, {"warm_start": True}])
    assert [run.configuration for run in found.runs] == [
        "search", "search{warm_start=true}",
        "cpsat", "cpsat{cut_level=0}", "cpsat{warm_start=true}",
    ]  # fmt: skip
    (pair,) = found.skipped
    assert (pair.configuration, "cut_level" in pair.reason) == ("search{cut_level=0}", True)


def test_what_leads_to_no_run_at_all_is_an_error() -> None:
    with pytest.raises(UnknownName, match="clausla"):
        compare([tiny()], "cpsat,search", encodings=["clausal", "clausla"])
    with pytest.raises(UnknownName, match="cutlevel"):
        compare([tiny()], "cpsat,search", options=[{}, {"cutlevel": 0}])
    with pytest.raises(InvalidOption, match="hitting-sets"):
        compare([tiny()], "hitting-sets")


def test_files_are_read_when_their_turn_comes(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = sorted((files / "instances").iterdir())
    found = compare(paths, "search", seeds=[0, 1], output=files / "runs")
    assert list(found.by_instance()) == ["a", "b"]

    def change(tasks: Any) -> None:
        save(tiny("a", k=2), paths[0])

    from cpx.compare import sources

    sources._last.clear()
    found = compare(paths, "search", on_begin=change)
    # The last one that was read is still in memory; the other one is not what was planned.
    assert [str(run.result.status) for run in found.runs] == ["ERROR", "OPTIMAL"]
    assert "was changed after the comparison began" in found.runs[0].result.error
    with pytest.raises(InvalidInstance, match="given twice"):
        compare([paths[0], paths[0]], "search")
    with pytest.raises(InvalidInstance, match="nothing"):
        compare([files / "nothing.json"], "search")


def test_table_as_frame_and_csv() -> None:
    samples = Samples([[1, 1], [1, 1], [1, 0], [0, 1], [0, 1]], [1, 1, 0, 0, 0])
    problem = MaxPrecision(samples, k=1, name="=ratio")
    found = Comparison.from_results(
        [(problem, solve(problem, engine, warm_start=True)) for engine in ("search", "cpsat")]
    )
    frame = found.to_frame()
    assert list(frame.configuration) == ["search{warm_start=true}", "cpsat{warm_start=true}"]
    row = frame.iloc[1]
    assert row.objective == pytest.approx(2 / 3)
    assert (row.objective_numerator, row.objective_denominator) == (2, 3)
    assert Fraction(int(row.bound_numerator), int(row.bound_denominator)) == Fraction(2, 3)
    assert row.precision == pytest.approx(2 / 3)
    assert row.coverage == pytest.approx(3 / 5)
    assert row.variables > 0
    assert "ortools=" in row.versions
    lines = found.to_csv().splitlines()
    assert lines[1].startswith("'=ratio,")
    assert "=ratio" in str(found)


def test_results_from_elsewhere_make_a_comparison(files: Path) -> None:
    path = files / "instances" / "a.json"
    problem = cpx.load(path)
    made = [(path, solve(problem, "search")), (tiny("b"), solve(tiny("b"), "cpsat"))]
    found = Comparison.from_results(made)
    assert [(run.instance, run.engine) for run in found.runs] == [("a", "search"), ("b", "cpsat")]
    assert found.best("a").proved


def _fuzz_designs(folder: Path, rounds: int) -> None:
    rng = random.Random(0)
    alphabet = [*'{}[]"=,.\n#', "instances", "engines", "true", "1e400", "-1", "'*'", "\\", "é"]
    read = 0
    for _ in range(rounds):
        text = list(DESIGN)
        for _ in range(rng.randint(1, 5)):
            i = rng.randrange(len(text))
            text[i : i + rng.randint(0, 8)] = rng.choice([rng.choice(alphabet), ""])
        (folder / "design.toml").write_bytes(
            "".join(text).encode() + bytes(rng.sample(range(256), rng.randint(0, 1)))
        )
        try:
            design = Design.load(folder / "design.toml")
            if design.jobs < 100:
                plan(design)
        except CpxError:
            continue
        read += 1
    assert 0 < read < rounds


def test_fuzzed_designs_are_read_or_refused(files: Path) -> None:
    _fuzz_designs(files, 200)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_fuzzed_designs_are_read_or_refused(files: Path) -> None:
    _fuzz_designs(files, 10_000)


def test_directories_patterns_and_files_of_other_formats(files: Path) -> None:
    folder = files / "instances"
    result = folder / "result.json"
    result.write_text(solve(tiny("a"), "search").to_json())
    (folder / "notes.json").write_text("[1, 2]")
    own = [str(folder / "a.json"), str(folder / "b.json")]
    for problems in (folder, [str(folder)], str(folder / "*"), [folder / "*.json", folder]):
        made = plan(Design(problems, "search"))
        assert [task.source.name for task in made.tasks] == ["a", "b"]
        assert {(pair.instance, pair.configuration) for pair in made.skipped} == {
            (str(result), ""),
            (str(folder / "notes.json"), ""),
        }
        assert any("its format is cpx-result" in pair.reason for pair in made.skipped)
    for line in ("instances", "instances/*", "**/*.json"):
        (files / "d.toml").write_text(f"instances = ['{line}']\nengines = ['search']")
        comparison = compare(files / "d.toml")
        assert len(comparison.runs) == 2
        assert len(comparison.skipped) == 2
    # A shell makes names of a pattern; what is named alone, or says nothing, is an error.
    assert len(plan(Design([*own, result], "search")).skipped) == 1
    for wrong in (result, [*own, folder / "notes.json"]):
        with pytest.raises(InvalidInstance, match=r"format must be|got list"):
            plan(Design(wrong, "search"))


@pytest.mark.parametrize("name", ["nowhere/", "x*.json", "empty"])
def test_nothing_there(files: Path, name: str) -> None:
    (files / "empty").mkdir()
    (files / "d.toml").write_text(f"instances = ['{name}']")
    with pytest.raises(CpxError, match=r"has no instances|is no file of an instance"):
        compare(files / "d.toml")


def test_a_damaged_instance_in_a_directory_is_an_error(files: Path) -> None:
    (files / "instances" / "c.json").write_text('{"format": "cpx-instance", "vers')
    with pytest.raises(InvalidInstance, match=r"c\.json: no JSON"):
        plan(Design(files / "instances", "search"))
