"""Proofs of selected rule sets: right ones are taken, and no false claim ever is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cpx import RuleSetSelection, Samples, solve
from cpx.check.proofs import Claim, Refused, Undecided, proved
from cpx.check.proofs.document import fingerprint
from cpx.models.rule_set import proof_cheaper_sets as counting
from cpx.models.rule_set import proof_check as checker
from cpx.models.rule_set import proof_nodes as nodes
from cpx.models.rule_set import prove as prover
from cpx.models.rule_set.proof_cheaper_sets import Rows, TooMany, cheaper_sets
from cpx.models.rule_set.search.record import RecordedTree
from cpx.testing.drawing import side_constraint
from tests.check.proof_files import document
from tests.seeds import some


def drawn(rng: np.random.Generator) -> RuleSetSelection:
    """Return a small problem: both losses, prices, limits, weights, no solution."""
    d, m, n = int(rng.integers(2, 6)), int(rng.integers(1, 30)), int(rng.integers(1, 7))
    most = (1, 5, 2**20)[rng.integers(3)]
    samples = Samples(
        rng.random((m, d)) < 0.6, rng.random(m) < 0.5, weights=rng.integers(1, most + 1, m)
    )
    sizes = rng.integers(0, d + 1, n)
    rules = tuple(tuple(sorted(rng.choice(d, size, replace=False).tolist())) for size in sizes)
    options: dict[str, Any] = {
        "penalty": Fraction(int(rng.integers(0, 4)), int(rng.integers(20, 90))),
        "loss": ("zero-one", "hamming")[rng.integers(2)],
    }
    for name, share, high in (
        ("max_rules", 0.4, 4),
        ("max_literals", 0.3, 7),
        ("max_overlap", 0.3, 8),
    ):
        if rng.random() < share:
            options[name] = int(rng.integers(0, high))
    for name in ("required", "forbidden"):
        if rng.random() < 0.3:
            options[name] = [int(rng.integers(n))]
    if rng.random() < 0.2:
        options["class_weights"] = (2, 3)
    if rng.random() < 0.2:
        options["lengths"] = rng.integers(0, 4, n).tolist()
    return RuleSetSelection(samples, rules, **options)


@pytest.fixture(autouse=True)
def _multipliers_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The problems are so small that all their sets would be counted."""
    monkeypatch.setattr(prover, "_FEW", 0)
    monkeypatch.setattr(prover, "_MANY", 0)


def optimum(problem: RuleSetSelection) -> int | None:
    """Return the best value by trying all sets."""
    n = len(problem.rules)
    found = [
        problem.evaluate(problem.explanation(chosen))
        for size in range(n + 1)
        for chosen in itertools.combinations(range(n), size)
    ]
    return min((int(one.objective) for one in found if one.feasible), default=None)


def none(*_: Any) -> Iterator[Any]:
    """Return no shares of costs, so that all is left to the linear relaxation."""
    return iter(())


def proofs(
    n: int, seed: int, constrained: bool = False
) -> Iterator[tuple[RuleSetSelection, int | None, list[str]]]:
    """Return random problems, their optima, and the lines that prove these."""
    rng = np.random.default_rng(seed)
    for number in range(n):
        problem = drawn(rng)
        if constrained:
            texts = (side_constraint(rng, problem.n_features) for _ in range(1 + number % 3))
            problem = problem.where(*texts)
        value = optimum(problem)
        with pytest.MonkeyPatch.context() as patched:
            # Rules are few: now and then the linear relaxation has not all of them at first.
            patched.setattr(prover, "_FIRST", (1, 24)[number % 2])
            # And now and then few sets are counted, at once or where the relaxation is too weak.
            few, many = ((0, 0), (0, 10**4), (10**3, 10**4), (0, 0))[number // 2 % 4]
            patched.setattr(prover, "_FEW", few)
            patched.setattr(prover, "_MANY", many)
            if number % 3:
                patched.setattr(prover, "rounds", none)
            claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: False)
        assert claim == Claim(value)
        yield problem, value, lines


@pytest.mark.parametrize("constrained", [False, True])
def test_optima_are_proved_and_nothing_better(constrained: bool) -> None:
    split = refuted = broken = counted = 0
    for problem, value, lines in proofs(40, seed=0, constrained=constrained):
        instance = problem.to_dict()
        assert proved(instance, document(problem, lines, Claim(value))) == Claim(value)
        split += len(lines) > 1
        broken += any(line.startswith("breaks") for line in lines)
        counted += "counted" in lines
        if value is None:
            refuted += len(lines) > 1
            continue
        for wrong in (Claim(None), Claim(value + 1)):
            with pytest.raises(Refused):
                prover.prove(instance, wrong, lambda: False)
            with pytest.raises(Refused):
                proved(instance, document(problem, lines, wrong))
    assert split > 1
    assert counted > 5
    assert not constrained or (refuted > 3 and broken > 15)


def by_definition(
    good: Rows,
    bad: Rows,
    prices: list[int],
    given: int,
    limit: int,
    most: int,
    wanted: list[bool],
    fit: Callable[[list[int], list[int]], bool] = lambda *_: True,
) -> tuple[int, set[tuple[int, ...]]]:
    """Return how many sets are looked at, and those found, by the definition of the page."""
    found = set()

    def costing(rows: Rows, some: list[int]) -> int:
        return sum(int(rows.costs[i]) for i in some)

    def below(chosen: list[int], candidates: list[int], most: int) -> int:
        if not fit(chosen, candidates):
            return 0
        covered_by = [[r for r in chosen if row[r]] for row in good.covers]
        for r in chosen:
            alone = [i for i, others in enumerate(covered_by) if others == [r]]
            if costing(good, alone) <= prices[r] and not wanted[r]:
                return 0
        missed = [i for i, others in enumerate(covered_by) if not others]
        clean = [i for i, row in enumerate(bad.covers) if not row[chosen].any()]
        wrong = int(bad.costs.sum()) - costing(bad, clean)
        value = given + sum(prices[r] for r in chosen) + wrong + costing(good, missed)
        excess = value - (limit - 1)
        gain, n = dict[int, int](), dict[int, int]()
        for r in candidates:
            gain[r] = costing(good, [i for i in missed if good.covers[i, r]]) - prices[r]
            n[r] = costing(bad, [i for i in clean if bad.covers[i, r]])
        kept = [r for r in candidates if most and (gain[r] > 0 or wanted[r])]
        found.update(tuple(sorted([*chosen, r])) for r in kept if gain[r] - n[r] >= excess)
        order = sorted(kept, key=lambda r: (n[r], r))
        best = sorted((max(0, gain[r]) for r in kept), reverse=True)
        looked = 1
        for place, r in enumerate(order):
            reach = [i for i in missed if good.covers[i, order[: place + 1]].any()]
            room = costing(good, reach) - n[r] - excess
            cheapest = min(prices[s] for s in kept)
            paying = [t for t in range(1, min(place, most - 1) + 1) if room >= (t + 1) * cheapest]
            if paying and gain[r] - n[r] + sum(best[: paying[-1]]) >= excess:
                least = excess - gain[r] + n[r] - sum(best[: paying[-1] - 1])
                others = [s for s in order[:place] if gain[s] >= least]
                looked += below([*chosen, r], others, paying[-1])
        return looked

    if given + int(good.costs.sum()) < limit:
        found.add(())
    return below([], list(range(len(prices))), most), found


def anything(sets: Any, _: Any) -> Any:
    return np.ones(len(sets), dtype=bool)


def test_the_sets_that_cost_less_are_found_and_no_others() -> None:
    rng, some_found, total, larger = np.random.default_rng(0), 0, 0, 0
    for number in range(300):
        n = int(rng.integers(1, 8))
        good, bad = (
            Rows(rng.random((m, n)) < 0.4, rng.integers(1, 9, m)) for m in rng.integers(0, 9, 2)
        )
        prices = rng.integers(0, 5, n) if number % 2 else np.full(n, rng.integers(0, 4))
        paid, most = (int(x) for x in rng.integers(0, (20, n + 1)))
        costs = {}
        for chosen in itertools.chain.from_iterable(
            itertools.combinations(range(n), size) for size in range(most + 1)
        ):
            missed = ~good.covers[:, chosen].any(axis=1)
            covered = bad.covers[:, chosen].any(axis=1)
            wrong = int(bad.costs @ covered + good.costs @ missed)
            costs[chosen] = paid + int(prices[list(chosen)].sum()) + wrong
        limit = int(rng.integers(min(costs.values()) - 1, min(costs.values()) + 12))
        cheaper = {chosen for chosen, cost in costs.items() if cost < limit}
        wanted = [np.zeros(n, dtype=bool), rng.random(n) < 0.5, np.ones(n, dtype=bool)][number % 3]
        asked = good, bad, prices, paid, limit
        options: dict[str, Any] = {"most": most, "wanted": wanted, "possible": anything}
        found = [
            tuple(sorted(o)) for sets in cheaper_sets(*asked, **options) for o in sets.tolist()
        ]
        assert len(found) == len(set(found))
        assert set(found) <= cheaper
        assert bool(found) == bool(cheaper)
        if wanted.all():
            assert set(found) == cheaper
        each = len(good.costs) + len(bad.costs) + n
        looked, expected = by_definition(
            good, bad, prices.tolist(), paid, limit, most, wanted.tolist()
        )
        assert set(found) == expected
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(counting, "_AT_ONCE", 1)
            again = list(cheaper_sets(*asked, **options, entries=each * looked))
        assert sum(map(len, again)) == len(found)
        with pytest.raises(TooMany):
            list(cheaper_sets(*asked, **options, entries=each * looked - 1))
        some_found, total, larger = some_found + bool(found), total + looked, larger + (looked > 3)
    assert 150 < some_found < 290
    assert total > 600
    assert larger > 30


def test_of_sets_that_are_impossible_no_larger_ones_are_looked_at() -> None:
    """Rules 0 and 1 cannot stand beside each other, nor can 2 without one of both."""
    rng, fewer = np.random.default_rng(1), 0
    for _ in range(60):
        good, bad = (Rows(rng.random((8, 6)) < 0.4, rng.integers(1, 9, 8)) for _ in range(2))
        asked = good, bad, np.full(6, 1), 0, int(good.costs.sum()) + 20
        looked = [0, 0]

        def allowed(sets: Any, others: Any, looked: list[int] = looked) -> Any:
            looked[1] += len(sets)
            kept = np.zeros((len(sets), 6), dtype=bool)
            np.put_along_axis(kept, sets, values=True, axis=1)
            either = (kept | others)[:, :2].any(axis=1)
            return ~kept[:, :2].all(axis=1) & (either | ~kept[:, 2])

        def all_of(sets: Any, others: Any, looked: list[int] = looked) -> Any:
            looked[0] += len(sets)
            return anything(sets, others)

        wanted, alone = np.arange(6) < 2, np.zeros((1, 6), dtype=bool)
        sets, kept = (
            {
                tuple(sorted(one.tolist()))
                for many in cheaper_sets(*asked, most=6, wanted=wanted, possible=possible)
                for one in many
            }
            for possible in (all_of, allowed)
        )
        fewer += looked[1] < looked[0]
        least = {one for one in sets if allowed(np.array([one], dtype=int), alone)[0]}
        assert least <= kept <= sets
    assert fewer > 8


def test_rules_that_no_better_set_has_are_not_looked_at() -> None:
    """A rule that costs too much, one that saves too little, and more of them than can be paid."""
    covers = np.array([[1, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1]], dtype=bool)
    good, bad = (
        Rows(covers, np.array([5, 4, 3])),
        Rows(np.zeros((0, 4), dtype=bool), np.zeros(0, int)),
    )
    every, none = np.ones(4, dtype=bool), np.zeros(4, dtype=bool)
    # One rule costs 3 and leaves 3, 4, 7 or 5; of two, all but the second and third leave nothing.
    for limit, wanted, sets, looked in (
        (6, none, 0, 1), (7, none, 5, 4), (8, none, 6, 4), (9, none, 7, 4), (13, every, 16, 8),
    ):  # fmt: skip
        asked = good, bad, np.full(4, 3), 0, limit
        options: dict[str, Any] = {"most": 4, "wanted": wanted, "possible": anything}
        found = cheaper_sets(*asked, **options, entries=7 * looked)
        assert sum(map(len, found)) == sets
        with pytest.raises(TooMany):
            list(cheaper_sets(*asked, **options, entries=7 * looked - 1))


def test_sets_that_are_too_many_or_too_costly_are_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples = Samples(np.eye(3, dtype=bool), [True, True, False], weights=[5, 5, 1])
    problem = RuleSetSelection(samples, ((0,), (1,), (2,)), Fraction(1, 11))
    value, instance = optimum(problem), problem.to_dict()
    assert value is not None
    for claim in (value, value - 1):
        file = document(problem, ["counted"], Claim(claim))
        assert proved(instance, file) == Claim(claim)
    with pytest.raises(Refused, match="a set costs less"):
        proved(instance, document(problem, ["counted"], Claim(value + 1)))
    with pytest.raises(Refused, match="too many sets"):
        proved(instance, document(problem, ["counted"], Claim(2**53)))
    with pytest.raises(Refused, match="stands alone"):
        proved(instance, document(problem, ["counted 1"], Claim(value)))
    with pytest.raises(Refused, match="stands alone"):
        proved(instance, document(problem, ["counted"], Claim(None)))
    monkeypatch.setattr(nodes, "MOST_ENTRIES", 5)
    with pytest.raises(Refused, match="too many sets"):
        proved(instance, document(problem, ["counted"], Claim(value)))


def test_sets_are_counted_where_floats_are_exact() -> None:
    """What no set costs more than, and the limit, times one more than the rules: below 2**53."""
    for weight, taken in ((2**52 - 1, True), (2**52, False)):
        instance = RuleSetSelection(Samples([[1]], [True]), ((0,),), 0).to_dict()
        table = nodes.Table(instance | {"weights": [weight]})
        node = nodes.Node(table, (), np.ones(1, dtype=bool))
        assert table.most == weight
        if taken:
            assert node.counted(0, 100)
            continue
        with pytest.raises(TooMany):
            node.counted(0, 100)


def test_the_sets_that_are_looked_at_are_those_of_the_page() -> None:
    """Also of rules with equal samples, or none, and more of them than have all sets tried."""
    rng, total, deep = np.random.default_rng(2), 0, 0
    for number in range(150):
        n = int(rng.integers(8, 13))
        good, bad = (
            Rows(rng.random((m, n)) < 0.25, rng.integers(1, 4, m)) for m in rng.integers(4, 14, 2)
        )
        prices, wanted = rng.integers(0, 4, n), rng.random(n) < (0, 0.3, 1)[number % 3]
        limit, most = int(good.costs.sum() * rng.uniform(0.4, 1)), int(rng.integers(2, n + 1))
        looked, expected = by_definition(
            good, bad, prices.tolist(), 0, limit, most, wanted.tolist()
        )
        sets = cheaper_sets(
            *(good, bad, prices, 0, limit),
            most=most,
            wanted=wanted,
            possible=anything,
            entries=looked * (len(good.costs) + len(bad.costs) + n),
        )
        assert {tuple(sorted(one)) for some in sets for one in some.tolist()} == expected
        total, deep = total + looked, deep + (looked > n)
    assert deep > 40
    assert total < 10**5


def entries_of(problem: RuleSetSelection, node: nodes.Node, kept: list[int], limit: int) -> int:
    """Return what is looked at in a node of which some rules are kept, by the page."""
    table, left, chosen = node.table, node.uncovered(), list(node.chosen)
    hamming, instance = problem.loss == "hamming", problem.to_dict()
    lengths = instance["parameters"].get("lengths") or [len(rule) for rule in problem.rules]
    covers = [[bool(table.covers[i, r]) for r in range(table.count)] for i in range(len(left))]
    good = [i for i in range(len(left)) if left[i] and table.good[i]]
    bad = [i for i in range(len(left)) if left[i] and not table.good[i] and not hamming]
    wrong = [i for i in range(len(left)) if not table.good[i]]
    prices = [
        table.price + hamming * sum(int(table.costs[i]) for i in wrong if covers[i][r])
        for r in kept
    ]
    times = {i: sum(covers[i][r] for r in chosen) for i in wrong}
    given = table.price * len(chosen) + sum(
        int(table.costs[i]) * (times[i] if hamming else min(times[i], 1)) for i in wrong
    )
    inequalities = [linear for one in instance.get("where", ()) for linear in one["means"]]
    terms = [term for linear in inequalities for term in linear["terms"]]
    wanted = [any(factor > 0 and r in any_of for factor, any_of in terms) for r in kept]

    def fit(some: list[int], candidates: list[int]) -> bool:
        now = {*chosen, *(kept[r] for r in some)}
        then = now | {kept[r] for r in candidates}
        if (
            problem.max_literals is not None
            and sum(lengths[r] for r in now) > problem.max_literals
        ):
            return False
        twice = [i for i in range(len(left)) if sum(covers[i][r] for r in now) > 1]
        overlap = sum(int(table.weights[i]) for i in twice)
        if problem.max_overlap is not None and overlap > problem.max_overlap:
            return False
        return all(
            sum(f for f, any_of in linear["terms"] if (then if f > 0 else now) & set(any_of))
            >= linear["at_least"]
            for linear in inequalities
        )

    most = len(kept)
    if problem.max_rules is not None:
        most = min(most, problem.max_rules - len(chosen))
    rows = [Rows(table.covers[np.ix_(of, kept)], table.costs[of]) for of in (good, bad)]
    looked, _ = by_definition(rows[0], rows[1], prices, given, limit, most, wanted, fit)
    free = int(node.free.sum())
    return free * len(left) + looked * (len(good) + len(bad) + len(kept))


def test_nodes_are_counted_within_the_limits_of_the_page() -> None:
    """Up to the least value that its sets have; all constraints are drawn."""
    rng, counted, many = np.random.default_rng(3), 0, 0
    while counted < 150:
        problem = drawn(rng)
        if counted % 3:
            texts = (side_constraint(rng, problem.n_features) for _ in range(counted % 3))
            problem = problem.where(*texts)
        node = nodes.root_of(nodes.Table(problem.to_dict()))
        if node is None:
            continue
        for r in np.flatnonzero(node.free)[: int(rng.integers(3))].tolist():
            node = node.part(r, chosen=bool(rng.random() < 0.7))
        free = np.flatnonzero(node.free).tolist()
        values = [
            found.objective
            for size in range(len(free) + 1)
            for some in itertools.combinations(free, size)
            if (found := problem.evaluate(problem.explanation((*node.chosen, *some)))).feasible
        ]
        # Where no set is allowed, as large as one may be asked about.
        least = int(min(values)) if values else 2 * node.table.most
        assert node.table.weights.sum() == problem.samples.weights.sum()
        kept = node._standing(node.uncovered()).tolist()
        entries = entries_of(problem, node, kept, least)
        assert node.counted(least, entries)
        with pytest.raises(TooMany):
            node.counted(least, entries - 1)
        assert not values or not node.counted(least + 1, 10**6)
        counted += 1
        many += entries > 3 * len(kept) * len(node.table.rows)
    assert many > 20


def stands_for(q: int, r: int, problem: RuleSetSelection, node: nodes.Node) -> bool:
    """Whether rule q may take the place of rule r in all sets of a node."""
    table, left = node.table, node.uncovered()
    constraints = problem.to_dict().get("where", ())
    terms = [t for c in constraints for linear in c["means"] for t in linear["terms"]]
    some = ~table.good & (left | (problem.loss == "hamming"))
    if problem.max_overlap is not None:
        some[:] = True
    if problem.max_literals is not None and table.lengths[q] > table.lengths[r]:
        return False
    one, other = table.covers[:, q], table.covers[:, r]
    if (other & ~one & left & table.good).any() or (one & ~other & some).any():
        return False
    asked = any(factor > 0 and r in any_of for factor, any_of in terms)
    return not (asked or any(factor < 0 and q in any_of for factor, any_of in terms))


def test_rules_that_others_stand_for_are_left_out_and_no_others() -> None:
    """By the definition of the page, and with a set that costs no more for each that has one."""
    rng, out = np.random.default_rng(0), [0, 0]
    for number in range(80):
        problem = drawn(rng)
        if number % 2:
            text = side_constraint(rng, problem.n_features)
            problem = problem.where(text)
        table = nodes.Table(problem.to_dict())
        root = nodes.root_of(table)
        if root is None:
            continue
        free = np.flatnonzero(root.free).tolist()
        node = root.part(free[0], chosen=True) if free and rng.random() < 0.3 else root
        free, left = np.flatnonzero(node.free).tolist(), node.uncovered()
        about = problem, node
        kept = [
            r for r in free
            if not any(
                stands_for(q, r, *about) and (q < r or not stands_for(r, q, *about))
                for q in free if q != r
            )
        ]  # fmt: skip
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(nodes, "_BLOCK", 2)
            assert node._standing(left).tolist() == kept
        out[number % 2] += len(free) - len(kept)
        values = {True: list[int](), False: list[int]()}
        for size in range(len(free) + 1):
            for chosen in itertools.combinations(free, size):
                found = problem.evaluate(problem.explanation((*node.chosen, *chosen)))
                if found.feasible:
                    values[set(chosen) <= set(kept)].append(int(found.objective))
        assert min(values[True], default=0) <= min(values[False], default=10**18)
        assert values[True] or not values[False]
    assert min(out) > 20


def test_that_there_is_no_solution_is_proved_by_the_required_rules() -> None:
    samples = Samples(np.eye(2, dtype=bool), np.array([True, False]))
    for options in ({"required": [0], "forbidden": [0]}, {"required": [0], "max_rules": 0}):
        problem = RuleSetSelection(samples, ((0,), (1,)), **options)
        assert optimum(problem) is None
        claim, lines = prover.prove(problem.to_dict(), Claim(None), lambda: False)
        assert (claim, lines) == (Claim(None), [])
        assert proved(problem.to_dict(), document(problem, lines, Claim(None))) == Claim(None)


def test_a_proof_that_is_interrupted_proves_the_bound_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    less = 0
    monkeypatch.setattr(prover, "_FEW", 0)
    for number, (problem, value, _) in enumerate(proofs(25, seed=1)):
        if value is None:
            continue
        with monkeypatch.context() as patched:
            if number % 2:
                patched.setattr(prover, "rounds", none)
            claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: True)
        assert claim is not None
        assert isinstance(claim.bound, int)
        assert claim.bound <= value
        less += claim.bound < value
        goal = Claim(value)
        assert proved(problem.to_dict(), document(problem, lines, claim, goal)) == claim
        with pytest.raises(Refused):
            proved(problem.to_dict(), document(problem, lines, Claim(claim.bound + 1), goal))
    assert less > 1


def test_nodes_in_each_other_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(node: nodes.Node, *_: Any) -> Any:
        """Return multipliers that bound little, so that all is split."""
        none = np.zeros(node.table.rows.size, dtype=np.int64), np.zeros((0, 3), dtype=np.int64)
        return nodes.Multipliers(1, 0, 0, *none), np.full(node.table.count, 0.5)

    monkeypatch.setattr(prover, "_relaxation", nothing)
    monkeypatch.setattr(prover, "rounds", none)
    # Each rule covers one of three good samples and the bad one.
    samples = Samples(np.hstack([np.eye(4, 3, dtype=bool), np.ones((4, 1), dtype=bool)]) | (
        np.arange(4)[:, None] == 3), np.arange(4) < 3)  # fmt: skip
    problem = RuleSetSelection(samples, ((0,), (1,), (2,)), max_rules=2)
    value, instance = optimum(problem), problem.to_dict()
    assert value is not None
    claim, lines = prover.prove(instance, Claim(value), lambda: False)
    assert claim == Claim(value) == proved(instance, document(problem, lines, claim))
    for module in (checker, prover):
        monkeypatch.setattr(module, "DEEPEST", 1)
    with pytest.raises(Refused, match="more than 1 nodes"):
        proved(instance, document(problem, lines, claim))
    less, shorter = prover.prove(instance, claim, lambda: False)
    assert less is not None
    assert less != claim
    assert proved(instance, document(problem, shorter, less)) == less


def _attack(rng: np.random.Generator, lines: list[str], problem: RuleSetSelection) -> list[str]:
    """Return altered lines: dropped, doubled, other rules, other numbers."""
    out = list(lines)
    for _ in range(int(rng.integers(1, 4))):
        if not out:
            return ["decided"]
        at = int(rng.integers(len(out)))
        words = out[at].split(" ")
        rule = int(rng.integers(len(problem.rules)))
        match rng.integers(5):
            case 0:
                del out[at]
            case 1:
                out.insert(at, str(rng.choice(["over", "decided", f"split {rule}"])))
            case 2:
                drawn_lines = ["over", "decided", f"split {rule}"]
                if problem.side_constraints:
                    drawn_lines += ["breaks 0", "breaks 1"]
                out[at] = str(rng.choice(drawn_lines))
            case _ if len(words) > 1:
                place = int(rng.integers(1, len(words)))
                if not words[place].isdigit():
                    digits = list(words[place]) or ["0"]
                    digits[int(rng.integers(len(digits)))] = str(rng.choice(["0", "z", "5", ""]))
                    out[at] = " ".join([*words[:place], "".join(digits), *words[place + 1 :]])
                    continue
                old = int(words[place])
                new = int(rng.choice([0, 1, old + 1, max(old - 1, 0), 2 * old, 10 * old]))
                out[at] = " ".join([*words[:place], str(new), *words[place + 1 :]])
    return out


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("n", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_altered_proof_proves_a_false_claim(n: int, constrained: bool) -> None:
    rng, refused = np.random.default_rng(n), 0
    for problem, value, lines in proofs(n, seed=n, constrained=constrained):
        instance = problem.to_dict()
        claims = [Claim(value)] if value is None else [Claim(value), Claim(value + 1), Claim(None)]
        if value is None:
            claims.append(Claim(10**6))
        for claim in claims:
            for _ in range(4):
                altered = document(problem, _attack(rng, lines, problem), claim)
                try:
                    proved(instance, altered)
                except Refused:
                    refused += 1
                else:
                    # With no solution every bound holds.
                    assert value is None or claim == Claim(value), altered
    assert refused > 2 * n - 8 * n * constrained // 10


def test_unknown_constraints_and_other_values_are_refused() -> None:
    samples = Samples(np.eye(2, dtype=bool), np.array([True, False]))
    problem = RuleSetSelection(samples, ((0,), (1,)))
    claim, lines = prover.prove(problem.to_dict(), Claim(0), lambda: False)
    whole = document(problem, lines, Claim(0))
    assert proved(problem.to_dict(), whole) == claim
    with pytest.raises(Refused, match="integer"):
        proved(problem.to_dict(), document(problem, lines, Claim(Fraction(0))))
    with pytest.raises(Refused, match="complete"):
        proved(problem.to_dict(), document(problem, [*lines, "decided"], Claim(0)))
    altered = problem.to_dict() | {"constraints": []}
    mark = fingerprint(problem.to_dict()), fingerprint(altered)
    with pytest.raises(Refused, match="constraints"):
        proved(altered, whole.replace(mark[0].encode(), mark[1].encode()))


@pytest.mark.parametrize("n", some(20, 80))
def test_any_multipliers_that_are_taken_bound_all_sets(n: int) -> None:
    """The checker takes whatever numbers there are: what it reads must hold, or be refused."""
    rng, told, refused = np.random.default_rng(0), 0, 0
    for _ in range(n):
        problem = drawn(rng)
        table, n = nodes.Table(problem.to_dict()), len(problem.rules)
        found = {
            chosen: problem.evaluate(problem.explanation(chosen))
            for size in range(n + 1)
            for chosen in itertools.combinations(range(n), size)
        }
        values = {chosen: one.objective for chosen, one in found.items() if one.feasible}
        for _ in range(12):
            kinds = rng.integers(0, 4, n)
            kinds[list(problem.forbidden)], kinds[list(problem.required)] = 0, 1
            node = nodes.Node(table, tuple(np.flatnonzero(kinds == 1).tolist()), kinds > 1)
            unit = int(rng.integers(1, 4))
            most = table.costs * unit + (rng.random() < 0.2)
            good = np.where(rng.random(most.size) < 0.7, most, most // 2)
            good = np.where(table.good & node.uncovered() | (rng.random() < 0.1), good, 0)
            samples = np.flatnonzero(~table.good | (rng.random() < 0.1))
            bad = [
                (i, r, int(most[i] // (1 + rng.integers(3))))
                for i in samples
                for r in range(n)
                if table.covers[i, r] and rng.random() < 0.4
            ]
            if table.data.hamming and rng.random() < 0.9:
                bad = []
            prices = [
                int(rng.integers(4)) * (limit is not None or rng.random() < 0.1)
                for limit in table.limits.values()
            ]
            paid = np.array(bad, dtype=np.int64).reshape(-1, 3)
            try:
                bound = node.bound(nodes.Multipliers(unit, *prices, good, paid))
            except Refused:
                refused += 1
                continue
            inside = [
                value
                for chosen, value in values.items()
                if {*node.chosen} <= {*chosen} <= {*node.chosen, *np.flatnonzero(node.free)}
            ]
            told += bool(inside) and bound > 0
            assert all(value >= bound for value in inside)
            assert not (inside and node.over())
    assert told > n
    assert refused > n


def test_units_of_0_and_numbers_that_64_bits_cannot_add_up_prove_nothing() -> None:
    samples = Samples(np.eye(2, dtype=bool), np.array([True, False]))
    problem = RuleSetSelection(samples, ((0,), (1,), ()), max_rules=1)
    instance, most = problem.to_dict(), 10**18 - 1
    assert proved(instance, document(problem, ["bound 1 1 0 0"], Claim(-1))) == Claim(-1)
    for line in ("bound 0 1 0 0", f"bound {most} 0 0 0", f"bound 1 {most} 0 0"):
        with pytest.raises(Refused, match="line 2: the unit is 0, or numbers are too large"):
            proved(instance, document(problem, [line], Claim(-1)))
    for line, told in (
        ("bound 1 0 1 0", "there is no max_literals"),
        ("bound 1 0 0", "too few numbers"),
        ("bound 1 0 0 1 0", "too few numbers"),
        ("bound 1 0 0 1 0 2", "not from 0 to its cost"),
        ("bound 1 0 0 1 1 1", "not from 0 to its cost"),
        ("bound 1 0 0 0 1 1 2", "of a bad sample are more than its cost"),
        ("bound 1 0 0 0 0 0 1", "of no bad sample that its rule covers"),
        ("bound 1 0 0 0 1 0 1", "of no bad sample that its rule covers"),
        ("bound 1 0 0 1 7 1", "no row is that of sample 7"),
        ("bound 1 0 0 0 1 1", "not all bad samples have three numbers"),
        ("bound 1 0 0 0 1 3 1", "there is no rule 3"),
        ("bound 1 0 0 0 1 1 1 1 2 1", "of a bad sample are more than its cost"),
        ("bound 1 0 0 0 7 1 1", "no row is that of sample 7"),
        ("split 3", "split needs a rule that is not decided"),
        ("split 0 1", "split needs a rule that is not decided"),
        ("over", "no limit is broken"),
        ("over 1", "stands alone"),
        ("decided", "not all rules are decided"),
    ):
        with pytest.raises(Refused, match=told):
            proved(instance, document(problem, [line], Claim(-1)))


def test_multipliers_whose_sum_64_bits_do_not_hold_prove_nothing() -> None:
    """Four rules pay for one bad sample, each far more than it costs: in all 2**64 units, or 0."""
    literals = np.vstack([np.eye(4, dtype=bool), np.ones((1, 4), dtype=bool)])
    samples = Samples(literals, np.arange(5) < 4, weights=[60, 60, 60, 60, 100])
    problem = RuleSetSelection(samples, ((0,), (1,), (2,), (3,)), lengths=[0] * 4)
    instance, table = problem.to_dict(), nodes.Table(problem.to_dict())
    assert optimum(problem) == 100
    unit = table.room // table.most
    each, rest = divmod(2**64, 100 * unit)
    good = [number for row in range(4) for number in (row, 60 * unit)]
    bad = [n for i in range(each) for n in (4, i % 4, 100 * unit)] + [4, each % 4, rest]
    line = f"bound {unit} 0 0 4 {' '.join(map(str, good + bad))}"
    with pytest.raises(Refused, match="of a bad sample are more than its cost"):
        proved(instance, document(problem, [line], Claim(240)))
    # With Hamming loss each rule pays for all of it, and no rule is worth that.
    hamming = RuleSetSelection(samples, problem.rules, loss="hamming")
    line = "bound 1 0 0 4 0 60 1 60 2 60 3 60"
    assert proved(hamming.to_dict(), document(hamming, [line], Claim(240))) == Claim(240)
    with pytest.raises(Refused, match="bad samples have no multipliers"):
        proved(hamming.to_dict(), document(hamming, [f"{line} 4 0 1"], Claim(240)))
    # Shared as they may be, they bound what the rules cost.
    line = "bound 4 0 0 4 0 100 1 100 2 100 3 100 4 0 100 4 1 100 4 2 100 4 3 100"
    assert proved(instance, document(problem, [line], Claim(100))) == Claim(100)


def test_the_part_with_a_rule_comes_first() -> None:
    """No rule is allowed, so that the good sample of weight 1 is an error."""
    samples, none = Samples([[1]], [True]), Claim(1)
    problem = RuleSetSelection(samples, ((0,),), max_rules=0)
    lines = ["split 0", "over", "decided"]
    assert proved(problem.to_dict(), document(problem, lines, none)) == none
    problem = RuleSetSelection(samples, ((0,),), forbidden=[0])
    assert proved(problem.to_dict(), document(problem, ["decided"], none)) == none
    problem = RuleSetSelection(samples, ((0,),), required=[0])
    nothing = Claim(0)
    assert proved(problem.to_dict(), document(problem, ["decided"], nothing)) == nothing


def test_nodes_in_each_other_are_not_more_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = RuleSetSelection(Samples([[1]], [True]), ((0,), (0,)))
    monkeypatch.setattr(checker, "DEEPEST", 1)
    whole = document(problem, ["split 0", "split 1", *["decided"] * 3], Claim(0))
    with pytest.raises(Refused, match="line 3: more than 1 nodes in each other"):
        proved(problem.to_dict(), whole)


def test_numbers_are_up_to_what_64_bits_add_up() -> None:
    """A good sample of weight 1, and a rule that costs nearly 2**61 and covers nothing."""
    for penalty, taken in ((2**61 - 2, True), (2**61 - 1, False)):
        instance = RuleSetSelection(Samples([[0]], [True]), ((0,),)).to_dict()
        instance["parameters"] |= {"penalty": penalty}
        if taken:
            assert nodes.Table(instance).most == 2**61 - 1
            continue
        with pytest.raises(Undecided, match="numbers are too large"):
            nodes.Table(instance)
    # Errors cost 7 in all and a rule 1; of its one literal and itself there are 3 at most.
    samples = Samples(np.eye(2, dtype=bool), np.array([True, False]), weights=[3, 4])
    table = nodes.Table(RuleSetSelection(samples, ((0,),), "1/7", max_rules=1).to_dict())
    assert table.most == 8
    node = nodes.Node(table, (), np.ones(1, dtype=bool))

    def bound(unit: int, rules: int, good: list[int], bad: list[list[int]]) -> int:
        some = np.array(bad, dtype=np.int64).reshape(-1, 3)
        return node.bound(nodes.Multipliers(unit, rules, 0, np.array(good), some))

    room = 2**62 // 3
    assert table.room == room
    assert bound(room // 8, 0, [0, 0], []) == 0
    assert bound(1, room, [3, 0], []) == 3 - room
    for unit, rules in ((room // 8 + 1, 0), (1, room + 1)):
        with pytest.raises(Undecided, match="numbers are too large"):
            bound(unit, rules, [0, 0], [])
    # What a rule pays for a bad sample may be nothing, what it shares of a good one not less.
    both = nodes.Table(RuleSetSelection(Samples([[1], [1]], [1, 0]), ((0,),)).to_dict())
    node = nodes.Node(both, (), np.ones(1, dtype=bool))
    assert bound(1, 0, [1, 0], [[1, 0, 0]]) == 0
    assert bound(1, 0, [1, 0], [[1, 0, 1]]) == 1
    twice = nodes.Table(RuleSetSelection(Samples([[1], [0]], [1, 1]), ((0,), (0,))).to_dict())
    node = nodes.Node(twice, (), np.ones(2, dtype=bool))
    with pytest.raises(Refused, match="not from 0 to its cost"):
        bound(1, 0, [-1, 1], [])


def test_bounds_are_as_strong_as_they_are_said_to_be() -> None:
    """Rule 0 covers the good sample of weight 3, rule 1 the bad one; a rule costs 1."""
    samples = Samples(np.eye(2, dtype=bool), np.array([True, False]), weights=[3, 1])
    problem = RuleSetSelection(samples, ((0,), (1,)), "1/4", max_rules=1, max_literals=3)
    table, none = nodes.Table(problem.to_dict()), np.zeros((0, 3), dtype=np.int64)

    def bound(chosen: list[int], unit: int, rules: int, literals: int, shared: int) -> int:
        node = nodes.Node(table, tuple(chosen), ~np.isin([0, 1], chosen))
        shares = np.array([shared, 0])
        return node.bound(nodes.Multipliers(unit, rules, literals, shares, none))

    # What the chosen rule costs, and what the good sample does while rule 0 gains no more.
    assert bound([1], 1, 0, 0, 0) == 2
    assert bound([1], 1, 0, 0, 1) == bound([1], 2, 0, 0, 2) == bound([1], 1, 0, 0, 3) == 3
    assert bound([1], 2, 0, 0, 1) == 3  # 5/2
    # A limit prices each rule or literal, and gives back those that are left.
    assert [bound([1], 1, price, 0, 3) for price in (1, 2, 3)] == [4, 5, 5]
    assert [bound([], 1, price, 0, 3) for price in (1, 2, 3)] == [1, 1, 0]
    assert [bound([1], 1, 0, price, 3) for price in (1, 2, 3)] == [2, 1, -1]


def test_rules_that_are_short_of_one_unit_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of two rules would save 3 for a price of 2: without them the bound is 2 + 3 - 1 - 1."""
    problem = RuleSetSelection(
        Samples([[1, 0, 0], [0, 1, 1]], [1, 1], weights=[10, 3]),
        ((0,), (1,), (2,)),
        Fraction(2, 13),
    )
    programs, solved = list[int](), prover._of_known

    def counted(node: Any, known: Any) -> Any:
        programs.append(int(known.sum()))
        assert len(programs) < 9
        return solved(node, known)

    monkeypatch.setattr(prover, "_FIRST", 1)
    monkeypatch.setattr(prover, "_UNIT", 1)
    monkeypatch.setattr(prover, "rounds", none)
    monkeypatch.setattr(prover, "_of_known", counted)
    claim, lines = prover.prove(problem.to_dict(), Claim(4), lambda: False)
    assert claim == Claim(4)
    assert len(lines) == 1
    assert proved(problem.to_dict(), document(problem, lines, claim)) == claim
    assert programs[0] == 1 < programs[-1]


def test_what_the_search_went_through_is_left_to_the_checker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    problem = RuleSetSelection(
        Samples(rng.random((40, 6)) < 0.5, rng.random(40) < 0.5),
        tuple(itertools.combinations(range(5), 2)),
        Fraction(1, 40),
    )
    value, record = optimum(problem), [RecordedTree(1)]
    assert value is not None
    instance, goal = problem.to_dict(), Claim(value)
    result = solve(problem, "search", proof=True)
    assert result.proof is not None
    assert result.proof.lines == ("counted",)
    never: Any = lambda: False  # noqa: E731
    with monkeypatch.context() as patched:
        patched.setattr(nodes.Node, "counted", None)
        assert prover.prove(instance, goal, never, True, record) == (goal, ["counted"])
        # So many nodes that all entries would just be as many as the checker looks at.
        table = nodes.Table(instance)
        samples, rules = table.covers.shape
        entries = (samples + rules) * 8 * 1001 + samples * rules
        patched.setattr(prover, "MOST_ENTRIES", entries)
        assert prover.prove(instance, goal, never, True, record) == (goal, ["counted"])
    # What is not trusted, or too much, is looked at: here by multipliers alone.
    monkeypatch.setattr(prover, "MOST_ENTRIES", entries - 1)
    assert prover.prove(instance, goal, never, True, record)[1] != ["counted"]
    monkeypatch.undo()
    for name in ("_FEW", "_MANY"):
        monkeypatch.setattr(prover, name, 0)
    for trusted, given in ((False, record), (True, [])):
        assert prover.prove(instance, goal, never, trusted, given)[1] != ["counted"]
