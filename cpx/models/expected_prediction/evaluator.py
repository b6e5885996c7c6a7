"""Expected scores and probabilities given many sets of known attributes at once, in floats.

A leaf l of value v_l is reached, given z, with the probability P_c(l | z) under component c. With
the posterior w_c(z), in proportion to the weight of the component times P_c(z)::

    EP(z) = base + sum_c w_c(z) sum_l v_l P_c(l | z)

All one-attribute extensions of z come from one pass. Without edges P_c(l | z) is a product
(:mod:`~cpx.models.expected_prediction.leaf_products`). With edges the distribution is a circuit,
and passes over it give the same (:mod:`~cpx.models.expected_prediction.leaf_circuits`).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.data.fitted.distribution import StateDistribution, as_mixture
from cpx.data.fitted.tree_mixture import ONE
from cpx.models.expected_prediction.leaf_circuits import LeafCircuits
from cpx.models.expected_prediction.leaf_products import LeafProducts
from cpx.models.expected_prediction.leaves import LeafForm

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_AT_ONCE = 2**21
"""Numbers that are worked on at once: 16 MB of floats."""

_IN_CACHE = 2**18
"""Numbers of several components that are worked on together."""


class Stopped(Exception):
    """The evaluator was told to stop."""


class Extensions(NamedTuple):
    """The expected scores and log-probabilities of sets, and of all sets with one more attribute.

    expected_with, log_probability_with: With attribute j as well; the same as without where it is
        in the set.
    """

    expected: Floats
    log_probability: Floats
    expected_with: Floats
    log_probability_with: Floats


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Expected scores of the class of x given the states of x in some attributes.

    codes: The states of x.

    >>> from fractions import Fraction
    >>> from cpx.data.fitted.tree_mixture import TreeMixture
    >>> from cpx.models.expected_prediction.leaves import LeafForm
    >>> from cpx.models.expected_prediction.state_sets import StateSets, runs_of_rows
    >>> both = StateSets([runs_of_rows(np.array([[True, False], [False, True]]))])
    >>> leaves = LeafForm(np.array([0, 4], dtype=object), np.array([0, 0]), np.array([0, 1]),
    ...                   np.array([0, 0]), np.array([0, 1]), both, 0, 0, 1, Fraction(2), True)
    >>> even = TreeMixture([ONE], None, [[[[ONE // 2, ONE // 2]]]])
    >>> found = Evaluator(leaves, even, np.array([1])).extensions(np.array([[False]]))
    >>> found.expected.tolist(), found.expected_with.tolist()
    ([2.0], [[4.0]])
    """

    leaves: LeafForm
    distribution: StateDistribution
    codes: NDArray[np.int32]

    def expected(self, observed: Bools) -> Floats:
        """Return the expected score for each row of attributes that are known, (N, A) to (N,)."""
        return self.evaluate(observed)[0]

    def evaluate(self, observed: Bools) -> tuple[Floats, Floats]:
        """Return the expected scores and the log-probabilities of N sets, (N, A) to twice (N,)."""
        seen = np.atleast_2d(np.asarray(observed, dtype=np.bool_))
        if self._circuit is not None:
            means, logs = self._circuit.means(seen)
            return self.base + means, logs
        expected, logs = np.empty(len(seen)), np.empty(len(seen))
        for rows in self.chunks(len(seen)):
            groups = self.groups(len(seen[rows]))
            means = np.concatenate(
                [self.reached(some, seen[rows]) @ self.values for some in groups]
            )
            expected[rows], logs[rows] = self._mixed(self._joint(seen[rows]), means)
        return expected, logs

    def extensions(
        self,
        observed: Bools,
        stop: Callable[[], bool] = lambda: False,
        pool: Executor | None = None,
        threads: int = 1,
    ) -> Extensions:
        """Return the same of N sets, and of all sets with one more attribute.

        stop: Asked before some components are measured.
        pool: Of so many threads, which share the components, and then the sets. The numbers are
            the same.
        Raises Stopped: When ``stop`` says so.
        """
        seen = np.atleast_2d(np.asarray(observed, dtype=np.bool_))
        parts = [
            self._extended(seen[rows], stop, map if pool is None else pool.map, threads)
            for rows in self.chunks(len(seen))
        ]
        return Extensions(*(np.concatenate(part) for part in zip(*parts)))

    def _extended(
        self, seen: Bools, stop: Callable[[], bool], run: Any, threads: int
    ) -> Extensions:
        """Return the same of sets that are measured at once, by some map."""
        size = -(-len(seen) // threads)
        parts = [slice(n, n + size) for n in range(0, len(seen), size)]
        if self._circuit is not None:
            return self._passed(self._circuit, [seen[part] for part in parts], stop, run)
        joint = self._joint(seen)

        def measured(some: slice) -> tuple[Floats, Floats, Floats]:
            if stop():
                raise Stopped
            return self._by_factors(some, seen)

        found = zip(*run(measured, self.groups(len(seen), threads)))
        means, means_with, logs = map(np.concatenate, found)

        def mixed(sets: slice) -> tuple[Floats, Floats]:
            return self._mixed(joint[:, sets, None] + logs[:, sets], means_with[:, sets])

        expected, log_probability = self._mixed(joint, means)
        mixtures = zip(*run(mixed, parts))
        return Extensions(expected, log_probability, *map(np.concatenate, mixtures))

    def _passed(
        self, circuit: LeafCircuits, parts: list[Bools], stop: Callable[[], bool], run: Any
    ) -> Extensions:
        """Return the same by passes over a circuit."""

        def measured(seen: Bools) -> tuple[Floats, ...]:
            if stop():
                raise Stopped
            return circuit.extended(seen)

        found = zip(*run(measured, parts))
        mean, logs, more, log_more = map(np.concatenate, found)
        return Extensions(self.base + mean, logs, self.base + more, log_more)

    def _mixed(self, joint: Floats, means: Floats) -> tuple[Floats, Floats]:
        """Return the means by the posterior of the components, the first axis, and log Pr."""
        top = joint.max(axis=0)
        shares = np.exp(joint - top)
        whole = shares.sum(axis=0)
        mean = self.base + (shares * means).sum(axis=0) / whole
        # No component has the probability 0.
        return np.asarray(mean), np.asarray(top + np.log(whole))

    def _joint(self, seen: Bools) -> Floats:
        """Return the log-probability of each component with each set, shape (C, N)."""
        return self.log_states @ seen.T + as_mixture(self.distribution).log_weights[:, None]

    def groups(self, n: int, threads: int = 1) -> list[slice]:
        """Return components that are measured together; without edges."""
        count = self.distribution.n_components
        in_cache = max(1, _IN_CACHE // (n * self._numbers_per_set))
        size = min(in_cache, -(-count // threads))
        return [slice(c, c + size) for c in range(0, count, size)]

    def chunks(self, n: int) -> list[slice]:
        """Return parts of n sets that are measured at once."""
        extended = self.leaves.n_attributes * self.distribution.n_components
        size = max(1, _AT_ONCE // max(self._numbers_per_set, extended))
        return [slice(first, first + size) for first in range(0, n, size)]

    @property
    def numbers(self) -> int:
        """How many products it takes to measure one set."""
        return self._numbers_per_set * self.distribution.n_components

    def off(self, least: float) -> float:
        """Return by which part a mean or a probability may be off, at most, in floats.

        Each is a sum of products: their factors are as many as an attribute's tests, states or
        components, and each rounding adds 2**-53 to the relative error, also that of logarithms,
        for as much as they are. Of a mean it is a part of the sum of all leaves.

        least: The least logarithm of a probability.
        """
        of_logs = self.leaves.n_attributes * (1.0 + abs(least))
        return 16.0 * (self.numbers + of_logs) * 2.0**-53

    @cached_property
    def _numbers_per_set(self) -> int:
        if self._circuit is not None:
            return self._circuit.numbers
        return max(1, len(self.leaves.leaf), len(self.leaves.values) + 1)

    @cached_property
    def base(self) -> float:
        """The base of the model as a float, rounded once."""
        return int(self.leaves.base) / self.leaves.scale

    @cached_property
    def values(self) -> Floats:
        """The values of the leaves as floats: the quotients of integers, rounded once."""
        scale = self.leaves.scale
        return np.array([int(v) / scale for v in self.leaves.values.tolist()])

    @cached_property
    def _circuit(self) -> LeafCircuits | None:
        """Passes over the distribution as a circuit; None without edges."""
        if self.distribution.edgeless:
            return None
        return LeafCircuits(self.leaves, self.distribution.circuit, self.codes, self.values)

    # ------------------------------------------------------- components without edges

    @cached_property
    def _products(self) -> LeafProducts:
        """The probability of each leaf under components without edges."""
        return LeafProducts(self.leaves, as_mixture(self.distribution), self.codes, self.values)

    @cached_property
    def log_states(self) -> Floats:
        """The log-probability of each state of x in each component without edges, (C, A)."""
        rows = [
            [table[0, s] / ONE for table, s in zip(tables, self.codes.tolist(), strict=True)]
            for tables in as_mixture(self.distribution).tables
        ]
        return np.log(np.array(rows))

    def reached(self, some: slice, seen: Bools) -> Floats:
        """Return P_c(l | z) of some components, each set and leaf; without edges."""
        return self._products.given(some, seen)

    def _by_factors(self, some: slice, seen: Bools) -> tuple[Floats, Floats, Floats]:
        """Return the means, the means with one attribute more, and log P_c(x_j | z)."""
        mean, more = self._products.extended(some, seen)
        return mean, more, np.where(seen, 0.0, self.log_states[some, None])
