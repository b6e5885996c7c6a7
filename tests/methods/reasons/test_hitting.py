"""Light hitting sets against all sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cpx.models.sufficient_reason.methods.hitting_set import HittingSets


def lightest(weights: dict[int, int], family: list[set[int]]) -> int:
    subsets = itertools.chain.from_iterable(
        itertools.combinations(weights, k) for k in range(len(weights) + 1)
    )
    return min(sum(weights[a] for a in s) for s in subsets if all(f & set(s) for f in family))


@pytest.mark.parametrize("heaviest", [1, 4, 3000])
def test_each_answer_is_a_hitting_set_and_each_bound_holds(heaviest: int) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        weights = {a: int(rng.integers(1, heaviest + 1)) for a in range(3, 10)}
        total = sum(weights.values())
        sets, family = HittingSets(weights, total), []
        for _ in range(8):
            family.append(set(rng.choice(list(weights), int(rng.integers(2, 5)), False).tolist()))
            sets.add(family[-1])
            least = lightest(weights, family)
            found = sets.below(total)
            assert all(f & found for f in family)
            assert sets.lower <= least <= sum(weights[a] for a in found) < total
        assert sum(weights[a] for a in sets.below(least + 1)) == least
        assert sets.below(least) is None
        assert sets.lower == least
        sets.close()


def test_a_long_search_can_be_ended() -> None:
    rng = np.random.default_rng(0)
    sets = HittingSets(dict.fromkeys(range(80), 1), 80)
    for _ in range(1200):
        sets.add(rng.choice(80, 4, False).tolist())

    def look() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sets.below(80, look)
    assert sets.lower > 5
    sets.close()


def test_sets_that_are_put_off_come_back_before_the_bound_rises() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        weights = {a: int(rng.integers(1, 4)) for a in range(8)}
        family = [set(rng.choice(8, 3, False).tolist()) for _ in range(5)]
        total, least = sum(weights.values()), lightest(weights, family)
        sets = HittingSets(weights, total)
        for one in family:
            sets.add(one)
        met = set()
        for _ in range(60):
            found = sets.below(least + 1)
            assert sum(weights[a] for a in found) == least >= sets.lower
            met.add(found)
            sets.postpone(found)
        every = (
            frozenset(s) for k in range(9) for s in itertools.combinations(range(8), k)
            if sum(weights[a] for a in s) == least
        )  # fmt: skip
        assert met == {s for s in every if all(f & s for f in family)}
        sets.close()
