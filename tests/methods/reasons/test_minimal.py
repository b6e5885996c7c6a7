"""What is said of a reason by deletion that was cut short."""

from __future__ import annotations

import pytest

from cpx.models.sufficient_reason.cases import random_votes
from cpx.models.sufficient_reason.methods import Stopped, SufficiencyOracle, minimal_reason


def test_minimal_is_said_only_of_an_order_that_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    told = set()
    for seed in range(3):
        problem = random_votes(seed, 15, 10)
        oracle = SufficiencyOracle(problem.tree_model, problem.tree_model.cells(problem.x))
        for last in range(0, 60, 2):

            class Short(SufficiencyOracle):
                left = last

                def change(self, free: int) -> int | None:
                    self.left -= 1
                    if self.left < 0:
                        raise Stopped
                    return super().change(free)

            monkeypatch.setattr(
                "cpx.models.sufficient_reason.methods.deletion.SufficiencyOracle", Short
            )
            found = minimal_reason(problem.tree_model, problem.x, orders=4, seed=seed)
            told.add(found.minimal)
            kept = set(found.attributes)
            assert oracle.counterexample(kept) is None
            needed = all(oracle.counterexample(kept - {a}) is not None for a in kept)
            assert needed or not found.minimal
    assert told == {True, False}
