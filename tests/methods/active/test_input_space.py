"""Cells, volumes and rules against the table itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cpx.errors import DataError
from cpx.models.decision_set import Interval, OneOf
from cpx.models.decision_set.input_space import Domain
from tests.methods.active.tables import evidence, holds, mixed, random_mask


def test_masks_cover_what_the_rules_say() -> None:
    found, rng = evidence(), np.random.default_rng(1)
    rows = [row for _, row in mixed(120).iterrows()]
    for _ in range(30):
        mask = random_mask(found.domain, rng)
        rule = found.domain.rule(mask)
        assert found.covered(mask).tolist() == [holds(rule, row) for row in rows], str(rule)


def test_volumes_by_hand() -> None:
    table = pd.DataFrame(
        {"x": [0.0, 1.0, 3.0, 4.0], "n": [1, 2, 4, 10], "s": ["a", "b", "c", "c"]}
    )
    domain = Domain(table, n_cells=4)
    x, n, s = domain.attributes
    # Every gap is cut: near 0.5, 2, 3.5; integers up to 10 with cuts at 1, 3, 7 or near.
    assert x.volumes.sum() == n.volumes.sum() == s.volumes.sum() == pytest.approx(1)
    mask = domain.everything()
    chosen = np.array([value in (2, 4) for value in (1, 2, 4, 10)])
    cells = n.cells(np.array([1.0, 2.0, 4.0, 10.0]))
    only = np.zeros(n.width, dtype=bool)
    only[cells[1] : cells[2] + 1] = True
    assert only[cells].tolist() == chosen.tolist()
    mask[domain.span(1)] = only
    condition = domain.rule(mask).conditions[0]
    assert isinstance(condition, Interval)
    inside = [k for k in range(1, 11) if condition.low < k <= condition.high]
    assert domain.volume(mask[None])[0] == pytest.approx(len(inside) / 10)
    mask[domain.span(2)] = [True, False, False, False]
    assert domain.volume(mask[None])[0] == pytest.approx(len(inside) / 30)
    assert domain.rule(mask).conditions[1] == OneOf("s", ("a",))


def test_lengths_by_hand() -> None:
    domain = Domain(pd.DataFrame({"n": [1, 2, 3, 4, 5], "s": ["a", "b", "c", "d", "d"]}))
    mask = domain.everything()
    assert domain.length(mask) == 0
    for condition, length in [
        ([1, 1, 0, 0, 0, 0], 1),
        ([0, 1, 1, 1, 1, 0], 1),
        ([0, 1, 1, 0, 0, 0], 2),
        # Whatever the number is, it is known.
        ([1, 1, 1, 1, 1, 0], 0),
    ]:
        mask[domain.span(0)] = condition
        assert domain.length(mask) == length
    mask[domain.span(0)] = [0, 1, 1, 0, 0, 0]
    for condition, length in [([1, 0, 0, 0, 0], 1), ([1, 1, 0, 0, 0], 2), ([1, 0, 1, 1, 0], 1)]:
        mask[domain.span(1)] = condition
        assert domain.length(mask) == 2 + length


def test_drawn_values_satisfy_the_condition() -> None:
    domain, rng = evidence().domain, np.random.default_rng(2)
    for _ in range(20):
        mask = random_mask(domain, rng)
        for a in domain.constrained(mask).tolist():
            attribute, cells = domain.attributes[a], mask[domain.span(a)]
            values = attribute.draw(cells, 200, rng)
            assert cells[attribute.cells(values)].all()
            reached = set(attribute.cells(values).tolist())
            # Cells of some size are all met.
            assert reached >= set(np.flatnonzero(cells & (attribute.volumes > 0.05)).tolist())


def test_rows_come_back_as_they_were() -> None:
    table = mixed(60)
    domain = Domain(table)
    back = domain.rows(domain.values(table))
    pd.testing.assert_frame_equal(back, table)
    array = np.random.default_rng(0).random((20, 3)).astype(np.float32)
    back = Domain(array).rows(Domain(array).values(array))
    assert back.dtype == array.dtype
    assert (back == array).all()
    texts = np.array([["a", "1"], ["b", "2"]])
    assert (Domain(texts).rows(Domain(texts).values(texts)) == texts).all()


def test_distances_add_up_over_attributes() -> None:
    table = pd.DataFrame({"x": [0.0, 10.0, 5.0], "s": ["a", "b", "a"]})
    domain = Domain(table)
    points = domain.coordinates(domain.values(table)).astype(np.float64)
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    assert squared == pytest.approx(np.array([[0, 2, 0.25], [2, 0, 1.25], [0.25, 1.25, 0]]))


def test_unseen_values_satisfy_no_condition() -> None:
    domain = Domain(pd.DataFrame({"x": [1.0, 2.0, 3.0], "s": ["a", "b", "c"]}))
    new = pd.DataFrame({"s": ["z", "a"], "x": [np.nan, 99.0]})
    cells = domain.cells(domain.values(new))
    assert cells[0].tolist() == [domain.starts[1] - 1, domain.starts[2] - 1]
    assert cells[1].tolist() == [domain.starts[1] - 2, domain.starts[1]]
    with pytest.raises(DataError, match="missing 's'"):
        domain.values(new[["x"]])
