"""Brute force for rules of kernel machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import combinations, product

from cpx.testing.truth import Instance, Rows, Side, Truth, Value


class KernelRule(Truth):
    """A disjunction of 1 to D conjunctions of 1 to C features, of greatest weight."""

    maximised = True

    def __init__(self, instance: Instance) -> None:
        self.rows = Rows(instance["samples"], instance["weights"])
        self.clauses = instance["parameters"]["max_clauses"]
        self.literals = instance["parameters"]["max_literals"]
        self.n = self.clauses * self.rows.d
        self.side = Side(instance)

    def value(self, features: Iterable[int]) -> Value | None:
        rule: dict[int, list[int]] = {}
        for j in features:
            rule.setdefault(j // self.rows.d, []).append(j % self.rows.d)
        if not rule or any(len(clause) > self.literals for clause in rule.values()):
            return None
        if self.side.broken(j % self.rows.d for j in features):
            return None
        return self.rows.weight(reduce(int.__or__, map(self.rows.cover, rule.values())))

    def every(self) -> Iterator[tuple[int, ...]]:
        """Yield a rule for each set of rows that rules cover, by what features if that matters."""
        d = self.rows.d
        clauses: dict[tuple[int, int], tuple[int, ...]] = {}
        for size in range(1, self.literals + 1):
            for clause in combinations(range(d), size):
                used = sum(1 << j for j in clause) if self.side.trees else 0
                clauses.setdefault((self.rows.cover(clause), used), clause)
        found = dict(clauses)
        last = dict(found)
        for t in range(1, self.clauses):
            longer: dict[tuple[int, int], tuple[int, ...]] = {}
            for (one, rule), (more, clause) in product(last.items(), clauses.items()):
                both = one[0] | more[0], one[1] | more[1]
                if both not in found:
                    longer.setdefault(both, (*rule, *(t * d + j for j in clause)))
            found |= longer
            last = longer
        yield from found.values()

    @property
    def magnitude(self) -> int:
        return sum(map(abs, self.rows.weights))
