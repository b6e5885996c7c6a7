"""Inequalities and branch and cut against all subsets, and against hitting sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier

from cpx.models.sufficient_reason.methods import SufficiencyOracle
from cpx.models.sufficient_reason.methods import minimum as minimum_module
from cpx.models.sufficient_reason.search.branch_and_cut import BranchAndCut
from cpx.models.sufficient_reason.search.cuts import UNIT, Cuts, scaled
from cpx.models.sufficient_reason.search.relaxation import Relaxation
from cpx.models.sufficient_reason.sufficiency.class_margin import differences
from cpx.models.sufficient_reason.sufficiency.linear_cuts import NOTHING
from cpx.models.sufficient_reason.sufficiency.workspace import Workspace
from cpx.trees import Attribute, Tree, TreeModel, read_model
from cpx.trees.descent import Descent
from tests.methods.reasons.ensembles import KINDS, Truth, minimum_reason, random_model
from tests.methods.reasons.test_minimum import values
from tests.seeds import some


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing to hitting sets."""
    monkeypatch.setattr(minimum_module, "_CALLS_OF_FEW", 0)
    monkeypatch.setattr(minimum_module, "_FURTHER", 0)


@pytest.fixture(scope="module")
def boosted() -> tuple[TreeModel, np.ndarray]:
    X, y = make_classification(200, 14, n_informative=9, n_redundant=2, random_state=0)
    return read_model(GradientBoostingClassifier(n_estimators=25, random_state=0).fit(X, y)), X


@pytest.mark.parametrize("n", some(6, 16))
@pytest.mark.parametrize("kind", KINDS)
def test_every_reason_meets_every_inequality(n: int, kind: str) -> None:
    told = 0
    for seed, wide in itertools.product(range(n), (False, True)):
        model = random_model(seed, kind, wide)
        truth = Truth(model)
        x = truth.row(seed)
        oracle = SufficiencyOracle(model, x)
        reasons = [oracle.bits(reason) for reason in truth.reasons(x)]
        rng, cuts = np.random.default_rng(seed), Cuts(oracle)
        for _ in range(10):
            shares = rng.choice([0.0, 0.3, 0.7, 1.0], len(oracle.grid.used))
            for found in cuts.violated(shares, (0.9, 0.5, 0.1), 4, 0.0):
                weights = found.weights
                told += 1
                assert weights.min(initial=0) >= 0
                assert weights.max(initial=0) <= UNIT
                assert weights @ shares < UNIT
                for reason in reasons:
                    assert (
                        sum(w for p, w in enumerate(weights.tolist()) if reason >> p & 1) >= UNIT
                    )
    assert told > n


@pytest.mark.parametrize("bits", [1, 8, 41, 42, 43, 62])
def test_weights_are_scaled_and_rounded_up(bits: int) -> None:
    rng = np.random.default_rng(bits)
    for least in (1, 2 ** (bits - 1), 2**bits - 1, *rng.integers(1, 2**bits, 20).tolist()):
        weights = np.array([0, 1, least - 1, least, 2**62, *rng.integers(0, 2**bits, 40)])
        exact = [min(UNIT, -(-w * UNIT // least)) for w in weights.tolist()]
        more = scaled(weights, least) - np.array(exact)
        assert more.min() >= 0
        assert more.max() <= (bits > 42)
        assert (scaled(weights, least)[weights == 0] == 0).all()


def sum_of_envelopes(space: Workspace) -> float:
    """Return what the weights of trees say, those less than 0 among them."""
    least = space.weigh()
    weights = np.zeros(len(space.shares))
    np.add.at(weights, space.margin.arrays.tested, space.of_entries)
    assert (space.weights == np.maximum(weights, 0)).all()
    return float(least + np.minimum(weights, 0).sum() - weights @ space.shares)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_those_of_convex_envelopes(kind: str) -> None:
    """By definition: the least mean of what sets give the rival, over all means of sets."""
    count = exact = 0
    for seed in range(4):
        model = random_model(seed, kind)
        oracle = SufficiencyOracle(model, Truth(model).row(seed))
        rng, n = np.random.default_rng(seed), len(oracle.grid.used)
        sets = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
        for rival in oracle.rivals[:1]:
            space = oracle.space(rival)
            for numbers in (space.margin.arrays.values, space.margin.arrays.base):
                numbers <<= 30
            values, base, _ = differences(model, oracle.own, rival)
            for _ in range(3):
                space.shares[:] = rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], n)
                for a, (low, high, missing) in enumerate(space.whole.tolist()):
                    space.point[a] = rng.choice([*[-1] * missing, *range(low, high + 1)])
                rows = [oracle._cells(np.where(kept, oracle.x, space.point)) for kept in sets]
                total = float(base)
                for tree, value in zip(model.trees, values, strict=True):
                    given = value[tree.leaf[Descent((tree,)).nodes(np.array(rows))[:, 0]]].astype(
                        float
                    )
                    found = linprog(
                        given, A_eq=np.vstack([sets.T, np.ones(len(sets))]),
                        b_eq=np.append(space.shares, 1.0),
                    )  # fmt: skip
                    total += found.fun
                told = sum_of_envelopes(space) / 2**30
                count += 1
                assert told <= total + 1e-6
                exact += told >= total - 1e-6
    assert exact >= 0.9 * count > 10


@pytest.mark.parametrize("kind", KINDS)
def test_rows_ascend_until_no_attribute_alone_makes_the_bound_greater(kind: str) -> None:
    moved = 0
    for seed in range(8):
        model = random_model(seed, kind)
        oracle = SufficiencyOracle(model, Truth(model).row(seed))
        rng, n = np.random.default_rng(seed), len(oracle.grid.used)
        for rival in oracle.rivals:
            space = oracle.space(rival)
            # Weights are rounded to whole numbers, which great ones do not feel.
            for numbers in (space.margin.arrays.values, space.margin.arrays.base):
                numbers <<= 30
            size = float(np.abs(space.margin.arrays.values).sum() + 1)

            def bound(space: Workspace = space, size: float = size) -> float:
                return sum_of_envelopes(space) / size

            for _ in range(5):
                space.shares[:] = rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], n)
                space.order[:] = rng.permutation(n)
                for a, (low, high, missing) in enumerate(space.whole.tolist()):
                    space.point[a] = rng.choice([*[-1] * missing, *range(low, high + 1)])
                before = bound()
                while space.ascend():
                    pass
                reached, point = bound(), space.point.copy()
                assert reached >= before - 1e-6
                moved += reached > before + 1e-6
                for a, (low, high, missing) in enumerate(space.whole.tolist()):
                    for to in [*[-1] * missing, *range(low, high + 1)]:
                        space.point[a] = to
                        assert bound() <= reached + 1e-6
                    space.point[:] = point
    assert moved > 20


@pytest.mark.parametrize("n", [3, 6, 7, 9])
def test_weights_of_a_leaf_may_add_up_to_more_than_64_bits(n: int) -> None:
    """Each attribute alone takes from the rival nearly all that it has, by leaves of 2**60."""
    high = 2.0**60 - 2.0**12
    low, nearly = -high, 2.0**12 - high

    def after_z(a: int) -> tuple[list[int], list[list[float]]]:
        if a == n:
            return [-1], [[high]]
        nodes, leaves = after_z(a + 1)
        return [a, *nodes, -1], [*leaves, [nearly]]

    def after_x(a: int) -> tuple[list[int], list[list[float]]]:
        if a == n:
            return [-1], [[low]]
        nodes, leaves = after_x(a + 1)
        return [a, -1, *nodes], [[nearly], *leaves]

    (left, most), (right, least) = after_z(1), after_x(1)
    nodes = [0, *left, *right]
    tree = Tree(nodes, [0] * len(nodes), [0] * len(nodes), [*most, *least], (0,))
    attributes = [Attribute(f"a{a}") for a in range(n)]
    model = TreeModel(attributes, ["no", "yes"], [tree, tree], [[0.5]] * n, "sum", "positive", [0])
    oracle = SufficiencyOracle(model, model.cells([1.0] * n))
    space = oracle.space(1)
    space.point[:] = 0
    assert space.weigh() == 2 * int(high)  # what the rival has at z
    assert space.weights.min() > 2**61


@pytest.mark.parametrize("n", [1, 2, 9])
def test_what_does_not_fit_into_64_bits_is_not_told(n: int) -> None:
    """Each attribute that is as in z alone takes from the rival all that it has in x."""
    nodes = [node for a in range(n) for node in (a, -1)] + [-1]
    leaves = [[-(2.0**59)]] * n + [[2.0**59]]
    tree = Tree(nodes, [0] * len(nodes), [0] * len(nodes), leaves, (0,))
    attributes = [Attribute(f"a{a}") for a in range(n)]
    base = [-(2.0**60)]
    model = TreeModel(attributes, ["no", "yes"], [tree], [[0.5]] * n, "sum", "positive", base)
    oracle = SufficiencyOracle(model, model.cells([1.0] * n))
    space = oracle.space(1)
    space.point[:] = 0
    space.shares[:] = 0.95
    # Where it is told, all attributes are as in x.
    assert space.weigh() == (NOTHING if n > 2 else -(2**59))


@pytest.mark.parametrize("n", some(8, 25))
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heaviest", [1, 5, 2**25])
def test_it_finds_the_minimum(n: int, kind: str, heaviest: int) -> None:
    nodes = 0
    for seed in range(n):
        model = random_model(seed, kind)
        truth = Truth(model)
        x = truth.row(seed)
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, heaviest + 1, model.n_attributes).tolist()
        drawn = rng.random(model.n_attributes)
        keep = frozenset(np.flatnonzero(drawn < 0.15).tolist())
        avoid = frozenset(np.flatnonzero(drawn > 0.9).tolist())
        allowed = [r for r in truth.reasons(x) if keep <= r and not avoid & r]
        found = minimum_reason(
            model, values(model, x), weights=weights, must_keep=keep, must_avoid=avoid, seed=seed
        )
        assert found.proved
        assert found.feasible == bool(allowed)
        if allowed:
            nodes += 1
            assert found.lower == found.upper == min(sum(weights[a] for a in r) for r in allowed)
            assert frozenset(found.attributes) in allowed
    assert nodes > n // 3


def test_it_agrees_with_hitting_sets(
    boosted: tuple[TreeModel, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, X = boosted
    found = {}
    monkeypatch.setattr(minimum_module, "_FURTHER", 0)
    for rounds in (10**9, 0):
        monkeypatch.setattr(minimum_module, "_CALLS_OF_FEW", rounds)
        found[rounds] = [minimum_reason(model, x) for x in X[:12]]
    assert all(answer.proved for answers in found.values() for answer in answers)
    sizes = {rounds: [answer.upper for answer in answers] for rounds, answers in found.items()}
    assert sizes[0] == sizes[10**9]
    assert max(sizes[0]) > 5
    for x, answer in zip(X, found[0], strict=False):
        oracle = SufficiencyOracle.of_row(model, x)
        assert oracle.counterexample(answer.attributes) is None
    again = [minimum_reason(model, x) for x in X[:3]]
    assert [a.attributes for a in again] == [a.attributes for a in found[0][:3]]


@pytest.mark.usefixtures("at_once")
def test_a_stop_leaves_a_bound_that_holds(boosted: tuple[TreeModel, np.ndarray]) -> None:
    model, X = boosted
    least = minimum_reason(model, X[0]).upper
    open_ones = 0
    for asked in (5, 20, 40, 80, 120):
        oracle, count = SufficiencyOracle.of_row(model, X[0]), 0

        def stop(most: int = asked) -> bool:
            nonlocal count
            count += 1
            return count > most

        oracle.stop = stop
        found = minimum_reason(model, X[0], oracle=oracle)
        assert found.lower <= least <= (found.upper or model.n_attributes)
        assert found.proved == (found.lower == found.upper)
        open_ones += not found.proved
    assert open_ones


def test_the_only_set_that_may_be_lighter_is_decided(
    boosted: tuple[TreeModel, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Multipliers may fix every element where the bound is still below the best known reason."""
    model, X = boosted
    least = minimum_reason(model, X[0])
    oracle = SufficiencyOracle.of_row(model, X[0])
    n = len(oracle.grid.used)
    best = np.array([a in least.attributes for a in oracle.grid.used], dtype=np.int64)
    monkeypatch.setattr(
        Relaxation, "bound", lambda _, upper: (min(least.upper, upper), best, best)
    )
    found = [(1 << n) - 1]

    def note(reason: int) -> int:
        found.append(reason)
        return min(one.bit_count() for one in found)

    none, all_of_them = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    search = BranchAndCut(
        oracle, all_of_them, none, all_of_them, n, 0, note, lambda _: n, lambda _: None
    )
    search.run()
    assert search.upper == least.upper < n
    assert found[-1] == oracle.bits(least.attributes)


@pytest.mark.parametrize("heaviest", [1, 40, 2**30])
def test_bounds_of_the_linear_program_hold_for_all_sets(heaviest: int) -> None:
    """Also where its multipliers are not those of an optimum, and elements are fixed by them."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        costs = rng.integers(1, heaviest + 1, n)
        program = Relaxation(costs, seed)
        rows = rng.integers(0, UNIT, (int(rng.integers(1, 6)), n)) * (rng.random(n) < 0.7)
        for row in rows:
            program.add(row)
        low = (rng.random(n) < 0.2).astype(np.int64)
        high = np.maximum(low, rng.random(n) < 0.9).astype(np.int64)
        program.fix(low, high)
        program.solve()
        sets = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
        meets = ((sets @ rows.T >= UNIT).all(axis=1) & (sets >= low).all(axis=1)
                 & (sets <= high).all(axis=1))  # fmt: skip
        totals = (sets[meets] @ costs).tolist()
        for upper in (1, int(costs.sum()) // 2 + 1, int(costs.sum()) + 1):
            bound, lowest, highest = program.bound(upper)
            assert all(total >= min(bound, upper) for total in totals)
            for chosen, total in zip(sets[meets], totals, strict=True):
                if total < upper:
                    assert (chosen >= lowest).all()
                    assert (chosen <= highest).all()
