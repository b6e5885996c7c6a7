"""Exact active learning: optimal decision sets, and queries where rival sets disagree."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from cpx.models.decision_set.black_box import BlackBox
from cpx.models.decision_set.decision_set import DecisionSet, parameter
from cpx.models.decision_set.exchange import Exchange
from cpx.models.decision_set.sampling import disputed, farthest
from cpx.models.decision_set.selection import Candidates, Selection
from cpx.models.decision_set.state import Evidence
from cpx.options import TIME_LIMIT
from cpx.support.validation import count, finite_number, open_unit, positive_integer

BoolArray = npt.NDArray[np.bool_]

_TRIED = 20
"""Rivals in a round for which instances are made, at most."""

_EACH = 5
"""Instances asked for one of them, at most."""

_SETTLE = 20
"""Selections in a round, at most."""


@dataclass(frozen=True)
class Round:
    """What a round of the loop found.

    Attributes
    ----------
    queries : int
        Instances that the black box has been asked about before it.
    rules : int
        Rules of the best set.
    objective, bound : float
        Its Q on all instances so far, and what no set of these candidates exceeds.
    proved : bool
        Whether the two are equal.
    rivals, separated : int
        Rivals, and how many are worse with confidence.
    """

    queries: int
    rules: int
    objective: float
    bound: float
    proved: bool
    rivals: int
    separated: int


@dataclass(eq=False, repr=False)
class ExactDecisionSet(DecisionSet):
    """Learn the optimal decision set of candidate rules, and ask where rivals disagree with it.

    In each round, the rules that fit the labelled instances are candidates, and an exact
    engine selects the set S of the greatest ::

        Q(S)  =  fidelity(S)  -  penalty * |S|

    of all their sets (:class:`cpx.RuleSetSelection`). Its *rivals* are, for each of its rules,
    the best set without that rule, and S with another candidate, added or in the place of a
    rule. Set and rival differ in Q by what happens where their labels differ, and by their
    numbers of rules. So that is where the black box is asked, for the rivals whose defeat is
    least certain, until S leads all rivals with confidence or the queries are used up.

    Parameters
    ----------
    penalty : float
        lambda: gain of fidelity that is worth a rule.
    max_queries : int
        Synthetic instances that the black box may be asked about, in all.
    queries_per_round : int
    max_rounds : int
    n_candidates : int
        Rules to select from, at most.
    max_conditions : int
        Conditions of a rule.
    confidence : float
        With which the rivals of a round are to be worse, all of them together.
    tolerance : float
        A rival may be better by so much.
    starts : int
        Grown rules that each rule is looked for from, when the rules of the best set so far are
        exchanged before they become candidates; with 0 they are not. On many rows, candidates
        that are good alone are near copies of one another, and 2 helps much.
    pool_size : int
        Candidates that the instances of a round are chosen from.
    backend : str
        Engine that selects.
    time_limit : float or None
        Seconds for each selection. What it leaves unproved is in the history.
    n_cells, categorical, positive, seed, max_categories
        As in :class:`~cpx.models.decision_set.DecisionSet`.

    Attributes
    ----------
    objective_, bound_ : float
        Q on all instances, and what no set of the last candidates exceeds.
    proved_ : bool
        Whether the two are equal.
    separated_ : bool
        Whether the set led all rivals in the end.
    history_ : tuple of Round

    Notes
    -----
    The lead over a rival S' is ``penalty * (|S'| - |S|) + p * (2a - 1)``, with p the share of
    instances where the two differ and a that of those where S is right; its lower limit is
    that of :func:`cpx.models.decision_set.selection.leads`. The confidence is about instances
    drawn like these, and the rivals are sets of the same candidates: it is no guarantee about
    other rules.

    References
    ----------
    J. Lu, M. Ester: An Active Approach for Model Interpretation, arXiv:1910.12207 (2019): the
    objective, and the limits of greedy actions that this loop answers to.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((100, 3))
    >>> def box(rows):
    ...     return (rows[:, 0] > 0.7) | (rows[:, 1] < 0.2)
    >>> model = ExactDecisionSet(max_queries=100, backend="cpsat", max_rounds=5).fit(X, box)
    >>> print(model)
    2 rules for the class True, otherwise False; fidelity 1.000 on 100 real instances, 80 queries
    coverage  precision  errors without it  rule
       0.380      1.000                +34  x0 > 0.7
       0.110      1.000                 +7  x1 <= 0.21
    >>> model.proved_
    True
    """

    penalty: float = parameter(0.01, partial(finite_number, most=1.0))
    max_queries: int = parameter(1000, count)
    queries_per_round: int = parameter(20, positive_integer)
    max_rounds: int = parameter(200, positive_integer)
    n_candidates: int = parameter(200, positive_integer)
    max_conditions: int = parameter(6, positive_integer)
    confidence: float = parameter(0.95, open_unit)
    tolerance: float = parameter(0.002, finite_number)
    starts: int = parameter(0, count)
    pool_size: int = parameter(100, positive_integer)
    backend: str = "search"
    time_limit: float | None = TIME_LIMIT

    def _most_queries(self) -> int:
        return min(int(self.max_queries), self.max_rounds * self.queries_per_round)

    def _learn(
        self, evidence: Evidence, box: BlackBox, rng: np.random.Generator, stop: threading.Event
    ) -> list[BoolArray]:
        candidates = Candidates(evidence, int(self.n_candidates), int(self.max_conditions))
        chosen: list[BoolArray] = []
        rounds: list[Round] = []
        for t in range(self.max_rounds):
            selection = self._settled(evidence, candidates, chosen, rng, stop)
            rivals = [] if stop.is_set() else selection.rivals(self.confidence)
            near = [rival for rival in rivals if rival.lead < -self.tolerance]
            rounds.append(
                Round(
                    box.queries,
                    len(selection.chosen),
                    selection.objective,
                    selection.bound,
                    selection.proved,
                    len(rivals),
                    len(rivals) - len(near),
                )
            )
            chosen = [candidates.masks[r] for r in selection.chosen]
            n = min(self.queries_per_round, self.max_queries - box.queries)
            if stop.is_set() or n < 1 or t == self.max_rounds - 1:
                break
            asked = 0
            for rival in near[:_TRIED]:
                theirs = [candidates.masks[r] for r in rival.chosen]
                pool, known = disputed(evidence, chosen, theirs, self.pool_size, rng)
                few = min(_EACH, n - asked, len(pool))
                if few:
                    found = farthest(evidence, known, pool, few)
                    evidence.add(found, box.ask(found))
                    asked += few
            if not asked:
                # Nothing that could be made lies where the sets differ.
                break
        last = rounds[-1]
        self.objective_, self.bound_, self.proved_ = last.objective, last.bound, last.proved
        self.separated_ = last.separated == last.rivals and not stop.is_set()
        self.history_ = tuple(rounds)
        return chosen

    def _settled(
        self,
        evidence: Evidence,
        candidates: Candidates,
        chosen: list[BoolArray],
        rng: np.random.Generator,
        stop: threading.Event,
    ) -> Selection:
        """Select, with new candidates around what was selected, until that brings no more."""
        if self.starts and not stop.is_set():
            # Candidates that are good alone are much alike: those of a set are good together.
            exchange = Exchange(
                evidence,
                float(self.penalty),
                0.0,
                None,
                int(self.max_conditions),
                int(self.starts),
                0,
                rng,
            )
            chosen = exchange.run(chosen)
        before = -np.inf
        for _ in range(_SETTLE):
            candidates.extend(chosen, rng)
            selection = Selection(
                candidates.covers(),
                evidence.labels,
                evidence.n_real,
                float(self.penalty),
                self.backend,
                self.time_limit,
                stop,
            )
            selection.solve(range(len(chosen)))
            if selection.objective <= before or stop.is_set():
                break
            before = selection.objective
            chosen = [candidates.masks[r] for r in selection.chosen]
        return selection
