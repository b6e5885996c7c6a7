"""Kernels on floats, against the same steps in NumPy: what they find is never taken for granted,
so that a wrong step would be seen by its time only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from cpx.models.kernel_rule.search import clause_weights
from cpx.models.kernel_rule.search.rows import Cover
from cpx.models.rule_set.search import dual_ascent
from cpx.models.rule_set.search.dual_ascent import MULTIPLE, Ascent, Costs, Terms
from tests.seeds import each


def singles(array: Any) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=np.float32)


def drawn(seed: int) -> tuple[Terms, Ascent]:
    """Return rules of three blocks of good rows in two ranges, with even shares."""
    rng = np.random.default_rng(seed)
    K, R, B, W = 3, 6, 5, 2 * MULTIPLE
    covers = rng.random((K, R, W)) < 0.5
    rule, bad = np.nonzero(rng.random((R, B)) < 0.8)
    terms = Terms(
        singles(covers),
        np.searchsorted(rule, np.arange(R + 1)),
        np.ascontiguousarray(bad),
        singles(rng.integers(1, 4, (K, W))),
        singles(rng.integers(0, 4, B)),
        singles(rng.random(R)),
    )
    shares = singles(rng.random((K, B, W)) * (rng.random((K, B, W)) < 0.8))
    return terms, dual_ascent.new_ascent(terms, shares, singles(covers * rng.random((K, R, W))), 2)


def moved(costs: Costs, totals: Any, slopes: Any, pace: float, means: Any) -> Any:
    """Return the shares after a step, scaled before it, and the sums of shares and of gains."""
    x = costs.shares * costs.scales[:, None].astype(np.float64)
    kept = (totals <= 0)[:, None] | (costs.slopes < 0)[:, None]
    g = x * (slopes - costs.slopes[:, None])
    first = 0.9 * costs.first + 0.1 * g
    second = 0.98 * costs.second + 0.02 * g**2
    s = np.clip(pace * first * means[0] / (np.sqrt(second * means[1]) + 1e-12), -1, 1)
    new = np.maximum(x * (1 + s + s**2 / 2), totals[:, None] * 1e-6)
    new = np.where(kept, x, np.where(x > 0, new, 0))
    return new, new.sum(axis=(0, 2)), (x * slopes).sum(axis=(0, 2))


@each(range(10))
def test_dual_ascent(seed: int) -> None:
    terms, state = drawn(seed)
    covers = terms.covers > 0
    of_rule = [terms.bad[terms.starts[r] : terms.starts[r + 1]] for r in range(covers.shape[1])]
    for step in range(8):
        # The scales are those of the last step, the slopes as well.
        bad, rules = (
            costs.shares * costs.scales[:, None].astype(np.float64)
            for costs in (state.of_bad, state.of_rules)
        )
        heat, pace = 0.5, 0.3
        asked = rules + np.stack([bad[:, rows].sum(axis=1) for rows in of_rule], axis=1)
        asked = np.where(covers, asked, np.inf)
        least = np.minimum(terms.good, asked.min(axis=1))
        parts = np.maximum(0, 1 - (asked - least[:, None]) / (16 * heat)) ** 32
        total = parts.sum(axis=1) + np.maximum(0, 1 - (terms.good - least) / (16 * heat)) ** 32
        parts /= total[:, None]
        of_bad = np.zeros_like(bad)
        for r, rows in enumerate(of_rule):
            of_bad[:, rows] += parts[:, r : r + 1]
        dual_ascent.begin_step(state, heat, pace, step)
        means = state.figures[3:]
        assert_allclose(means, [1 / (1 - 0.9 ** (step + 1)), 1 / (1 - 0.98 ** (step + 1))], 1e-4)
        wanted = [
            moved(costs, totals, slopes, pace, means)
            for costs, totals, slopes in (
                (state.of_bad, terms.costs, of_bad),
                (state.of_rules, terms.prices, parts),
            )
        ]
        for t in range(2):
            dual_ascent.climb(terms, state, t)
        dual_ascent.settle(terms, state)
        for costs, totals, (shares, sums, gains) in zip(
            (state.of_bad, state.of_rules), (terms.costs, terms.prices), wanted, strict=True
        ):
            there = totals > 0
            assert_allclose(costs.shares, shares, 1e-3, 1e-6)
            assert_allclose(costs.scales[there], totals[there] / sums[there], 1e-4)
            assert_allclose(costs.slopes[there], gains[there] / totals[there], 1e-4, 1e-6)
            assert not costs.scales[~there].any()


def test_lines_are_passed_on_and_taken() -> None:
    terms, state = drawn(0)
    lines, shares = state.of_rules.shares, np.zeros_like(state.of_bad.shares)
    dual_ascent.pass_on(terms, lines, shares)
    for j in range(terms.costs.size):
        rules = [r for r in range(6) if j in terms.bad[terms.starts[r] : terms.starts[r + 1]]]
        assert_allclose(shares[:, j], lines[:, rules].sum(axis=1), 1e-6)
    columns = np.random.default_rng(0).permutation(3 * shares.shape[2])[:70]
    blocks, places = np.divmod(columns, shares.shape[2])
    taken = np.zeros((2, 3, 40), dtype=np.float32)
    dual_ascent.take(shares, np.array([4, 0, 2]), blocks, places, taken)
    for at, line in enumerate((4, 0, 2)):
        found = taken[:, at].ravel()
        assert_array_equal(found[:70], shares[blocks, line, places])
        assert not found[70:].any()


@each(range(10))
def test_weights_of_clauses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    c, p, q = 9, 11, 14
    inside, outside = rng.random((c, p)) < 0.5, rng.random((c, q)) < 0.3
    cover, among = Cover.of(inside, outside), rng.permutation(c)[:7]
    rest, shares = rng.integers(0, 20, p), rng.integers(0, 9, (p, q))
    left = np.maximum(0, rest - outside @ shares.T)  # of each clause and positive row
    values, gaining = np.full(c, -1), np.zeros(inside.sum(), dtype=np.bool_)
    clause_weights.weigh_exactly(cover, among, rest, shares, values, gaining)
    assert_array_equal(values[among], (inside * left).sum(axis=1)[among])
    assert (np.delete(values, among) == -1).all()
    clause, row = np.nonzero(inside)
    mine = np.isin(clause, among)
    assert_array_equal(gaining[mine], (left[clause, row] > 0)[mine])
    floats, told = np.full(c, -1.0), np.zeros_like(gaining)
    clause_weights.weigh(cover, among, rest.astype(float), singles(shares), floats, told)
    assert_array_equal(floats, values)
    assert_array_equal(told, gaining)
    parts, used, paid = rng.random(7), np.zeros(p), np.zeros((p, q), dtype=np.float32)
    clause_weights.spread(cover, gaining, among, parts, used, paid)
    gained = (inside & (left > 0))[among] * parts[:, None]
    assert_allclose(used, gained.sum(axis=0))
    assert_allclose(paid, gained.T @ outside[among], 1e-5)


@each(range(10))
def test_multipliers_of_clauses_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = 7, 37
    costs = singles(rng.integers(1, 5, q))
    shares = rng.random((p, q))
    shares, paid = singles(shares / shares.sum(axis=0) * costs), singles(rng.random((p, q)))
    first, second = np.zeros_like(shares), np.zeros_like(shares)
    hits, room = np.empty_like(costs), np.empty_like(costs)
    a = b = np.zeros((p, q))
    at, slope = rng.random(p), rng.random(p)
    mean, square = np.zeros(p), np.zeros(p)
    u = v = np.zeros(p)
    for _ in range(3):
        before, place = shares.astype(np.float64), at.copy()
        rule = [0.1, 1.5, 0.9, 0.1, 0.99, 0.01, 1e-7, 1, 1 / 16, 1e-20]
        clause_weights.shift(shares, costs, paid, hits, room, first, second, singles(rule))
        assert_allclose(hits, (before * paid).sum(axis=0) / costs, 1e-5)
        g = before * (hits - paid)
        a, b = 0.9 * a + 0.1 * g, 0.99 * b + 0.01 * g**2
        grown = before * (1 - 0.1 * a / (1.5 * np.sqrt(b) + 1e-7) / 16) ** 16
        assert_allclose(shares, grown / grown.sum(axis=0) * costs, 1e-4)
        clause_weights.descend(at, slope, mean, square, np.array([0.1, 1.5]))
        u, v = 0.9 * u + 0.1 * slope, 0.99 * v + 0.01 * slope**2
        assert_allclose(at, place - 0.1 * u / (1.5 * np.sqrt(v) + 1e-7))
