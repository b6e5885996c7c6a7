"""Certificates of Blanc et al., Figure 1: the path of x down the implicit tree, then a test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.base import Distribution
from cpx.data.oracle import PrecisionEstimate
from cpx.data.statistics import clopper_pearson
from cpx.errors import InvalidOption, shown
from cpx.models.certificate.methods.input_spaces import Restriction, domain_of
from cpx.models.certificate.methods.noise_stabilising_tree import ImplicitTree, Instance
from cpx.support.shares import share_text
from cpx.support.validation import integer_in, open_unit, positive_integer, valid_seed


@dataclass(frozen=True)
class Certificate:
    """Features of x that decide f(x) with few exceptions.

    Attributes
    ----------
    features : tuple of int
        In order of importance: each has the highest noise stabilising score once those
        before it on the path, and what was left out again, are fixed as in x.
    scores : tuple of float
        These scores.
    precision : PrecisionEstimate
        Share of f(y) = f(x) among rows y with the bits of x in ``features``. ``low`` is
        the lower limit the verification compares with 1 - epsilon.
    """

    features: tuple[int, ...]
    scores: tuple[float, ...]
    precision: PrecisionEstimate

    def holds(self, epsilon: float) -> bool:
        """Whether it was verified that the error is at most epsilon."""
        return self.precision.low >= 1 - epsilon


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
    x : sequence of d values 0 or 1, or one row
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
    test = _Test(tree, x, open_unit("epsilon", epsilon), _tail(delta))
    *_, path = _walk(tree, x)
    found = test(path)
    return found if found.holds(epsilon) else None


def certificate(
    f: Any,
    x: Instance,
    depth: int,
    *,
    most: int | None = None,
    rows: int | Distribution | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    noise: float = 0.1,
    pairs: int = 5000,
    seed: int = 0,
) -> Certificate | None:
    """Return a certificate of x from its path, of at most ``depth`` features.

    Cut at level j, the tree of depth k is the tree of depth j. So the first j features on
    the path of x are what :func:`find_certificate` verifies with the tree of depth j; the
    depths 0, 1, ... are tried in turn. The path serves all instances, so that some of its
    features say nothing of this one, or speak against its label: of the first that pass, one
    after the other is left out while the rest passes too, and if more than ``most`` are left,
    the path is followed on. At its end, its features are left out whether they pass or not.

    Parameters
    ----------
    f : callable
        Maps m rows to m labels; fair bits are an (m, d) int8 array of 0 and 1. Of any number of
        classes: what is certified is f(z) = f(x).
    x : sequence of d values 0 or 1, or one row
    depth : int
        Maximum number of features of the path.
    most : int, optional
        Maximum number of features of the certificate; ``depth`` when not given.
    rows : int, Uniform, Product or a fitted distribution, optional
        What the error is counted on: d fair bits when not given, see :class:`ImplicitTree`.
    epsilon, delta : float
        As for :func:`find_certificate`. All tests that may be made share delta.
    noise, pairs, seed
        As for :class:`ImplicitTree`.

    Returns
    -------
    Certificate or None
        None when none is found.

    Examples
    --------
    The parity of three bits out of twelve: no single feature, and no pair, tells anything.

    >>> found = certificate(lambda z: z[:, [1, 4, 8]].sum(axis=1) % 2, [1, 0] * 6, depth=5)
    >>> sorted(found.features), found.precision.value
    ([1, 4, 8], 1.000)
    """
    domain = domain_of(np.size(x) if rows is None else rows)
    own = np.asarray(f(domain.row(x)))
    if own.shape != (1,):
        raise InvalidOption(f"f must map m rows to m labels, got shape {own.shape} for one row")

    def same(drawn: Any) -> npt.NDArray[np.bool_]:
        return np.asarray(np.asarray(f(drawn)) == own[0], dtype=np.bool_)

    tree = ImplicitTree(same, domain, depth, noise=noise, pairs=pairs, seed=seed)
    most = depth if most is None else integer_in("most", most, 0, domain.d)
    best = None
    for found in candidates(tree, x, most, epsilon, delta):
        if len(found.features) <= most and found.holds(epsilon):
            best = found
    return best


def candidates(
    tree: ImplicitTree, x: Instance, most: int, epsilon: float, delta: float
) -> Iterator[Certificate]:
    """Yield the candidates of :func:`certificate` in turn, passed or not.

    Of those with at most ``most`` features, the last one that passed is the shortest.
    """
    epsilon, k = open_unit("epsilon", epsilon), tree.depth
    # Prefixes, and what is left of the whole path. Another prefix is shortened only where more
    # than ``most`` features were left of those before.
    tests = (k + 1) * (k + 2) // 2 + sum(j * (j + 1) // 2 for j in range(most + 1, k))
    test = _Test(tree, x, epsilon, _tail(delta) / tests)
    for path in _walk(tree, x):
        found = test(path)
        yield found
        if found.holds(epsilon):
            shorter = takewhile(lambda one: one.holds(epsilon), _shortened(test, found))
            *_, found = (found, *shorter)
            yield found
            if len(found.features) <= most:
                return
    # The same features are tested on the same rows again: no test is counted twice.
    yield from _shortened(test, found)


def _walk(tree: ImplicitTree, x: Instance) -> Iterator[dict[int, float]]:
    """Yield the features on the path of x with their scores: of the root, and so on."""
    bits, node, path = tree.domain.encode(x), dict[int, int](), dict[int, float]()
    yield path
    while not tree.is_leaf(node):
        j = tree.query(node)
        path = {**path, j: float(tree.scores(node)[j])}
        node = {**node, j: int(bits[j])}
        yield path


def _shortened(test: _Test, found: Certificate) -> Iterator[Certificate]:
    """Yield what is left of features as one after the other is left out, each tested.

    The one is left out without which the most rows agree; of several, the last on the path.
    """
    while found.features:
        path = dict(zip(found.features, found.scores, strict=True))
        shorter = [
            test({j: score for j, score in path.items() if j != left})
            for left in reversed(found.features)
        ]
        found = max(shorter, key=lambda one: one.precision.agreeing)
        yield found


class _Test:
    """Estimates the precision of features of x, on fresh rows each time."""

    def __init__(self, tree: ImplicitTree, x: Instance, epsilon: float, tail: float) -> None:
        self.epsilon = epsilon
        self._tree, self._tail = tree, tail
        self._bits = tree.domain.encode(x)
        self._own = tree.ask(tree.domain.row(x))[0]
        self._n = math.ceil(math.log(1 / tail) / epsilon**2)

    def __call__(self, path: dict[int, float]) -> Certificate:
        tree, n = self._tree, self._n
        node: Restriction = {j: int(self._bits[j]) for j in path}
        drawn = tree.domain.draw(n, node, tree.generator(node, 2))
        agreeing = int(np.count_nonzero(tree.ask(drawn) == self._own))
        # The lower end of a two-sided interval of level 1 - 2 tail is a limit of level 1 - tail.
        precision = PrecisionEstimate.measured(agreeing, n, 1 - 2 * self._tail)
        return Certificate(tuple(path), tuple(path.values()), precision)


def _tail(delta: float) -> float:
    tail = open_unit("delta", delta)
    if tail >= 0.5:
        raise InvalidOption(f"delta must be a number between 0 and 0.5, got {shown(delta)}")
    return tail


@dataclass(frozen=True)
class SuccessRate:
    """How often a certificate is found over instances drawn, and how large it is.

    Attributes
    ----------
    sizes : tuple of int or None
        Of the certificate of each instance; ``None`` where none was found.
    low, high : float
        Clopper and Pearson's 95 % interval of the share of instances with one.
    complexity : float
        Mean size, all d features where none was found. But for the share delta of instances for
        which one of a greater error passes, none found is smaller than the smallest: this
        estimates C(f, epsilon) from above.
    error : float
        Standard error of the mean.
    """

    sizes: tuple[int | None, ...]
    low: float
    high: float
    complexity: float
    error: float

    @property
    def value(self) -> float:
        """Share of the instances for which one was found."""
        return sum(size is not None for size in self.sizes) / len(self.sizes)

    def __str__(self) -> str:
        low, high = share_text(self.low), share_text(self.high)
        return (
            f"found for {share_text(self.value)} [{low}, {high}] of "
            f"{len(self.sizes)} instances; mean size {self.complexity:.2f} +- {self.error:.2f}"
        )


def success_rate(
    f: Any,
    rows: int | Distribution,
    depth: int,
    *,
    m: int = 100,
    most: int | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    noise: float = 0.1,
    pairs: int = 5000,
    seed: int = 0,
) -> SuccessRate:
    """Estimate for which share of instances :func:`certificate` finds one, and C(f, epsilon).

    Parameters
    ----------
    f : callable
    rows : int, Uniform, Product or a fitted distribution
        What f is asked about and instances are drawn from: d fair bits, or a distribution.
    depth : int
        Maximum number of features of the path.
    m : int
        Instances, at least 2.
    most, epsilon, delta, noise, pairs, seed
        As for :func:`certificate`.

    Examples
    --------
    >>> print(success_rate(lambda z: z[:, 1] & z[:, 3], 6, depth=4, m=40))
    found for 1.000 [0.912, 1.000] of 40 instances; mean size 1.25 +- 0.07
    """
    domain = domain_of(rows)
    if positive_integer("m", m) < 2:
        raise InvalidOption(f"m must be at least 2, got {m}")
    rng = np.random.default_rng(np.random.SeedSequence(valid_seed(seed), spawn_key=(3,)))
    drawn = domain.draw(m, {}, rng)
    sizes: list[int | None] = []
    for i in range(m):
        x = drawn.iloc[[i]] if hasattr(drawn, "iloc") else drawn[i]
        found = certificate(
            f,
            x,
            depth,
            most=most,
            rows=rows,
            epsilon=epsilon,
            delta=delta,
            noise=noise,
            pairs=pairs,
            seed=seed,
        )
        sizes.append(None if found is None else len(found.features))
    low, high = clopper_pearson(m - sizes.count(None), m, 0.95)
    known = np.array([domain.d if size is None else size for size in sizes], dtype=float)
    error = float(known.std(ddof=1)) / math.sqrt(m)
    return SuccessRate(tuple(sizes), low, high, float(known.mean()), error)
