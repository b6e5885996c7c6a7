"""Rules learned by column generation against enumeration of all of them."""

import itertools
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from cpx import Samples
from cpx.errors import InvalidInstance, InvalidOption
from cpx.models import RuleSetLearning
from cpx.models.rule_set.methods.column_generation import beams, generate, learn_rules, learner
from cpx.models.rule_set.methods.column_generation.bounds import (
    PricingBound,
    hamming_bound,
    within_gap,
)
from cpx.models.rule_set.methods.column_generation.descent import Descent
from cpx.models.rule_set.methods.column_generation.exchange import descend, exchanged, zero_one
from cpx.models.rule_set.methods.column_generation.generate import Generation
from cpx.models.rule_set.methods.column_generation.master import Master
from cpx.models.rule_set.methods.column_generation.pricing import (
    beam_pricing,
    exact_pricing,
)
from cpx.models.rule_set.methods.column_generation.table import Table
from tests.processor_time import processor_seconds
from tests.seeds import each


def drawn(seed: int, m: int = 24, d: int = 6) -> Samples:
    """Return samples whose class follows two rules, with noise, and weights."""
    rng = np.random.default_rng(seed)
    bits = rng.random((m, d)) < 0.6
    same = bits[:, :2].all(axis=1) | bits[:, 3:5].all(axis=1)
    same ^= rng.random(m) < 0.1
    same[:2] = True, False
    return Samples(bits, same, rng.integers(1, 4, m)).merged()


def table_of(samples: Samples) -> Table:
    return Table(samples.agreement, samples.same, samples.weights)


def monomials(d: int, k: int) -> list[tuple[int, ...]]:
    return [c for size in range(k + 1) for c in itertools.combinations(range(d), size)]


def losses(table: Table, rules: list[tuple[int, ...]]) -> tuple[int, int]:
    """Return the zero-one and the Hamming loss, sample by sample."""
    zero_one = hamming = 0
    for bits, same, weight in zip(table.literals, table.same, table.weights, strict=True):
        hits = sum(all(bits[j] for j in rule) for rule in rules)
        zero_one += int(weight) * ((hits > 0) != same)
        hamming += int(weight) * (hits == 0 if same else hits)
    return zero_one, hamming


def least(table: Table, k: int, price: Fraction, most: int = 3) -> tuple[Fraction, Fraction]:
    """Return the least zero-one and Hamming objective of at most so many rules."""
    every = monomials(table.literals.shape[1], k)
    sets = [list(c) for size in range(most + 1) for c in itertools.combinations(every, size)]
    found = [(*losses(table, rules), price * len(rules)) for rules in sets]
    return min(a + paid for a, _, paid in found), min(b + paid for _, b, paid in found)


@pytest.mark.parametrize("seed", range(8))
def test_any_prices_give_a_bound(seed: int) -> None:
    table, rng = table_of(drawn(seed, m=14, d=4)), np.random.default_rng(seed)
    price, k = Fraction(int(table.weights.sum()), 8), 2
    alone = Fraction(int(table.weights[table.own].sum()))
    optima = [least(table, k, price, most)[1] for most in range(4)]
    known: list[PricingBound] = []
    for share in (0.2, 0.6, 1.0, 0.4):
        prices = np.floor(rng.random(len(table.own)) * share * table.weights[table.own] * 4) / 4
        weights = table.signed_weights(prices)
        heaviest = max(Fraction(weights[table.covered(rule)].sum()) for rule in monomials(4, k))
        priced = PricingBound(Fraction(prices.sum()), heaviest)
        before = hamming_bound(known, price, alone, 3)
        known.append(priced)
        for most, optimum in enumerate(optima):
            bound = hamming_bound(known, price, alone, most)
            assert hamming_bound([priced], price, alone, most) <= bound <= optimum
        assert before <= hamming_bound(known, price, alone, 3)
    # Better than the best mean of two of these prices, scaled.
    for one, other in itertools.combinations(known, 2):
        for share in (Fraction(0), Fraction(1, 3), Fraction(1)):
            total = share * one.total + (1 - share) * other.total
            worth = share * one.largest + (1 - share) * other.largest
            scale = min(Fraction(1), price / worth)
            assert hamming_bound(known, price, alone, 99) >= min(alone, scale * total)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_the_least_over_all_numbers_of_rules(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = [
        PricingBound(*(Fraction(int(x), 4) for x in rng.integers(0, 300, 2))) for _ in range(5)
    ]
    price, most = Fraction(int(rng.integers(0, 100)), 4), int(rng.integers(1, 20))
    by_number = [
        max(s * price, *(each.total + s * (price - each.largest) for each in known))
        for s in range(1, most + 1)
    ]
    assert hamming_bound(known, price, Fraction(50), most) == min(50, *by_number)
    assert hamming_bound(known, price, Fraction(50), 0) == 50


@pytest.mark.parametrize("parts", [2, 4, 2**16])
def test_exact_pricing_at_rounded_prices(parts: int) -> None:
    table, rng = table_of(drawn(3)), np.random.default_rng(parts)
    own = table.weights[table.own]
    prices = rng.choice([0.0, 0.5, 0.9, 1.0 - 1e-9], len(own)) * own
    rule, priced, _ = exact_pricing(
        table, prices, parts, 2, threads=1, seconds=60, stop=lambda: False
    )
    rounded = np.array(
        [
            Fraction(int(parts * p / w + 1e-6), parts) * int(w)
            for p, w in zip(prices, own, strict=True)
        ]
    )
    assert (rounded <= own).all()
    assert priced.total == rounded.sum()

    def worth(features: tuple[int, ...]) -> Fraction:
        covered = table.covered(features)
        return rounded[covered[table.own]].sum() - table.paid(covered)

    assert worth(rule) == priced.largest == max(map(worth, monomials(6, 2)))


@pytest.mark.parametrize("seed", range(6))
def test_rules_within_the_gap_are_those_of_better_sets(seed: int) -> None:
    table, rng, k, most = table_of(drawn(seed, m=14, d=4)), np.random.default_rng(seed), 2, 2
    price = Fraction(int(table.weights.sum()), 10)
    prices = 0.5 * rng.random(len(table.own)) * table.weights[table.own]
    every = monomials(4, k)
    sets = [list(c) for size in range(most + 1) for c in itertools.combinations(every, size)]
    values = [losses(table, rules)[1] + price * len(rules) for rules in sets]
    best = sorted(values)[len(values) // 30]
    found = within_gap(table, prices, k, price, best, most, seconds=60, stop=lambda: False)
    assert found is not None
    listed = {table.covered(rule).tobytes() for rule in found}
    for rules, value in zip(sets, values, strict=True):
        if value < best:
            assert {table.covered(rule).tobytes() for rule in rules} <= listed
    none = within_gap(table, prices, k, price, Fraction(0), most, seconds=60, stop=lambda: True)
    assert none is None or set(none) <= set(found)


@pytest.mark.parametrize("seed", range(4))
def test_closed_means_the_programme_over_all_rules_is_solved(seed: int) -> None:
    table, k = table_of(drawn(seed)), 2
    price = Fraction(int(table.weights.sum()), 20)
    generation = Generation(table, k, price, lambda: len(table.own), seed=0)
    generation.by_beams(60)
    generation.by_search(60)
    assert generation.closed
    every = monomials(6, k)
    covers = np.array([table.covered(rule) for rule in every])
    n, own = len(table.own), table.own
    costs = [float(price) + table.paid(cover) for cover in covers]
    whole = linprog(
        [*table.weights[own], *costs],
        A_ub=-np.hstack([np.eye(n), covers[:, own].T.astype(float)]),
        b_ub=-np.ones(n),
    )
    assert generation.rounds[-1].value == pytest.approx(whole.fun, rel=1e-6)
    assert generation.bound is not None
    assert float(generation.bound) == pytest.approx(whole.fun, rel=1e-3)
    assert float(generation.bound) <= whole.fun + 1e-9
    bounds = [round.bound for round in generation.rounds if round.bound is not None]
    assert bounds == sorted(bounds)
    values = [round.value for round in generation.rounds]
    assert values == sorted(values, reverse=True)


@each(range(20))
def test_samples_that_the_same_rules_cover_are_one_column(seed: int) -> None:
    """The programme has the value and a solution of the one with a column for each sample."""
    rng = np.random.default_rng(seed)
    n, demands = int(rng.integers(0, 9)), int(rng.integers(0, 3))
    weights = rng.integers(0, 5, n)
    master, met, costs, times = Master(weights, demands, seed), list[Any](), list[float](), 1.0
    for turn in range(6):
        met.append(rng.random(n + demands) < rng.choice([0.3, 0.8]))
        if not turn:
            met[0][n:] = True  # else the price of a demand has no limit
        costs.append(float(rng.integers(0, 9)))
        master.add(costs[-1], met[-1])
        if turn == 3:
            times = 2.0
            master.limit(times)
        most = np.append(times * weights, np.full(demands, np.inf))
        found = master.solve(60)
        assert found is not None
        if not len(most):
            assert found.value == 0
            continue
        bounds = np.stack([np.zeros(len(most)), most], axis=1)
        whole = linprog(-np.ones(len(most)), A_ub=np.array(met), b_ub=costs, bounds=bounds)
        assert found.value == pytest.approx(-whole.fun, abs=1e-6)
        assert found.prices.sum() == pytest.approx(found.value, abs=1e-6)
        assert (found.prices >= -1e-9).all()
        assert (found.prices <= most + 1e-9).all()
        assert (np.array(met) @ found.prices <= np.array(costs) + 1e-6).all()
        # A dual solution: the rules that are taken, and the samples that they leave uncovered.
        left = np.maximum(1 - found.shares @ np.array(met), 0)
        assert left[n:].max(initial=0) < 1e-6
        paid = found.shares @ np.array(costs) + left[:n] @ most[:n]
        assert paid == pytest.approx(found.value, abs=1e-5)


@each(range(12))
def test_little_work_proves_less_and_nothing_false(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = drawn(seed, m=18, d=5)
    table, price = table_of(samples), Fraction(samples.total, int(rng.choice([6, 10, 40])))
    known: list[tuple[int, ...]] = []
    if seed % 3 == 0:
        table, known = table.demanding([(0,), (1, 2)], [4]), [(0,), (1,)]
    most = 3
    generation = Generation(
        table, 2, price, lambda: most, seed, known=known, most_work=(0, 1, 30, 10**6)[seed // 3]
    )
    generation.by_beams(60)
    generation.by_search(60)
    generation.by_search(60)
    assert generation.ended
    assert generation.bound is not None
    allowed = [rule for rule in monomials(5, 2) if 4 not in rule or not table.demands]
    sets = [list(c) for size in range(most + 1) for c in itertools.combinations(allowed, size)]
    values = [
        losses(table, rules)[1] + price * len(rules)
        for rules in sets
        if all(
            any(table.meets(table.covered(rule))[at] for rule in rules)
            for at in range(len(table.own), table.priced)
        )
    ]
    assert generation.bound <= min(values)
    if generation.closed:
        assert generation.rounds[-1].value <= float(min(values)) + 1e-6


@pytest.mark.parametrize("prove", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_learned_rules_against_enumeration(seed: int, prove: bool) -> None:
    samples = drawn(seed, m=18, d=5)
    table, price = table_of(samples), Fraction(samples.total, 10)
    zero_one, hamming = least(table, 2, price)
    learned = learn_rules(samples, 2, "0.1", time_limit=None, prove=prove)
    assert learned.finished
    assert all(len(rule) <= 2 for rule in learned.rules)
    first = losses(table, list(learned.rules))[0] + price * len(learned.rules)
    assert learned.objective == first
    second = losses(table, list(learned.hamming_rules))[1] + price * len(learned.hamming_rules)
    assert learned.hamming == second
    assert learned.hamming <= losses(table, list(learned.rules))[1] + price * len(learned.rules)
    assert learned.hamming_bound <= hamming <= learned.hamming
    assert learned.closed
    # Found at this size, though nothing promises it.
    assert learned.objective == zero_one


def test_many_samples_are_looked_at_in_part_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner, "_SMALL", 12)
    samples = drawn(1)
    assert samples.m > 12
    table, price = table_of(samples), Fraction(samples.total, 10)
    learned = learn_rules(samples, 2, "0.1", time_limit=None)
    assert learned.objective == least(table, 2, price)[0]


def test_equal_seeds_give_equal_rules() -> None:
    samples = drawn(2, m=60, d=8)
    runs = [learn_rules(samples, 3, "0.02", time_limit=None, seed=5) for _ in range(2)]
    assert runs[0].rules == runs[1].rules
    assert runs[0].hamming_bound == runs[1].hamming_bound


def to_the_end(*about: Any, **options: Any) -> Any:
    return exact_pricing(*about, **{**options, "max_work": None})


@pytest.mark.parametrize("seed", range(1, 4))
def test_without_a_proof_the_rules_do_not_depend_on_time(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However late it is heard that there were enough nodes."""
    samples = drawn(seed, m=300, d=30)
    monkeypatch.setattr(learner, "_WORK", 10 ** (2 + seed))
    found = []
    for price in (exact_pricing, to_the_end):
        monkeypatch.setattr(generate, "exact_pricing", price)
        learned = learn_rules(samples, 3, "0.005", time_limit=None, prove=False)
        assert learned.finished
        assert learned.hamming_bound <= learned.hamming
        found.append((learned.rules, learned.rounds[-1].rules, learned.hamming))
    assert found[0] == found[1]


def test_classes_weigh_what_they_are_given() -> None:
    samples = drawn(3, m=18, d=5)
    weights = samples.weights * np.where(samples.same, 5, 1)
    table = Table(samples.agreement, samples.same, weights)
    price = Fraction(int(weights.sum()), 10)
    learned = learn_rules(samples, 2, "0.1", class_weights=(1, 5), time_limit=None)
    assert learned.objective == least(table, 2, price)[0]


@pytest.mark.parametrize(("seeds", "k"), [(1, 2), (3, 3)])
def test_beams_find_the_worthiest_rules_of_their_seeds(seeds: int, k: int) -> None:
    table = table_of(drawn(4))
    weights = table.signed_weights(table.weights[table.own].astype(float))
    starts = table.own[:seeds]
    found = beam_pricing(table, weights, starts, k, 40)
    values = [weights[table.covered(rule)].sum() for rule in found]
    assert values == sorted(values, reverse=True)
    own = [
        rule
        for rule in monomials(6, k)
        if rule and table.literals[np.ix_(starts, rule)].all(axis=1).any()
    ]
    assert values[0] == max(weights[table.covered(rule)].sum() for rule in own)


def test_beams_ask_between_sets_and_keep_what_was_found_when_they_are_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of(drawn(4, m=200))
    weights = table.signed_weights(table.weights[table.own].astype(float))
    asked, most = list[bool](), 10**9

    def stop() -> bool:
        asked.append(True)
        return len(asked) > most

    whole = beam_pricing(table, weights, table.own[:3], 3, 4, stop)
    assert len(asked) == 1
    monkeypatch.setattr(beams, "_BUDGET", 1)
    asked.clear()
    assert beam_pricing(table, weights, table.own[:3], 3, 4, stop) == whole
    longest = len(asked)
    assert longest > 10
    for last, sizes in ((0, set()), (2, {1}), (longest - 1, {1, 2})):
        most = last
        asked.clear()
        found = beam_pricing(table, weights, table.own[:3], 3, 4, stop)
        assert {*map(len, found)} == sizes
        assert {*found} == {rule for rule in whole if len(rule) in sizes}


@each(range(20))
def test_beams_take_the_best_extensions_of_each_seed(seed: int) -> None:
    """By the definition: limits of columns, opposites and other literals; floats and integers."""
    rng = np.random.default_rng(seed)
    m, k, width = int(rng.integers(1, 150)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    values = rng.integers(0, 5, (m, 3))
    below = [values[:, c] <= limit for c in range(2) for limit in range(4)]
    literals = np.array([*below, *(~one for one in below), *(values[:, 2] == v for v in range(5))])
    table = Table(
        literals[rng.permutation(len(literals))].T.copy(), values[:, 0] > 2, values[:, 1]
    )
    weights = rng.integers(-4, 5, m) * rng.choice([1.0, 0.5])
    seeds = rng.choice(m, min(m, 4), replace=False)
    expected: dict[tuple[int, ...], float] = {}
    beam_sets: list[list[tuple[int, ...]]] = [[()] for _ in seeds]
    for _ in range(k):
        for b, at in enumerate(seeds):
            best: dict[float, tuple[int, ...]] = {}
            for rule in beam_sets[b]:
                for j in np.flatnonzero(table.literals[at]).tolist():
                    if j not in rule:
                        grown = tuple(sorted((*rule, j)))
                        best.setdefault(float(weights[table.covered(grown)].sum()), grown)
            kept = sorted(best, reverse=True)[:width]
            beam_sets[b] = [best[value] for value in kept]
            expected |= {best[value]: value for value in kept}
    ranked = sorted(expected, key=lambda rule: (-expected[rule], rule))
    assert beam_pricing(table, weights, seeds, k, width) == ranked


@each(range(12))
def test_each_step_of_a_descent_takes_the_best_rule_of_all_beams(seed: int) -> None:
    """The steps once more, where each free sample of the class has a beam: nothing is drawn."""
    rng = np.random.default_rng(seed)
    samples = drawn(seed, m=int(rng.integers(10, 150)), d=int(rng.integers(3, 30)))
    table = table_of(samples).weighed(samples.weights * rng.integers(1, 9, samples.m))
    k, price = int(rng.integers(1, 4)), Fraction(int(rng.integers(0, 40)), 3)
    every = [rule for rule in monomials(3, 3) if rule]
    start = [every[i] for i in rng.choice(len(every), int(rng.integers(0, 4)), replace=False)]
    settled = bool(rng.random() < 0.5)
    full = table.signed_weights(table.weights[table.own].astype(float))
    rules, place, failed = list(start), len(start), len(start) * settled
    while failed <= len(rules):
        others = [table.covered(rule) for i, rule in enumerate(rules) if i != place]
        weights = full * ~np.logical_or.reduce([np.zeros(samples.m, dtype=bool), *others])
        old = 0.0
        if place < len(rules):
            old = weights[table.covered(rules[place])].sum() - float(price)
        found = beam_pricing(table, weights, np.flatnonzero(weights > 0), k, 3)
        failed += 1
        if old < 0:
            del rules[place]
            failed = 0
        elif found and weights[table.covered(found[0])].sum() - float(price) > old:
            rules[place : place + 1] = found[:1]
            failed = 1
        place = place - 1 if place else len(rules)
    descent = Descent(table, k, samples.m)
    for _ in range(2):
        assert descent.run(start, price, rng, lambda: False, settled=settled) == rules


def test_no_seeds_no_beams() -> None:
    table = table_of(drawn(4))
    assert beam_pricing(table, np.zeros(len(table.same)), table.own[:0], 2, 3) == []


def test_a_descent_draws_different_samples_of_the_class_that_are_free() -> None:
    table = Table(np.ones((130, 2), dtype=bool), np.arange(130) % 3 > 0, np.ones(130, dtype=int))
    descent, rng = Descent(table, 1, 7), np.random.default_rng(0)
    places = {int(place) for place in table.beams._places[table.own]}
    seen: set[int] = set()
    for _ in range(100):
        descent.run([], Fraction(1), rng, lambda: False)
        drawn_ones = descent._search.seeds.tolist()
        assert len({*drawn_ones}) == 7
        seen |= {*drawn_ones}
    assert seen == places


def test_no_beam_goes_on_when_the_time_is_over() -> None:
    generation = Generation(table_of(drawn(4)), 2, Fraction(1), lambda: 3, 0)
    prices = generation.table.weights[generation.table.own].astype(float)
    now = time.monotonic()
    assert generation._from_beams(prices, now + 60)
    assert not generation._from_beams(prices, now)


def test_a_programme_that_took_longer_than_what_is_left_is_not_begun() -> None:
    generation = Generation(table_of(drawn(4)), 2, Fraction(1), lambda: 3, 0)
    generation._solved = 60.0
    generation.by_beams(30.0)
    assert not generation.rounds
    generation.by_beams(90.0)
    assert generation.rounds


def test_local_search_ends_where_no_step_helps() -> None:
    table = table_of(drawn(5))
    price = Fraction(int(table.weights.sum()), 10)
    start = [(5,), (0, 5)]

    def value(rules: list[tuple[int, ...]]) -> Fraction:
        return losses(table, rules)[0] + price * len(rules)

    rng = np.random.default_rng(0)
    moved = descend(table, start, 2, price, rng, lambda: False)
    assert value(moved) < value(start)
    for i in range(len(moved)):
        assert value(moved[:i] + moved[i + 1 :]) >= value(moved)
    assert value(exchanged(table, start, 2, price, rng, lambda: False)) <= value(moved)
    assert descend(table, start, 2, price, rng, lambda: True) == start
    for rules in (start, moved, []):
        assert zero_one(table, rules, price) == value(rules)


def test_local_search_does_not_begin_what_there_is_no_time_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Time is over while rules are looked for: the set stays as it is."""
    table, asked = table_of(drawn(5)), list[bool]()
    monkeypatch.setattr(beams, "_BUDGET", 1)

    def stop() -> bool:
        asked.append(len(asked) > 1)
        return asked[-1]

    price = Fraction(1, 100)
    assert descend(table, [(5,)], 3, price, np.random.default_rng(0), stop) == [(5,)]
    assert asked == [False, False, True]


def test_a_descent_makes_room_for_many_rules() -> None:
    literals = np.eye(40, dtype=bool)
    table = Table(literals, np.arange(40) < 30, np.ones(40, dtype=np.int64))
    found = descend(table, [], 1, Fraction(1, 2), np.random.default_rng(0), lambda: False)
    assert sorted(found) == [(j,) for j in range(30)]


def test_without_time_rules_are_those_of_the_search_and_nothing_is_selected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = RuleSetLearning(drawn(3), 2, "0.02")
    told: list[tuple[tuple[int, ...], ...]] = []
    over = [False]
    listener = learner.Listener(
        lambda rules: told.append(tuple(rules)), lambda bound: None, lambda: over[0]
    )
    made = learner.Learner(problem.merged(), 60.0, 1, 0, listener=listener)
    moved = [(0,), (1, 2)]

    def exchange(*_: object) -> list[tuple[int, ...]]:
        over[0] = True
        return moved

    monkeypatch.setattr(learner, "exchanged", exchange)
    made.run()
    assert told[-1] == made.best.rules == tuple(moved)
    value = problem.evaluate(problem.explanation_of(moved)).objective
    assert made.best.value * problem.scale == value
    assert not made.best.proved


def test_one_class_and_no_literals() -> None:
    every = Samples([[1, 0], [0, 1]], [1, 1])
    learned = learn_rules(every, 1, "0.1")
    assert learned.rules == ((),)
    assert learned.objective == Fraction(1, 5)
    none = learn_rules(Samples([[1, 0], [0, 1]], [0, 0]), 1, "0.1")
    assert none.rules == ()
    assert none.objective == none.hamming_bound == 0
    assert none.closed


def test_a_limit_of_time_leaves_rules_and_a_bound() -> None:
    rng = np.random.default_rng(0)
    bits = rng.random((3000, 60)) < 0.5
    samples = Samples(bits, rng.random(3000) < 0.4)
    started = processor_seconds()
    learned = learn_rules(samples, 4, "0.001", time_limit=0.5)
    assert processor_seconds() - started < 30
    assert 0 <= learned.hamming_bound <= learned.hamming
    assert learned.objective <= learned.hamming


@pytest.mark.parametrize(
    ("change", "error", "named"),
    [
        ({"k": 0}, InvalidOption, "k must be"),
        ({"k": 1.5}, InvalidOption, "k must be"),
        ({"penalty": -0.1}, InvalidInstance, "penalty"),
        ({"penalty": float("nan")}, InvalidInstance, "penalty"),
        ({"time_limit": 0}, InvalidOption, "time_limit"),
        ({"threads": 0}, InvalidOption, "threads"),
        ({"seed": -1}, InvalidOption, "seed"),
        ({"class_weights": (-1, 1)}, InvalidInstance, "class_weights"),
    ],
)
def test_wrong_arguments_are_named(
    change: dict[str, object], error: type[Exception], named: str
) -> None:
    given: dict[str, object] = {"samples": drawn(0), "k": 2, "penalty": "0.1", **change}
    with pytest.raises(error, match=named):
        learn_rules(**given)
