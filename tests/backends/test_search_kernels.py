"""The parts of the exact search, each against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpx.backends.search import bits, bounds, heuristics, jit
from cpx.backends.search.driver import explore, first_optimal
from cpx.backends.search.presolve import merge_rows, reduce
from cpx.backends.search.root import Root
from cpx.models.monomial import WeightedMonomial
from cpx.testing.random_instances import KINDS, random_problem

SEEDS = range(40)


def table(seed: int, rows: int = 150, columns: int = 11, heaviest: int = 9):
    rng = np.random.default_rng(seed)
    agreement = rng.random((rows, columns)) < rng.uniform(0.3, 0.9)
    weights = rng.integers(1, heaviest + 1, rows)
    return rng, agreement, weights, int(rng.integers(0, rows + 1))


# ------------------------------------------------------------------ bits


@pytest.mark.parametrize("heaviest", [1, 2, 9, 2**33])
@pytest.mark.parametrize("seed", range(6))
def test_counts_are_weights_of_covered_samples(seed, heaviest):
    rng, agreement, weights, bad = table(seed, heaviest=heaviest)
    n = agreement.shape[1]
    packed, bad_words = bits.pack(agreement, bad, weights)
    planes = int(weights.max()).bit_length() if heaviest > 1 else 0
    words, stride = packed.shape
    arena = np.append(packed.ravel(), np.zeros(8, dtype=np.uint64))
    chosen = rng.integers(n)
    cover = packed[:, chosen].copy()
    sums = np.zeros((2, n + jit.LANES), dtype=np.int64)
    low = int(rng.integers(n))
    bits.count(arena, 0, stride, bad_words, words, low, n, n, planes, cover, *sums)
    both = agreement & agreement[:, [chosen]]
    weighed = both * weights[:, None]
    assert sums[0, low:n].tolist() == weighed[:bad].sum(axis=0)[low:].tolist()
    assert sums[1, low:n].tolist() == weighed[bad:].sum(axis=0)[low:].tolist()
    good = int(weights[bad:].sum())
    for p in range(n):
        covered, kept = int(weighed[:bad, p].sum()), int(weighed[bad:, p].sum())
        for most in (covered, 2**61):
            cost = bits.cost_with(
                arena, 0, stride, bad_words, words, n, planes, cover, p, good, most
            )
            assert cost == covered + good - kept
        if covered and bad_words < words:
            cost = bits.cost_with(
                arena, 0, stride, bad_words, words, n, planes, cover, p, good, covered - 1
            )
            assert cost == 2**62


def unpacked(words: np.ndarray) -> np.ndarray:
    """Columns of words -> rows of bits."""
    raw = np.ascontiguousarray(words.T).view(np.uint8)
    return np.unpackbits(raw, axis=1, bitorder="little").astype(bool).T


@pytest.mark.parametrize("seed", range(20))
def test_compressed_columns_keep_the_covered_samples_in_order(seed):
    rng, agreement, _, bad = table(seed, rows=int(np.random.default_rng(seed).integers(1, 2000)))
    m, n = agreement.shape
    bad = min(bad, m)
    packed, bad_words = bits.pack(agreement, bad)
    words, stride = packed.shape
    cover = packed[:, 0].copy()
    columns = np.append(rng.permutation(n)[:7], np.zeros(9, dtype=np.int64))
    to = packed.size
    arena = np.concatenate([packed.ravel(), np.zeros(words * 8 + 8, dtype=np.uint64)])
    buffer, moves = np.zeros(32, dtype=np.uint64), np.zeros(96, dtype=np.uint64)
    new_bad, new_words = bits.compress(
        arena, 0, stride, bad_words, words, columns, 7, cover, to, 8, buffer, moves
    )
    result = unpacked(arena[to : to + 8 * new_words].reshape(new_words, 8)[:, :7])
    on = agreement[:, 0]
    for part, rows in (
        (agreement[:bad][on[:bad]], result[: 64 * new_bad]),
        (agreement[bad:][on[bad:]], result[64 * new_bad :]),
    ):
        assert rows.shape[0] == -(-part.shape[0] // 64) * 64
        assert (rows[: part.shape[0]] == part[:, columns[:7]]).all()
        assert not rows[part.shape[0] :].any()

    if bad_words:
        most = int(rng.integers(1, bad_words + 1))
        into = np.full((most + 1) * 8, 7, dtype=np.uint64)
        filled = bits.first_words(
            arena, 0, stride, bad_words, columns, 7, cover, into, 8, most, buffer, moves
        )
        expected = agreement[:bad][on[:bad]][:, columns[:7]][: 64 * most]
        assert filled == expected.shape[0]
        found = unpacked(into[: most * 8].reshape(most, 8)[:, :7])
        assert (found[:filled] == expected).all()
        assert not found[filled:].any()


@pytest.mark.parametrize("seed", range(5))
def test_few_and_skip(seed):
    rng = np.random.default_rng(seed)
    rows, stride = int(rng.integers(1, 5)), 32
    words = rng.integers(0, 2**63, rows * stride, dtype=np.uint64)
    common = np.array(
        [
            sum(
                int(words[r * stride + 3] & words[r * stride + y]).bit_count() for r in range(rows)
            )
            for y in range(stride)
        ]
    )

    for most in (int(common.min()), int(np.median(common)), -1, 10**6):
        masks = [_few(words, stride, rows, 3, y, most) for y in range(0, stride, 8)]
        for block, mask in enumerate(masks):
            expected = [int(common[8 * block + b] <= most) for b in range(8)]
            assert [mask >> b & 1 for b in range(8)] == expected
        hits = [8 * block for block, mask in enumerate(masks) if mask]
        for begin in range(0, stride, 8):
            expected = next((y for y in hits if y >= begin), stride)
            assert _skip(words, stride, rows, 3, begin, most, stride) == expected
        assert _skip(words, stride, rows, 3, 16, most, 16) == 16


@jit.numba.njit
def _few(words, stride, rows, x, y, most):
    return jit.few(words, stride, rows, x, y, most)


@jit.numba.njit
def _skip(words, stride, rows, x, y, most, end):
    return jit.skip(words, stride, rows, x, y, most, end)


# ---------------------------------------------------------------- bounds


def node(seed: int):
    """Return a random node: its figures, those of its candidates, and all completions."""
    rng, agreement, weights, bad = table(seed, rows=30, columns=8, heaviest=4)
    r = int(rng.integers(1, 5))

    def figures(chosen):
        on = agreement[:, list(chosen)].all(axis=1)
        return int(weights[:bad][on[:bad]].sum()), int(weights[bad:][~on[bad:]].sum())

    parent = [int(j) for j in rng.permutation(8)[: rng.integers(0, 3)]]
    candidates = [j for j in range(8) if j not in parent]
    covered, _ = figures(parent)
    after, lost = (np.zeros(8, dtype=np.int64) for _ in range(2))
    for j in candidates:
        after[j], lost[j] = figures([*parent, j])
    completions = {
        chosen: sum(figures([*parent, *chosen]))
        for size in range(1, r + 1)
        for chosen in combinations(candidates, size)
    }
    own = sum(figures(parent))
    limit = int(rng.integers(min(completions.values()), max(completions.values()) + 2))
    return covered, after, lost, candidates, r, limit, own, completions


def kept_of(candidates):
    return np.array([*candidates, *[0] * 9], dtype=np.int64)


@pytest.mark.parametrize("seed", SEEDS)
def test_select_and_tighten_keep_what_better_completions_have(seed):
    covered, after, lost, candidates, r, limit, own, completions = node(seed)
    kept, buffers = kept_of(candidates), [np.zeros(12, dtype=np.int64) for _ in range(3)]
    n = bounds.select(covered, after, lost, kept, len(candidates), r, limit, buffers[0])
    useless = {p for p in candidates if after[p] == covered}
    wanted = {c: v for c, v in completions.items() if v < limit and not useless.intersection(c)}
    assert set().union(*wanted) <= set(kept[:n].tolist())
    # What is dropped for removing nothing is in no smallest best completion.
    best = min(own, *completions.values())
    assert best == own or best in [
        v for c, v in completions.items() if not useless.intersection(c)
    ]
    n, low = bounds.tighten(covered, after, lost, kept, n, r, limit, *buffers)
    assert set().union(*wanted) <= set(kept[:n].tolist())
    assert low <= min([limit, *wanted.values()])


@pytest.mark.parametrize("seed", SEEDS)
def test_subtree_bounds_are_below_all_completions(seed):
    covered, after, lost, candidates, r, _, _, completions = node(seed)
    kept = kept_of(candidates)
    n = len(candidates)
    bounds.order_by(after, kept, n)
    order = kept[:n].tolist()
    assert order == sorted(candidates, key=lambda p: after[p])
    low = np.zeros(n, dtype=np.int64)
    bounds.subtree_bounds(covered, after, lost, kept, n, r, low)
    for chosen, value in completions.items():
        first = min(order.index(p) for p in chosen)
        assert low[first] <= value


@pytest.mark.parametrize("r", [1, 2, 3, 7])
def test_survey(r):
    removed = np.array([5, 0, 9, 9, 2, 7])
    after, lost, kept = 10 - removed, np.arange(6), np.arange(14)
    top = np.zeros(9, dtype=np.int64)
    largest = sorted(removed, reverse=True)
    assert bounds.survey(10, after, lost, kept, 6, r, top) == (
        sum(largest[: r - 1]),
        sum(largest[:r]),
        0,
        5,
    )


# -------------------------------------------------------------- presolve


def random_form(seed: int, columns: int = 7) -> WeightedMonomial:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 40))
    patterns = rng.random((int(rng.integers(1, 20)), columns)) < rng.uniform(0.3, 1)
    agreement = patterns[rng.integers(0, len(patterns), m)]
    for _ in range(int(rng.integers(0, 4))):  # equal, constant and dominated columns
        a, b = rng.integers(0, columns, 2)
        agreement[:, a] = [agreement[:, b], True, agreement[:, a] & agreement[:, b]][
            rng.integers(3)
        ]
    unit = int(rng.choice([1, 3, 1000]))
    costs = unit * rng.integers(0, int(rng.choice([2, 6])), (2, m))
    order = rng.permutation(columns)
    cut = rng.integers(0, 3, 2)
    return WeightedMonomial(
        agreement,
        costs[0],
        costs[1],
        k=int(rng.integers(0, columns + 1)),
        required=tuple(sorted(order[: cut[0]].tolist())),
        forbidden=tuple(sorted(order[::-1][: cut[1]].tolist())),
        groups=[None, rng.integers(0, columns, columns)][rng.integers(2)],
    )


def value(form: WeightedMonomial, chosen) -> int:
    on = form.covered(chosen)
    return int(form.cost_covered[on].sum() + form.cost_uncovered[~on].sum())


def allowed(form: WeightedMonomial, chosen) -> bool:
    if len(chosen) > form.k or not set(form.required) <= set(chosen):
        return False
    if set(form.forbidden) & set(chosen):
        return False
    return form.groups is None or len({int(form.groups[j]) for j in chosen}) == len(chosen)


def best_of(form: WeightedMonomial):
    """Return the value and the smallest, lexicographically first best set, or None."""
    return min(
        (
            (value(form, chosen), size, chosen)
            for size in range(form.k + 1)
            for chosen in combinations(range(form.shape[1]), size)
            if allowed(form, chosen)
        ),
        default=None,
    )


@pytest.mark.parametrize("seed", range(300))
def test_presolve_keeps_values_and_the_first_best_set(seed):
    form = random_form(seed)
    reduced, best = reduce(form), best_of(form)
    assert (reduced is None) == (best is None)
    if reduced is None:
        return
    bad, weights = reduced.bad, reduced.weights
    assert (weights > 0).all()
    for size in range(reduced.k + 1):
        for columns in combinations(range(reduced.features.size), size):
            if len(set(reduced.groups[list(columns)].tolist())) < size:
                continue
            on = reduced.agreement[:, list(columns)].all(axis=1)
            cost = weights[:bad][on[:bad]].sum() + weights[bad:][~on[bad:]].sum()
            chosen = reduced.original(list(columns))
            assert allowed(form, chosen)
            assert reduced.value(cost) == value(form, chosen)
    assert set(best[2]) <= {*reduced.fixed, *reduced.features.tolist()}


def test_presolve_shrinks():
    rows = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [0, 1, 1, 1], [0, 1, 1, 1]], dtype=bool)
    form = WeightedMonomial(rows, np.array([4, 0, 4, 4]), np.array([0, 2, 0, 0]), k=3)
    reduced = reduce(form)
    # Columns 1 and 2 only exclude a good row; rows 2 and 3 are one; weights are halved.
    assert reduced.features.tolist() == [0, 3]
    assert sorted(reduced.weights.tolist()) == [1, 2, 4]
    assert reduced.scale == 2


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_merged_rows_weigh_the_same(seed):
    rng = np.random.default_rng(seed)
    rows = rng.random((int(rng.integers(0, 60)), int(rng.integers(1, 130)))) < 0.5
    if len(rows):
        rows = rows[rng.integers(0, max(1, len(rows) // 3), len(rows))]
    net = rng.integers(-3, 4, len(rows))
    kept, sums = merge_rows(rows, net)
    expected: dict[bytes, int] = {}
    for row, weight in zip(rows, net.tolist()):
        expected[row.tobytes()] = expected.get(row.tobytes(), 0) + weight
    merged = {rows[i].tobytes(): int(w) for i, w in zip(kept, sums)}
    assert len(merged) == len(kept)
    assert merged == {row: weight for row, weight in expected.items() if weight}


# ---------------------------------------------------- search, heuristics


@pytest.mark.parametrize("width", [1, 2, 16])
@pytest.mark.parametrize("seed", range(30))
def test_heuristics_return_allowed_sets(seed, width):
    form = random_form(seed)
    found, best = heuristics.beam(form, width), best_of(form)
    assert (found is None) == (best is None)
    if found is not None:
        assert allowed(form, found)
        assert value(form, found) >= best[0]
        assert value(form, found) <= value(form, form.required)
    if width == 1:
        assert found == heuristics.greedy(form)


def test_a_wide_beam_is_exhaustive_on_a_tiny_problem():
    for seed in range(20):
        problem = random_problem(seed, max_features=5, kinds=KINDS[:2], limited=False)
        form = problem.search_form()
        found, best = heuristics.beam(form, 1000), best_of(form)
        if best is not None:
            assert value(form, found) == best[0]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("seed", range(60))
def test_first_optimal_agrees_with_brute_force(seed, threads):
    form = random_form(1000 + seed, columns=9)
    reduced, best = reduce(form), best_of(form)
    if reduced is None or reduced.k == 0:
        return
    cost, rest = divmod(best[0] - reduced.base, reduced.scale)
    assert rest == 0
    most = len(best[2]) - len(reduced.fixed)
    columns = first_optimal(
        reduced.agreement,
        reduced.weights,
        reduced.bad,
        reduced.groups,
        cost,
        most,
        threads,
        lambda nodes: False,
    )
    assert reduced.original(columns) == best[2]


@pytest.mark.parametrize("slack", [0, 1, 5, 10**6])
@pytest.mark.parametrize("seed", range(25))
def test_explore_from_any_limit(seed, slack):
    form = random_form(2000 + seed, columns=9)
    reduced, best = reduce(form), best_of(form)
    if reduced is None or reduced.k == 0:
        return
    root = Root.of(reduced.agreement, reduced.weights, reduced.bad, reduced.groups, reduced.k)
    cost = (best[0] - reduced.base) // reduced.scale
    found = explore(root, cost + slack, 2, lambda workers: False)
    if cost == root.covered_bad:
        assert found.columns is None or found.cost >= cost
        return
    assert found.cost == found.bound == cost
    assert not found.first or reduced.original(found.columns) == best[2]


def test_a_new_file_forgets_what_was_compiled_before(tmp_path):
    index = tmp_path / "old.nbi"
    index.write_bytes(b"")
    import os

    os.utime(index, (0, 0))
    jit._forget_stale(str(tmp_path))
    assert not index.exists()
