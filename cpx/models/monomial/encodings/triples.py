"""One-sided clauses, a rule that is known, and the features that no better rule has together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.library import has_kernels
from cpx.modelling.statement import Statement, Values
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.encodings.sizes import Choices, blocks, say
from cpx.models.monomial.form import WeightedMonomial
from cpx.models.monomial.search.conflicts import MOST_SECONDS
from cpx.processes.allowance import allowed
from cpx.support.one_thread import one_thread

if TYPE_CHECKING:
    from cpx.modelling.blocks import BlockModel
    from cpx.models.monomial.search.conflicts import Conflicts

MOST_CLAUSES = 50_000
"""Clauses about three features; with more, stating them takes longer than they save."""

_PRODUCTS_PER_SECOND = 10**11
"""That a bound on each triple left may take, were they all to cover every sample."""

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
    known = KnownRule(form)
    return _stated(form, known) if known.root.k >= 4 else clausal(form)


def known_rule_helps(form: WeightedMonomial) -> bool:
    """Whether the statement says more than that of ``clausal``."""
    plain = not (form.required or form.limits or form.side)
    return plain and form.k >= 4 and has_kernels() and Choices(form).counted


def _stated(form: WeightedMonomial, known: KnownRule) -> Statement:
    from cpx.modelling.blocks import Clauses, Rows

    base = clausal(form)
    model = blocks(base).extended(K=1)
    X, K = model.numbers("X"), model.numbers("K")

    def complete(chosen: Sequence[int]) -> Values:
        rule = known.irreducible(chosen)
        values = base.complete(known.known if rule is None else rule)
        return {**values, "K": np.array([rule is None], dtype=np.int64)}

    known.state(model)
    say(
        model, "3 K + sum_j X_j >= 3", (1, np.ones_like(X), X), (3, [1], K), operator=">=", limit=3
    )
    clauses = [[K[0], *(-X[j] for j in clause)] for clause in known.clauses()]
    model.blocks.append(
        Clauses("K or not X_j or not X_l or not X_p, in conflict", Rows.listed(clauses))
    )
    return replace(
        base,
        model=model,
        variables=model.variables,
        complete=complete,
        known=known.known,
        bound=known.bound,
        lines=model.lines,
        means={**base.means, "K": lambda _: "the rule is the known one"},
    )


class KnownRule:
    """A known rule, and what is in conflict in all irreducible rules that cost less.

    known, value: The rule and its cost.
    free: The features that may be chosen.
    left: What is in no conflict, in the columns of ``reduced``.
    """

    def __init__(self, form: WeightedMonomial) -> None:
        from cpx.models.monomial.search.presolve import reduce
        from cpx.models.monomial.search.root import Root

        self.form = form
        reduced = reduce(form)
        assert reduced is not None  # nothing is required
        self.reduced, self.root = reduced, Root.whole(reduced)
        self.free = np.setdiff1d(np.arange(form.shape[1]), form.forbidden)
        self.known, self.value = self._start()
        self.left = self._conflicts()

    def state(self, model: BlockModel) -> None:
        """Say that K makes the rule the known one."""
        X, K = model.numbers("X"), model.numbers("K")
        inside = np.isin(np.arange(X.size), self.known)
        for line, some in (
            ("K -> X_j, j in S", X[inside]),
            ("K -> not X_j, j not in S", -X[~inside]),
        ):
            each = np.eye(some.size, dtype=np.bool_)
            model.clauses(line, np.broadcast_to(-K, some.size), each, some)

    def _cost(self, chosen: Sequence[int]) -> int:
        covered = self.form.covered(chosen)
        return int(np.where(covered, self.form.cost_covered, self.form.cost_uncovered).sum())

    # ------------------------------------------------------------------ rules

    def _start(self) -> tuple[list[int], int]:
        """Return a rule of a beam search, and its cost."""
        from cpx.models.monomial.search.beam import beam_columns

        rule = list(self.reduced.original(beam_columns(self.root, _BEAM)))
        return rule, self._cost(rule)

    def irreducible(self, chosen: Sequence[int]) -> list[int] | None:
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
        """Find conflicts; the best rule that is met on the way is the known one then."""
        from cpx.models.monomial.search.conflicts import conflicts

        while True:
            reduced = self.reduced
            cost = -((reduced.base - self.value) // reduced.scale)
            found = conflicts(self.root, cost, allowed())
            if found.better is None:
                return found
            self.known = list(reduced.original(found.better))
            self.value = self._cost(self.known)

    def clauses(self) -> Iterator[tuple[int, ...]]:
        """Yield the features, pairs and triples that no rule that costs less contains."""
        names = self.reduced.features[self.left.columns]
        yield from ((int(j),) for j in np.setdiff1d(self.free, names))
        pairs, n = self.left.pairs, names.size
        apart = np.triu(~pairs, 1)
        if (groups := self.form.groups) is not None:
            apart &= groups[names][:, None] != groups[names][None, :]
        yield from ((int(names[a]), int(names[b])) for a, b in np.argwhere(apart))
        if self.left.triples is None:
            return
        left = MOST_CLAUSES
        for a in range(n - 2):
            after = pairs[a].copy()
            after[: a + 1] = False
            closed = after[:, None] & after[None, :] & pairs & ~self.left.triples[a]
            for b, c in np.argwhere(np.triu(closed, 1))[:left]:
                yield int(names[a]), int(names[b]), int(names[c])
                left -= 1

    def triples(self) -> NDArray[np.int64]:
        """Return the triples that are in no conflict, shape (t, 3)."""
        table, names = self.left.triples, self.reduced.features[self.left.columns]
        assert table is not None
        found = np.argwhere(table)
        rising = (found[:, 0] < found[:, 1]) & (found[:, 1] < found[:, 2])
        return np.asarray(names[found[rising]])

    def fitting(self, left: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return which features may be added to triples, shape (t, n), and the n features."""
        table, names = self.left.triples, self.reduced.features[self.left.columns]
        assert table is not None
        a, b, c = (np.searchsorted(names, left[:, at]) for at in range(3))
        fits = table[a, b] & table[a, c] & table[b, c]
        fits[np.arange(len(left))[:, None], np.stack([a, b, c], axis=1)] = True
        return fits, names

    def bounds(self, left: NDArray[np.int64]) -> list[int]:
        """Return the least cost of the rules with each of some triples, at least."""
        fits, names = self.fitting(left)
        with one_thread():
            return [
                self._least(triple, names[which]) for triple, which in zip(left, fits, strict=True)
            ]

    @property
    def bound(self) -> int | None:
        """The least cost of all rules, at least; None where triples were not looked at.

        Where many are left, it is the bound with which the exact search begins.
        """
        if self.left.triples is None:
            return None
        m, n = self.form.shape[0], self.left.columns.size
        if self.count * m * n**2 > _PRODUCTS_PER_SECOND * min(MOST_SECONDS, allowed()):
            return self._bound_of_root()
        return min(self.bounds(self.triples()), default=self.value)

    @property
    def count(self) -> int:
        """How many triples are left, and some with a feature twice."""
        table = self.left.triples
        return 0 if table is None else int(np.count_nonzero(table)) // 6

    def _bound_of_root(self) -> int:
        from cpx.models.monomial.search.driver import Workers

        reduced = self.reduced
        cost = -((reduced.base - self.value) // reduced.scale)
        return min(self.value, reduced.value(Workers(self.root, cost, 1, by_index=False).bound()))

    def _least(self, triple: NDArray[np.int64], others: NDArray[np.int64]) -> int:
        form, covered = self.form, self.form.covered(triple)
        lost = int(form.cost_uncovered[~covered].sum())
        if form.k != 5:
            return min(self.value, lost)
        excluded = (~form.agreement[np.ix_(covered, others)]).astype(np.float32)
        priced = excluded * form.cost_covered[covered, None].astype(np.float32)
        both = priced.T @ excluded
        each = np.diag(both)
        loses = lost + form.cost_uncovered[covered] @ excluded
        all_covered = int(form.cost_covered[covered].sum())
        costs = all_covered - each[:, None] - each[None, :] + both
        costs += np.maximum(loses[:, None], loses[None, :])
        # The triple itself is among them: its own features exclude nothing more.
        return min(self.value, int(costs.min()))
