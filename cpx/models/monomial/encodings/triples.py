"""One-sided clauses, a rule that is known, and the features that no better rule has together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Constraints, Statement, Values
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.encodings.common import bools
from cpx.models.monomial.encodings.sizes import Choices, Excluded
from cpx.models.monomial.form import WeightedMonomial, allowed
from cpx.support.one_thread import one_thread

_MOST_WORK = 6 * 10**11
"""Of what the time for the bounds of all triples is proportional to: max(m, 500) d^4."""

_WORK_PER_SECOND = 10**9
"""What a time limit allows for each of its seconds. Most machines do 10**10 and more in a second:
stating takes a tenth of the limit. One was ten times slower."""

_FEW = 500
"""Samples: with fewer, the number of triples decides how long their bounds take."""

_COUNTED = 225_000
"""With k = 5, what to count pairs for a triple takes in place of max(m, 500) d."""

_TRIED, _EACH = 1000, 4
"""Counts of pairs that are always made, and how many more for each triple that they leave out."""

_STARTS = 10
"""Pairs that the search for a known rule starts from."""

_MOST_CLAUSES = 50_000
"""Clauses about three features; with more, stating them takes longer than they save."""


def triples(form: WeightedMonomial) -> Statement:
    """Clauses, a known rule, and the features that no better rule contains together.

    A local search finds a rule S of cost v, no worse than any rule of up to two features. The
    variables of :func:`~cpx.models.monomial.encodings.clausal.clausal` and K, the rule is S::

        minimise    sum_i cost_covered_i C_i + sum_i cost_uncovered_i U_i
        subject to  the constraints of clausal
                    K -> X_j  for j in S,    K -> not X_j  for other j
                    3 K + sum_j X_j >= 3
                    K  or  not X_j                           for features j,
                    K  or  not X_j  or  not X_l              for pairs,
                    K  or  not X_j  or  not X_l  or  not X_p for triples of bound v or more

    The bound of three features is what they lose, the cost of the rows that they exclude and
    that should be covered, and of what they leave, the cost of the rows that they cover and
    should not, the part that k - 3 more features cannot exclude: these exclude no more than the
    k - 3 that exclude the most of it, of those that do not lose v or more with the three, and
    with k = 5 no more than two of them together, which is counted as long as it leaves out more
    than a few triples. No feature counts that makes a triple left out before with two of the
    three. The bound is one of pairs and features where all triples with them have it; a pair is
    not said again by its triples, nor a feature by its pairs.

    So S and all rules that cost less than v remain, and the optimum is that of ``clausal``. A
    known solution that costs v or more is completed as S.

    Where k < 4, features are required, there are limits or further constraints, or no two
    features can be chosen together, it is ``clausal``. So it is where costs add up to 2**20 or
    more, and where max(m, 500) d^4, or with k = 5 225,000 d^3, is above 6 * 10**11. No engine
    chooses it by itself where that is above 10**9 for each second of the limit. Of more
    than 50,000 triples those with the least indices are said.

    Size: one variable, d + 1 constraints, and at most d clauses of two literals, d (d - 1) / 2 of
    three and 50,000 of four more than ``clausal``. The bounds take time proportional to m d^4 at
    most, with k = 5 to m d^5, less where pairs lose v by themselves.

    Source: fixing variables by a known value and a bound is folklore of branch and bound; no
    paper states it so.
    """
    if not known_rule_helps(form):
        return clausal(form)
    with one_thread():
        return _Triples(form).statement()


def known_rule_helps(form: WeightedMonomial, seconds: float = math.inf) -> bool:
    """Whether the statement says more than that of ``clausal``, and is stated in time."""
    m, d = form.shape
    plain = not (form.required or form.limits or form.side)
    of_one = max(m * d, _FEW * d, _COUNTED if form.k == 5 else 0)
    small = of_one * d**3 <= min(_MOST_WORK, _WORK_PER_SECOND * seconds)
    return plain and small and form.k >= 4 and Choices(form).counted


class _Triples:
    """The known rule, and the clauses that all better rules satisfy."""

    def __init__(self, form: WeightedMonomial) -> None:
        self.form, self.choices = form, Choices(form)
        self.uncovering = Excluded(form, form.cost_uncovered)
        self.covering = Excluded(form, form.cost_covered)
        self.known, self.value = self._local_search()

    def statement(self) -> Statement:
        """Return the statement of ``clausal`` with the clauses."""
        import cpmpy as cp

        from cpx.modelling.blocks import extended
        from cpx.modelling.literals import any_of

        base = clausal(self.form)
        X, K = base.variables["X"], bools(1, "K")

        def complete(chosen: Sequence[int]) -> Values:
            known = self._cost(chosen) >= self.value
            values = base.complete(self.known if known else chosen)
            return {**values, "K": np.array([known], dtype=np.int64)}

        added, known = Constraints(), set(self.known)
        for j, x in enumerate(X):
            if j in known:
                added.under("K -> X_j, j in S", [~K[0] | x])
            else:
                added.under("K -> not X_j, j not in S", [~K[0] | ~x])
        added.under("3 K + sum_j X_j >= 3", [cp.sum([*X, 3 * K[0]]) >= 3])
        added.under(
            "K or not X_j or not X_l or not X_p, of bound v or more",
            (any_of([K[0], *(~X[j] for j in clause)]) for clause in self._clauses()),
        )
        variables = {**base.variables, "K": K}
        return replace(
            base,
            model=extended(base.model, added),
            variables=variables,
            complete=complete,
            known=self.known,
            lines=[*base.lines, *added.lines],
            means={**base.means, "K": lambda _: "the rule is the known one"},
        )

    def _cost(self, chosen: Sequence[int]) -> int:
        covered = self.form.covered(chosen)
        return int(np.where(covered, self.form.cost_covered, self.form.cost_uncovered).sum())

    # ------------------------------------------------------------------ the known rule

    def _local_search(self) -> tuple[list[int], int]:
        """Return a rule that no added, dropped or exchanged feature makes better, and its cost."""
        u, c = self.uncovering, self.covering
        first, second = self.choices.first, self.choices.second
        each, both = u.each - c.each, (u.both - c.both)[first, second]
        best = np.argsort(each[first] + each[second] - both, kind="stable")[:_STARTS]
        starts = [[int(first[at]), int(second[at])] for at in best]
        # The empty rule, or one feature, may be better than all pairs.
        found = [self._improved(chosen) for chosen in [*starts, []]]
        return min(found, key=lambda rule: rule[1])

    def _improved(self, chosen: list[int]) -> tuple[list[int], int]:
        value = self._cost(chosen)
        while True:
            smaller = [[j for j in chosen if j != out] for out in chosen]
            bases = [*smaller, chosen] if len(chosen) < self.form.k else smaller
            steps = [(self._cost(base), base) for base in smaller]
            for base in bases:
                others = allowed(self.form, tuple(base))
                if others:
                    costs = self._with_one_more(base)[others]
                    steps.append((int(costs.min()), [*base, others[int(costs.argmin())]]))
            least, best = min(steps, key=lambda step: step[0], default=(value, chosen))
            if least >= value:
                return chosen, value
            chosen, value = best, least

    def _with_one_more(self, base: list[int]) -> NDArray[np.int64]:
        """Return the cost of a rule with each feature added to it."""
        form, covered = self.form, self.form.covered(base)
        gain = form.cost_uncovered[covered] - form.cost_covered[covered]
        costs: NDArray[np.int64] = self._cost(base) + gain @ ~form.agreement[covered]
        return costs

    # ------------------------------------------------------------------ the clauses

    def _clauses(self) -> list[tuple[int, ...]]:
        """Return the features, pairs and triples that no rule that costs less contains."""
        three = self._of_better_rules()
        pairs: NDArray[np.bool_] = np.logical_or.reduce([three.any(axis=at) for at in range(3)])
        single: NDArray[np.bool_] = np.asarray(pairs.any(axis=0) | pairs.any(axis=1))
        features = [(int(j),) for j in self.choices.free if not single[j]]
        two = [
            (j, n)
            for j, n in zip(self.choices.first.tolist(), self.choices.second.tolist(), strict=True)
            if single[j] and single[n] and not pairs[j, n]
        ]
        closed = pairs[:, :, None] & pairs[:, None, :] & pairs[None, :, :] & ~three
        return [*features, *two, *map(tuple, np.argwhere(closed)[:_MOST_CLAUSES].tolist())]

    def _of_better_rules(self) -> NDArray[np.bool_]:
        """Return which triples have a bound below the known value, at [j, l, p] with j < l < p."""
        u, c, most = self.uncovering, self.covering, self.value
        lost = u.each[:, None] + u.each[None, :] - u.both
        together = np.zeros(lost.shape, dtype=np.bool_)
        together[self.choices.first, self.choices.second] = True
        together &= lost < most
        pairs = np.argwhere(together)
        together |= together.T
        # In any order; no better rule has one of those that were left out before, either.
        found: NDArray[np.bool_] = together[:, :, None] & together[:, None, :] & together
        counts = _TRIED if self.form.k == 5 else 0
        for j, n in pairs:
            others = np.flatnonzero(found[j, n])
            last = others > n
            if not last.any():
                continue
            (losing, *_), (left, columns, prices) = (_further(s, (j, n), others) for s in (u, c))
            lost_by = lost[j, n] + np.diag(losing)[last]
            lost_with = lost_by[:, None] + (np.diag(losing)[None, :] - losing[last])
            saved = np.diag(left)[None, :] - left[last]
            saved[(lost_with >= most) | ~found[j][np.ix_(others[last], others)]] = 0
            remaining = c.total - c.each[j] - c.each[n] + c.both[j, n] - np.diag(left)[last]
            excluded = np.sort(saved, axis=1)[:, -(self.form.k - 3) :].sum(axis=1)
            worse = lost_by + np.maximum(0, remaining - excluded) >= most
            _leave_out(found, j, n, others[last][worse])
            if counts > 0:
                # The third itself is among the others: with it, one more feature excludes alone.
                needed = lost_by + remaining - most
                for at, p in enumerate(np.flatnonzero(last)):
                    if worse[at]:
                        continue
                    enough = found[j, n, others] & (saved[at] + saved[at].max() > needed[at])
                    together = found[j][np.ix_(others[enough], others[enough])]
                    two = _two_exclude(columns[enough], prices * (1 - columns[p]), together)
                    counts -= 1
                    if two <= needed[at]:
                        counts += _EACH
                        _leave_out(found, j, n, others[p])
        order = np.arange(len(found))
        up = order[:, None] < order
        return found & up[:, :, None] & up


def _leave_out(found: NDArray[np.bool_], j: int, n: int, p: NDArray[np.int64]) -> None:
    """Say that no better rule has the three."""
    found[j, n, p] = found[j, p, n] = found[n, j, p] = False
    found[n, p, j] = found[p, j, n] = found[p, n, j] = False


def _two_exclude(
    columns: NDArray[np.float32], prices: NDArray[np.float32], together: NDArray[np.bool_]
) -> float:
    """Return the cost of the rows that two features exclude, at most."""
    both = (columns * prices) @ columns.T
    each = np.diag(both)
    return float((each[:, None] + each - both)[together].max(initial=0))


def _further(
    costs: Excluded, pair: tuple[int, int], others: NDArray[np.int64]
) -> tuple[NDArray[np.float32], ...]:
    """Return the cost of the rows that a pair covers and each two of the others both exclude.

    With it, for each of the others which of these rows it excludes, and what the rows cost.
    """
    rows = ~costs.table[:, pair].any(axis=1)
    # Costs below 2**24 are exact.
    columns = np.ascontiguousarray(costs.table[np.ix_(rows, others)].T, dtype=np.float32)
    prices: NDArray[np.float32] = costs.priced[rows].astype(np.float32)
    priced: NDArray[np.float32] = columns * prices
    return priced @ columns.T, columns, prices
