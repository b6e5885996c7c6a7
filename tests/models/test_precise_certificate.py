"""Certificates of a given error against brute force, their judge, and whole domains."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cpx import Samples, solve
from cpx.answers.result import Status
from cpx.check import violations
from cpx.check.proofs import Claim, Refused, proved
from cpx.data import Background, Binarizer, Product, Uniform
from cpx.data.distributions import Factorised
from cpx.data.oracle import Oracle
from cpx.errors import InvalidInstance, InvalidOption
from cpx.modelling import instances
from cpx.models.certificate.methods import certificate_complexity, domain_samples
from cpx.models.certificate.methods.complexity import cube
from cpx.models.certificate.precise import PreciseCertificate
from cpx.models.certificate.prove_precise import prove
from tests.check.proof_files import altered, document
from tests.seeds import each, some


def _samples(rows: list[str], same: str, weight: int = 1) -> Samples:
    bits = np.array([[bit == "1" for bit in row] for row in rows])
    weights = np.full(len(rows), weight, dtype=np.int64)
    return Samples(bits, np.array([bit == "1" for bit in same]), weights=weights)


_WHERE = {
    "not (x0 and x1)": lambda chosen: not {0, 1} <= chosen,
    "2 * x2 - x0 - x1 > 0": lambda chosen: 2 * (2 in chosen) > len({0, 1} & chosen),
    "x0 + x1 + x2 == 2": lambda chosen: len({0, 1, 2} & chosen) == 2,
}


def _random(seed: int, huge: int = 2**40) -> PreciseCertificate:
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 20)), int(rng.integers(1, 7))
    most = int(rng.choice([2, 5, huge // 20]))
    samples = Samples(
        rng.random((m, d)) < rng.uniform(0.2, 0.9),
        rng.random(m) < 0.5,
        weights=rng.integers(1, most, m),
    )
    order = rng.permutation(d).tolist()
    problem = PreciseCertificate(
        samples,
        str(Fraction(int(rng.integers(0, 6)), int(rng.choice([5, 7, 10])))),
        required=tuple(order[: int(rng.integers(0, 2))]),
        forbidden=tuple(order[1:][: int(rng.integers(0, 2))]),
    )
    if d > 2 and rng.random() < 0.5:
        problem = problem.where(str(rng.choice([*_WHERE])))
    return problem


def _close(rng: np.random.Generator) -> PreciseCertificate:
    """Return a problem whose least certificate has several features."""
    d = int(rng.integers(6, 10))
    samples = Samples(rng.random((60, d)) < 0.8, rng.random(60) < 0.6)
    problem = PreciseCertificate(samples, str(Fraction(int(rng.integers(0, 5)), 20)))
    return problem.where("not (x0 and x1)") if rng.random() < 0.5 else problem


def _brute(problem: PreciseCertificate) -> int | None:
    """Go through all sets, smaller ones first, by the definition."""
    samples, d = problem.samples, problem.n_features
    bounds = set(problem.required), set(problem.forbidden)
    for k in range(d + 1):
        for chosen in combinations(range(d), k):
            if not bounds[0] <= set(chosen) or bounds[1] & set(chosen):
                continue
            if not all(_WHERE[one.text](set(chosen)) for one in problem.side_constraints):
                continue
            total = wrong = 0
            for row, same, weight in zip(
                samples.agreement, samples.same, samples.weights, strict=True
            ):
                if all(row[j] for j in chosen):
                    total += int(weight)
                    wrong += 0 if same else int(weight)
            if total and Fraction(wrong, total) <= Fraction(problem.epsilon):
                return k
    return None


@each(range(60))
def test_search_finds_the_least_size(seed: int) -> None:
    problem = _random(seed)
    result, truth = solve(problem, "search"), _brute(problem)
    assert result.status is (Status.INFEASIBLE if truth is None else Status.OPTIMAL)
    assert result.objective == result.bound == truth
    assert result.verified is True
    assert violations(json.loads(instances.dumps(problem)), result.to_dict()) == []


@pytest.mark.parametrize("n", some(60, 600))
def test_the_least_size_is_proved_and_nothing_beyond(n: int) -> None:
    rng, tried, refused, rules = np.random.default_rng(0), 0, 0, set[str]()
    for seed in range(n):
        problem = _random(1000 + seed, 1000) if seed % 3 else _close(rng)
        instance, truth = problem.to_dict(), Claim(_brute(problem))
        claim, lines = prove(instance, truth, lambda: False)
        assert claim == truth
        assert proved(instance, document(problem, lines, truth)) == truth
        rules |= {line.split(" ")[0] for line in lines}
        if truth.bound is None:
            continue
        for wrong in (Claim(None), Claim(truth.bound + 1)):
            with pytest.raises(Refused):
                prove(instance, wrong, lambda: False)
            for _ in range(5):
                tried += 1
                changed = altered(lines, rng)
                with pytest.raises(Refused):
                    proved(instance, document(problem, changed, wrong))
                try:
                    proved(instance, document(problem, changed, truth))
                except Refused:
                    refused += 1
    assert rules >= {"split", "bounded", "counted"}
    assert refused > tried / 3


def test_any_engine_comes_with_a_proof() -> None:
    rng = np.random.default_rng(1)
    samples = Samples(rng.random((100, 12)) < 0.6, rng.random(100) < 0.5)
    problem = PreciseCertificate(samples, "1/8")
    for engine in ("search", "cpsat"):
        result = solve(problem, engine, proof=True)
        assert result.proof is not None
        assert result.proof.complete
        assert proved(problem.to_dict(), result.proof.to_bytes()) == Claim(result.objective)


@pytest.mark.parametrize("engine", ["cpsat", "maxsat", "milp"])
def test_engines_agree(engine: str) -> None:
    for seed in range(300, 306):
        problem = _random(seed, 1000)
        result = solve(problem, engine)
        assert (result.objective, result.proved) == (_brute(problem), True), seed


def test_a_time_limit_leaves_an_interval() -> None:
    rng = np.random.default_rng(0)
    bits = rng.random((2000, 60)) < 0.6
    problem = PreciseCertificate(Samples(bits, rng.random(2000) < 0.3), "1/10")
    result = solve(problem, "search", time_limit=0.05)
    assert result.status is not Status.OPTIMAL
    # On a busy machine the time may be over before anything is known.
    assert None in (result.objective, result.bound) or result.objective >= result.bound
    assert violations(json.loads(instances.dumps(problem)), result.to_dict()) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"objective": 1, "bound": 1}, "objective"),
        ({"bound": 3}, "bound"),
        ({"explanation": {"features": [0]}}, "error: 1 of 2"),
        (
            {"explanation": {"features": [0, 1, 2]}, "objective": 3, "bound": 3},
            "beyond the value 2",
        ),
        ({"explanation": {"precision": "2/3"}}, "precision"),
        ({"status": "INFEASIBLE", "explanation": None}, "the constraints have a solution"),
    ],
)
def test_the_judge_refutes(change: dict[str, Any], told: str) -> None:
    samples = _samples(["111", "101", "011"], "100")
    problem = PreciseCertificate(samples, "1/3")
    saved = json.loads(instances.dumps(problem))
    result = json.loads(json.dumps(solve(problem, "search").to_dict()))
    assert violations(saved, result) == []
    explanation = change.pop("explanation", {})
    result |= change
    result["explanation"] = None if explanation is None else result["explanation"] | explanation
    assert any(told in line for line in violations(saved, result))


def test_bad_input() -> None:
    samples = _samples(["1"], "1")
    with pytest.raises(InvalidInstance, match="epsilon"):
        PreciseCertificate(samples, 2)
    with pytest.raises(InvalidInstance, match="forbidden"):
        PreciseCertificate(samples, 0, forbidden=(1,))
    with pytest.raises(InvalidInstance, match=r"epsilon .* total weight below 2\*\*31"):
        PreciseCertificate(_samples(["1"], "1", 2**39), f"1/{2**30 + 1}")


# -------------------------------------------------------------- whole domains


@pytest.mark.parametrize("epsilon", ["0", "1/5"])
def test_over_all_bits_it_is_the_certificate_complexity(epsilon: str) -> None:
    rng, d = np.random.default_rng(3), 5
    values = rng.integers(0, 3, 2**d)

    def f(z: np.ndarray) -> np.ndarray:
        return np.asarray(values[z @ (1 << np.arange(d - 1, -1, -1))])

    sizes = certificate_complexity(f, d, epsilon).sizes
    for x, size in zip(cube(d)[::7], sizes[::7], strict=True):
        samples = domain_samples(Oracle(f, x, Uniform(d)))
        assert solve(PreciseCertificate(samples, epsilon), "search").objective == size


def test_a_product_is_gone_through_with_its_probabilities() -> None:
    table = pd.DataFrame({"size": [1.0, 2.0, 2.0, None, 3.5], "tint": list("aabca")})
    binarizer = Binarizer(n_bins=2).fit(table)
    D = Product(Background(table, binarizer))

    def f(rows: pd.DataFrame) -> np.ndarray:
        return np.asarray((rows["size"].fillna(9) > 2) & (rows["tint"] != "b"))

    x = table.iloc[[4]]
    samples = domain_samples(Oracle(f, x, D))
    all_rows = pd.DataFrame(list(product(table["size"], table["tint"])), columns=table.columns)
    bits = np.asarray(binarizer.transform(all_rows), dtype=bool)
    agrees = bits == D.encode(x)
    assert samples.total == len(all_rows)
    for chosen in [(), (0,), (1, 3), tuple(range(bits.shape[1]))]:
        covered = agrees[:, chosen].all(axis=1)
        same = f(all_rows) == f(x)
        mine = samples.covered(chosen)
        assert int(samples.weights[mine].sum()) == covered.sum()
        assert int(samples.weights[mine & samples.same].sum()) == (covered & same).sum()


def test_fine_probabilities_are_rounded_to_limits() -> None:
    """Errors are no less, or no more, than those of exact probabilities, and near them."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, (16001, 5)) | (rng.random((16001, 5)) < 0.3)
    oracle = Oracle(
        lambda z: (z[:, 0] & z[:, 1]) | (z[:, 2] & z[:, 3]), rows[0], Product(Background(rows))
    )
    with pytest.raises(InvalidOption, match="rounded"):
        domain_samples(oracle)
    up, down = domain_samples(oracle, "up"), domain_samples(oracle, "down")
    shares = [Fraction(int((rows[:, j] == rows[0, j]).sum()), len(rows)) for j in range(5)]
    label = oracle.classifier(rows[:1])[0]
    for chosen in [S for k in range(6) for S in combinations(range(5), k)]:
        good = bad = Fraction(0)
        for z in product((0, 1), repeat=5):
            agrees = [bit == own for bit, own in zip(z, rows[0], strict=True)]
            if all(agrees[j] for j in chosen):
                weight = Fraction(1)
                for own, share in zip(agrees, shares, strict=True):
                    weight *= share if own else 1 - share
                same = oracle.classifier(np.array([z]))[0] == label
                good, bad = good + same * weight, bad + (not same) * weight
        low, high = (
            Fraction(int(own.weights[c & ~own.same].sum()), int(own.weights[c].sum()))
            for own in (down, up)
            for c in [own.covered(chosen)]
        )
        assert low <= bad / (good + bad) <= high <= low + Fraction(1, 10**6)


def test_domains_that_are_not_gone_through_are_named() -> None:
    with pytest.raises(InvalidOption, match=r"has 524288 rows, at most 262144"):
        domain_samples(Oracle(lambda z: z[:, 0], [1] * 19, Uniform(19)))
    rows = np.random.default_rng(0).integers(0, 2, (3001, 4))
    with pytest.raises(InvalidOption, match="too fine probabilities"):
        domain_samples(Oracle(lambda z: z[:, 0], rows[0], Product(Background(rows))))
    fitted = Factorised(Background(rows))
    with pytest.raises(InvalidOption, match="uniform, product and empirical, got factorised"):
        domain_samples(Oracle(lambda z: z[:, 0], rows[0], fitted))
