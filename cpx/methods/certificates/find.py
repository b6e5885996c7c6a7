"""Certificates of Blanc et al., Figure 1: the path of x down the implicit tree, then a test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.statistics import PrecisionEstimate, clopper_pearson
from cpx.errors import InvalidOption, shown
from cpx.methods.certificates.noise import Bits, restricted_bits
from cpx.methods.certificates.tree import ImplicitTree, Instance, checked_bits
from cpx.support.validation import open_unit

__all__ = ["Certificate", "certificate", "find_certificate", "prefixes"]


@dataclass(frozen=True)
class Certificate:
    """Features of x that decide f(x) with few exceptions.

    Attributes
    ----------
    features : tuple of int
        In order of importance: each has the highest noise stabilising score once those
        before it are fixed as in x.
    scores : tuple of float
        These scores.
    precision : PrecisionEstimate
        Share of f(y) = f(x) among uniform y with the bits of x in ``features``. ``low`` is
        the lower limit the verification compares with 1 - epsilon.
    """

    features: tuple[int, ...]
    scores: tuple[float, ...]
    precision: PrecisionEstimate


def find_certificate(
    tree: ImplicitTree,
    x: Instance,
    epsilon: float = 0.05,
    delta: float = 0.05,
) -> Certificate | None:
    """Return the features on the path of x, if they are an epsilon-error certificate.

    Parameters
    ----------
    tree : ImplicitTree
        Of f; all its levels are walked down.
    x : sequence of d values 0 or 1
    epsilon : float
        Greatest error of the certificate, between 0 and 1.
    delta : float
        Probability that a certificate of a greater error passes, between 0 and 0.5.

    Returns
    -------
    Certificate or None
        None when the verification fails. Its ceil(ln(1 / delta) / epsilon^2) samples are
        judged by the exact (Clopper-Pearson) lower limit of the precision.

    Raises
    ------
    InvalidOption
        Naming the argument that is out of range.

    References
    ----------
    Blanc, Lange, Tan (NeurIPS 2021), Figure 1 and Lemma 2.1.

    Examples
    --------
    >>> tree = ImplicitTree(lambda z: z[:, 1] ^ z[:, 3], d=6, depth=2)
    >>> sorted(find_certificate(tree, [0, 1, 1, 0, 0, 1]).features)
    [1, 3]
    >>> shallow = ImplicitTree(lambda z: z[:, 1] ^ z[:, 3], d=6, depth=1)
    >>> find_certificate(shallow, [0, 1, 1, 0, 0, 1]) is None
    True
    """
    bits = checked_bits(x, tree.d)
    *_, (node, scores) = _walk(tree, bits)
    found = _estimated(tree, bits, node, scores, open_unit("epsilon", epsilon), _tail(delta))
    return found if found.precision.low >= 1 - epsilon else None


def certificate(
    f: Any,
    x: Instance,
    depth: int,
    *,
    epsilon: float = 0.05,
    delta: float = 0.05,
    noise: float = 0.1,
    pairs: int = 5000,
    seed: int = 0,
) -> Certificate | None:
    """Return the shortest certificate of x on its path, of at most ``depth`` features.

    Cut at level j, the tree of depth k is the tree of depth j. So the first j features on
    the path of x are what :func:`find_certificate` verifies with the tree of depth j; the
    depths 0, 1, ... are tried in turn, each with the confidence 1 - delta / (depth + 1), so
    that all of them together fail with probability delta at most.

    Parameters
    ----------
    f : callable
        Maps an (m, d) int8 array of 0 and 1 to m labels. Of any number of classes: what is
        certified is f(z) = f(x).
    x : sequence of d values 0 or 1
    depth : int
        Maximum number of features.
    epsilon, delta : float
        As for :func:`find_certificate`.
    noise, pairs, seed
        As for :class:`ImplicitTree`.

    Returns
    -------
    Certificate or None
        None when no depth passes.

    Examples
    --------
    The parity of three bits out of twelve: no single feature, and no pair, tells anything.

    >>> found = certificate(lambda z: z[:, [1, 4, 8]].sum(axis=1) % 2, [1, 0] * 6, depth=5)
    >>> sorted(found.features), found.precision.value
    ([1, 4, 8], 1.0)
    """
    bits = checked_bits(x, len(x))
    label = np.asarray(f(bits[None, :]))[0]

    def same(rows: Bits) -> npt.NDArray[np.bool_]:
        return np.asarray(np.asarray(f(rows)) == label, dtype=np.bool_)

    tree = ImplicitTree(same, len(bits), depth, noise=noise, pairs=pairs, seed=seed)
    for found in prefixes(tree, bits, epsilon, delta):
        if found.precision.low >= 1 - epsilon:
            return found
    return None


def prefixes(
    tree: ImplicitTree,
    x: Instance,
    epsilon: float,
    delta: float,
) -> Iterator[Certificate]:
    """Yield the candidates of :func:`certificate`, the shortest first, passed or not."""
    open_unit("epsilon", epsilon)
    tail = _tail(delta) / (tree.depth + 1)
    bits = checked_bits(x, tree.d)
    for node, scores in _walk(tree, bits):
        yield _estimated(tree, bits, node, scores, epsilon, tail)


def _walk(tree: ImplicitTree, bits: Bits) -> Iterator[tuple[dict[int, int], tuple[float, ...]]]:
    """Yield the nodes on the path of x, root and leaf included, with their scores."""
    node: dict[int, int] = {}
    scores: tuple[float, ...] = ()
    yield node, scores
    while not tree.is_leaf(node):
        j = tree.query(node)
        scores = (*scores, float(tree.scores(node)[j]))
        node = {**node, j: int(bits[j])}
        yield node, scores


def _estimated(
    tree: ImplicitTree,
    bits: Bits,
    node: dict[int, int],
    scores: tuple[float, ...],
    epsilon: float,
    tail: float,
) -> Certificate:
    """Return the features of a node with their precision on fresh samples."""
    n = math.ceil(math.log(1 / tail) / epsilon**2)
    rows = restricted_bits(n, tree.d, node, tree.generator(node, 2))
    values = tree.ask(np.concatenate([bits[None, :], rows]))
    agreeing = int(np.count_nonzero(values[1:] == values[0]))
    # The lower end of a two-sided interval of level 1 - 2 tail is a limit of level 1 - tail.
    low, high = clopper_pearson(agreeing, n, 1 - 2 * tail)
    return Certificate(
        tuple(node), scores, PrecisionEstimate(agreeing, n, low, high, 1 - 2 * tail)
    )


def _tail(delta: float) -> float:
    tail = open_unit("delta", delta)
    if tail >= 0.5:
        raise InvalidOption(f"delta must be a number between 0 and 0.5, got {shown(delta)}")
    return tail
