"""The genetic algorithm guided by the machine, and by the labels alone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers.kernels.guided import Bred, draw, grid, without
from cpx.models.kernel_rule.boolean_kernels.kernels import BoundedDNFKernel
from cpx.models.kernel_rule.boolean_kernels.machine import KernelMachine
from cpx.models.kernel_rule.form import true_of

BRED = [
    Bred("a", "SVM", 1.0, 10),
    Bred("a", "SVM", 0.9, 20),
    Bred("a", "labels", 0.8, 300),
    Bred("b", "SVM", 1.0, 5),
    Bred("b", "labels", 1.0, 7),
]


def test_without_a_machine_the_weight_is_the_training_accuracy() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.random((30, 5)) < 0.5, rng.random(30) < 0.4
    machine = KernelMachine(rows[:3], (Fraction(1),) * 3, BoundedDNFKernel(2, 2), True)
    alone = without(machine, rows, labels)
    for rule in ([[0]], [[0, 1], [2]], [[3, 4]]):
        right = (true_of(tuple(map(tuple, rule)), rows) == labels).mean()
        # Of the two errors that a rule can make only those on covered rows differ by the rule.
        assert float(alone.weight(rule)) == pytest.approx(right - (~labels).mean())


def test_the_figure_and_its_table(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    table = grid(BRED)
    assert table.rows == (
        ("a", "95.00", "80.00", "15", "300"),
        ("b", "100.00", "100.00", "5", "7"),
    )
    (path,) = draw(BRED, tmp_path / "guided.svg")
    text = path.read_text(encoding="utf-8")
    for word in ("guided by SVM", "guided by labels", "test accuracy, %", ">a<", ">b<"):
        assert word in text
