from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import betaln
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from typer.testing import CliRunner

from benchmarks.papers.ads import baselines, bayesian_rule_set, experiment, network, sweep
from benchmarks.papers.ads.experiment import Settings, active_set
from benchmarks.papers.ads.faithfulness import ADS, PUBLISHED, Faithfulness, means
from benchmarks.papers.ads.mixtures import Mixtures
from benchmarks.papers.ads.picked_anchors import AnchorRules, _Codes
from benchmarks.papers.commands import app
from benchmarks.papers.sources import Directory
from tests.benchmarks.papers.conftest import write_tables


def adult(rows: int = 200) -> str:
    """Return a table like Adult: two numbers, a category with gaps, a column not to be used."""
    rng = np.random.default_rng(0)
    lines = ["age,fnlwgt,work,hours,target"]
    for _ in range(rows):
        age, hours = rng.integers(18, 80), rng.integers(10, 60)
        work = rng.choice(["State", "Private", ""])
        rich = age > 45 and (hours > 30 or work == "State")
        lines.append(f"{age},{rng.integers(10**6)},{work},{hours},{'>50K' if rich else '<=50K'}")
    return "\n".join(lines) + "\n"


def run(*args: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["ads", *map(str, args)])
    return result.exit_code, result.output


def test_the_table_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "HIDDEN", (10, 5))
    data = write_tables(tmp_path / "data", adult=(adult(), ["work"]))
    out = tmp_path / "ads"
    args = ["--data", data, "--iterations", 8, "--queries", 20, "--runs", 1, "--rows", 150]
    args += ["--epochs", 200]
    args += ["-o", out]
    code, output = run(*args, "--penalty", 0.01)
    assert code == 0, output
    assert "180 training rows, 20 test rows, 3 attributes" in output
    assert "at most 20 queries, 20 in one iteration" in output
    told = re.search(r"separated from those of the others in ([0-9.]+) % of its", output)
    assert told is not None
    assert 0 <= float(told[1]) < 100
    lines = [line.split("  ") for line in output.splitlines()]
    names = [line[0] for line in lines]
    for name in (
        "no rule",
        "CART",
        "random forest",
        "ADS, beta = 0",
        "ADS",
        "ADS, weights for F1",
        "learned, no queries",
        "learned for F1, no queries",
        "BRS+, paper",
    ):
        assert name in names
    told = (out / "table.md").read_text().splitlines()

    def cells(name: str) -> list[str]:
        line = next(line for line in told if line.startswith(f"| {name} |"))
        return [cell.strip() for cell in line.strip("|").split("|")]

    ours = cells("ADS")
    assert float(ours[1]) > 0.7
    assert (ours[4], ours[11]) == ("-", "20")
    for name, queries in (("learned, no queries", "0"), ("learned for F1", "75")):
        found = cells(name)
        assert found[11] == queries
        assert float(found[8]) <= float(ours[8])
        assert float(found[4]) == pytest.approx(float(found[2]) - float(ours[2]), abs=0.002)
    assert (
        "|   paper | 0.897 | 0.741 | - | - | - | 0.688 | 0.803 | 24 | 4.38 | 6 | - | - |" in told
    )
    # What is kept is not run again; the last line, cut short, is.
    kept, ran = (out / "runs.jsonl").read_bytes(), list[str]()
    (out / "runs.jsonl").write_bytes(kept[:-9])
    fit = experiment.imitation
    monkeypatch.setattr(experiment, "imitation", lambda *a: ran.append(a[0]) or fit(*a))
    assert run(*args, "--penalty", 0.01)[0] == 0
    assert ran == ["learned for F1"]
    again = (out / "table.md").read_text().splitlines()
    assert [line[:60] for line in again] == [line[:60] for line in told]


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_the_network_is_trained_on_the_other_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "HIDDEN", (10, 5))
    data = write_tables(tmp_path / "data", adult=(adult(), ["work"]))
    table = Directory(data).load(network.DATASET)
    found = network.train(table, 0, 20)
    X = table.X.drop(columns=["fnlwgt"])
    y = np.asarray(table.y) == ">50K"
    seen, kept = train_test_split(np.arange(200), test_size=0.1, random_state=0)
    pd.testing.assert_frame_equal(found.train_rows, X.iloc[seen].reset_index(drop=True))
    pd.testing.assert_frame_equal(found.test_rows, X.iloc[kept].reset_index(drop=True))
    theirs = found.classifier.predict_proba(X)
    for rows, same in ((seen, True), (kept, False)):
        ours = clone(found.classifier).fit(X.iloc[rows], y[rows])
        assert np.allclose(ours.predict_proba(X), theirs) is same
    for rows, accuracy in ((seen, found.train_accuracy), (kept, found.test_accuracy)):
        assert accuracy == (found.classifier.predict(X.iloc[rows]) == y[rows]).mean()


def test_means_have_a_lead_with_its_standard_error() -> None:
    def run(theirs: float, ours: float, queries: float | None) -> list[Faithfulness]:
        kept = Faithfulness(ADS, 0.9, theirs, 0.5, 0.5, 10)
        return [kept, Faithfulness("ours", 0.8, ours, 0.5, 0.5, 8, queries=queries)]

    ads, ours = means([run(0.70, 0.73, 5), run(0.80, 0.81, 7)])
    assert (ads.f1, ads.lead, ads.error) == (0.75, None, None)
    # The differences are 0.03 and 0.01, each 0.01 from their mean.
    assert ours.lead == pytest.approx(0.02)
    assert ours.error == pytest.approx(0.01)
    assert ours.spread == pytest.approx(0.08 / 2**0.5)
    assert (ours.rules, ours.queries) == (8, 6)
    assert means([run(0.7, 0.7, None)])[1].queries is None


def test_the_other_methods_of_the_paper_stand_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anchor")
    monkeypatch.setattr(network, "HIDDEN", (10, 5))
    monkeypatch.setattr(baselines, "EXPLAINED", 6)
    monkeypatch.setattr(bayesian_rule_set, "_STEPS", 200)
    data = write_tables(tmp_path / "data", adult=(adult(), ["work"]))
    found = network.train(Directory(data).load(network.DATASET), 0, 200)
    settings = Settings(0.01, iterations=8, queries=30)
    made = list(
        baselines.baselines(
            *(found, found.train_rows, 3, 30, 0, lambda: active_set(settings, 0, 0.0)),
            lambda _, make: make(),
        )
    )
    by_name = {one.name: one for one in made}
    # The package of the lists is rarely there.
    told = [name for name in by_name if not name.startswith("SBRL")]
    assert told == ["ADS+, beta = 0", "BRS+", "BRS", "SP-Anchor", "DT-Extract"]
    assert by_name["ADS+, beta = 0"].queries == 30
    for name in ("SP-Anchor", "DT-Extract"):
        one = by_name[name]
        assert 1 <= one.rules <= 3
        assert one.queries > 0
        assert one.precision > 0.5
        assert one.longest >= one.conditions >= 1


def mixed(rows: pd.DataFrame, cells: np.ndarray) -> pd.DataFrame:
    """Return the rows that cells of a table make, one cell after the other."""
    return pd.DataFrame(
        {c: [rows[c].iloc[i] for i in cells[:, j]] for j, c in enumerate(rows.columns)}
    ).astype(rows.dtypes)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_mixtures_have_the_labels_of_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "HIDDEN", (10, 5))
    data = write_tables(tmp_path / "data", adult=(adult(), ["work"]))
    found = network.train(Directory(data).load(network.DATASET), 0, 200)
    rows = found.train_rows
    labels = Mixtures(found.classifier, rows)
    cells = np.random.default_rng(1).integers(len(rows), size=(400, rows.shape[1]))
    theirs = np.asarray(found.classifier.predict(mixed(rows, cells)), dtype=bool)
    assert 40 < theirs.sum() < 360
    assert np.array_equal(labels(cells), theirs)


def test_samples_of_anchors_meet_the_conditions() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 300).astype(float),
            "work": rng.choice(["a", "b", None], 300),
            "hours": rng.integers(10, 60, 300),
        }
    )
    old = rows["age"].quantile(0.75)
    asked: list[np.ndarray] = []

    def labels(cells: np.ndarray) -> np.ndarray:
        asked.append(cells)
        sample = mixed(rows, cells)
        return np.asarray((sample["age"] > old) & (sample["work"] == "a"))

    model = AnchorRules(3, 5)
    states = _Codes(rows)(rows)
    draw = model._draw(states, 7, labels, rng)
    for present in [], [1], [0, 2], [0, 1, 2]:
        agreement, same = draw(present, 500, True)
        cells = asked.pop()
        # The sample is of the cells that were asked about.
        assert np.array_equal(agreement, states[cells, np.arange(3)] == states[7])
        assert agreement[:, present].all()
        assert np.array_equal(same, labels(cells))
        asked.clear()
        # What is free is of one real row, and the rest is of many.
        free = [c for c in range(3) if c not in present]
        assert (cells[:, free] == cells[:, free[:1]]).all()
        assert all(len(set(cells[:, c])) > 10 for c in range(3))
        if not present:
            assert 0 < agreement.mean() < 1
    assert model.queries == 4 * 500

    pytest.importorskip("anchor")
    model.fit(rows, labels)
    assert [rule.columns for rule in model.rules] == [(0, 1)]
    assert np.array_equal(model.predict(rows), (rows["age"] > old) & (rows["work"] == "a"))


def test_curves_are_drawn_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(network, "HIDDEN", (10, 5))
    monkeypatch.setattr(sweep, "PENALTIES", (0.1, 0.01))
    monkeypatch.setattr(sweep, "BETAS", (0.0, 0.02))
    data = write_tables(tmp_path / "data", adult=(adult(), ["work"]))
    args = ["--data", data, "--iterations", 4, "--queries", 10, "--sweep", tmp_path / "curves"]
    args += ["--epochs", 200]
    code, output = run(*args)
    assert code == 0, output
    lines = (tmp_path / "curves" / "runs.jsonl").read_text().splitlines()
    assert len(lines) == 4
    for name in ("table.md", "f1-by-rules.png", "f1-by-rules.svg"):
        assert (tmp_path / "curves" / name).stat().st_size > 100
    code, output = run(*args)
    assert (code, "training the network" in output) == (0, False)


def test_a_bayesian_rule_set_finds_the_rules_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayesian_rule_set, "_STEPS", 300)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.integers(18, 80, 300), "work": rng.choice(list("abc"), 300)})

    def labels(table: pd.DataFrame) -> np.ndarray:
        return np.asarray((table["age"] > 48) & (table["work"] == "a"))

    found = baselines.Bayesian(rows, labels, 10, 0)
    assert found.queries == 10
    assert (found.predict(rows) == labels(rows)).mean() > 0.95
    assert 2 in found.lengths
    assert baselines.Bayesian(rows, labels, 10, 0).lengths == found.lengths


@pytest.mark.parametrize("most", [1, 3, 10, 200])
def test_candidates_are_those_of_greatest_gain(most: int) -> None:
    """All conjunctions, one by one: their entropy, support and literals that say nothing."""
    rng = np.random.default_rng(most)
    literals = rng.random((90, 9)) < rng.random(9) * 0.6 + 0.3
    literals[:, 8] = literals[:, 7] | literals[:, 0]
    same = literals[:, :3].all(axis=1) ^ (rng.random(90) < 0.1)

    def entropy(part: np.ndarray) -> float:
        shares = [np.mean(part == value) for value in (False, True) if (part == value).any()]
        return -len(part) * float(sum(share * np.log(share) for share in shares))

    gains = {}
    for rule in (rule for size in (1, 2, 3) for rule in combinations(range(9), size)):
        covers = literals[:, list(rule)].all(axis=1)
        alone = all((literals[:, i] & ~literals[:, j]).any() for i in rule for j in rule if i != j)
        enough = (covers & same).sum() >= 0.05 * same.sum()
        if alone and enough and same[covers].mean() > same.mean():
            gains[rule] = entropy(same) - entropy(same[covers]) - entropy(same[~covers])
    found = bayesian_rule_set.frequent(literals, same, 3, most)
    best = sorted(gains.values(), reverse=True)[:most]
    assert np.allclose(sorted((gains[rule] for rule in found.rules), reverse=True), best)
    for rule, own, other in zip(found.rules, found.own, found.other, strict=True):
        for bits, part in ((own, same), (other, ~same)):
            told = np.unpackbits(bits.view(np.uint8))[: part.sum()].astype(bool)
            assert (told == literals[part][:, list(rule)].all(axis=1)).all()


def test_the_rules_with_the_greatest_posterior_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all sets of a few candidates, by the prior and likelihood of the paper."""
    monkeypatch.setattr(bayesian_rule_set, "_STEPS", 500)
    rng = np.random.default_rng(5)
    literals = rng.random((400, 6)) < 0.5
    same = (literals[:, :2].all(axis=1) | literals[:, 4]) ^ (rng.random(400) < 0.1)
    candidates = bayesian_rule_set.frequent(literals, same, 2, 9)

    def sequence(right: int, n: int, a: float, b: float) -> float:
        return float(betaln(a + right, b + n - right) - betaln(a, b))

    def posterior(chosen: tuple[int, ...]) -> float:
        covered = np.zeros(400, dtype=bool)
        for r in chosen:
            covered |= literals[:, list(candidates.rules[r])].all(axis=1)
        value = sequence(int(same[covered].sum()), int(covered.sum()), 100, 1)
        value += sequence(int((~same[~covered]).sum()), int((~covered).sum()), 100, 1)
        for length, space in ((1, 6), (2, 15)):
            number = sum(len(candidates.rules[r]) == length for r in chosen)
            value += sequence(number, space, 10, 20 * space)
        return value

    sets = (one for size in range(1, 10) for one in combinations(range(9), size))
    best = max(sets, key=posterior)
    found = bayesian_rule_set.annealed(candidates, 6, 2, 0)
    assert set(found) == {candidates.rules[r] for r in best}
    search = bayesian_rule_set._Annealing(candidates, 6, 2, rng)
    for one in ((0,), (3, 5), (1, 2, 8)):
        assert search._posterior(one) == pytest.approx(posterior(one))


@pytest.mark.slow
def test_the_exact_loop_stands_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "HIDDEN", (10, 5))
    data = write_tables(tmp_path / "data", adult=(adult(), ["work"]))
    args = ["--data", data, "--iterations", 5, "--queries", 20, "--runs", 1, "--exact"]
    args += ["--epochs", 200]
    code, output = run(*args, "--penalty", 0.01)
    assert code == 0, output
    assert "exact loop" in output


def test_the_figures_of_the_paper_agree_with_each_other() -> None:
    for row in PUBLISHED:
        f1 = 2 * row.precision * row.recall / (row.precision + row.recall)
        assert abs(f1 - row.f1) < 0.002, row.name


def test_wrong_input_is_named(tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data", adult=(adult(), ["work"]))
    for args, told in [
        (["--data", tmp_path], "index.json cannot be read"),
        (["--data", data, "--runs", 0], "runs must be an integer of at least 1"),
        (["--data", data, "--epochs", 0], "epochs must be an integer of at least 1"),
        (["--data", data, "--seed", -1], "seed"),
        (["--data", data, "--rows", 0], "rows must be an integer of at least 1"),
    ]:
        code, output = run(*args)
        assert (code, told in output.replace("\n", " ")) == (2, True), output
