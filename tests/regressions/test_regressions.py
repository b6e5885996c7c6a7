"""Instances on which something was wrong once; every engine solves them all.

``context`` says what it was: ``bug``, and the ``encoding`` it showed in.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cpx import load, solve
from cpx.testing import conformance
from cpx.testing.brute import brute_force
from tests.engines import ENGINES

INSTANCES = sorted(Path(__file__).parent.glob("*.json"))


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("engine", ENGINES)
def test_instance(engine: str, path: Path) -> None:
    problem = load(path)
    best = brute_force(problem)
    encoding = problem.samples.context["encoding"]
    result = solve(problem, engine, encoding=encoding)
    conformance.check_result(result, problem, best and best[0], closed=True)


def test_each_says_what_was_wrong() -> None:
    assert INSTANCES
    for path in INSTANCES:
        assert set(load(path).samples.context) == {"bug", "encoding"}
