"""The regions in which all rows get the same prediction, as the checker makes them.

A region is where one leaf of each tree meets: rows of it have the same scores. For the class,
trees that are left matter only while they can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from cpx.models.expected_prediction.judge_states import Leaf

BITS = 40
"""Probabilities are multiples of 2**-40."""

_CONTEXT = Context(prec=60)


def regions(
    leaves: Sequence[Leaf],
    base: Sequence[int],
    label: int,
    decision: str | None,
    look: Callable[[], None],
) -> Iterator[tuple[list[int], dict[int, int]]]:
    """Yield margins of the class in regions, and the states that lead there.

    leaves: By tree.
    label: The class.
    decision: How a class is decided, where only regions of the class are wanted: else all are.
    look: Called now and then; it may raise.
    """
    trees: dict[int, list[tuple[list[int], dict[int, int]]]] = {}
    for leaf in leaves:
        trees.setdefault(leaf.tree, []).append((_margins(leaf.values, label), leaf.tests))
    left = [*trees.values()]
    start = _margins(base, label)
    least, most = [[0] * len(start)], [[0] * len(start)]
    for tree in reversed(left):
        for known, extreme in ((least, min), (most, max)):
            ends = (extreme(column) for column in zip(*(own for own, _ in tree), strict=True))
            known.append([a + b for a, b in zip(known[-1], ends, strict=True)])
    needed = _needed(len(base), label, decision)
    waiting: list[tuple[int, list[int], dict[int, int]]] = [(0, start, {})]
    while waiting:
        look()
        place, total, box = waiting.pop()
        rest = len(left) - place
        if needed is not None:
            if all(t + m >= n for t, m, n in zip(total, least[rest], needed, strict=True)):
                yield total, box
                continue
            if any(t + m < n for t, m, n in zip(total, most[rest], needed, strict=True)):
                continue
        elif not rest:
            yield total, box
            continue
        for own, tests in left[place]:
            both = dict(box)
            for a, some in tests.items():
                both[a] = both.get(a, some) & some
            if all(both.values()):
                sums = [t + m for t, m in zip(total, own, strict=True)]
                waiting.append((place + 1, sums, both))


def probability(margins: Sequence[int], power: int) -> int:
    """Return the probability of a class with these log-odds, times ``power``, in units.

    That is the inverse of the sum of the exponentials of all scores less its own.
    """
    others = Decimal(0)
    for margin in margins:
        odds = _CONTEXT.divide(Decimal(margin), Decimal(power))
        others = _CONTEXT.add(others, _CONTEXT.exp(-max(min(odds, Decimal(300)), Decimal(-300))))
    share = _CONTEXT.divide(Decimal(2**BITS), 1 + others)
    return int(share.to_integral_value(ROUND_HALF_EVEN))


def _margins(scores: Sequence[int], label: int) -> list[int]:
    if len(scores) == 1:
        return [scores[0] * (2 * label - 1)]
    return [scores[label] - score for k, score in enumerate(scores) if k != label]


def _needed(count: int, label: int, decision: str | None) -> list[int] | None:
    """Return the least margins of the class; None where all regions are wanted."""
    if decision is None:
        return None
    if decision == "first":
        return [1 if k < label else 0 for k in range(count) if k != label]
    if label == 1:
        return [0 if decision == "nonnegative" else 1]
    return [1 if decision == "nonnegative" else 0]


def as_leaves(
    found: Iterator[tuple[list[int], dict[int, int]]], value: Callable[[list[int]], Any]
) -> tuple[list[Leaf], list[int]]:
    """Return regions as leaves of one tree, and their values; what is left out is worth 0."""
    leaves, values, events = [Leaf(0, (0,), {})], [0], dict[int, int]()
    for margins, box in found:
        # Each event is kept once, as those of the trees are.
        tests = {a: events.setdefault(some, some) for a, some in box.items()}
        leaves.append(Leaf(0, (0,), tests))
        values.append(value(margins))
    return leaves, values
