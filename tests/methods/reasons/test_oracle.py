"""The oracle against all completions."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from cpx.errors import DataError, InvalidInstance
from cpx.models.sufficient_reason.features import conditional
from cpx.models.sufficient_reason.methods import Stopped, SufficiencyOracle
from cpx.trees import Attribute, Tree, TreeModel
from tests.methods.reasons.ensembles import KINDS, Truth, random_model
from tests.processor_time import processor_seconds
from tests.seeds import each, some


@pytest.mark.parametrize("n", some(8, 60))
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_set_is_decided_as_by_all_completions(kind: str, wide: bool, n: int) -> None:
    both = set()
    for seed in range(n):
        model = random_model(seed, kind, wide)
        truth = Truth(model)
        x = truth.row(seed)
        oracle = SufficiencyOracle(model, x)
        for k in range(model.n_attributes + 1):
            for fixed in itertools.combinations(range(model.n_attributes), k):
                found = oracle.counterexample(fixed)
                assert (found is None) == truth.sufficient(x, fixed), (seed, fixed)
                both.add(found is None)
                if found is not None:
                    assert (truth.cells == found).all(axis=1).any()
                    assert (found[list(fixed)] == x[list(fixed)]).all()
                    own, other = model.decide(model.totals_of(np.stack([x, found])))
                    assert own == oracle.own != other
                    assert oracle.differs(found)
    assert both == {True, False}


@pytest.mark.parametrize("kind", ["positive", "nonnegative"])
def test_no_attribute_of_a_counterexample_can_be_restored_alone(kind: str) -> None:
    changed = 0
    for seed in range(60):
        model = random_model(seed, kind)
        x = Truth(model).row(seed)
        oracle = SufficiencyOracle(model, x)
        found = oracle.counterexample([])
        if found is None:
            continue
        differs = np.flatnonzero(found != x)
        changed += len(differs) > 1
        for a in differs:
            restored = found.copy()
            restored[a] = x[a]
            assert not oracle.differs(restored)
    assert changed >= 3


@each(range(40), 10)
@pytest.mark.parametrize("kind", KINDS)
def test_changes_are_sets_that_can_change_the_class(seed: int, kind: str) -> None:
    model = random_model(seed, kind, wide=seed % 2 == 1)
    truth = Truth(model)
    x = truth.row(seed)
    oracle = SufficiencyOracle(model, x)
    for free in range(oracle.everything, -1, -1):
        change = oracle.change(free)
        held = oracle.features(oracle.everything & ~free)
        assert (change is None) == truth.sufficient(x, sorted(held))
        if change is not None:
            assert change & ~free == 0
            others = oracle.features(oracle.everything & ~change)
            assert not truth.sufficient(x, sorted(others))


def test_deep_trees_with_many_leaves() -> None:
    """Leaves of several words."""
    from tests.methods.reasons.ensembles import random_tree

    for seed in range(5):
        rng = np.random.default_rng(seed)
        sizes = [9, 9, 9]
        trees = [
            random_tree(rng, sizes, 9, lambda: [float(rng.integers(-99, 100))], (0,))  # noqa: B023
            for _ in range(6)
        ]
        model = TreeModel(
            [Attribute(c) for c in "abc"], [0, 1], trees, [np.arange(9.0)] * 3, "sum",
            "positive", [0.0],
        )  # fmt: skip
        assert max(tree.n_leaves for tree in trees) > 64
        truth = Truth(model)
        x = truth.row(seed)
        oracle = SufficiencyOracle(model, x)
        for k in range(4):
            for fixed in itertools.combinations(range(3), k):
                found = oracle.counterexample(fixed)
                assert (found is None) == truth.sufficient(x, fixed)


def test_sums_beyond_64_bits_are_exact() -> None:
    """The rival would need one part in 2**1000 more."""
    tiny = 2.0**-1000
    stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[1.0], [-1.0]], (0,))
    other = Tree([1, -1, -1], [0] * 3, [0] * 3, [[-1.0], [1.0 - 2**-53]], (0,))
    small = Tree([2, -1, -1], [0] * 3, [0] * 3, [[-tiny], [2 * tiny]], (0,))
    attributes = [Attribute(c) for c in "abc"]

    def model(base: float) -> TreeModel:
        thresholds = [[0.0]] * 3
        return TreeModel(
            attributes, ["no", "yes"], [stump, other, small], thresholds, "sum", "positive", [base]
        )

    x = [0, 0, 0]
    # The scores of completions with a = 0, b = 0 are base - tiny and base + 2 tiny.
    assert SufficiencyOracle(model(-tiny), x).counterexample({0, 1}).tolist() == [0, 0, 1]
    assert SufficiencyOracle(model(-2 * tiny), x).counterexample({0, 1}) is None
    assert SufficiencyOracle(model(-2 * tiny), x).counterexample({0}).tolist()[1] == 1


def test_a_deadline_and_a_stop_end_the_search() -> None:
    # Parities of pairs around many odd cycles: bounds say little.
    rng = np.random.default_rng(0)
    trees = []
    for _ in range(400):
        a, b, c = rng.choice(40, 3, replace=False).tolist()
        leaves = [-1, -1, c, -1, -1]
        values = np.array([1, -1, -1, 1, -1, 1, 1, -1.0])[:, np.newaxis] * rng.choice([-1, 1])
        attribute = [a, b, c, -1, *leaves[1:2], *leaves[2:], b, c, -1, -1, *leaves[2:]]
        trees.append(Tree(attribute, [0] * 15, [0] * 15, values, (0,)))
    model = TreeModel(
        [Attribute(str(i)) for i in range(40)], [0, 1], trees, [[0.0]] * 40, "sum", "positive",
        [-250.0],
    )  # fmt: skip
    oracle = SufficiencyOracle(model, [0] * 40)
    oracle.counterexample(range(40))
    oracle.deadline = time.monotonic() + 0.3
    start = processor_seconds()
    with pytest.raises(Stopped):
        oracle.counterexample([])
    assert processor_seconds() - start < 10
    oracle.deadline, asked = None, []
    oracle.stop = lambda: len(asked) == 2 or asked.append(1)
    with pytest.raises(Stopped):
        oracle.counterexample([])
    assert len(asked) == 2


def test_wrong_rows_and_sets_are_refused() -> None:
    model = random_model(3, "sum")
    d = model.n_attributes
    with pytest.raises(DataError, match="shape"):
        SufficiencyOracle(model, [0] * (d + 1))
    with pytest.raises(InvalidInstance, match="fixed has the feature -1"):
        SufficiencyOracle(model, Truth(model).row(0)).counterexample([-1])
    stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[1.0], [-1.0]], (0,))
    bounded = TreeModel(
        [Attribute("age", lower=1.0)], [0, 1], [stump], [[0.5]], "sum", "positive", [0.0]
    )
    with pytest.raises(DataError, match="age has a value it cannot take"):
        SufficiencyOracle(bounded, [0])
    with pytest.raises(DataError, match="age is missing"):
        SufficiencyOracle(bounded, [-1])
    assert SufficiencyOracle(bounded, [1]).counterexample([]) is None


@pytest.mark.parametrize("n", some(50, 150))
def test_votes_on_conditions_are_decided_as_by_all_completions(n: int) -> None:
    both, classes = set(), set()
    for seed in range(n):
        model = conditional(random_model(seed, "vote"))
        x = np.random.default_rng(seed).integers(2, size=model.n_attributes).astype(np.int32)
        if not 2 <= model.n_attributes <= 7 or len(model.trees) < 2:
            continue
        truth, oracle = Truth(model), SufficiencyOracle(model, x)
        classes.add(len(model.classes))
        for k in range(model.n_attributes + 1):
            for fixed in itertools.combinations(range(model.n_attributes), k):
                found = oracle.counterexample(fixed)
                assert (found is None) == truth.sufficient(x, fixed), (seed, fixed)
                assert found is None or (found[list(fixed)] == x[list(fixed)]).all()
                free = oracle.everything & ~oracle.bits(fixed)
                assert (oracle.change(free) is None) == (found is None)
                if found is None:
                    assert truth.sufficient(x, oracle.features(oracle.core))
                both.add(found is None)
    assert both == {True, False}
    assert classes == {2, 3, 4}


def test_one_tree_knows_its_minimal_changes() -> None:
    for seed in range(60):
        model = random_model(seed, KINDS[seed % len(KINDS)])
        if len(model.trees) > 1:
            continue
        truth = Truth(model)
        x = truth.row(seed)
        oracle = SufficiencyOracle(model, x)
        changes = [oracle.features(change) for change in oracle.changes]
        everything = set(range(model.n_attributes))
        sets = [frozenset(s) for k in range(len(everything) + 1)
                for s in itertools.combinations(sorted(everything), k)]  # fmt: skip
        able = [s for s in sets if not truth.sufficient(x, everything - s)]
        assert {*changes} == {s for s in able if not any(t < s for t in able)}
