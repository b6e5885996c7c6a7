"""What is particular to CP-SAT."""

from __future__ import annotations

import numpy as np

from cpx import KMonomial, Samples
from cpx.answers.result import Termination
from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.options import SolveOptions


class Behind(Progress):
    """A progress whose clock is behind that of the engine."""

    @property
    def expired(self) -> bool:
        return False


def test_the_limit_is_the_reason_also_when_the_engine_is_first() -> None:
    rng = np.random.default_rng(0)
    agreement = rng.random((600, 40)) < 0.5
    same = (agreement[:, :3].sum(axis=1) >= 2) ^ (rng.random(600) < 0.2)
    problem = KMonomial(Samples(agreement, same), k=5)
    options = SolveOptions(time_limit=1.0, encoding="channelling")
    outcome = backend("cpsat").solve(problem, options, Behind(problem, options))
    assert not outcome.proved
    assert outcome.termination is Termination.TIME_LIMIT
