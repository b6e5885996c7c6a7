"""Algorithm 1 of Lu and Ester: a local search that asks which action is best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpx.methods.active.actions import KINDS, Actions
from cpx.methods.active.black_box import BlackBox
from cpx.methods.active.growing import grow
from cpx.methods.active.sampling import counterfactuals, farthest
from cpx.methods.active.state import Evidence, State

__all__ = ["Best", "LocalSearch", "Step"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Step:
    """What an iteration did.

    Attributes
    ----------
    iteration : int
        From 1.
    action : str
        Kind of the action that was applied; one of :data:`~cpx.methods.active.actions.KINDS`.
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

    Attributes
    ----------
    masks : list of masks
    right : float
        Weight of the instances that it gives the label of the black box.
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


@dataclass(frozen=True, eq=False)
class LocalSearch:
    """The search and its parameters; see :class:`~cpx.methods.active.ActiveDecisionSet`."""

    penalty: float
    beta: float
    epsilon: float
    max_iterations: int
    max_queries: int
    queries_per_iteration: int
    batch_size: int
    pool_size: int
    new_rules: int
    max_conditions: int

    @property
    def room(self) -> int:
        """How many instances it may ask about, at most."""
        return min(self.max_queries, self.max_iterations * self.queries_per_iteration)

    def run(
        self, evidence: Evidence, box: BlackBox, rng: np.random.Generator
    ) -> tuple[Best, list[Step]]:
        """Search, and return the best decision set met and what each iteration did."""
        state, best, steps = State(evidence), Best(evidence, self.penalty), []
        visited = {_name(state.masks)}
        for t in range(1, self.max_iterations + 1):
            new = grow(state, self.new_rules, self.max_conditions, rng)
            actions = Actions(state, new, self.penalty, self.beta, self.max_conditions)
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
                    state.right_weight / evidence.total - self.penalty * len(state.masks),
                    float(state.right[: evidence.n_real].mean()),
                )
            )
        return best, steps

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
