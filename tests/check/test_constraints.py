"""Constraints of rules, and claims that nothing satisfies them, against all rules there are."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

from cpx import check
from cpx.models.monomial import judge as monomials
from tests.seeds import some

_SHARES = ("1/4", "1/3", "2/5", "1/2", "3/5", "3/4")


def instance_of(kind: str, seed: int) -> dict[str, Any]:
    pick = random.Random(seed)
    m, d = 7, 4
    parameters: dict[str, Any] = {"k": pick.randint(0, d)}
    for name, chance in (("required", 0.3), ("forbidden", 0.3)):
        if pick.random() < chance:
            parameters[name] = pick.sample(range(d), pick.randint(1, 2))
    for name in ("min_coverage", "max_coverage", "min_precision"):
        if pick.random() < 0.5:
            parameters[name] = pick.choice(("0", *_SHARES, "1"))
    if pick.random() < 0.3:
        parameters["one_per_group"] = True
    return {
        "problem": kind,
        "parameters": parameters,
        "samples": ["".join(pick.choices("01", (1, 3), k=d)) for _ in range(m)],
        "labels": "".join(pick.choices("01", k=m)),
        "weights": [pick.randint(1, 3) for _ in range(m)],
        "groups": [0, 0, 1, 2],
    }


def allowed(instance: dict[str, Any], features: tuple[int, ...]) -> bool:
    """Say whether a rule keeps all constraints, from their definitions."""
    asked, groups = instance["parameters"], [instance["groups"][j] for j in features]
    default = {"max-precision": {"min_coverage": "1/20"}, "max-coverage": {"min_precision": ".95"}}
    asked = {**default.get(instance["problem"], {}), **asked}
    rows = [*zip(instance["samples"], instance["labels"], instance["weights"], strict=True)]
    inside = [row for row in rows if all(row[0][j] == "1" for j in features)]
    total, covered = (sum(w for _, _, w in part) for part in (rows, inside))
    right = sum(w for _, label, w in inside if label == "1")
    precise = "min_precision" in asked
    return (
        len(features) <= asked["k"]
        and {*asked.get("required", ())} <= {*features}
        and not {*asked.get("forbidden", ())} & {*features}
        and not (asked.get("one_per_group") and len({*groups}) < len(groups))
        and covered >= Fraction(asked.get("min_coverage", 0)) * total
        and covered <= Fraction(asked.get("max_coverage", 1)) * total
        and right >= Fraction(asked.get("min_precision", 0)) * covered
        and (covered > 0 or not (precise or instance["problem"] == "max-precision"))
    )


def refused(told: list[str]) -> bool:
    """Say whether a constraint is said to be broken."""
    return any(t.endswith((" wanted", "is covered")) or t.startswith("features") for t in told)


@pytest.mark.parametrize("n", some(60, 250))
@pytest.mark.parametrize("kind", ["k-monomial", "negative-only", "max-precision", "max-coverage"])
def test_constraints_and_infeasibility_are_decided_as_by_all_rules(n: int, kind: str) -> None:
    blank = {"objective": None, "bound": None, "gap": None, "trace": []}
    none = {**blank, "status": "INFEASIBLE", "explanation": None}
    seen = set()
    for seed in range(n):
        instance = instance_of(kind, seed)
        rules = [s for n in range(5) for s in itertools.combinations(range(4), n)]
        claims = [
            {
                **blank,
                "status": "FEASIBLE",
                "explanation": {"features": [*s], "rule": {"literals": []}},
            }
            for s in rules
        ]
        *said, infeasible = check.violations_each(instance, [*claims, none])
        kept = [rule for rule in rules if allowed(instance, rule)]
        assert [rule for rule, told in zip(rules, said, strict=True) if not refused(told)] == kept
        # Solutions of up to two more features than the required ones are found.
        most = len(instance["parameters"].get("required", ())) + 2
        assert bool(infeasible) == any(len(rule) <= most for rule in kept), seed
        seen.add((bool(kept), bool(infeasible)))
    assert seen >= {(True, True), (False, False)}


@pytest.mark.parametrize("n", some(60, 250))
@pytest.mark.parametrize("kind", ["k-monomial", "negative-only", "max-precision", "max-coverage"])
def test_bounds_are_refuted_by_the_best_rule_of_two_more_features_than_are_required(
    n: int,
    kind: str,
) -> None:
    objective = monomials._OBJECTIVES[kind]
    sign = 1 if kind in ("k-monomial", "negative-only") else -1
    seen = set()
    for seed in range(n):
        instance = instance_of(kind, seed)
        data = monomials.read(instance)
        most = len(instance["parameters"].get("required", ())) + 2
        rules = [s for n in range(5) for s in itertools.combinations(range(4), n)]
        small = [rule for rule in rules if len(rule) <= most and allowed(instance, rule)]
        found = monomials._small_rule(kind, data)
        values = {
            rule: sign * objective(data, data.agrees[:, list(rule)].all(axis=1)) for rule in small
        }
        seen.add(found is None)
        if found is None:
            assert not small, seed
        else:
            assert values[tuple(found)] == min(values.values()), seed
            worst = max(values, key=lambda rule: values[rule])
            value = str(sign * values[worst]) if kind == "max-precision" else sign * values[worst]
            claim = {
                **{"status": "OPTIMAL", "objective": value, "bound": value, "gap": 0.0},
                **{"trace": [], "explanation": {"features": [*worst], "rule": {"literals": []}}},
            }
            told = [t for t in check.violations(instance, claim) if t.startswith("bound: ")]
            assert bool(told) == (values[worst] > min(values.values())), (seed, told)
    assert seen == {True, False}


def test_a_small_rule_has_one_feature_of_a_group_that_a_required_one_is_of() -> None:
    """Of the group of feature 0 feature 1 would be better, alone or with feature 2."""
    instance = {
        "problem": "k-monomial",
        "parameters": {"k": 3, "required": [0], "one_per_group": True},
        "samples": ["110", "111", "111", "101"],
        "labels": "0110",
        "weights": [3, 2, 2, 4],
        "groups": [0, 0, 1],
    }
    assert monomials._small_rule("k-monomial", monomials.read(instance)) == [0, 2]


def test_the_most_precise_small_rule_may_cover_a_weight_of_1() -> None:
    instance = {
        "problem": "max-precision",
        "parameters": {"k": 1},
        "samples": ["01", "11", "01", "01"],
        "labels": "1110",
    }
    assert monomials._small_rule("max-precision", monomials.read(instance)) == [0]


def test_a_claim_of_infeasibility_that_takes_too_long_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One more feature than the required ones is needed: the work is m d d products."""
    instance = {
        "problem": "k-monomial",
        "parameters": {"k": 1, "max_coverage": "2/3"},
        "samples": ["10", "01", "11"],
        "labels": "101",
    }
    none = {"status": "INFEASIBLE", "explanation": None, "objective": None, "bound": None,
            "gap": None, "trace": []}  # fmt: skip
    monkeypatch.setattr(monomials, "_MOST_PRODUCTS", 11)
    assert check.violations(instance, none) == []
    monkeypatch.setattr(monomials, "_MOST_PRODUCTS", 12)
    assert check.violations(instance, none) != []
