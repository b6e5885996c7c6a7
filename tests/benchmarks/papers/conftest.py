from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.papers.koriche import running
from benchmarks.papers.koriche.protocol import train


def write_tables(folder: Path, **tables: tuple[str, list[str]]) -> Path:
    """Write NAME.csv.gz per table, given as CSV text and categorical columns."""
    import gzip

    folder.mkdir(exist_ok=True)
    index = {}
    for name, (text, categorical) in tables.items():
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        index[name] = {"categorical_columns": categorical}
    (folder / "index.json").write_text(json.dumps(index))
    return folder


def numbers(seed: int = 0, rows: int = 40) -> str:
    """Return a table of two numbers and a code, whose class is decided by the first."""
    rng = np.random.default_rng(seed)
    lines = ["size,weight,code,target"]
    for _ in range(rows):
        size, weight, code = rng.normal(10, 3), rng.normal(5, 1), rng.integers(1, 4)
        lines.append(f"{size:.2f},{weight:.2f},{code},{'big' if size > 10 else 'small'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def _trained_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in this process, which has loaded what each new one would have to."""
    call = running.call

    def here(function: Any, *args: Any, **options: Any) -> Any:
        return train(*args) if function is train else call(function, *args, **options)

    monkeypatch.setattr(running, "call", here)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Stand-ins for two of the 25 tables, both in the figures."""
    return write_tables(
        tmp_path / "data", vote=(numbers(0), ["code"]), diabetes=(numbers(1), ["code"])
    )
