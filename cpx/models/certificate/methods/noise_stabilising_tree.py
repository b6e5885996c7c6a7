"""The noise stabilising decision tree of Blanc et al. (Definitions 4, 8, 9), built on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.base import Distribution
from cpx.errors import InvalidOption, printable
from cpx.models.certificate.methods.input_spaces import (
    Bits,
    Domain,
    Restriction,
    checked_restriction,
    domain_of,
)
from cpx.models.certificate.methods.noise import BitFunction, stabilising_scores, truth
from cpx.support.shares import share_text
from cpx.support.validation import integer_in, open_unit, positive_integer, valid_seed

Instance = Any
"""d values 0 or 1, or a row of a table."""


class ImplicitTree:
    """The greedy noise stabilising decision tree of f, looked at node by node.

    A node is the restriction on the way to it: the features queried so far with their bits.
    The feature a node queries is the one with the highest noise stabilising score in the
    restricted function, estimated by sampling. The tree is complete, of the given depth.

    Parameters
    ----------
    f : callable
        Maps m rows to m truth values; fair bits are an (m, d) int8 array of 0 and 1.
    d : int, Uniform, Product or a fitted distribution
        What f is asked about: so many fair bits, or a distribution; its features may be several
        of one attribute, such as the categories of a column.
    depth : int
        Depth k of the tree, from 0 to d.
    noise : float
        Noise rate p, between 0 and 1.
    pairs : int
        Noisy pairs drawn per node; the scores are accurate to about ``1 / sqrt(pairs)``.
    seed : int
        Each node draws from a stream of its own, made of the seed and the restriction: a
        node answers the same whenever and by whatever way it is asked, so that all answers
        are about one tree.

    Attributes
    ----------
    domain : Domain
        What f is asked about: ``domain.d`` features.
    queries : int
        Rows f has been asked about so far.

    Raises
    ------
    InvalidOption
        Naming the argument that is out of range.

    References
    ----------
    Blanc, Lange, Tan (NeurIPS 2021), Definition 4 for the three operations, 8 and 9 for the
    tree, and Lemma 4.1 for how sampling supports them.

    Examples
    --------
    >>> f = lambda z: z[:, 1] & (z[:, 3] | (z[:, 0] & z[:, 2]))
    >>> tree = ImplicitTree(f, d=5, depth=2)
    >>> tree.is_leaf({}), tree.query({}), tree.query({1: 1})
    (False, 1, 3)
    >>> tree.leaf_value({1: 1, 3: 1}), tree.leaf_value({1: 1, 3: 0})
    (True, False)
    """

    def __init__(
        self,
        f: BitFunction,
        d: int | Distribution | Domain,
        depth: int,
        *,
        noise: float = 0.1,
        pairs: int = 5000,
        seed: int = 0,
    ) -> None:
        self.domain = domain_of(d)
        self.d = self.domain.d
        self.depth = integer_in("depth", depth, 0, self.d)
        self.noise = open_unit("noise", noise)
        self.pairs = positive_integer("pairs", pairs)
        self.seed = valid_seed(seed)
        self.queries = 0
        self._f = f
        self._scores: dict[tuple[tuple[int, int], ...], npt.NDArray[np.float64]] = {}

    def ask(self, rows: Any) -> npt.NDArray[np.bool_]:
        """Return the values of f on the rows, counted in ``queries``."""
        self.queries += len(rows)
        return truth(self._f, rows)

    def is_leaf(self, node: Restriction) -> bool:
        """Return whether the node is a leaf: ``depth`` features are fixed, or none varies."""
        held = checked_restriction(node, self.d)
        if len(held) > self.depth:
            raise InvalidOption(
                f"a node of a tree of depth {self.depth} fixes no {len(held)} features"
            )
        return len(held) == self.depth or not self.domain.open(held).any()

    def query(self, node: Restriction) -> int:
        """Return the feature that an inner node queries.

        Of equal scores the first feature is taken.
        """
        if self.is_leaf(node):
            raise InvalidOption(f"the node {dict(node)} is a leaf and queries no feature")
        scores = np.where(self.domain.open(node), self.scores(node), -np.inf)
        return int(scores.argmax())

    def leaf_value(self, node: Restriction) -> bool:
        """Return the value of a leaf: the one f takes more often below it, on samples."""
        if not self.is_leaf(node):
            raise InvalidOption(f"the node {dict(node)} is no leaf")
        held = checked_restriction(node, self.d)
        rows = self.domain.draw(self.pairs, held, self.generator(held, 1))
        return bool(self.ask(rows).mean() >= 0.5)

    def scores(self, node: Restriction) -> npt.NDArray[np.float64]:
        """Return the noise stabilising scores at a node, shape (d,); 0 for fixed features."""
        held = checked_restriction(node, self.d)
        key = tuple(held.items())
        if key not in self._scores:
            self._scores[key] = stabilising_scores(
                self.ask, self.domain, self.noise, self.pairs, self.generator(held, 0), held
            )
        return self._scores[key]

    def generator(self, node: Restriction, purpose: int) -> np.random.Generator:
        """Return the random stream of a node for one purpose."""
        path = [2 * j + bit for j, bit in sorted(node.items())]
        # Apart from the streams of samples and of fresh precision, which share the seed.
        return np.random.default_rng(
            np.random.SeedSequence(self.seed, spawn_key=(2, purpose, *path))
        )


def common_depth(tree: ImplicitTree, x: Instance, y: Instance) -> int:
    """Return how deep two instances stay together in the tree.

    The similarity of section 1.3: the depth of the lowest common ancestor of their leaves,
    from 0, where the root parts them, to ``tree.depth``, where they share a leaf.

    Parameters
    ----------
    tree : ImplicitTree
    x, y : sequence of d values 0 or 1, or a row

    Examples
    --------
    >>> tree = ImplicitTree(lambda z: z[:, 1] & (z[:, 3] | (z[:, 0] & z[:, 2])), d=5, depth=2)
    >>> x = [0, 1, 0, 1, 0]
    >>> [common_depth(tree, x, y) for y in ([1, 1, 1, 1, 1], [0, 1, 0, 0, 0], [0, 0, 0, 1, 0])]
    [2, 1, 0]
    """
    first, second = tree.domain.encode(x), tree.domain.encode(y)
    node: dict[int, int] = {}
    while not tree.is_leaf(node):
        j = tree.query(node)
        if first[j] != second[j]:
            break
        node[j] = int(first[j])
    return len(node)


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
        figures = f"{share_text(self.reached)} of the rows, {share_text(self.share)} true"
        yield f"{indent}{printable(name) or 'all rows'}: {figures}"
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
    all rows: 1.000 of the rows, 0.377 true
      x1: 0.500 of the rows, 0.752 true
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
