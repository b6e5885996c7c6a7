"""Brute force on saved instances: what those of all families share.

What is right about an instance is found by trying every solution of the JSON object of the page
"file format", which must be tiny. The classes of families read it by the definitions of the
documentation and import nothing of cpx but this module, which imports nothing of it: a mistake
there is not repeated here.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property, reduce
from itertools import chain, combinations
from operator import eq, ge, le, lt
from typing import Any

Instance = Mapping[str, Any]
Value = int | Fraction


class Truth(ABC):
    """What is right about an instance.

    Attributes
    ----------
    n : int
        Number of features that solutions are sets of.
    maximised : bool
    """

    n: int
    maximised = False

    @abstractmethod
    def value(self, features: Iterable[int]) -> Value | None:
        """Return the value of a solution, None when it is not allowed."""

    def every(self) -> Iterator[tuple[int, ...]]:
        """Yield solutions, a best one among them."""
        return subsets(range(self.n))

    @cached_property
    def best(self) -> tuple[Value, tuple[int, ...]] | None:
        """The optimum and a solution that has it, None when nothing is allowed."""
        found: tuple[Value, tuple[int, ...]] | None = None
        for features in self.every():
            value = self.value(features)
            if value is not None and (found is None or self.better(value, found[0])):
                found = value, features
        return found

    @property
    def optimum(self) -> Value | None:
        """The best value, None when nothing is allowed."""
        return None if self.best is None else self.best[0]

    def better(self, a: Value, b: Value) -> bool:
        """Say whether the value a is better than b."""
        return a > b if self.maximised else a < b

    @property
    @abstractmethod
    def magnitude(self) -> int:
        """What engines have to add up: the greatest sum in the statement."""


def subsets(things: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield all subsets, the smaller ones first."""
    listed = list(things)
    return chain.from_iterable(combinations(listed, size) for size in range(len(listed) + 1))


def share(value: Any) -> Fraction:
    """Return a share as it is written."""
    return Fraction(str(value))


class Rows:
    """Samples of bits: what a conjunction covers, as a bit set of samples, and weights."""

    def __init__(self, samples: list[str], weights: list[int] | None) -> None:
        self.samples, self.m, self.d = samples, len(samples), len(samples[0])
        self.weights = weights or [1] * self.m
        self.everything = (1 << self.m) - 1
        self.true = [
            sum(1 << i for i, row in enumerate(samples) if row[j] == "1") for j in range(self.d)
        ]

    def cover(self, literals: Iterable[int]) -> int:
        return reduce(lambda rows, j: rows & self.true[j], literals, self.everything)

    def weight(self, rows: int, weights: list[int] | None = None) -> int:
        listed = self.weights if weights is None else weights
        return sum(w for i, w in enumerate(listed) if rows >> i & 1)


class Side:
    """Side constraints, by their texts over ``feature[j]``: as Python means them."""

    def __init__(self, instance: Instance) -> None:
        entries = instance.get("where") or ()
        self.trees = [ast.parse(entry["text"], mode="eval").body for entry in entries]

    def broken(self, features: Iterable[int]) -> bool:
        chosen = set(features)
        return not all(self._value(tree, chosen) for tree in self.trees)

    def _value(self, node: Any, chosen: set[int]) -> int:
        def value(part: Any) -> int:
            return self._value(part, chosen)

        if isinstance(node, ast.Constant):
            return int(str(node.value))
        if isinstance(node, ast.Subscript):
            return int(value(node.slice) in chosen)
        if isinstance(node, ast.BoolOp):
            return int((all if isinstance(node.op, ast.And) else any)(map(value, node.values)))
        if isinstance(node, ast.UnaryOp):
            inner = value(node.operand)
            return int(not inner) if isinstance(node.op, ast.Not) else -inner
        if isinstance(node, ast.BinOp):
            left, right = value(node.left), value(node.right)
            return left + right if isinstance(node.op, ast.Add) else left * right
        if isinstance(node, ast.Compare):
            compared = {ast.LtE: le, ast.Lt: lt, ast.GtE: ge, ast.Eq: eq}[type(node.ops[0])]
            return int(compared(value(node.left), value(node.comparators[0])))
        first, *rest = map(value, node.args)
        counted = {"at_most": sum(rest) <= first, "at_least": sum(rest) >= first}
        counted |= {"exactly": sum(rest) == first, "implies": rest[0] >= first}
        return int(counted[node.func.id])


class Labelled(Truth):
    """Solutions on labelled samples, with required and forbidden features."""

    def __init__(self, instance: Instance) -> None:
        self.side = Side(instance)
        self.parameters = instance["parameters"]
        self.rows = Rows(instance["samples"], instance.get("weights"))
        self.n = self.rows.d
        self.same = sum(1 << i for i, label in enumerate(instance["labels"]) if label == "1")
        self.other = self.rows.everything & ~self.same
        self.required = set(self.parameters.get("required") or ())
        self.forbidden = set(self.parameters.get("forbidden") or ())

    def refused(self, features: tuple[int, ...]) -> bool:
        if not self.required <= set(features) or self.forbidden & set(features):
            return True
        return self.side.broken(features)

    @property
    def magnitude(self) -> int:
        return sum(self.rows.weights)
