"""The driver of the search: root, threads, global bound, and the tie-break among optimal sets."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import LANES, bind
from cpx.models.monomial.search.bounds import UNKNOWN, select, subtree_bounds, tighten
from cpx.models.monomial.search.objective import cost as cost_of
from cpx.models.monomial.search.root import Root
from cpx.models.monomial.search.stack import Levels, Scratch, grown, new_levels
from cpx.models.monomial.search.tree import FULL, STOPPED, branches, look_ahead
from cpx.processes.threads import run_threads

if TYPE_CHECKING:
    from cpx.models.monomial.search.presolve import Reduced

Ints = NDArray[np.int64]

_MOST_THREADS = 256
_MOST_PAIRED = 1024
_MOST_AHEAD = 2**14  # columns: looking ahead takes the square of them, and hears no limit
"""Columns of which a table has what each two of them exclude."""
_DONE = 1
"""A branch was searched. Kernels write it."""


class Cut(Exception):
    """The search was told to stop."""


@dataclass(eq=False)
class Exploration:
    """What a search found.

    cost: The least cost met, the limit if nothing at or below it was.
    columns: The set that has it.
    nodes, work: Nodes entered, and blocks of eight words that were looked at here.
    bound: A lower bound on the cost of all sets below the limit.
    finished: Nothing below the least cost exists.
    first: The set is the smallest, lexicographically first of all of least cost.
    notes: Warnings.
    """

    cost: int
    columns: list[int] | None
    nodes: int
    work: int
    bound: int
    finished: bool
    first: bool
    notes: list[str] = field(default_factory=list)


def sort_by(keys: Ints, items: Ints, n: int) -> None:
    """Sort the first n items by their keys, increasing and stable."""
    items[:n] = items[:n][np.argsort(keys[items[:n]], kind="stable")]


class Workers:
    """Threads that take the open branches of a root one by one."""

    def __init__(self, root: Root, limit: int, threads: int, by_index: bool) -> None:
        self.limit, self.first = limit, by_index
        threads = min(threads, root.n, _MOST_THREADS)
        # Shared by all threads; in search of any set, each thread is stopped by itself.
        self.shared = np.array([0, limit, 0], dtype=np.int64)
        self.signals = [self.shared.copy() if by_index else self.shared for _ in range(threads)]
        self.running = [0] * threads
        self.best_branch = root.n
        self.root, self.order = root, np.zeros(0, dtype=np.int64)
        self.params = root.params
        if _pairs_help(root):
            shared = np.full((root.n, root.n), UNKNOWN, dtype=np.int32)
            self.params = root.params._replace(shared=shared)
        self.stacks: list[tuple[Levels, Scratch]] = []
        self.found: list[Ints] = []
        # By position in the order; what became of each task is said by kernels and threads.
        self.bounds = self.tasks = self.done = np.zeros(0, dtype=np.int64)
        self.lock = threading.Lock()
        self._prepare(threads)

    def _prepare(self, threads: int) -> None:
        root, objective, limit = self.root, self.root.numbers, self.limit
        if not self.first:
            limit += 1
        covered, lost, r = root.covered, root.lost, root.k
        kept = np.arange(root.n + LANES, dtype=np.int64)
        top, low, less = (np.zeros(max(root.n, r) + 2, dtype=np.int64) for _ in range(3))
        all_bad = root.covered_bad
        n = select(objective, all_bad, covered, lost, kept, root.n, r, limit, top)
        sort_by(lost, kept, n)  # the kernel's own order, in less than the square of n
        n, _ = tighten(objective, all_bad, covered, lost, kept, n, r, limit, top, low, less)
        self.bounds = bounds = np.zeros(n, dtype=np.int64)
        front = n
        if self.first:
            kept[:n].sort()
        else:
            sort_by(covered, kept, n)
            asked = root.remaining.asked()
            if asked is None:
                subtree_bounds(objective, all_bad, covered, lost, kept, n, r, bounds)
            else:
                # Each allowed set has one of these, so that it begins with one.
                front = int(asked[kept[:n]].sum())
                kept[:n] = kept[:n][np.argsort(~asked[kept[:n]], kind="stable")]
        self.order = order = kept[:n].copy()
        self.values = values = root.costs()[order]
        if n == 0:
            return
        bits = root.take(order)
        self.stacks = [
            new_levels(
                bits,
                root.bad_words,
                all_bad,
                order,
                covered[order],
                lost[order],
                bounds,
                root.k,
                root.side,
            )
            for _ in range(min(threads, n))
        ]
        self.found = [np.zeros(root.k + 6, dtype=np.int64) for _ in self.stacks]
        for found in self.found:
            found[:2] = self.limit, root.n + 1
        if values.min() < limit and not self.first:
            least = int(values.min())
            self.found[0][:3] = least, 1, order[values == least].min()
            self.shared[1] = least
        if root.k >= 2 and n <= _MOST_AHEAD:
            levels, scratch = self.stacks[0]
            wanted = limit if self.first else int(self.shared[1]) + 1
            look_ahead(levels, scratch, self.params, wanted, front, bounds)
            for other, _ in self.stacks:
                other.bound[0, :n] = bounds
        elif root.k < 2:
            bounds[:] = limit
        entered = bounds < limit
        if self.first:
            entered |= values < limit
        entered[front:] = False
        self.tasks, self.done = np.flatnonzero(entered), np.zeros(n, dtype=np.int64)
        if not self.first:
            # Best first: the bound of the whole search is that of the first branch still open.
            self.tasks = self.tasks[np.argsort(bounds[self.tasks], kind="stable")]
        self.todo = iter(self.tasks.tolist())

    @property
    def open(self) -> Ints:
        """The tasks that are not done."""
        return np.asarray(self.tasks[self.done[self.tasks] == 0])

    def bound(self) -> int:
        """Return a lower bound on the cost of all sets, as long as one is below the limit."""
        # In this order: what was found in a branch is known before it is done.
        bounds = self.bounds[self.open]
        return int(bounds.min(initial=self.shared[1]))

    def nodes(self) -> int:
        return sum(int(found[-1]) for found in self.found)

    def work_done(self) -> int:
        return sum(int(levels.at[1]) for levels, _ in self.stacks)

    def best(self) -> tuple[int, list[int] | None]:
        """Return the best cost and the columns, in the numbers of the root."""
        met = [
            (int(found[0]), int(found[1]), found[2 : 2 + int(found[1])].tolist())
            for found in self.found
            if found[1] <= self.root.k
        ]
        if not met:
            return self.limit, None
        cost, _, columns = min(met)
        return cost, columns

    def work(self, number: int) -> None:
        """Take branches until none is open, or the search is stopped."""
        (levels, scratch), found = self.stacks[number], self.found[number]
        root, signal = self.root, self.signals[number]
        # One thread takes all in one call of the machine code, several take one at a time.
        alone = len(self.stacks) == 1 and not self.first
        tasks, at = self.tasks if alone else np.zeros(1, dtype=np.int64), np.zeros(1, np.int64)

        def bound() -> Callable[[], int]:
            own = self.bounds, tasks, self.done, at
            return bind(branches, levels, scratch, self.params, signal, found, self.first, *own)

        search, task = bound(), -1
        while not signal[0]:
            if not alone:
                with self.lock:
                    task = next(self.todo, -1)
                    if task < 0 or task > self.best_branch:
                        return
                    self.running[number] = task
                tasks[0], at[0] = task, 0
                if self.first and self.values[task] < self.limit:
                    self._first_at(task)
                    self.done[task] = _DONE
                    continue
            if root.k >= 2:
                while (status := search()) == FULL:
                    levels = grown(levels)
                    search = bound()
                if status == STOPPED or alone:
                    return
                if self.first and found[0] < self.limit:
                    self._first_at(task)

    def _first_at(self, task: int) -> None:
        """Note a branch that has a set, and stop the threads that are in later ones."""
        with self.lock:
            self.best_branch = min(self.best_branch, task)
            for signal, running in zip(self.signals, self.running, strict=True):
                if running > self.best_branch:
                    signal[0] = 1

    def begin(self, tasks: list[int], found: Ints, shared: Ints) -> None:
        """Search these branches alone, in one thread, from what is known of the best set."""
        self.found[0][:], self.shared[:] = found, shared
        self.found[0][-2:] = 0
        self.stacks[0][0].at[0] = self.shared[0] = 0
        self.tasks = np.array(tasks)
        self.done[self.tasks] = 0

    def learn(self, done: list[int], found: Ints, strict: int) -> None:
        """Note what a search elsewhere found from the best set here, and which branches it did."""
        own, size = self.found[0], int(found[1])
        met = int(found[0]), size, found[2 : 2 + size].tolist()
        if size <= self.root.k and met < (int(own[0]), int(own[1]), own[2 : 2 + size].tolist()):
            own[:-2] = found[:-2]
        own[-1] += found[-1]
        self.shared[1] = min(self.shared[1], own[0])
        self.shared[2] |= strict
        self.done[done] = _DONE

    def run(self, watch: Callable[[Workers], bool]) -> bool:
        """Work until done; ``watch`` is called now and then and says whether to stop."""
        if not self.tasks.size:
            return True
        stopping = False

        def look() -> None:
            nonlocal stopping
            if watch(self):
                stopping = True
                self._stop()

        works = [partial(self.work, number) for number in range(len(self.stacks))]
        run_threads(works, self._stop, look)
        return not (stopping and self.open.size)

    def _stop(self) -> None:
        for signal in self.signals:
            signal[0] = 1


Elsewhere = Callable[[Workers, Callable[[Workers], bool]], tuple[bool, list[str]]]


def _pairs_help(root: Root) -> bool:
    """Whether what two columns exclude is noted, for the sake of bounds below the root.

    Without side constraints the best set costs so little that hardly a branch is entered, and
    noting it costs more than it saves.
    """
    numbers = root.numbers
    linear = numbers.alpha >= 0 and numbers.beta > 0
    sizes = root.k > 2 and root.n <= _MOST_PAIRED and root.good < UNKNOWN
    return bool(root.remaining.linear) and linear and sizes


def explore(
    root: Root,
    limit: int,
    threads: int,
    watch: Callable[[Workers], bool],
    elsewhere: Elsewhere | None = None,
) -> Exploration:
    """Find the columns of least cost at or below ``limit``, if there are any.

    elsewhere: Searches the branches in place of threads; tells whether all are done, and warnings.

    ``watch`` is called every few hundredths of a second with an object that has ``best()`` and
    ``bound()``; the search ends soon after it returns True.
    """
    if root.n == 0:
        return Exploration(limit, None, 0, 0, limit, finished=True, first=True)
    workers, notes = Workers(root, limit, threads, by_index=False), list[str]()
    if elsewhere is None:
        finished = workers.run(watch)
    else:
        finished, notes = elsewhere(workers, watch)
    cost, columns = workers.best()
    return Exploration(
        cost,
        columns,
        workers.nodes(),
        workers.work_done(),
        bound=cost if finished else workers.bound(),
        finished=finished,
        first=finished and not workers.shared[2],
        notes=notes,
    )


def first_optimal(
    reduced: Reduced, cost: int, most: int, threads: int, stop: Callable[[int], bool]
) -> list[int]:
    """Return the smallest, lexicographically first set of columns of a cost known optimal.

    Sizes are tried in turn. The set of the first size that has one begins with the smallest
    column i such that some set of that size and cost has i as its first: each i is one search
    for any such set. Then the rows that i covers, the later columns and one choice less
    are a problem of the same kind. The answer does not depend on the number of threads.

    reduced: The problem.
    cost: The optimum; the value of some set of at most ``most`` columns.
    most: Size of a known optimal set.
    stop: Called now and then with the number of nodes of this search; True ends it.
    Raises Cut: When ``stop`` said so.
    """
    agreement, weights, groups = reduced.agreement, reduced.weights, reduced.groups
    objective, all_bad = reduced.objective, int(weights[: reduced.bad].sum())
    if reduced.remaining.allow([]) and cost_of(objective.numbers(), all_bad, 0) == cost:
        return []
    nodes = 0
    columns = np.arange(agreement.shape[1])
    for size in range(1, most + 1):
        chosen: list[int] = []
        left, rows, excluded = size, np.arange(weights.size), 0
        later = columns
        while left > 0:
            here, weight = agreement[np.ix_(rows, later)], weights[rows]
            bad = int(np.searchsorted(rows, reduced.bad))
            side = reduced.remaining.within(later, chosen)
            root = Root.of(
                here, weight, bad, groups[later], left, objective, excluded, remaining=side
            )
            workers = Workers(root, cost + 1, threads, by_index=True)
            spent = nodes

            def watch(workers: Workers, spent: int = spent) -> bool:
                return stop(spent + workers.nodes())

            if not workers.run(watch):
                raise Cut
            nodes += workers.nodes()
            if workers.best_branch == root.n:
                break
            at = int(workers.order[workers.best_branch])
            column = int(later[at])
            chosen.append(column)
            covered = here[:, at]
            excluded += int(weight[bad:][~covered[bad:]].sum())
            rows, later = rows[covered], later[at + 1 :]
            later = later[groups[later] != groups[column]]
            left -= 1
        if left == 0:
            return chosen
    raise AssertionError("no set of the optimal cost")
