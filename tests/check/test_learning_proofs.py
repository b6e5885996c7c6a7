"""Proofs of learned rule sets: what is claimed holds of all sets, and nothing false is taken."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cpx import Samples, solve
from cpx.check.proofs import Claim, Refused, Undecided, proved
from cpx.models import RuleSetLearning
from cpx.models.monomial.prove import close
from cpx.models.rule_set import learning_proof_check as checker
from cpx.models.rule_set import learning_prove as prover
from cpx.models.rule_set import proof_nodes as counting
from cpx.models.rule_set.problem import Loss
from cpx.models.rule_set.search.record import RecordedPrices, RecordedTree
from tests.check.proof_files import document


def drawn(rng: np.random.Generator) -> RuleSetLearning:
    """Return a small problem of either loss, with weights or without."""
    d, m = int(rng.integers(1, 5)), int(rng.integers(2, 20))
    samples = Samples(
        rng.random((m, d)) < 0.6,
        rng.random(m) < 0.5,
        weights=rng.integers(1, (2, 6)[rng.integers(2)], m),
    )
    return RuleSetLearning(
        samples,
        max_literals=int(rng.integers(1, 3)),
        penalty=Fraction(int(rng.integers(0, 4)), int(rng.integers(20, 90))),
        loss=("zero-one", "hamming")[rng.integers(2)],
        class_weights=(2, 3) if rng.random() < 0.2 else None,
    )


def optimum(problem: RuleSetLearning) -> int:
    """Return the best value by trying all sets of up to four rules; more are no better here."""
    samples, d = problem.samples, problem.samples.agreement.shape[1]
    rules = [
        one
        for size in range(problem.max_literals + 1)
        for one in itertools.combinations(range(d), size)
    ]
    covers = np.stack([samples.agreement[:, list(one)].all(axis=1) for one in rules], axis=1)
    other, own = problem.class_weights or (1, 1)
    costs = samples.weights * np.where(samples.same, own, other)
    price = problem.penalty * int(costs.sum())
    values = []
    for size in range(5):
        for chosen in itertools.combinations(range(len(rules)), size):
            times = covers[:, list(chosen)].sum(axis=1)
            often = times if problem.loss == "hamming" else np.minimum(times, 1)
            errors = costs * np.where(samples.same, times == 0, often)
            values.append(int((int(errors.sum()) + price * size) * price.denominator))
    return min(values)


def proofs(n: int, seed: int) -> Iterator[tuple[RuleSetLearning, int, Claim, list[str]]]:
    """Return random problems, their optima, and what is proved of them."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        problem = drawn(rng)
        value = optimum(problem)
        claim, lines = prover.prove(problem.to_dict(), Claim(value), lambda: False)
        assert claim is not None
        yield problem, value, claim, lines


def test_what_is_proved_holds_and_is_often_the_optimum() -> None:
    exact = 0
    for problem, value, claim, lines in proofs(30, seed=0):
        assert isinstance(claim.bound, int)
        assert claim.bound <= value
        exact += claim.bound == value
        assert proved(problem.to_dict(), document(problem, lines, claim)) == claim
        for wrong in (Claim(None), Claim(value + 1)):
            with pytest.raises(Refused):
                proved(problem.to_dict(), document(problem, lines, wrong))
    assert exact > 15


@pytest.mark.parametrize("n", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_no_altered_proof_proves_a_false_claim(n: int) -> None:
    rng, refused = np.random.default_rng(n), 0
    for problem, value, _, lines in proofs(n, seed=n):
        for _ in range(12):
            altered = list(lines)
            for _ in range(int(rng.integers(1, 4))):
                at = int(rng.integers(len(altered)))
                words = altered[at].split(" ")
                if len(words) > 1 and rng.random() < 0.8:
                    place = int(rng.integers(1, len(words)))
                    old = int(words[place])
                    new = int(rng.choice([0, old + 1, max(old - 1, 0), 2 * old, 10 * old]))
                    altered[at] = " ".join([*words[:place], str(new), *words[place + 1 :]])
                else:
                    altered[at] = str(rng.choice(["bounded", "counted", "open", altered[0]]))
            whole = document(problem, altered, Claim(value + 1))
            with pytest.raises(Refused):
                proved(problem.to_dict(), whole)
            refused += 1
    assert refused == 12 * n


def test_without_time_nothing_is_claimed() -> None:
    rng = np.random.default_rng(3)
    samples = Samples(rng.random((60, 8)) < 0.5, rng.random(60) < 0.5)
    problem = RuleSetLearning(samples, max_literals=3, loss="hamming")
    claim, lines = prover.prove(problem.to_dict(), Claim(10**6), lambda: True)
    assert claim is None or proved(problem.to_dict(), document(problem, lines, claim)) == claim


def test_no_rule_may_be_worth_more_than_its_price() -> None:
    """A rule costs 1; each good sample has a literal of its own, the bad one weighs most."""
    samples = Samples([[1, 0], [0, 1], [0, 0]], [True, True, False], weights=[3, 3, 9])
    problem = RuleSetLearning(samples, 1, "1/15", "hamming")
    assert optimum(problem) == 2
    for unit in (1, 2):
        lines = [f"prices {unit} 0 {unit} 1 {unit}", "counted"]
        assert proved(problem.to_dict(), document(problem, lines, Claim(2))) == Claim(2)
        for prices in (f"0 {unit + 1} 1 {unit}", f"0 {3 * unit} 1 {3 * unit}"):
            wrong = document(problem, [f"prices {unit} {prices}", "counted"], Claim(2))
            with pytest.raises(Refused, match="a better rule"):
                proved(problem.to_dict(), wrong)
    # Half an error more than one is as much as two.
    line = "prices 2 0 2 1 1"
    assert proved(problem.to_dict(), document(problem, [line, "counted"], Claim(2))) == Claim(2)
    for one in (line, "prices 1 0 1 1 1"):
        with pytest.raises(Refused, match="the bound is 2"):
            proved(problem.to_dict(), document(problem, [one, "counted"], Claim(3)))
    with pytest.raises(Undecided, match="proofs do not know constraints"):
        checker.Table(problem.to_dict() | {"constraints": []})
    # Nor may the rule without conditions, of which no proof has a box.
    one = Samples(np.ones((2, 1), dtype=bool), [True, True])
    easy = RuleSetLearning(one, 1, "1/4", "hamming")
    assert optimum(easy) == 1
    with pytest.raises(Refused, match="required features alone"):
        proved(easy.to_dict(), document(easy, ["prices 1 0 1 1 1", "counted"], Claim(4)))
    for line in (
        "prices 0 0 1 1 1",
        "prices 1 0 4 1 1",
        "prices 1 0 1 2 1",
        "prices 1 0",
        "prices 1 3 0",
        "other",
    ):
        with pytest.raises(Refused, match="line 2: "):
            proved(problem.to_dict(), document(problem, [line, "counted"], Claim(2)))


def test_a_bad_sample_is_shared_by_as_many_rules_as_there_may_be() -> None:
    """Two rules cost 10 each and cover the bad sample of weight 8, each one good one of 15."""
    table, same = [[1, 0], [0, 1], [1, 1], [0, 0]], [True, True, False, False]
    problem = RuleSetLearning(Samples(table, same, weights=[15, 15, 8, 100]), 1, Fraction(5, 69))
    assert optimum(problem) == 28
    instance, lines = problem.to_dict(), ["rules 2", "prices 1 0 28 1 28", "counted"]
    assert proved(instance, document(problem, lines, Claim(28))) == Claim(28)
    with pytest.raises(Refused, match="line 5: the proof is complete"):
        proved(instance, document(problem, [*lines, "counted"], Claim(28)))
    # The price of no rule would do, if each paid for the bad sample more than once.
    lines[1] = "prices 1 0 30 1 30"
    with pytest.raises(Refused, match="a better rule"):
        proved(instance, document(problem, lines, Claim(30)))
    # Each of at most two rules is worth 1 more than it costs: 30 - 2.
    lines[0] = "up-to 2"
    assert proved(instance, document(problem, lines, Claim(28))) == Claim(28)
    with pytest.raises(Refused, match="a better rule"):
        proved(instance, document(problem, lines, Claim(29)))


def test_the_price_of_a_rule_is_rounded_down() -> None:
    """A rule costs a half."""
    problem = RuleSetLearning(
        Samples([[1], [0]], [True, False], weights=[1, 9]), 1, "1/20", "hamming"
    )
    assert optimum(problem) == 1
    instance = problem.to_dict()
    for lines, bound in ((["prices 2 0 1", "counted"], 1), (["prices 1", "counted"], 0)):
        assert proved(instance, document(problem, lines, Claim(bound))) == Claim(bound)
    with pytest.raises(Refused, match="a better rule"):
        proved(instance, document(problem, ["prices 1 0 1", "counted"], Claim(2)))


def test_units_are_small_enough_for_floats() -> None:
    """Twice a unit times the costs of 8 is to be below 2**53."""
    samples = Samples([[1], [0]], [True, False], weights=[3, 5])
    problem = RuleSetLearning(samples, 1, 0, "hamming")
    lines, instance = [f"prices {2**49 - 1}", "counted"], problem.to_dict()
    assert proved(instance, document(problem, lines, Claim(0))) == Claim(0)
    lines[0] = f"prices {2**49}"
    with pytest.raises(Refused, match="a unit and pairs of small numbers"):
        proved(instance, document(problem, lines, Claim(0)))


def test_sets_of_more_rules_pay_for_these_and_for_what_cannot_be_told_apart() -> None:
    """Errors of 2 and 1 are made by all sets, of 23 without a rule, which costs 4."""
    table, same = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]], [True, False, True, False, False]
    weights = [22, 2, 1, 1, 6]
    problem = RuleSetLearning(Samples(table, same, weights=weights), 1, "1/8")
    instance = problem.to_dict()
    # Two samples of the class differ: more rules than two are of no use, or than none where all
    # errors on them cost nothing.
    for rules, bound in ((0, 7), (1, 11), (2, 23), (3, 23)):
        assert prover.Table(instance).few_or(rules) == bound
    assert optimum(problem) == 13
    for name in ("rules", "up-to"):
        assert proved(instance, document(problem, [f"{name} 0"], Claim(7))) == Claim(7)
        with pytest.raises(Refused, match="line 2: sets of more rules are bounded by 7"):
            proved(instance, document(problem, [f"{name} 0"], Claim(8)))
    free = replace(problem, penalty=0, class_weights=(1, 0))
    assert prover.Table(free.to_dict()).few_or(0) == 0


def test_conjunctions_may_be_worth_more_where_rules_are_few() -> None:
    """Each of three samples has a literal of its own and costs 10, a rule costs 6."""
    table = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    samples = Samples(table, [1, 1, 1, 0], weights=[10, 10, 10, 100])
    problem = RuleSetLearning(samples, 1, Fraction(6, 130), "hamming")
    assert optimum(problem) == 18
    instance = problem.to_dict()

    def lines(rules: int, price: int) -> list[str]:
        return [f"up-to {rules}", f"prices 7 0 {price} 1 {price} 2 {price}", "counted"]

    # A conjunction is worth y, in units of 1/7. Sets of s rules cost 3 y - s (y - 6), more than 17
    # at y = 39/7 for one, at 55/7 for up to three, and at 70/7 for up to three.
    for rules, price in ((3, 39), (4, 42), (4, 48), (3, 55), (2, 70), (3, 70)):
        assert proved(instance, document(problem, lines(rules, price), Claim(18))) == Claim(18)
        with pytest.raises(Refused, match=r"a better rule|rules are bounded by 18"):
            proved(instance, document(problem, lines(rules, price), Claim(19)))
    for wrong, match in (
        (lines(3, 38), "a better rule"),
        (lines(4, 55), "a better rule"),
        (lines(1, 70), "line 2: sets of more rules are bounded by 12"),
        (lines(3, 71), "line 3: sample 0 has no such price"),
        (lines(3, 70)[1:], "a better rule"),
        (["rules 3", *lines(3, 42)[1:]], "line 2: prices and whole numbers"),
        (["up-to 3 3", *lines(3, 42)[1:]], "line 2: up-to and whole numbers"),
        (lines(3, 70)[:1], "line 3: "),
        (lines(3, 70)[:2], "line 4: "),
        ([*lines(3, 70), "counted"], "line 5: the proof is complete"),
    ):
        with pytest.raises(Refused, match=match):
            proved(instance, document(problem, wrong, Claim(18)))
    # Nothing costs less than nothing, whatever is asked for.
    for low in (0, -(10**30)):
        assert proved(instance, document(problem, lines(3, 0), Claim(low))) == Claim(low)


def test_no_random_prices_prove_too_much() -> None:
    """Neither with one rule at most that is counted, nor with more, by lines that count all."""
    rng, accepted = np.random.default_rng(5), 0
    for _ in range(80):
        problem = drawn(rng)
        value, instance = optimum(problem), problem.to_dict()
        own = np.flatnonzero(problem.samples.same)
        for _ in range(8):
            unit, rules = (int(rng.integers(1, most)) for most in (9, 6))
            shared = unit * (1 if problem.loss == "hamming" else rules)
            most = prover.Table(instance).costs[own] * shared
            prices = np.minimum(rng.integers(0, most + 1) + most // 2 * (rng.random() < 0.5), most)
            numbers = np.stack([own, prices], axis=1).ravel().tolist()
            named = " ".join(map(str, ["prices", unit, *numbers]))
            for claim in (value, value + 1):
                file = document(problem, [f"up-to {rules}", named, "counted"], Claim(claim))
                try:
                    proved(instance, file)
                except Refused:
                    continue
                assert claim == value
                accepted += 1
    assert accepted > 20


def test_prices_that_are_stopped_early_are_as_small_as_a_rule_asks_for() -> None:
    """The only rule costs 3/4, and is worth the error that it saves: 1, in units of 1/4."""
    problem = RuleSetLearning(Samples([[1], [0], [0]], [1, 0, 0]), 1, Fraction(1, 4), "hamming")
    questions = iter([True])
    claim, lines = prover.prove(problem.to_dict(), Claim(3), lambda: next(questions, False))
    assert claim == Claim(3)
    assert proved(problem.to_dict(), document(problem, lines, claim)) == claim


def test_all_sets_are_counted_up_to_the_optimum() -> None:
    rng = np.random.default_rng(0)
    for number in range(40):
        problem = drawn(rng)
        value = optimum(problem)
        for claim in (value, value - 1):
            file = document(problem, ["counted"], Claim(claim))
            assert proved(problem.to_dict(), file) == Claim(claim)
        with pytest.raises(Refused, match="a set costs less"):
            proved(problem.to_dict(), document(problem, ["counted"], Claim(value + 1)))
        for lines in (["counted", "counted"], ["counted 1"]):
            with pytest.raises(Refused):
                proved(problem.to_dict(), document(problem, lines, Claim(value)))
        if number % 4 == 0:
            # All sets are bounded, whatever the side constraints allow.
            some = problem.where("not x0")
            assert proved(some.to_dict(), document(some, ["counted"], Claim(value)))
            with pytest.raises(Refused, match="a set costs less"):
                proved(some.to_dict(), document(some, ["counted"], Claim(value + 1)))


def test_conjunctions_that_are_too_many_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = Samples([[1, 0], [0, 1], [0, 0]], [True, True, False], weights=[3, 3, 9])
    problem = RuleSetLearning(samples, 1, "1/15", "hamming")
    file = document(problem, ["counted"], Claim(2))
    # Three conjunctions, three samples.
    monkeypatch.setattr(checker, "_MOST_LISTED", 9)
    assert proved(problem.to_dict(), file) == Claim(2)
    monkeypatch.setattr(checker, "_MOST_LISTED", 8)
    with pytest.raises(Undecided, match="line 2: there are too many conjunctions"):
        proved(problem.to_dict(), file)


def test_sets_are_counted_unseen_where_floats_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """All costs with that of a rule, and the claim, times four: below 2**53, as in the checker."""
    monkeypatch.setattr(prover, "_MANY", 0)
    told = []
    for penalty in (Fraction(0), Fraction(1, 3), Fraction(1)):
        problem = RuleSetLearning(Samples([[1, 1], [1, 0]], [True, True]), 1, penalty)
        scale = penalty.denominator
        for claim, more in itertools.product((0, 2**20), range(-3, 4)):
            most = (2**51 - claim) // scale
            heavy = int(most / (1 + penalty)) // scale * scale + more - 1
            instance = problem.to_dict() | {"weights": [heavy, 1]}
            _, lines = prover.prove(instance, Claim(claim), lambda: False, [RecordedTree(1)])
            told.append(checker.Table(instance).all_sets().exact(claim))
            assert (lines == ["counted"]) == told[-1]
    assert 10 < sum(told) < 32


def test_recorded_prices_are_not_sought_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule costs 10, and so does each literal's samples at the prices: two are the same.

    At half of the prices a rule costs 5 more than it is worth; at twice the prices all sets but
    that of one rule cost 20 or more, and two rules cost 20.
    """
    weights = [10, 30, 20, 90]
    samples = Samples([[1, 0], [0, 1], [1, 0], [0, 0]], [1, 1, 1, 0], weights=weights)
    literals = np.array([[0, 1], [1, 0]], dtype=bool)
    losses: tuple[tuple[Loss, int], ...] = (("hamming", 1), ("zero-one", 1), ("zero-one", 2))
    for loss, rules in losses:
        problem = RuleSetLearning(samples, 1, "1/15", loss)
        assert optimum(problem) == 20
        for share, largest, reached in ((1 / 3, 10.0, 20), (2 / 3, 20.0, 20), (1 / 6, 5.0, 15)):
            record = [RecordedPrices(literals, np.full(2, share), largest, rules)]
            with monkeypatch.context() as patched:
                patched.setattr(prover, "_prices", lambda *_: (np.zeros(4), 0.0))
                patched.setattr(prover, "_MANY", 0)
                instance = problem.to_dict()
                claim, lines = prover.prove(instance, Claim(20), lambda: False, record)
            assert claim is not None
            assert (claim == Claim(20)) == (reached == 20)
            assert proved(instance, document(problem, lines, claim)) == claim


@pytest.mark.parametrize("n", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_what_column_generation_records_proves_its_bound(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no bound that is better: conjunctions at its prices are left to the checker."""
    rng, by_prices = np.random.default_rng(n), 0
    with monkeypatch.context() as patched:
        patched.setattr(prover, "_prices", None)
        for _ in range(n):
            problem = replace(drawn(rng), loss="hamming")
            result = solve(problem, "column-generation", proof=True)
            assert result.objective == result.bound == optimum(problem)
            assert result.proof is not None
            assert result.proof.complete
            claim = Claim(result.bound)
            assert proved(problem.to_dict(), result.proof.to_bytes()) == claim
            by_prices += result.proof.lines[0].startswith("up-to")
            wrong = document(problem, list(result.proof.lines), Claim(int(result.bound) + 1))
            with pytest.raises(Refused):
                proved(problem.to_dict(), wrong)
    assert by_prices > n // 2


def test_prices_are_left_to_the_checker_where_rounding_is_within_what_they_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where they are not, conjunctions are looked at: that one is worth more is found out."""
    samples = Samples([[1, 0], [0, 1], [0, 0]], [1, 1, 0], weights=[3, 3, 9])
    problem = RuleSetLearning(samples, 1, "1/15", "hamming")
    seen = list[bool]()

    def told(box: Any, over: Any, trusted: bool) -> Any:
        seen.append(trusted)
        return close(box, over, trusted=trusted)

    monkeypatch.setattr(prover, "close", told)
    literals = np.array([[1, 0], [0, 1]], dtype=bool)
    # Two rules cost 2. With a unit of 1, three samples may be rounded by as much.
    for unit, trusted in ((2**20, True), (5, True), (4, False), (1, False)):
        monkeypatch.setattr(prover, "_UNIT", unit)
        record = [RecordedPrices(literals, np.full(2, 1 / 3), 1.0, 1)]
        claim, lines = prover.prove(problem.to_dict(), Claim(2), lambda: False, record)
        assert (claim, seen.pop(0)) == (Claim(2), trusted)
        assert proved(problem.to_dict(), document(problem, lines, Claim(2))) == claim
        seen.clear()


def test_sets_that_the_search_went_through_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((100, 8)) < 0.5
    same = rows[:, :2].all(axis=1) | rows[:, 2:5].all(axis=1)
    problem = RuleSetLearning(Samples(rows, same ^ (rng.random(100) < 0.05)), 2, Fraction(1, 100))
    with monkeypatch.context() as patched:
        patched.setattr(prover, "_prices", None)
        patched.setattr(counting, "cheaper_sets", None)
        result = solve(problem, "column-generation", proof=True)
    assert result.proved
    assert result.proof is not None
    assert result.proof.lines == ("counted",)
    assert proved(problem.to_dict(), result.proof.to_bytes()) == Claim(result.bound)
