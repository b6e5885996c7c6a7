"""Parquet and Arrow files beside CSV: the same tables, the same answers, errors by name."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from cpx.cli.app import app
from cpx.data.other_frames import as_pandas
from cpx.data.tables import read_row, read_rows, read_table
from cpx.errors import DataError

pa = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

CELLS = {
    "whole": [1, 2, 3, 4],
    "gaps": [1, None, 3, 2**40],
    "huge": [2**60 + 1, None, 3, 4],
    "real": [0.1, None, -2.5, 1e300],
    "truth": [True, False, True, True],
    "unsure": [True, None, False, True],
    "text": ["x", None, "?", "long word"],
    "none": [None, None, None, None],
    "y": ["a", "b", "a", "b"],
}


def write(table, path, rows=3):
    """Write a table as Parquet or Arrow, in parts of some rows."""
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=rows)
    else:
        with ipc.new_file(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=rows)
    return path


@pytest.fixture(params=[".parquet", ".arrow"])
def made(request, tmp_path):
    return lambda cells, **kinds: write(
        pa.table({n: pa.array(v, kinds.get(n)) for n, v in cells.items()}),
        tmp_path / f"table{request.param}",
    )


def test_a_table_is_the_one_of_csv(made, tmp_path):
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in CELLS.items()})
    frame.to_csv(tmp_path / "table.csv", index=False)
    path = made(CELLS, none=pa.null(), text=pa.large_string())
    for read in (read_table, read_rows):
        expected, found = (read(p, "y", missing="?") for p in (tmp_path / "table.csv", path))
        if read is read_table:
            assert found[1].tolist() == expected[1].tolist()
            expected, found = expected[0], found[0]
        pd.testing.assert_frame_equal(found, expected)


def test_types_of_the_file_are_kept(made):
    day, moment = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 1)
    cells = {
        "small": [1, 2, 3, 4],
        "short": [0.1, 0.2, 0.3, 0.4],
        "money": [Decimal("1.50"), None, Decimal("2.25"), Decimal("0.10")],
        "day": [day, None, day, day],
        "moment": [moment, moment, None, moment],
    }
    X = read_rows(made(cells, small=pa.int8(), short=pa.float32()))
    assert [str(X[name].dtype) for name in ("small", "short")] == ["int8", "float32"]
    assert X["money"].fillna(0).tolist() == [1.5, 0, 2.25, 0.1]
    assert X["day"].dtype.kind == "M"
    assert X["day"].tolist()[0] == pd.Timestamp(day)
    assert X["moment"].isna().tolist() == [False, False, True, False]


def test_dictionaries_are_categories_in_their_order(made):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 0, 2]), ["low", "mid", "high"])
    column = read_rows(made({"c": words}))["c"]
    assert column.cat.categories.tolist() == ["low", "mid", "high"]
    assert column.cat.codes.tolist() == [0, 2, -1, 0, 2]


def test_numbers_of_an_arrow_table_are_not_copied():
    table = pa.table({"a": np.arange(1000.0), "b": np.arange(1000)})
    X = as_pandas(table)
    for name in ("a", "b"):
        assert np.shares_memory(X[name].to_numpy(), table[name].to_numpy())


def test_numbers_of_an_arrow_file_are_not_copied(tmp_path):
    path = write(
        pa.table({"a": np.arange(50_000.0), "b": np.arange(50_000)}), tmp_path / "t.arrow", 10**6
    )
    X = read_rows(path)
    assert not any(X[name].to_numpy().flags.owndata for name in X)
    assert pa.total_allocated_bytes() < 10_000


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (
            {"a": [[1], [2]]},
            "column 'a' holds 'list<.*>': neither numbers, truth values, texts nor",
        ),
        ({"a": [b"x", b"y"]}, "column 'a' holds 'binary'"),
        ({"a": [1.0, float("inf")]}, "'a'.*inf"),
        ({" ": [1, 2]}, "column 0 has no name"),
        ({"a": []}, "no rows"),
        ({"b": [1, 2]}, "target column 'a' is not there"),
    ],
)
def test_what_cannot_be_read_is_named(made, cells, told):
    path = made(cells)
    with pytest.raises(DataError, match=f"{path}.*{told}"):
        read_rows(path, "a" if "b" in cells else None)


def test_broken_files_are_refused(tmp_path):
    whole = write(pa.table({"a": np.arange(1000)}), tmp_path / "t.parquet", 10**6).read_bytes()
    (tmp_path / "short.parquet").write_bytes(whole[:100])
    (tmp_path / "wrong.parquet").write_bytes(whole[:4] + bytes(3000) + whole[3004:])
    (tmp_path / "short.arrow").write_bytes(b"ARROW1\0\0" + bytes(20))
    table = pa.table([[1], [2]], names=["a", "a"])
    twice = write(table, tmp_path / "twice.parquet")
    for path in (*tmp_path.glob("*o*t.*"), *tmp_path.glob("wrong*"), twice):
        with pytest.raises(DataError, match=str(path)):
            read_rows(path)


def test_frames_of_pandas_come_without_their_unnamed_index(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "c": pd.Categorical(["u", "v"])}, index=[7, 9])
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_rows(tmp_path / "t.parquet").equals(frame.reset_index(drop=True))
    feather.write_feather(frame.iloc[:1].reset_index(drop=True), tmp_path / "row.feather")
    assert read_row(tmp_path / "row.feather") == {"a": 1.5, "c": "u"}


def test_the_shell_explains_a_row_as_from_csv(tmp_path):
    from sklearn.datasets import load_iris

    table = load_iris(as_frame=True).frame
    table.to_csv(tmp_path / "iris.csv", index=False)
    table.to_parquet(tmp_path / "iris.parquet")
    answers = [
        CliRunner().invoke(
            app, ["explain", str(tmp_path / name), "--target", "target", "--row", "60"]
        )
        for name in ("iris.csv", "iris.parquet")
    ]
    assert answers[0].exit_code in (0, 3)
    told = [[line for line in a.stdout.splitlines() if " s: " not in line] for a in answers]
    assert [line.replace("csv", "parquet") for line in told[0]] == told[1]
