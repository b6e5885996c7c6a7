"""A part of the implicit tree, written out: its first layers, a subtree, or some paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cpx.methods.certificates.domain import Bits, Restriction, checked_restriction
from cpx.methods.certificates.tree import ImplicitTree
from cpx.support.validation import integer_in

__all__ = ["UnfoldedNode", "unfolded"]


@dataclass(frozen=True)
class UnfoldedNode:
    """A node of the tree, with those below it that were unfolded.

    Attributes
    ----------
    node : tuple of (int, int)
        The features queried on the way to it, each with its bit.
    literals : tuple of str
        The same in words.
    reached : float
        Share of the rows that come to it.
    share : float
        Share of these for which f is true, estimated.
    feature : int or None
        What it queries; ``None`` for a leaf, and where the unfolding ends.
    score : float or None
        Noise stabilising score of the feature.
    children : tuple of UnfoldedNode
        For the bit 1, then for 0; only those that were asked for.
    """

    node: tuple[tuple[int, int], ...]
    literals: tuple[str, ...]
    reached: float
    share: float
    feature: int | None = None
    score: float | None = None
    children: tuple[UnfoldedNode, ...] = ()

    def __iter__(self) -> Iterator[UnfoldedNode]:
        """Go through the nodes, each before those below it."""
        yield self
        for child in self.children:
            yield from child

    def __str__(self) -> str:
        return "\n".join(self._lines(len(self.node)))

    def _lines(self, top: int) -> Iterator[str]:
        name = self.literals[-1] if len(self.node) > top else " and ".join(self.literals)
        indent = "  " * (len(self.node) - top)
        yield f"{indent}{name or 'all rows'}: {self.reached:.3f} of the rows, {self.share:.3f} true"
        for child in self.children:
            yield from child._lines(top)


def unfolded(
    tree: ImplicitTree,
    layers: int,
    node: Restriction | None = None,
    instances: Sequence[Any] | None = None,
) -> UnfoldedNode:
    """Write out a part of the tree (section 1.3 of the paper).

    Parameters
    ----------
    tree : ImplicitTree
    layers : int
        How many queries deep, at most; at least 0. Each layer has twice as many nodes as the one
        above it, each of which asks f about 3 * ``tree.pairs`` rows.
    node : mapping of int to {0, 1}, optional
        Where it begins; the root when not given.
    instances : sequence, optional
        Only the paths of these, in the forms that the tree takes.

    Examples
    --------
    >>> tree = ImplicitTree(lambda z: z[:, 1] & (z[:, 3] | z[:, 0]), d=5, depth=3)
    >>> print(unfolded(tree, layers=1))
    all rows: 1.000 of the rows, 0.374 true
      x1: 0.500 of the rows, 0.748 true
      not x1: 0.500 of the rows, 0.000 true
    """
    held = checked_restriction(node or {}, tree.d)
    bits = None if instances is None else [tree.domain.encode(x) for x in instances]
    reached, known = 1.0, dict[int, int]()
    for j, bit in held.items():
        one = tree.domain.share(known, j)
        reached *= one if bit else 1 - one
        known[j] = bit
    return _unfolded(tree, integer_in("layers", layers, 0, tree.d), held, bits, reached)


def _unfolded(
    tree: ImplicitTree,
    layers: int,
    node: dict[int, int],
    instances: list[Bits] | None,
    reached: float,
) -> UnfoldedNode:
    # The rows that the value of a leaf is estimated on.
    drawn = tree.domain.draw(tree.pairs, node, tree.generator(node, 1))
    share, words = float(tree.ask(drawn).mean()), tree.domain.names(node)
    found = UnfoldedNode(tuple(node.items()), words, reached, share)
    if layers == 0 or tree.is_leaf(node):
        return found
    j, children = tree.query(node), list[UnfoldedNode]()
    one = tree.domain.share(node, j)
    for bit, part in ((1, one), (0, 1 - one)):
        here = None if instances is None else [x for x in instances if x[j] == bit]
        if here is None or here:
            below = {**node, j: bit}
            children.append(_unfolded(tree, layers - 1, below, here, reached * part))
    score = float(tree.scores(node)[j])
    return UnfoldedNode(found.node, words, reached, share, j, score, tuple(children))
