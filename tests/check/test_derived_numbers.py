"""Numbers that the checker derives a second time: rules by their number, votes that win."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from cpx.check.claims import beaten
from cpx.check.forest import Node
from cpx.models.rule_set.judge import Learning
from cpx.models.sufficient_reason.judge import Reason


@pytest.mark.parametrize("most", range(6))
def test_conjunctions_are_numbered_by_size_and_then_as_words(most: int) -> None:
    for d in range(1, 6):
        instance: dict[str, Any] = {"samples": ["1" * d], "labels": "1"}
        data = Learning(instance | {"parameters": {"max_literals": most}})
        wanted = [
            list(rule)
            for size in range(min(most, d) + 1)
            for rule in itertools.combinations(range(d), size)
        ]
        assert [data.rule(r) for r in range(data.count())] == wanted


def wins(label: int, base: list[int], scale: int, votes: int, trees: int) -> bool:
    """Say whether a class gets more than any that has the other votes, or is first of equals."""
    own = base[label] + scale * votes
    others = {r: base[r] + scale * (trees - votes) for r in range(len(base)) if r != label}
    return all(own > other or (own == other and label < r) for r, other in others.items())


@pytest.mark.parametrize("scale", [1, 2, 4])
@pytest.mark.parametrize("label", [0, 1, 2])
def test_votes_that_win_whatever_the_others_are_for(scale: int, label: int) -> None:
    found = set()
    for trees, *base in itertools.product((1, 4, 5), (-3, 0, 9), (0, 2), (-1, 0, 9)):
        reason = object.__new__(Reason)
        reason.forest = SimpleNamespace(scale=scale, base=base, decision="first")
        reason.own, reason.label = [None] * trees, label
        reason.rivals = [r for r in range(3) if r != label]
        least = reason._votes_needed()
        assert wins(label, base, scale, least, trees)
        assert least == 0 or not wins(label, base, scale, least - 1, trees)
        found.add(least)
    assert len(found) > 3


@pytest.mark.parametrize("label", [0, 1])
def test_a_tie_by_rounded_losses_is_given_to_the_first_class(label: int) -> None:
    reason = object.__new__(Reason)
    reason.forest = SimpleNamespace(base=[0, 0], decision="first")
    reason.label, reason.unit = label, Fraction(2)
    own, even = Node((0, 4) if label else (4, 0)), Node((0, 0))
    reason.own = [own]
    assert reason._worst_wins([[own]], 1 - label)
    assert reason._worst_wins([[own, even]], 1 - label) == (label == 0)


@pytest.mark.parametrize("label", [0, 1, 2])
def test_half_of_the_votes_win_for_the_first_class_alone(label: int) -> None:
    reason = object.__new__(Reason)
    reason.forest = SimpleNamespace(base=[0, 0, 0], decision="first", scale=2)
    reason.label, reason.rivals = label, [r for r in range(3) if r != label]
    sure = Node(tuple(int(r == label) for r in range(3)))
    other = Node(tuple(int(r == (label + 1) % 3) for r in range(3)))
    assert reason._majority([[sure], [sure], [sure, other]])
    assert reason._majority([[sure], [sure, other]]) == (label == 0)
    assert not reason._majority([[sure], [other], [sure, other]])


def test_a_bound_is_beaten_by_what_is_better_alone() -> None:
    told = ["bound: 3 is beyond the value 2 of the features [0]"]
    assert beaten({"bound": 3}, [0], 2, 1) == told
    assert beaten({"bound": 3}, [0], 2, -1) == beaten({"bound": 3}, [0], 3, 1) == []
    assert beaten({"bound": "1/2"}, [0], 2, 1) == beaten({"bound": None}, [0], 2, 1) == []
