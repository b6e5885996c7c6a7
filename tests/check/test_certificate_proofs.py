"""Proofs of minimum certificates: right ones are taken, and no false claim ever is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cpx import MinCertificate, Samples, solve
from cpx.check.proofs import Claim, Refused, Undecided, proved
from cpx.check.proofs.branching import Part
from cpx.models import NegativeOnly
from cpx.models.certificate import prove as prover
from cpx.models.certificate.proof_check import Table
from cpx.models.monomial.prove import close
from tests.check.proof_files import altered, document
from tests.seeds import some


def drawn(rng: np.random.Generator) -> MinCertificate:
    """Return a small problem: weights of samples and features, side constraints, no solution."""
    d, m = int(rng.integers(1, 8)), int(rng.integers(1, 30))
    huge = (1, 5, 2**34)[rng.integers(3)]
    samples = Samples(
        rng.random((m, d)) < rng.choice([0.4, 0.7]),
        rng.random(m) < 0.3,
        weights=rng.integers(1, huge + 1, m),
    )
    options: dict[str, Any] = {"epsilon": Fraction(int(rng.integers(0, 5)), 20)}
    if rng.random() < 0.6:
        options["weights"] = rng.integers(1, (5, 2**26)[rng.integers(2)], d).tolist()
    for name in ("required", "forbidden"):
        if rng.random() < 0.3:
            options[name] = [int(rng.integers(d))]
    problem = MinCertificate(samples, **options)
    if rng.random() < 0.3 and d > 2:
        problem = problem.where(
            ("not (x0 and x1)", "x1 or x2", "exactly(2, x0, x1, x2)")[rng.integers(3)]
        )
    return problem


def optimum(problem: MinCertificate) -> int | None:
    """Return the least weight by trying all sets."""
    d = problem.n_features
    found = [
        problem.evaluate(problem.explanation(chosen))
        for size in range(d + 1)
        for chosen in itertools.combinations(range(d), size)
        if problem.side_constraints.allow(chosen)
    ]
    return min((int(one.objective) for one in found if one.feasible), default=None)


def proofs(n: int, seed: int) -> Iterator[tuple[MinCertificate, int | None, list[str]]]:
    """Return random problems, their optima, and the lines that prove these."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        problem = drawn(rng)
        value = optimum(problem)
        claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: False)
        assert claim == Claim(value)
        yield problem, value, lines


@pytest.mark.parametrize("n", some(25, 60))
def test_optima_are_proved_and_nothing_better(n: int) -> None:
    rules = set[str]()
    for problem, value, lines in proofs(n, seed=0):
        instance = problem.to_dict()
        assert proved(instance, document(problem, lines, Claim(value))) == Claim(value)
        rules |= {line.split(" ")[0] for line in lines}
        if value is None:
            continue
        for wrong in (Claim(None), Claim(value + 1)):
            with pytest.raises(Refused):
                prover.prove(instance, wrong, lambda: False)
            with pytest.raises(Refused):
                proved(instance, document(problem, lines, wrong))
    assert rules >= {"split", "over", "bound", "breaks", "few", "counted"}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("n", [40, pytest.param(1200, marks=pytest.mark.slow)])
def test_no_altered_proof_proves_a_false_claim(n: int) -> None:
    rng, refused, tried = np.random.default_rng(0), 0, 0
    for problem, value, lines in proofs(n, seed=1):
        instance = problem.to_dict()
        false = (
            Claim(None) if value is not None and rng.random() < 0.3 else Claim((value or 0) + 1)
        )
        if value is None:
            continue
        for _ in range(10):
            tried += 1
            changed = altered(lines, rng)
            with pytest.raises(Refused):
                proved(instance, document(problem, changed, false))
            try:
                proved(instance, document(problem, changed, Claim(value)))
            except Refused:
                refused += 1
    assert refused > tried / 3


def test_a_proof_that_is_interrupted_proves_the_bound_reached() -> None:
    less = 0
    for problem, value, _ in proofs(60, seed=2):
        if value is None:
            continue
        claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: True)
        assert claim is not None
        assert isinstance(claim.bound, int)
        assert claim.bound <= value
        less += claim.bound < value
        assert proved(problem.to_dict(), document(problem, lines, claim)) == claim
    assert less


def test_prices_beyond_what_a_certificate_may_cover_are_refused() -> None:
    # Two bad samples, one tolerated: a feature is needed for one of them only.
    samples = Samples([[0, 1], [1, 0], [1, 1]], [0, 0, 1])
    problem = MinCertificate(samples, epsilon="1/3")
    instance = problem.to_dict()
    right = document(problem, ["bound 1 1 0 1 1 1"], Claim(1))
    assert proved(instance, right) == Claim(1)
    for line in (
        "bound 1 0 0 1 1 1", "bound 1 1 0 2 1 1", "bound 0 1 0 1 1 1", "bound 1 1 2 1",
        "bound 1 1 0 1 1", "bound 1", "bound", "over", "over 0", "other 1 1 0 1 1 1",
    ):  # fmt: skip
        with pytest.raises(Refused):
            proved(instance, document(problem, [line], Claim(1)))
    with pytest.raises(Refused):
        proved(instance, document(problem, ["bound 1 1 0 1 1 1"], Claim(2)))
    with pytest.raises(Refused, match="integer"):
        proved(instance, document(problem, ["bound 1 1 0 1 1 1"], Claim(Fraction(1))))
    # Without a feature two bad samples are covered; each of the features costs 1.
    lines = ["split 0", "bound 1 0", "split 1", "bound 1 0", "over"]
    assert proved(instance, document(problem, lines, Claim(1))) == Claim(1)
    with pytest.raises(Refused, match="complete"):
        proved(instance, document(problem, [*lines, "over"], Claim(1)))


def test_prices_that_64_bits_cannot_add_up_prove_nothing() -> None:
    # Two features exclude ten bad samples each: both are needed, and no more. The sum of twenty
    # great prices is small in 64 bits, what each feature excludes is negative.
    rows = [[0, 1]] * 10 + [[1, 0]] * 10 + [[1, 1]]
    problem = MinCertificate(Samples(rows, [0] * 20 + [1]), epsilon=0)
    for price in (10**18 - 1, 2**62 // 20 + 1):
        line = " ".join(["bound 1 0", *(f"{i} {price}" for i in range(20))])
        for bound in (3, 10**17):
            with pytest.raises(Refused, match=r"line 2.*too large"):
                proved(problem.to_dict(), document(problem, [line], Claim(bound)))


def test_any_engine_comes_with_a_proof() -> None:
    rng = np.random.default_rng(0)
    samples = Samples(rng.random((300, 25)) < 0.6, rng.random(300) < 0.5)
    problem = MinCertificate(samples, epsilon="1/50")
    result = solve(problem, "cpsat", proof=True)
    assert result.proof is not None
    assert result.proof.complete
    assert proved(problem.to_dict(), result.proof.to_bytes()) == Claim(result.objective)


@pytest.mark.parametrize("n", some(20, 80))
def test_any_prices_bound_all_certificates(n: int) -> None:
    """The checker takes whatever prices there are: what it reads must hold."""
    rng, told = np.random.default_rng(0), 0
    for _ in range(n):
        problem = drawn(rng)
        table, d = Table(problem.to_dict()), problem.n_features
        certificates = [
            (np.isin(np.arange(d), chosen), problem.cost(chosen))
            for size in range(d + 1)
            for chosen in itertools.combinations(range(d), size)
            if problem.enough(chosen)
        ]
        for _ in range(20):
            kinds = rng.integers(0, 4, d)
            part, rate = Part(kinds == 1, kinds == 2), int(rng.integers(0, 4))
            prices = rng.integers(0, 4, table.rows.size)
            prices = np.where(table.weights <= table.tolerated, prices * 0 + rate, prices)
            bound = table.priced(part, int(rng.integers(1, 4)), rate, prices)
            inside = [
                cost
                for held, cost in certificates
                if held[part.kept].all() and not held[part.out].any()
            ]
            told += bool(inside) and bound > 0
            assert all(cost >= bound for cost in inside)
            assert not (inside and table.over(part))
    assert told > n


def test_sets_that_cost_less_are_counted_in_any_part() -> None:
    """The box is refused where a set of as few features as those that cost less is enough."""
    rng, refused, beyond = np.random.default_rng(4), [0, 0], 0
    for _ in range(400):
        problem = drawn(rng)
        table, d = Table(problem.to_dict()), problem.n_features
        kinds = rng.choice(3, d, p=[0.6, 0.2, 0.2])
        part, bound = Part(kinds == 1, kinds == 2), int(rng.integers(1, sum(table.costs) + 2))
        kept, free = np.flatnonzero(part.kept).tolist(), np.flatnonzero(part.free).tolist()
        left = bound - sum(table.costs[j] for j in kept)
        if left <= 0:
            beyond += 1
            with pytest.raises(Refused, match="cost as much"):
                table.box(part, bound)
            continue
        least = sorted(table.costs[j] for j in free)
        most = max(n for n in range(len(free) + 1) if sum(least[:n]) < left)
        enough = any(
            problem.enough(sorted([*kept, *chosen]))
            and problem.side_constraints.allow(sorted([*kept, *chosen]))
            for size in range(most + 1)
            for chosen in itertools.combinations(free, size)
        )
        refused[enough] += 1
        with pytest.raises(Refused, match="better") if enough else nullcontext():
            assert close(table.box(part, bound), lambda: False)[0]
    assert min(*refused, beyond) > 30


def test_no_few_features_are_needed_where_the_kept_ones_are_enough() -> None:
    samples = Samples([[0, 1], [0, 0], [1, 1]], [False, False, True])
    problem = MinCertificate(samples, required=[0], forbidden=[1])
    assert optimum(problem) == 1
    for rule in ("bounded", "counted"):
        with pytest.raises(Refused, match="the required features alone"):
            proved(problem.to_dict(), document(problem, ["few", rule], Claim(2)))


def test_a_search_spares_most_programs_where_sets_have_few_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng, programs = np.random.default_rng(0), [0]
    relaxation = prover._relaxation

    def counted(*arguments: Any) -> Any:
        programs[0] += 1
        return relaxation(*arguments)

    monkeypatch.setattr(prover, "_relaxation", counted)
    samples = Samples(rng.random((200, 20)) < 0.6, rng.random(200) < 0.3)
    for epsilon, weights in (("0", None), ("1/50", [3] * 20)):
        problem = MinCertificate(samples, epsilon=epsilon, weights=weights)
        value = int(solve(problem, "cpsat").objective)
        instance, programs[0] = problem.to_dict(), 0
        claim, lines = prover.prove(instance, Claim(value), lambda: False)
        assert (claim, lines[0], programs[0]) == (Claim(value), "few", 1)
        assert proved(instance, document(problem, lines, claim)) == claim
        for line in ("few 1", "bound 1 0"):
            with pytest.raises(Refused):
                proved(instance, document(problem, [line, *lines[1:]], claim))
        with pytest.raises(Refused, match="no rule"):
            proved(instance, document(problem, lines, Claim(None)))
        with pytest.raises(Refused, match="is a certificate"):
            prover.prove(instance, Claim(value + 1), lambda: False)


def test_a_search_for_a_set_of_few_features_ends_when_it_is_known_whether_there_is_one() -> None:
    problem = NegativeOnly(Samples(np.eye(2, dtype=bool), [False, False], weights=[2, 3]), 1)
    late = list[bool]()
    few = prover._Decision(problem, 2, lambda: bool(late))
    assert not few.should_stop
    few.bound(1)
    assert not few.should_stop
    few.found(problem.explanation([0]))
    assert few.objective == 2
    assert few.should_stop
    none = prover._Decision(problem, 1, lambda: bool(late))
    none.found(problem.explanation([0]))
    none.bound(1)
    assert not none.should_stop
    late.append(True)
    assert none.should_stop
    late.clear()
    none.bound(2)
    assert none.should_stop


def test_prices_of_62_bits_are_left_undecided() -> None:
    instance = MinCertificate(Samples(np.eye(2, dtype=bool), [True, False])).to_dict()
    table = Table(instance)
    table.tolerated = 0  # the sample may have any price
    part = Part(np.zeros(2, dtype=bool), np.zeros(2, dtype=bool))
    assert table.priced(part, 2**62, 0, np.array([2**62 - 1])) == 1
    with pytest.raises(Undecided, match="too large"):
        table.priced(part, 2**62, 0, np.array([2**62]))


def test_the_scale_of_weights_does_not_matter_to_the_first_bound() -> None:
    rng, reached = np.random.default_rng(6), set[int]()
    for _ in range(10):
        agrees, same = rng.random((60, 7)) < 0.6, rng.random(60) < 0.4
        weights, bounds = rng.integers(1, 6, 60), list[Claim | None]()
        for scale in (1, 2**20):
            samples = Samples(agrees, same, weights=weights * scale)
            instance = MinCertificate(samples, epsilon="1/10").to_dict()
            bounds.append(prover.prove(instance, Claim(100), lambda: True)[0])
        assert bounds[0] == bounds[1]
        assert bounds[0] is not None
        assert isinstance(bounds[0].bound, int)
        reached.add(bounds[0].bound)
    assert max(reached) > 1
