import gzip

import numpy as np
import pandas as pd
import pytest

from cpx.data import read_table, row
from cpx.errors import DataError

TEXT = "size,colour,code,y\n1.5,red,1,no\n,blue,2,yes\n2.5,,1,no\n"


@pytest.fixture
def csv(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_reads(csv, name):
    X, y = read_table(csv(TEXT, name), "y", categorical=["code"])
    assert list(X.columns) == ["size", "colour", "code"]
    assert y.tolist() == ["no", "yes", "no"]
    assert y.name == "y"
    assert X["size"].dtype == np.float64
    assert isinstance(X["code"].dtype, pd.CategoricalDtype)
    assert X.isna().to_numpy().sum() == 2
    assert not isinstance(read_table(str(csv(TEXT)), "y")[0]["code"].dtype, pd.CategoricalDtype)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file is empty"),
        ("size,y\n", "no rows"),
        ("y\n1\n", "no column besides the target 'y'"),
        ("a,a,y\n1,2,3\n", "two columns named 'a'"),
        (",a,y\n0,1,2\n", "column 0 has no name"),
        ("a,y\n1,2\n1,2,3\n", "cannot be read as CSV"),
        ("a,y\n1,2,3\n4,5,6\n", "cannot be read as CSV"),
        ('a,y\n"1,2\n', "cannot be read as CSV"),
        (b"a,y\n\xff\xfe,1\n", "cannot be read as CSV"),
        ("a,y\n1,no\n2,\n", "target column 'y' has no value in 1 rows, the first being row 1"),
        ("size,colour,Y\n1,2,3\n", "target column 'y' is not there.*size, colour, Y"),
        ("size,ty,z\n1,2,3\n", "target column 'y' is not there .did you mean 'ty'"),
    ],
)
def test_refuses_tables_naming_the_file(csv, text, message):
    path = csv(text)
    with pytest.raises(DataError, match=message) as caught:
        read_table(path, "y")
    assert str(path) in str(caught.value)


def test_refuses_files(csv, tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / "none.csv", "y")
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path, "y")
    whole = csv(TEXT * 500, "t.csv.gz").read_bytes()
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cut\.csv\.gz: truncated or damaged gzip"):
        read_table(cut, "y")
    cut.write_bytes(b"\x1f\x8bno gzip")
    with pytest.raises(DataError, match="truncated or damaged gzip"):
        read_table(cut, "y")
    with pytest.raises(DataError, match=r"categorical column 'colur'.*did you mean 'colour'"):
        read_table(csv(TEXT), "y", categorical=["colur"])


def test_row_keeps_the_types():
    table = pd.DataFrame({"a": [1, 2], "b": ["u", "v"]}, index=[7, 7])
    one = row(table, np.int64(1))
    assert one.shape == (1, 2)
    assert one["b"].iloc[0] == "v"
    assert (one.dtypes == table.dtypes).all()
    for i in (2, -1, 1.0, True, "0", None):
        with pytest.raises(DataError, match="not there: the table has rows 0 to 1"):
            row(table, i)
