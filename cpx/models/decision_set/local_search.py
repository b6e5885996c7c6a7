"""Active Decision Set Induction by Lu and Ester: Algorithm 1, a local search with queries."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from cpx.errors import InvalidOption
from cpx.models.decision_set.actions import KINDS, Actions
from cpx.models.decision_set.black_box import BlackBox
from cpx.models.decision_set.decision_set import DecisionSet, parameter
from cpx.models.decision_set.growing import grow
from cpx.models.decision_set.sampling import counterfactuals, farthest
from cpx.models.decision_set.state import Evidence, State
from cpx.support.validation import count, finite_number, positive_integer

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Step:
    """What an iteration did.

    Attributes
    ----------
    iteration : int
        From 1.
    action : str
        Kind of the action that was applied; one of :data:`~cpx.models.decision_set.actions.KINDS`.
    random : bool
        Whether it was drawn at random.
    queries : int
        Instances that the black box has been asked about so far.
    separated : bool
        Whether the lower bound of the best action had reached the upper bounds of all others,
        as the paper asks for, before it was taken; else a limit on queries was reached.
    rules : int
        Rules after the action.
    objective : float
        The estimate of Q after it, on all instances so far.
    fidelity : float
        Share of the real instances that get the label of the black box.
    """

    iteration: int
    action: str
    random: bool
    queries: int
    separated: bool
    rules: int
    objective: float
    fidelity: float


class Best:
    """The best decision set so far, valued on all instances so far.

    right: Weight of the instances that it gives the label of the black box.
    """

    def __init__(self, evidence: Evidence, penalty: float) -> None:
        self._evidence, self._penalty = evidence, penalty
        self.masks: list[BoolArray] = []
        self.right = float(evidence.weights[~evidence.labels].sum())

    @property
    def objective(self) -> float:
        """The estimate of Q."""
        return self._value(self.masks, self.right)

    def catch_up(self, first: int) -> None:
        """Take in the instances from ``first`` on."""
        covered = np.zeros(self._evidence.size - first, dtype=bool)
        for mask in self.masks:
            covered |= self._evidence.covered(mask, first)
        right = covered == self._evidence.labels[first:]
        self.right += float(self._evidence.weights[first:][right].sum())

    def offer(self, masks: list[BoolArray], right: float) -> None:
        """Take another decision set if it is better."""
        if self._value(masks, right) > self.objective:
            self.masks, self.right = masks, right

    def _value(self, masks: list[BoolArray], right: float) -> float:
        return right / self._evidence.total - self._penalty * len(masks)


def _above_zero(name: str, value: object) -> None:
    if not finite_number(name, value):
        raise InvalidOption(f"{name} must be greater than 0, got 0")


@dataclass(eq=False, repr=False)
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
        As in :class:`~cpx.models.decision_set.DecisionSet`.

    Attributes
    ----------
    objective_ : float
        The estimate of Q, on real and synthetic instances.
    history_ : tuple of Step
        What each iteration did, with queries, Q and fidelity, and whether the bounds of its
        action were separated from those of the others.

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

    penalty: float = parameter(0.01, finite_number)
    beta: float = parameter(0.01, finite_number)
    epsilon: float = parameter(0.05, partial(finite_number, most=1.0))
    max_iterations: int = parameter(200, positive_integer)
    max_queries: int = parameter(1000, count)
    queries_per_iteration: int = parameter(20, positive_integer)
    batch_size: int = parameter(1, positive_integer)
    pool_size: int = parameter(20, positive_integer)
    new_rules: int = parameter(8, positive_integer)
    max_conditions: int = parameter(6, positive_integer)
    positive_weight: float = parameter(1.0, _above_zero)

    def _most_queries(self) -> int:
        return min(int(self.max_queries), self.max_iterations * self.queries_per_iteration)

    def _learn(
        self, evidence: Evidence, box: BlackBox, rng: np.random.Generator, stop: threading.Event
    ) -> list[BoolArray]:
        evidence.positive_weight = float(self.positive_weight)
        penalty = float(self.penalty)
        state, best, steps = State(evidence), Best(evidence, penalty), []
        visited = {_name(state.masks)}
        for t in range(1, self.max_iterations + 1):
            if stop.is_set():
                break
            new = grow(state, self.new_rules, self.max_conditions, rng)
            actions = Actions(state, new, penalty, self.beta, self.max_conditions)
            results = [_name(actions.result(i)) for i in range(len(actions))]
            actions.keep(np.array([name not in visited for name in results], dtype=bool))
            if not len(actions):
                # Nothing to grow a rule from, or all around has been tried.
                break
            chosen, separated = self._best_action(actions, evidence, box, best, rng)
            state.catch_up()
            best.offer(actions.result(chosen), float(actions.right[chosen]))
            at_random = bool(rng.random() < self.epsilon)
            if at_random:
                chosen = int(rng.integers(len(actions)))
            actions.apply(chosen, state)
            visited.add(_name(state.masks))
            steps.append(
                Step(
                    t,
                    KINDS[int(actions.kinds[chosen])],
                    at_random,
                    box.queries,
                    separated,
                    len(state.masks),
                    state.right_weight / evidence.total - penalty * len(state.masks),
                    float(state.right[: evidence.n_real].mean()),
                )
            )
        self.objective_ = best.objective
        self.history_ = tuple(steps)
        return best.masks

    def _best_action(
        self,
        actions: Actions,
        evidence: Evidence,
        box: BlackBox,
        best: Best,
        rng: np.random.Generator,
    ) -> tuple[int, bool]:
        """Ask until the best action is known, or no more may be asked in this iteration.

        Returns the action, and whether it is known to be the best.
        """
        left = min(self.queries_per_iteration, self.max_queries - box.queries)
        star, rival = actions.best_two()
        while rival is not None and not actions.separated(star, rival):
            n = min(self.batch_size, left // 2)
            if n < 1:
                return star, False
            asked = []
            for action in (star, rival):
                mask = actions.masks[action]
                pool = counterfactuals(evidence, mask, max(n, self.pool_size), rng)
                asked.append(farthest(evidence, evidence.covered(mask), pool, n))
            values = np.vstack(asked)
            first = evidence.size
            evidence.add(values, box.ask(values))
            actions.catch_up(first)
            best.catch_up(first)
            left -= 2 * n
            star, rival = actions.best_two()
        return star, True


def _name(masks: list[BoolArray]) -> frozenset[bytes]:
    """Return what two decision sets of the same rules have in common."""
    return frozenset(mask.tobytes() for mask in masks)
