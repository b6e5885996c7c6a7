"""One-sided clauses, a rule that is known, and the features that no better rule has together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cpx.compiled.library import has_kernels
from cpx.modelling.statement import Constraints, Statement, Values
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.encodings.common import bools
from cpx.models.monomial.encodings.sizes import Choices
from cpx.models.monomial.form import WeightedMonomial
from cpx.processes.allowance import allowed

if TYPE_CHECKING:
    from cpx.models.monomial.search.conflicts import Conflicts

_MOST_CLAUSES = 50_000
"""Clauses about three features; with more, stating them takes longer than they save."""

_BEAM = 1024
"""Sets of each size that the search for a known rule keeps."""


def triples(form: WeightedMonomial) -> Statement:
    """Clauses, a known rule, and the features that no better rule contains together.

    A beam search finds a rule S of cost v; where the bounds below meet a better one, that takes
    its place, so that it is no worse than any rule of up to two features. The variables of
    :func:`~cpx.models.monomial.encodings.clausal.clausal` and K, the rule is S::

        minimise    sum_i cost_covered_i C_i + sum_i cost_uncovered_i U_i
        subject to  the constraints of clausal
                    K -> X_j  for j in S,    K -> not X_j  for other j
                    3 K + sum_j X_j >= 3
                    K  or  not X_j                           for features j,
                    K  or  not X_j  or  not X_l              for pairs,
                    K  or  not X_j  or  not X_l  or  not X_p for triples

    in conflict: by the bounds of the exact search no irreducible rule that costs less than v has
    them (:mod:`cpx.models.monomial.search.conflicts`). With k = 5, what two more features than
    three exclude is counted as well. A pair is not said again by its triples, nor a feature by its
    pairs.

    So S and all irreducible rules that cost less than v remain, but for features that are equal
    on all samples that matter, of which the first stands for the others: the optimum is that of
    ``clausal``. A known solution that costs v or more is completed as S, another one as an
    irreducible one that costs no more.

    Where k < 4, features are required, there are limits or further constraints, or no two
    features can be chosen together, it is ``clausal``. So it is where costs add up to 2**20 or
    more. Of more than 50,000 triples those with the least indices are said. What the bounds may
    take is a tenth of a time limit; sets that were not looked at then are no conflicts.

    Size: one variable, d + 1 constraints, and at most d clauses of two literals, d (d - 1) / 2 of
    three and 50,000 of four more than ``clausal``. The bounds take time proportional to m d^4 at
    most, with k = 5 to m d^5, less where pairs lose v by themselves.

    Source: fixing variables by a known value and a bound is folklore of branch and bound; no
    paper states it so.
    """
    if not known_rule_helps(form):
        return clausal(form)
    found = _Triples(form)
    return found.statement() if found.root.k >= 4 else clausal(form)


def known_rule_helps(form: WeightedMonomial, seconds: float = math.inf) -> bool:
    """Whether the statement says more than that of ``clausal``."""
    plain = not (form.required or form.limits or form.side)
    return plain and form.k >= 4 and has_kernels() and Choices(form).counted


class _Triples:
    """The known rule, and the clauses that all better rules satisfy."""

    def __init__(self, form: WeightedMonomial) -> None:
        from cpx.models.monomial.search.presolve import reduce
        from cpx.models.monomial.search.root import Root

        self.form = form
        reduced = reduce(form)
        assert reduced is not None  # nothing is required
        self.reduced, self.root = reduced, Root.whole(reduced)
        self.known, self.value = list[int](), 0

    def statement(self) -> Statement:
        """Return the statement of ``clausal`` with the clauses."""
        import cpmpy as cp

        from cpx.modelling.blocks import extended
        from cpx.modelling.literals import any_of

        base = clausal(self.form)
        self.known, self.value = self._start()
        self.left = self._conflicts()
        X, K = base.variables["X"], bools(1, "K")

        def complete(chosen: Sequence[int]) -> Values:
            rule = self._irreducible(chosen)
            values = base.complete(self.known if rule is None else rule)
            return {**values, "K": np.array([rule is None], dtype=np.int64)}

        added, known = Constraints(), set(self.known)
        for j, x in enumerate(X):
            if j in known:
                added.under("K -> X_j, j in S", [~K[0] | x])
            else:
                added.under("K -> not X_j, j not in S", [~K[0] | ~x])
        added.under("3 K + sum_j X_j >= 3", [cp.sum([*X, 3 * K[0]]) >= 3])
        added.under(
            "K or not X_j or not X_l or not X_p, in conflict",
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

    # ------------------------------------------------------------------ rules

    def _start(self) -> tuple[list[int], int]:
        """Return a rule of a beam search, and its cost."""
        from cpx.models.monomial.search.beam import beam_columns

        rule = list(self.reduced.original(beam_columns(self.root, _BEAM)))
        return rule, self._cost(rule)

    def _irreducible(self, chosen: Sequence[int]) -> list[int] | None:
        """Return a rule that costs no more and remains; None where it is the known one."""
        rule, cost = list(chosen), self._cost(chosen)
        for j in chosen:
            rest = [n for n in rule if n != j]
            if (without := self._cost(rest)) <= cost:
                rule, cost = rest, without
        if cost >= self.value:
            return None
        kept = set(self.reduced.features.tolist())
        return rule if kept.issuperset(rule) else self._without_equals(rule, kept, cost)

    def _without_equals(self, rule: list[int], kept: set[int], cost: int) -> list[int] | None:
        """Replace features by those that are kept for them."""
        for at, j in enumerate(rule):
            if j in kept:
                continue
            rest = rule[:at] + rule[at + 1 :]
            others = [n for n in sorted(kept - set(rest)) if self._fits(n, rest)]
            equal = (n for n in others if self._cost([*rest, n]) <= cost)
            if (instead := next(equal, None)) is None:
                return None
            rule = [*rest[:at], instead, *rest[at:]]
        return sorted(rule)

    def _fits(self, feature: int, rule: list[int]) -> bool:
        groups = self.form.groups
        return groups is None or groups[feature] not in groups[rule]

    # ------------------------------------------------------------------ the clauses

    def _conflicts(self) -> Conflicts:
        """Return what is in conflict, with the best rule that was met on the way as the known."""
        from cpx.models.monomial.search.conflicts import conflicts

        while True:
            reduced = self.reduced
            cost = -((reduced.base - self.value) // reduced.scale)
            found = conflicts(self.root, cost, allowed())
            if found.better is None:
                return found
            self.known = list(reduced.original(found.better))
            self.value = self._cost(self.known)

    def _clauses(self) -> Iterator[tuple[int, ...]]:
        """Yield the features, pairs and triples that no rule that costs less contains."""
        names = self.reduced.features[self.left.columns]
        free = np.setdiff1d(np.arange(self.form.shape[1]), self.form.forbidden)
        yield from ((int(j),) for j in np.setdiff1d(free, names))
        pairs, n = self.left.pairs, names.size
        apart = np.triu(~pairs, 1)
        if (groups := self.form.groups) is not None:
            apart &= groups[names][:, None] != groups[names][None, :]
        yield from ((int(names[a]), int(names[b])) for a, b in np.argwhere(apart))
        if self.left.triples is None:
            return
        left = _MOST_CLAUSES
        for a in range(n - 2):
            after = pairs[a].copy()
            after[: a + 1] = False
            closed = after[:, None] & after[None, :] & pairs & ~self.left.triples[a]
            for b, c in np.argwhere(np.triu(closed, 1))[:left]:
                yield int(names[a]), int(names[b]), int(names[c])
                left -= 1
