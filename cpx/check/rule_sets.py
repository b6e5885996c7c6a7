"""Answers to the selection and the learning of rules, from the saved instance alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proof import beaten, compare, proof, wrong_features, wrong_types

__all__ = ["KINDS", "judge"]

KINDS = ("rule-set", "rule-set-learning")


class _Sets(ABC):
    """The instance, read from its strings; a subclass says which rules there are."""

    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.parameters = parameters = instance["parameters"]
        rows = instance["samples"]
        codes = np.frombuffer("".join(rows).encode("ascii"), dtype=np.uint8)
        self.literals = codes.reshape(len(rows), -1) == ord("1")
        self.same = np.array([label == "1" for label in instance["labels"]])
        self.weights = np.array(instance.get("weights") or [1] * len(rows), dtype=np.int64)
        other, own = parameters.get("class_weights") or (1, 1)
        self.errors = self.weights * np.where(self.same, own, other)
        total = int(self.errors.sum())
        self.price: Fraction = Fraction(parameters.get("penalty", 0)) * total
        self.hamming = parameters.get("loss", "zero-one") == "hamming"
        d = self.literals.shape[1]
        self.names = instance.get("features") or [f"x{j}" for j in range(d)]

    @abstractmethod
    def rule(self, r: int) -> list[int]:
        """Return the literals of a rule."""

    @abstractmethod
    def count(self) -> int:
        """Return how many rules there are."""

    def length(self, r: int) -> int:
        """Return how many literals a rule counts as."""
        return len(self.rule(r))

    def text(self, r: int) -> str:
        """Return a rule in words."""
        return " and ".join(self.names[j] for j in self.rule(r)) or "(always)"

    def cover(self, r: int) -> NDArray[np.bool_]:
        """Say which samples have all literals of a rule."""
        covered = np.ones(len(self.same), dtype=np.bool_)
        for j in self.rule(r):
            covered &= self.literals[:, j]
        return covered

    def times(self, chosen: list[int]) -> NDArray[np.int64]:
        """Count the rules that cover each sample."""
        out = np.zeros(len(self.same), dtype=np.int64)
        for r in chosen:
            out += self.cover(r)
        return out

    def objective(self, chosen: list[int]) -> int:
        """Return the value in the units of the objective, the least that make it an integer."""
        times = self.times(chosen)
        wrong = int(self.errors[(times == 0) & self.same].sum())
        often = times if self.hamming else np.minimum(times, 1)
        wrong += int((self.errors * often)[~self.same].sum())
        value = (wrong + self.price * len(chosen)) * self.price.denominator
        assert value.denominator == 1
        return int(value)

    def broken(self, chosen: list[int]) -> list[str]:
        """Say which constraints a set breaks."""
        return wrong_features(chosen, self.count())

    def small_set(self) -> list[int] | None:
        """Return the best set of the required rules and up to one more; None for a broken one."""
        base = sorted(self.parameters.get("required", ()))
        if self.broken(base):
            return None
        # The first ones: of all conjunctions these are of one literal at most.
        most = min(self.count(), self.literals.shape[1] + 1, _MOST_SETS)
        sets = [base, *([*base, r] for r in range(most) if r not in base)]
        return min((rules for rules in sets if not self.broken(rules)), key=self.objective)


class _Selection(_Sets):
    """Rules of a list."""

    def rule(self, r: int) -> list[int]:
        found: list[int] = self.parameters["rules"][r]
        return found

    def count(self) -> int:
        return len(self.parameters["rules"])

    def length(self, r: int) -> int:
        lengths = self.parameters.get("lengths")
        return super().length(r) if lengths is None else int(lengths[r])

    def broken(self, chosen: list[int]) -> list[str]:
        if out := super().broken(chosen):
            return out
        limits = self.parameters
        if missing := sorted({*limits.get("required", ())} - {*chosen}):
            out.append(f"rules: the required {missing} are not selected")
        if present := sorted({*limits.get("forbidden", ())} & {*chosen}):
            out.append(f"rules: the forbidden {present} are selected")
        given = {
            "max_rules": len(chosen),
            "max_literals": sum(self.length(r) for r in chosen),
            "max_overlap": int(self.weights[self.times(chosen) > 1].sum()),
        }
        for name, value in given.items():
            most = limits.get(name)
            if most is not None and value > most:
                out.append(f"{name}: {value}, at most {most} allowed")
        return out


class _Learning(_Sets):
    """All conjunctions of few literals, numbered by size and then as words in a dictionary."""

    def rule(self, r: int) -> list[int]:
        d, size = self.literals.shape[1], 0
        while r >= comb(d, size):
            r, size = r - comb(d, size), size + 1
        # From the last to the first, conjunctions of n literals of the last j are comb(j, n).
        after, found = comb(d, size) - 1 - r, list[int]()
        rest = d
        for left in range(size, 0, -1):
            while comb(rest, left) > after:
                rest -= 1
            after -= comb(rest, left)
            found.append(d - 1 - rest)
        return found

    def count(self) -> int:
        d = self.literals.shape[1]
        return sum(comb(d, size) for size in range(min(self.parameters["max_literals"], d) + 1))


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    learned = instance["problem"] == KINDS[1]
    data = _Learning(instance) if learned else _Selection(instance)

    def complaints(result: Mapping[str, Any]) -> list[str]:
        found, status = result["explanation"], result["status"]
        if status == "INFEASIBLE":
            # Limits never get tighter when a rule is left out: the required rules decide.
            required = sorted(instance["parameters"].get("required", ()))
            out = [] if data.broken(required) else ["status: the required rules are a solution"]
            return out + ["explanation: an infeasible problem has none"] * (found is not None)
        if found is None:
            none = status in ("OPTIMAL", "FEASIBLE")
            return [f"status: {status} without an explanation"] * none
        chosen = found["features"]
        if out := data.broken(chosen) + wrong_types(result, int):
            return out
        objective = data.objective(chosen)
        compare(out, "objective", result["objective"], objective)
        out += _figures(data, found) + proof(result, objective, 1)
        if result["bound"] is not None and (rival := data.small_set()) is not None:
            out += beaten(result, rival, data.objective(rival), 1)
        return out

    return complaints


def _figures(data: _Sets, found: Mapping[str, Any]) -> list[str]:
    out: list[str] = []
    chosen = sorted(found["features"])
    times = data.times(chosen)

    def weigh(rows: NDArray[np.bool_]) -> tuple[int, int]:
        return int(data.weights[rows].sum()), int(data.weights[rows & data.same].sum())

    covered, right = weigh(times > 0)
    said = {key: None if found[key] is None else Fraction(found[key]) for key in _SHARES}
    compare(out, "precision", said["precision"], Fraction(right, covered) if covered else None)
    compare(out, "coverage", said["coverage"], Fraction(covered, int(data.weights.sum())))
    rule = found["rule"]
    compare(out, "rule", rule["literals"], [[r, data.text(r)] for r in chosen])
    compare(out, "total", rule["total"], int(data.weights.sum()))
    signed = np.where(data.same, data.errors, -data.errors)
    for r, figures in zip(chosen, rule["figures"], strict=True):
        alone = int(signed[data.cover(r) & (times == 1)].sum())
        compare(
            out, f"figures of rule {r}", figures, [data.length(r), *weigh(data.cover(r)), alone]
        )
    return out


_SHARES = ("precision", "coverage")
_MOST_SETS = 100
"""Sets that are weighed to refute a bound."""
