"""The parts of the exact search, each against brute force."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpx import KMonomial, Samples
from cpx.backends.search import bitsets
from cpx.backends.search.remaining_constraints import NOWHERE, _additive
from cpx.backends.search.side_constraints import buffers as new_buffers
from cpx.compiled.kernel import LANES
from cpx.data import packed as bits
from cpx.data.bits import packed_rows
from cpx.errors import InvalidInstance
from cpx.models.monomial.form import CoverageLimits, WeightedMonomial
from cpx.models.monomial.search import bad_columns as side_by_side
from cpx.models.monomial.search import beam as heuristics
from cpx.models.monomial.search import bounds
from cpx.models.monomial.search.driver import explore, first_optimal
from cpx.models.monomial.search.objective import ALLOWED, FAR, Objective, cost
from cpx.models.monomial.search.presolve import merge_rows, reduce
from cpx.models.monomial.search.root import Root
from cpx.models.monomial.search.stack import new_levels
from tests.backends.search_parts import search_parts
from tests.seeds import each

SEEDS = range(40)


@pytest.fixture(scope="module")
def parts():
    return search_parts()


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
    workspace = np.append(packed.ravel(), np.zeros(8, dtype=np.uint64))
    chosen = rng.integers(n)
    cover = packed[:, chosen].copy()
    sums = np.zeros((2, n + LANES), dtype=np.int64)
    low = int(rng.integers(n))
    bitsets.count(workspace, 0, stride, bad_words, words, low, n, n, planes, cover, *sums)
    both = agreement & agreement[:, [chosen]]
    weighed = both * weights[:, None]
    assert sums[0, low:n].tolist() == weighed[:bad].sum(axis=0)[low:].tolist()
    assert sums[1, low:n].tolist() == weighed[bad:].sum(axis=0)[low:].tolist()


@pytest.mark.parametrize("heaviest", [1, 9])
def test_rows_and_columns_are_packed_in_their_order(heaviest):
    rng, agreement, weights, _ = table(3, rows=5000, columns=70, heaviest=heaviest)
    rows, places = rng.permutation(5000)[:4321], rng.permutation(70)[:66]
    packed, bad_words = bits.pack(agreement, 2100, weights[rows], rows, places)
    chosen = agreement[np.ix_(rows, places)]
    assert (bits.unpacked(packed, bad_words, 2100, 4321, 66) == chosen).all()
    planes = bits.unpacked(packed, bad_words, 2100, 4321, 66 + bits.planes_of(weights))[:, 66:]
    assert (planes @ 2 ** np.arange(planes.shape[1]) == weights[rows]).all() or heaviest == 1
    assert (packed_rows(agreement, rows=rows, places=places) == packed_rows(chosen)).all()


def test_a_table_is_reduced_in_little_more_memory_than_it_has():
    rng, agreement, _, _ = table(0, rows=40_000, columns=90)
    form = KMonomial(Samples(agreement, rng.random(40_000) < 0.5), k=3).form()
    tracemalloc.start()
    reduce(form)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.3 * agreement.nbytes  # a copy of the table and its words were 3.1 times


def unpacked(words: np.ndarray) -> np.ndarray:
    """Columns of words -> rows of bits."""
    raw = np.ascontiguousarray(words.T).view(np.uint8)
    return np.unpackbits(raw, axis=1, bitorder="little").astype(bool).T


@each(range(20))
def test_compressed_columns_keep_the_covered_samples_in_order(seed):
    rng, agreement, _, bad = table(seed, rows=int(np.random.default_rng(seed).integers(1, 2000)))
    m, n = agreement.shape
    bad = min(bad, m)
    packed, bad_words = bits.pack(agreement, bad)
    words, stride = packed.shape
    cover = packed[:, 0].copy()
    columns = np.append(rng.permutation(n)[:7], np.zeros(9, dtype=np.int64))
    to = packed.size
    workspace = np.concatenate([packed.ravel(), np.full(words * 8 + 16, 7, dtype=np.uint64)])
    buffer, moves = np.zeros(32, dtype=np.uint64), np.zeros(48, dtype=np.uint64)
    padded = np.append(cover, np.zeros(8, dtype=np.uint64))
    new_bad, new_words = bitsets.compress(
        workspace, 0, stride, bad_words, words, columns, 7, padded, to, 8, buffer, moves
    )
    result = unpacked(workspace[to : to + 8 * new_words].reshape(new_words, 8)[:, :7])
    on = agreement[:, 0]
    for part, rows in (
        (agreement[:bad][on[:bad]], result[: 64 * new_bad]),
        (agreement[bad:][on[bad:]], result[64 * new_bad :]),
    ):
        assert rows.shape[0] == -(-part.shape[0] // 64) * 64
        assert (rows[: part.shape[0]] == part[:, columns[:7]]).all()
        assert not rows[part.shape[0] :].any()


@each(range(30))
def test_first_words_are_the_first_bad_samples_of_a_child(seed):
    rng = np.random.default_rng(seed)
    _, agreement, weights, bad = table(
        seed, int(rng.integers(1, 3000)), int(rng.integers(2, 40)), [1, 9][seed % 2]
    )
    n, bad = agreement.shape[1], min(bad, len(agreement))
    root = Root.of(agreement, weights, bad, np.arange(n), 3)
    order = np.arange(n)
    covered, lost = root.covered, root.lost
    levels, scratch = new_levels(
        root.take(order), root.bad_words, root.covered_bad, order, covered, lost, 0 * order, 3
    )
    i = int(rng.integers(n - 1))
    levels.position[0] = i
    spare = float(rng.choice([0, 3, 200, 2**40]))
    most = side_by_side.enough_words(levels, scratch, 0, root.planes, spare)
    assert 1 <= most <= 252
    assert most < 7 or most % 7 == 0
    base = (i + 1) & -8 if rng.random() < 0.5 else -1
    kept = rng.permutation(np.arange(i + 1, n))[: int(rng.integers(1, n - i))]
    columns = kept if base < 0 else np.arange(base, n)
    scratch.kept[: columns.size] = columns
    scratch.first[:] = 7
    filled, rows = side_by_side.first_words(
        levels, scratch, 0, columns.size, base, root.planes, most
    )
    on = agreement[:bad, i]
    expected = agreement[:bad][on][:, columns][: 64 * most]
    assert filled == len(expected)
    assert -(-filled // 64) <= rows <= most
    assert rows == 1 or (rows - 1) * 64 < filled or rows % 7 == 0
    blocks = scratch.first[: -(-columns.size // 8) * 8 * (most + 1)].reshape(-1, most + 1, 8)
    flat = blocks.transpose(1, 0, 2).reshape(most + 1, -1)[:rows, : columns.size]
    found = unpacked(flat)
    assert (found[:filled] == expected).all()
    assert not found[filled:].any()
    ones = scratch.first[-(-columns.size // 8) * 8 * (most + 1) :][: 8 * rows]
    assert (ones == 2**64 - 1).all()
    if filled and root.planes:
        lightest = side_by_side.lightest_of(levels, scratch, 0, root.planes, filled)
        assert lightest == weights[:bad][on][filled - 1]


@each(range(60))
def test_limits_leave_all_better_pairs(parts, seed):
    rng, agreement, weights, bad = table(seed, rows=60, columns=20, heaviest=4)
    n, groups = 20, np.arange(20) if seed % 3 else rng.integers(0, 9, 20)
    objective = random_objective(rng, int(weights[:bad].sum()), int(weights[bad:].sum()))
    root = Root.of(agreement, weights, bad, groups, 3, objective)
    order, zeros = np.arange(n), np.zeros(n, dtype=np.int64)
    levels, scratch = new_levels(
        root.take(order),
        root.bad_words,
        root.covered_bad,
        order,
        root.covered,
        root.lost,
        zeros,
        3,
    )
    i = levels.position[0] = int(rng.integers(n - 2))
    numbers, later = root.numbers, range(i + 1, n)

    def covered(*chosen):
        on = agreement[:, [i, *chosen]].all(axis=1)
        c, l = int(weights[:bad][on[:bad]].sum()), int(weights[bad:][~on[bad:]].sum())
        return c, price(objective, c, l)

    pairs = {(p, q): covered(p, q) for p in later for q in later if p <= q}
    limit = int(np.median([value for _, value in pairs.values()]))
    known = [groups[p] != groups[i] or not root.groups.size for p in order]
    count = parts.limit_all(levels, scratch, 0, root.params, limit)
    assert count == n - (i + 1) // 8 * 8
    of = dict(zip(scratch.kept[:count].tolist(), scratch.limits[:count].tolist(), strict=True))
    assert all(of[p] == -1 for p in of if p <= i or not known[p])
    for (p, q), (c, value) in pairs.items():
        if value < limit and known[p] and known[q]:
            assert c <= min(of[p], of[q])
    useful = [p for p in of if of[p] >= 0]
    assert parts.drop_useless(scratch, count) == len(useful)
    assert scratch.kept[: len(useful)].tolist() == useful
    assert scratch.limits[: len(useful)].tolist() == [of[p] for p in useful]

    count = parts.weigh_child(levels, scratch, 0, root.params)
    parts.limit_kept(levels, scratch, 0, count, numbers, limit)
    kept = scratch.kept[:count].tolist()
    for x, p in enumerate(kept):
        for y in range(x + 1, count):
            c, value = pairs[p, kept[y]]
            if value < limit:
                assert c <= min(scratch.mosts[x], scratch.limits[y])


@pytest.mark.parametrize("flags", ["", "-march=native", "-DONE_BY_ONE"])
@pytest.mark.parametrize("rows", [1, 2, 3, 6, 7, 14, 21])
@each(range(3), 1)
def test_scan(seed, rows, flags):
    rng = np.random.default_rng(seed)
    n, height = int(rng.integers(2, 40)), rows + int(rng.integers(2))
    blocks = -(-n // 8)
    words = rng.integers(0, 2**64, (blocks, height, 8), dtype=np.uint64)
    flat = unpacked(words.transpose(1, 0, 2).reshape(height, -1)[:rows]).astype(int)
    common = flat.T @ flat
    mosts = rng.choice(np.append(common.ravel(), -1), 8 * blocks)
    limits = np.where(np.arange(8 * blocks) < n, rng.choice(common.ravel(), 8 * blocks), -1)
    passes = common <= np.minimum(mosts[:, None], limits[None, :])
    expected = [
        (x, y, sum(int(passes[x, y + b]) << b for b in range(8)))
        for x in range(n - 1)
        for y in range((x + 1) // 8 * 8, n, 8)
        if mosts[x] >= 0
    ]
    expected = [found for found in expected if found[2]]
    x, y, met = 0, 0, []
    call = scanning(flags)
    while found := call(words.ravel(), height, rows, x, n - 1, y, mosts, limits, n):
        x, y = found >> 32, (found >> 8) & (2**24 - 1)
        met.append((x, y, found & 255))
        y += 8
    assert met == expected


@cache
def scanning(flags: str):
    return search_parts(flags.split()).scan_pairs


# ---------------------------------------------------------------- bounds


def random_objective(rng: np.random.Generator, bad: int, good: int) -> Objective:
    """Return any of the objectives of the search, limited or not."""
    ratio = Fraction(int(rng.integers(0, 9)), 9)
    alpha, beta = [(1, 1), (1, 0), (ratio.numerator, (1 - ratio).numerator), (-1, 1)][
        rng.integers(4)
    ]
    if rng.random() < 0.3:
        return Objective(1, 1, bad, good)
    least, most = np.sort(rng.integers(0, bad + good + 1, 2)).tolist()
    return Objective(
        alpha,
        beta,
        bad,
        good,
        least=least // 3 if rng.random() < 0.5 else 0,
        most=most if rng.random() < 0.3 else FAR,
        precision=Fraction(int(rng.integers(1, 21)), 20) if rng.random() < 0.5 else None,
    )


def price(objective: Objective, c: int, l: int) -> int:
    """What a set costs, by the definitions."""
    covered, agreeing = c + objective.good - l, objective.good - l
    precise = objective.precision is None or agreeing >= objective.precision * covered
    if not (objective.least <= covered <= objective.most and precise):
        return FAR
    if objective.alpha < 0:
        return objective.bad + objective.good - covered
    return objective.alpha * c + objective.beta * l


def node(seed: int):
    """Return a random node: its figures, those of its candidates, and all completions."""
    rng, agreement, weights, bad = table(seed, rows=30, columns=8, heaviest=4)
    r = int(rng.integers(1, 5))
    objective = random_objective(rng, int(weights[:bad].sum()), int(weights[bad:].sum()))

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
        chosen: price(objective, *figures([*parent, *chosen]))
        for size in range(1, r + 1)
        for chosen in combinations(candidates, size)
    }
    own = price(objective, *figures(parent))
    met = [value for value in completions.values() if value < FAR] or [0]
    limit = int(rng.integers(min(met), max(met) + 2))
    return objective, covered, after, lost, candidates, r, limit, own, completions


def kept_of(candidates):
    return np.array([*candidates, *[0] * 9], dtype=np.int64)


@pytest.mark.parametrize("seed", SEEDS)
def test_select_and_tighten_keep_what_better_completions_have(seed):
    objective, covered, after, lost, candidates, r, limit, own, completions = node(seed)
    numbers = objective.numbers()
    kept, buffers = kept_of(candidates), [np.zeros(12, dtype=np.int64) for _ in range(3)]
    n = bounds.select(numbers, covered, after, lost, kept, len(candidates), r, limit, buffers[0])
    useless = {p for p in candidates if after[p] == covered and not numbers.keep_idle}
    wanted = {c: v for c, v in completions.items() if v < limit and not useless.intersection(c)}
    assert set().union(*wanted) <= set(kept[:n].tolist())
    # What is dropped for removing nothing is in no smallest best completion.
    best = min(own, *completions.values())
    assert best == own or best in [
        v for c, v in completions.items() if not useless.intersection(c)
    ]
    n, low = bounds.tighten(numbers, covered, after, lost, kept, n, r, limit, *buffers)
    assert set().union(*wanted) <= set(kept[:n].tolist())
    assert low <= min([limit, *wanted.values()])


@pytest.mark.parametrize("seed", SEEDS)
def test_subtree_bounds_are_below_all_completions(seed):
    objective, covered, after, lost, candidates, r, _, _, completions = node(seed)
    kept = kept_of(candidates)
    n = len(candidates)
    bounds.order_by(after, kept, n)
    order = kept[:n].tolist()
    assert order == sorted(candidates, key=lambda p: after[p])
    low = np.zeros(n, dtype=np.int64)
    bounds.subtree_bounds(objective.numbers(), covered, after, lost, kept, n, r, low)
    for chosen, value in completions.items():
        first = min(order.index(p) for p in chosen)
        assert low[first] <= value


def test_pair_bounds_are_below_all_allowed_completions_of_two_or_more(parts):
    raised, asked = 0, 0
    for seed in range(150):
        rng, agreement, weights, bad = table(seed, rows=30, columns=8, heaviest=4)
        objective = random_objective(rng, int(weights[:bad].sum()), int(weights[bad:].sum()))
        if objective.alpha < 0 or objective.beta == 0:
            continue
        excluded = ~agreement[bad:]
        shared = ((excluded * weights[bad:, None]).T @ excluded).astype(np.int32)
        # Each constraint asks for one of some columns.
        changes = (rng.random((8, rng.integers(0, 3))) < 0.4).astype(np.int64)
        asking = _additive(changes, -np.ones(changes.shape[1], dtype=np.int64))
        side = NOWHERE._replace(additive=asking, there=1)
        buffers = new_buffers(side)

        def figures(chosen, agreement=agreement, weights=weights, bad=bad):
            on = agreement[:, list(chosen)].all(axis=1)
            return int(weights[:bad][on[:bad]].sum()), int(weights[bad:][~on[bad:]].sum())

        r, parent = int(rng.integers(2, 5)), rng.permutation(8)[: rng.integers(0, 3)]
        covered, before = figures(parent)
        ids = sorted(set(range(8)).difference(parent), key=lambda j: figures([*parent, j])[0])
        n, kept, ids = len(ids), np.arange(len(ids)), np.array(ids)
        removed = sorted((covered - figures([*parent, j])[0] for j in ids), reverse=True)
        most = min(covered, sum(removed[: r - 1]))
        room = np.zeros(n, dtype=np.int64)
        front = parts.ask_first(side, buffers, parent, parent.size, ids, kept, n, room)
        ids = ids[kept]
        after, lost = np.array([figures([*parent, j]) for j in ids], dtype=np.int64).T.copy()
        limit = price(objective, *figures([*parent, *ids[rng.permutation(n)[:2]]]))
        plain = np.zeros(n, dtype=np.int64)
        bounding, numbers = plain.copy(), objective.numbers()
        of = numbers, shared, asking, buffers.slacks.now, ids, covered, before, after, lost
        parts.pair_bounds(*of, n, front, most, r, limit, bounding)
        raised += int((bounding > plain).sum())
        asked += front < n
        for size in range(2, r + 1):
            for chosen in combinations(range(n), size):
                columns = [*parent, *ids[list(chosen)]]
                if (changes[columns].sum(axis=0) > 0).all():
                    assert chosen[0] < front
                    value = price(objective, *figures(columns))
                    assert min(limit, bounding[chosen[0]]) <= value
    assert raised > 100
    assert asked > 20


@pytest.mark.parametrize("r", [1, 2, 3, 7])
def test_survey(parts, r):
    removed = np.array([5, 0, 9, 9, 2, 7])
    after, lost, kept = 10 - removed, np.arange(6), np.arange(14)
    top = np.zeros(9, dtype=np.int64)
    largest = sorted(removed, reverse=True)
    assert parts.survey(10, after, lost, kept, 6, r, top) == (
        min(10, sum(largest[: r - 1])),
        min(10, sum(largest[:r])),
        0,
        9,
        5,
    )


@pytest.mark.parametrize(
    ("objective", "covered"),
    # The least cost of a step at a precision, and the sums that a monomial of greatest weight has.
    [(Objective(2**30 - 1, 2**30, 2**30, 2**30), 2**30), (Objective(1, 1, 2**60, 2**60), 2**60)],
    ids=["ratio", "sum"],
)
def test_sums_of_removals_that_do_not_fit_exclude_nothing(parts, objective, covered):
    n, r, numbers = 16, 14, objective.numbers()
    after, lost, kept = np.ones(n, dtype=np.int64), np.arange(n), kept_of(range(n))
    buffers = [np.zeros(n + 2, dtype=np.int64) for _ in range(3)]
    limit = objective.alpha + objective.beta * n
    assert parts.survey(covered, after, lost, kept, n, r, buffers[0])[:2] == (covered, covered)
    assert bounds.select(numbers, covered, after, lost, kept, n, r, limit, buffers[0]) == n
    left, low = bounds.tighten(numbers, covered, after, lost, kept, n, r, limit, *buffers)
    assert left == n
    assert low <= objective.alpha
    below = np.zeros(n, dtype=np.int64)
    bounds.subtree_bounds(numbers, covered, after, lost, kept, n, r, below)
    assert (below <= objective.alpha + objective.beta * lost).all()


@each(range(400))
def test_goals_against_their_definitions(parts, seed):
    rng = np.random.default_rng(seed)
    bad, good = (int(n) for n in rng.integers(0, 12, 2))
    objective = random_objective(rng, bad, good)
    excluded = int(rng.integers(0, good + 1))
    numbers = objective.numbers(excluded)
    everything = {
        (c, l): price(objective, c, l + excluded)
        for c in range(bad + 1)
        for l in range(good - excluded + 1)
    }
    assert max([0, *(v for v in everything.values() if v < FAR)]) <= objective.highest
    limit = int(rng.integers(0, objective.highest + 2))
    for (c, lost), value in everything.items():
        assert cost(numbers, c, lost) == value
        if value < FAR:
            assert parts.rank(numbers, c, lost) == value
        else:
            assert parts.rank(numbers, c, lost) >= ALLOWED
        c_high = int(rng.integers(c, bad + 1))
        within = [v for (a, b), v in everything.items() if c <= a <= c_high and b >= lost]
        assert parts.low(numbers, c_high, c, lost) <= min([FAR, *within])
        reachable = [a for (a, b), v in everything.items() if v < limit and b >= lost]
        assert max(-1, parts.most_bad(numbers, limit, lost)) >= max([-1, *reachable])


# -------------------------------------------------------------- presolve


def random_form(seed: int, columns: int = 7) -> WeightedMonomial:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 40))
    patterns = rng.random((int(rng.integers(1, 20)), columns)) < rng.uniform(0.3, 1)
    agreement = patterns[rng.integers(0, len(patterns), m)]
    for _ in range(
        int(rng.integers(0, 4))
    ):  # equal columns, constant ones, and such that exclude more
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


def random_limited_form(seed: int, columns: int = 7) -> WeightedMonomial:
    """Return a form with limits, and costs in proportion to the weights they count."""
    rng, form = np.random.default_rng(seed), random_form(seed, columns)
    m = form.shape[0]
    weights, same = rng.integers(1, 4, m), rng.random(m) < 0.5
    total = int(weights.sum())
    least, most = np.sort(rng.integers(0, total + 1, 2)).tolist()
    unit, kind = int(rng.choice([1, 5])), int(rng.integers(4))
    disagreeing, agreeing = np.where(same, 0, weights), np.where(same, weights, 0)
    covered, uncovered = [
        (disagreeing, agreeing),
        (disagreeing, 0 * weights),
        (0 * weights, weights),
        (3 * disagreeing, 2 * agreeing),
    ][kind]
    limits = CoverageLimits(
        weights,
        same,
        least=least // 3,
        most=most if rng.random() < 0.4 else None,
        precision=Fraction(int(rng.integers(1, 11)), 10) if rng.random() < 0.5 else None,
    )
    return replace(
        form, cost_covered=unit * covered, cost_uncovered=unit * uncovered, limits=limits
    )


def any_form(seed: int, columns: int = 7) -> WeightedMonomial:
    return (random_limited_form if seed % 2 else random_form)(seed, columns)


def value(form: WeightedMonomial, chosen) -> int:
    on = form.covered(chosen)
    return int(form.cost_covered[on].sum() + form.cost_uncovered[~on].sum())


def allowed(form: WeightedMonomial, chosen) -> bool:
    if len(chosen) > form.k or not set(form.required) <= set(chosen):
        return False
    if set(form.forbidden) & set(chosen):
        return False
    if form.groups is not None:
        return len({int(form.groups[j]) for j in chosen}) == len(chosen)
    return True


def within(form: WeightedMonomial, chosen) -> bool:
    if form.limits is None:
        return True
    on, limits = form.covered(chosen), form.limits
    return limits.allow(int(limits.weights[on].sum()), int(limits.weights[on & limits.same].sum()))


def best_of(form: WeightedMonomial):
    """Return the value and the smallest, lexicographically first best set, or None."""
    return min(
        (
            (value(form, chosen), size, chosen)
            for size in range(form.k + 1)
            for chosen in combinations(range(form.shape[1]), size)
            if allowed(form, chosen) and within(form, chosen)
        ),
        default=None,
    )


@each(range(300))
def test_presolve_keeps_values_and_the_first_best_set(seed):
    form = any_form(seed)
    reduced, best = reduce(form), best_of(form)
    assert reduced is not None or best is None
    assert reduced is None or best is not None or form.limits is not None
    if reduced is None:
        return
    bad, weights = reduced.bad, reduced.weights
    assert (weights > 0).all()
    for size in range(reduced.k + 1):
        for columns in combinations(range(reduced.features.size), size):
            if len(set(reduced.groups[list(columns)].tolist())) < size:
                continue
            on = reduced.agreement[:, list(columns)].all(axis=1)
            c, l = weights[:bad][on[:bad]].sum(), weights[bad:][~on[bad:]].sum()
            chosen = reduced.original(list(columns))
            assert allowed(form, chosen)
            priced = price(reduced.objective, int(c), int(l))
            assert (priced < FAR) == within(form, chosen)
            if priced < FAR:
                assert reduced.value(priced) == value(form, chosen)
    assert best is None or set(best[2]) <= {*reduced.fixed, *reduced.features.tolist()}


def test_presolve_shrinks():
    rows = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [0, 1, 1, 1], [0, 1, 1, 1]], dtype=bool)
    form = WeightedMonomial(rows, np.array([4, 0, 4, 4]), np.array([0, 2, 0, 0]), k=3)
    reduced = reduce(form)
    # Columns 1 and 2 are one, and so are rows 2 and 3; weights are halved.
    assert reduced.features.tolist() == [0, 1, 3]
    assert sorted(reduced.weights.tolist()) == [1, 2, 4]
    assert reduced.scale == 2


@pytest.mark.parametrize(
    ("groups", "left"),
    [
        ((0, 0, 0), [0]),
        ((0, 1, 2), [0]),
        ((0, 1, 1), [0]),
        ((0, 0, 1), [0, 2]),
        ((0, 1, 0), [0, 1]),
    ],
)
def test_of_equal_columns_one_stays_for_each_group_that_is_shared(groups, left):
    rows = np.array([[1, 1, 1], [0, 0, 0]], dtype=bool)
    form = WeightedMonomial(rows, np.array([0, 4]), np.array([3, 0]), k=2, groups=np.array(groups))
    assert reduce(form).features.tolist() == left


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_merged_rows_weigh_the_same(seed):
    rng = np.random.default_rng(seed)
    rows = rng.random((int(rng.integers(0, 60)), int(rng.integers(1, 130)))) < 0.5
    if len(rows):
        rows = rows[rng.integers(0, max(1, len(rows) // 3), len(rows))]
        # The first word of a row is often that of others, without their being equal.
        rows[:, : int(rng.choice([0, 64]))] = True
    net = rng.integers(-3, 4, len(rows))
    kept, sums = merge_rows(packed_rows(rows), net)
    expected: dict[bytes, int] = {}
    for row, weight in zip(rows, net.tolist()):
        expected[row.tobytes()] = expected.get(row.tobytes(), 0) + weight
    merged = {rows[i].tobytes(): int(w) for i, w in zip(kept, sums)}
    assert len(merged) == len(kept)
    assert merged == {row: weight for row, weight in expected.items() if weight}


# ---------------------------------------------------- search, heuristics


def beam(form: WeightedMonomial, width: int):
    reduced = reduce(form)
    if reduced is None or reduced.features.size == 0:
        return None
    return reduced.original(heuristics.beam_columns(Root.whole(reduced), width))


@pytest.mark.parametrize("width", [1, 2, 16])
@each(range(60))
def test_beams_return_sets_no_better_than_the_best(seed, width):
    form = any_form(seed)
    found, best = beam(form, width), best_of(form)
    if found is not None:
        assert allowed(form, found)
        if within(form, found):
            assert value(form, found) >= best[0]
        if within(form, form.required):
            assert value(form, found) <= value(form, form.required)


def test_a_wide_beam_is_exhaustive_on_a_tiny_problem():
    for seed in range(40):
        form = any_form(seed, columns=5)
        found, best = beam(form, 1000), best_of(form)
        if found is not None and best is not None:
            assert value(form, found) == best[0]


@pytest.mark.parametrize("threads", [1, 2, 3])
@each(range(60), 15)
def test_first_optimal_agrees_with_brute_force(seed, threads):
    form = any_form(1000 + seed, columns=9)
    reduced, best = reduce(form), best_of(form)
    if reduced is None or best is None or reduced.k == 0:
        return
    least, rest = divmod(best[0] - reduced.base, reduced.scale)
    assert rest == 0
    most = len(best[2]) - len(reduced.fixed)
    columns = first_optimal(reduced, least, most, threads, lambda nodes: False)
    assert reduced.original(columns) == best[2]


@pytest.mark.parametrize("slack", [0, 1, 5, 10**6])
@each(range(25))
def test_explore_from_any_limit(seed, slack):
    form = any_form(2000 + seed, columns=9)
    reduced, best = reduce(form), best_of(form)
    if reduced is None or best is None or reduced.k == 0:
        return
    root = Root.whole(reduced)
    least = (best[0] - reduced.base) // reduced.scale
    found = explore(root, least + slack, 2, lambda workers: False)
    assert found.finished
    if least == root.cost_of_none():
        assert found.columns is None or found.cost >= least
        return
    assert found.cost == found.bound == least
    assert not found.first or reduced.original(found.columns) == best[2]


def test_costs_must_follow_the_weights_that_limits_count():
    agreement = np.eye(3, dtype=bool)
    limits = CoverageLimits(np.array([1, 2, 3]), np.array([True, False, False]), least=1)
    none = np.zeros(3, dtype=np.int64)
    for covered in ([0, 1, 1], [0, 2, 4]):
        with pytest.raises(InvalidInstance, match="in proportion"):
            reduce(WeightedMonomial(agreement, np.array(covered), none, 2, limits=limits))
    # To cover the first one costs, or is worth nothing, or more than its weight.
    for covered in ([1, 2, 3], [0, -2, -3], [-5, -2, -3]):
        with pytest.raises(InvalidInstance, match="must not cost"):
            reduce(WeightedMonomial(agreement, np.array(covered), none, 2, limits=limits))
