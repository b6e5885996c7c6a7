"""Answers to sufficient reasons, from the saved model and row alone.

The trees are walked test by test from their roots, with the domains that the tests leave to
the columns, in exact integers. Several trees are decided by walking one after the other in
what the trees before have left, cut off where the class of x wins anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from cpx.check import smallest
from cpx.check.forest import Forest, Node, State

__all__ = ["judge"]

_MOST_STEPS = 100_000


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    reading = _Reason(instance)
    parameters = instance["parameters"]
    data = smallest.Smallest(
        list(parameters.get("weights") or [1] * reading.n),
        set(parameters.get("required", ())),
        set(parameters.get("forbidden", ())),
        reading.enough,
    )

    def complaints(result: Mapping[str, Any]) -> list[str]:
        if (given := reading.predicted) != instance["class"]:
            return [f"class: the instance says {instance['class']!r}, the model gives {given!r}"]
        out = smallest.complaints(data, result)
        found = result["explanation"]
        return out if found is None or out else reading.wrong_words(found)

    return complaints


class _Reason:
    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.forest = forest = Forest(instance["model"], instance["x"])
        parameters = instance["parameters"]
        self.by_columns = parameters["level"] == "attributes"
        self.definition = parameters["definition"]
        self.unit = Fraction(parameters["unit"]) * forest.scale
        self.n = len(forest.attributes) if self.by_columns else len(forest.conditions)
        every = frozenset(range(len(forest.attributes)))
        self.own = [next(forest.leaves(t, forest.start(every)))[0] for t in forest.trees]
        self.label = self._class([leaf.values for leaf in self.own])
        self.predicted = forest.classes[self.label]
        self.rivals = [r for r in range(len(forest.classes)) if r != self.label]

    def _class(self, leaves: list[tuple[int, ...]]) -> int:
        forest = self.forest
        sums = [sum(column) for column in zip(forest.base, *leaves, strict=True)]
        if forest.decision == "first":
            return sums.index(max(sums))
        return int(sums[0] > 0 or (sums[0] == 0 and forest.decision == "nonnegative"))

    def _margin(self, values: tuple[int, ...] | list[int], rival: int) -> int:
        if self.forest.decision == "first":
            return values[self.label] - values[rival]
        return values[0] if self.label == 1 else -values[0]

    def _wins(self, margin: int, rival: int) -> bool:
        if margin != 0:
            return margin > 0
        decision = self.forest.decision
        if decision == "first":
            return self.label < rival
        return bool(decision == "nonnegative") == (self.label == 1)

    # ----------------------------------------------------------- sufficiency

    def _start(self, chosen: frozenset[int]) -> State:
        forest = self.forest
        if self.by_columns:
            return forest.start(chosen)
        return {forest.conditions[i]: forest.holds(*forest.conditions[i]) for i in chosen}

    def _leaves(self, tree: Node, state: State) -> Iterator[tuple[Node, State]]:
        walk = self.forest.leaves if self.by_columns else self.forest.free_leaves
        return walk(tree, state)

    def enough(self, chosen: frozenset[int]) -> bool | None:
        """Decide by the definition of the instance."""
        state = self._start(chosen)
        reached = [[leaf for leaf, _ in self._leaves(t, state)] for t in self.forest.trees]
        if self.definition == "majoritary":
            return self._majority(reached)
        if self.definition == "tree-specific":
            return all(self._worst_wins(reached, rival) for rival in self.rivals)
        try:
            return all(self._always_wins(reached, state, rival) for rival in self.rivals)
        except _TooLong:
            return None

    def _majority(self, reached: list[list[Node]]) -> bool:
        """Add up the worst case: all trees that may vote otherwise vote for one rival."""
        sure = sum(all(leaf.values[self.label] for leaf in leaves) for leaves in reached)
        votes = self.forest.scale * (2 * sure - len(reached))
        return all(
            self._wins(votes + self._margin(self.forest.base, rival), rival)
            for rival in self.rivals
        )

    def _worst_wins(self, reached: list[list[Node]], rival: int) -> bool:
        total = self._margin(self.forest.base, rival)
        own = [self._margin(leaf.values, rival) for leaf in self.own]
        worst = [min(self._margin(leaf.values, rival) for leaf in leaves) for leaves in reached]
        if not self.unit:
            return self._wins(total + sum(worst), rival)
        # By how much x wins; a tie that the rival would get is one unit short.
        slack = total + sum(own)
        slack -= not self._wins(0, rival)
        lost = sum(-((w - o) // self.unit) for o, w in zip(own, worst, strict=True))
        return lost <= slack // self.unit

    def _always_wins(self, reached: list[list[Node]], state: State, rival: int) -> bool:
        """Walk all trees but cut off where the rival cannot win any more."""
        forest = self.forest
        worst = [min(self._margin(leaf.values, rival) for leaf in leaves) for leaves in reached]
        # The trees that can do the most harm first.
        spread = [
            max(self._margin(leaf.values, rival) for leaf in leaves) - least
            for leaves, least in zip(reached, worst, strict=True)
        ]
        order = sorted(range(len(worst)), key=lambda t: -spread[t])
        rest = [sum(worst[t] for t in order[i:]) for i in range(len(order) + 1)]
        waiting = [(0, self._margin(forest.base, rival), state)]
        steps = 0
        while waiting:
            i, margin, left = waiting.pop()
            if self._wins(margin + rest[i], rival):
                continue
            if i == len(order):
                return False
            found = []
            for leaf, after in self._leaves(forest.trees[order[i]], left):
                found.append((i + 1, margin + self._margin(leaf.values, rival), after))
            steps += len(found)
            if steps > _MOST_STEPS:
                raise _TooLong
            # The worst leaf is tried first.
            waiting += sorted(found, key=lambda entry: -entry[1])
        return True

    # ----------------------------------------------------------------- words

    def wrong_words(self, found: Mapping[str, Any]) -> list[str]:
        """Complain about literals that are not of the features they stand for."""
        literals = found["rule"]["literals"]
        if [j for j, _ in literals] != sorted(found["features"]):
            return [f"rule: its literals are not those of the features {found['features']}"]
        out = []
        for j, text in literals:
            column = j if self.by_columns else self.forest.conditions[j][0]
            name = self.forest.attributes[column]["name"]
            if name not in text:
                out.append(f"literal {j}: {text!r} is not about {name!r}")
        return out


class _TooLong(Exception):
    """There were more steps than the checker takes."""
