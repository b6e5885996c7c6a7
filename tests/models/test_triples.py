"""A known rule, and the features that no better rule has together: no better rule is lost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from cpx import KMonomial, Samples, solve
from cpx.models import NegativeOnly
from cpx.models.monomial.encodings import triples
from cpx.testing.brute import brute_force
from tests.seeds import each

SETS = [s for size in range(6) for s in itertools.combinations(range(8), size)]


def _problem(seed: int, kind: type = KMonomial) -> KMonomial | NegativeOnly:
    rng = np.random.default_rng(seed)
    m = 80
    agreement = rng.random((m, 8)) < rng.uniform(0.4, 0.7)
    part = agreement[:, rng.permutation(8)[:3]].all(axis=1)
    same = np.where(rng.random(m) < rng.uniform(0, 0.6), rng.random(m) < 0.3, part)
    samples = Samples(
        agreement,
        same,
        rng.integers(1, 4, m) if seed % 2 else None,
        groups=rng.integers(0, 5, 8).tolist() if seed % 3 == 0 else None,
    )
    forbidden = (int(rng.integers(8)),) if seed % 5 == 0 else ()
    return kind(samples, 4 + seed % 2, forbidden=forbidden, one_per_group=seed % 3 == 0)


def _begin_with_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the known rule be the best of at most two features, so that better ones are left."""

    def poor(self):
        pairs = zip(self.choices.first.tolist(), self.choices.second.tolist(), strict=True)
        rules = [[], *([int(j)] for j in self.choices.free), *map(list, pairs)]
        best = min(rules, key=self._cost)
        return best, self._cost(best)

    monkeypatch.setattr(triples._Triples, "_local_search", poor)


def _satisfied(statement, values) -> bool:
    for name, array in statement.variables.items():
        for variable, value in zip(array, values[name], strict=True):
            variable._value = int(value)
    return all(constraint.value() for constraint in statement.model.constraints)


@pytest.mark.parametrize("poor", [False, True])
@each(range(12), 6)
def test_all_better_rules_and_the_known_one_remain(seed, poor, monkeypatch) -> None:
    if poor:
        _begin_with_a_pair(monkeypatch)
    problem = _problem(seed)
    statement = problem.model("triples")
    known = problem.decode(statement.complete(()) | {"K": [1]}).features
    value = problem.evaluate(problem.explanation(known)).objective
    for s in SETS:
        found = problem.evaluate(problem.explanation(s))
        if not found.feasible:
            continue
        values = statement.complete(s)
        taken = tuple(np.flatnonzero(values["X"]).tolist())
        assert taken == (s if found.objective < value else known)
        assert values["K"][0] == (found.objective >= value)
        assert _satisfied(statement, values), s
        # No rule of up to two features is better, so that larger ones can be left out by bounds.
        assert len(s) > 2 or found.objective >= value


@pytest.mark.parametrize("engine", ["cpsat", "maxsat:rc2", "maxsat:lsu", "milp"])
@pytest.mark.parametrize("seed", range(6))
def test_engines_find_the_optimum(engine, seed, monkeypatch) -> None:
    if seed % 2:
        _begin_with_a_pair(monkeypatch)
    problem = _problem(seed, NegativeOnly if seed == 4 else KMonomial)
    result = solve(problem, engine, encoding="triples")
    assert result.objective == result.bound == brute_force(problem)[0]


@pytest.mark.parametrize("seed", [3, 4, 6, 8, 13, 14, 17, 22, 23, 33])
def test_what_is_left_out_is_what_the_bounds_say(seed, monkeypatch) -> None:
    _begin_with_a_pair(monkeypatch)
    problem = _problem(seed)
    form = problem.form()
    statement = problem.model("triples")
    value = triples._Triples(form).value
    u, c = form.cost_uncovered, form.cost_covered
    groups = np.arange(8) if form.groups is None else form.groups

    def lost(s) -> int:
        return int(u[~form.covered(s)].sum())

    def free(s) -> bool:
        apart = len({int(groups[j]) for j in s}) == len(s)
        return apart and not set(s) & set(form.forbidden)

    def bound(s) -> int:
        """Return what three features lose, and leave when others have excluded what they can."""
        left = form.covered(s)
        saved = {
            j: c * (left & ~form.agreement[:, j])
            for j in range(8)
            if free((*s, j)) and lost((*s, j)) < value
            if all(lost((i, j)) < value for i in s)
        }
        each = sorted(int(rows.sum()) for rows in saved.values())
        two = (np.maximum(saved[i], saved[j]) for i, j in pairs(saved) if free((*s, i, j)))
        excluded = sum(each[-(form.k - 3) :])
        if form.k == 5:
            excluded = max([*(int(rows.sum()) for rows in two), *each], default=0)
        return lost(s) + max(0, int(c[left].sum()) - excluded)

    # At three features the statement allows what is part of a rule that costs less, and nothing
    # that has a bound of the known value or more.
    allowed = {
        s
        for s in itertools.combinations(range(8), 3)
        if free(s) and _satisfied(statement, clausal_values(form, statement, s))
    }
    pairs_lose = [s for s in pairs(range(8)) if lost(s) >= value]
    bounded = {
        s
        for s in itertools.combinations(range(8), 3)
        if free(s) and bound(s) < value and not any(set(p) <= set(s) for p in pairs_lose)
    }
    better = {
        s
        for rule in SETS
        if len(rule) <= form.k and free(rule)
        if int(np.where(form.covered(rule), c, u).sum()) < value
        for s in itertools.combinations(rule, 3)
    }
    assert better <= allowed <= bounded
    assert 0 < len(allowed) < 56


def test_a_better_rule_of_four_features_remains(monkeypatch) -> None:
    three = (0, 1, 2)
    search = triples._Triples._cost
    monkeypatch.setattr(
        triples._Triples, "_local_search", lambda self: (list(three), search(self, three))
    )
    # The last feature, of the group of the fourth, excludes nothing.
    agreement = np.array([[*row, 1] for row in itertools.product([1, 0], repeat=4)])
    samples = Samples(agreement, agreement.all(axis=1), groups=[0, 1, 2, 3, 3])
    statement = KMonomial(samples, 5, one_per_group=True).model("triples")
    values = statement.complete((0, 1, 2, 3))
    assert not values["K"][0]
    assert _satisfied(statement, values)


def pairs(features):
    return itertools.combinations(features, 2)


def clausal_values(form, statement, s):
    """Return the values of a rule that is not the known one."""
    covered = form.covered(s)
    X = np.zeros(8, dtype=np.int64)
    X[list(s)] = 1
    return {
        "X": X,
        "C": covered[form.cost_covered > 0].astype(np.int64),
        "U": (~covered[form.cost_uncovered > 0]).astype(np.int64),
        "K": np.array([0]),
    }


def test_where_a_rule_cannot_be_known_it_is_clausal() -> None:
    rng = np.random.default_rng(0)
    samples = Samples(rng.random((40, 6)) < 0.6, rng.random(40) < 0.5)
    assert "K" in KMonomial(samples, 4).model("triples").variables
    heavy = Samples(samples.agreement, samples.same, np.full(40, 2**16))
    for problem in (
        KMonomial(samples, 3),
        KMonomial(samples, 4, required=(1,)),
        KMonomial(samples, 4, min_coverage="1/4"),
        KMonomial(samples, 4).where("not x0"),
        KMonomial(heavy, 4),
        KMonomial(Samples(rng.random((2, 300)) < 0.5, [True, False]), 4),
    ):
        assert "K" not in problem.model("triples").variables


def test_rules_of_five_features_need_more_time() -> None:
    rng = np.random.default_rng(0)
    samples = Samples(rng.random((40, 50)) < 0.6, rng.random(40) < 0.5)
    four, five = (KMonomial(samples, k).form() for k in (4, 5))
    assert triples.known_rule_helps(four, 3.15)
    assert not triples.known_rule_helps(four, 3.0)
    assert triples.known_rule_helps(five, 28.125)
    assert not triples.known_rule_helps(five, 28.05)


def test_the_statement_does_not_grow_without_end(monkeypatch) -> None:
    problem = _problem(19)
    every = len(problem.model("triples").model.constraints)
    monkeypatch.setattr(triples, "_MOST_CLAUSES", 2)
    fewer = problem.model("triples")
    assert len(fewer.model.constraints) < every
    best = brute_force(problem)[0]
    assert solve(problem, "cpsat", encoding="triples").bound == best


def test_the_bounds_take_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, further = list[int](), triples._further

    def watched(*arguments):
        loaded = [one for one in threadpool_info() if "numpy" in one["filepath"]]
        seen.extend(one["num_threads"] for one in loaded)
        return further(*arguments)

    monkeypatch.setattr(triples, "_further", watched)
    _begin_with_a_pair(monkeypatch)
    _problem(1).model("triples")
    assert set(seen) == {1}


def test_pairs_are_counted_as_long_as_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    exclude = triples._two_exclude
    monkeypatch.setattr(triples, "_two_exclude", lambda *a: calls.append(1) or exclude(*a))
    rng = np.random.default_rng(1)
    little_to_find = Samples(rng.random((300, 24)) < 0.5, rng.random(300) < 0.3)
    numbers = []
    for tried, more in ((10**6, 4), (100, 0), (100, 10**6)):
        calls.clear()
        monkeypatch.setattr(triples, "_TRIED", tried)
        monkeypatch.setattr(triples, "_EACH", more)
        KMonomial(little_to_find, 5).model("triples")
        numbers.append(len(calls))
    every, few, after_one = numbers
    assert 100 <= few < 200 < after_one <= every
