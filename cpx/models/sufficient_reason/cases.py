"""Sufficient reasons for tests of engines: tiny ones with known optimum, and random ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cpx.models.sufficient_reason.change_problem import MinimumChange
from cpx.models.sufficient_reason.minimum_subset.problem import MinimumSubset
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.testing.brute import brute_force
from cpx.trees.attribute import Attribute
from cpx.trees.form import TreeModel
from cpx.trees.tree import Tree

YES, NO, MAYBE = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
"""Votes of leaves of :func:`stump`."""


def least_weight(problem: MinimumSubset) -> int | None:
    """Return the optimum by trying all sets, None when no set is enough.

    Examples
    --------
    >>> least_weight(SufficientReason(three_definitions(), (1, 1, 1)))
    2
    """
    found = brute_force(problem)
    return None if found is None else int(found[0])


def stump(a: int, low: list[float], high: list[float]) -> Tree:
    """Return the tree ``a <= its first threshold ? low : high``."""
    outputs = tuple(range(len(low)))
    zeros = np.zeros(3, dtype=np.int32)
    attribute = np.array([a, -1, -1], dtype=np.int32)
    return Tree(attribute, zeros, zeros, np.array([low, high]), outputs)


def three_definitions() -> TreeModel:
    """Return a model of votes on which the three definitions have different minima.

    Three trees of three classes over a, b and c; x = (1, 1, 1) gets ``yes``.

    Examples
    --------
    >>> for definition in ("sufficient", "tree-specific", "majoritary"):
    ...     problem = SufficientReason(three_definitions(), (1, 1, 1), definition=definition)
    ...     print(definition, least_weight(problem))
    sufficient 0
    tree-specific 1
    majoritary 2
    """
    return _model("vote", [stump(0, YES, NO), stump(0, NO, YES), stump(1, MAYBE, YES)])


def _model(rule: Any, trees: list[Tree], **more: Any) -> TreeModel:
    scores = len(trees[0].outputs)
    arguments: dict[str, Any] = {
        "attributes": tuple(Attribute(name, "boolean") for name in "abc"),
        "classes": ("yes", "no", "maybe")[: max(2, scores)],
        "trees": tuple(trees),
        "thresholds": tuple(np.array([0.5]) for _ in "abc"),
        "rule": rule,
        "decision": "first" if scores > 1 else "positive",
        "base": (0.0,) * scores,
    }
    return TreeModel(**{**arguments, **more})


def random_votes(seed: int, trees: int, attributes: int) -> SufficientReason:
    """Return a reason in the full sense of random trees, each over three of the attributes.

    >>> least_weight(random_votes(4, 9, 6))
    3
    """
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, attributes)
    found = []
    for _ in range(trees):
        a, b, c = rng.choice(attributes, 3, replace=False)
        tested = np.array([a, b, -1, -1, c, -1, -1], dtype=np.int32)
        zeros = np.zeros(7, dtype=np.int32)
        found.append(Tree(tested, zeros, zeros, np.eye(2)[rng.integers(0, 2, 4)], (0, 1)))
    named = tuple(Attribute(f"a{i}", "boolean") for i in range(attributes))
    thresholds = tuple(np.array([0.5]) for _ in named)
    model = TreeModel(named, ("no", "yes"), tuple(found), thresholds, "vote", "first", (0.0, 0.0))
    return SufficientReason(model, x.tolist(), definition="sufficient")


def stated_cases() -> Iterator[tuple[str, MinimumSubset, int | None]]:
    """Yield name, problem and optimum of reasons that have a statement."""
    yield from _votes()
    yield from _sums()


def _votes() -> Iterator[tuple[str, MinimumSubset, int | None]]:
    x, model = (1, 1, 1), three_definitions()
    yield "reason_tree_specific", SufficientReason(model, x, definition="tree-specific"), 1
    yield "reason_majoritary", SufficientReason(model, x), 2
    split = _model("vote", [stump(0, NO, YES), stump(1, YES, NO), stump(2, YES, MAYBE)])
    yield "reason_no_majority", SufficientReason(split, x), None
    even = _model("vote", [stump(0, NO[:2], YES[:2]), stump(1, NO[:2], YES[:2])])
    yield "reason_even_votes_for_the_first", SufficientReason(even, x), 1
    yield "reason_even_votes_for_the_second", SufficientReason(even, (0, 0, 0)), 2
    yield "reason_forbidden", SufficientReason(even, x, forbidden=("a",)), 1
    yield "reason_idle_required", SufficientReason(even, x, required=("c",)), 2
    leaf = np.array([-1], dtype=np.int32)
    alone = _model("vote", [Tree(leaf, leaf, leaf, np.array([YES[:2]]), (0, 1))])
    yield "reason_one_leaf", SufficientReason(alone, x), 0
    yield "reason_no_conditions", SufficientReason(alone, x, level="conditions"), 0


def _sums() -> Iterator[tuple[str, MinimumSubset, int | None]]:
    x, leaves = (1, 1, 1), [(0, 1.0), (1, 1.0), (2, 0.5)]
    trees = [stump(a, [-v], [v]) for a, v in leaves]
    model = _model("sum", trees)
    yield "reason_sum", SufficientReason(model, x), 2
    yield "reason_sum_forbidden", SufficientReason(model, x, forbidden=("a",)), 2
    yield "reason_sum_infeasible", SufficientReason(model, x, forbidden=("a", "b")), None
    yield "reason_sum_weights", SufficientReason(model, x, weights=(3, 1, 1)), 2
    # b and c against a leave exactly 0, which is the first class.
    tied = _model("sum", trees, base=(-0.5,))
    yield "reason_sum_tie_lost", SufficientReason(tied, x, weights=(3, 1, 1)), 4
    won = _model("sum", trees, base=(-0.5,), decision="nonnegative")
    yield "reason_sum_tie_won", SufficientReason(won, x, weights=(3, 1, 1)), 2
    # The odd numbers have 60 bits and are rounded; a and b are still needed.
    odd = _model("sum", [stump(a, [-v], [v + 2.0**-52]) for a, v in leaves])
    yield "reason_sum_rounded", SufficientReason(odd, x), 2


def full_cases() -> Iterator[tuple[str, MinimumSubset, int | None]]:
    """Yield name, problem and optimum of sufficient reasons in the full sense."""
    x, leaves = (1, 1, 1), [(0, 1.0), (1, 1.0), (2, 0.5)]

    def full(model: TreeModel, row: tuple[int, ...] = x, **more: Any) -> SufficientReason:
        return SufficientReason(model, row, definition="sufficient", **more)

    yield "full_trees_that_cancel", full(three_definitions()), 0
    # a keeps one vote for the first class, and no two others are for the same one.
    split = _model("vote", [stump(0, NO, YES), stump(1, YES, NO), stump(2, YES, MAYBE)])
    yield "full_three_votes", full(split), 1
    even = _model("vote", [stump(0, NO[:2], YES[:2]), stump(1, NO[:2], YES[:2])])
    yield "full_even_votes_for_the_first", full(even), 1
    yield "full_even_votes_for_the_second", full(even, (0, 0, 0)), 2
    yield "full_idle_required", full(even, required=("c",)), 2
    yield "full_contradiction", full(even, required=("a",), forbidden=("a",)), None
    leaf = np.array([-1], dtype=np.int32)
    alone = _model("vote", [Tree(leaf, leaf, leaf, np.array([YES[:2]]), (0, 1))])
    yield "full_one_leaf", full(alone), 0
    yield "full_no_conditions", full(alone, level="conditions"), 0
    trees = [stump(a, [-v], [v]) for a, v in leaves]
    model = _model("sum", trees)
    yield "full_sum", full(model), 2
    yield "full_sum_conditions", full(model, level="conditions"), 2
    yield "full_sum_forbidden", full(model, forbidden=("a",)), 2
    yield "full_sum_infeasible", full(model, forbidden=("a", "b")), None
    yield "full_sum_weights", full(model, weights=(3, 1, 1)), 2
    tied = _model("sum", trees, base=(-0.5,))
    yield "full_sum_tie_lost", full(tied, weights=(3, 1, 1)), 4
    won = _model("sum", trees, base=(-0.5,), decision="nonnegative")
    yield "full_sum_tie_won", full(won, weights=(3, 1, 1)), 2


def change_cases() -> Iterator[tuple[str, MinimumChange, int | None]]:
    """Yield name, problem and optimum of smallest changes."""
    x, leaves = (1, 1, 1), [(0, 1.0), (1, 1.0), (2, 0.5)]
    split = _model("vote", [stump(0, NO, YES), stump(1, YES, NO), stump(2, YES, MAYBE)])
    yield "change_of_a_vote", MinimumChange(split, x), 1
    yield "change_to_the_second", MinimumChange(split, x, "no"), 1
    yield "change_to_the_last", MinimumChange(split, x, "maybe"), None
    even = _model("vote", [stump(0, NO[:2], YES[:2]), stump(1, NO[:2], YES[:2])])
    yield "change_of_two_votes", MinimumChange(even, x), 2
    yield "change_to_a_tie", MinimumChange(even, (0, 0, 0)), 1
    yield "change_of_the_lighter", MinimumChange(even, (0, 0, 0), weights=(3, 2, 1)), 2
    leaf = np.array([-1], dtype=np.int32)
    alone = _model("vote", [Tree(leaf, leaf, leaf, np.array([YES[:2]]), (0, 1))])
    yield "change_of_one_leaf", MinimumChange(alone, x), None
    trees = [stump(a, [-v], [v]) for a, v in leaves]
    model = _model("sum", trees)
    yield "change_of_a_sum", MinimumChange(model, x), 2
    yield "change_of_a_sum_frozen", MinimumChange(model, x, frozen=("a", "b")), None
    tied = _model("sum", trees, base=(-0.5,), decision="nonnegative")
    yield "change_of_a_sum_tie_kept", MinimumChange(tied, x, weights=(3, 1, 1)), 2


def medium(seed: int, m: int, d: int) -> Iterator[SufficientReason]:
    """Yield a reason in the full sense of m / 8 trees over d attributes."""
    yield random_votes(seed, m // 8, d)


def probes() -> Iterator[SufficientReason]:
    """Yield a problem of optimum 1: the one attribute of a stump is the reason for its class."""
    trees = (stump(0, [-1.0], [1.0]),)
    thresholds = (np.array([0.5]),)
    model = TreeModel((Attribute("a"),), (0, 1), trees, thresholds, "sum", "positive", (0.0,))
    yield SufficientReason(model, (1.0,))
