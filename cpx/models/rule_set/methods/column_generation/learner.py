"""The steps of learning: rules by column generation, then rule sets of these rules."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cpx.answers.result import Status
from cpx.modelling.side_constraints.form import (
    NO_SIDE_CONSTRAINTS,
    SideConstraint,
    SideConstraints,
    propagated,
)
from cpx.models.rule_set.methods.column_generation.bounds import within_gap
from cpx.models.rule_set.methods.column_generation.exchange import (
    exchanged,
    hamming,
    quick_set,
    zero_one,
)
from cpx.models.rule_set.methods.column_generation.generate import Generation
from cpx.models.rule_set.methods.column_generation.learnable import Chosen, Learnable, Listener
from cpx.models.rule_set.methods.column_generation.side_constraints import demands, of_each_rule
from cpx.models.rule_set.methods.column_generation.table import Features, Table
from cpx.options import SolveOptions
from cpx.support.one_thread import one_thread

if TYPE_CHECKING:
    from cpx.models.rule_set.problem import Loss

__all__ = ["Learner"]

_SMALL = 4000  # samples; rules of more are looked for in so many of them first
_BEAMS, _SEARCH, _SELECTION = 0.3, 0.7, 0.8  # shares of the time when the steps end
_AGAIN = 0.9  # the share when rules for the Hamming loss are looked for again
_SELECTED = 0.45  # the share when the first selection ends that keeps side constraints
_OTHER_LOSS = 0.25  # of the time, for the best set by the loss that was not asked for
_LEAST = 0.5  # seconds that an engine needs to be of use
_SHORTEST, _LONGEST = 0.05, 60.0  # seconds of a selection that keeps side constraints
_WORK = 300_000  # of exact pricing, some tenths of a second, where it only gives a bound
_EXACT = "milp:highs"


class Learner:
    """Learns a set of rules; see
    :func:`~cpx.models.rule_set.methods.column_generation.learn.learn_rules`.

    problem: Of different samples.
    limit: Seconds, which may be infinite.
    known: Rules of a set that is known.
    prove: Whether to go on, as long as there is time, until nothing is left to prove of the
        Hamming loss; else some exact pricing is enough, unless there are side constraints.
    price: Of a rule, in units of weight.
    generation: The rules found and what is proved of the Hamming loss.
    side: What each rule keeps by itself.
    infeasible: Whether it was proved that no set keeps the side constraints.
    hamming, best: The best sets met, by the Hamming and by the zero-one loss. The second is looked
        for only where it is the problem's.
    cut: Whether the time was over before the local search of the zero-one loss came to its end.

    A set of rules has the literals of them all, and a side constraint is about these. The
    programme has a row for each set of literals of which some rule must have one, and its price
    goes into pricing, which leaves out rules that no others could make up for. What cannot be
    said of single rules is left out of the bound, which is one nevertheless. The sets that are
    selected keep all constraints: each literal that one of them may ask for is a rule of its own
    among those to select from, so that there is such a set if there is any.
    """

    def __init__(
        self,
        problem: Learnable,
        limit: float,
        threads: int,
        seed: int,
        known: Iterable[Features] = (),
        listener: Listener | None = None,
        *,
        prove: bool = True,
    ) -> None:
        self._start, self._limit = time.monotonic(), limit
        self._problem, self._k = problem, problem.max_literals
        self._threads, self._seed = threads, seed
        self._listener = listener or Listener()
        self._known = tuple(known)
        self.samples = self.table = Table(
            problem.samples.agreement, problem.samples.same, problem.error_weights
        )
        self.price = Fraction(problem.price, problem.scale)
        self.side, self.infeasible, self.cut = NO_SIDE_CONSTRAINTS, False, False
        self._quick: list[Features] = []
        self._singles: tuple[Features, ...] = ()
        self._beside: dict[Features, None] = {}
        alone, self._most = int(self.table.weights[self.table.own].sum()), len(self.table.own)
        worst = Fraction(alone)
        self._constrained = bool(problem.side_constraints)
        self._proves = prove or self._constrained
        if self._constrained:
            # Each rule of a set covers a sample of the class that no other one covers, or is what
            # some term holds by, or could be left out.
            rows = problem.side_constraints.linear
            self._most += sum(factor > 0 for row in rows for factor, _ in row.terms)
            worst += self._most * (self.price + int(self.table.weights.sum()) - alone)
            self._keep()
        self.hamming = self.best = Chosen(value=worst, known=not self._constrained)

    def _keep(self) -> None:
        """Take over the side constraints on the literals of all rules together."""
        rows = self._problem.literal_constraints
        self._whole = whole = SideConstraints((SideConstraint("", rows),))
        decided = propagated(whole, (), ())
        if decided is None:
            self.infeasible = True
            return
        required, forbidden = map(sorted, decided)
        asked = dict.fromkeys([*((j,) for j in required), *demands(rows)])
        self.table = self.table.demanding(asked, forbidden)
        self.side = of_each_rule(rows, forbidden)
        self._singles = tuple((j,) for j in sorted(whole.wanted - {*forbidden}))
        self._known = tuple(filter(self.side.allow, self._known))

    def run(self) -> None:
        """Learn until the steps are done, the time is over, or the listener says so."""
        if self._constrained and not self.infeasible:
            rules = list(dict.fromkeys([(), *self._known, *self._singles]))
            self.hamming = self._select(rules, "hamming", self._known, seconds=self.left(_BEAMS))
        if self.infeasible:
            return
        with one_thread():
            self._quick = self._at_once()
            self.generation = generation = self._generation(
                self.table,
                [*self._known, *self._singles, *self._quick, *self._from_part()],
                self._listener.bound,
            )
            generation.by_beams(self.left(_BEAMS))
            start = self.hamming.rules or self._known
            seconds = self.left(_SELECTED) if self._constrained else math.inf
            self.hamming = self._select(generation.rules, "hamming", start, seconds=seconds)
            generation.by_search(self.left(_SEARCH))
            if self._problem.loss == "hamming":
                self._finish_hamming()
            else:
                self._finish_zero_one()

    def use_rest(self) -> None:
        """Raise the bound of the Hamming objective in the time that is left."""
        with one_thread():
            self.generation.by_search(self.left())

    @property
    def hamming_bound(self) -> Fraction:
        """No set has a lower Hamming objective."""
        return self.in_units(self.generation.bound or Fraction(0))

    def left(self, share: float = 1.0) -> float:
        """Seconds until a share of the time is over."""
        return max(0.0, self._start + share * self._limit - time.monotonic())

    def in_units(self, bound: Fraction) -> Fraction:
        """Return the least value above a bound that an objective can have."""
        scale = self._problem.scale
        return Fraction(max(0, math.ceil(bound * scale)), scale)

    def _over(self) -> bool:
        return not self.left() or self._listener.stop()

    # ----------------------------------------------------------------- rules

    def _most_rules(self) -> int:
        """Return how many rules an optimal set of the Hamming loss has at most.

        Its rules cost no more than the best set known, and each covers a sample of the class that
        no other one covers, or could be left out.
        """
        if self.price:
            return min(self._most, math.floor(self.hamming.value / self.price))
        return self._most

    def _price_in(self, table: Table) -> Fraction:
        """Return the price of a rule where these samples are looked at: a share of their weight.

        Where no error weighs anything, there is none.
        """
        share = Fraction(int(table.weights.sum()), int(self.table.weights.sum()) or 1)
        return self.price * share

    def _generation(
        self,
        table: Table,
        known: Iterable[Features],
        proved: Callable[[Fraction], None] = lambda bound: None,
        side: SideConstraints | None = None,
    ) -> Generation:
        return Generation(
            table,
            self._k,
            self._price_in(table),
            self._most_rules,
            self._seed,
            self._threads,
            known,
            self._listener.stop,
            proved,
            self.side if side is None else side,
            None if self._proves else _WORK,
        )

    def _at_once(self) -> list[Features]:
        """Return a set of rules by local search, of one rule even where there is no time."""
        if self._constrained:
            return []
        table = self._part() or self.table
        rng = np.random.default_rng(self._seed)
        return quick_set(table, self._k, self._price_in(table), rng, self._over)

    def _part(self) -> Table | None:
        """Return a part of the samples where they are many."""
        m = len(self.table.same) - self.table.demands
        if m <= _SMALL:
            return None
        rows = np.random.default_rng(self._seed).choice(m, _SMALL, replace=False)
        return self.table.part(np.sort(rows))

    def _from_part(self) -> list[Features]:
        """Return rules for a part of many samples: a good start for all of them."""
        part = self._part()
        if part is None:
            return []
        generation = self._generation(part, [])
        generation.by_beams(self.left(_BEAMS / 2))
        return generation.rules

    @property
    def _rules(self) -> list[Features]:
        """All rules found."""
        return list(dict.fromkeys([*self.generation.rules, *self._beside]))

    # ------------------------------------------------------------------ sets

    def _select(
        self,
        rules: Sequence[Features],
        loss: Loss,
        hint: Sequence[Features] = (),
        engine: str = "local-search",
        seconds: float = math.inf,
    ) -> Chosen:
        """Select from the rules, from a set that is known; report the set.

        With side constraints, that is the set which was known before where none is found.
        """
        from cpx.solving.run import run

        cancel = self._listener.cancel
        if cancel is not None and cancel.is_set():
            # To choose well of the rules that were found is worth a moment.
            cancel, seconds = None, min(seconds, _LEAST)
        if self._constrained:
            engine, seconds = _EXACT, max(seconds, _SHORTEST)
        problem = self._problem.select_from(rules, loss)
        place = {rule: r for r, rule in enumerate(rules)}
        options = SolveOptions(
            time_limit=seconds if math.isfinite(seconds) else None,
            threads=self._threads,
            seed=self._seed,
            hint=[place[rule] for rule in hint],
        )
        result = run(problem, engine, options, cancel=cancel)
        if result.explanation is None:
            rows = self._problem.side_constraints.linear
            expressed = len(self._problem.literal_constraints) == len(rows)
            self.infeasible |= result.status is Status.INFEASIBLE and expressed
            return self.hamming if loss == "hamming" else self.best
        assert isinstance(result.objective, int)
        chosen = tuple(rules[r] for r in result.explanation.features)
        self._listener.found(chosen)
        return Chosen(chosen, Fraction(result.objective, self._problem.scale), result.proved)

    def _near(self, loss: Loss, chosen: Chosen, end: float) -> Chosen:
        """Select again with rules that keep the constraints besides a set, until none helps.

        Those of the programme are worth much together with rules that may not stand beside them.

        end: The share of the time when it ends.
        """
        while chosen.known and self.left(end) > _LEAST and not self._listener.stop():
            have = set().union(*chosen.rules)
            refused = [
                j for j in range(self._problem.samples.d) if not self._whole.allow(have | {j})
            ]
            beside = self._generation(
                self.samples.demanding((), refused),
                chosen.rules,
                side=of_each_rule(self._problem.literal_constraints, refused),
            )
            beside.by_beams(self.left(end) / 2)
            many = len(self._rules)
            self._beside |= dict.fromkeys(beside.rules)
            if len(self._rules) == many:
                break
            before = chosen
            chosen = self._select(self._rules, loss, before.rules, seconds=self.left(end))
            if chosen.value >= before.value:
                break
        return chosen

    def _solve_hamming(self, left: float) -> None:
        """Select with HiGHS: its relaxation is the programme of the rules, and nearly tight."""
        if left > _LEAST and not self._listener.stop():
            self.hamming = self._select(self._rules, "hamming", self.hamming.rules, _EXACT, left)

    def _finish_hamming(self) -> None:
        if self._constrained:
            self.hamming = self._near("hamming", self.hamming, _SELECTION)
        self._solve_hamming(self.left(_SELECTION))
        if not (self.generation.closed and self.hamming.proved):
            self.generation.by_search(self.left(_AGAIN))
            self._solve_hamming(self.left())
        gap = self.hamming_bound < self.hamming.value
        # Of rules that cover the same samples, the constraints may allow one alone.
        if self.generation.closed and gap and not self._constrained:
            self._close_gap()

    def _close_gap(self) -> None:
        """Add all rules that a better set may have, and prove the best set of them."""
        generation = self.generation
        near = within_gap(
            self.table,
            generation.centre,
            self._k,
            self.price,
            self.hamming.value,
            self._most_rules(),
            seconds=self.left(),
            stop=self._listener.stop,
        )
        if near is None:
            return
        rules = list(dict.fromkeys([*generation.rules, *near]))
        left = self.left()
        if left > _LEAST and not self._listener.stop():
            self.hamming = self._select(rules, "hamming", self.hamming.rules, _EXACT, left)
            if self.hamming.proved:
                generation.bound = self.hamming.value
                self._listener.bound(self.hamming.value)

    def _finish_zero_one(self) -> None:
        if not self._proves:
            # Where the programme is tight, as it often is, this is the best set.
            rounded = self.generation.rounded
            value = hamming(self.table, rounded, self.price)
            self.hamming = min(self.hamming, Chosen(rounded, value), key=_value)
        elif self.generation.closed:
            # Where rules are left to add, they tell more in the same time.
            self._solve_hamming(min(self.left(_SELECTION), _OTHER_LOSS * self._limit))
        rules = self._rules
        if self._constrained:
            left = min(self.left(_AGAIN), _LONGEST)
            if left > _LEAST and not self._listener.stop():
                start = self.hamming.rules
                self.best = self._select(rules, "zero-one", start, seconds=left)
                self.best = self._near("zero-one", self.best, _AGAIN)
            return
        starts = dict.fromkeys([self.hamming.rules, *[self._known] * bool(self._known)])
        found = [self._select(rules, "zero-one", start) for start in starts]
        quick = zero_one(self.table, self._quick, self.price)
        found.append(Chosen(tuple(self._quick), quick))
        self.best = min(found, key=_value)
        moved = exchanged(
            self.table,
            self.best.rules,
            self._k,
            self.price,
            np.random.default_rng(self._seed),
            self._over,
        )
        every = list(dict.fromkeys([*rules, *moved]))
        self.cut = self._over()
        if self.cut:
            # A selection from many samples takes longer than the little that is granted.
            self._listener.found(moved)
            self.best = Chosen(tuple(moved), zero_one(self.table, moved, self.price))
        elif len(every) > len(rules):
            self.best = self._select(every, "zero-one", moved, seconds=max(_LEAST, self.left()))
        if not self._proves:
            value = hamming(self.table, self.best.rules, self.price)
            self.hamming = min(self.hamming, Chosen(self.best.rules, value), key=_value)
        elif self.hamming.value > self.hamming_bound and not self._over():
            # Rules that are good for one loss are good for the other one, too.
            left = max(_LEAST, self.left())
            other = self._select(every, "hamming", self.best.rules, seconds=left)
            self.hamming = min(self.hamming, other, key=_value)


def _value(chosen: Chosen) -> Fraction:
    return chosen.value
