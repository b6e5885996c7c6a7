"""A known rule, and the features that no better rule has together: no better rule is lost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cpx import KMonomial, Samples, solve
from cpx.backends.maxsat import core
from cpx.models import NegativeOnly
from cpx.models.monomial.encodings import triples
from cpx.models.monomial.search.conflicts import _Looking, conflicts
from cpx.models.monomial.search.presolve import reduce
from cpx.models.monomial.search.root import Root
from cpx.processes.allowance import allowing
from cpx.testing.brute import brute_force
from tests.seeds import each

SETS = [s for size in range(7) for s in itertools.combinations(range(8), size)]


def _problem(seed: int, kind: type = KMonomial) -> KMonomial | NegativeOnly:
    """Plant a rule of five features, so that fewer are seldom best."""
    rng = np.random.default_rng(seed)
    m = 150
    agreement = rng.random((m, 8)) < rng.uniform(0.7, 0.85)
    same = agreement[:, rng.permutation(8)[:5]].all(axis=1) ^ (rng.random(m) < 0.05)
    if seed % 4 == 1:
        agreement[:, 7] = agreement[:, 2]
    samples = Samples(
        agreement,
        same,
        rng.integers(1, 4, m) if seed % 2 else None,
        groups=[0, 0, 1, 2, 3, 4, 5, 6] if seed % 3 == 0 else None,
    )
    forbidden = (int(rng.integers(8)),) if seed % 5 == 0 else ()
    return kind(samples, 5 + seed % 2, forbidden=forbidden, one_per_group=seed % 3 == 0)


def _begin_with_four(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the known rule be the best of at most four features, so that better ones are left."""

    def poor(self):
        best = min((s for s in SETS if len(s) <= 4 and _free(self.form, s)), key=self._cost)
        return list(best), self._cost(best)

    monkeypatch.setattr(triples.KnownRule, "_start", poor)


def _free(form, s) -> bool:
    groups = np.arange(8) if form.groups is None else form.groups
    return len({int(groups[j]) for j in s}) == len(s) and not set(s) & set(form.forbidden)


def _satisfied(statement, values) -> bool:
    for name, array in statement.variables.items():
        for variable, value in zip(array, values[name], strict=True):
            variable._value = int(value)
    return all(constraint.value() for constraint in statement.model.constraints)


@pytest.mark.parametrize("encoding", ["triples", "branches"])
@pytest.mark.parametrize("poor", [False, True])
@each(range(16), 8)
def test_all_better_rules_and_the_known_one_remain(seed, poor, encoding, monkeypatch) -> None:
    if poor:
        _begin_with_four(monkeypatch)
    problem = _problem(seed)
    statement = problem.model(encoding)
    assert (statement.bound or 0) <= brute_force(problem)[0]
    known = statement.known
    value = problem.evaluate(problem.explanation(known)).objective
    for s in SETS[seed % 8 :: 8]:
        found = problem.evaluate(problem.explanation(s))
        if not found.feasible:
            continue
        values = statement.complete(s)
        assert _satisfied(statement, values), s
        taken = problem.explanation(np.flatnonzero(values["X"]).tolist())
        assert problem.evaluate(taken).objective <= min(found.objective, value)
        # No rule of up to two features is better, so that larger ones can be left out by bounds.
        assert len(s) > 2 or found.objective >= value


def test_bounds_leave_out_most_and_keep_better_rules_of_five(monkeypatch) -> None:
    _begin_with_four(monkeypatch)
    better = left = 0
    for seed in range(24):
        problem = _problem(seed)
        form, built = problem.form(), triples.KnownRule(problem.form())
        table = built.left.triples
        assert table is not None
        names = built.reduced.features[built.left.columns].tolist()
        places = {name: at for at, name in enumerate(names)}
        kept = {
            s
            for s in itertools.combinations(names, 3)
            if table[places[s[0]], places[s[1]], places[s[2]]]
        }
        left += len(kept)
        for s in SETS:
            cost = built._cost(s)
            if len(s) > form.k or not _free(form, s) or cost >= built.value:
                continue
            # Equal features stand for one another, and others may be left out for nothing.
            assert (rule := built.irreducible(s)) is not None
            assert built._cost(rule) <= cost
            assert kept.issuperset(itertools.combinations(sorted(rule), 3)), (seed, s, rule)
            better += 1
    assert better > 20
    assert 0 < left < 24 * 56 / 3


def test_sets_of_five_in_blocks_of_eight_and_many_words() -> None:
    """With more columns than a block has, unit weights and others; cut short, none is lost."""
    left = better = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        d, m = 11 + seed % 2, (100, 1200)[seed // 2]
        agreement = rng.random((m, d)) < 0.85
        same = agreement[:, rng.permutation(d)[:5]].all(axis=1) ^ (rng.random(m) < 0.1)
        weights = rng.integers(1, 6, m) if seed % 3 else None
        form = KMonomial(Samples(agreement, same, weights), 5).form()
        reduced = reduce(form)
        assert reduced is not None
        root, names = Root.whole(reduced), reduced.features
        lost, good = form.cost_covered - form.cost_uncovered, int(form.cost_uncovered.sum())
        costs = {
            s: good + int(lost[form.covered(names[list(s)])].sum())
            for size in range(6)
            for s in itertools.combinations(range(root.n), size)
        }
        least = min(cost for s, cost in costs.items() if len(s) < 5)
        fives = [
            s
            for s, cost in costs.items()
            if cost < least and all(cost < costs[(*s[:at], *s[at + 1 :])] for at in range(len(s)))
        ]
        better += len(fives)
        for allowed in (0.0, 5e-5, 2e-4, 1.0):
            found = conflicts(root, -((reduced.base - least) // reduced.scale), allowed)
            assert found.triples is not None
            place = {int(j): at for at, j in enumerate(found.columns)}
            for s in fives:
                for three in itertools.combinations(s, 3):
                    assert found.triples[tuple(place[j] for j in three)], (seed, s, three)
        left += int(found.triples.sum()) // 6
    assert better > 3
    assert left < 4 * 165


def test_work_that_is_not_allowed_leaves_out_less(monkeypatch) -> None:
    _begin_with_four(monkeypatch)
    problem = _problem(2)
    with allowing(0.0):
        fewer = problem.model("triples")
    assert len(fewer.model.constraints) < len(problem.model("triples").model.constraints)
    with allowing(0.0):
        assert solve(problem, "cpsat", encoding="triples").bound == brute_force(problem)[0]


@pytest.mark.parametrize("encoding", ["triples", "branches"])
@pytest.mark.parametrize("engine", ["cpsat", "maxsat:rc2", "maxsat:lsu", "milp"])
@each(range(6), 3)
def test_engines_find_the_optimum(seed, engine, encoding, monkeypatch) -> None:
    if seed % 2:
        _begin_with_four(monkeypatch)
    problem = _problem(seed, NegativeOnly if seed == 4 else KMonomial)
    result = solve(problem, engine, encoding=encoding)
    assert result.objective == result.bound == brute_force(problem)[0]
    assert any("found by a heuristic and the bounds" in told for told in result.warnings)


@pytest.mark.parametrize("engine", ["maxsat:rc2", "maxsat:stratified"])
def test_cores_of_what_is_better_than_the_known_rule(engine, monkeypatch) -> None:
    """Asked for at once, and of all statements: there is something better, or there is not."""
    cuts = []

    def ask(of):
        ask_for_better(of)
        cuts.append(of._cut)

    ask_for_better, guided = core.CoreGuided._ask_for_better, core.core_guided
    monkeypatch.setattr(core, "_CUT_AFTER", -1.0)
    monkeypatch.setattr(core.CoreGuided, "_ask_for_better", ask)
    monkeypatch.setattr(
        core, "core_guided", lambda *of, **own: guided(*of, **{**own, "only_better": True})
    )
    for seed in range(3):
        problem = _problem(seed)
        optimum = brute_force(problem)[0]
        for hint in (None, solve(problem, "search").explanation):
            result = solve(problem, engine, encoding="clausal", hint=hint, warm_start=False)
            assert result.objective == result.bound == optimum
            assert (cuts[-1] == optimum) is (hint is not None)


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


def test_what_is_sorted_counts_towards_the_limit() -> None:
    """With few rows and many columns left, words alone were a tenth of the time."""
    rng = np.random.default_rng(0)
    form = KMonomial(Samples(rng.random((120, 20)) < 0.75, rng.random(120) < 0.5), k=6).form()
    reduced = reduce(form)
    assert reduced is not None
    root = Root.whole(reduced)
    n, words = root.n, len(root.take(np.arange(root.n)))
    three, spent = np.ones((n * n, n), dtype=np.uint8), []
    for limit in (1, 25):  # nothing is left at a limit of 1
        looking = _Looking(root, limit, 10**9)
        assert looking.at(np.arange(n), 2, np.ones((n, n), dtype=np.uint8), three.copy()) is None
        spent.append(10**9 - looking.left)
    assert spent[0] == n * (n - 1) // 2 * n * words < spent[1]
