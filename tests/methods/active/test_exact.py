"""The exact active loop against enumeration and against plain estimates."""

from __future__ import annotations

import math
from itertools import chain, combinations

import numpy as np
import pytest

from cpx.errors import DataError, InvalidOption, UnknownName
from cpx.models.decision_set import ExactDecisionSet
from cpx.models.decision_set.sampling import disputed
from cpx.models.decision_set.selection import Candidates, Selection, leads
from tests.methods.active.tables import box, evidence, mixed, random_mask


def square(rows: np.ndarray) -> np.ndarray:
    return (rows[:, 0] > 0.7) | ((rows[:, 1] < 0.2) & (rows[:, 2] > 0.43))


def test_selection_and_rivals_by_enumeration() -> None:
    found, rng = evidence(60), np.random.default_rng(3)
    covers = np.array([found.covered(random_mask(found.domain, rng)) for _ in range(7)])
    selection = Selection(covers, found.labels, 50, 0.02, "cpsat", None)
    selection.solve(())

    def quality(chosen: tuple[int, ...]) -> float:
        covered = covers[list(chosen)].any(axis=0)
        return float((covered == found.labels).mean()) - 0.02 * len(chosen)

    sets = list(chain.from_iterable(combinations(range(7), k) for k in range(8)))
    assert selection.proved
    assert selection.objective == pytest.approx(max(map(quality, sets)))
    assert selection.objective == pytest.approx(quality(selection.chosen))
    assert selection.bound == pytest.approx(selection.objective)
    rivals = selection.rivals(0.9)
    qualities = {rival.chosen: quality(rival.chosen) for rival in rivals}
    for r in selection.chosen:
        best = max(quality(one) for one in sets if r not in one)
        assert any(r not in one and q == pytest.approx(best) for one, q in qualities.items())
    for new in set(range(7)) - set(selection.chosen):
        assert tuple(sorted((*selection.chosen, new))) in qualities
        for r in selection.chosen:
            assert tuple(sorted({*selection.chosen, new} - {r})) in qualities
    assert [rival.lead for rival in rivals] == sorted(rival.lead for rival in rivals)
    covered = [covers[list(rival.chosen)].any(axis=0) for rival in rivals]
    ours = covers[list(selection.chosen)].any(axis=0)
    expected = leads(ours, np.array(covered), found.labels, 50, 0.1)
    for rival, low in zip(rivals, expected):
        longer = len(rival.chosen) - len(selection.chosen)
        assert rival.lead == pytest.approx(low + 0.02 * longer)


def test_leads_by_hand() -> None:
    labels = np.array([1, 1, 1, 0, 0, 0, 1, 1], dtype=bool)
    ours = np.array([1, 1, 1, 1, 0, 0, 1, 0], dtype=bool)
    others = np.array([[0, 0, 1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 0, 1, 0]], dtype=bool)
    # The first differs on rows 0, 1, 3 and 6, of which the set has three right. Three of the
    # five real rows are among them, and one more might be. The second differs on row 0.
    first = 0.75 - math.sqrt(math.log(2 / 0.4) / 8)
    second = max(0.0, 1 - math.sqrt(math.log(2 / 0.4) / 2))
    expected = [4 / 6 * (2 * first - 1), 2 / 6 * (2 * second - 1)]
    assert leads(ours, others, labels, 5, 0.4) == pytest.approx(expected)
    assert leads(ours, ours[None], labels, 5, 0.4) == pytest.approx([-1 / 6])


def test_candidates_keep_the_chosen_first_and_the_best() -> None:
    found, rng = evidence(), np.random.default_rng(0)
    chosen = [random_mask(found.domain, rng) for _ in range(3)]
    candidates = Candidates(found, 10, 4)
    candidates.extend(chosen, rng)
    assert [m.tobytes() for m in candidates.masks[:3]] == [m.tobytes() for m in chosen]
    assert len({m.tobytes() for m in candidates.masks}) == len(candidates.masks) == 10
    covers = candidates.covers()
    gains = np.where(found.labels, 1, -1) @ covers.T
    assert (np.diff(gains[3:]) <= 0).all()
    candidates.extend(chosen, rng)
    assert (np.where(found.labels, 1, -1) @ candidates.covers().T)[3:].sum() >= gains[3:].sum()


def test_the_loop_asks_until_the_lead_is_certain() -> None:
    X = np.random.default_rng(0).random((80, 3))
    fresh = np.random.default_rng(1).random((4000, 3))
    options = {"backend": "cpsat", "n_candidates": 30, "queries_per_round": 40}
    passive = ExactDecisionSet(max_queries=0, **options).fit(X, square)
    assert (passive.queries_, len(passive.history_), passive.proved_) == (0, 1, True)
    model = ExactDecisionSet(max_queries=80, max_rounds=3, **options).fit(X, square)
    assert model.score(fresh, square) > max(0.97, passive.score(fresh, square))
    assert 0 < model.queries_ <= 80
    assert model.history_[0].queries == 0
    again = ExactDecisionSet(max_queries=80, max_rounds=3, **options).fit(X, square)
    assert (again.rules_, again.history_) == (model.rules_, model.history_)
    last = model.history_[-1]
    assert last.proved
    assert (last.objective, last.bound) == (model.objective_, model.bound_)
    assert model.separated_ == (last.rivals == last.separated)


def test_a_mixed_table_and_wrong_options() -> None:
    table = mixed(80)
    model = ExactDecisionSet(
        max_queries=20, max_rounds=2, n_candidates=20, backend="cpsat", n_cells=8
    ).fit(table, box)
    assert model.score(table, box) == model.fidelity_ > 0.85
    for options, error, told in [
        ({"penalty": 2}, InvalidOption, "penalty must be a finite number of at least 0 and at"),
        ({"confidence": 1}, InvalidOption, "confidence"),
        ({"tolerance": -1}, InvalidOption, "tolerance"),
        ({"max_queries": -1}, InvalidOption, "max_queries"),
        ({"n_candidates": 0}, InvalidOption, "n_candidates"),
        ({"backend": "cpsta"}, UnknownName, "did you mean 'cpsat'"),
    ]:
        with pytest.raises(error, match=told):
            ExactDecisionSet(**options).fit(table, box)
    with pytest.raises(DataError, match="ExactDecisionSet is not fitted yet"):
        ExactDecisionSet().predict(table)


def test_disputed_instances_are_disputed() -> None:
    found, rng = evidence(), np.random.default_rng(8)
    for _ in range(10):
        masks = [random_mask(found.domain, rng) for _ in range(4)]
        ours, theirs = masks[:3], masks[1:]
        pool, known = disputed(found, ours, theirs, 60, rng)
        cells = found.domain.cells(pool).T

        def covered(chosen: list[np.ndarray], at: np.ndarray) -> np.ndarray:
            return np.array([mask[at].all(axis=0) for mask in chosen]).any(axis=0)

        assert (covered(ours, cells) != covered(theirs, cells)).all()
        apart = covered(ours, found.cells) != covered(theirs, found.cells)
        assert (known == apart).all()
        assert len(pool) or not apart.any()
    same = disputed(found, ours, ours, 20, rng)
    assert (len(same[0]), same[1].any()) == (0, False)
