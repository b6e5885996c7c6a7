from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpx.answers.result import Result
from cpx.data.samples import Samples
from cpx.models.monomial.precision_coverage import MaxCoverage

from .conftest import Run


def test_prints_rule_value_proof_and_check(run: Run, inst: Path) -> None:
    done = run("solve", inst, "--no-isolate")
    assert done.exit_code == 0, done.output
    first, *lines = done.stdout.splitlines()
    assert first == "a => yes"
    facts = {line[:11].strip(): line[11:] for line in lines if line}
    assert facts["value"] == "1, bound 1, gap 0.0 %"
    assert facts["status"].startswith("OPTIMAL (completed")
    assert facts["precision"] == "0.667 on the samples"
    assert facts["coverage"] == "0.750 of the samples"
    assert facts["proved"].startswith("loss 1 of 4 is optimal")
    told = "the value, recomputed from the data; the bound is the engine's word"
    assert facts["checked"] == told


def test_warnings_go_to_stderr(run: Run, inst: Path) -> None:
    done = run("solve", inst, "--no-isolate", "--encoding", "table1-literal")
    assert "kept for study" in done.stderr
    assert "warning" not in done.stdout


@pytest.mark.parametrize("isolate", ["--isolate", "--no-isolate"])
def test_json_is_exactly_one_result(run: Run, inst: Path, isolate: str) -> None:
    done = run("solve", inst, "--json", isolate)
    assert done.exit_code == 0, done.output
    result = Result.from_dict(json.loads(done.stdout))
    assert (result.objective, result.bound, result.verified) == (1, 1, True)


def test_output_file_is_a_result_and_check_confirms_it(run: Run, inst: Path) -> None:
    assert run("solve", inst, "--no-isolate", "-o", "result.json").exit_code == 0
    assert Result.from_json(Path("result.json").read_text()).objective == 1
    done = run("check", inst, "result.json")
    assert done.exit_code == 0
    assert done.stdout.startswith("OK OPTIMAL, value 1, bound 1")


def test_solution_without_proof_exits_3(run: Run, hard: Path) -> None:
    # Other encodings have CP-SAT prove it at once. The hint is there however busy the machine is.
    asked = ("--encoding", "clausal", "--hint", 0, "--time-limit", 0.5)
    done = run("solve", hard, *asked, "--json")
    assert done.exit_code == 3, done.output
    assert json.loads(done.stdout)["status"] == "FEASIBLE"


def test_nothing_found_exits_4(run: Run, hard: Path) -> None:
    alone = ("--no-warm-start", "--no-isolate")
    done = run("solve", hard, "-b", "cpsat", "--time-limit", 0.001, *alone)
    assert done.exit_code == 4, done.output
    assert "Nothing was found within the limits." in done.stdout


def test_infeasible_is_proved_and_exits_0(run: Run, tmp_path: Path, inst: Path) -> None:
    data = json.loads(inst.read_text())
    data["parameters"] = {"k": 1, "required": [0, 1]}
    inst.write_text(json.dumps(data))
    done = run("solve", inst, "--no-isolate")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Nothing satisfies the constraints; this is proved.")


def test_failing_engine_exits_1(run: Run, inst: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cpx.backends.cpsat import CpSat

    def fail(*_: object) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(CpSat, "solve", fail)
    done = run("solve", inst, "-b", "cpsat", "--no-isolate", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["status"] == "ERROR"
    assert "no luck" in done.stderr


def test_hint_from_indices_and_from_a_result(run: Run, inst: Path) -> None:
    assert run("solve", inst, "--no-isolate", "--hint", "0", "-o", "r.json").exit_code == 0
    done = run("solve", inst, "--no-isolate", "--hint", "r.json", "--json")
    assert json.loads(done.stdout)["options"]["hint"] == [0]


def test_no_time_limit(run: Run, inst: Path) -> None:
    done = run("solve", inst, "--no-isolate", "--time-limit", "none", "--json")
    assert json.loads(done.stdout)["options"]["time_limit"] is None


def test_unexpected_errors_are_one_line_and_debug_shows_the_traceback(
    run: Run, inst: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cpx.solving.run

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr(cpx.solving.run, "run", fail)
    done = run("solve", inst)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "cpx: error: RuntimeError: surprise" in done.stderr
    assert "Traceback" not in done.stderr
    assert "--debug" in done.stderr
    done = run("--debug", "solve", inst)
    assert done.exit_code == 1
    assert "Traceback" in done.stderr


def test_no_rule_and_what_can_be_had(run: Run, tmp_path: Path) -> None:
    samples = Samples([[1, 0], [1, 1], [0, 1], [0, 0]], [1, 0, 1, 1], features=("a", "b"))
    floor = MaxCoverage(samples, k=1, min_precision="0.9").to_dict()
    (tmp_path / "none.json").write_text(json.dumps(floor))
    done = run("solve", tmp_path / "none.json", "--no-isolate", "-o", tmp_path / "out.json")
    assert done.exit_code == 0
    assert (
        "there is no rule of at most 1 condition that has a precision of at least" in done.stderr
    )
    assert "the greatest precision is 0.750, that of the empty rule" in done.stderr
    assert run("check", tmp_path / "none.json", tmp_path / "out.json").exit_code == 0
