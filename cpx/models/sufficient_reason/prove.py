"""Proofs about sufficient reasons: branch and cut, with the inequalities of the checker.

The search is that of :mod:`cpx.models.sufficient_reason.search`, handed the bound to prove; each
row that it finds is weighed by the checker, so that what the lines say is what the checker reads.
Side constraints, of which it knows nothing, are branched on.

Where the engine has recorded a search of its own, its nodes are looked at again, with the rows
that their bounds need and the multipliers that they had; below a node whose bound is not enough
as the checker weighs the rows, the search goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part, SideConstraints, root_part
from cpx.check.proofs.document import Claim, Refused
from cpx.modelling.base import Problem
from cpx.modelling.instances import from_dict
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.models.sufficient_reason.proof_check import Inequalities
from cpx.models.sufficient_reason.search.branch_and_cut import BranchAndCut
from cpx.models.sufficient_reason.search.cuts import Inequality
from cpx.models.sufficient_reason.search.record import Record, RecordedCuts
from cpx.models.sufficient_reason.search.relaxation import SCALE
from cpx.models.sufficient_reason.sufficiency.class_margin import differences
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped, SufficiencyOracle
from cpx.trees import MISSING

__all__ = ["prove", "refusal"]

Integers = NDArray[np.int64]

_Steps = Iterator["_Steps"]


def refusal(problem: SufficientReason) -> str:
    """Say why there are no proofs for a problem, "" where there are."""
    if problem.definition == "sufficient":
        return ""
    return f"there are none for the definition {problem.definition}, only for sufficient"


def prove(
    instance: Mapping[str, Any],
    goal: Claim,
    over: Callable[[], bool],
    record: Sequence[object] = (),
    problem: Problem | None = None,
) -> tuple[Claim | None, list[str]]:
    """Return the goal and the lines that prove it.

    There is no claim where the time was up before that. Refused is raised where the goal is wrong.
    The ``problem`` that the instance was saved from spares reading its model.
    """
    if problem is None:
        problem = from_dict(dict(instance))
    assert isinstance(problem, SufficientReason)
    root = root_part(problem.n_features, instance["parameters"])
    if root is None:
        return goal, []
    oracle = problem.row_oracle(new=True)
    oracle.stop = over
    known, recorded = Inequalities(instance), next(iter(record), None)
    assert recorded is None or isinstance(recorded, RecordedCuts)
    search = _Search(problem, oracle, known, goal.bound, recorded)
    try:
        search.prove(root, SideConstraints(instance))
    except Stopped:
        return None, []
    finally:
        oracle.stop = None
    return goal, search.written()


class _Found(Exception):
    """There is a better reason, of these features besides those that no tree tests."""

    def __init__(self, features: list[int]) -> None:
        self.features = features


class _Search(BranchAndCut):
    """Depth-first branch and cut, with the lines for the nodes that are done."""

    def __init__(
        self,
        problem: SufficientReason,
        oracle: SufficiencyOracle,
        known: Inequalities,
        bound: Any,
        recorded: RecordedCuts | None,
    ) -> None:
        used, weights = oracle.feature, problem.weights or (1,) * problem.n_features
        costs = np.array([weights[a] for a in used], dtype=np.int64)
        none = np.zeros(len(used), dtype=np.int64)
        super().__init__(
            oracle, costs, none, none, 0, 0, self._wrong, lambda order: self.upper,
            lambda lower: None,
        )  # fmt: skip
        self._goal = bound
        self._known = known
        # What no tree tests costs what it costs where it is kept.
        self._apart = np.array(weights, dtype=np.int64)
        self._apart[list(used)] = 0
        self._rows: list[str] = []
        self._nodes: list[list[Any]] = []
        self._recorded, self._allowed = recorded or RecordedCuts(), costs >= 0
        # The numbers of recorded inequalities here; None of what the checker reads nothing from.
        self._place_of: dict[int, int | None] = {}

    def prove(self, root: Part, side: SideConstraints) -> None:
        """Write the lines for a part: no reason in it that keeps the side constraints is better.

        Where one that breaks them is better, the part is split by a feature that they are about.
        """
        waiting = [root]
        while waiting:
            part = waiting.pop()
            if (broken := side.which(part)) is not None:
                self._nodes.append(["breaks", broken])
            elif (j := self._divided(part, side)) is not None:
                self._nodes.append(["split", j])
                waiting += reversed(part.halves(j))

    def _divided(self, part: Part, side: SideConstraints) -> int | None:
        """Write the lines for a part, None; or return the feature that it has to be split by."""
        used, before = list(self._oracle.feature), len(self._nodes)
        low, high = part.kept[used].astype(np.int64), (~part.out[used]).astype(np.int64)
        self._allowed = ~part.out[used]
        try:
            if self._goal is None:
                self._refute(high)
            else:
                self.upper = int(self._goal) - int(self._apart[part.kept].sum())
                _exhaust(self._follow(self._recorded.root, low, high))
        except _Found as found:
            del self._nodes[before:]
            # Of all allowed features, those that no tree tests are allowed, too.
            kept = part.kept.copy() if self._goal is not None else ~part.out
            kept[found.features] = True
            if (broken := side.which(Part(kept, ~kept))) is None:
                self._wrong(0)
            return next(j for j in side.features(broken) if part.free[j])
        return None

    def _refute(self, high: Integers) -> None:
        """Write that all features that are allowed are no reason together."""
        missed = len(self._rows)
        self._decide(high > 0)
        self._nodes.append(["missed", missed])

    def _follow(self, node: Record, low: Integers, high: Integers) -> _Steps:
        """Write the lines for a recorded node; yield the work on those within it."""
        self._program.fix(low, high)
        if node.missed is not None:
            self._number(node.missed)
        if (missed := self._program.missed()) is not None:
            self._nodes.append(["missed", missed])
            return
        numbers = ((self._number(i), times) for i, times in node.multipliers)
        line: list[Any] = ["bound", [pair for pair in numbers if pair[0] is not None]]
        bound, lowest, highest = self._program.multiplied(line[1], self.upper)
        if bound >= self.upper:
            self._nodes.append(line)
            return
        if node.place < 0:
            yield self.close(low, high)
            return
        self.nodes += 1
        taken, left = node.parts
        after = self._excluded(line, low, high, lowest, highest)
        if lowest[node.place] == highest[node.place]:
            yield self._follow(taken if lowest[node.place] else left, lowest, highest)
        else:
            one = np.arange(len(low)) == node.place
            self._nodes.append(["split", self._oracle.feature[node.place]])
            yield self._follow(taken, lowest | one, highest)
            yield self._follow(left, lowest, highest & ~one)
        self._nodes += after

    def _number(self, recorded: int) -> int | None:
        """Return the number that a recorded inequality has here; ask for it the first time."""
        if recorded not in self._place_of:
            inequality, before = self._recorded.inequalities[recorded], len(self._rows)
            if inequality.row is not None:
                self.ask(inequality)
            elif self._differs(inequality.weights > 0):
                self.ask(self._cuts.of_last())
            self._place_of[recorded] = before if before < len(self._rows) else None
        return self._place_of[recorded]

    def _differs(self, places: NDArray[np.bool_]) -> bool:
        """Look for a row of another class that is as x elsewhere, but in forbidden places."""
        fixed = np.flatnonzero(self._allowed & ~places).tolist()
        return self._oracle.counterexample([self._oracle.feature[p] for p in fixed]) is not None

    def _excluded(
        self, line: list[Any], low: Integers, high: Integers, lowest: Integers, highest: Integers
    ) -> list[list[Any]]:
        """Write what multipliers exclude as nodes of their own; return those that come last."""
        after = []
        for j in np.flatnonzero((lowest > low) | (highest < high)).tolist():
            self._nodes.append(["split", self._oracle.feature[j]])
            if lowest[j] > low[j]:
                after.append(line)
            else:
                self._nodes.append(line)
        return after[::-1]

    def close(self, low: Integers, high: Integers) -> _Steps:
        """Write the lines for a node; yield the work on those within it."""
        self.nodes += 1
        self._program.fix(low, high)
        relaxed = self._tightened(high)
        bound, lowest, highest = self._program.bound(self.upper)
        if (missed := self._program.missed()) is not None:
            self._nodes.append(["missed", missed])
            return
        line = ["bound", [pair for pair in self._program.multipliers() if pair[1]]]
        if bound >= self.upper:
            self._nodes.append(line)
            return
        if relaxed is None or not (low < high).any():
            self._wrong(0)
        after = self._excluded(line, low, high, lowest, highest)
        if (lowest < highest).any():
            self._program.tidy(relaxed.shares)
            j = self._place(relaxed, lowest, highest)
            one = np.arange(len(low)) == j
            self._nodes.append(["split", self._oracle.feature[j]])
            yield self.close(lowest | one, highest)
            yield self.close(lowest, highest & ~one)
        else:
            yield self.close(lowest, highest)
        self._nodes += after

    def written(self) -> list[str]:
        """Return the lines, with the rows that some node needs."""
        needed = sorted({i for node in self._nodes for i in _used(node)})
        place = {i: at for at, i in enumerate(needed)}
        lines = [self._rows[i] for i in needed]
        for rule, of in self._nodes:
            if rule == "bound":
                pairs = [f"{place[i]} {times}" for i, times in of]
                lines.append(" ".join(["bound", str(SCALE), *pairs]))
            else:
                lines.append(f"{rule} {place[of] if rule == 'missed' else of}")
        return lines

    def ask(self, inequality: Inequality) -> None:
        """Ask for what the checker reads from the row, if it reads anything."""
        if inequality.row is None:
            return  # a set without its row
        grid, known = self._oracle.grid, self._known
        differs = {}
        for place in np.flatnonzero(inequality.row != self._oracle.x).tolist():
            differs[grid.used[place]] = self._cell(place, int(inequality.row[place]))
        words = [f"{a} {cell}" for a, cell in differs.items()]
        if inequality.of_entries is None:
            line, weights = ["hit", *words], known.hit(differs)
        else:
            of_trees = self._of_trees(inequality)
            try:
                weights = known.weighed(inequality.rival, differs, of_trees)
            except Refused:
                return  # by its rounding, the row asks for nothing
            line = [f"row {inequality.rival} {len(differs)}", *words]
            line += [f"{t} {a} {weight}" for (t, a), weight in of_trees.items()]
        self._rows.append(" ".join(line))
        self._program.add(np.array([weights[j] for j in self._oracle.feature], dtype=np.int64))

    def _cell(self, place: int, position: int) -> int:
        """Return a cell as the checker counts: the last one is a missing value."""
        a = self._oracle.grid.used[place]
        if self._known.reason.level == "conditions":
            return int(1 - self._known.own[a])
        if position == MISSING:
            return len(self._oracle.model.thresholds[a]) + 1
        return int(self._oracle.grid.cells[place][position])

    def _of_trees(self, inequality: Inequality) -> dict[tuple[int, int], int]:
        """Return weights by tree and feature, in the units of the checker."""
        margin, model = self._oracle.space(inequality.rival).margin, self._oracle.model
        assert inequality.of_entries is not None
        up, down = self._known.reason.forest.scale, 1 << model.exact.exponent
        arrays, used, out = margin.arrays, self._oracle.grid.used, {}
        if margin.slack:
            # Divided by a power of two, to fit into 64 bits.
            values, _, _ = differences(model, self._oracle.own, inequality.rival)
            greatest = max(int(abs(value).max()) for value in values)
            up <<= round(math.log2(greatest / int(np.abs(arrays.values).max())))
        for e in np.flatnonzero(inequality.of_entries).tolist():
            tree, a = margin.trees[arrays.entry_tree[e]], used[arrays.tested[e]]
            out[tree, a] = -(-int(inequality.of_entries[e]) * up // down)
        return out

    def _decide(self, kept: NDArray[np.bool_]) -> bool:
        """Ask for what the row of a counterexample misses; without one the goal is wrong."""
        places = np.flatnonzero(kept).tolist()
        found = self._oracle.counterexample([self._oracle.feature[p] for p in places])
        if found is None:
            raise _Found([self._oracle.feature[p] for p in places])
        self.ask(self._cuts.of_last())
        for inequality in self._cuts.of_counterexample(kept):
            self.ask(inequality)
        return False

    def _start(self, shares: NDArray[np.float64]) -> None:
        """Look for nothing: the value is known."""

    def _wrong(self, reason: int) -> NoReturn:
        raise Refused("there is a better reason")


def _exhaust(work: _Steps) -> None:
    """Do some work and what it yields: without recursion, however deep the nodes are."""
    waiting = [work]
    while waiting:
        if (within := next(waiting[-1], None)) is None:
            waiting.pop()
        else:
            waiting.append(within)


def _used(node: list[Any]) -> list[int]:
    if node[0] == "bound":
        return [i for i, _ in node[1]]
    return [node[1]] if node[0] == "missed" else []
