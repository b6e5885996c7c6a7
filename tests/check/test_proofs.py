"""Proofs of rules on samples: right ones are taken, and no false claim ever is."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from cpx import KMonomial, MaxCoverage, MaxPrecision, Samples
from cpx.answers.values import Value
from cpx.check.proofs import Claim, Refused, Undecided, covers, proof_of, provable, proved
from cpx.check.proofs import document as documents
from cpx.check.proofs.branching import Part, SideConstraints
from cpx.check.proofs.document import fingerprint
from cpx.models import NegativeOnly
from cpx.models.monomial import proof_boxes as boxes
from cpx.models.monomial import proof_check as checker
from cpx.models.monomial import proof_goals as goals
from cpx.models.monomial import prove as prover
from cpx.models.monomial.problem import MonomialProblem
from cpx.models.monomial.proof_boxes import Box
from cpx.models.monomial.proof_goals import Goal
from tests.check.proof_files import document
from tests.check.test_altered_results import PROBLEMS_ASKED
from tests.seeds import some

KINDS: tuple[type[MonomialProblem], ...] = (KMonomial, NegativeOnly, MaxCoverage, MaxPrecision)


def drawn(rng: np.random.Generator) -> MonomialProblem:
    """Return a small problem: any kind, weights, groups, limits, equal columns, no solution."""
    d, m = int(rng.integers(1, 9)), int(rng.integers(1, 40))
    agreement = rng.random((m, d)) < rng.choice([0.3, 0.5, 0.8])
    if d > 1 and rng.random() < 0.2:
        agreement[:, 1] = agreement[:, 0]
    kind = KINDS[rng.integers(len(KINDS))]
    huge = 2**25 if kind is MaxPrecision else 2**34
    most = (1, 1, 5, huge)[rng.integers(4)]
    grouped = rng.random() < 0.4
    samples = Samples(
        agreement,
        rng.random(m) < rng.choice([0.2, 0.5, 0.8]),
        weights=rng.integers(1, most + 1, m),
        groups=tuple(rng.integers(0, max(1, d - 1), d).tolist()) if grouped else None,
    )
    options: dict[str, Any] = {"k": int(rng.integers(0, d + 1)), "one_per_group": grouped}
    for name, share in (("required", 0.3), ("forbidden", 0.3)):
        if rng.random() < share:
            options[name] = [int(rng.integers(d))]
    for name, share, least in (
        ("min_coverage", 0.35, 0),
        ("max_coverage", 0.25, 2),
        ("min_precision", 0.25, 2),
    ):
        if rng.random() < share:
            options[name] = Fraction(int(rng.integers(least, 10)), 10)
    problem = kind(samples, **options)
    if rng.random() < 0.3 and d > 2:
        texts = "not (x0 and x1)", "x1 or x2", "exactly(1, x0, x1, x2)", "implies(x0, not x2)"
        problem = problem.where(texts[rng.integers(4)])
    return problem


def optimum(problem: MonomialProblem) -> Value | None:
    """Return the best value by trying all sets."""
    found = [
        problem.evaluate(problem.explanation(chosen))
        for size in range(problem.k + 1)
        for chosen in itertools.combinations(range(problem.n_features), size)
        if problem.side_constraints.allow(chosen)
    ]
    values = [one.objective for one in found if one.feasible]
    if not values:
        return None
    return min(values) if problem.sense == "min" else max(values)


def better(problem: MonomialProblem, value: Value) -> Value:
    """Return a bound that a problem of this optimum does not have, by as little as can be."""
    if isinstance(value, Fraction):
        return value - Fraction(1, 10**6 * value.denominator)
    return value + 1 if problem.sense == "min" else value - 1


def holds(problem: MonomialProblem, claim: Claim, value: Value | None) -> bool:
    """Whether a claim is true of a problem of this optimum."""
    if value is None or claim.bound is None:
        return value is None
    return claim.bound <= value if problem.sense == "min" else claim.bound >= value


def two_samples() -> KMonomial:
    """Return a problem of optimum 0."""
    return KMonomial(Samples(np.eye(2, dtype=bool), np.array([True, False])), k=1)


def never() -> bool:
    return False


def proofs(n: int, seed: int) -> Iterator[tuple[MonomialProblem, Value | None, list[str]]]:
    """Return random problems, their optima, and the lines that prove these."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        problem = drawn(rng)
        value = optimum(problem)
        trusted = bool(rng.integers(2))
        claim, lines = prover.prove(problem.to_dict(), Claim(value), never, trusted)
        assert claim == Claim(value)
        yield problem, value, lines


@pytest.fixture(params=[1, 2, 3, 4])
def counted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Small problems are not all counted at once: some are split down to the last feature."""
    monkeypatch.setattr(prover, "_COUNTED", request.param)
    return int(request.param)


def test_optima_of_all_kinds_are_proved_and_nothing_better(counted: int) -> None:
    seen = set()
    for problem, value, lines in proofs(50, seed=counted):
        seen.add((problem.kind, value is None))
        instance = problem.to_dict()
        assert proved(instance, document(problem, lines, Claim(value))) == Claim(value)
        if value is None:
            continue
        for wrong in (Claim(None), Claim(better(problem, value))):
            if isinstance(wrong.bound, Fraction) and wrong.bound < 0:
                continue  # no precision
            with pytest.raises(Refused):
                prover.prove(instance, wrong, never)
            with pytest.raises(Refused):
                proved(instance, document(problem, lines, wrong))
    assert len(seen) == 2 * len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_great_weight_that_required_features_exclude_is_added_exactly(
    kind: type[MonomialProblem],
) -> None:
    # What is left is added in small floats, which cannot tell the great weight from one more.
    rng = np.random.default_rng(0)
    for _ in range(8):
        agreement = rng.random((60, 7)) < 0.6
        agreement[-1] = np.arange(7) > 0
        same = agreement[:, :4].all(axis=1)
        same[-1] = True
        weights = np.ones(60, dtype=int)
        weights[-1] = 2**28 + rng.integers(2**20)
        least = Fraction(1, int(weights.sum()))
        samples = Samples(agreement, same, weights=weights)
        problem = kind(samples, k=4, required=[0], min_coverage=least)
        value, instance = optimum(problem), problem.to_dict()
        assert value is not None
        claim, lines = prover.prove(instance, Claim(value), never)
        assert proved(instance, document(problem, lines, claim)) == Claim(value)
        for wrong in (Claim(None), Claim(better(problem, value))):
            if isinstance(wrong.bound, int) and wrong.bound < 0:
                continue
            with pytest.raises(Refused):
                proved(instance, document(problem, ["counted"], wrong))


@pytest.mark.parametrize("kind", KINDS)
def test_rules_that_must_be_right_in_all_cases(kind: type[MonomialProblem]) -> None:
    rng, found = np.random.default_rng(1), 0
    for _ in range(12):
        samples = Samples(rng.random((25, 6)) < 0.6, rng.random(25) < 0.7)
        problem = kind(samples, k=3, min_precision=1)
        value, instance = optimum(problem), problem.to_dict()
        claim, lines = prover.prove(instance, Claim(value), never)
        assert proved(instance, document(problem, lines, claim)) == claim == Claim(value)
        found += value is not None
        if isinstance(value, int) and value > 0:
            with pytest.raises(Refused):
                proved(instance, document(problem, ["counted"], Claim(better(problem, value))))
    assert found > 3


def test_a_goal_bounds_all_sums_that_its_limits_leave() -> None:
    far = goals.FAR
    for goal, sums, low in (
        (Goal(2, 3, 10, 99), (4, 9, 5), 23),
        (Goal(0, 3, 10, 99), (4, 9, 5), 15),
        (Goal(1, 1, 10, 99, least=4), (0, 9, 8), 10),
        (Goal(1, 1, 10, 99, least=9), (0, 5, 8), far),
        (Goal(1, 1, 10, 99, most=3), (2, 9, 0), 11),
        (Goal(1, 1, 10, 99, gamma=1, delta=1), (5, 9, 5), 10),
        (Goal(1, 1, 10, 99, gamma=1, delta=1), (6, 9, 5), far),
        (Goal(-1, 1, 10, 99), (0, 4, 3), -1),
        (Goal(-1, 1, 10, 99, most=5), (0, 4, 3), 5),
        (Goal(-1, 1, 10, 99, gamma=1, delta=1), (0, 4, 8), 6),
        (Goal(-1, 1, 10, 99, gamma=2, delta=1), (0, 4, 3), 0),
        (Goal(-1, 1, 10, 99, gamma=3, delta=2), (0, 9, 1), -5),
    ):
        assert goal.low(*sums) == low, (goal, sums)
    rng = np.random.default_rng(0)
    for _ in range(500):
        good = int(rng.integers(1, 8))
        weights = (-1, 1) if rng.random() < 0.3 else rng.integers(0, 4, 2).tolist()
        most = int(rng.integers(1, 10)) if rng.random() < 0.5 else None
        shares = rng.integers(0, 3, 2).tolist()
        shares[1] *= shares[0] > 0
        goal = Goal(*weights, good, 99, int(rng.integers(0, 5)), most, *shares)
        low, high = sorted(rng.integers(0, 7, 2).tolist())
        lost = int(rng.integers(0, good + 1))
        c, l = np.meshgrid(np.arange(low, high + 1), np.arange(lost, good + 1))
        assert goal.low(low, high, lost) <= goal.cost(c, l).min(), goal


@pytest.mark.parametrize("great", [2**24 - 2, 2**24 - 1, 2**24, 2**39])
def test_weights_of_samples_are_added_exactly(great: int) -> None:
    """Single precision adds up to 2**24 exactly, and not beyond."""
    samples = Samples([[1, 1], [1, 0]], [False, False], weights=[great, 1])
    root = checker.Question(KMonomial(samples, k=2).to_dict(), Claim(0)).root
    assert root is not None
    assert root.singles[0].tolist() == [great + 1, great]
    assert root.pairs[0].tolist() == [[great + 1, great], [great, great]]


def _over(times: int) -> Callable[[], bool]:
    """Return what says, after so many questions, that the time is up."""
    left = iter(range(times))
    return lambda: next(left, None) is None


def test_a_proof_that_is_interrupted_proves_the_bound_reached(counted: int) -> None:
    rng = np.random.default_rng(counted)
    less = 0
    for problem, value, _ in proofs(100, seed=10 + counted):
        if value is None:
            continue
        goal = Claim(value)
        claim, lines = prover.prove(problem.to_dict(), goal, _over(int(rng.integers(6))))
        assert claim is not None
        assert holds(problem, claim, value)
        saved = document(problem, lines, claim, goal)
        assert proved(problem.to_dict(), saved) == claim
        if claim != goal:
            less += 1
            with pytest.raises(Refused):
                proved(problem.to_dict(), document(problem, lines, goal))
    assert less > 1


def _attack(rng: np.random.Generator, lines: list[str], d: int) -> list[str]:
    """Return altered lines: dropped, doubled, swapped, other rules, other features."""
    out = list(lines)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(out))) if out else 0
        features = " ".join(map(str, rng.permutation(d)[: rng.integers(d + 1)]))
        rule = str(rng.choice(["bounded", "counted", "open", f"split {features}".strip()]))
        match rng.integers(5):
            case 0 if out:
                del out[at]
            case 1:
                out.insert(at, rule)
            case 2 if out:
                out[at] = rule
            case 3 if out:
                other = int(rng.integers(len(out)))
                out[at], out[other] = out[other], out[at]
            case _ if out:
                words = out[at].split(" ")
                out[at] = " ".join([*words, words[-1]])
    return out


def _attacked(n: int, seed: int) -> int:
    """Attack proofs; no false claim is taken. Returns how many true ones were refused."""
    rng, refused = np.random.default_rng(seed), 0
    for problem, value, lines in proofs(n, seed):
        instance, d = problem.to_dict(), problem.n_features
        wrongs = [Claim(None)] if value is not None else [Claim(value)]
        if value is not None:
            wrongs.append(Claim(better(problem, value)))
        for claim in (*wrongs, Claim(value)):
            for _ in range(3):
                altered = document(problem, _attack(rng, lines, d), claim)
                try:
                    assert holds(problem, proved(instance, altered), value), altered
                except Refused:
                    refused += claim == Claim(value)
    return refused


def test_no_altered_proof_proves_a_false_claim(counted: int) -> None:
    assert _attacked(40, seed=20 + counted) > 50


@pytest.mark.slow
def test_no_altered_proof_of_many_proves_a_false_claim(counted: int) -> None:
    assert _attacked(400, seed=30 + counted) > 500


def test_a_line_less_or_more_is_no_proof(counted: int) -> None:
    for problem, value, lines in proofs(15, seed=40 + counted):
        instance, claim = problem.to_dict(), Claim(value)
        for at in range(len(lines)):
            if not lines[at].startswith("split"):
                with pytest.raises(Refused):
                    proved(instance, document(problem, lines[:at] + lines[at + 1 :], claim))
        with pytest.raises(Refused, match="complete"):
            proved(instance, document(problem, [*lines, "bounded"], claim))


def test_a_truncated_or_damaged_file_is_refused(counted: int) -> None:
    rng = np.random.default_rng(counted)
    for problem, value, lines in proofs(12, seed=50 + counted):
        instance, whole = problem.to_dict(), document(problem, lines, Claim(value))
        assert proved(instance, gzip.compress(whole)) == Claim(value)
        packed = gzip.compress(whole)
        # A file that is open stays so.
        with BytesIO(packed) as stream:
            assert proved(instance, stream) == Claim(value)
            assert not stream.closed
        for length in rng.integers(0, len(whole) - 1, 5):
            with pytest.raises(Refused):
                proved(instance, whole[:length])
        for length in rng.integers(0, len(packed) - 8, 5):
            with pytest.raises(Refused):
                proved(instance, packed[:length])
        for at in rng.integers(0, len(whole), 20):
            altered = whole[:at] + bytes([rng.integers(256)]) + whole[at + 1 :]
            with suppress(Refused):
                assert holds(problem, proved(instance, altered), value)


def test_a_proof_of_another_instance_is_refused(counted: int) -> None:
    made = list(proofs(12, seed=60 + counted))
    for (problem, value, lines), (other, *_) in itertools.pairwise(made):
        with pytest.raises(Refused, match=r"another instance|instance is one of"):
            proved(other.to_dict(), document(problem, lines, Claim(value)))


@pytest.mark.parametrize("n", some(20, 60))
def test_a_prover_whose_bounds_are_off_by_one_is_caught(
    n: int, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It drops pairs that the goal does not, so that parts are missing."""
    right, caught = Box.tightened, 0

    def wrong(self: Box, useful: Any, rounds: int = 100) -> Any:
        c, l = self.pairs
        return right(self, useful, rounds) & (self.goal.cost(c, l) < self.goal.target + 2)

    rng = np.random.default_rng(counted)
    for _ in range(n):
        m, d = 40, 7
        samples = Samples(rng.random((m, d)) < 0.6, rng.random(m) < 0.4)
        problem = KMonomial(samples, k=4)
        claim = Claim(optimum(problem))
        with monkeypatch.context() as patched:
            patched.setattr(Box, "tightened", wrong)
            _, lines = prover.prove(problem.to_dict(), claim, never)
        try:
            proved(problem.to_dict(), document(problem, lines, claim))
        except Refused:
            caught += 1
    assert caught > n // 12


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ({"version": 2}, "version"),
        ({"format": "cpx-result"}, "version"),
        ({"kind": "other"}, "no kind"),
        ({"problem": "negative-only"}, "instance is one of"),
        ({"claim": {"bound": 1.5}}, "a claim is"),
        ({"claim": {"bound": True}}, "a claim is"),
        ({"claim": {"bound": "1/0"}}, "a claim is"),
        ({"claim": {"bound": "1e999999999"}}, "a claim is"),
        ({"claim": {"bound": "9" * 5000}}, "a claim is"),
        ({"claim": {"bound": "1/2"}}, "no value"),
        ({"claim": {"infeasible": 1}}, "a claim is"),
        ({"claim": {"bound": 10**30}}, "too large"),
        ({"goal": {"bound": -1}}, "does not follow"),
        ({"goal": {"infeasible": True}}, "does not follow"),
        ({"more": 1}, "keys"),
        ({"kind": 1}, "must be texts"),
        ({"problem": None}, "must be texts"),
        ({"instance": ["x"]}, "must be texts"),
    ],
)
def test_an_altered_header_is_refused(header: dict[str, Any], told: str) -> None:
    problem = two_samples()
    whole = document(problem, ["bounded"], Claim(0))
    assert proved(problem.to_dict(), whole) == Claim(0)
    first, rest = whole.split(b"\n", 1)
    altered = json.dumps(json.loads(first) | header).encode() + b"\n" + rest
    with pytest.raises(Refused, match=told):
        proved(problem.to_dict(), altered)


@pytest.mark.parametrize("first", [b"", b"[]", b"{", b"\xff", b"1", b"[" * 10**5])
def test_what_has_no_header_is_refused(first: bytes) -> None:
    problem = two_samples()
    with pytest.raises(Refused, match="header"):
        proved(problem.to_dict(), first + b"\nbounded\n")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "line 2: the proof ends here"),
        (b"bounded", "line 2: the proof ends here"),
        (b"bounded\nx\n", "line 3: the proof is complete"),
        (b"bounded 0\n", "line 2: 'bounded' stands alone"),
        (b"split 7\n", "line 2: the feature 7 is no candidate"),
        (b"split -1\n", "line 2: whole numbers"),
        (b"split 0\nother\n", "line 3: no rule is called 'other'"),
        (b"split 0 0\nbounded\n", "line 2: the feature 0 is no candidate, or was split before"),
        (b"\xc3\xa4\n", "line 2: not in ASCII"),
    ],
)
def test_what_is_refused_is_told_with_its_line(body: bytes, told: str) -> None:
    problem = two_samples()
    with pytest.raises(Refused) as refused:
        proved(problem.to_dict(), document(problem, [], Claim(0)) + body)
    assert str(refused.value).startswith(told)


def test_lines_are_as_long_as_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    header = document(two_samples(), [], Claim(0))
    monkeypatch.setattr(documents, "_LONGEST_LINE", 500)
    with documents.opened(header + b"a" * 499 + b"\n" + b"a" * 500 + b"\n") as read:
        assert read.line() == ["a" * 499]
        with pytest.raises(Refused, match="line 3: longer than 500 bytes"):
            read.line()


def test_numbers_have_few_digits_and_no_other_signs() -> None:
    nines = "9" * 18
    assert documents.whole_numbers(["0", nines]) == [0, int(nines)]
    assert [*map(documents.signed_number, ("7", "-7", f"-{nines}"))] == [7, -7, -int(nines)]
    for word in (f"{nines}9", "", "-", "+7", "--7", "7.0", " 7"):
        with pytest.raises(Refused, match="at most 18 digits"):
            documents.signed_number(word)


def test_the_order_of_keys_does_not_tell_instances_apart() -> None:
    instance = two_samples().to_dict()
    turned = dict(reversed(instance.items()))
    assert [*turned] != [*instance]
    assert fingerprint(turned) == fingerprint(instance)
    assert fingerprint({**instance, "name": "n", "context": {}}) == fingerprint(instance)
    assert fingerprint({**instance, "labels": "01"}) != fingerprint(instance)


@pytest.mark.parametrize(("weight", "factors"), [(2**53, [1, 1]), (2**52, [1, 2]), (2**53, None)])
def test_weights_that_floats_may_not_add_up_are_refused(
    weight: int, factors: list[int] | None
) -> None:
    parameters = {} if factors is None else {"class_weights": factors}
    instance = {"problem": "any", "parameters": parameters}
    for weights in ([weight - 1], [weight - 2, 1], [weight // 2 - 1, -(weight // 2)]):
        documents.refuse_unknown({**instance, "weights": weights}, {"weights"}, {"class_weights"})
    for heavy in ([weight], [weight - 1, -1]):
        with pytest.raises(Undecided, match="too large"):
            documents.refuse_unknown(
                {**instance, "weights": heavy}, {"weights"}, {"class_weights"}
            )


@pytest.mark.parametrize("kind", provable())
def test_constraints_that_the_checker_does_not_know_are_refused_by_name(kind: str) -> None:
    asked = [problem for problem, _ in PROBLEMS_ASKED.values() if problem.kind == kind]
    instance = asked[0].to_dict()
    for more in (
        {"constraints": ["x0 + x1 >= 1"]},
        {"parameters": {**instance["parameters"], "constraints": []}},
    ):
        header = json.loads(document(two_samples(), [], Claim(0)))
        header |= {"kind": proof_of(kind)[0], "problem": kind}
        header["instance"] = fingerprint(instance | more)
        with pytest.raises(Undecided, match="proofs do not know constraints"):
            proved(instance | more, f"{json.dumps(header)}\n".encode())


def test_weights_that_integers_of_64_bits_cannot_add_up_are_refused() -> None:
    # Four times 2**62 is 0 there, and so would be the cost of each rule.
    altered = two_samples().to_dict() | {
        "samples": ["10", "01", "01", "01", "01"],
        "labels": "10000",
        "weights": [1, *[2**62] * 4],
    }
    header = json.loads(document(two_samples(), [], Claim(0)).split(b"\n")[0])
    header["instance"] = fingerprint(altered)
    with pytest.raises(Undecided, match="too large"):
        proved(altered, f"{json.dumps(header)}\nbounded\n".encode())


def test_removals_that_integers_of_64_bits_cannot_add_up_drop_no_pair() -> None:
    """Feature 0 covers a great weight that each of 1099 others removes: together over 2**63."""
    n, great = 1100, 2**53 - 2**12
    altered = two_samples().to_dict() | {
        "parameters": {"k": n, "min_coverage": f"1/{great + 2}"},
        "samples": ["1" + "0" * (n - 1), "0" + "1" * (n - 1), "1" * n],
        "labels": "001",
        "weights": [great, 1, 1],
        "features": [f"f{j}" for j in range(n)],
    }
    # Features 0 and 1 cover the good sample alone.
    header = json.loads(document(two_samples(), [], Claim(1)).split(b"\n")[0])
    header["instance"] = fingerprint(altered)
    with pytest.raises(Refused, match="not bounded"):
        proved(altered, f"{json.dumps(header)}\nbounded\n".encode())


def test_pairs_are_dropped_where_integers_of_64_bits_add_up_their_removals() -> None:
    samples = Samples([[1, 0, 0], [0, 1, 1], [1, 1, 1]], [0, 0, 1])
    root = checker.Question(KMonomial(samples, k=3).to_dict(), Claim(0)).root
    assert root is not None
    useful, root.r = ~np.eye(3, dtype=np.bool_), 4
    for root.c, left in ((2**60 - 1, False), (2**60, True)):
        assert root.tightened(useful).any() == left


def test_boxes_in_each_other_take_no_more_memory_than_allowed(
    counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, refused = np.random.default_rng(counted), 0
    for _ in range(3):
        samples = Samples(rng.random((80, 12)) < 0.6, rng.random(80) < 0.4)
        problem = KMonomial(samples, k=6)
        goal = Claim(optimum(problem))
        _, lines = prover.prove(problem.to_dict(), goal, never)
        with monkeypatch.context() as patched:
            for module in (checker, prover):
                patched.setattr(module, "MOST_ENTRIES", 500)
            # The prover leaves open what the checker refuses.
            claim, shorter = prover.prove(problem.to_dict(), goal, never)
            assert claim is not None
            assert holds(problem, claim, goal.bound)
            saved = document(problem, shorter, claim, goal)
            assert proved(problem.to_dict(), saved) == claim
            if claim != goal:
                refused += 1
                with pytest.raises(Refused, match="entries"):
                    proved(problem.to_dict(), document(problem, lines, goal))
            # Nor does it trust that boxes are small enough for their sets to be counted.
            claim, trusted = prover.prove(problem.to_dict(), goal, never, trusted=True)
            assert claim is not None
            assert proved(problem.to_dict(), document(problem, trusted, claim, goal)) == claim
        assert proved(problem.to_dict(), document(problem, lines, goal)) == goal
    assert refused


def test_sets_of_four_more_are_counted_in_no_more_memory_than_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    problem = KMonomial(Samples(rng.random((300, 12)) < 0.7, rng.random(300) < 0.4), k=5)
    goal = Claim(optimum(problem))
    _, lines = prover.prove(problem.to_dict(), goal, never)
    parts = lines[0].removeprefix("split ").split()
    lines = [lines[0], *["counted"] * len(parts)]
    assert proved(problem.to_dict(), document(problem, lines, goal)) == goal
    monkeypatch.setattr(checker, "MOST_ENTRIES", 500)
    with pytest.raises(Refused, match="entries"):
        proved(problem.to_dict(), document(problem, lines, goal))
    # Nor does a prover that trusts the goal write what is refused.
    monkeypatch.setattr(prover, "MOST_ENTRIES", 500)
    claim, lines = prover.prove(problem.to_dict(), goal, never, trusted=True)
    assert claim is not None
    assert proved(problem.to_dict(), document(problem, lines, claim, goal)) == claim


def _tightened(box: Box, useful: Any) -> Any:
    """Drop pairs once, one by one, as the page on proofs has it."""
    (c, l), r = box.pairs, box.r
    left = np.zeros_like(useful)
    for p, q in np.argwhere(useful):
        lows = [0]
        for one, other in ((p, q), (q, p)):
            alone = c[one, one]
            most = sorted((alone - c[one, useful[one]]).tolist(), reverse=True)
            removed = min(alone - c[one, other] + sum(most[: r - 2]), sum(most[: r - 1]))
            lows.append(alone - removed)
        left[p, q] = box.goal.low(max(lows), c[p, q], l[p, q]) < box.goal.target
    return left


def test_pairs_are_dropped_round_by_round() -> None:
    rng, dropped = np.random.default_rng(0), [0, 0, 0]
    for k in (3, 4, 5) * 15:
        samples = Samples(rng.random((60, int(rng.integers(5, 10)))) < 0.6, rng.random(60) < 0.4)
        problem = KMonomial(samples, k=k)
        root = checker.Question(problem.to_dict(), Claim(optimum(problem))).root
        assert root is not None
        useful = ~np.eye(root.candidates.size, dtype=np.bool_)
        by_one = useful
        for rounds in range(3):
            assert np.array_equal(root.tightened(useful, rounds), by_one)
            by_one = _tightened(root, by_one)
            dropped[rounds] += not np.array_equal(root.tightened(useful, rounds + 1), useful)
        while not np.array_equal(last := by_one, by_one := root.tightened(last, 1)):
            pass
        assert np.array_equal(root.tightened(useful), by_one)
        without = useful & (np.arange(len(useful)) != 0)
        without[0] = False
        assert np.array_equal(root.without(0, useful), _tightened(root, without))
    assert min(dropped) > 5


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_largest_removals_of_a_row_are_added_up(n: int) -> None:
    rows = np.array([[5, 0, 3], [2, 7, 7]])
    ordered = [sorted(row, reverse=True) for row in rows.tolist()]
    less, full = boxes._largest(rows, n)
    assert full.tolist() == [[sum(row[:n])] for row in ordered]
    assert less.tolist() == [[sum(row[: n - 1])] for row in ordered]


@pytest.mark.parametrize("n", some(60, 250))
def test_sets_of_three_more_are_counted_where_no_set_is_larger(n: int) -> None:
    rng, refused = np.random.default_rng(1), [0, 0]
    for _ in range(n):
        problem = drawn(rng)
        root = checker.Question(problem.to_dict(), Claim(optimum(problem))).root
        if root is None or root.candidates.size < 3:
            continue
        at, n = root.candidates, root.candidates.size
        more = int(rng.integers(1, 4))
        root.r, root.goal = 3, replace(root.goal, target=root.goal.target + more)
        useful = np.triu(rng.random((n, n)) < rng.choice([0.3, 0.6]), 1)
        useful |= useful.T
        found = []
        for places in itertools.chain(
            itertools.combinations(range(n), 2), itertools.combinations(range(n), 3)
        ):
            agrees = root._agrees[list(places)].all(axis=0)
            c = int(root._weights[: root._bad][agrees[: root._bad]].sum(dtype=float))
            kept = int(root._weights[root._bad :][agrees[root._bad :]].sum(dtype=float))
            cost = root.goal.cost(c, root.goal.good - kept)
            if all(useful[pair] for pair in itertools.combinations(places, 2)):
                here = np.array([(*root.chosen, *at[list(places)].tolist())])
                found.append(cost < root.goal.target and root.about.side.kept_by(here)[0])
        refused[any(found)] += 1
        with pytest.raises(Refused, match="better") if any(found) else nullcontext():
            root.refuse_sets(useful)
        root.r = 5
        with pytest.raises(Refused, match="5 more features are too many"):
            root.refuse_sets(useful)
    assert min(refused) > n // 25


def test_sets_of_up_to_four_more_are_counted_whatever_the_prover_looked_at() -> None:
    """A trusted prover writes ``counted`` without a look: every wrong goal is to be refused."""
    rng, of_four, claimed = np.random.default_rng(1), 0, 0
    while of_four < 12:
        samples = Samples(rng.random((16, 7)) < 0.75, rng.random(16) < 0.4)
        kind, limits = [(KMonomial, {}), (MaxPrecision, {"min_coverage": "1/16"})][claimed % 2]
        problem, fewer = kind(samples, k=4, **limits), kind(samples, k=3, **limits)
        value = optimum(problem)
        assert value is not None
        # Of these no set of three is better than the optimum of four, and one of four is.
        of_four += optimum(fewer) != value
        right, wrong = Claim(value), Claim(better(problem, value))
        for goal in (right, wrong):
            claim, lines = prover.prove(problem.to_dict(), goal, never, trusted=True)
            assert (claim, lines) == (goal, ["counted"])
        assert proved(problem.to_dict(), document(problem, ["counted"], right)) == right
        with pytest.raises(Refused, match="better"):
            proved(problem.to_dict(), document(problem, ["counted"], wrong))
        claimed += 1
    assert claimed > of_four


def _useful(box: Box) -> Any:
    """Decide pairs one by one, as the page on proofs has it, before any is tightened."""
    (c, l), about, at = box.pairs, box.about, box.candidates
    n, free = at.size, not len(about.side)

    def replaces(b: int, a: int) -> bool:
        alone = about.alone[at[b]] or about.group[at[a]] == about.group[at[b]]
        better = c[a, b] == c[b, b] and l[a, b] == l[a, a]
        return bool(alone and better and about.rank[at[b]] < about.rank[at[a]])

    gone = {
        a for a in range(n) for b in range(n)
        if free and not box.goal.limited and replaces(b, a)
    }  # fmt: skip
    out = np.zeros((n, n), dtype=bool)
    for p, q in itertools.product(range(n), repeat=2):
        idle = c[p, q] in (c[p, p], c[q, q]) and free and box.goal.most is None
        here = (*box.chosen, int(at[p]), int(at[q]))
        beats = box.goal.cost(c[p, q], l[p, q]) < box.goal.target and (
            free or about.side.kept_by(np.array([here]))[0]
        )
        out[p, q] = about.group[at[p]] != about.group[at[q]] and not (
            idle or gone & {p, q} or (box.r == 2 and not beats)
        )
    return out


@pytest.mark.parametrize("n", some(60, 250))
def test_pairs_are_dropped_for_the_reasons_that_are_told(n: int) -> None:
    rng, seen = np.random.default_rng(0), set()
    for number in range(n):
        problem = drawn(rng)
        if number % 5 == 0:  # features that exclude the same, in groups
            table = np.repeat(rng.random((20, 3)) < 0.6, 2, axis=1)
            samples = Samples(table, rng.random(20) < 0.5, groups=rng.integers(0, 4, 6).tolist())
            problem = KMonomial(samples, k=3, one_per_group=True)
        value = optimum(problem)
        # Beyond the optimum some sets do beat the goal.
        one = isinstance(value, int) and value and rng.integers(2)
        goal = better(problem, value) if one else value
        root = checker.Question(problem.to_dict(), Claim(goal)).root
        if root is None or root.r < 2:
            continue
        useful = _useful(root)
        assert np.array_equal(root.useful(), root.tightened(useful))
        if useful.any() and not useful.all():
            seen.add((root.goal.limited, root.goal.most is None, len(root.about.side), root.r > 2))
    # No limit, one of some kind, or one from above; with side constraints and without.
    assert len(seen) >= 6


def test_the_sums_of_a_box_are_what_its_largest_removals_leave() -> None:
    rng, left = np.random.default_rng(0), 0
    for k in (1, 2, 3, 4) * 3:
        samples = Samples(rng.random((300, 9)) < 0.9, rng.random(300) < 0.3)
        root = checker.Question(KMonomial(samples, k=k).to_dict(), Claim(0)).root
        assert root is not None
        removed = sorted((root.c - root.singles[0]).tolist())[::-1]
        assert root.sums() == (max(0, root.c - sum(removed[:k])), root.l)
        left += k > 1 and root.c > sum(removed[:k])
    assert left > 3


def test_a_box_as_a_part_has_its_chosen_features_and_is_free_in_its_candidates() -> None:
    samples = Samples(np.ones((3, 5), dtype=bool), [True, False, False])
    problem = KMonomial(samples, k=3, required=[3], forbidden=[1])
    root = checker.Question(problem.to_dict(), Claim(0)).root
    assert root is not None
    part = root.child(0, np.array([False, True, True])).part()
    assert np.flatnonzero(part.kept).tolist() == [0, 3]
    assert np.flatnonzero(part.free).tolist() == [2, 4]
    assert np.flatnonzero(part.out).tolist() == [1]


def test_entries_of_the_tables_of_boxes_in_each_other_are_added_up() -> None:
    """Those of the outermost do not count: its tables are there in any case."""
    samples = Samples(np.ones((3, 4), dtype=bool) ^ np.eye(3, 4, dtype=bool), [True, False, False])
    root = checker.Question(KMonomial(samples, k=3).to_dict(), Claim(None)).root
    assert root is not None
    assert root.within == 0
    some = np.array([False, True, True, True])
    one = root.child(0, some)
    # Of three samples two agree on feature 0: a table of 3 x 2, and one of pairs.
    assert (one.within, one.chosen, one.r) == (6 + 9, (0,), 2)
    assert one.child(1, np.array([True, False, False])).within == 15 + 1 + 1


def test_ranks_are_by_what_a_feature_costs_alone() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        samples = Samples(rng.random((30, 7)) < 0.6, rng.random(30) < 0.5)
        problem = KMonomial(samples, k=3, forbidden=[int(rng.integers(7))])
        root = checker.Question(problem.to_dict(), Claim(0)).root
        assert root is not None
        covered, lost = root.singles
        order = np.argsort(covered + lost, kind="stable")
        assert root.about.rank[root.candidates[order]].tolist() == [*range(6)]


def test_features_alone_in_their_groups_are_those_of_no_other_candidate() -> None:
    samples = Samples(np.ones((2, 6), dtype=bool), [True, False], groups=(0, 0, 1, 1, 2, 3))
    problem = KMonomial(samples, k=3, forbidden=[1], one_per_group=True)
    root = checker.Question(problem.to_dict(), Claim(0)).root
    assert root is not None
    assert root.candidates.tolist() == [0, 2, 3, 4, 5]
    assert root.about.alone[root.candidates].tolist() == [True, False, False, True, True]


def test_no_limit_of_what_is_covered_is_none_in_the_goal() -> None:
    samples = two_samples().samples
    for options in ({}, {"max_coverage": 1}):
        root = checker.Question(KMonomial(samples, k=1, **options).to_dict(), Claim(0)).root
        assert root is not None
        assert not root.goal.limited


@pytest.mark.parametrize(
    ("bound", "precision"), [(Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 4), None)]
)
def test_sums_that_64_bits_may_not_hold_are_left_undecided(
    bound: Fraction, precision: Fraction | None
) -> None:
    data = SimpleNamespace(
        min_precision=precision, min_coverage=None, max_coverage=None, covers_something=False
    )
    asked = SimpleNamespace(kind="max-precision", good=1, total=2**60 - 1, data=data)
    assert checker.Question._sums(asked, Claim(bound)).target < 4
    asked.total += 1
    with pytest.raises(Undecided, match="too large"):
        checker.Question._sums(asked, Claim(bound))


@pytest.mark.parametrize("total", [2**24 - 1, 2**24, 2**53 - 1, 2**53])
def test_weights_are_added_in_a_type_that_does_so_exactly(total: int) -> None:
    goal = Goal(1, 1, 0, 1)
    table, weights = np.ones((1, 1), dtype=bool), np.array([total])
    asked = (table, weights, np.zeros(1, dtype=int), np.arange(1), np.arange(1), 1, goal)
    if total == 2**53:
        with pytest.raises(Undecided, match="too large"):
            checker.root_box(*asked)
        return
    box, _ = checker.root_box(*asked)
    assert box._weights.dtype == (np.float32 if total < 2**24 else np.float64)
    assert box.c == total


def test_without_candidates_all_samples_are_one() -> None:
    table, bad, good = checker._merged(
        np.ones((3, 0), dtype=bool), np.array([1, 2, 3]), np.array([0, 4, 0])
    )
    assert (table.shape, bad.tolist(), good.tolist()) == ((1, 0), [6], [4])


@pytest.mark.parametrize("width", [0, 1, 8, 9, 16, 23])
def test_equal_rows_are_one_row_whatever_their_width(width: int) -> None:
    rng = np.random.default_rng(width)
    rows = np.zeros((40, width), dtype=np.uint8)
    rows[:, -1:] = rng.integers(0, 256, (40, min(width, 1)))
    rows = rows[rng.integers(0, 40, 80)]
    first, of = checker.distinct(rows)
    assert np.array_equal(rows[first][of], rows)
    assert first.tolist() == [of.tolist().index(one) for one in range(first.size)]
    assert first.size == len({row.tobytes() for row in rows})


def test_a_constraint_that_some_set_of_a_box_keeps_does_not_end_it() -> None:
    problem = two_samples().where("feature[0] or feature[1]")
    with pytest.raises(Refused, match="not broken by all sets"):
        proved(problem.to_dict(), document(problem, ["breaks 0"], Claim(1)))


def test_a_constraint_is_kept_where_one_of_several_features_is_left() -> None:
    one_of = {"text": "x0 or x1", "means": [{"terms": [[1, [0, 1]]], "at_least": 1}]}
    none_of = {"text": "not (x0 or x1)", "means": [{"terms": [[-1, [0, 1]]], "at_least": 0}]}
    side = SideConstraints({"where": [one_of, none_of]})
    for kept, out, broken in (
        ([], [], [False, False]),
        ([], [0], [False, False]),
        ([], [0, 1], [True, False]),
        ([1], [], [False, True]),
    ):
        part = Part(np.isin(np.arange(3), kept), np.isin(np.arange(3), out))
        assert [side.breaks(number, part) for number in (0, 1)] == broken


def test_boxes_are_in_each_other_as_deep_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(checker, "DEEPEST", 2)
    rng = np.random.default_rng(0)
    problem = KMonomial(Samples(rng.random((80, 12)) < 0.6, rng.random(80) < 0.4), k=6)
    question = checker.Question(problem.to_dict(), Claim(optimum(problem)))
    lines = iter(["split", "split", "split"])
    line = SimpleNamespace(line=lambda: [next(lines)], named=nullcontext)

    def parts(box: Box, useful: Any, features: Any, document: Any, goal: Any, depth: int) -> None:
        seen.append(depth)
        _check_parts(box, useful, features, document, goal, depth)

    _check_parts = checker._check_parts
    monkeypatch.setattr(checker, "_check_parts", parts)
    assert question.root is not None
    for depth in (0, 1):
        with pytest.raises(Refused, match="no part has"):
            checker.check_box(question.root, line, question.root.goal, depth)
    with pytest.raises(Refused, match="more than 2 boxes in each other"):
        checker.check_box(question.root, line, question.root.goal, 2)
    assert seen == [1, 2, 3]


def test_the_linear_algebra_of_the_checker_takes_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, seen = two_samples(), list[int]()
    useful = Box.useful

    def watched(self: Box) -> Any:
        loaded = [one for one in threadpool_info() if "numpy" in one["filepath"]]
        seen.extend(one["num_threads"] for one in loaded)
        return useful(self)

    monkeypatch.setattr(Box, "useful", watched)
    proved(problem.to_dict(), document(problem, ["bounded"], Claim(0)))
    assert set(seen) == {1}


def test_samples_that_no_engine_sees_are_no_part_of_a_proof() -> None:
    problem = two_samples()
    told = KMonomial(problem.samples, k=1, unseen=problem.samples)
    assert "unseen" in told.to_dict()
    claim, lines = prover.prove(told.to_dict(), Claim(0), never)
    for proof in (document(told, lines, claim), document(problem, lines, claim)):
        assert proved(told.to_dict(), proof) == proved(problem.to_dict(), proof) == Claim(0)
    with pytest.raises(Refused, match="better rule"):
        prover.prove(told.to_dict(), Claim(1), never)


def test_a_claim_covers_what_is_between_bound_and_value() -> None:
    result = {"status": "FEASIBLE", "bound": 3, "objective": 5}
    assert [covers(Claim(bound), result) for bound in (2, 3, 4, 6, None)] == [
        False, True, True, False, False,
    ]  # fmt: skip
    assert covers(Claim(5), result)
    assert not covers(Claim(5), result | {"bound": None})
    assert covers(Claim(None), {"status": "INFEASIBLE", "bound": None, "objective": None})
    assert not covers(Claim(1), {"status": "INFEASIBLE", "bound": None, "objective": None})
