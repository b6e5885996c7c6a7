"""Sets of states as runs, tables in batches, floats with a bound: each against its definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from cpx import solve
from cpx.data.coding import Coding
from cpx.data.fitted.mixture_fit import fit_mixture
from cpx.models.expected_prediction import table_layout
from cpx.models.expected_prediction.cases import STRUCTURES, random_expectation
from cpx.models.expected_prediction.paths import leaf_paths
from cpx.models.expected_prediction.problem import MLSE
from cpx.models.expected_prediction.state_sets import StateSets, runs_of_ranges, runs_of_rows
from cpx.trees import read_model


def test_sets_of_states_are_what_they_were_made_of() -> None:
    rng = np.random.default_rng(0)
    rows = [rng.random((6, size)) < 0.5 for size in (2, 5, 9)]
    rows = [table[table.any(axis=1)] for table in rows]
    order = rng.permutation(7)
    first, end = np.array([1, 3, 2, 0]), np.array([4, 7, 2, 1])
    also = np.array([True, False, True, True])
    ranges = np.zeros((4, 7), dtype=bool)
    for table, low, high, more in zip(ranges, first, end, also, strict=True):
        table[order[low:high]] = True
        table[order[0]] |= more
    sets = StateSets([*map(runs_of_rows, rows), runs_of_ranges(order, first, end, also)])
    tables = [*rows, ranges]
    assert len(sets) == sum(map(len, tables))
    which = [row for table in tables for row in table]
    assert all((sets.states(m) == row).all() for m, row in enumerate(which))
    codes = [rng.integers(0, table.shape[1]) for table in tables]
    has = [row[code] for table, code in zip(tables, codes, strict=True) for row in table]
    assert sets.having(codes).tolist() == has
    values = [rng.integers(0, 2**30, (3, table.shape[1])) for table in tables]
    sums = np.concatenate([v @ table.T for table, v in zip(tables, values, strict=True)], axis=1)
    assert (sets.sums(np.concatenate(values, axis=1)) == sums).all()


def test_paths_are_of_the_coding_that_is_asked_for() -> None:
    one = random_expectation(3)
    finer = Coding.fit(
        np.array([one.x, one.x]),
        names=one.coding.column_names,
        cuts=[np.append(c, (c[-1] if len(c) else 0) + 1.0) for c in one.coding.cuts],
        cast=one.coding.cast,
        max_states=1,
    )
    first = leaf_paths(one.tree_model, one.coding)
    other = leaf_paths(one.tree_model, finer)
    assert len(other.masks.offsets) == len(finer.columns) + 1
    assert other.masks.offsets[-1] > 0
    assert leaf_paths(one.tree_model, finer) is other
    again = leaf_paths(one.tree_model, one.coding)
    assert (again.mask == first.mask).all()
    assert (again.masks.offsets == first.masks.offsets).all()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_floats_decide_as_fractions_do(structure: str) -> None:
    for seed in range(3):
        problem = random_expectation(seed, structure)
        fresh = random_expectation(seed, structure).scores
        units = Fraction(problem.unit), Fraction(1, 3)
        for size in range(problem.n_features + 1):
            for S in combinations(range(problem.n_features), size):
                fresh._known.clear()
                near, off = fresh._near(S)
                exact = problem.scores.expected(S)
                assert abs(Fraction(near) - exact) <= off
                assert [fresh.rounded(S, unit) for unit in units] == [
                    round(exact / unit) for unit in units
                ]
                step = Fraction(1, 2**70)
                for least in (exact, exact + step, exact - step):
                    assert fresh.at_least(S, least) is (exact >= least)


def _forest(depth: int | None, columns: int, rows: int, seed: int = 0) -> MLSE:
    rng = np.random.default_rng(seed)
    X = rng.random((rows, columns))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * rng.random(rows)) > 0.9
    forest = RandomForestClassifier(4, max_depth=depth, random_state=seed).fit(X, y)
    model = read_model(forest)
    coding = Coding.fit(
        X, names=[a.name for a in model.attributes], cuts=model.thresholds, cast=model.cast
    )
    codes = coding.codes(X)
    independent = fit_mixture(codes, coding.cardinalities, structure="factorised")
    return MLSE(model, X[0], coding, independent, 3)


@pytest.mark.parametrize("together", [3, 12])
def test_tables_add_up_to_what_leaves_add(monkeypatch, together: int) -> None:
    monkeypatch.setattr(table_layout, "_MOST_TOGETHER", together)
    monkeypatch.setattr(table_layout, "_ENTRIES_PER_LEAF", 0)
    monkeypatch.setattr(table_layout, "_AT_ONCE", 64)
    problem = _forest(6, 9, 300)
    sizes = problem.leaf_tables.layout.sizes
    assert sizes.max() <= max(together, 6)
    assert (len(sizes) > 4) is (together == 3)
    scores, unit = problem.scores, Fraction(problem.unit)
    base = round(Fraction(scores.leaves.base, scores.leaves.scale) / unit)
    rng = np.random.default_rng(1)
    for _ in range(20):
        S = [*map(int, np.flatnonzero(rng.random(9) < 0.5))]
        assert problem.table_sum.value(S) == problem.leaf_tables.value(S)
        # Leaf by leaf, from the definition.
        reached, unknown = scores.reached(S)
        total, masses = base, scores.numerators()
        for leaf in np.flatnonzero(reached).tolist():
            tests = range(scores.leaves.starts[leaf], scores.leaves.starts[leaf + 1])
            adds = Fraction(int(scores.leaves.values[leaf]), scores.leaves.scale)
            for test in tests:
                if unknown[test]:
                    adds *= Fraction(masses[scores.leaves.mask[test]], 2**30)
            total += round(adds / unit)
        assert problem.value(S) == total


def test_full_trees_take_little_memory_and_stop_in_time() -> None:
    problem = _forest(None, 5, 4000)
    sets = problem.leaves.masks
    states, runs = int(sets.offsets[-1]), sum(len(own.first) for own in sets.attributes)
    # As a table, each set would have a bool for each state of its attribute.
    assert runs < 2 * len(sets)
    assert states * len(sets) > 50 * (states + runs)
    result = solve(problem, "search", time_limit=30)
    assert result.proved
    assert result.objective == max(
        problem.value(S) for r in range(4) for S in combinations(range(5), r)
    )
