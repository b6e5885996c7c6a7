"""Proofs about sets of rules selected from candidates: branching, and multipliers in the leaves.

A proof is a binary tree, one line for each node, a node before its parts:

- ``split r``: the sets with rule r follow, then those without it;
- ``over``: the chosen rules break a limit, and so do all sets that contain them;
- ``breaks i``: side constraint i of the instance holds for no set of the node;
- ``decided``: no rule is left to be chosen or not, and the set of the chosen ones is valued;
- ``counted``: the sets of the node that may cost less than the claim are looked at
  (:mod:`~cpx.models.rule_set.proof_cheaper_sets`), and none of them is allowed;
- ``bound D ...``: :class:`~cpx.models.rule_set.proof_nodes.Multipliers`, whole numbers in units
  of 1/D, bound all sets of the node;
- ``shares D ...``: :class:`~cpx.models.rule_set.proof_cost_splitting.Shares` do, or leave fewer
  rules to the next line, which is about the same node.

Each set without a broken constraint is in one leaf, so the least of their bounds bounds all.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.check.proofs.document import Claim, Document, Refused, Undecided, whole_numbers
from cpx.models.rule_set.proof_cost_splitting import Shares
from cpx.models.rule_set.proof_nodes import Multipliers, Node, Table, check_counted, root_of

NAME = "rule-set"
KINDS = ("rule-set",)

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""Of shares, from 0 to 35."""
_VALUES = np.full(128, -1)
_VALUES[[ord(digit) for digit in DIGITS]] = np.arange(len(DIGITS))
DEEPEST = 10_000
"""Nodes in each other, at most."""
MOST_SHARED = 2**22
"""Samples of which there are shares, times the good ones, or the rules, if these are more."""


def check(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse a proof that does not prove its claim about an instance."""
    claim = document.claim
    if isinstance(claim.bound, Fraction):
        raise Refused("header: the objective is an integer")
    root = root_of(Table(instance))
    left = [] if root is None else [root]
    while left:
        node = left.pop()
        rule, *words = document.line()
        with document.named():
            numbers = whole_numbers(words if rule != "shares" else [])
            if rule == "breaks":
                node.table.side.refuse_kept(words, node.sets())
            elif rule == "counted" and not numbers and claim.bound is not None:
                check_counted(node, claim.bound)
            elif rule == "shares" and claim.bound is not None:
                # A set below the claim is below any greater number.
                goal = document.goal.bound
                limit = max(claim.bound, goal) if isinstance(goal, int) else claim.bound
                rest = node.left_by(_shares(node, words), limit)
                left += [] if rest is None else [rest]
            elif rule != "split":
                _check_leaf(node, rule, numbers, claim)
            elif len(left) >= DEEPEST:
                raise Refused(f"more than {DEEPEST} nodes in each other")
            elif len(numbers) == 1 and numbers[0] in np.flatnonzero(node.free):
                left += [node.part(numbers[0], chosen=False), node.part(numbers[0], chosen=True)]
            else:
                raise Refused("split needs a rule that is not decided")
    document.end()


def _check_leaf(node: Node, rule: str, numbers: list[int], claim: Claim) -> None:
    if rule == "bound":
        reached = node.bound(_multipliers(node.table, numbers))
    elif numbers or rule not in ("over", "decided"):
        raise Refused(f"no rule is called {rule[:20]!r}, or it stands alone")
    elif node.over():
        return
    elif rule == "over":
        raise Refused("no limit is broken")
    elif node.free.any():
        raise Refused("not all rules are decided")
    else:
        reached = node.value()
    if claim.bound is None:
        raise Refused("the node may have a solution")
    if reached < claim.bound:
        raise Refused(f"the bound is {reached}")


def _shares(node: Node, words: list[str]) -> Shares:
    """Read ``D a ... s ...``: an a for each good sample, and a word for each bad one.

    This has a digit for each good one.
    """
    rows = node.rows(np.flatnonzero(node.free))
    good, bad = (some.costs.size for some in rows[:2])
    if len(words) != 1 + good + bad or any(len(word) != good for word in words[1 + good :]):
        raise Refused(f"shares are a unit, {good} numbers, and {bad} words as long")
    if max(good, int(node.free.sum())) * (good + bad) > MOST_SHARED:
        raise Undecided("shares are too many for the checker")
    unit, *asked = whole_numbers(words[: 1 + good])
    digits = np.frombuffer("".join(words[1 + good :]).encode("ascii"), dtype=np.uint8)
    parts = _VALUES[digits]
    if (parts < 0).any():
        raise Refused(f"the digits of shares are {DIGITS}")
    return Shares(*rows, unit, np.array(asked, dtype=np.int64), parts.reshape(bad, good))


def _multipliers(table: Table, numbers: list[int]) -> Multipliers:
    """Read ``D rules literals n``, n pairs of a sample and a number, triples with the rule."""
    if len(numbers) < 4 or len(numbers) < 4 + 2 * numbers[3]:
        raise Refused("too few numbers")
    unit, rules, literals, n = numbers[:4]
    place = {int(row): at for at, row in enumerate(table.rows)}
    good = np.zeros(table.rows.size, dtype=np.int64)
    for row, number in zip(numbers[4 : 4 + 2 * n : 2], numbers[5 : 5 + 2 * n : 2], strict=True):
        if row not in place:
            raise Refused(f"no row is that of sample {row}")
        good[place[row]] = number
    rest = numbers[4 + 2 * n :]
    if len(rest) % 3:
        raise Refused("not all bad samples have three numbers")
    bad = np.array(rest, dtype=np.int64).reshape(-1, 3)
    for one in bad:
        if int(one[0]) not in place or one[1] >= table.count:
            raise Refused(f"no row is that of sample {one[0]}, or there is no rule {one[1]}")
        one[0] = place[int(one[0])]
    return Multipliers(unit, rules, literals, good, bad)
