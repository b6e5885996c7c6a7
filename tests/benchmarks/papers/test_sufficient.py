"""The experiments of Wang et al.: tables as in the paper, reasons over states, records."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.papers.sources import Directory
from benchmarks.papers.store import line_of
from benchmarks.papers.sufficient.command import _latest
from benchmarks.papers.sufficient.experiment import Laboratory
from benchmarks.papers.sufficient.figures import _by_size, draw
from benchmarks.papers.sufficient.logical import over_states
from benchmarks.papers.sufficient.published_circuit import Image, published_circuit
from benchmarks.papers.sufficient.records import Level, Row, Task
from benchmarks.papers.sufficient.tables import PUBLISHED_ADULT, PUBLISHED_MNIST, grids
from benchmarks.papers.sufficient.tasks import LEFT_OUT, _binned, binarised, prepared
from benchmarks.papers.sufficient.threads import Seconds, seconds_by_threads, seconds_grid
from cpx.errors import InvalidInstance, UnknownName

pytest.importorskip("xgboost")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Directory:
    """Return a table with the columns of Adult."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "age": rng.integers(17, 90, n),
            "fnlwgt": rng.integers(1, 10**6, n),
            "education": rng.choice(["HS-grad", "Bachelors", "Masters"], n),
            "education-num": rng.integers(1, 16, n),
            "relationship": rng.choice(["Husband", "Wife"], n),
            "sex": rng.choice(["Male", "Female"], n),
            "native-country": rng.choice(["Peru", "Laos"], n),
            "capital-gain": rng.choice([0, 0, 0, 0, 0, 0, 500, 500, 9000], n),
        }
    )
    rich = (table["age"] > 40) & (table["education"] != "HS-grad") | (table["capital-gain"] > 600)
    table["target"] = np.where(rich, ">50K", "<=50K")
    with gzip.open(folder / "adult.csv.gz", "wt") as stream:
        table.to_csv(stream, index=False)
    categorical = ["education", "relationship", "sex", "native-country"]
    index = {"adult": {"categorical_columns": categorical}}
    (folder / "index.json").write_text(json.dumps(index))
    return Directory(folder)


def test_columns_have_as_many_intervals_as_in_the_code_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    hours = pd.Series(np.where(rng.random(400) < 0.6, 40, rng.integers(1, 99, 400)))
    gains = pd.Series(np.where(rng.random(400) < 0.9, 0, rng.integers(1, 9999, 400)))
    assert _binned("hours-per-week", hours).nunique() == 4
    assert _binned("capital-gain", gains).nunique() == 5
    assert (_binned("capital-gain", gains) == "0").tolist() == (gains == 0).tolist()


def test_pixels_are_bright_by_their_picture() -> None:
    pixels = np.array([[0, 10, 20, 30], [0, 100, 100, 100]], dtype=float)
    # Means 15 and 75; deviations 11.18 and 43.3.
    assert binarised(pixels).tolist() == [[0, 0, 1, 1], [0, 1, 1, 1]]


def test_columns_that_are_left_out_and_groups(source: Directory) -> None:
    split = prepared("adult", source, 0)
    assert set(split.groups) == {"age", "education", "relationship", "sex", "capital-gain"}
    assert not {*LEFT_OUT} & set(split.groups)
    assert len(split.train) == 160
    assert len(split.test) == 40
    for columns in split.groups.values():
        assert (split.train[list(columns)].sum(axis=1) == 1).all()
    assert "capital-gain = 0" in split.groups["capital-gain"]
    assert len(split.groups["age"]) == 5
    with pytest.raises(UnknownName):
        prepared("iris", source, 0)


def test_one_row_measured_and_told(source: Directory) -> None:
    lab = Laboratory.of("adult", source, 0, "mixture{components=2}")
    codes = lab.fitted.coding.codes(lab.split.test)
    again = over_states(lab.fitted.model, lab.fitted.coding)
    own = lab.split.classifier.predict(lab.split.test.to_numpy())
    assert (again.predict(codes) == own).all()
    row = lab.measure(Task("adult", 3, 0, "mixture{components=2}", 500, 3, False))
    assert row.found["Logical"].same == 1.0
    sizes = [len(row.found[f"MLSE_{k}"].features) for k in (1, 2, 3, 4)]
    assert all(size <= k for k, size in zip((1, 2, 3, 4), sizes, strict=True))
    expected = [row.found[f"MLSE_{k}"].expected for k in (1, 2, 3, 4)]
    assert expected == sorted(expected)
    for level in row.levels:
        assert level.same >= level.log_odds_bound - 0.1
        if level.best is not None:
            assert level.proved
            assert level.best >= (level.beam or 0.0) - 1e-9
    assert Row.from_line(line_of(row)) == row
    again = replace(row, task=replace(row.task, anchors=True))
    for first, second in ((row, again), (again, row)):
        store = SimpleNamespace(records={"a": first, "b": second})
        assert _latest(store, ("adult", 9, *_settings(row.task))) == [again]
        assert _latest(store, ("mnist", 9, *_settings(row.task))) == []
    titles = [grid.title for grid in grids([row])]
    assert titles[0].startswith("Table 2: Adult, 1 test rows")
    with pytest.raises(InvalidInstance):
        Row.from_line(b"{}\n")


def _settings(task: Task) -> tuple[object, ...]:
    return task.distribution, task.samples, task.width, task.anchors, task.seed


def test_figures_of_the_digits(tmp_path: Path) -> None:
    levels = tuple(
        Level(size, 0.5 * size, -size, 0.8 + 0.1 * size, 0.3, 0.4 * size, 0.01 * size)
        for size in range(3)
    )
    task = Task("mnist", 3, 0, "mixture", 500, 3, False)
    row = Row(task, True, True, 1.0, {}, levels, {})
    other = replace(row, task=replace(task, row=4), positive=False)
    assert draw([replace(row, task=replace(task, table="adult"))], None, tmp_path) == []
    assert len(draw([row, other], None, tmp_path)) == 2
    seconds = Seconds(4, 2, {"1": (0.0, 0.1, 0.2), "4": (0.0, 0.05, 0.1)})
    paths = draw([row, other], seconds, tmp_path)
    assert [path.name for path in paths] == [
        "bounds-by-size.svg",
        "expected-by-likelihood.png",
        "seconds-by-size.svg",
    ]
    assert "bound by log-odds" in paths[0].read_text()
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    assert "4 threads" in paths[2].read_text()
    sizes, mean, deviation = _by_size([row, replace(row, levels=levels[:2])], lambda v: v.same)
    assert (sizes.tolist(), mean.tolist(), deviation.tolist()) == ([1], [0.9], [0.0])


def test_time_by_threads(source: Directory, tmp_path: Path) -> None:
    lab = Laboratory.of("adult", source, 0, "mixture{components=2}")
    seconds = seconds_by_threads(lab, [3, 5], 3, 5, (1, 2))
    assert [*seconds.until] == ["1", "2"]
    for until in seconds.until.values():
        assert len(until) == 4
        assert list(until) == sorted(until)
    assert Seconds.read(tmp_path) is None
    seconds.write(tmp_path)
    again = Seconds.read(tmp_path)
    assert again is not None
    assert again.until == {count: [*until] for count, until in seconds.until.items()}
    grid = seconds_grid(replace(again, cores=2))
    assert grid.header == ("size", "1 thread, ms", "2 threads, ms")
    assert [line[0] for line in grid.rows] == ["1", "2", "3"]
    assert grid.title == "Figure 4: MNIST, time until each size of 2 images, 2 cores"


def test_published_values() -> None:
    assert PUBLISHED_MNIST["MLSE_10"] == ("3.11 ± 0.23", "0.99 ± 0.01", "-6.98 ± 1.37")
    assert PUBLISHED_ADULT["Logical"] == ("1.0", "-7.12 ± 2.11", "4.30 ± 1.13")


def test_published_files_are_explained_drawn_and_proved(tmp_path: Path) -> None:
    """Sixteen independent pixels, of which the trees test three."""
    lines = [f"T {a} 0 {a + 1} {np.log(0.5 + a / 40)}" for a in range(16)]
    lines += [f"D {a + 15} 0 1 {a + 14 if a > 1 else 0} {a} 0.0" for a in range(1, 16)]
    trees = [
        {
            **{"nodeid": 0, "split": f"f{a}", "split_condition": 0.5, "yes": 1, "no": 2},
            **{"missing": 1, "children": [{"nodeid": 1, "leaf": -v}, {"nodeid": 2, "leaf": v}]},
        }
        for a, v in enumerate((1.0, 0.5, 0.25))
    ]
    (tmp_path / "xgboost.json.gz").write_bytes(gzip.compress(json.dumps(trees).encode()))
    (tmp_path / "mnist35.psdd.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    np.savetxt(tmp_path / "test.csv.gz", [[1] * 17, [0] * 16 + [1]], fmt="%d", delimiter=",")
    (tmp_path / "drawn").mkdir()
    published_circuit(tmp_path, prove=2, figures=tmp_path / "drawn", output=tmp_path / "records")
    lines_of = (tmp_path / "records" / "runs.jsonl").read_bytes().splitlines()
    found = {one.positive: one for one in map(Image.from_line, lines_of)}
    assert [level.size for level in found[False].levels] == [*range(1, 17)]
    # f0 and f1 known: each pixel is 1 with the probability 0.5 + a / 40.
    assert found[False].proved[1].expected == pytest.approx(1.5 + 0.25 * (2 * (0.5 + 2 / 40) - 1))
    assert all(one.proved and one.bound >= one.expected - 1e-9 for one in found[True].proved)
    assert len([*(tmp_path / "drawn").iterdir()]) == 3
