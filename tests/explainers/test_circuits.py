"""``distribution=`` a circuit, from every door; and bad files of one, refused by name there."""

from __future__ import annotations

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.data import Circuit
from cpx.data.fitted.psdd import read_psdd
from cpx.errors import CpxError, DataError, InvalidInstance
from cpx.modelling import instances
from tests.cli.conftest import Run, run

__all__ = ["run"]

X = pd.DataFrame([*product((0, 1), repeat=3)], columns=["a", "b", "c"])
MODEL = DecisionTreeClassifier(random_state=0).fit(X, (X["a"] + X["b"] + X["c"] > 1).astype(int))
ROW = X.iloc[7]

# b mostly shows what a does; c is its own.
PSDD = [
    *("L 0 0 1", "L 1 0 -1", "T 2 1 2 -0.2", "T 3 1 2 -1.5"),
    *("D 4 2 2 0 2 -0.5 1 3 -0.9327521295671886", "T 5 3 3 -0.7", "D 6 4 1 4 5 0"),
]
CIRCUIT = read_psdd(PSDD)
LEAF, OTHER = ({"attribute": a, "probabilities": [0.5, 0.5]} for a in (0, 1))
BAD = {
    "cycle.json": ([LEAF, {"product": [0, 2]}, OTHER], r"nodes\[1\]: product has the child 2: .*"),
    "smooth.json": ([LEAF, OTHER, {"sum": [0, 1], "weights": [0.5, 0.5]}], "is not smooth"),
    "decomposable.json": ([LEAF, LEAF, {"product": [0, 1]}], "is not decomposable"),
    "weights.json": ([LEAF, {"sum": [0], "weights": [0.9]}], "weights have the sum 0.9"),
    "cycle.psdd": (["D 0 2 1 1 1 0", "L 1 0 1"], "line 1 has the child '1', which does not stand"),
    "decomposable.psdd": ([*PSDD, "D 7 4 1 6 5 0"], "line 8 is not decomposable"),
    "weights.psdd": ([*PSDD[:4], "D 4 2 2 0 2 -0.7 1 3 -0.7"], "line 5: its probabilities have"),
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a table, and the circuit in both forms."""
    X.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "model.json").write_text(json.dumps(cpx.read_model(MODEL).to_dict()))
    (tmp_path / "circuit.psdd").write_text("\n".join(PSDD))
    (tmp_path / "circuit.json").write_text(json.dumps(CIRCUIT.to_dict()))
    return tmp_path


def _bad(files: Path, name: str) -> tuple[Path, str]:
    path, (nodes, told) = files / name, BAD[name]
    text = {"format": "cpx-circuit", "version": 1, "nodes": nodes}
    path.write_text("\n".join(nodes) if path.suffix == ".psdd" else json.dumps(text))
    return path, told


def _best(k: int) -> tuple[float, tuple[int, ...]]:
    """The best set for the last row, of these the likeliest, by sums over all rows."""
    weights = np.exp(CIRCUIT.log_likelihood(X.to_numpy()))
    votes = MODEL.predict_proba(X)[:, 1]
    found = []
    for S in (S for size in range(k + 1) for S in combinations(range(3), size)):
        inside = (X.to_numpy()[:, S] == 1).all(axis=1)
        p = weights[inside].sum()
        found.append((round(float(votes[inside] @ weights[inside] / p), 9), p, S))
    value, _, S = max(found)
    return value, S


@pytest.mark.parametrize("form", ["circuit.psdd", "circuit.json", "circuit"])
def test_a_circuit_answers_from_every_door(files: Path, run: Run, form: str) -> None:
    given: Any = CIRCUIT if form == "circuit" else files / form
    expected, S = _best(2)
    explainer = cpx.Explainer(MODEL, X, distribution=given)
    found = [
        explainer.expectation(ROW, k=2),
        explainer.expectations(X.iloc[[0, 7]], k=2)[1],
        cpx.explain(MODEL, X, ROW, kind="expectation", k=2, distribution=given),
    ]
    for one in found:
        assert one.features == S
        assert one.expected == pytest.approx(expected)
        assert one.result.proved
        assert one.result.verified
        assert "under the circuit distribution" in one.guarantee
    saved = json.loads(json.dumps(found[0].problem.to_dict()))
    again = instances.from_dict(saved)
    assert isinstance(again.distribution, Circuit)
    assert cpx.solve(again).explanation.expected == found[0].expected
    if form == "circuit":
        return
    asked = ("--row", 7, "--model", "model.json", "--distribution", form, "-k", 2)
    ran = run("explain", "table.csv", *asked, "--kind", "expectation", "--no-isolate", "--json")
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["explanation"]["features"] == [*S]
    made = run("make", "expectation", "table.csv", *asked, "-o", "inst.json")
    assert made.exit_code == 0, made.output
    solved = run("solve", "inst.json", "--no-isolate", "-o", "result.json")
    assert solved.exit_code == 0, solved.output
    assert json.loads(Path("result.json").read_text())["explanation"]["features"] == [*S]
    assert run("check", "inst.json", "result.json").exit_code == 0


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named_at_every_door(files: Path, run: Run, name: str) -> None:
    path, told = _bad(files, name)
    told = f"{path.name}: .*{told}"
    explainer = cpx.Explainer(MODEL, X, distribution=path)
    for door in (
        lambda: explainer.expectation(ROW),
        lambda: explainer.expectations(X.iloc[[0, 7]]),
        lambda: cpx.explain(MODEL, X, ROW, kind="expectation", distribution=path),
    ):
        with pytest.raises(DataError, match=told):
            door()
    asked = ("table.csv", "--row", 7, "--model", "model.json", "--distribution", name)
    for command in (("explain", *asked, "--kind", "expectation"), ("make", "expectation", *asked)):
        ran = run(*command)
        assert ran.exit_code == 2
        assert BAD[name][1].split("\\")[0].split(":")[0] in " ".join(ran.output.split())


@pytest.mark.parametrize("name", [name for name in BAD if name.endswith("json")])
def test_saved_instances_of_bad_circuits_are_refused(name: str) -> None:
    saved = cpx.Explainer(MODEL, X, distribution=CIRCUIT).expectation(ROW).problem.to_dict()
    nodes, told = BAD[name]
    saved["distribution"]["nodes"] = nodes
    with pytest.raises(InvalidInstance, match=f"distribution: .*{told}"):
        instances.from_dict(saved)


def test_a_circuit_over_other_columns_is_refused_and_rules_take_none(files: Path) -> None:
    table = pd.read_csv(files / "table.csv")
    other = Circuit([LEAF, OTHER, {"product": [0, 1]}])
    with pytest.raises(InvalidInstance, match="2 attributes, coding has 3"):
        cpx.explain(MODEL, table, ROW, kind="expectation", distribution=other)
    named = Circuit(CIRCUIT.to_dict()["nodes"], names=["a", "c", "b"])
    with pytest.raises(InvalidInstance, match="other attributes, or in another order"):
        cpx.explain(MODEL, table, ROW, kind="expectation", distribution=named)
    for given in (CIRCUIT, files / "circuit.json"):
        with pytest.raises(CpxError, match="distribution"):
            cpx.explain(MODEL, table, ROW, distribution=given)
