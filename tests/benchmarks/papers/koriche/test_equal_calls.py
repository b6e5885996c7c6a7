from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.papers import anchor_package
from benchmarks.papers.anchor_package import AnchorsSettings
from benchmarks.papers.commands import app
from benchmarks.papers.datasets import choose
from benchmarks.papers.koriche.equal_calls import tables
from benchmarks.papers.koriche.equal_calls.anchors import capped_anchor
from benchmarks.papers.koriche.equal_calls.experiment import UNLIMITED, Experiment
from benchmarks.papers.koriche.equal_calls.methods import METHODS, answer
from benchmarks.papers.koriche.methods import choose_methods
from benchmarks.papers.koriche.protocol import Protocol
from benchmarks.papers.koriche.records import Record, Store
from cpx.data import Oracle, Uniform
from cpx.models.monomial.explainers.rule import RuleExplainer
from tests.benchmarks.papers.conftest import numbers, write_tables

OWN = ("cop", "sat", "precision", "adaptive", "certificates")


def run(*args: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["equal-calls", *map(str, args)])
    return result.exit_code, result.output


class Box:
    """Two of eight bits decide; counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def predict(self, rows: object) -> np.ndarray:
        bits = np.asarray(rows)
        self.asked += len(bits)
        return np.asarray(bits[:, 2] & bits[:, 5])


@pytest.mark.parametrize("name", [*OWN, "anchors", "anchors-99", "anchors-01"])
def test_no_method_asks_more_than_it_may(name: str) -> None:
    if name.startswith("anchors"):
        pytest.importorskip("anchor")
    box = Box()
    explainer = RuleExplainer(box, np.eye(8, dtype=int), distribution=Uniform(8), seed=3)
    x = [1, 0, 1, 0, 0, 1, 1, 0]
    found = answer(METHODS[name], explainer, x, 3, 2000, None)
    assert found.features is not None
    # The label of x is one call more for the methods that draw all samples at once.
    assert found.calls == box.asked <= 2001
    # Before its calls are spent, Anchors gets no further than one condition.
    assert set(found.features) & {2, 5} == ({2, 5} if name in OWN else set(found.features))
    if name in ("cop", "sat", "precision", "adaptive"):
        assert found.status == "OPTIMAL"


def test_anchors_that_are_stopped_answer_with_the_surest_rule_so_far() -> None:
    pytest.importorskip("anchor")
    box = Box()
    oracle = Oracle(box, [1, 0, 1, 0, 0, 1, 1, 0], Uniform(8))
    assert oracle.label == 1
    settings = AnchorsSettings(precision=0.99, tolerance=0.01)
    rule, stopped = capped_anchor(oracle, 3, 900, 0, settings)
    assert stopped == "the calls were spent"
    # One bit leaves an even chance; without any it is one in four.
    assert rule in ((2,), (5,))
    assert box.asked <= 901
    rule, stopped = capped_anchor(oracle, 3, 10**6, 0, AnchorsSettings())
    assert (rule, stopped) == ((2, 5), "")


def test_tables_are_made_and_resumed(tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data", vote=(numbers(), ["code"]), iris=(numbers(), ["code"]))
    args = ["--data", data, "-o", tmp_path / "out", "-n", 2, "--datasets", "vote,iris", "-k", 2]
    args += ["--methods", "cop,adaptive", "--calls", "300,600", "--fresh", 500]
    code, output = run(*args)
    assert code == 0, output
    lines = (tmp_path / "out" / "runs.jsonl").read_text().splitlines()
    assert len(lines) == 2 * 2 * 2 * 2
    assert all(json.loads(line)["calls"] <= 601 for line in lines)
    assert "Precision error at 600 calls" in output
    assert "Paired differences at 300 calls" in output
    code, again = run(*args)
    assert code == 0
    assert len((tmp_path / "out" / "runs.jsonl").read_text().splitlines()) == len(lines)
    assert "error 0" not in again.partition("Precision error")[0]
    code, output = run(*args, "--figures", "-n", 1, "--methods", "cop,certificates")
    assert code == 0, output
    # Certificates at two numbers of calls on two tables; then, on the one of the figures, both
    # methods at six numbers of calls and seven sizes, of which k = 2, m = 1000 is in both.
    made = len((tmp_path / "out" / "runs.jsonl").read_text().splitlines())
    assert made == len(lines) + 4 + 12 * 2
    assert (tmp_path / "out" / "error-by-size.svg").stat().st_size > 1000
    code, output = run(*args, "--calls", "many")
    assert (code, "calls must be numbers or 'anchors', got 'many'" in output) == (2, True)
    assert run(*args, "--calls", ",")[0] == 2


def test_without_the_package_anchors_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchor_package, "installed", lambda: False)
    data = write_tables(tmp_path / "data", vote=(numbers(), ["code"]))
    args = ["--data", data, "-o", tmp_path / "out", "-n", 1, "--datasets", "vote", "-k", 2]
    code, output = run(*args, "--methods", "cop,anchors", "--calls", 300, "--fresh", 500)
    assert (code, "is left out: pip install" in output) == (0, True), output
    assert "mean of 1" in output
    for more in (["--methods", "anchors"], ["--calls", "anchors"]):
        code, output = run(*args, *more)
        assert (code, "Anchors is not installed: pip install" in output) == (2, True), output


def test_differences_are_paired_and_corrected(tmp_path: Path) -> None:
    """Six instances of each of two data sets: on one precision always errs less by .1."""
    methods = choose_methods(["precision", "certificates", "anchors"], METHODS)
    chosen = choose(["vote", "iris"])
    identities = {dataset.name: "none" for dataset in chosen}
    experiment = Experiment(chosen, identities, methods, (1000,), 6, 5, Protocol(fresh=1000))
    store = Store(tmp_path)
    for dataset in chosen:
        for i in range(6):
            for method in methods:
                wrong = 100 + i + (100 if method.name != "precision" else 0)
                if dataset.name == "iris" and method.name == "certificates":
                    wrong = 100 + i
                if method.name == "anchors" and i == 5:
                    continue  # nothing is compared on an instance without all answers
                task = experiment.task(dataset, i, method, m=1000)
                store.add(
                    Record(
                        task.key,
                        task.setting(),
                        "OPTIMAL",
                        agreeing=1000 - wrong,
                        drawn=1000,
                        features=[0, 1],
                        calls=900,
                    )
                )
    errors, pairs = tables.grids(experiment, store)
    assert errors.rows[0] == ("iris", "5", "0.102", "0.102", "0.202")
    assert errors.rows[1] == ("vote", "5", "0.102", "0.202", "0.202")
    assert errors.rows[2] == ("mean of 2", "", "0.102", "0.152", "0.202")
    assert errors.rows[3] == ("calls, mean", "", "900", "900", "900")
    certificates, anchors = pairs.rows
    # Six differences of one sign have p = 1/32; of two tests the smaller one counts double.
    assert certificates[2:9] == ("2", "-0.050", "1", "1", "0", "0", "0")
    assert anchors[2:9] == ("2", "-0.100", "2", "0", "0", "0", "0")


def test_the_calls_of_anchors_are_those_of_its_record(tmp_path: Path) -> None:
    chosen = choose(["vote"])
    methods = choose_methods(["adaptive"], METHODS)
    protocol = Protocol(fresh=1000)
    experiment = Experiment(chosen, {"vote": "none"}, methods, ("anchors",), 2, 5, protocol)
    store = Store(tmp_path)

    def add(instance: int, method: str, m: int, wrong: int, message: str = "") -> None:
        task = experiment.task(chosen[0], instance, METHODS[method], m=m)
        kept = {"agreeing": 1000 - wrong, "drawn": 1000, "features": [instance], "calls": 777}
        if method == "adaptive":
            kept["features"] = [3, 4]
        store.add(Record(task.key, task.setting(), "FEASIBLE", message=message, **kept))

    first = list(experiment.tasks(chosen[0], 0, "anchors", store))
    assert [task.m for task in first] == [UNLIMITED]
    add(0, "anchors", UNLIMITED, 60)
    add(1, "anchors", UNLIMITED, 10, "the time limit was reached")
    assert [t.m for t in experiment.tasks(chosen[0], 0, "anchors", store)] == [UNLIMITED, 777]
    assert [t.m for t in experiment.tasks(chosen[0], 1, "anchors", store)] == [UNLIMITED]
    add(0, "adaptive", 777, 20)
    beside = tables.grids(experiment, store)[2]
    anchors, adaptive = beside.rows
    assert anchors == ("Anchors", "1", "0.0600", "0", "0", "0", "0", "0.500", "0 of 1")
    # 20 of 1000 against 60 of 1000 is more than chance.
    assert adaptive == ("adaptive", "1", "0.0200", "1", "1", "0", "0", "0.250", "1 of 1")
