"""Files that are there already: nothing but their content changes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from cpx.support.files import write_atomic


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    file, link = tmp_path / "there" / "file", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to(file)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


def test_permissions_stay(tmp_path: Path) -> None:
    file = tmp_path / "private"
    file.write_bytes(b"old")
    file.chmod(0o600)
    write_atomic(file, b"new")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_atomic(pipe, b"data")
    reader.join(5)
    assert got == [b"data"]
    assert pipe.is_fifo()
