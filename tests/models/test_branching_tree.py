"""The drawn tree has the bounds and the optimum of the exact search."""

from __future__ import annotations

from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import cpx
from cpx.errors import InvalidOption
from cpx.models import NegativeOnly
from cpx.models.monomial import search_tree
from tests.seeds import each


@each(range(12))
def test_bounds_hold_and_the_optimum_is_that_of_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, kind = 7, (cpx.KMonomial, NegativeOnly)[seed % 2]
    samples = cpx.Samples(
        rng.random((20, d)) < 0.6,
        rng.random(20) < 0.5,
        weights=rng.integers(1, 5, 20),
        groups=[0, 0, 1, 2, 3, 4, 5],
    )
    problem = kind(
        samples,
        k=4,
        required=(6,) * (seed % 3 == 0),
        forbidden=(5,) * (seed % 4 == 0),
        one_per_group=seed % 5 == 0,
    )
    tree = search_tree(problem)
    assert tree.optimum == cpx.solve(problem, "search").objective
    assert problem.evaluate(problem.explanation(tree.chosen)).objective == tree.optimum
    for place, node in enumerate(tree.nodes):
        below = [
            problem.evaluate(problem.explanation(sorted({*node.chosen, *more})))
            for size in range(5 - len(node.chosen))
            for more in combinations(node.after, size)
        ]
        assert node.bound <= min(m.objective for m in below if m.feasible)
        assert node.parent is None or node.parent < place
        if node.step is None:
            assert node.bound >= tree.optimum
    steps = sorted((n for n in tree.nodes if n.step is not None), key=lambda n: n.step or 0)
    assert [n.step for n in steps] == [*range(len(steps))]
    assert all(one.lowest <= two.lowest for one, two in pairwise(steps))
    assert all(one.best >= two.best for one, two in pairwise(steps))


def test_the_picture_has_a_box_for_each_node_and_names_as_text() -> None:
    samples = cpx.Samples(
        [[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]],
        [0, 0, 0, 1],
        features=("a < 1 & b", "c", "d"),
    )
    tree = search_tree(cpx.KMonomial(samples, k=3))
    picture = ElementTree.fromstring(tree.svg())
    boxes = picture.findall("{http://www.w3.org/2000/svg}g")
    assert len(boxes) == len(tree.nodes) > 2
    assert any("a < 1 & b" in "".join(box.itertext()) for box in boxes)


def test_contradictions_have_no_tree_and_other_problems_are_refused() -> None:
    samples = cpx.Samples(np.eye(3, dtype=bool), [1, 0, 0])
    none = search_tree(cpx.KMonomial(samples, k=1, required=(0, 1)))
    assert (none.optimum, none.nodes) == (None, [])
    assert "none" in str(none)
    ElementTree.fromstring(none.svg())
    for problem in (cpx.MaxPrecision(samples, k=1), cpx.KMonomial(samples, k=1, min_coverage=0.5)):
        with pytest.raises(InvalidOption, match="no tree is drawn"):
            search_tree(problem)
    rng = np.random.default_rng(0)
    large = cpx.Samples(rng.random((80, 30)) < 0.7, rng.random(80) < 0.5)
    with pytest.raises(InvalidOption, match="more than 200 nodes"):
        search_tree(cpx.KMonomial(large, k=6))
