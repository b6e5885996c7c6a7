"""The check of rule sets, selected or learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.claims import (
    beaten,
    broken_by,
    class_name,
    compare,
    compare_shares,
    names_of,
    nothing_found,
    proof,
    wrong_features,
    wrong_figures,
    wrong_rule,
    wrong_types,
)
from cpx.models.monomial.judge import table

KINDS = ("rule-set", "rule-set-learning")


class _Sets(ABC):
    """The instance, of strings or an array of bool; a subclass says which rules there are."""

    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.parameters = parameters = instance["parameters"]
        self.literals, self.same, self.weights = table(instance)
        other, own = parameters.get("class_weights") or (1, 1)
        self.errors = self.weights * np.where(self.same, own, other)
        total = int(self.errors.sum())
        self.price: Fraction = Fraction(parameters.get("penalty", 0)) * total
        self.hamming = parameters.get("loss", "zero-one") == "hamming"
        self.total = total
        self.names, self.called = names_of(instance), class_name(instance)
        self.side = broken_by(instance)
        self._counted: tuple[list[int], NDArray[np.int64]] | None = None

    @abstractmethod
    def rule(self, r: int) -> list[int]:
        """Return the literals of a rule."""

    @abstractmethod
    def count(self) -> int:
        """Return how many rules there are."""

    def length(self, r: int) -> int:
        """Return how many literals a rule counts as."""
        return len(self.rule(r))

    def cover(self, r: int) -> NDArray[np.bool_]:
        """Say which samples have all literals of a rule."""
        covered = np.ones(len(self.same), dtype=np.bool_)
        for j in self.rule(r):
            covered &= self.literals[:, j]
        return covered

    def times(self, chosen: list[int]) -> NDArray[np.int64]:
        """Count the rules that cover each sample; those of the last set are at hand."""
        if self._counted is None or self._counted[0] != chosen:
            out = np.zeros(len(self.same), dtype=np.int64)
            for r in chosen:
                out += self.cover(r)
            self._counted = list(chosen), out
        return self._counted[1]

    def wrong(self, chosen: list[int]) -> int:
        """Return the weight of the errors, by the loss."""
        times = self.times(chosen)
        often = times if self.hamming else np.minimum(times, 1)
        missed = int(self.errors[(times == 0) & self.same].sum())
        # Once for each rule, large weights may be more than 64 bits hold.
        exact: Any = object if self.total * len(chosen) >= 2**63 else np.int64
        return missed + int((self.errors.astype(exact) * often)[~self.same].sum())

    def objective(self, chosen: list[int]) -> int:
        """Return the value in the units of the objective, the least that make it an integer."""
        value = (self.wrong(chosen) + self.price * len(chosen)) * self.price.denominator
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
        times, price = self.times(base), self.price
        uncovered = times == 0
        # What one more rule costs on each sample that it covers.
        more = np.where(self.same, np.where(uncovered, -self.errors, 0), self.errors)
        if not self.hamming:
            more[~self.same & ~uncovered] = 0
        best, found = Fraction(0), base
        self.literals = _by_column(self.literals)
        # The first ones: of all conjunctions these are of one literal at most.
        for r in range(min(self.count(), self.literals.shape[1] + 1, _MOST_SETS)):
            value = price + int(more @ self.cover(r))
            if value < best and r not in base and not self.broken([*base, r]):
                best, found = value, [*base, r]
        return found


class Selection(_Sets):
    """An instance whose rules are a list, read from its JSON object."""

    def rule(self, r: int) -> list[int]:
        found: list[int] = self.parameters["rules"][r]
        return found

    def count(self) -> int:
        return len(self.parameters["rules"])

    def length(self, r: int) -> int:
        lengths = self.parameters.get("lengths")
        return super().length(r) if lengths is None else int(lengths[r])

    def over(self, chosen: list[int]) -> list[str]:
        """Say which limits a set breaks: no set with more rules keeps them."""
        out, limits = list[str](), self.parameters
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

    def broken(self, chosen: list[int]) -> list[str]:
        if out := super().broken(chosen):
            return out
        limits = self.parameters
        if missing := sorted({*limits.get("required", ())} - {*chosen}):
            out.append(f"rules: the required {missing} are not selected")
        return out + self.over(chosen) + self.side(chosen)


class Learning(_Sets):
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

    def broken(self, chosen: list[int]) -> list[str]:
        # In side constraints the literals of rules are numbered after the last rule.
        after = self.count()
        literals = (after + j for r in chosen for j in self.rule(r))
        return super().broken(chosen) or self.side([*chosen, *literals])


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    learned = instance["problem"] == KINDS[1]
    data = Learning(instance) if learned else Selection(instance)

    def violations(result: Mapping[str, Any]) -> list[str]:
        found, status = result["explanation"], result["status"]
        if status == "INFEASIBLE":
            # Limits never get tighter when a rule is left out: the required rules decide.
            required = sorted(instance["parameters"].get("required", ()))
            if not data.broken(required):
                return ["status: INFEASIBLE, but the required rules are a solution"]
        if found is None:
            return nothing_found(result)
        chosen = found["features"]
        if out := data.broken(chosen) + wrong_types(result, int):
            return out
        objective = data.objective(chosen)
        compare(out, "objective", result["objective"], objective)
        out += _figures(data, found) + proof(result, objective, 1)
        if result["bound"] is not None and (rival := data.small_set()) is not None:
            out += beaten(result, rival, data.objective(rival), 1)
        figures = {"error": data.wrong(chosen), "total": data.total, "price": str(data.price)}
        return out + wrong_figures(found, figures)

    return violations


def _by_column(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the same table in another order of memory: each column is looked at in all rows."""
    turned = np.empty(rows.shape[::-1], dtype=np.bool_)
    # All at once, each value would be fetched past the cache.
    for at in range(0, len(rows), 256):
        turned[:, at : at + 256] = rows[at : at + 256].T
    return turned.T


def _figures(data: _Sets, found: Mapping[str, Any]) -> list[str]:
    out: list[str] = []
    chosen = sorted(found["features"])
    times = data.times(chosen)

    def weigh(rows: NDArray[np.bool_]) -> tuple[int, int]:
        return int(data.weights[rows].sum()), int(data.weights[rows & data.same].sum())

    covered, right = weigh(times > 0)
    precision = Fraction(right, covered) if covered else None
    compare_shares(out, found, precision, Fraction(covered, int(data.weights.sum())))
    out += wrong_rule(
        found, {r: [data.names[j] for j in data.rule(r)] for r in chosen}, data.called, a_set=True
    )
    rule = found["rule"]
    compare(out, "total", rule.get("total"), int(data.weights.sum()))
    if "price" in rule:
        compare(out, "price", Fraction(rule["price"]), data.price)
    signed = np.where(data.same, data.errors, -data.errors)
    figures = []
    for r in chosen:
        cover = data.cover(r)
        figures.append([data.length(r), *weigh(cover), int(signed[cover & (times == 1)].sum())])
    compare(out, "figures of rules", rule.get("figures"), figures)
    return out


_MOST_SETS = 100
"""Sets that are weighed to refute a bound."""
