"""Solution pool: the best n sets, or all optimal ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import LANES
from cpx.models.monomial.search.bounds import subtree_bounds
from cpx.models.monomial.search.driver import sort_by
from cpx.models.monomial.search.enumeration import enumerate_sets, new_pool
from cpx.models.monomial.search.objective import FAR, costs
from cpx.models.monomial.search.optimise import better_than
from cpx.models.monomial.search.root import Root
from cpx.models.monomial.search.stack import grown, new_levels
from cpx.models.monomial.search.tree import DONE, FULL, STOPPED

if TYPE_CHECKING:
    from cpx.models.monomial.search.presolve import Reduced

Ints = NDArray[np.int64]

_ROOM = 1024
"""Sets listed beyond those that are wanted before the worst of them are dropped."""


@dataclass(eq=False)
class BestSets:
    """Sets of columns: the best first, of equal ones the smaller, then the lexicographic first.

    columns: The sets, each increasing.
    finished: No irredundant set that is missing comes before one of these.
    more: One that is missing is as good as the last of these.
    nodes: Nodes entered.
    """

    columns: list[list[int]]
    finished: bool
    more: bool
    nodes: int


def best_sets(
    reduced: Reduced,
    most: int,
    best: list[int],
    *,
    ratio: bool = False,
    as_good: bool = False,
    signal: Ints | None = None,
) -> BestSets:
    """Find the first ``most`` irredundant sets of columns, or of those as good as the best.

    reduced: A problem reduced with ``every``.
    most: How many sets are wanted at most.
    best: Columns of a best set.
    ratio: The objective is the precision, and not the cost.
    as_good: Only sets as good as ``best`` are wanted.
    signal (2,): The first number ends the search when another thread sets it; the second counts
        nodes.

    The search keeps the best sets met and looks for sets no worse than the worst of these. Sums
    are compared by their cost. For a ratio the cost of :func:`better_than` tells the sets that
    are better than the worst one; it is set anew for each branch of the root.

    At the beginning the worst is that of so many neighbours of the best set that cover
    different rows: of the sets that cover the same rows one is irredundant, and has the same
    value, so at least as many irredundant sets are as good.
    """
    if signal is None:
        signal = np.zeros(2, dtype=np.int64)
    return _Enumeration(reduced, most, best, ratio, as_good, signal).run()


class _Enumeration:
    """The sets found so far, and the value that the next must reach."""

    def __init__(
        self,
        reduced: Reduced,
        most: int,
        best: list[int],
        ratio: bool,
        as_good: bool,
        signal: Ints,
    ) -> None:
        # One more than wanted is kept, to know whether the last has equals.
        self.kept, self.ratio, self.signal = most + 1, ratio, signal
        self.objective = replace(reduced.objective, keep_idle=True)
        self.root = Root.whole(reduced).aiming_at(self.objective)
        self.pool = new_pool(self.kept + max(_ROOM, 4 * most) + self.root.n, max(1, reduced.k))
        self.worst: Fraction | None = None
        if as_good:
            self.worst = self.values(*_sums(reduced, [best]))[0]
        else:
            values = self.values(*_sums(reduced, _neighbours(reduced, best)))
            allowed = sorted(value for value in values if value is not None)
            self.worst = allowed[most] if len(allowed) > most else None

    def values(self, covered: Ints, lost: Ints) -> list[Fraction | None]:
        """Return what sets are compared by, less is better; None for those not allowed."""
        values, good = np.empty(covered.size, dtype=np.int64), self.objective.good
        costs(self.root.numbers, covered, lost, values)
        out: list[Fraction | None] = []
        figures = zip(values.tolist(), covered.tolist(), lost.tolist(), strict=True)
        for value, c, l in figures:
            if value >= FAR:
                out.append(None)
            else:
                out.append(Fraction(c, c + good - l) if self.ratio else Fraction(value))
        return out

    def aim(self) -> tuple[Root, int]:
        """Return the root and the cost that all sets no worse than the worst are below."""
        if self.worst is None:
            return self.root, self.objective.highest + 1
        if not self.ratio:
            return self.root, int(self.worst) + 1
        objective = better_than(self.objective, 1 - self.worst)
        return self.root.aiming_at(objective), objective.beta * objective.good + 1

    def run(self) -> BestSets:
        """List all sets, by size: none, one column, more."""
        root = self.root
        self.put([], root.covered_bad, 0)
        for j in range(root.n):
            self.put([j], int(root.covered[j]), int(root.lost[j]))
        finished = root.k < 2 or root.n < 2 or self.branches()
        values = self.trim()
        used = len(values)
        sets = [[j for j in row if j >= 0] for row in self.pool.columns[:used].tolist()]
        more = used == self.kept and values[-2:] == [values[-1]] * 2
        return BestSets(sets[: self.kept - 1], finished, more, int(self.signal[1]))

    def put(self, columns: list[int], covered: int, lost: int) -> None:
        """Add a set unless it is not allowed, or too bad."""
        remaining = self.root.remaining
        if not remaining.allow(columns):
            return
        if columns and remaining.allow([]) and self.excludes_nothing(columns[0]):
            return
        [value] = self.values(np.array([covered]), np.array([lost]))
        if value is None or (self.worst is not None and value > self.worst):
            return
        pool, at = self.pool, int(self.pool.used[0])
        pool.columns[at, : len(columns)] = columns
        pool.columns[at, len(columns) :] = -1
        pool.covered[at], pool.lost[at], pool.used[0] = covered, lost, at + 1

    def excludes_nothing(self, j: int) -> bool:
        """Whether a column is kept for the sake of a side constraint alone."""
        root = self.root
        return bool(root.covered[j] == root.covered_bad and root.lost[j] == 0)

    def trim(self) -> list[Fraction | None]:
        """Drop all but the best sets of the pool; return their values, in order."""
        pool, used = self.pool, int(self.pool.used[0])
        if used == 0:
            return []
        columns = np.sort(np.where(pool.columns[:used] < 0, FAR, pool.columns[:used]), axis=1)
        values = self.values(pool.covered[:used], pool.lost[:used])
        # Fractions by their places, which NumPy can sort along with the other keys.
        places = np.unique(np.array(values, dtype=object), return_inverse=True)[1]
        keys = [columns[:, y] for y in reversed(range(columns.shape[1]))]
        order = np.lexsort([*keys, (columns < FAR).sum(axis=1), places])[: self.kept]
        pool.columns[: order.size] = np.where(columns[order] < FAR, columns[order], -1)
        pool.covered[: order.size] = pool.covered[order]
        pool.lost[: order.size] = pool.lost[order]
        pool.used[0] = order.size
        ordered = [values[x] for x in order]
        if order.size == self.kept:
            self.worst = ordered[-1]
        return ordered

    def branches(self) -> bool:
        """Search the branches of the root one by one; False when told to stop."""
        root, n = self.root, self.root.n
        kept = np.arange(n + LANES, dtype=np.int64)
        sort_by(root.covered, kept, n)
        order, bounds = kept[:n].copy(), np.zeros(n, dtype=np.int64)
        covered, lost = root.covered[order], root.lost[order]
        # The last levels are not cut short here: there is one for each feature but the last.
        levels, scratch = new_levels(
            root.take(order),
            root.bad_words,
            root.covered_bad,
            order,
            covered,
            lost,
            bounds,
            root.k + 1,
            root.side,
        )
        for x in range(n - 1):
            if self.pool.used[0] >= self.kept:
                self.trim()
            root, limit = self.aim()
            subtree_bounds(
                root.numbers, root.covered_bad, root.covered, root.lost, order, n, root.k, bounds
            )
            levels.bound[0, :n] = bounds
            levels.position[0], levels.at[0] = x, 0
            while True:
                status = enumerate_sets(
                    levels, scratch, root.params, limit, self.signal, root.bits, self.pool
                )
                if status == DONE:
                    break
                if status == STOPPED:
                    return False
                if status == FULL:
                    levels = grown(levels)
                    continue
                self.trim()
                if not self.ratio:
                    limit = self.aim()[1]
        return True


def _neighbours(reduced: Reduced, best: list[int]) -> list[list[int]]:
    """Return the best set, and sets with a column less, more, or exchanged."""
    n, groups = reduced.features.size, reduced.groups
    smaller = [[j for j in best if j != left] for left in best]
    sets = [best, *smaller]
    for base in [best, *smaller]:
        if len(base) < reduced.k:
            used = set(groups[base].tolist())
            sets += [[*base, j] for j in range(n) if groups[j] not in used]
    return [columns for columns in sets if reduced.remaining.allow(columns)]


def _sums(reduced: Reduced, sets: list[list[int]]) -> tuple[Ints, Ints]:
    """Return covered bad and excluded good weight of the sets that cover different rows."""
    weights, bad = reduced.weights, reduced.bad
    seen: dict[bytes, tuple[int, int]] = {}
    for columns in sets:
        covers = np.asarray(reduced.agreement[:, columns].all(axis=1))
        key = np.packbits(covers).tobytes()
        if key not in seen:
            seen[key] = (
                int(weights[:bad][covers[:bad]].sum()),
                int(weights[bad:][~covers[bad:]].sum()),
            )
    covered, lost = np.array(list(seen.values()), dtype=np.int64).T.copy()
    return covered, lost
