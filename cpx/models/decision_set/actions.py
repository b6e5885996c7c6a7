"""The local actions on a decision set, with estimates and confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cpx.models.decision_set.growing import best_condition, histogram
from cpx.models.decision_set.state import State

__all__ = ["KINDS", "Actions"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

KINDS = ("add rule", "remove rule", "add condition", "remove condition", "modify condition")
"""The five kinds of actions, in the order of their numbers."""

ADD_RULE, REMOVE_RULE, ADD_CONDITION, REMOVE_CONDITION, MODIFY_CONDITION = range(5)


class Actions:
    """All actions considered in an iteration.

    Of each rule, every attribute gives the best condition to add, or, where the rule has one
    already, its removal, the best other one and the best wider one.

    state: The decision set S. It is not changed.
    new_rules: Rules that may be added.
    penalty: lambda.
    max_conditions: No rule gets more.
    kinds: Places in :data:`KINDS`.
    rules: Place in S of the rule concerned, or -1 of a new one.
    masks: r_a: the rule added or removed, or what the rule is modified to.
    right: Weight of the instances that a(S) gives the label of the black box.
    covered: N(r_a): instances that r_a covers.
    """

    def __init__(
        self,
        state: State,
        new_rules: Sequence[BoolArray],
        penalty: float,
        beta: float,
        max_conditions: int,
    ) -> None:
        self._evidence = state.evidence
        self._state = state
        self._penalty, self._beta = penalty, beta
        self._found: list[tuple[int, int, BoolArray, float, int]] = []
        self._gains = state.evidence.gains
        for i in range(len(state.masks)):
            self._on_rule(i, max_conditions)
        right, free = state.right_weight, state.count == 0
        for mask in new_rules:
            covered = self._evidence.covered(mask)
            gain = float(self._gains[covered & free].sum())
            self._found.append((ADD_RULE, -1, mask, right + gain, int(covered.sum())))
        self._pack()

    def _on_rule(self, i: int, max_conditions: int) -> None:
        state, evidence = self._state, self._evidence
        domain, mask, misses = evidence.domain, state.masks[i], state.misses[i]
        own = misses == 0
        others = state.count - own > 0
        without = float(evidence.weights[others == evidence.labels].sum())
        self._found.append((REMOVE_RULE, i, mask, without, int(own.sum())))
        helps = np.where(others, 0.0, self._gains)
        rows = np.flatnonzero(own)
        cells = evidence.cells[:, rows]
        gains = histogram(cells, helps[rows], domain.n_cells)
        counts = histogram(cells, np.ones(len(rows)), domain.n_cells)
        limited = domain.constrained(mask)
        near = np.flatnonzero(misses == 1)
        for a in range(domain.n_attributes):
            span = domain.span(a)
            if a in limited:
                # What the rule would cover as well, had it no condition on this attribute.
                missed = near[~mask[evidence.cells[a, near]]]
                there = evidence.cells[a : a + 1, missed]
                gain = (gains + histogram(there, helps[missed], domain.n_cells))[span]
                count = (counts + histogram(there, np.ones(len(missed)), domain.n_cells))[span]
                current = mask[span]
                everywhere = np.ones_like(current)
                changes = [
                    (REMOVE_CONDITION, everywhere),
                    (MODIFY_CONDITION, best_condition(domain, a, gain, current=current)),
                    (
                        MODIFY_CONDITION,
                        best_condition(domain, a, gain, current=current, wider=True),
                    ),
                ]
            elif len(limited) < max_conditions:
                gain, count = gains[span], counts[span]
                changes = [(ADD_CONDITION, best_condition(domain, a, gain))]
            else:
                continue
            seen = set()
            for kind, chosen in changes:
                if chosen is None or not count[chosen].any() or chosen.tobytes() in seen:
                    continue
                seen.add(chosen.tobytes())
                changed = mask.copy()
                changed[span] = chosen
                right = without + float(gain[chosen].sum())
                self._found.append((kind, i, changed, right, int(count[chosen].sum())))

    def _pack(self) -> None:
        found, domain = self._found, self._evidence.domain
        self.kinds: IntArray = np.array([f[0] for f in found], dtype=np.int64)
        self.rules: IntArray = np.array([f[1] for f in found], dtype=np.int64)
        self.masks: BoolArray = np.array([f[2] for f in found], dtype=bool)
        self.masks = self.masks.reshape(len(found), domain.n_cells)
        self.right: FloatArray = np.array([f[3] for f in found], dtype=np.float64)
        self.covered: IntArray = np.array([f[4] for f in found], dtype=np.int64)
        change = np.select([self.kinds == ADD_RULE, self.kinds == REMOVE_RULE], [1, -1], 0)
        self._sizes = len(self._state.masks) + change
        self._volumes = domain.volume(self.masks)

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def objective(self) -> FloatArray:
        """The estimate of Q(a(S)) of each action, on all instances so far."""
        return np.asarray(self.right / self._evidence.total - self._penalty * self._sizes)

    @property
    def radius(self) -> FloatArray:
        """Half the width of each confidence interval: beta * sqrt(rho_0 / rho(r_a))."""
        if self._beta == 0:
            return np.zeros(len(self))
        # rho_0 is the number of real instances: the whole space has the volume 1.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self._evidence.n_real * self._volumes / self.covered
        return np.asarray(self._beta * np.sqrt(np.where(self.covered > 0, ratio, np.inf)))

    def best_two(self) -> tuple[int, int | None]:
        """Return the action of the best estimate, and of the others the most optimistic one."""
        best = int(np.argmax(self.objective))
        if len(self) == 1:
            return best, None
        upper = self.objective + self.radius
        upper[best] = -np.inf
        return best, int(np.argmax(upper))

    def separated(self, best: int, rival: int | None) -> bool:
        """Say whether the lower bound of the one is not below the upper bound of the other."""
        if rival is None:
            return True
        objective, radius = self.objective, self.radius
        return bool(objective[best] - radius[best] >= objective[rival] + radius[rival])

    def catch_up(self, first: int) -> None:
        """Take in the instances from ``first`` on; those before are counted already."""
        evidence = self._evidence
        cells, labels = evidence.cells[:, first:], evidence.labels[first:]
        own = np.array([evidence.covered(mask, first) for mask in self._state.masks])
        count = own.sum(axis=0) if len(own) else np.zeros(len(labels), dtype=np.int64)
        touched = self.masks[:, cells].all(axis=1)
        # S without the rule that the action concerns.
        rest = np.broadcast_to(count, touched.shape).copy()
        old = self.rules >= 0
        if old.any():
            rest[old] -= own[self.rules[old]]
        after = (rest > 0) | (touched & (self.kinds != REMOVE_RULE)[:, None])
        self.right += (after == labels) @ evidence.weights[first:]
        self.covered += touched.sum(axis=1)

    def apply(self, i: int, state: State) -> None:
        """Change a decision set by action i."""
        kind, rule = int(self.kinds[i]), int(self.rules[i])
        if kind == ADD_RULE:
            state.append(self.masks[i])
        elif kind == REMOVE_RULE:
            state.remove(rule)
        else:
            state.replace(rule, self.masks[i])

    def keep(self, wanted: BoolArray) -> None:
        """Leave out all actions but the wanted ones; wanted of shape (A,)."""
        for name in ("kinds", "rules", "masks", "right", "covered", "_sizes", "_volumes"):
            setattr(self, name, getattr(self, name)[wanted])

    def result(self, i: int) -> list[BoolArray]:
        """Return the rules of a(S) for action i."""
        rules, rule = list(self._state.masks), int(self.rules[i])
        if self.kinds[i] == ADD_RULE:
            return [*rules, self.masks[i]]
        if self.kinds[i] == REMOVE_RULE:
            return rules[:rule] + rules[rule + 1 :]
        rules[rule] = self.masks[i]
        return rules
