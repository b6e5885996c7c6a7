"""Best-first branch and bound, on subsets of numbers whose sum is to be near a target."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from cpx.backends.search.best_first import BestFirst


class Part(NamedTuple):
    """The sums that begin with the first numbers, and the cost that none of them is below."""

    bound: int
    decided: int
    total: int


class NearestSum:
    """Chooses numbers, none of them negative, whose sum is as near to a target as may be."""

    def __init__(
        self, numbers: list[int], target: int, last: int = 10**9, most_open: int = 10**9
    ) -> None:
        self.numbers, self.target = numbers, target
        self.cost, self.told, self.found = target, list[int](), threading.Lock()
        self.expanded = list[Part]()
        self.tree = BestFirst(
            self.expand,
            self.rank,
            lambda node: node.bound >= self.cost,
            self.told.append,
            lambda: len(self.expanded) >= last,
            most_open,
        )

    def rank(self, node: Part) -> tuple[int, int]:
        return node.bound, -node.decided

    def expand(self, node: Part, note: Callable[[int], None]) -> list[Part]:
        self.expanded.append(node)
        over = node.total - self.target
        with self.found:  # or a thread writes what was the best before another one's
            self.cost = min(self.cost, abs(over))
        rest = sum(self.numbers[node.decided :])
        bound = max(over, -over - rest, 0)
        note(bound)
        if node.decided == len(self.numbers):
            return []
        more = self.numbers[node.decided]
        return [Part(bound, node.decided + 1, node.total + x) for x in (0, more)]


def nearest(numbers: list[int], target: int) -> int:
    subsets = (itertools.compress(numbers, bits) for bits in itertools.product((0, 1), repeat=8))
    return min(abs(sum(chosen) - target) for chosen in subsets)


ROOT = Part(0, 0, 0)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("most", [1, 10**9])
def test_the_optimum_is_found_and_no_bound_is_beyond_it(threads: int, most: int) -> None:
    for seed in range(20):
        numbers = np.random.default_rng(seed).integers(50, 150, 8).tolist()
        best, some = nearest(numbers, 333), NearestSum(numbers, 333, most_open=most)
        assert some.tree.search(ROOT, threads)
        assert some.cost == best
        assert some.told
        assert min(some.told) >= 0


def test_the_lowest_bound_is_next_and_the_deepest_of_equal_ones() -> None:
    some = NearestSum([5, 5, 5], 7)
    some.tree.search(ROOT)
    ranks = [some.rank(node) for node in some.expanded]
    assert [rank[0] for rank in ranks] == sorted(rank[0] for rank in ranks)
    assert ranks[:3] == [(0, 0), (0, -1), (0, -2)]


@pytest.mark.parametrize("threads", [1, 3])
def test_what_was_being_expanded_stays_open_when_it_is_time_to_stop(threads: int) -> None:
    numbers = [50, 60, 70, 80, 90, 100, 110, 120]
    some = NearestSum(numbers, 333, last=4)
    assert not some.tree.search(ROOT, threads)
    assert max(some.told) <= nearest(numbers, 333)


def test_an_error_of_one_thread_ends_all() -> None:
    class Broken(NearestSum):
        def expand(self, node: Part, note: Callable[[int], None]) -> list[Part]:
            if node.decided == 3:
                raise ValueError("broken")
            return super().expand(node, note)

    for threads in (1, 3):
        with pytest.raises(ValueError, match="broken"):
            Broken([50] * 8, 333).tree.search(ROOT, threads)
