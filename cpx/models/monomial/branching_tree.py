"""The branch and bound tree of a small instance, node by node: what :mod:`search` does, to read.

A node is a set of chosen features and the candidates that may follow; below it are the sets that
begin so. Its children are bounded by the functions in C of the exact search
(:mod:`cpx.models.monomial.search.bounds`), and the open node of the least bound comes next. Left
out is what hides the tree: presolve, a first incumbent by beam search, bounds of pairs, and the
last two levels at once. So the tree is larger than that of ``search``, with the same optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cpx.answers.html import Shown
from cpx.answers.text import Block, Fact, Facts, Table, as_text
from cpx.backends.search.best_first import BestFirst
from cpx.errors import InvalidOption
from cpx.modelling.base import Problem
from cpx.models.monomial.form import WeightedMonomial
from cpx.models.monomial.search.bounds import order_by, select, subtree_bounds, tighten
from cpx.models.monomial.search.objective import Objective
from cpx.models.monomial.tree_svg import Box, svg_of

__all__ = ["SearchTree", "TreeNode", "search_tree"]

_MOST = 200
"""Nodes that are drawn."""
_LONGEST = 19
"""Characters of a feature in its box."""

Ints = NDArray[np.int64]


@dataclass
class TreeNode:
    """A node: the sets that begin with some features.

    Attributes
    ----------
    chosen : tuple of int
        The features, in the order in which they were chosen.
    parent : int or None
        The place of the node above in the list of nodes; None for the root.
    cost : int
        What the chosen features cost by themselves.
    bound : int
        No set below costs less.
    step : int or None
        When it was expanded; None for a node whose bound was no better than the best cost known
        when its turn came.
    lowest, best : int
        The least bound of all open nodes, and the least cost known, once it was expanded.
    found : tuple of int
        The set of least cost that was met while it was expanded, if it was a new best one.
    dropped : int
        Candidates of which no better set has any, or whose own bound was no better.
    after : list of int
        The candidates, of which the sets below have some.
    """

    chosen: tuple[int, ...]
    parent: int | None
    cost: int
    bound: int
    step: int | None = None
    lowest: int = 0
    best: int = 0
    found: tuple[int, ...] = ()
    dropped: int = 0
    after: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class SearchTree(Shown):
    """The nodes of a branch and bound search, and what it found.

    Attributes
    ----------
    nodes : list of TreeNode
        The root first, each after its parent.
    names : tuple of str
        The features.
    optimum : int or None
        The least cost; None where no set is allowed.
    chosen : tuple of int
        A set that has it.
    """

    nodes: list[TreeNode]
    names: tuple[str, ...]
    optimum: int | None
    chosen: tuple[int, ...]

    def blocks(self) -> list[Block]:
        """Return the expanded nodes in their order, and the optimum."""
        steps = sorted((n for n in self.nodes if n.step is not None), key=lambda n: n.step or 0)
        rows = tuple(
            (
                f"{node.step}",
                self.words(node.chosen),
                *map(str, (node.cost, node.bound, node.lowest, node.best, node.dropped)),
            )
            for node in steps
        )
        head = ("step", "begins with", "cost", "bound", "least bound", "best cost", "dropped")
        told = "none" if self.optimum is None else f"{self.optimum}, {self.words(self.chosen)}"
        beaten = len(self.nodes) - len(steps)
        facts = [Fact("optimum", told), Fact("nodes", f"{len(steps)} expanded, {beaten} beaten")]
        return [Table(head, rows, left=(1,)), Facts.of(facts)]

    def __str__(self) -> str:
        return as_text(self.blocks(), spaced=True)

    def words(self, chosen: tuple[int, ...]) -> str:
        """Return features by their names."""
        return " and ".join(self.names[j] for j in chosen) or "(always)"

    def svg(self) -> str:
        """Return the tree as a picture, SVG."""
        told = "no set is allowed" if self.optimum is None else f"the optimum is {self.optimum}"
        title = f"Branch and bound tree of {len(self.nodes)} nodes; {told}"
        return svg_of([self._box(node) for node in self.nodes], title)

    def _box(self, node: TreeNode) -> Box:
        """Return what is drawn of a node: its last feature, its numbers, what became of it."""
        last = "root" if node.parent is None else "+ " + self.names[node.chosen[-1]]
        if len(last) > _LONGEST:
            last = last[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
        if node.step is None:
            kind, fate = "beaten", "beaten in its turn"
        elif node.found:
            kind, fate = "best", f"step {node.step}: new best, {node.best}"
        else:
            kind, fate = "expanded", f"step {node.step}: best stays {node.best}"
        lines = (last, f"cost {node.cost}, bound {node.bound}", fate)
        title = f"{self.words(node.chosen)}; {node.dropped} candidates dropped"
        return Box(node.parent, kind, lines, title)


def search_tree(problem: Problem) -> SearchTree:
    """Search a small instance and return the tree.

    Parameters
    ----------
    problem : Problem
        Whose answer is one rule of least cost, without limits and side constraints, such as a
        :class:`~cpx.KMonomial`.

    Raises
    ------
    InvalidOption
        For another problem, and for a tree of more than 200 nodes.

    Examples
    --------
    >>> from cpx import KMonomial, Samples
    >>> from cpx.models.monomial import search_tree
    >>> agreement = [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]]
    >>> samples = Samples(agreement, [1, 0, 0, 0], features=("a", "b", "c", "d"))
    >>> print(search_tree(KMonomial(samples, k=2)))
    step  begins with  cost  bound  least bound  best cost  dropped
       0  (always)        3      0            0          2        1
       1  d               2      1            1          1        0
    <BLANKLINE>
    optimum    1, c and d
    nodes      2 expanded, 2 beaten
    """
    form = problem.form()
    if not isinstance(form, WeightedMonomial) or problem.sense != "min":
        raise InvalidOption(
            f"no tree is drawn of {problem.kind}: only of rules whose least cost is asked for"
        )
    if form.limits is not None or len(form.side):
        raise InvalidOption("no tree is drawn of an instance with limits or side constraints")
    return _Search(form, problem.feature_names).run()


class _Search:
    """The state of a search: the best set, and the nodes so far."""

    def __init__(self, form: WeightedMonomial, names: tuple[str, ...]) -> None:
        self.form, self.names = form, names
        self.numbers = Objective(
            bad=int(form.cost_covered.sum()), good=int(form.cost_uncovered.sum())
        ).numbers()
        self.nodes: list[TreeNode] = []
        self.best: float = math.inf
        self.chosen: tuple[int, ...] = ()
        self.lowest = self.steps = 0

    def run(self) -> SearchTree:
        required, forbidden = {*self.form.required}, {*self.form.forbidden}
        chosen = tuple(sorted(required))
        if len(chosen) <= self.form.k and not required & forbidden and self._apart(chosen):
            rest = [j for j in range(self.form.shape[1]) if j not in required | forbidden]
            self._meet(chosen)
            root = self._add(None, chosen, 0, self._possible(chosen, rest))
            tree = BestFirst(
                self._expand,
                lambda place: (self.nodes[place].bound, place),
                lambda place: self.nodes[place].bound >= self.best,
                self._prove,
                lambda: len(self.nodes) > _MOST,
            )
            if not tree.search(root):
                raise InvalidOption(
                    f"the tree has more than {_MOST} nodes: take fewer features, or a smaller k"
                )
        optimum = None if self.best == math.inf else int(self.best)
        return SearchTree(self.nodes, self.names, optimum, self.chosen)

    def _prove(self, bound: int) -> None:
        self.lowest = bound

    def _weights(self, chosen: tuple[int, ...]) -> tuple[int, int]:
        """Return what a set costs by the samples it covers, and by those it loses."""
        covered = self.form.covered(chosen)
        lost = self.form.cost_uncovered[~covered].sum()
        return int(self.form.cost_covered[covered].sum()), int(lost)

    def _meet(self, chosen: tuple[int, ...]) -> bool:
        """Take a set for the best one if it is."""
        cost = sum(self._weights(chosen))
        if cost < self.best:
            self.best, self.chosen = cost, tuple(sorted(chosen))
            return True
        return False

    def _apart(self, chosen: tuple[int, ...]) -> bool:
        groups = self.form.groups
        return groups is None or len({*groups[list(chosen)].tolist()}) == len(chosen)

    def _possible(self, chosen: tuple[int, ...], candidates: list[int]) -> list[int]:
        return [j for j in candidates if self._apart((*chosen, j))]

    def _add(
        self, parent: int | None, chosen: tuple[int, ...], bound: int, after: list[int]
    ) -> int:
        place = len(self.nodes)
        cost = sum(self._weights(chosen))
        self.nodes.append(TreeNode(chosen, parent, cost, bound, after=after))
        return place

    def _expand(self, place: int, note: Callable[[int], None]) -> list[int]:
        """Look at all sets with one feature more; return the children that are left."""
        node, candidates = self.nodes[place], self.nodes[place].after
        node.step, node.lowest = self.steps, self.lowest
        self.steps += 1
        r = self.form.k - len(node.chosen)
        if r > 0:
            for j in candidates:
                if self._meet((*node.chosen, j)):
                    node.found = self.chosen
        node.best = int(self.best)
        if r < 2:
            return []
        kept, bounds = self._bounded(node.chosen, candidates, r)
        children = []
        for x, bound in enumerate(bounds[:-1]):  # the last one has no candidate after it
            chosen, after = (*node.chosen, kept[x]), kept[x + 1 :]
            if bound < self.best and (after := self._possible(chosen, after)):
                children.append(self._add(place, chosen, int(bound), after))
        node.dropped = len(candidates) - len(children)
        return children

    def _bounded(
        self, chosen: tuple[int, ...], candidates: list[int], r: int
    ) -> tuple[list[int], Ints]:
        """Return the candidates that can be in a better set, and bounds on what begins so."""
        covered, _ = self._weights(chosen)
        weights = np.array([self._weights((*chosen, j)) for j in candidates], dtype=np.int64)
        after, lost = (np.ascontiguousarray(part) for part in weights.reshape(-1, 2).T)
        n, best = len(candidates), int(self.best)
        kept, room = np.arange(n), [np.zeros(max(n, r), dtype=np.int64) for _ in range(3)]
        n = select(self.numbers, covered, after, lost, kept, n, r, best, room[0])
        n, _ = tighten(self.numbers, covered, after, lost, kept, n, r, best, *room)
        order_by(after, kept, n)
        bounds = np.zeros(n, dtype=np.int64)
        subtree_bounds(self.numbers, covered, after, lost, kept, n, r, bounds)
        return [candidates[p] for p in kept[:n]], bounds
