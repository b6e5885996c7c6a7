"""Without a time limit the clock decides nothing: answers are those of any machine."""

from __future__ import annotations

import random
import time

import pytest

from cpx import learn_rules, solve
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.weighted import KMonomial
from cpx.models.rule_set.cases import random_learning, random_selection
from cpx.models.sufficient_reason.cases import random_votes
from tests.methods.test_column_generation import drawn

CASES = {
    "monomial": (
        lambda: random_problem(3, 30, 7, kinds=(KMonomial,), limited=False),
        ("search", "cpsat", "maxsat:rc2", "maxsat:lsu", "milp:highs", "beam"),
    ),
    "precision": (
        lambda: random_problem(8, 60, 8, kinds=(MaxPrecision,), limited=False),
        ("search", "cpsat", "milp:highs"),
    ),
    "selection": (
        lambda: random_selection(5),
        ("search", "cpsat", "maxsat:lsu", "milp:highs", "local-search"),
    ),
    "learning": (lambda: random_learning(4), ("search", "column-generation", "maxsat:lsu")),
    "reason": (
        lambda: random_votes(4, 9, 6),
        ("hitting-sets", "deletion", "best-of-orders:3"),
    ),
}


def on_any_machine(monkeypatch, ask):
    """Return the answers where no time passes, and where it jumps from one look to the next."""
    answers = []
    for steps in ([0.0], [0.0, 0.001, 10.0, 10_000.0], [3600.0]):
        rng, now = random.Random(0), [0.0]

        def clock(rng=rng, now=now, steps=steps):
            now[0] += rng.choice(steps)
            return now[0]

        with monkeypatch.context() as patch:
            for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
                patch.setattr(time, name, clock)
            answers.append(ask())
    return answers


@pytest.mark.parametrize(
    ("kind", "engine"), [(kind, engine) for kind in CASES for engine in CASES[kind][1]]
)
def test_engines(kind, engine, monkeypatch):
    def ask():
        result = solve(CASES[kind][0](), engine)
        assert result.explanation is not None
        return result.status, result.objective, result.bound, result.explanation.features

    first, *others = on_any_machine(monkeypatch, ask)
    assert others == [first, first]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_learned_rules(seed, monkeypatch):
    samples = drawn(seed, m=300, d=20)

    def ask():
        learned = learn_rules(samples, 3, "0.01", time_limit=None)
        rounds = [(each.value, each.bound, each.rules) for each in learned.rounds]
        return learned.rules, learned.hamming_rules, learned.selection.rules, rounds

    first, *others = on_any_machine(monkeypatch, ask)
    assert others == [first, first]
