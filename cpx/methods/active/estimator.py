"""Active Decision Set Induction as an estimator."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import InvalidOption
from cpx.methods.active.black_box import BlackBox
from cpx.methods.active.decision_set import DecisionSet
from cpx.methods.active.local_search import LocalSearch
from cpx.methods.active.state import Evidence
from cpx.support.validation import count, finite_number, positive_integer

__all__ = ["ActiveDecisionSet"]

BoolArray = npt.NDArray[np.bool_]


class ActiveDecisionSet(DecisionSet):
    r"""Learn a decision set that mimics a black box, and ask the black box while doing so.

    A decision set S is a set of rules. It predicts the positive class of an instance that
    satisfies one of them, and the negative class of all others. A rule is a conjunction of
    intervals of continuous attributes and lists of values of categorical ones. The search
    maximises ::

        Q(S)  =  fidelity(S)  -  penalty * |S|

    where the fidelity is the share of instances that S and the black box give the same label.
    It is a local search: in each iteration the best of the actions that add or remove a rule,
    or add, remove or modify a condition, is applied. Which is best is estimated from the
    instances labelled so far. As long as the confidence intervals of the action that looks
    best and of the most optimistic other one overlap, the black box labels a synthetic
    instance for each of the two.

    Parameters
    ----------
    penalty : float
        lambda: gain of fidelity that is worth a rule.
    beta : float
        Width of the confidence intervals ``Q +- beta * sqrt(rho_0 / rho(r_a))``, with rho(r_a)
        the density of labelled instances in the rule that the action concerns, and rho_0 that
        of the real ones in the whole input space. With 0 nothing is asked.
    epsilon : float
        Share of iterations in which a random action is applied.
    max_iterations : int
    max_queries : int
        Synthetic instances that the black box may be asked about, in all.
    queries_per_iteration : int
        And in one iteration.
    batch_size : int
        Instances that are asked at a time for each of the two actions. The paper has 1; more
        make fewer calls of the black box.
    pool_size : int
        Candidates that an instance to ask is chosen from.
    new_rules : int
        Rules to add that an iteration considers.
    max_conditions : int
        Conditions of a rule.
    positive_weight : float
        What a positive instance counts in the fidelity, a negative one counting 1.
    n_cells, categorical, positive, seed, max_categories
        As in :class:`~cpx.methods.active.DecisionSet`.

    Attributes
    ----------
    objective_ : float
        The estimate of Q, on real and synthetic instances.
    history_ : tuple of Step
        What each iteration did, with queries, Q and fidelity, and whether the bounds of its
        action were separated from those of the others.

    Raises
    ------
    InvalidOption
        For a parameter out of its range, by name.
    DataError
        For a table that cannot be used, or labels that are not of two classes.
    ClassifierError
        When the black box fails.

    Warns
    -----
    UserWarning
        When the black box gave a row another label than before.

    Notes
    -----
    Where the paper is silent, we chose:

    - *New rules* grow on instances that no rule covers, each from a random positive one, by
      the condition of the best weighted relative accuracy.
    - *Conditions*: of all intervals, or lists, on an attribute, the best by the estimate is
      considered, and for an existing condition the best wider one as well.
    - *The interval of a rule that covers no instance* is infinite; volumes are shares of the
      input space, in which integers and categories are counted.
    - *Stopping*: bounds of actions that differ little would take very many queries to
      separate, so their number is limited, per iteration and in all.
    - *Counterfactuals*: every attribute in the rule is drawn anew, from the domain where the
      rule has no end.
    - *Distances* are Euclidean, with numbers as shares of their range and different
      categories at distance 1.
    - *The best set so far* is compared on the instances known now, not on those of its time.

    References
    ----------
    J. Lu, M. Ester: An Active Approach for Model Interpretation, arXiv:1910.12207 (2019),
    section 4 and Algorithm 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 3))
    >>> def box(rows):
    ...     return (rows[:, 0] > 0.7) | (rows[:, 1] < 0.2)
    >>> model = ActiveDecisionSet(beta=0.01, max_queries=100, max_iterations=30).fit(X, box)
    >>> print(model)
    2 rules for the class True, otherwise False; fidelity 0.997 on 300 real instances, 100 queries
    coverage  precision  errors without it  rule
       0.333      1.000                +82  x0 > 0.7
       0.157      0.979                +27  x1 <= 0.205
    """

    def __init__(
        self,
        penalty: float = 0.01,
        beta: float = 0.01,
        epsilon: float = 0.05,
        max_iterations: int = 200,
        max_queries: int = 1000,
        queries_per_iteration: int = 20,
        batch_size: int = 1,
        pool_size: int = 20,
        new_rules: int = 8,
        max_conditions: int = 6,
        positive_weight: float = 1.0,
        n_cells: int = 64,
        categorical: Sequence[str | int] | None = None,
        positive: Any = None,
        seed: int = 0,
        max_categories: int = 100,
    ) -> None:
        super().__init__(n_cells, categorical, positive, seed, max_categories)
        self.penalty = penalty
        self.beta = beta
        self.epsilon = epsilon
        self.max_iterations = max_iterations
        self.max_queries = max_queries
        self.queries_per_iteration = queries_per_iteration
        self.batch_size = batch_size
        self.pool_size = pool_size
        self.new_rules = new_rules
        self.max_conditions = max_conditions
        self.positive_weight = positive_weight

    def _room(self) -> int:
        if not finite_number("positive_weight", self.positive_weight):
            raise InvalidOption("positive_weight must be greater than 0, got 0")
        return self._search().room

    def _learn(
        self, evidence: Evidence, box: BlackBox, rng: np.random.Generator, stop: threading.Event
    ) -> list[BoolArray]:
        evidence.positive_weight = float(self.positive_weight)
        best, steps = self._search().run(evidence, box, rng, stop)
        self.objective_ = best.objective
        self.history_ = tuple(steps)
        return best.masks

    def _search(self) -> LocalSearch:
        """Return the search with checked parameters."""
        return LocalSearch(
            penalty=finite_number("penalty", self.penalty),
            beta=finite_number("beta", self.beta),
            epsilon=finite_number("epsilon", self.epsilon, 1.0),
            max_iterations=positive_integer("max_iterations", self.max_iterations),
            max_queries=count("max_queries", self.max_queries),
            queries_per_iteration=positive_integer(
                "queries_per_iteration", self.queries_per_iteration
            ),
            batch_size=positive_integer("batch_size", self.batch_size),
            pool_size=positive_integer("pool_size", self.pool_size),
            new_rules=positive_integer("new_rules", self.new_rules),
            max_conditions=positive_integer("max_conditions", self.max_conditions),
        )
