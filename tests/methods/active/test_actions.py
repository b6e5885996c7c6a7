"""Values of actions against decision sets evaluated from scratch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from cpx.models.decision_set.actions import KINDS, Actions
from cpx.models.decision_set.growing import best_condition, best_interval, best_list, grow
from cpx.models.decision_set.sampling import counterfactuals, farthest
from cpx.models.decision_set.state import Evidence, State
from tests.methods.active.tables import box, evidence, random_mask


def right(found: Evidence, masks: list[np.ndarray]) -> float:
    """Return what the instances that get the right label count, one by one."""
    count = 0.0
    for cells, label in zip(found.cells.T, found.labels):
        if any(bool(mask[cells].all()) for mask in masks) == bool(label):
            count += found.positive_weight if label else 1.0
    return count


def some_actions(found: Evidence, seed: int, beta: float = 0.1) -> tuple[State, Actions]:
    rng = np.random.default_rng(seed)
    state = State(found, [random_mask(found.domain, rng) for _ in range(seed % 4)])
    new = [*grow(state, 3, 3, rng), random_mask(found.domain, rng)]
    return state, Actions(state, new, 0.01, beta, 4)


def check(found: Evidence, actions: Actions) -> None:
    for i in range(len(actions)):
        masks = actions.result(i)
        assert actions.right[i] == right(found, masks)
        total = sum(found.positive_weight if label else 1.0 for label in found.labels)
        value = right(found, masks) / total - 0.01 * len(masks)
        assert actions.objective[i] == pytest.approx(value)
        covered = [bool(actions.masks[i][cells].all()) for cells in found.cells.T]
        assert actions.covered[i] == sum(covered)


@pytest.mark.parametrize("seed", range(8))
def test_values_equal_those_from_scratch_before_and_after_queries(seed: int) -> None:
    found = evidence(seed=seed)
    # Sums of halves are exact.
    found.positive_weight = 1.0 + seed % 3 / 2
    state, actions = some_actions(found, seed)
    kinds = {KINDS[kind] for kind in actions.kinds}
    assert kinds >= ({"add rule"} if seed % 4 == 0 else set(KINDS) - {"add condition"})
    check(found, actions)
    rng = np.random.default_rng(seed)
    first = found.size
    pool = counterfactuals(found, actions.masks[0], 7, rng)
    found.add(pool, box(found.domain.rows(pool)) == "yes")
    actions.catch_up(first)
    check(found, actions)
    state.catch_up()
    assert state.right_weight == right(found, state.masks)
    for i in range(0, len(actions), 5):
        changed = State(found, state.masks)
        actions.apply(i, changed)
        assert changed.right_weight == actions.right[i]
        assert [m.tobytes() for m in changed.masks] == [m.tobytes() for m in actions.result(i)]


def test_actions_have_one_edit_only() -> None:
    found = evidence()
    state, actions = some_actions(found, 3)
    for i in range(len(actions)):
        kind, rule = KINDS[actions.kinds[i]], int(actions.rules[i])
        if not kind.endswith("condition"):
            continue
        before, after = state.masks[rule], actions.masks[i]
        edited = [
            a
            for a in range(found.domain.n_attributes)
            if (before[found.domain.span(a)] != after[found.domain.span(a)]).any()
        ]
        assert len(edited) == 1
        had, has = (edited[0] in found.domain.constrained(mask) for mask in (before, after))
        assert kind.split()[0] == {(0, 1): "add", (1, 0): "remove", (1, 1): "modify"}[had, has]


def test_bounds_by_hand() -> None:
    found = evidence()
    _, actions = some_actions(found, 2, beta=0.3)
    for i in range(len(actions)):
        density = actions.covered[i] / found.domain.volume(actions.masks[i : i + 1])[0]
        if actions.covered[i]:
            radius = 0.3 * np.sqrt(found.n_real / density)
            assert actions.radius[i] == pytest.approx(radius)
        else:
            assert actions.radius[i] == np.inf
    best, rival = actions.best_two()
    assert actions.objective[best] == actions.objective.max()
    upper = actions.objective + actions.radius
    assert upper[rival] == max(upper[i] for i in range(len(actions)) if i != best)
    assert not actions.separated(best, rival)
    _, passive = some_actions(found, 2, beta=0.0)
    assert passive.separated(*passive.best_two())


def test_best_conditions_with_prices_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        k, price = int(rng.integers(2, 7)), float(rng.integers(1, 8)) / 2
        gains = rng.integers(-5, 6, k).astype(float)
        found = best_interval(gains, price=price)
        chosen = best_list(gains, price=price)
        assert found is not None
        assert chosen is not None
        whole = [(i, j) for i in range(k) for j in range(i + 1, k + 1) if j - i < k]

        def bounded(i: int, j: int, gains: np.ndarray = gains, price: float = price) -> float:
            return float(gains[i:j].sum()) - price * (int(i > 0) + int(j < len(gains)))

        edges = np.flatnonzero(found)
        assert bounded(edges[0], edges[-1] + 1) == max(bounded(i, j) for i, j in whole)

        def listed(one: np.ndarray, gains: np.ndarray = gains, price: float = price) -> float:
            return float(gains[one].sum()) - price * min(one.sum(), (~one).sum())

        lists = [np.array([n >> b & 1 for b in range(k)], bool) for n in range(1, 2**k - 1)]
        assert listed(chosen) == max(map(listed, lists))


def test_best_conditions_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        k = int(rng.integers(3, 8))
        gains = rng.integers(-5, 6, k).astype(float)
        intervals = [(i, j) for i in range(k) for j in range(i + 1, k + 1) if j - i < k]
        i, j = intervals[rng.integers(len(intervals))]
        current = np.zeros(k, dtype=bool)
        current[i:j] = True
        must = int(rng.integers(k))
        for options, allowed in [
            ({}, intervals),
            ({"must": must}, [(a, b) for a, b in intervals if a <= must < b]),
            ({"current": current}, [c for c in intervals if c != (i, j)]),
            (
                {"current": current, "wider": True},
                [(a, b) for a, b in intervals if a <= i and b >= j and (a, b) != (i, j)],
            ),
        ]:
            found = best_interval(gains, **options)
            if found is None:
                assert not allowed
                continue
            best = max((gains[a:b].sum(), b - a) for a, b in allowed)
            assert (gains[found].sum(), found.sum()) == best
            edges = np.flatnonzero(found)
            assert all(b - a == 1 for a, b in pairwise(edges.tolist()))
        lists = [np.array([n >> b & 1 for b in range(k)], bool) for n in range(1, 2**k - 1)]
        chosen = best_list(gains)
        assert chosen is not None
        assert gains[chosen].sum() == max(gains[one].sum() for one in lists)
        for now in (chosen, current):
            other = best_list(gains, current=now)
            assert other is not None
            rest = [one for one in lists if (one != now).any()]
            assert gains[other].sum() == max(gains[one].sum() for one in rest)
        with_must = best_list(gains, must=must)
        assert with_must is not None
        assert gains[with_must].sum() == max(gains[one].sum() for one in lists if one[must])
        wider = best_list(gains, current=current, wider=True)
        if wider is not None:
            assert (wider & current == current).all()
            assert gains[wider].sum() - gains[current].sum() == gains[~current].max()


def test_no_condition_names_the_last_cell() -> None:
    domain = evidence().domain
    for a, attribute in enumerate(domain.attributes):
        gains = np.full(attribute.width, -1.0)
        gains[-1] = 100
        found = best_condition(domain, a, gains)
        assert found is not None
        assert not found[-1]


def test_pool_and_choice() -> None:
    found, rng = evidence(), np.random.default_rng(5)
    masks = (random_mask(found.domain, rng) for _ in range(30))
    mask = next(m for m in masks if found.covered(m).any() and not found.covered(m).all())
    limited = found.domain.constrained(mask).tolist()
    pool = counterfactuals(found, mask, 30, rng)
    cells = found.domain.cells(pool).T
    assert mask[cells].all()
    outside = found.values[~found.covered(mask)]
    free = [a for a in range(4) if a not in limited]
    sources = {tuple(row) for row in np.nan_to_num(outside[:, free], nan=-1).tolist()}
    assert {tuple(row) for row in np.nan_to_num(pool[:, free], nan=-1).tolist()} <= sources
    # By brute force: the first is farthest from all known ones in the rule, and so on.
    known = list(found.points[found.covered(mask)].astype(np.float64))
    points = found.domain.coordinates(pool).astype(np.float64)
    expected = []
    for _ in range(3):
        distance = [min(((p - q) ** 2).sum() for q in known) for p in points]
        expected.append(max(distance))
        known.append(points[int(np.argmax(distance))])
    chosen = farthest(found, found.covered(mask), pool, 3)
    near = list(found.points[found.covered(mask)].astype(np.float64))
    for row, distance in zip(found.domain.coordinates(chosen).astype(np.float64), expected):
        assert min(((row - q) ** 2).sum() for q in near) == pytest.approx(distance, abs=1e-5)
        near.append(row)
