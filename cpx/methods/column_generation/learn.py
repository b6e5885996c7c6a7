"""Rule sets learned from samples: the rules are found, not given."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cpx.data.samples import Samples
from cpx.data.scalars import integer, positive_integer, real, valid_seed
from cpx.errors import InvalidInstance, InvalidOption
from cpx.methods.column_generation.exchange import exchanged
from cpx.methods.column_generation.generate import Generation, Round
from cpx.methods.column_generation.table import Features, Table

if TYPE_CHECKING:
    from cpx.explanation import Explanation
    from cpx.models.arguments import Share
    from cpx.models.rule_set import Loss, RuleSetSelection

__all__ = ["LearnedRules", "learn_rules"]

_SMALL = 4000  # samples; rules of more are looked for in so many of them first
_BEAMS, _SEARCH, _SELECTION = 0.4, 0.7, 0.8  # shares of the time when the steps end
_LEAST = 0.5  # seconds that an engine needs to be of use


@dataclass(frozen=True)
class LearnedRules:
    """A set of rules, and what is proved about every other set.

    Attributes
    ----------
    explanation : Explanation
        The rules, in words and figures.
    rules : tuple of tuple of int
        The literals of each.
    objective : Fraction
        Weight of the errors plus the price of the rules: the zero-one loss. No bound of it is
        known.
    hamming : Fraction
        The least Hamming loss plus price of a set that was found, which may be another
        one: ``hamming_rules``.
    hamming_rules : tuple of tuple of int
    hamming_bound : Fraction
        No set of rules with at most k literals each has a lower ``hamming``.
    closed : bool
        The linear programme over all rules is solved: pricing proved that none is left.
    selection : RuleSetSelection
        The selection from the rules found, for other engines.
    rounds : tuple of Round
        Seconds, value of the linear programme over the rules so far, and bound.
    """

    explanation: Explanation
    rules: tuple[Features, ...]
    objective: Fraction
    hamming: Fraction
    hamming_rules: tuple[Features, ...]
    hamming_bound: Fraction
    closed: bool
    selection: RuleSetSelection
    rounds: tuple[Round, ...]

    def __str__(self) -> str:
        gap = float((self.hamming - self.hamming_bound) / max(Fraction(1), self.hamming))
        closed = "no rule is left to add" if self.closed else "rules may be left to add"
        told = [
            self.explanation.summary(),
            f"zero-one   {float(self.objective):g}, no bound",
            f"Hamming    {float(self.hamming):g}, at least {float(self.hamming_bound):g} for "
            f"every set (gap {gap:.1%}; {closed})",
        ]
        return "\n".join(told)


def learn_rules(
    samples: Samples,
    k: int,
    penalty: Share,
    *,
    class_weights: tuple[int, int] | None = None,
    time_limit: float | None = 60.0,
    threads: int = 1,
    seed: int = 0,
) -> LearnedRules:
    """Learn a set of rules of at most k literals each: few errors, and few rules.

    Column generation on the Hamming loss [1]_: a linear programme over the rules found so far
    gives each sample of the class a price; rules that cover a higher price than they cost are
    added, found by beams first, then by the exact search, which proves a bound for all sets
    or that no rule is left. Then rules are selected by the zero-one loss, and put for one
    another by local search over all rules.

    The two objectives are never mixed: the bound is one of the Hamming loss, which counts
    a sample of another class once for each rule that covers it.

    Parameters
    ----------
    samples : Samples
        ``agreement`` are the literals, ``same`` tells the class.
    k : int
        Greatest number of literals of a rule.
    penalty : Fraction, int, float or str
        Price of a rule as a share of the weight of all samples, as in
        :class:`~cpx.RuleSetSelection`.
    class_weights : pair of int, optional
        What an error on a sample of another class, and on one of the class, weighs.
    time_limit : float or None
        Seconds > 0; ``None`` goes on until no rule is left and a best set of the Hamming loss
        is proved among those found, however long that takes.
    threads : int
        Of the exact search.
    seed : int

    Returns
    -------
    LearnedRules

    Raises
    ------
    InvalidInstance, InvalidOption
        Naming the argument and its value.

    References
    ----------
    .. [1] S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS
       2018.

    Examples
    --------
    >>> from cpx import Samples, learn_rules
    >>> samples = Samples([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [1, 0, 1, 0],
    ...                   features=("a", "b", "c"))
    >>> learned = learn_rules(samples, k=2, penalty="1/10")
    >>> print(learned.explanation)
    (a and b) or c => the class
    >>> learned.objective, learned.hamming, learned.hamming_bound, learned.closed
    (Fraction(4, 5), Fraction(4, 5), Fraction(4, 5), True)
    """
    from cpx.models.rule_set import RuleSetSelection

    if integer(k) is None or k < 0:
        raise InvalidInstance(f"k must be an integer >= 0, got {k!r}")
    limit = math.inf if time_limit is None else real(time_limit)
    if limit is None or not limit > 0:
        raise InvalidOption(f"time_limit must be seconds > 0, got {time_limit!r}")
    threads, seed = positive_integer("threads", threads), valid_seed(seed)
    # Refuses wrong samples, penalties and weights.
    asked = RuleSetSelection(samples.merged(), ((),), penalty, class_weights=class_weights)
    return _Learner(asked, k, limit, threads, seed).run()


@dataclass(frozen=True)
class _Selected:
    problem: RuleSetSelection
    explanation: Explanation
    rules: tuple[Features, ...]
    value: Fraction


class _Learner:
    def __init__(
        self, asked: RuleSetSelection, k: int, limit: float, threads: int, seed: int
    ) -> None:
        self._start, self._limit = time.monotonic(), limit
        self._asked, self._k = asked, k
        self._threads, self._seed = threads, seed
        self._table = Table(asked.samples.agreement, asked.samples.same, asked.error_weights)
        self._price = Fraction(asked.price, asked.scale)
        self._hamming: Fraction | None = None

    def run(self) -> LearnedRules:
        from threadpoolctl import threadpool_limits

        # The products are too small for many threads, which wait for one another.
        with threadpool_limits(self._threads):
            generation = self._generation(self._table, self._from_part())
            generation.by_beams(self._left(_BEAMS))
            hamming = self._select(generation.rules, "hamming")
            self._hamming = hamming.value
            generation.by_search(self._left(_SEARCH))
            return self._finish(generation, hamming)

    def _left(self, share: float) -> float:
        """Seconds until a share of the time is over."""
        return max(0.0, self._start + share * self._limit - time.monotonic())

    def _in_units(self, bound: Fraction) -> Fraction:
        """Return the least value above a bound that an objective can have."""
        return Fraction(max(0, math.ceil(bound * self._asked.scale)), self._asked.scale)

    # ----------------------------------------------------------------- rules

    def _most_rules(self) -> int:
        """Return how many rules an optimal set of the Hamming loss has at most.

        Its rules cost no more than the best set known, and each covers a sample of the class that
        no other one covers, or could be left out.
        """
        most = len(self._table.own)
        if self._hamming is not None and self._price:
            most = min(most, math.floor(self._hamming / self._price))
        return most

    def _generation(self, table: Table, known: list[Features]) -> Generation:
        # The price of a rule is a share of the weight of the samples that are looked at.
        share = Fraction(int(table.weights.sum()), int(self._table.weights.sum()))
        return Generation(
            table, self._k, self._price * share, self._most_rules, self._seed, self._threads, known
        )

    def _from_part(self) -> list[Features]:
        """Return rules for a part of many samples: a good start for all of them."""
        m = len(self._table.same)
        if m <= _SMALL:
            return []
        rows = np.random.default_rng(self._seed).choice(m, _SMALL, replace=False)
        generation = self._generation(self._table.part(np.sort(rows)), [])
        generation.by_beams(self._left(_BEAMS / 2))
        return generation.rules

    # ------------------------------------------------------------------ sets

    def _select(
        self,
        rules: Sequence[Features],
        loss: Loss,
        hint: Sequence[Features] = (),
        engine: str = "local-search",
        seconds: float = math.inf,
    ) -> _Selected:
        """Select from the rules, from a set that is known."""
        from cpx.solving import solve

        problem = replace(self._asked, rules=tuple(rules), loss=loss)
        place = {rule: r for r, rule in enumerate(rules)}
        result = solve(
            problem,
            engine,
            time_limit=seconds if math.isfinite(seconds) else None,
            threads=self._threads,
            seed=self._seed,
            hint=[place[rule] for rule in hint],
        )
        assert result.explanation is not None
        assert isinstance(result.objective, int)
        chosen = tuple(rules[r] for r in result.explanation.features)
        return _Selected(
            problem, result.explanation, chosen, Fraction(result.objective, problem.scale)
        )

    def _finish(self, generation: Generation, hamming: _Selected) -> LearnedRules:
        left = self._left(_SELECTION)
        if left > _LEAST:
            # Its relaxation is the programme that the rules come from: nearly tight.
            hamming = self._select(generation.rules, "hamming", hamming.rules, "milp:highs", left)
        best = self._select(generation.rules, "zero-one", hamming.rules)
        moved = exchanged(
            self._table,
            best.rules,
            self._k,
            self._price,
            np.random.default_rng(self._seed),
            self._start + self._limit,
        )
        rules = list(dict.fromkeys([*generation.rules, *moved]))
        if len(rules) > len(generation.rules):
            best = self._select(rules, "zero-one", moved)
        return LearnedRules(
            explanation=best.explanation,
            rules=best.rules,
            objective=best.value,
            hamming=hamming.value,
            hamming_rules=hamming.rules,
            hamming_bound=self._in_units(generation.bound or Fraction(0)),
            closed=generation.closed,
            selection=best.problem,
            rounds=tuple(generation.rounds),
        )
