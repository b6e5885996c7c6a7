"""Maximum coverage by a few rules: the greedy submodular pick, and the proved optimum."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.errors import DataError
from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.models.rule_set.methods.rule_learners.evaluation import FoundRules
from cpx.options import TIME_LIMIT
from cpx.support.validation import Share, positive_integer

if TYPE_CHECKING:
    from cpx.models.rule_set.selection import RuleSetSelection


def maximum_coverage(
    literals: Literals, rules: Sequence[Sequence[int]], budget: int
) -> RuleSetSelection:
    """State which rules, no more than a budget, cover the most samples.

    It is a selection of rules where all samples are of the class and rules are free: what is
    not covered is the error.

    Parameters
    ----------
    literals : Literals
    rules : sequence of sequences of int
        At least one, as literals.
    budget : int
        Most rules, at least 1.

    Examples
    --------
    >>> from cpx import solve
    >>> features = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=bool)
    >>> literals = Literals(features, ("a", "not a", "b", "not b", "c", "not c"))
    >>> result = solve(maximum_coverage(literals, [(0,), (2,), (4,)], budget=2))
    >>> result.objective
    0
    >>> print(result.explanation)
    a or b => the class
    """
    _refuse_none(rules)
    everything = np.ones(len(literals.features), dtype=bool)
    return literals.problem(rules, everything, max_rules=positive_integer("budget", budget))


def submodular_pick(
    literals: Literals,
    same: Any,
    rules: Sequence[Sequence[int]],
    budget: int,
    *,
    penalty: Share = "0.01",
) -> FoundRules:
    """Pick rules one by one, each time the one that covers the most samples more.

    With the anchors of some samples (:func:`cpx.models.rule_set.methods.candidates.anchors`) as
    rules this is SP-anchors [1]_, whose anchors are exact here. The greedy pick covers at least 1
    - 1/e, 63 %, of what the best one does [2]_.

    Parameters
    ----------
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur. It decides the figures only.
    rules : sequence of sequences of int
        At least one, as literals.
    budget : int
        Most rules, at least 1. The pick ends before when no rule covers a sample more.
    penalty : Fraction, int, float or str
        Price of a rule in the figures; the pick knows nothing of it.

    References
    ----------
    .. [1] M. T. Ribeiro, S. Singh, C. Guestrin: Anchors: High-Precision Model-Agnostic
       Explanations, AAAI 2018 (submodular pick).
    .. [2] G. Nemhauser, L. Wolsey, M. Fisher: An analysis of approximations for maximizing
       submodular set functions, Mathematical Programming 14, 1978.

    Examples
    --------
    The widest rule first is not the best pair:

    >>> features = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 1, 1], [0, 0, 1]])
    >>> literals = Literals(features.astype(bool), ("a", "not a", "b", "not b", "c", "not c"))
    >>> rules = [(0,), (2,), (4,)]
    >>> for pick in (submodular_pick, optimal_pick):
    ...     found = pick(literals, [1, 1, 1, 1, 0, 0], rules, budget=2)
    ...     print(found.measured.covered, found.explanation, found.proved)
    5 b or a => the class False
    6 a or c => the class True
    """
    _refuse_none(rules)
    labels = literals.labels(same)
    start = time.process_time()
    covers = literals.covers(rules)
    left = np.ones(len(labels), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < positive_integer("budget", budget):
        gains = (covers & left).sum(axis=1)
        best = int(gains.argmax())
        if not gains[best]:
            break
        chosen.append(best)
        left &= ~covers[best]
    spent = time.process_time() - start
    picked = [rules[r] for r in chosen]
    return FoundRules.of("submodular pick", literals, labels, picked, penalty, seconds=spent)


def optimal_pick(
    literals: Literals,
    same: Any,
    rules: Sequence[Sequence[int]],
    budget: int,
    *,
    penalty: Share = "0.01",
    backend: str = "search",
    time_limit: float | None = TIME_LIMIT,
) -> FoundRules:
    """Pick the rules that cover the most samples: :func:`maximum_coverage`, by an engine.

    Parameters
    ----------
    literals, same, rules, budget, penalty
        As for :func:`submodular_pick`.
    backend : str
        Any engine that takes a :class:`cpx.RuleSetSelection`.
    time_limit : float or None, default=10.0
        Seconds; ``proved`` says whether they were enough.
    """
    from cpx.answers.result import Status
    from cpx.solving import solve

    labels = literals.labels(same)
    start = time.process_time()
    result = solve(maximum_coverage(literals, rules, budget), backend, time_limit=time_limit)
    spent = time.process_time() - start
    chosen = () if result.explanation is None else result.explanation.features
    return FoundRules.of(
        "optimal pick",
        literals,
        labels,
        [rules[r] for r in chosen],
        penalty,
        seconds=spent,
        proved=result.status is Status.OPTIMAL,
    )


def _refuse_none(rules: Sequence[Sequence[int]]) -> None:
    if not rules:
        raise DataError("there are no rules to pick from")
