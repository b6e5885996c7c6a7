"""Proofs about sufficient reasons: rows that tell what must be kept, then branching.

A proof begins with rows, each by the features in which it is not as x, with the cells they are in:

- ``hit j c ...``: the model gives the row another class. A reason has one of these features;
- ``row r j c ... t j w ...``, with the number of pairs after r: :meth:`Inequalities.weighed`, for
  the rival r and weights w of features in trees, which may be negative.

Each says that weights of features add up to ``UNIT`` at least in every reason. Then comes a tree
of :mod:`~cpx.check.proofs.branching`, with two rules:

- ``missed i``: with all features that are not left out, inequality i is not met;
- ``bound D i y ...``: the inequalities i times y, in units of 1/D, bound all sets of the node.

Each reason is in one leaf, so the least of their bounds bounds all.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from cpx.check.forest import Node as TreeNode
from cpx.check.proofs.branching import Part, SideConstraints, root_part, walk
from cpx.check.proofs.document import (
    Claim,
    Document,
    Refused,
    Undecided,
    refuse_unknown,
    signed_number,
    whole_numbers,
)
from cpx.models.sufficient_reason.judge import KINDS, Reason

__all__ = ["KINDS", "NAME", "UNIT", "Inequalities", "check"]

NAME = "sufficient-reason"

UNIT = 1 << 20
"""The least sum of weights of each inequality."""

_INSTANCE = {"x", "class", "model", "where"}
_PARAMETERS = {"level", "definition", "unit", "required", "forbidden", "weights"}

# Digits of a number: those of weights in a model of small and large numbers are many.
_DIGITS = 60
# Weights of all inequalities: they take a few hundred megabytes.
_MOST_WEIGHTS = 2**24


class Inequalities:
    """What rows tell of all sufficient reasons of an instance.

    instance: A saved instance.
    """

    def __init__(self, instance: Mapping[str, Any]) -> None:
        refuse_unknown(instance, _INSTANCE, _PARAMETERS)
        if instance["parameters"]["definition"] != "sufficient":
            raise Undecided("instance: there are proofs for the definition sufficient only")
        self.reason = Reason(instance)
        cells, self.n = self.reason.cells, self.reason.n
        first = cells.first.tolist()
        self.own = [own - at for own, at in zip(cells.own.tolist(), first, strict=False)]
        self._possible = [cells.everything[a:b].tolist() for a, b in itertools.pairwise(first)]
        self._condition = {place: j for j, place in enumerate(self.reason.forest.conditions)}
        self._columns = len(self.own)

    def hit(self, differs: Mapping[int, int]) -> list[int]:
        """Return the inequality of a row of another class.

        Proof. A set with none of the features in which the row differs from x allows the row, so
        it is no reason.
        """
        if self.class_of(differs) == self.reason.label:
            raise Refused("the row is of the class of x")
        weights = [UNIT if j in differs else 0 for j in range(self._columns)]
        return self._of_features(weights, differs)

    def _of_features(self, weights: list[int], differs: Mapping[int, int]) -> list[int]:
        """Return the inequality of weights of columns, by feature.

        Ends of intervals. Proof. Where a column of the row is beyond an end, a set without that
        end allows its value; a missing one is beyond both, and all without either allow it. So
        what is said of columns is said of these ends.
        """
        if self.reason.level != "intervals":
            return weights

        def beyond(a: int, side: int) -> bool:
            own: int = self.own[a]
            cell, absent = differs.get(a, own), len(self._possible[a]) - 1
            if side == 0 or cell == absent:
                return cell != own
            return cell < own if side < 0 else cell > own

        return [weights[a] if beyond(a, side) else 0 for a, side in self.reason.ends]

    def class_of(self, differs: Mapping[int, int]) -> int:
        """Return the class of a row, as an index."""
        row = self._row(differs)
        return self.reason.class_of([self._leaf(tree, row) for tree in self.reason.forest.trees])

    def weighed(
        self, rival: int, differs: Mapping[int, int], weights: Mapping[tuple[int, int], int]
    ) -> list[int]:
        """Return the inequality of any row, a rival, and weights of features in trees.

        Proof. Let S be a reason, and consider the row that is as x in S and as the given row
        elsewhere. In each tree it reaches a leaf. The way there tells of some features that they
        are in S, as the row goes where x goes and the given row would not, and of others that
        they are not. So what the leaf gives the rival over the class, and the weights of S, are
        together no less than that, the weights of the features that are in S, and the negative
        ones of features of which nothing is told. The least of these sums, over all leaves that
        the row could reach, whatever S is, is taken. So all trees together give the rival no less
        than these least sums, added up, less the weights of S. But the rival does not win. With
        S, the set that has one more feature is a reason, too: one whose weights add up to less
        than 0 is taken to be in S. Scaled to ``UNIT`` and rounded up, the others still ask for no
        more.
        """
        reason, row = self.reason, self._row(differs)
        if rival not in reason.rivals:
            raise Refused(f"{rival} is no rival of the class")
        total = -reason.margin(reason.forest.base, rival) + (not reason.wins(0, rival))
        sums = [0] * self._columns
        of_trees: list[dict[int, int]] = [{} for _ in reason.forest.trees]
        for (t, j), weight in weights.items():
            if t >= len(of_trees) or j >= self._columns:
                raise Refused(f"there is no tree {t} or no feature {j}")
            of_trees[t][j] = weight
            sums[j] += weight
        for tree, of_tree in zip(reason.forest.trees, of_trees, strict=True):
            total += self._least(tree, row, of_tree, rival)
            total += sum(min(weight, 0) for weight in of_tree.values())
        total -= sum(min(weight, 0) for weight in sums)
        if total <= 0:
            raise Refused("the row and its weights ask for nothing")
        found = [min(UNIT, -(-max(weight, 0) * UNIT // total)) for weight in sums]
        return self._of_features(found, differs)

    def _row(self, differs: Mapping[int, int]) -> list[int]:
        row = list(self.own)
        for j, cell in differs.items():
            if j >= self._columns or cell >= len(self._possible[j]) or not self._possible[j][cell]:
                raise Refused(f"feature {j} has no cell {cell}")
            row[j] = cell
        return row

    def _way(self, node: TreeNode, row: list[int]) -> tuple[bool, int]:
        """Return whether a row goes left, and the feature that is tested; -1 for none."""
        if self.reason.level == "conditions":
            j = self._condition.get((node.column, node.place), -1)
            return (node.threshold > 0 if j < 0 else row[j] == 0), j
        cell, j = row[node.column], node.column
        if cell == len(self._possible[j]) - 1:
            return node.missing == "l", j
        return cell <= node.place if node.lefts is None else cell in node.lefts, j

    def _leaf(self, node: TreeNode, row: list[int]) -> tuple[int, ...]:
        while node.left is not None and node.right is not None:
            node = node.left if self._way(node, row)[0] else node.right
        return node.values

    def _least(
        self, root: TreeNode, row: list[int], weights: Mapping[int, int], rival: int
    ) -> int:
        """Return the least lead of the rival in a leaf and weight of what the way there tells.

        Of features that are kept these are the positive weights, of others the negative ones
        without their sign: all that are negative are added up elsewhere. The ways are followed
        one after the other, so that a tree may be as deep as it likes.
        """
        found: list[int] = []
        # What was decided on the way to where we are; without a node, the last is taken back.
        kept: dict[int, bool] = {}
        waiting: list[tuple[TreeNode | None, int, bool, int]] = [(root, -1, False, 0)]
        while waiting:
            node, decided, value, told = waiting.pop()
            if node is None:
                del kept[decided]
                continue
            if decided >= 0:
                kept[decided] = value
            if node.left is None or node.right is None:
                found.append(told - self.reason.margin(node.values, rival))
                continue
            left, j = self._way(node, row)
            own, _ = self._way(node, self.own)
            if left == own:
                waiting.append((node.left if left else node.right, -1, False, told))
                continue
            for way, is_kept in ((left, False), (own, True)):
                child = node.left if way else node.right
                if j not in kept:
                    weight = weights.get(j, 0)
                    more = max(weight if is_kept else -weight, 0)
                    waiting.append((None, j, False, 0))
                    waiting.append((child, j, is_kept, told + more))
                elif kept[j] == is_kept:  # or the feature was decided otherwise before
                    waiting.append((child, -1, False, told))
        return min(found)


def _multiplied(costs: list[int], rows: list[tuple[int, list[int]]], unit: int, part: Part) -> int:
    """Return a bound on the weight of all sets of a part.

    Proof. Each set weighs the sum of its costs. Subtract the inequalities, each times its
    multiplier, which is not negative: what is subtracted is at least ``UNIT`` times the sum of the
    multipliers. What is left of a feature counts where it is kept; where it need not be, at least
    the negative part does.
    """
    left = [cost * unit * UNIT for cost in costs]
    for times, weights in rows:
        for j, weight in enumerate(weights):
            left[j] -= times * weight
    total = UNIT * sum(times for times, _ in rows)
    for rest, kept, out in zip(left, part.kept.tolist(), part.out.tolist(), strict=True):
        if not out:
            total += rest if kept else min(rest, 0)
    return -(-total // (unit * UNIT))


def check(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse a proof that does not prove its claim about an instance."""
    claim, parameters = document.claim, instance["parameters"]
    if claim.bound is not None and not isinstance(claim.bound, int):
        raise Refused("header: the objective is an integer")
    known = Inequalities(instance)
    root = root_part(known.n, parameters)
    if root is None:
        document.end()
        return
    rows: list[list[int]] = []
    while (words := document.line())[0] in ("hit", "row"):
        with document.named():
            if (len(rows) + 1) * known.n > _MOST_WEIGHTS:
                raise Refused(f"the inequalities have more than {_MOST_WEIGHTS} weights")
            rows.append(_read(known, words))
    costs = list(parameters.get("weights") or [1] * known.n)

    def leaf(part: Part, rule: str, numbers: list[str]) -> None:
        _check_leaf(part, rule, whole_numbers(numbers, _DIGITS), rows, costs, claim)

    walk(root, words, document, SideConstraints(instance), leaf)
    document.end()


def _check_leaf(
    part: Part,
    rule: str,
    numbers: list[int],
    rows: list[list[int]],
    costs: list[int],
    claim: Claim,
) -> None:
    if rule == "missed":
        if len(numbers) != 1 or numbers[0] >= len(rows):
            raise Refused("missed needs an inequality")
        weights = zip(rows[numbers[0]], part.out.tolist(), strict=True)
        if sum(weight for weight, out in weights if not out) >= UNIT:
            raise Refused("the inequality can be met")
    elif rule == "bound":
        if len(numbers) % 2 == 0 or not numbers[0]:
            raise Refused("bound needs a unit, and pairs of an inequality and a multiplier")
        unit, pairs = numbers[0], list(zip(numbers[1::2], numbers[2::2], strict=True))
        if any(i >= len(rows) for i, _ in pairs):
            raise Refused("there is no such inequality")
        bound = _multiplied(costs, [(times, rows[i]) for i, times in pairs], unit, part)
        if claim.bound is None or bound < claim.bound:
            raise Refused(f"the bound is {bound}")
    else:
        raise Refused(f"no rule is called {rule[:20]!r}")


def _read(known: Inequalities, words: list[str]) -> list[int]:
    """Read ``hit j c ...`` or ``row r n``, n pairs j c, and triples t j w."""
    rule, words = words[0], words[1:]
    if rule == "hit":
        return known.hit(_pairs(whole_numbers(words, _DIGITS)))
    head = whole_numbers(words[:2], _DIGITS)
    if len(head) < 2 or len(words) < (end := 2 + 2 * head[1]):
        raise Refused("too few numbers")
    differs, rest = whole_numbers(words[2:end], _DIGITS), words[end:]
    if len(rest) % 3:
        raise Refused("not all weights have three numbers")
    trees, features = whole_numbers(rest[::3], _DIGITS), whole_numbers(rest[1::3], _DIGITS)
    found = [signed_number(word, _DIGITS) for word in rest[2::3]]
    weights = dict(zip(zip(trees, features, strict=True), found, strict=True))
    if 3 * len(weights) != len(rest):
        raise Refused("two weights of one feature in one tree")
    return known.weighed(head[0], _pairs(differs), weights)


def _pairs(numbers: list[int]) -> dict[int, int]:
    if len(numbers) % 2:
        raise Refused("a feature has no cell")
    out = dict(zip(numbers[::2], numbers[1::2], strict=True))
    if 2 * len(out) != len(numbers):
        raise Refused("two cells of one feature")
    return out
