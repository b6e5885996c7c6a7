"""Proofs of rules of kernel machines: right ones are taken, and no false claim ever is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from cpx import KernelRule, solve
from cpx.check.proofs import Claim, Refused, Undecided, branching, proved
from cpx.check.proofs.branching import Part
from cpx.models.kernel_rule import proof_formulas as formulas
from cpx.models.kernel_rule import prove as prover
from cpx.models.kernel_rule.form import true_of
from cpx.models.kernel_rule.proof_check import Clauses
from cpx.models.kernel_rule.proof_formulas import Formulas, Node
from cpx.models.kernel_rule.search import branch_and_bound
from cpx.models.kernel_rule.search.dual import Dual
from cpx.models.monomial.prove import close
from cpx.options import SolveOptions
from cpx.solving.run import run
from tests.check.proof_files import altered, document
from tests.seeds import some


def drawn(rng: np.random.Generator) -> KernelRule:
    """Return a small problem: one to three clauses, weights small and huge, none positive."""
    m, d = int(rng.integers(1, 14)), int(rng.integers(1, 6))
    most = (1, 5, 2**45)[rng.integers(3)]
    signs = rng.choice([-1, 1], m) if rng.random() < 0.9 else -np.ones(m, dtype=int)
    return KernelRule(
        rng.random((m, d)) < rng.choice([0.4, 0.7]),
        (rng.integers(1, most + 1, m) * signs).tolist(),
        int(rng.integers(1, 4)) if rng.random() < 0.6 else 1,
        int(rng.integers(1, d + 1)),
    )


def optimum(problem: KernelRule) -> int:
    """Return the greatest weight by trying all formulas."""
    d = problem.samples.shape[1]
    clauses = {
        true_of([chosen], problem.samples).tobytes()
        for size in range(1, problem.max_literals + 1)
        for chosen in itertools.combinations(range(d), size)
    }
    rows = [np.frombuffer(one, dtype=np.bool_) for one in sorted(clauses)]
    weights = np.array(problem.weights)
    return max(
        int(weights[np.any(some, axis=0)].sum())
        for size in range(1, problem.max_clauses + 1)
        for some in itertools.combinations(rows, min(size, len(rows)))
    )


def proofs(
    n: int, seed: int, listed: bool = True, recorded: bool = False
) -> Iterator[tuple[KernelRule, int, Claim, list[str]]]:
    """Return random problems, their optima, and the lines that prove what is claimed.

    If they are not to be listed, clauses are too many for the checker. If they are recorded, the
    exact search has left its record.
    """
    rng = np.random.default_rng(seed)
    for number in range(n):
        problem = drawn(rng)
        if number % 4 == 1:
            problem = KernelRule(
                rng.random((24, 6)) < 0.6, rng.integers(-9, 10, 24).tolist(), 3, 2
            )
        value = optimum(problem)
        with pytest.MonkeyPatch.context() as patched:
            if number % 2:
                # With few steps that improve the multipliers there are more parts.
                patched.setattr(prover, "_STEPS", (20, 5))
                patched.setattr(branch_and_bound, "_STEPS", 20)
                patched.setattr(branch_and_bound, "_BELOW", 5)
            if not listed:
                patched.setattr(formulas, "_MOST_LOOKED", -1)
            record: list[object] = []
            if recorded:
                assert run(problem, "search", SolveOptions(), record=record).objective == value
            claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: False, record)
        assert claim is not None
        yield problem, value, claim, lines


@pytest.mark.parametrize("n", some(16, 120))
def test_optima_are_proved_and_nothing_better(n: int) -> None:
    rules = set[str]()
    for problem, value, claim, lines in proofs(n, 0):
        instance = problem.to_dict()
        assert claim == Claim(value)
        assert proved(instance, document(problem, lines, claim)) == claim
        rules |= {line.split(" ")[0] for line in lines}
        with pytest.raises(Refused):
            prover.prove(instance, Claim(value - 1), lambda: False)
        for wrong in (Claim(None), Claim(value - 1)):
            with pytest.raises(Refused):
                proved(instance, document(problem, lines, wrong))
    assert rules >= {"prices", "bounded", "clauses", "shares", "alone", "row", "clause"}


@pytest.mark.parametrize("n", some(24, 120))
def test_a_recorded_search_proves_the_same(n: int) -> None:
    rules = set[str]()
    for problem, value, claim, lines in proofs(n, 6, recorded=True):
        assert claim == Claim(value)
        assert proved(problem.to_dict(), document(problem, lines, claim)) == claim
        rules |= {line.split(" ")[0] for line in lines}
    assert rules >= {"clauses", "shares", "row", "clause"}


def test_a_recorded_clause_is_found_by_its_name() -> None:
    rng = np.random.default_rng(0)
    problem = KernelRule(rng.random((24, 6)) < 0.6, rng.integers(-9, 10, 24).tolist(), 3, 3)
    listed = Formulas(problem.to_dict(), 0)
    search, sizes = prover._Search(listed, 0, lambda: False), set[int]()
    for place, name in enumerate(listed.clauses):
        clause = tuple(name[name >= 0].tolist())
        assert search._place(clause).tolist() == [place]
        sizes.add(len(clause))
    assert sizes == {1, 2, 3}


def noisy() -> KernelRule:
    """Return a problem that the search splits often: a formula of two clauses, and noise."""
    rng = np.random.default_rng(1)
    table = rng.random((80, 10)) < 0.5
    inside = table[:, :3].all(axis=1) | table[:, 3:5].all(axis=1)
    signs = np.where(inside ^ (rng.random(80) < 0.35), 1, -1)
    return KernelRule(table, (signs * rng.integers(1, 1000, 80)).tolist(), 5, 3)


def test_a_recorded_search_spares_the_proof_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, record, steps = noisy(), list[object](), [0]
    take = Dual.step

    def counted(self: Dual, rate: float, width: float) -> None:
        steps[0] += 1
        take(self, rate, width)

    result = run(problem, "search", SolveOptions(), record=record)
    assert isinstance(result.objective, int)
    assert record
    monkeypatch.setattr(Dual, "step", counted)
    instance, taken, splits = problem.to_dict(), list[int](), list[int]()
    for given in ([], record):
        steps[0] = 0
        claim, lines = prover.prove(instance, Claim(result.objective), lambda: False, given)
        assert proved(instance, document(problem, lines, claim)) == Claim(result.objective)
        taken.append(steps[0])
        splits.append(sum(line.split(" ")[0] in ("row", "clause") for line in lines))
    assert min(splits) > 3
    assert taken[1] < taken[0] / 3
    # What is wrong is met here, too.
    with pytest.raises(Refused):
        prover.prove(instance, Claim(result.objective - 1), lambda: False, record)


def test_a_search_that_is_recorded_in_part_is_gone_on_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = noisy()
    instance, value = problem.to_dict(), solve(problem, "search").objective
    assert isinstance(value, int)
    for most in (0, 5000):
        record: list[object] = []
        monkeypatch.setattr(branch_and_bound, "_MOST_RECORDED", most)
        run(problem, "search", SolveOptions(), record=record)
        claim, lines = prover.prove(instance, Claim(value), lambda: False, record)
        assert proved(instance, document(problem, lines, claim)) == Claim(value)
        # Without time, the multipliers of the record bound what is left open.
        claim, lines = prover.prove(instance, Claim(value), lambda: True, record)
        assert claim is not None
        assert isinstance(claim.bound, int)
        assert claim.bound >= value
        file = document(problem, lines, claim, goal=Claim(value))
        assert proved(instance, file) == claim


def test_too_many_clauses_to_list_are_bounded_by_prices_of_rows() -> None:
    optima, several, better, rules = 0, 0, 0, set[str]()
    for problem, value, claim, lines in proofs(12, 0, listed=False):
        assert isinstance(claim.bound, int)
        assert claim.bound >= value
        assert proved(problem.to_dict(), document(problem, lines, claim)) == claim
        if problem.max_clauses > 1:
            several, optima = several + 1, optima + (claim.bound == value)
            greatest = sum(weight for weight in problem.weights if weight > 0)
            assert claim.bound <= max(greatest, value)
            better += value <= claim.bound < greatest
            rules |= {line.split(" ")[0] for line in lines}
    assert optima > several / 2
    assert better > several / 4
    assert "split" in rules
    assert "clauses" not in rules


def test_more_clauses_than_the_checker_lists() -> None:
    rng = np.random.default_rng(0)
    table = rng.random((80, 60)) < 0.5
    signs = np.where(table[:, :3].all(axis=1) ^ (rng.random(80) < 0.3), 1, -1)
    problem = KernelRule(table, (signs * rng.integers(1, 1000, 80)).tolist(), 2, 5)
    instance = problem.to_dict()
    found = int(np.array(problem.weights)[table[:, :3].all(axis=1)].sum())
    greatest = sum(weight for weight in problem.weights if weight > 0)
    with pytest.raises(Undecided):
        Formulas(instance, found)
    claim, lines = prover.prove(instance, Claim(found), lambda: True)
    assert claim is not None
    assert isinstance(claim.bound, int)
    assert found <= claim.bound < greatest
    assert proved(instance, document(problem, lines, claim, goal=Claim(found))) == claim


def worths(node: Node) -> dict[tuple[int, ...], int]:
    """Return what each formula of a node is worth, by the clauses that are added."""
    of, allowed = node.of, np.flatnonzero(node.allowed).tolist()
    return {
        chosen: node.value
        + int(of.gains[node.rows & of.inside[list(chosen)].any(axis=0)].sum())
        - int(of.costs[node.others & of.outside[list(chosen)].any(axis=0)].sum())
        for size in range(node.left + 1)
        for chosen in itertools.combinations(allowed, size)
    }


@pytest.mark.parametrize("n", some(15, 60))
def test_whatever_multipliers_bound_all_formulas_of_a_node(
    n: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nodes made by random splits, which lose no best formula; nor does what is left out."""
    rng, tight = np.random.default_rng(3), 0
    for number in range(n):
        # Clauses beyond those that are looked at for dominated ones count, too.
        monkeypatch.setattr(formulas, "_BEST", (1, 3, 1000)[number % 3])
        problem = drawn(rng)
        problem = KernelRule(problem.samples, problem.weights, 3, problem.max_literals)
        goal = optimum(problem)
        # Of a low value all clauses are kept.
        value = goal - int(rng.integers(0, 3)) if rng.random() < 0.5 else 0
        of = Formulas(problem.to_dict(), max(0, value))
        node = of.root()
        for _ in range(int(rng.integers(0, 3))):
            splits = [node.by_row(i) for i in np.flatnonzero(node.others).tolist()]
            if node.left:
                splits += [node.by_clause(c) for c in np.flatnonzero(node.allowed).tolist()]
            best = max(worths(node).values())
            for halves in splits:
                assert max(max(worths(half).values()) for half in halves) == best
            if splits:
                node = splits[int(rng.integers(len(splits)))][int(rng.integers(2))]
        worth = worths(node)
        rows, others = node.live
        for _ in range(5):
            bits = int(rng.integers(0, 6))
            portions = rng.integers(0, 2**bits + 1, rows.size)
            shares = rng.integers(0, int(rng.choice([2, 9])), (others.size, rows.size))
            if not node.left:
                continue
            bound, _, _ = node.bound(bits, portions, shares)
            best = max(worth.values())
            assert bound >= best
            tight += bound == best
            line = [bits, *portions.tolist(), *shares.reshape(-1).tolist()]
            claim = goal - 1
            try:
                after = formulas._after(node, "shares", line, claim, claim)
            except Refused:
                continue
            better = [chosen for chosen, value in worth.items() if value > claim * of.scale]
            if not after:
                assert not better
            elif better:
                assert any(after[0].allowed[list(chosen)].all() for chosen in better)
    assert tight > n // 6


def test_the_clause_without_features_is_none() -> None:
    # It would be true of the row that no feature is true of.
    problem = KernelRule([[1, 0], [0, 1], [0, 0]], [2, 1, 5], 2, 1)
    claim, lines = prover.prove(problem.to_dict(), Claim(3), lambda: False)
    assert claim == Claim(3)
    assert proved(problem.to_dict(), document(problem, lines, claim)) == claim


def test_a_formula_has_one_clause_at_least() -> None:
    problem = KernelRule([[1, 1], [1, 0], [0, 1]], [-2, -1, -3], 2, 1)
    claim, lines = prover.prove(problem.to_dict(), Claim(-3), lambda: False)
    assert claim == Claim(-3)
    assert proved(problem.to_dict(), document(problem, lines, claim)) == claim


def test_each_clause_of_a_formula_is_worth_what_one_is() -> None:
    """Two rows of weight 1, each with a feature of its own, and two clauses."""
    problem = KernelRule([[1, 0], [0, 1]], [1, 1], 2, 1)
    instance, lines = problem.to_dict(), ["prices 1 1 1 0 0", "counted"]
    assert optimum(problem) == 2
    assert proved(instance, document(problem, lines, Claim(2))) == Claim(2)
    with pytest.raises(Refused, match="line 2: the bound is 2"):
        proved(instance, document(problem, lines, Claim(1)))
    with pytest.raises(Refused, match="line 4: the proof is complete"):
        proved(instance, document(problem, [*lines, "counted"], Claim(2)))
    with pytest.raises(Refused, match="its numbers are not complete"):
        proved(instance, document(problem, ["prices 1 1 1 0", "counted"], Claim(2)))
    with pytest.raises(Refused, match="line 2: row 2 has no such price"):
        proved(instance, document(problem, ["prices 1 1 1 2 0", "counted"], Claim(2)))


def test_the_best_of_the_listed_clauses_is_what_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Feature 0 is of rows worth 3 and 3, 1 of the second and one worth 5, and 2 of another."""
    table = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    problem = KernelRule(table, [3, 3, 5, 1], 1, 1)
    instance = problem.to_dict()
    assert optimum(problem) == 8
    for lines in (["clauses", "alone"], ["clauses", "clause 0", "alone", "alone"]):
        assert proved(instance, document(problem, lines, Claim(8))) == Claim(8)
        for false in (6, 7):
            with pytest.raises(Refused, match="a formula is worth more"):
                proved(instance, document(problem, lines, Claim(false)))
        for claim, goal in ((7, Claim(8)), (8, Claim(None)), (8, Claim(Fraction(8)))):
            with pytest.raises(Refused, match="no integer, or does not follow from the goal"):
                proved(instance, document(problem, lines, Claim(claim), goal=goal))
    with pytest.raises(Refused, match="there is no such feature"):
        proved(instance, document(problem, ["clauses", "clause 3"], Claim(8)))
    # Three clauses, each chosen before the next one: three nodes of three wait.
    problem = KernelRule([[1, 0, 1], [0, 1, 1]], [1, 1], 3, 1)
    lines = ["clauses", "clause 0", "clause 1", "clause 2", *["alone"] * 4]
    for most, told in ((9, "a formula is worth more"), (8, "too many clauses wait")):
        monkeypatch.setattr(formulas, "_MOST_ENTRIES", most)
        with pytest.raises(Refused, match=f"line 6: {told}"):
            proved(problem.to_dict(), document(problem, lines, Claim(1)))


def test_rules_about_listed_clauses_are_taken_where_they_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(problem: KernelRule, lines: list[str], bound: int, told: str) -> None:
        whole = document(problem, ["clauses", *lines], Claim(bound))
        with pytest.raises(Refused, match=told):
            proved(problem.to_dict(), whole)

    def taken(problem: KernelRule, lines: list[str], bound: int) -> None:
        whole = document(problem, ["clauses", *lines], Claim(bound))
        assert proved(problem.to_dict(), whole) == Claim(bound) == Claim(optimum(problem))

    two = KernelRule([[1, 0], [0, 1]], [1, 1], 2, 1)
    refused(two, ["alone"], 1, "more clauses may be chosen")
    refused(two, ["alone 0"], 2, "'alone' is no rule")
    refused(two, ["row"], 2, "'row' is no rule")
    negative = KernelRule([[1, 0], [0, 1]], [-1, -3], 1, 1)
    taken(negative, ["alone"], -1)
    refused(negative, ["alone"], -2, "a single clause is worth more")
    # Equal rows are one; the negative one is paid for, or no clause is true of it.
    paid = KernelRule([[1, 0], [1, 1], [0, 1], [1, 1]], [4, 3, -2, -1], 1, 1)
    taken(paid, ["row 2", "alone", "alone"], 6)
    for row in (0, 4):
        refused(paid, [f"row {row}", "alone", "alone"], 6, f"row {row} is not to be paid for")
    # Weights of 52 bits have units of their own, more have none.
    large = KernelRule([[1, 0], [1, 1]], [2**51, -1], 1, 1)
    taken(large, ["alone"], 2**51 - 1)
    refused(large, ["alone"], 2**51 - 2, "a formula is worth more")
    refused(KernelRule([[1]], [2**52], 1, 1), ["alone"], 2**52, "weights are too large")
    # Clauses 0 and 1 gain 3 and 1, and either costs 2: the row that gains 3 pays all of it.
    shared = KernelRule([[1, 0], [0, 1], [1, 1]], [3, 1, -2], 1, 1)
    for line in ("shares 0 0 0 1 0", "shares 40 0 0 1 0", f"shares 0 0 0 {2**20 - 1} 0"):
        taken(shared, [line], 1)
    for line in (f"shares 0 0 0 {2**20} 0", "shares 1 3 0 1 0", "shares 1 0 3 1 0"):
        refused(shared, [line], 1, "a multiplier is too large")
    refused(shared, ["shares 1 2 2 1 0"], 1, "all clauses may be needed")
    refused(shared, ["shares 41 0 0 1 0"], 1, "there are not as many multipliers as rows")
    refused(shared, ["open 0 0 0 1 0"], 0, "the bound is 1$")
    for line in ("clause 0", "clause 1"):
        refused(shared, ["clause 0", line], 1, "there is no such clause, or it is decided")
    for most in (2, 1):
        monkeypatch.setattr(formulas, "_MOST_LOOKED", most)
        refused(two, ["alone"], 1, ("too many clauses for", "more clauses may be")[most - 1])


def test_clauses_beyond_those_that_are_compared_count(monkeypatch: pytest.MonkeyPatch) -> None:
    # Clause 0 gains both rows and pays; without paying 1 and 2 do together, worth 6 to its 4.
    table = [[1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 0, 0]]
    problem = KernelRule(table, [3, 3, -2, 10], 2, 1)
    assert optimum(problem) == 6
    false = document(problem, ["clauses", "shares 0 0 0 1 0"], Claim(4))
    with pytest.raises(Refused, match="all clauses may be needed"):
        proved(problem.to_dict(), false)
    # Dominated by clause 0 is that of features 0 and 1: it pays as much.
    table = [[1, 1, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    assert len(Formulas(KernelRule(table, [2, 1, 1, -1], 1, 2).to_dict(), 0).clauses) == 3
    monkeypatch.setattr(formulas, "_BEST", 1)
    problem = KernelRule(np.eye(3, dtype=bool), [4, 2, 1], 2, 1)
    lines = ["clauses", "shares 0 0 0 0"]
    whole = document(problem, lines, Claim(6))
    assert proved(problem.to_dict(), whole) == Claim(6) == Claim(optimum(problem))
    false = document(problem, lines, Claim(4))
    with pytest.raises(Refused, match="all clauses may be needed"):
        proved(problem.to_dict(), false)


def test_costs_that_64_bits_cannot_add_up_are_left_undecided() -> None:
    """Of 2**11 equal rows that no clause may be true of, each costs 2**53: in all 2**64, or 0."""
    many = 2**11
    clauses = Clauses(KernelRule([[1]] * (many + 1), [1] + [-1] * many, 1, 1).to_dict())
    part = Part(np.arange(many + 1) < 1, np.arange(many + 1) > 0)
    prices = np.where(part.kept, 2 - 2**53, 0)
    with pytest.raises(Undecided, match="numbers are too large"):
        clauses.box(Fraction(1), part, prices, -1)


def test_parts_that_wait_take_no_more_memory_than_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = KernelRule([[1]] * 8, [1] * 8, 2, 1)
    deep = document(problem, [f"split {i}" for i in range(8)], Claim(3))
    with pytest.raises(Refused, match="line 10: the proof ends here"):
        proved(problem.to_dict(), deep)
    monkeypatch.setattr(branching, "_MOST_WAITING", 5 * 8)
    with pytest.raises(Refused, match="line 6: parts of more than 40 features wait"):
        proved(problem.to_dict(), deep)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("n", some(20, 1200))
def test_no_altered_proof_proves_a_false_claim(n: int) -> None:
    rng, refused, tried = np.random.default_rng(0), 0, 0
    each = itertools.chain(
        proofs(n, 1), proofs(n // 4, 2, listed=False), proofs(n // 4, 3, recorded=True)
    )
    for problem, value, claim, lines in each:
        instance = problem.to_dict()
        for _ in range(10):
            tried += 1
            changed = altered(lines, rng)
            with pytest.raises(Refused):
                proved(instance, document(problem, changed, Claim(value - 1)))
            try:
                proved(instance, document(problem, changed, claim))
            except Refused:
                refused += 1
    assert refused > tried / 3


def test_without_time_nothing_false_is_claimed() -> None:
    rng, weaker = np.random.default_rng(4), 0
    large = [
        KernelRule(rng.random((60, 8)) < 0.6, rng.integers(-9, 10, 60).tolist(), 3, 3)
        for _ in range(4)
    ]
    small = [drawn(rng) for _ in range(12)]
    known = [(problem, optimum(problem)) for problem in small]
    for problem, value in [*known, *((one, solve(one, "search").objective) for one in large)]:
        assert isinstance(value, int)
        claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: True)
        if claim is None:
            assert problem.max_clauses == 1
            continue
        assert isinstance(claim.bound, int)
        greatest = sum(weight for weight in problem.weights if weight > 0)
        assert value <= claim.bound <= max(greatest, value)
        file = document(problem, lines, claim, goal=Claim(value))
        assert proved(problem.to_dict(), file) == claim
        weaker += claim.bound > value
    assert weaker


def test_a_formula_without_a_clause_is_none() -> None:
    # The clause without features would be worth 3.
    problem = KernelRule([[1, 0], [0, 1], [0, 0]], [-1, -1, 5], 1, 2)
    assert optimum(problem) == 0
    result = solve(problem, "search", proof=True)
    assert result.proof is not None
    assert proved(problem.to_dict(), result.proof.to_bytes()) == Claim(0)


@pytest.mark.parametrize("n", some(12, 60))
def test_random_proofs_prove_no_false_claim(n: int) -> None:
    """Prices of all kinds, with the least worth of a clause that the checker takes."""
    rng, taken = np.random.default_rng(5), 0
    for _ in range(n):
        problem = drawn(rng)
        value, instance = optimum(problem), problem.to_dict()
        clauses = Clauses(instance)
        for _ in range(6):
            rows = [int(rng.integers(clauses.positive.size)) for _ in range(int(rng.integers(3)))]
            lines, left = (
                list[str](),
                [(Part(*np.zeros((2, clauses.positive.size), dtype=bool)), 0)],
            )
            reached = None
            while left:
                part, depth = left.pop()
                if depth < len(rows) and part.free[rows[depth]]:
                    lines.append(f"split {rows[depth]}")
                    left += [(half, depth + 1) for half in reversed(part.halves(rows[depth]))]
                    continue
                unit = Fraction(int(rng.integers(1, 4)), int(rng.integers(1, 4)))
                whole, _ = clauses.scaled(unit, part)
                prices = np.where(part.kept, whole, 0)
                for row in np.flatnonzero(part.kept | (clauses.positive & part.free)).tolist():
                    if rng.random() < 0.6:
                        low = int(whole[row]) - 3 if part.kept[row] else 0
                        prices[row] = int(rng.integers(low, int(whole[row]) + 1))
                worth = 0
                while True:
                    box = clauses.box(unit, part, prices, worth)
                    try:
                        closed, _ = close(box, lambda: False, empty=False)
                        break
                    except Refused:
                        worth += 1 + worth
                changed = np.flatnonzero(prices != np.where(part.kept, whole, 0))
                pairs = " ".join(f" {row} {prices[row]}" for row in changed.tolist())
                words = f"prices {unit.denominator} {unit.numerator} {worth}{pairs}"
                lines += [" ".join(words.split()), *closed]
                bound = clauses.bound(unit, prices, worth)
                reached = bound if reached is None else max(reached, bound)
            assert reached is not None
            assert reached >= value
            assert proved(instance, document(problem, lines, Claim(reached))) == Claim(reached)
            taken += reached == value
            with pytest.raises(Refused):
                proved(instance, document(problem, lines, Claim(min(reached, value) - 1)))
    assert taken > n // 3


@pytest.mark.parametrize(("limit", "most"), [("_MOST_BYTES", 11), ("_MOST_ENTRIES", 31)])
def test_clauses_that_take_too_much_memory_are_not_listed(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    """Six of two bytes are looked at, and four of them are true of different ones of 8 rows."""
    rows = np.array(list(itertools.product([False, True], repeat=3)))
    instance = KernelRule(rows, [1, -1, 1, -1, -1, 1, -1, -2], 2, 2).to_dict()
    monkeypatch.setattr(formulas, limit, most + 1)
    assert Formulas(instance, 0).clauses.size
    monkeypatch.setattr(formulas, limit, most)
    # Rows are not unpacked before.
    monkeypatch.setattr(np, "unpackbits", None)
    with pytest.raises(Undecided, match="too many clauses"):
        Formulas(instance, 0)
