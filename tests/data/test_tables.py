import gzip
import warnings

import numpy as np
import pandas as pd
import pytest

from cpx import Explainer
from cpx.data import Binarizer, read_table, row
from cpx.data.frames import as_table
from cpx.data.tables import read_row, read_rows
from cpx.errors import DataError, InvalidOption

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
        (b"a,y\n\x81,1\n", "it is not UTF-8 .byte 81 in line 2.; save it in UTF-8"),
        (b"PK\x03\x04\0\0\0\x08\0", "it is no text; a workbook"),
        (b"PK\x03\x04" + b"\0" * 50, "it is no text; a workbook"),
        ("a,y\n1,2\n3\n", "line 3 has 1 fields, the header has 2"),
        ("a;b;y\n1;2;3\n4;5\n", "line 3 has 2 fields, the header has 3; a field with a semicolon"),
        ("a,y\n1,0.5\n2,1\n", "target 'y' has 2 different numbers such as 0.5: no classes"),
        ("a,y\n" + "".join(f"1,{i}\n" for i in range(30)), "'y' has 30 different numbers: no"),
        ("a,y\n1,0\n-Infinity,1\n", "column 'a' has an infinite value .-inf.: replace it"),
        ("a,y\n1,0\n1e999,1\n", "column 'a' has an infinite value .inf.: replace it"),
        (
            "a,y\n" + "".join(f"1,n{i}\n" for i in range(30)),
            "has 30 different texts in 30",
        ),
        ("a,y\n1,no\n2,\n", "target column 'y' has no value in 1 rows, the first being row 1"),
        ("size,colour,Y\n1,2,3\n", "target column 'y' is not there.*size, colour, Y"),
        ("a b y\n1 2 3\n", "columns are: a b y; fields end with commas, semicolons, tabs or bars"),
        ("1,2,u\n3,4,v\n", "columns are: 1, 2, u; the first line must have the names of the col"),
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


def read(csv, text, **options):
    """Return the columns of a table without its target, and the warnings of reading it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        X, _ = read_table(csv(text), "y", **options)
    return X, [str(warning.message) for warning in said]


def column(csv, cells, **options):
    text = "".join(f'"{cell}",{i % 2}\n' for i, cell in enumerate(cells))
    X, said = read(csv, "a,y\n" + text, **options)
    return X["a"], said


@pytest.mark.parametrize("words", [["None", "NA", "null"], ["nan", "N/A", "?"], ["unknown", "-"]])
def test_words_for_missing_are_texts_and_told(csv, words):
    cells = [*words, "Paved", *words]
    found, said = column(csv, cells)
    assert found.tolist() == cells
    assert len(said) == 1
    assert all(f"2 '{word}' in 'a'" in said[0] for word in words)
    found, said = column(csv, cells, missing=words)
    assert found.isna().tolist() == [cell != "Paved" for cell in cells]
    assert not said


@pytest.mark.parametrize("word", ["?", "-", "unknown", "\x1a", "nan", "NA", "twelve"])
def test_a_column_of_nearly_only_numbers_is_told(csv, word):
    cells = [str(i) for i in range(18)] + [word, word]
    found, said = column(csv, cells)
    assert found.tolist() == cells
    assert len(said) == 1
    assert f"'a' (18 of its 20 cells are numbers, the others are {word!r})" in said[0]
    found, said = column(csv, cells, missing=word)
    assert found.dropna().tolist() == list(range(18))
    assert not said


def test_a_column_of_nearly_only_decimal_commas_is_told(csv):
    found, said = column(csv, ["1,5", "?", "2,25"])
    assert found.tolist() == ["1,5", "?", "2,25"]
    assert "'a' (2 of its 3 cells are numbers, the others are '?')" in said[0]
    assert column(csv, ["1,5", "?", "2,25"], missing="?")[0].tolist()[::2] == [1.5, 2.25]


def test_a_missing_number_is_missing_however_it_is_written(csv):
    found, _ = column(csv, ["1", "-999", "-999.0", "-9.99e2"], missing="-999")
    assert found.isna().tolist() == [False, True, True, True]


def test_points_beside_decimal_commas_are_told(csv):
    X, said = read(csv, "a;b;y\n1.234;1,5;u\n12;2,5;v\n")
    assert X["a"].tolist() == [1.234, 12]
    assert (
        "points are taken as decimal points, though other numbers have decimal commas: 'a' "
        in (said[-1])
    )
    for text in ("a;b;y\n0.234;1,5;u\n1.234;2,5;v\n", 'a;b;y\n1.234;1.5;u\n1.234;"1,500.5";v\n'):
        assert not any("points are taken" in note for note in read(csv, text)[1])


def test_a_file_without_names_is_told(csv):
    _, said = read(csv, "5,u,y\n6,v,y\n7,u,n\n")
    assert "'y' is the name of the target and one of its classes" in said[0]


def test_the_empty_field_is_missing_and_blanks_are_told(csv):
    found, said = column(csv, ["1", "", "3"])
    assert found.isna().tolist() == [False, True, False]
    assert not said
    found, said = column(csv, ["1", "  ", "3"])
    assert found.isna().tolist() == [False, True, False]
    assert "cells of blanks alone are taken as missing: 1 in 'a'" in said[0]
    found, said = column(csv, ["red", " red", "blue"])
    assert found.tolist() == ["red", "red", "blue"]
    assert "blanks around texts are left out: in 'a'" in said[0]


@pytest.mark.parametrize(
    ("cells", "values", "told"),
    [
        (["1", "-2", "+3"], [1, -2, 3], ""),
        (["1", "2.5", ".5", "1e3"], [1, 2.5, 0.5, 1000], ""),
        (["True", "false", "TRUE"], [True, False, True], ""),
        (["1,5", "2", "0,25"], [1.5, 2, 0.25], "decimal commas in 'a'"),
        (["1,234", "12.5", "1,234,567"], [1234, 12.5, 1234567], "commas between thousands in"),
        (["1.234,5", "12"], [1234.5, 12], "points between thousands in 'a'"),
        (["1 234", "12"], [1234, 12], "gaps between thousands in 'a'"),
        (["0,125", "1,250"], [0.125, 1.25], "decimal commas in 'a'"),
        (["5 %", "12%"], ["5 %", "12%"], "numbers have signs or units: 'a' ('5 %')"),
        (["1,234", "12"], ["1,234", "12"], "may stand for a point or between thousands: 'a'"),
        (["007", "12"], ["007", "12"], "begin with a zero: 'a' ('007')"),
        (
            ["2020-01-31", "2021-12-01"],
            ["2020-01-31", "2021-12-01"],
            "dates and times are taken as texts",
        ),
        (["1_000", "2"], ["1_000", "2"], "1 of its 2 cells are numbers"),
        (["1_000", "2_000"], ["1_000", "2_000"], "numbers have signs or units: 'a' ('1_000')"),
        (["1,00,000", "5"] * 2 + ["2,50,000"], None, "signs or units: 'a' ('1,00,000')"),
        (["\uff11", "\uff12"], None, "signs or units: 'a'"),
        (["5kg", "6.5 kg"], None, "signs or units: 'a' ('5kg')"),
        (["USD 5", "USD 1e3"], None, "signs or units: 'a' ('USD 5')"),
        (["(5)", "(6)"], None, "signs or units: 'a' ('(5)')"),
        (["10:30", "9:15:20"], None, "dates and times are taken as texts: in 'a'"),
        (["1st", "2nd", "3rd"], None, ""),
        (["T1", "T2"], None, ""),
        (["<50", ">50"], None, ""),
        (["1.0", "1", "1.00"], [1, 1, 1], ""),
        (["1e-400", "2"], [0, 2], "same once rounded to floats: 'a' ('0' and '1e-400')"),
        (["0,1", f"0,1{'0' * 20}1"], [0.1, 0.1], "same once rounded to floats: 'a' ('0,1' and"),
        (["0x1A", "2"], ["0x1A", "2"], "the others are '0x1A'"),
        (["yes", "no"], ["yes", "no"], ""),
    ],
)
def test_how_cells_are_read(csv, cells, values, told):
    found, said = column(csv, cells)
    values = cells if values is None else values
    assert found.tolist() == values
    assert [type(v) is bool for v in found.tolist()] == [type(v) is bool for v in values]
    assert bool(said) == bool(told)
    assert told in "".join(said)


@pytest.mark.parametrize("big", [2**53 + 1, -(2**53) - 1, 2**63 + 1, 2**64 + 1, 10**30 + 1])
@pytest.mark.parametrize("others", [["5"], ["5", ""], ["0.5"]])
def test_large_integers_stay_exact_or_are_refused(csv, big, others):
    found, _ = column(csv, [str(big), *others])
    assert big in found.tolist()
    with pytest.raises(DataError, match=f"column 'a' has the integer {big}, which no float holds"):
        Binarizer().fit(found.to_frame())
    if "0.5" not in others:
        names = Binarizer(categorical=["a"]).fit(found.to_frame()).get_feature_names_out()
        assert f"a = {big}" in names.tolist()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(csv, separator):
    text = "a, b ,y\n1,'u',0\n\n  \n2,v,1\n".replace(",", separator)
    X, said = read(csv, text)
    assert X.to_dict("list") == {"a": [1, 2], "b": ["'u'", "v"]}
    assert not said
    assert read(csv, f"sep={separator}\n{text}")[0].equals(X)


def test_quotes(csv):
    X, _ = read(csv, 'a, b,y\n"1,5", "x; ""y""\nz",0\n2, "u, v",1\n')
    assert X.to_dict("list") == {"a": [1.5, 2], "b": ['x; "y"\nz', "u, v"]}


def test_marks_of_files_that_were_put_together_are_no_part_of_a_name(csv):
    assert [*read(csv, "\ufeff\ufeffa,y\n1,u\n2,v\n")[0]] == ["a"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings(csv, encoding):
    X, said = read(csv, "größe,y\nklein,0\nübergroß,1\n".encode(encoding))
    assert X.to_dict("list") == {"größe": ["klein", "übergroß"]}
    assert not said


def test_a_broken_byte_is_refused_by_its_line(csv):
    with pytest.raises(DataError, match=r"it is UTF-8 but for byte e9 in line 3; mend the byte"):
        read(csv, "größe,y\nklein,0\ncaf".encode() + b"\xe9,1\n")


def test_other_encodings_are_told(csv):
    X, said = read(csv, "a,y\ncafé,0\nthé,1\n".encode("latin-1"))
    assert X["a"].tolist() == ["café", "thé"]
    assert "it is not UTF-8 (byte e9 in line 2), and was read as Windows-1252" in said[0]


def test_a_target_of_many_numbers_is_told(csv):
    _, said = read(csv, "a,y\n" + "".join(f"1,{i % 25}\n" for i in range(250)))
    assert "the target 'y' has 25 different numbers, and each is taken for a class" in said[0]
    _, said = read(csv, "a,y\n" + "".join(f"1,n{i % 25}\n" for i in range(100)))
    assert "the target 'y' has 25 different texts, and each is taken for a class" in said[0]
    assert not read(csv, "a,y\n1,u\n2,v\n3,w\n")[1]


def test_rows_are_read_by_the_same_rules(csv):
    path = csv("a;b\n1,5;?\n")
    with pytest.warns(UserWarning, match="decimal commas in 'a'"):
        assert read_row(path, missing="?")["a"] == 1.5
    path = csv("a,b\n1.5,?\n")
    with pytest.warns(UserWarning, match=r"1 '\?' in 'b'"):
        assert read_rows(path)["b"].tolist() == ["?"]
    path = csv("a,price\n1,0.25\n2,0.5\n")
    assert read_rows(path, "price")["a"].tolist() == [1, 2]
    with pytest.raises(InvalidOption, match="missing must be texts of cells, got 5"):
        read_rows(path, missing=[5])


def test_an_array_is_not_copied_for_a_frame() -> None:
    X = np.zeros((3, 2), dtype=np.float32)
    assert np.shares_memory(as_table(X).to_numpy(), X)


def test_pictures_show_the_columns_as_they_were() -> None:
    """An explanation keeps a copy of the columns that it shows, and not of the table."""
    X = np.random.default_rng(0).random((300, 3))
    explained = [Explainer(lambda rows: rows[:, 0] > 0.5, X).rule(X[0], k=1) for _ in range(2)]
    counts = explained[0].panels[0].spread.counts
    X[:] = 0
    assert explained[1].panels[0].spread.counts == counts
