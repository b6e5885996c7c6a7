"""Proofs about expected predictions: prices of attributes, and branching.

Of independent attributes the prices come from the steps of :mod:`.term_prices`; where these are
not enough, and of others, from linear relaxations. Where the sets of a part are few enough, the
checker looks at them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part
from cpx.check.proofs.document import Claim, Refused
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.fewest import FewestExpected
from cpx.models.expected_prediction.proof_check import (
    MOST_PRICES,
    MOST_SETS,
    Bound,
    JudgedQuestion,
    Question,
)
from cpx.models.expected_prediction.proof_mixtures import number_of_sets
from cpx.models.expected_prediction.proof_terms import TOGETHER, Terms, require_small
from cpx.models.expected_prediction.prove_terms import TermPrices
from cpx.models.expected_prediction.table_layout import by_tests

__all__ = ["prove"]

Ints = NDArray[np.int64]

# Sets that are counted, times the components; without edges they take the checker some seconds.
_COUNTED = 2**22
# Where attributes are independent, prices take the checker less time than more sets.
_FEW = 2**12


def prove(
    instance: Mapping[str, Any],
    goal: Claim,
    over: Callable[[], bool],
    trusted: bool = False,
    problem: object = None,
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the parts reached.

    Nothing is split once the time is up, or there are as many prices as may be. Refused is raised
    where the goal is wrong. If it is ``trusted``, sets that the checker counts are not looked at,
    and of independent attributes the tables of ``problem`` are taken for those of the checker.
    """
    question: Question
    own = problem if trusted and isinstance(problem, ExpectedPrediction) else None
    if own is not None and own.by_leaf and own.likelihood_floor is None:
        question = Question(instance, goal, [_terms(own)])
    else:
        question = JudgedQuestion(instance, goal)
    if question.root is None:
        return goal, []
    search = _Search(question, over, trusted)
    search.close(question.root)
    if not search.open:
        return goal, search.written()
    if goal.bound is None:
        return None, []
    if instance["problem"] == "mlse":
        return Claim(max(search.open)), search.written()
    return _fewest(question, int(goal.bound))


def _terms(problem: ExpectedPrediction) -> Terms:
    """Return what the checker will make of a problem whose attributes are independent."""
    tables, needed, tau = problem.leaf_tables, 0, None
    if isinstance(problem, FewestExpected):
        needed, tau = problem.target, problem.tau if problem.bounded else None
    layout = by_tests(problem.leaves, TOGETHER) if tau is None else tables.by_tree
    require_small(layout.sizes.tolist())
    found = tables.terms(layout)
    if tau is not None:
        pairs = zip(found, tables.maxima(-tau), strict=True)
        found = [term._replace(table=term.table + most.table) for term, most in pairs]
    return Terms(problem.n_features, found, problem.base, needed, tolerance=problem._tolerance)


def _fewest(question: Question, bound: int) -> tuple[Claim | None, list[str]]:
    """Return the greatest number of attributes that one linear relaxation proves necessary."""
    part, best = question.root, None
    assert part is not None
    low, high = 0, bound - 1
    while low < high:
        middle = (low + high + 1) // 2
        asked = question.asking(Claim(middle))
        prices, _ = _relaxations(asked, part)
        if asked.room(part) > 0 and asked.bound(part, prices) > asked.most:
            high = middle - 1
        elif asked.room(part) > 0:
            low, best = middle, prices
        else:
            low, best = middle, None
    if not low:
        return None, []
    if best is None:
        return Claim(low), ["full"]
    return Claim(low), [*(_line(question, p) for p in best), _rule("bound", range(len(best)))]


class _Search:
    """Depth-first closing of parts, with the lines for those that are done."""

    def __init__(self, question: Question, over: Callable[[], bool], trusted: bool) -> None:
        self._question, self._over, self._trusted = question, over, trusted
        self._judged = question if isinstance(question, JudgedQuestion) else None
        self._sets = min(MOST_SETS, self._judged.most_sets) if self._judged else MOST_SETS
        self._looked_at = 0
        self._prices: list[Ints] = []
        self._most = MOST_PRICES // max(1, question.terms.of.size)
        self._lines: list[str] = []
        self.open: list[int] = []
        self._ascent = TermPrices(question.terms) if question.independent else None

    def written(self) -> list[str]:
        """Return the lines, with the prices before them."""
        return [*(_line(self._question, prices) for prices in self._prices), *self._lines]

    def close(self, root: Part) -> None:
        """Write the lines for a part, those within it one after the other."""
        left: list[tuple[Part, range]] = [(root, range(0))]
        while left:
            part, known = left.pop()
            split = self._opened(part, known)
            if split is not None:
                part, known, j = split
                self._lines.append(f"split {j}")
                left += [(half, known) for half in reversed(part.halves(j))]

    def _opened(self, part: Part, known: range) -> tuple[Part, range, int] | None:
        """Write lines until a part is done, or has to be split: by what, with which prices."""
        question, chosen = self._question, part.kept.astype(np.float64)
        fresh = 0  # how the prices of this part were found: 1 by steps, 2 by a program
        while True:
            if (broken := question.side.which(part)) is not None:
                self._lines.append(f"breaks {broken}")
                return None
            if question.room(part) <= 0:
                self._full(part)
                return None
            if self._ascent and not len(question.side):
                rest = self._ascent.idle(part)
                if (rest.out != part.out).any():
                    self._lines.append("idle")
                    part = rest
                    continue
            found = [self._prices[i] for i in known]
            if known and (total := question.bound(part, found)) <= question.most:
                self._lines.append(_rule("bound", known))
                return None
            if self._counted(part):
                return None
            if known:
                rest = part
                if question.independent:
                    rest = Bound(question, part, found[0]).decided(question.most)
                if (rest.free != part.free).any():
                    self._lines.append(_rule("decide", known))
                    part, fresh = rest, 0
                    continue
                if fresh == 2 or self._enough():
                    break
            if fresh == 0 and self._ascent and self._ascent.small:
                first = found[0] if known else np.zeros_like(question.terms.of)
                prices = [self._ascent.improved(part, question.room(part), question.most, first)]
                fresh = 1
            else:
                if fresh:  # steps were not enough, and no line names their prices
                    del self._prices[known.start :]
                prices, chosen = _relaxations(question, part)
                fresh = 2
            known = range(len(self._prices), len(self._prices) + len(prices))
            self._prices += prices
        if self._over() or self._enough():
            self._lines.append(_rule("bound", known))
            self.open.append(total)
            return None
        far = np.where(part.free, np.abs(chosen - 0.5), 2)
        return part, known, int(far.argmin())

    def _full(self, part: Part) -> None:
        """Write that nothing may be added, and what is kept is not worth more."""
        if self._judged and not self._trusted and not self._judged.full(part):
            held = np.flatnonzero(part.kept).tolist()
            raise Refused(f"the attributes {held} are worth more")
        self._lines.append("full")

    def _enough(self) -> bool:
        """Whether there is no room for more prices, or sets to be looked at one by one."""
        if self._looked_at > self._sets < MOST_SETS:
            return True
        return len(self._prices) + len(self._question.components) > self._most

    def _counted(self, part: Part) -> bool:
        """Write that all sets are counted, where they are few."""
        question, components = self._question, len(self._question.components)
        count = number_of_sets(part, question.room(part))
        most = _FEW if question.independent else min(self._sets, _COUNTED // components)
        few = count <= most
        if few and self._judged and not self._trusted and not self._judged.counted(part):
            raise Refused("a set is worth more")
        if few:
            self._lines.append("counted")
            self._looked_at += count
        return few


def _rule(name: str, numbers: range) -> str:
    return " ".join([name, *map(str, numbers)])


def _line(question: Question, prices: Ints) -> str:
    words = ["prices"]
    for t, (first, members) in enumerate(
        zip(question.terms.first.tolist(), question.terms.attributes, strict=True)
    ):
        paid = prices[first : first + len(members)].tolist()
        words += [f"{t} {j} {u}" for j, u in zip(members, paid, strict=True) if u]
    return " ".join(words)


def _relaxations(question: Question, part: Part) -> tuple[list[Ints], NDArray[np.float64]]:
    """Return the prices for each component, and how much they have each attribute in the mean."""
    if isinstance(question, JudgedQuestion) and question.posterior:
        prices = np.zeros_like(question.terms.of)
        return [prices] * len(question.components), question.most_probable(part)
    found = [_relaxation(question, part, terms) for terms in question.components]
    return [prices for prices, _ in found], np.mean([chosen for _, chosen in found], axis=0)


def _relaxation(question: Question, part: Part, terms: Terms) -> tuple[Ints, NDArray[np.float64]]:
    """Return the prices of the linear relaxation, rounded, and how much it has each attribute.

    Each term has one of its entries, in parts; an attribute is in the set as much as in the
    entries of each of its terms.
    """
    from scipy.sparse import coo_array

    from cpx.backends.linear_program import minimum

    free = np.flatnonzero(part.free)
    chosen, prices = part.kept.astype(np.float64), np.zeros(terms.of.size, dtype=np.int64)
    allowed = terms.allowed(part)
    several = np.bincount(terms.term[allowed], minlength=terms.start.size) > 1
    column = np.full(terms.values.size, -1)
    kept = np.flatnonzero(allowed & several[terms.term])
    column[kept] = np.arange(kept.size)
    used = np.flatnonzero(part.free[terms.of])
    row = np.full(terms.of.size, -1)
    row[used] = np.arange(used.size)
    named = np.full(terms.n, -1)
    named[free] = np.arange(free.size)
    pairs = [(column[e], row[p]) for e, p in terms.bits]
    where = [(c >= 0) & (r >= 0) for c, r in pairs]
    columns = [c[w] for (c, _), w in zip(pairs, where, strict=True)]
    rows = [r[w] for (_, r), w in zip(pairs, where, strict=True)]
    sizes = np.unique(terms.term[kept], return_inverse=True)[1]
    equal = used.size + int(several.sum())
    data = [np.ones(sum(c.size for c in columns)), -np.ones(used.size)]
    data += [np.ones(kept.size), np.ones(free.size)]
    rows += [np.arange(used.size), used.size + sizes, np.full(free.size, equal)]
    columns += [kept.size + named[terms.of[used]], np.arange(kept.size)]
    columns.append(kept.size + np.arange(free.size))
    matrix: Any = coo_array(
        (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))),
        shape=(equal + 1, kept.size + free.size),
    )
    scale = max(1, int(np.abs(terms.values[kept]).max(initial=1)))
    high = np.concatenate([np.zeros(used.size), np.ones(equal - used.size)])
    found = minimum(
        np.concatenate([-terms.values[kept] / scale, np.zeros(free.size)]),
        matrix,
        np.append(high, float(question.room(part))),
        np.concatenate([np.full(kept.size, np.inf), np.ones(free.size)]),
        np.append(high, -np.inf),
    )
    if found is not None:
        values, worth = found
        chosen[free] = values[kept.size :]
        prices[used] = [round(-u * scale) for u in worth[: used.size].tolist()]
    return prices, chosen
