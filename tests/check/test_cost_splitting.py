"""Shares of costs in proofs about sets of rules: as the page says, and never more than is true."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from cpx import RuleSetSelection, Samples, solve
from cpx.check.proofs import Claim, Refused, Undecided, proved
from cpx.models.rule_set import proof_check as checker
from cpx.models.rule_set import proof_nodes as nodes
from cpx.models.rule_set import prove as prover
from cpx.models.rule_set import prove_cost_splitting as writer
from cpx.models.rule_set.proof_cheaper_sets import Rows, TooMany
from cpx.models.rule_set.proof_cost_splitting import LARGEST, Shares
from cpx.models.rule_set.search.record import RecordedTree
from tests.check.proof_files import document
from tests.check.test_rule_set_proofs import drawn, optimum, side_constraint


def never() -> bool:
    return False


def drawn_rows(rng: np.random.Generator) -> tuple[Rows, Rows, Any]:
    n = int(rng.integers(1, 6))
    good, bad = (
        Rows(rng.random((m, n)) < 0.5, rng.integers(1, 9, m)) for m in rng.integers(1, 6, 2)
    )
    return good, bad, rng.integers(0, 6, n)


def by_the_page(
    good: Rows, bad: Rows, prices: Any, unit: int, asked: Any, parts: Any, rules: list[int]
) -> Any:
    """Return what sets of some rules pay, in units of 1/D: of S and all that have it."""
    n, m = len(good.costs), len(bad.costs)
    of_bad = [
        [
            int(parts[j][i]) * (int(bad.costs[j]) * unit // max(1, int(sum(parts[j]))))
            for i in range(n)
        ]
        for j in range(m)
    ]
    of_rule: dict[int, list[int]] = {}
    demand: dict[int, list[int]] = {}
    for r in rules:
        due = [sum(of_bad[j][i] for j in range(m) if bad.covers[j, r]) for i in range(n)]
        missing = [max(0, int(asked[i]) - due[i]) if good.covers[i, r] else 0 for i in range(n)]
        most = int(prices[r]) * unit
        if sum(missing) > most:
            missing = [one * most // sum(missing) for one in missing]
        of_rule[r], demand[r] = missing, [a + b for a, b in zip(due, missing, strict=True)]
    least = [
        min([int(good.costs[i]) * unit, *(demand[r][i] for r in rules if good.covers[i, r])])
        for i in range(n)
    ]

    def pays(chosen: tuple[int, ...]) -> int:
        covered = [j for j in range(m) if any(bad.covers[j, r] for r in chosen)]
        return sum(
            max(least[i], sum(of_rule[r][i] for r in chosen) + sum(of_bad[j][i] for j in covered))
            for i in range(n)
        )

    return pays


@pytest.mark.parametrize("n", [150, pytest.param(3000, marks=pytest.mark.slow)])
def test_shares_are_as_the_page_says_and_bound_all_sets(n: int) -> None:
    rng, out, closed = np.random.default_rng(0), 0, 0
    for number in range(n):
        good, bad, prices = drawn_rows(rng)
        rules, unit = list(range(prices.size)), int(rng.integers(1, 9))
        asked = rng.integers(0, 9 * unit, len(good.costs))
        parts = rng.integers(0, 4, (len(bad.costs), len(good.costs)))
        cost = {
            chosen: int(prices[list(chosen)].sum())
            + int(good.costs @ ~good.covers[:, chosen].any(axis=1))
            + int(bad.costs @ bad.covers[:, chosen].any(axis=1))
            for size in range(len(rules) + 1)
            for chosen in itertools.combinations(rules, size)
        }
        limit = min(cost.values()) + number % 5 - 1
        shares = Shares(good, bad, prices, unit, asked, parts)
        stay = shares.leave_out(limit)
        for _ in range(8):
            pays = by_the_page(good, bad, prices, unit, asked, parts, rules)
            if (none := pays(()) > (limit - 1) * unit) or not rules:
                break
            rules = [r for r in rules if pays((r,)) <= (limit - 1) * unit]
        assert (stay is None) == none
        below = [set(chosen) for chosen, value in cost.items() if value < limit]
        if stay is None:
            closed += 1
            assert not below
            continue
        assert np.flatnonzero(stay).tolist() == rules
        out += len(rules) < prices.size
        pays = by_the_page(good, bad, prices, unit, asked, parts, rules)
        for size in range(len(rules) + 1):
            for chosen in itertools.combinations(range(len(rules)), size):
                one = np.zeros((1, len(rules)), dtype=bool)
                one[0, list(chosen)] = True
                named = tuple(rules[x] for x in chosen)
                reached = bool(shares.reached(one, limit)[0])
                assert reached == (pays(named) > (limit - 1) * unit)
                assert not (reached and any({*named} <= other for other in below))
        assert all(one <= {*rules} for one in below)
    assert out > n // 5
    assert closed > n // 9


@pytest.mark.parametrize("n", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_no_random_shares_prove_a_false_claim(n: int) -> None:
    rng, taken = np.random.default_rng(n), 0
    for number in range(n):
        problem = drawn(rng)
        if number % 3 == 0:
            problem = problem.where(side_constraint(rng, problem.n_features))
        value, instance = optimum(problem), problem.to_dict()
        root = nodes.root_of(nodes.Table(instance))
        if value is None or root is None:
            continue
        free = np.flatnonzero(root.free)
        good, bad, _ = root.rows(free)
        for _ in range(4):
            unit = int(rng.integers(1, 50))
            asked = rng.integers(0, 2 + unit * good.costs, good.costs.size)
            digits = ["0", "1", "9", "z"]
            words = ["".join(rng.choice(digits, good.costs.size)) for _ in bad.costs]
            line = " ".join(["shares", str(unit), *map(str, asked.tolist()), *words])
            for lines in ([line], [line, "counted"], [line, line, "counted"]):
                for claim in (Claim(value), Claim(value + 1)):
                    for goal in (None, Claim(value + 3)):
                        try:
                            proved(instance, document(problem, lines, claim, goal))
                        except Refused:
                            continue
                        assert claim == Claim(value)
                        taken += 1
    assert taken > n // 2


def noisy(seed: int = 0, noise: float = 0.2, **limits: Any) -> RuleSetSelection:
    rng = np.random.default_rng(seed)
    rows = rng.random((120, 10)) < 0.5
    same = (rows[:, :2].all(axis=1) | rows[:, 2:5].all(axis=1)) ^ (rng.random(120) < noise)
    rules = list(itertools.combinations(range(10), 2))
    rng.shuffle(rules)
    return RuleSetSelection(Samples(rows, same), tuple(map(tuple, rules[:40])), "1/100", **limits)


def test_shares_close_nodes_or_leave_few_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a search with shares went through is left to the checker, else it is looked at."""
    monkeypatch.setattr(prover, "_FEW", 0)
    counted = 0
    limits: tuple[dict[str, Any], ...] = ({}, {"max_overlap": 6}, {"loss": "hamming"})
    for seed, some in itertools.product(range(4), limits):
        problem = noisy(seed, 0.35, **some)
        instance, result = problem.to_dict(), solve(problem, "search")
        goal = Claim(result.bound)
        for trusted in (False, True):
            with monkeypatch.context() as patched:
                patched.setattr(prover, "_relaxation", None)
                if trusted:
                    patched.setattr(prover, "_counted", None)
                claim, lines = prover.prove(
                    instance, goal, never, trusted, [RecordedTree(1, shared=True)]
                )
            assert claim == goal
            assert lines[0].startswith("shares ")
            counted += lines[-1] == "counted"
            assert proved(instance, document(problem, lines, goal)) == goal
            wrong = Claim(int(result.bound) + 1)
            with pytest.raises(Refused):
                proved(instance, document(problem, lines, wrong))
    assert counted > 4


def test_lines_of_shares_are_read_as_they_are_written() -> None:
    problem = RuleSetSelection(
        Samples(np.eye(3, dtype=bool), [1, 1, 0]), ((0,), (1,), (2,)), "1/9"
    )
    assert optimum(problem) == 2
    instance = problem.to_dict()
    # Rules cost 1 each; samples of the class pay as much as they can, 3 with a unit of 1.
    good = ["shares 1 3 3 00", "shares 1 1 1 zz"]
    for line in good:
        assert proved(instance, document(problem, [line], Claim(2))) == Claim(2)
        for claim in (Claim(3), Claim(None)):
            with pytest.raises(Refused):
                proved(instance, document(problem, [line], claim))
    for line, match in (
        ("shares 1 0 0 00", "line 3: "),
        ("shares 0 3 3 00", "the unit is 0"),
        (f"shares 1 {LARGEST} 3 00", "shares are below"),
        ("shares 1 3 3", "shares are a unit, 2 numbers, and 1 words"),
        ("shares 1 3 3 000", "shares are a unit"),
        ("shares 1 3 3 0 0", "shares are a unit"),
        ("shares 1 3 3 0A", "the digits of shares"),
        ("shares 1 3 -3 00", "whole numbers"),
        (f"shares {LARGEST // 6 + 1} 3 3 00", "numbers are too large"),
    ):
        with pytest.raises(Refused, match=match):
            proved(instance, document(problem, [line], Claim(2)))


def test_units_are_as_large_as_all_costs_and_prices_allow() -> None:
    """Errors cost 6 and 2 in all, and two rules 4 each; or nothing."""
    for penalty, every in ("1/2", 16), (0, 8):
        samples = Samples(np.eye(3, dtype=bool), [1, 1, 0], weights=[3, 3, 2])
        problem = RuleSetSelection(samples, ((0,), (1,)), penalty)
        instance = problem.to_dict()
        for unit, taken in ((2**31 // every - 1, True), (2**31 // every, False)):
            file = document(problem, [f"shares {unit} 0 0 00"], Claim(0))
            if taken:
                assert proved(instance, file) == Claim(0)
                continue
            with pytest.raises(Undecided, match="numbers are too large"):
                proved(instance, file)


def test_shares_that_are_too_many_are_refused_and_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = noisy()
    root = nodes.root_of(nodes.Table(problem.to_dict()))
    assert root is not None
    good, bad, _ = root.rows(np.flatnonzero(root.free))
    most = max(good.costs.size, 40) * (good.costs.size + bad.costs.size)
    line = next(writer.rounds(root, 1, 1))[0]
    for module in (checker, writer):
        monkeypatch.setattr(module, "MOST_SHARED", most)
    assert next(writer.rounds(root, 1, 1))[0] == line
    assert proved(problem.to_dict(), document(problem, [line], Claim(1))) == Claim(1)
    for module in (checker, writer):
        monkeypatch.setattr(module, "MOST_SHARED", most - 1)
    assert list(writer.rounds(root, 1, 1)) == []
    with pytest.raises(Undecided, match="shares are too many"):
        proved(problem.to_dict(), document(problem, [line], Claim(1)))


def test_claims_beyond_all_numbers_are_refused_by_shares_and_not_errors() -> None:
    problem = noisy()
    root = nodes.root_of(nodes.Table(problem.to_dict()))
    assert root is not None
    line = next(writer.rounds(root, 1, 1))[0]
    with pytest.raises(Refused):
        proved(problem.to_dict(), document(problem, [line, "decided"], Claim(10**400)))
    low = Claim(-(10**400))
    assert proved(problem.to_dict(), document(problem, [line], low)) == low


def test_sets_that_shares_rule_out_are_counted_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """And rules are left out that overlap too much with a set."""
    seen: list[tuple[int, int]] = []
    possible = nodes.Node._possible

    def counting(*of: Any) -> Any:
        asked = possible(*of)

        def told(sets: Any, others: Any) -> Any:
            out = asked(sets, others)
            if others.any() or sets.any():
                seen.append((len(sets), int(out.sum())))
            return out

        return told

    monkeypatch.setattr(nodes.Node, "_possible", counting)
    looked = []
    for limits in ({}, {"max_overlap": 6}):
        problem = noisy(2, noise=0.35, **limits)
        value = solve(problem, "search").bound
        assert isinstance(value, int)
        root = nodes.root_of(nodes.Table(problem.to_dict()))
        assert root is not None
        plain = root
        for _, rest in writer.rounds(root, value, 1):
            assert rest is not None
            root = rest
        assert root.counted(value, 2**29)
        rules = root._standing(root.uncovered())
        good, bad, _ = root.rows(rules)
        seen.clear()
        assert root.counted(value, 2**29)
        many = sum(one for one, _ in seen)
        assert many > sum(kept for _, kept in seen) > 1
        entries = many * (good.costs.size + bad.costs.size + rules.size)
        entries += int(root.free.sum()) * root.table.rows.size
        assert root.counted(value, entries)
        with pytest.raises(TooMany):
            root.counted(value, entries - 1)
        looked.append(many)
        seen.clear()
        assert plain.counted(value, 2**29)
        assert many < sum(one for one, _ in seen)
    assert looked[1] < looked[0]


def test_rules_are_left_out_that_overlap_too_much_with_a_set() -> None:
    rng, left_out, stayed = np.random.default_rng(3), 0, 0
    for _ in range(60):
        n, most = int(rng.integers(3, 7)), int(rng.integers(0, 40))
        covers = rng.random((20, n)) < 0.4
        samples = Samples(covers, rng.random(20) < 0.5, weights=rng.integers(1, 6, 20))
        problem = RuleSetSelection(samples, tuple((r,) for r in range(n)), max_overlap=most)
        chosen = tuple(np.flatnonzero(rng.random(n) < 0.2).tolist())
        free = ~np.isin(np.arange(n), chosen)
        node = nodes.Node(nodes.Table(problem.to_dict()), chosen, free)
        rules = np.flatnonzero(free)
        for size in range(min(3, rules.size)):
            sets = np.array(list(itertools.combinations(range(rules.size), size)), dtype=np.int64)
            others = rng.random((len(sets), rules.size)) < 0.8
            told = node._fewer(rules)(sets, others)
            for places, other, stay in zip(sets, others, told, strict=True):
                for place in set(range(rules.size)) - set(places.tolist()):
                    every = [*chosen, *rules[places], rules[place]]
                    twice = covers[:, every].sum(axis=1) > 1
                    right = bool(other[place]) and samples.weights[twice].sum() <= most
                    assert stay[place] == right
                    stayed += right
                    left_out += bool(other[place]) and not right
    assert min(stayed, left_out) > 100
