"""Decision sets by column generation, improved by exchange."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from cpx.data.samples import Samples
from cpx.models.decision_set.attributes import Numbers
from cpx.models.decision_set.black_box import BlackBox
from cpx.models.decision_set.decision_set import DecisionSet, parameter
from cpx.models.decision_set.exchange import Exchange
from cpx.models.decision_set.growing import histogram
from cpx.models.decision_set.sampling import neighbours
from cpx.models.decision_set.state import Evidence, State
from cpx.options import TIME_LIMIT
from cpx.support.validation import choice, count, finite_number, positive_integer

OBJECTIVES = ("fidelity", "f1")

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_CUTS = 16
"""Thresholds of a continuous attribute, about."""


@dataclass(eq=False, repr=False)
class LearnedDecisionSet(DecisionSet):
    """Learn a decision set by column generation, on real instances and on some near them.

    The objective is that of :class:`~cpx.models.decision_set.ActiveDecisionSet`, and may have a
    price for conditions as well::

        Q(S)  =  fidelity(S)  -  penalty * |S|  -  condition_penalty * length(S)

    The length counts the bounds of intervals and the values in lists, or those that are not in
    a list where they are fewer. A list that may have any values for nothing fits the noise.

    First the black box is asked about instances near the real ones: a real instance with some
    attributes of another one. Then :func:`cpx.learn_rules` [1]_ finds a set over literals, on a
    part of the instances; then each rule in turn is put for the best that is found when all
    others stay, on all instances, over all intervals and lists.

    A black box that was trained on the real instances knows their labels by heart, and labels
    others otherwise. Rules that fit only the real instances imitate what it has learned by heart.

    With ``objective="f1"`` the F1 score takes the place of the fidelity. Where F is the greatest
    F1 score, the set that has it is best as well when a positive instance counts 2 - F and a
    negative one F [2]_. So the exchange goes on with these weights, F being the score of the
    set at hand, until that does not rise.

    Parameters
    ----------
    penalty : float
        lambda: gain of fidelity that is worth a rule.
    condition_penalty : float
        Gain of fidelity that is worth a bound or a value. Column generation, which has no such
        price, takes each rule for one of ``max_conditions``.
    objective : str
        ``"fidelity"`` or ``"f1"``, the F1 score of the positive class.
    max_rules : int or None
        Maximum number of rules.
    max_queries : int
        Synthetic instances that the black box is asked about.
    n_changed : int
        Attributes that a synthetic instance has from another one, at most.
    max_conditions : int
        Conditions of a rule.
    n_rows : int
        Instances that column generation is given, at most.
    time_limit : float or None
        Seconds of column generation. Where it is reached, the result depends on the machine.
    starts : int
        Grown rules that the search for a better rule begins with.
    restarts : int
        Times that the exchange goes on from the best set without two of its rules.
    n_cells, categorical, positive, seed, max_categories
        As in :class:`~cpx.models.decision_set.DecisionSet`.

    Attributes
    ----------
    objective_ : float
        Q on all instances; with weights where ``positive_weight_`` is not 1.
    positive_weight_ : float
        What a positive instance counts, a negative one counting 1.
    initial_ : int
        Rules that column generation found.

    References
    ----------
    .. [1] S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS
       2018.
    .. [2] W. Dinkelbach: On Nonlinear Fractional Programming, Management Science 13(7), 1967.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 3))
    >>> def box(rows):
    ...     return (rows[:, 0] > 0.7) | (rows[:, 1] < 0.2)
    >>> model = LearnedDecisionSet(max_queries=100, time_limit=2).fit(X, box)
    >>> print(model)
    2 rules for the class True, otherwise False; fidelity 0.997 on 300 real instances, 100 queries
    coverage  precision  errors without it  rule
       0.333      1.000                +82  x0 > 0.7
       0.157      0.979                +27  x1 <= 0.205
    """

    penalty: float = parameter(0.01, partial(finite_number, most=1.0))
    condition_penalty: float = parameter(0.0, partial(finite_number, most=1.0))
    objective: str = parameter("fidelity", partial(choice, known=OBJECTIVES))
    max_rules: int | None = parameter(
        None, lambda name, value: value is None or positive_integer(name, value)
    )
    max_queries: int = parameter(1000, count)
    n_changed: int = parameter(1, positive_integer)
    max_conditions: int = parameter(6, positive_integer)
    n_rows: int = parameter(4000, positive_integer)
    time_limit: float | None = TIME_LIMIT
    starts: int = parameter(4, positive_integer)
    restarts: int = parameter(0, count)

    def _most_queries(self) -> int:
        return int(self.max_queries)

    def _learn(
        self, evidence: Evidence, box: BlackBox, rng: np.random.Generator, stop: threading.Event
    ) -> list[BoolArray]:
        if self.max_queries:
            asked = neighbours(evidence, int(self.max_queries), int(self.n_changed), rng)
            evidence.add(asked, box.ask(asked))
        initial = self._generated(evidence, rng, stop)
        exchange = Exchange(
            evidence,
            float(self.penalty),
            float(self.condition_penalty),
            self.max_rules,
            int(self.max_conditions),
            int(self.starts),
            int(self.restarts),
            rng,
        )
        masks = initial if stop.is_set() else exchange.run(initial)
        if self.objective == "f1" and not stop.is_set():
            masks = _towards_f1(exchange, masks)
        self.initial_ = len(initial)
        self.objective_ = exchange.objective(masks)
        self.positive_weight_ = evidence.positive_weight
        return masks

    def _generated(
        self, evidence: Evidence, rng: np.random.Generator, stop: threading.Event
    ) -> list[BoolArray]:
        """Return the rules that column generation finds."""
        from cpx.models.rule_set.methods.column_generation import learn_rules

        rows = np.arange(evidence.size)
        if len(rows) > self.n_rows:
            rows = np.sort(rng.choice(rows, int(self.n_rows), replace=False))
        masks = literals(evidence)
        price = self.penalty + self.max_conditions * self.condition_penalty
        matrix = np.column_stack([evidence.covered(mask)[rows] for mask in masks])
        learned = learn_rules(
            Samples(matrix, evidence.labels[rows]),
            int(self.max_conditions),
            # Exact engines take a price of few digits.
            Fraction(min(1.0, price)).limit_denominator(10**6),
            time_limit=self.time_limit,
            seed=int(self.seed),
            stop=stop,
        )
        everything = evidence.domain.everything()
        return [
            np.logical_and.reduce([everything, *(masks[j] for j in rule)])
            for rule in learned.rules
        ]


def _towards_f1(exchange: Exchange, masks: list[BoolArray]) -> list[BoolArray]:
    """Return a set of a greater F1 score, and leave the weights that it is best with."""
    evidence = exchange.evidence
    best, score = masks, _f1(evidence, masks)
    # Without any rule the score is that of the rule that covers everything.
    least = _f1(evidence, [evidence.domain.everything()])
    while score < 1:
        reached = max(score, least)
        evidence.positive_weight = (2 - reached) / reached
        masks = exchange.run(best)
        if (met := _f1(evidence, masks)) <= score:
            break
        best, score = masks, met
    return best


def _f1(evidence: Evidence, masks: list[BoolArray]) -> float:
    covered = State(evidence, masks).count > 0
    said, true = int(covered.sum()), int(evidence.labels.sum())
    return 2 * int((covered & evidence.labels).sum()) / (said + true)


def literals(evidence: Evidence) -> list[BoolArray]:
    """Return conditions: thresholds, single values, and lists by their share of positives.

    A continuous attribute gets thresholds at quantiles of the instances and at even steps over
    its cells, each from both sides. A categorical one gets each value, and the lists of values
    with the least share of positive instances: of all lists, these separate best where the
    attribute stands alone. Each comes with its opposite.

    Returns: Rules of one condition, without doubles.
    """
    domain = evidence.domain
    counts = histogram(evidence.cells, np.ones(evidence.size), domain.n_cells)
    positive = histogram(evidence.cells, evidence.labels, domain.n_cells)
    share = float(evidence.labels.mean())
    found: dict[bytes, BoolArray] = {}
    for a, attribute in enumerate(domain.attributes):
        span = domain.span(a)
        # The last cell is no value that a condition could name.
        seen, own = counts[span][:-1], positive[span][:-1]
        if isinstance(attribute, Numbers):
            parts = _thresholds(seen)
        else:
            parts = _lists((own + share) / (seen + 1))
        for part in parts:
            for side in (part, ~part):
                if side.any() and not side.all():
                    mask = domain.everything()
                    mask[span] = np.append(side, False)
                    found[mask.tobytes()] = mask
    return list(found.values())


def _thresholds(counts: FloatArray) -> Iterator[BoolArray]:
    """Yield the cells below some cuts."""
    k, half = len(counts), _CUTS // 2
    even = np.linspace(0, k, half + 2)[1:-1].round()
    shares = np.cumsum(counts) / max(1.0, counts.sum())
    by_rows = np.searchsorted(shares, np.linspace(0, 1, half + 2)[1:-1]) + 1
    for cut in sorted({*even.astype(int).tolist(), *by_rows.tolist()}):
        yield np.arange(k) < cut


def _lists(shares: FloatArray) -> Iterator[BoolArray]:
    """Yield single values, and those of the least shares.

    >>> [part.astype(int).tolist() for part in _lists(np.array([0.5, 0.1, 0.3]))]
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
    k, order = len(shares), np.argsort(shares, kind="stable")
    for value in range(k):
        yield np.arange(k) == value
    for n in range(1, k):
        yield np.isin(np.arange(k), order[:n])
