"""Sets of rules for the conformance suite, selected or learned: cases, instances, brute force."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cpx.data.samples import Samples
from cpx.models.rule_set.learning import RuleSetLearning
from cpx.models.rule_set.selection import RuleSetSelection


def random_selection(seed: int, max_samples: int = 25, max_rules: int = 8) -> RuleSetSelection:
    """Return a random selection: weights, prices, limits, required and forbidden rules.

    >>> random_selection(3).to_dict() == random_selection(3).to_dict()
    True
    """
    rng = np.random.default_rng(seed)
    m, R = int(rng.integers(1, max_samples + 1)), int(rng.integers(1, max_rules + 1))
    d = int(rng.integers(1, 6))
    samples = Samples(
        agreement=rng.random((m, d)) < rng.uniform(0.3, 0.9),
        same=rng.random(m) < rng.uniform(0.1, 0.9),
        weights=rng.integers(1, 1 + int(rng.choice([1, 5, 1000])), m),
    )
    rules = tuple(tuple(np.flatnonzero(rng.random(d) < 0.5).tolist()) for _ in range(R))
    more: dict[str, Any] = {}
    if rng.random() < 0.3:
        more["max_rules"] = int(rng.integers(0, R + 1))
    if rng.random() < 0.3:
        more["max_literals"] = int(rng.integers(0, 2 * R + 1))
    if rng.random() < 0.3:
        more["max_overlap"] = int(rng.integers(0, samples.total))
    if rng.random() < 0.2:
        more["class_weights"] = (int(rng.integers(0, 3)), int(rng.integers(1, 3)))
    if rng.random() < 0.2:
        more["lengths"] = tuple(rng.integers(0, 4, R).tolist())
    order = rng.permutation(R).tolist()
    more["required"] = order[: int(rng.choice([0, 0, 0, 1, 2]))]
    more["forbidden"] = order[R - int(rng.choice([0, 0, 1])) :]
    return RuleSetSelection(
        samples,
        rules,
        penalty=str(rng.choice(["0", "0.01", "1/30", "0.1", "1/7"])),
        loss="hamming" if rng.random() < 0.2 else "zero-one",
        **more,
    )


def rule_set_cases() -> Iterator[tuple[str, RuleSetSelection, int | None]]:
    """Yield name, problem and optimum."""
    # Literals a, b, c; a rule for each, and one for a and b.
    bits: Any = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]]
    labels: Any = [1, 1, 0, 1, 0, 0]
    plain = Samples(bits, labels)
    rules: Any = [(0,), (1,), (2,), (0, 1)]

    def case(samples: Samples = plain, **more: Any) -> RuleSetSelection:
        return RuleSetSelection(samples, rules, **more)

    # {a and b, c} is wrong about sample 4 only, {a and b} about sample 3 only.
    yield "rules_for_free", case(), 1
    yield "rules_at_a_price", case(penalty="1/12"), 3
    yield "rules_too_dear", case(penalty=1), 3
    yield "rules_price_of_an_error", case(penalty="1/3"), 3
    yield "rules_none_allowed", case(max_rules=0), 3
    yield "rules_one_allowed", case(max_rules=1), 1
    yield "rules_required", case(penalty="1/6", required=[2]), 3
    yield "rules_forbidden", case(forbidden=[1, 3]), 2
    yield "rules_contradiction", case(required=[1], forbidden=[1]), None
    yield "rules_required_too_many", case(required=[0, 1], max_rules=1), None
    yield "rules_literals", case(max_literals=1), 2
    yield "rules_literals_infeasible", case(required=[3], max_literals=1), None
    yield "rules_overlap", case(required=[0, 1], max_overlap=2), 3
    yield "rules_overlap_infeasible", case(required=[0, 1], max_overlap=1), None
    yield "rules_class_weights", case(class_weights=(1, 5), penalty="1/18"), 3
    yield "rules_hamming", case(loss="hamming", required=[0, 2]), 2
    twice = Samples(np.array([[1, 1], [1, 1], [1, 0], [0, 1]]), np.array([0, 1, 1, 1]))
    pair: Any = [(0,), (1,)]
    yield "rules_share_an_error", RuleSetSelection(twice, pair), 1
    yield "rules_hamming_counts_twice", RuleSetSelection(twice, pair, loss="hamming"), 2
    yield "rules_no_class", case(Samples(bits, np.zeros(6, dtype=bool))), 0
    yield "rules_all_of_the_class", case(Samples(bits, np.ones(6, dtype=bool)), required=[2]), 1
    everything = RuleSetSelection(plain, ((), (0, 2)), penalty="1/6")
    yield "rules_cover_all_or_nothing", everything, 3
    weights: Any = [10**6, 1, 10**6 + 1, 3, 2, 1]
    heavy = Samples(bits, labels, weights)
    yield "rules_heavy", case(heavy), 2


def best_learned(problem: RuleSetLearning) -> int:
    """Return the optimum by trying all sets of rules that cover different samples.

    Of rules that cover the same samples, a second one only costs.

    >>> best_learned(RuleSetLearning(Samples([[1, 0], [0, 1]], [1, 1]), 1, "1/4"))
    1
    """
    covers = np.unique([problem.cover(rule) for rule in range(problem.n_features)], axis=0)
    R, same = len(covers), problem.samples.same
    chosen = np.arange(2**R)[:, None] >> np.arange(R) & 1
    times = chosen @ covers.astype(np.int64)
    wrong = times if problem.loss == "hamming" else np.minimum(times, 1)
    errors = np.where(same, times == 0, wrong) @ problem.error_weights
    return int((problem.scale * errors + problem.price * chosen.sum(axis=1)).min())


def random_learning(seed: int) -> RuleSetLearning:
    """Return a random problem of few rules: weights, prices, both losses.

    >>> random_learning(3).to_dict() == random_learning(3).to_dict()
    True
    """
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 21)), int(rng.integers(1, 5))
    samples = Samples(
        agreement=rng.random((m, d)) < rng.uniform(0.3, 0.9),
        same=rng.random(m) < rng.uniform(0.1, 0.9),
        weights=rng.integers(1, 1 + int(rng.choice([1, 5, 1000])), m),
    )
    weights = (int(rng.integers(0, 3)), int(rng.integers(1, 3))) if rng.random() < 0.2 else None
    return RuleSetLearning(
        samples,
        max_literals=int(rng.integers(1, 3)),
        penalty=str(rng.choice(["0", "0.01", "1/30", "0.1", "1/7"])),
        loss="hamming" if rng.random() < 0.5 else "zero-one",
        class_weights=weights,
    )


def learning_cases() -> Iterator[tuple[str, RuleSetLearning, int | None]]:
    """Yield name, problem and optimum."""
    # Of the class is what has the literals a and b, or c.
    bits: Any = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]]
    labels: Any = [1, 1, 0, 1, 0, 0]
    plain = _samples(bits, labels)

    def case(samples: Samples = plain, most: int = 2, **more: Any) -> RuleSetLearning:
        return RuleSetLearning(samples, most, **{"penalty": 0, **more})

    yield "learning_for_free", case(), 0
    yield "learning_at_a_price", case(penalty="1/12"), 2
    # c for one error, or nothing for three: a rule costs one.
    yield "learning_price_of_an_error", case(penalty="1/6"), 2
    yield "learning_too_dear", case(penalty=1), 3
    # a, and c: sample 2 is wrong.
    yield "learning_one_literal", case(most=1), 1
    yield "learning_most_beyond_all", case(most=9), 0
    yield "learning_class_weights", case(most=1, class_weights=(5, 1)), 2
    both: Any = [[1, 1], [1, 0], [0, 1], [0, 0]]
    twice = _samples(both, [0, 1, 1, 0], [1, 5, 5, 1])
    yield "learning_share_an_error", case(twice, 1), 1
    yield "learning_hamming_counts_twice", case(twice, 1, loss="hamming"), 2
    conflict = _samples([[1], [1], [0]], [1, 0, 0], [2, 3, 1])
    yield "learning_equal_samples", case(conflict, 1), 2
    yield "learning_equal_samples_hamming", case(conflict, 1, loss="hamming"), 2
    yield "learning_no_class", case(Samples(bits, np.zeros(6, dtype=bool))), 0
    yield "learning_all_of_the_class", case(Samples(bits, np.ones(6, bool)), penalty="1/12"), 1
    yield "learning_one_sample", case(_samples([[0]], [1]), 1, penalty="1/2"), 1
    weights: Any = [10**6, 1, 10**6 + 1, 3, 2, 1]
    yield "learning_heavy", case(_samples(bits, labels, weights), 1), 2


def _samples(bits: Any, labels: Any, weights: Any = None) -> Samples:
    return Samples(bits, labels, weights)


def probes() -> Iterator[RuleSetSelection | RuleSetLearning]:
    """Yield problems of optimum 1: of the only candidate, and of all rules of one literal."""
    covers = np.array([[1, 1], [1, 0], [0, 1], [1, 1]], dtype=np.bool_)
    samples = Samples(covers, np.array([1, 1, 0, 0], dtype=np.bool_))
    yield RuleSetSelection(samples, ((0,),))
    yield RuleSetLearning(samples, 1, 0)
