from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from cpx.cli import app

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the command line inside an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CPX_DEBUG", raising=False)
    runner = CliRunner()

    def call(*args: object) -> Any:
        return runner.invoke(app, [str(arg) for arg in args])

    return call


def instance() -> dict[str, Any]:
    """Optimum 1: feature a covers one sample too many, and k = 1."""
    return {
        "format": "cpx-instance",
        "version": 1,
        "problem": "k-monomial",
        "name": "tiny",
        "parameters": {"k": 1},
        "samples": ["110", "100", "010", "111"],
        "labels": "1100",
        "features": ["a", "b", "c"],
        "groups": [0, 0, 1],
        "context": {"class": "yes"},
    }


@pytest.fixture
def inst(tmp_path: Path) -> Path:
    path = tmp_path / "inst.json"
    path.write_text(json.dumps(instance()))
    return path


@pytest.fixture
def hard(tmp_path: Path) -> Path:
    """Too much for a proof within seconds, with solutions found at once."""
    rng = np.random.default_rng(0)
    agreement = rng.random((500, 80)) < 0.5
    votes = agreement[:, :9].sum(axis=1) + rng.normal(0, 2, 500)
    data = instance() | {
        "name": "hard",
        "parameters": {"k": 6},
        "samples": ["".join("01"[bit] for bit in row) for row in agreement.astype(int)],
        "labels": "".join("01"[int(vote > 4.5)] for vote in votes),
        "features": [f"x{j}" for j in range(80)],
        "groups": list(range(80)),
    }
    path = tmp_path / "hard.json"
    path.write_text(json.dumps(data))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    size, weight = rng.normal(10, 3, 80), rng.normal(5, 1, 80)
    colour = rng.choice(["red", "blue"], 80)
    lines = ["size,weight,colour,y"]
    for s, w, c in zip(size, weight, colour, strict=True):
        lines.append(f"{s:.3f},{w:.3f},{c},{'big' if s > 10 and c == 'red' else 'small'}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
