"""Files that are made to take all memory: refused early, with little of it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cpx.data import read_table
from cpx.errors import CpxError, DataError, InvalidInstance, ModelError
from cpx.modelling.instances import load
from cpx.support.files import parse_json, read_bytes
from cpx.trees import read_model


def _bomb(path: Path, unit: bytes, size: int) -> Path:
    """Write a gzip of many members, which takes no time to make."""
    block = unit * (2**20 // len(unit))
    path.write_bytes(gzip.compress(block, mtime=0) * (size // len(block) + 1))
    return path


@pytest.mark.parametrize(("unit", "size"), [(b"[],", 2**25), (b"{},", 2**25), (b",", 2**26)])
def test_a_bomb_is_refused(unit: bytes, size: int, tmp_path: Path) -> None:
    path = _bomb(tmp_path / "bomb.gz", unit, size)
    assert path.stat().st_size < 10**5
    with pytest.raises(InvalidInstance, match=r"bomb\.gz: its \d+ bytes unpack to more than"):
        load(path)


def test_every_reader_refuses_it(tmp_path: Path) -> None:
    path = _bomb(tmp_path / "model.json", b"[],", 2**25)
    for read, error in (
        (read_model, ModelError),
        (lambda path: read_table(path, "y"), DataError),
    ):
        with pytest.raises(error, match="unpack to more than"):
            read(path)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_it_takes_little_memory(tmp_path: Path) -> None:
    path = _bomb(tmp_path / "bomb.gz", b" ", 3 * 2**26)
    code = (
        "import resource, sys\n"
        "from cpx.errors import DataError\n"
        "from cpx.support import files\n"
        "files._MOST_UNPACKED = 2**27\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    files.read_bytes(sys.argv[1], DataError)\n"
        "except DataError:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(told.stdout) * unit < 60e6


def test_an_honest_file_that_packs_well_is_read(tmp_path: Path) -> None:
    row = b'["' + b"01" * 100 + b'", 1, 1],\n'
    path = _bomb(tmp_path / "honest.gz", row, 200 * 10**6)
    assert len(read_bytes(path, DataError)) > 190 * 10**6
    assert path.stat().st_size < 10**6


def test_a_bomb_in_a_skops_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("skops")
    monkeypatch.setattr("cpx.support.files._MOST_UNPACKED", 2**22)
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(9):
            archive.writestr(f"{i}.npy", bytes(2**20))
    with pytest.raises(ModelError, match=r"model\.skops: its \d+ bytes unpack to more than"):
        read_model(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 200 + "]" * 200, "nested too deeply"),
        ("[" * 10**6, "nested too deeply"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested too deeply"),
        ("9" * 5000, "no JSON"),
    ],
)
def test_strange_json(text: str, message: str) -> None:
    with pytest.raises(CpxError, match=message):
        parse_json(text, CpxError)


def test_json_of_a_hundred_levels_is_read() -> None:
    assert parse_json("[" * 100 + "]" * 100, CpxError)


def _packed(path: Path, content: bytes) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("table.csv", content)
    else:
        pack = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[path.suffix].compress
        path.write_bytes(pack(content))
    return path


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zip"])
def test_packed_tables(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _packed(tmp_path / f"table.csv{suffix}", b"a,y\n1,no\n2,yes\n")
    X, y = read_table(path, "y")
    assert (X["a"].tolist(), y.tolist()) == ([1, 2], ["no", "yes"])
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match=rf"table\.csv\{suffix}: truncated or damaged"):
        read_table(path, "y")
    monkeypatch.setattr("cpx.support.files._MOST_UNPACKED", 2**22)
    with pytest.raises(DataError, match="unpack to more than"):
        read_table(_packed(path, b"0" * 2**23), "y")


def test_an_archive_of_a_table_has_one_file(tmp_path: Path) -> None:
    path = tmp_path / "table.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.csv", "a,y\n1,no\n")
        archive.writestr("more.csv", "a,y\n1,no\n")
    with pytest.raises(DataError, match=r"table\.zip: .*one file is wanted, there are 2"):
        read_table(path, "y")


def test_what_is_not_unpacked_is_said(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.zst"
    path.write_bytes(b"x")
    with pytest.raises(DataError, match=r"\.zst is not unpacked here; unpack it first"):
        read_table(path, "y")
