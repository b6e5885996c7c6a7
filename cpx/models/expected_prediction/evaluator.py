"""Expected scores and probabilities given many sets of known attributes at once, in floats.

A leaf l of value v_l is reached, given z, with the probability P_c(l | z) under component c. With
the posterior w_c(z), in proportion to the weight of the component times P_c(z)::

    EP(z) = base + sum_c w_c(z) sum_l v_l P_c(l | z)

All one-attribute extensions of z come from one pass. Without edges P_c(l | z) is a product
(:mod:`~cpx.models.expected_prediction.leaf_products`). With edges, messages go up and down the
tree of the component, for z with each leaf: they give P_c(X_j = x_j | z and l is reached) for all
j, and by Bayes' rule P_c(l | z, x_j) = P_c(l | z) P_c(x_j | z, l) / P_c(x_j | z).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.data.fitted.tree_mixture import ONE, TreeMixture
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
    distribution: TreeMixture
    codes: NDArray[np.int32]

    def expected(self, observed: Bools) -> Floats:
        """Return the expected score for each row of attributes that are known, (N, A) to (N,)."""
        return self.evaluate(observed)[0]

    def evaluate(self, observed: Bools) -> tuple[Floats, Floats]:
        """Return the expected scores and the log-probabilities of N sets, (N, A) to twice (N,)."""
        seen = np.atleast_2d(np.asarray(observed, dtype=np.bool_))
        expected, logs = np.empty(len(seen)), np.empty(len(seen))
        for rows in self.chunks(len(seen)):
            groups = self.groups(len(seen[rows]))
            means = np.concatenate([self._means(some, seen[rows]) for some in groups])
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
        joint = self._joint(seen)
        by_component = self._by_factors if self.distribution.edgeless else self._by_edges

        def measured(some: slice) -> tuple[Floats, Floats, Floats]:
            if stop():
                raise Stopped
            return by_component(some, seen)

        found = zip(*run(measured, self.groups(len(seen), threads)))
        means, means_with, logs = map(np.concatenate, found)

        def mixed(sets: slice) -> tuple[Floats, Floats]:
            return self._mixed(joint[:, sets, None] + logs[:, sets], means_with[:, sets])

        size = -(-len(seen) // threads)
        parts = run(mixed, [slice(n, n + size) for n in range(0, len(seen), size)])
        expected, log_probability = self._mixed(joint, means)
        return Extensions(expected, log_probability, *map(np.concatenate, zip(*parts)))

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
        mixture = self.distribution
        if mixture.edgeless:
            return self.log_states @ seen.T + mixture.log_weights[:, None]
        return (mixture.component_log_marginals(self.codes, seen) + mixture.log_weights).T

    def groups(self, n: int, threads: int = 1) -> list[slice]:
        """Return components that are measured together: one where there are edges."""
        count, size = self.distribution.n_components, 1
        if self.distribution.edgeless:
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

    @cached_property
    def _numbers_per_set(self) -> int:
        tests, leaves = len(self.leaves.leaf), len(self.leaves.values) + 1
        if self.distribution.edgeless:
            return max(1, tests, leaves)
        # Two passes of messages along the attributes.
        return 2 * leaves * sum(self.distribution.cardinalities)

    @cached_property
    def base(self) -> float:
        """The base of the model as a float, rounded once."""
        return int(self.leaves.base) / self.leaves.scale

    @cached_property
    def values(self) -> Floats:
        """The values of the leaves as floats: the quotients of integers, rounded once."""
        scale = self.leaves.scale
        return np.array([int(v) / scale for v in self.leaves.values.tolist()])

    # ------------------------------------------------------- components without edges

    @cached_property
    def _products(self) -> LeafProducts:
        """The probability of each leaf under components without edges."""
        return LeafProducts(self.leaves, self.distribution, self.codes, self.values)

    @cached_property
    def log_states(self) -> Floats:
        """The log-probability of each state of x in each component without edges, (C, A)."""
        rows = [
            [table[0, s] / ONE for table, s in zip(tables, self.codes.tolist(), strict=True)]
            for tables in self.distribution.tables
        ]
        return np.log(np.array(rows))

    def reached(self, some: slice, seen: Bools) -> Floats:
        """Return P_c(l | z) of some components, each set and leaf; without edges."""
        return self._products.given(some, seen)

    def _by_factors(self, some: slice, seen: Bools) -> tuple[Floats, Floats, Floats]:
        """Return the means, the means with one attribute more, and log P_c(x_j | z)."""
        mean, more = self._products.extended(some, seen)
        return mean, more, np.where(seen, 0.0, self.log_states[some, None])

    def _means(self, some: slice, seen: Bools) -> Floats:
        """Return the means of the leaves under some components."""
        if self.distribution.edgeless:
            return self.reached(some, seen) @ self.values
        return self._by_edges(some, seen, down=False)[0]

    # ---------------------------------------------------------- components with edges

    @cached_property
    def _leads(self) -> list[Floats | None]:
        """Of each attribute, the states that lead to each leaf, and all of them for no leaf."""
        leaves, found = self.leaves, list[Floats | None]()
        for a, size in enumerate(self.distribution.cardinalities):
            tests = np.flatnonzero(leaves.attribute == a)
            allowed = np.ones((len(leaves.values) + 1, size))
            for test in tests.tolist():
                allowed[leaves.leaf[test]] = leaves.masks.states(leaves.mask[test])
            found.append(allowed if tests.size else None)
        return found

    def _by_edges(
        self, one: slice, seen: Bools, down: bool = True
    ) -> tuple[Floats, Floats, Floats]:
        """Return the same of a single component with edges."""
        sets, leaves = len(seen), len(self.values)
        forest, asked = self.distribution.forests[one.start], self._asked(seen)
        found = forest.upward(asked)
        logs = np.broadcast_to(found.logs, sets * (leaves + 1)).reshape(sets, leaves + 1)
        shares = np.exp(logs[:, :-1] - logs[:, -1:]) * self.values
        mean = shares.sum(axis=1)
        if not down:
            return mean[None], mean, mean
        more, log_states = np.empty(seen.shape), np.empty(seen.shape)
        for a, belief in forest.beliefs(asked, found):
            total = belief.sum(axis=1)
            given = belief[:, self.codes[a]] / np.where(total > 0, total, 1.0)
            rows = np.broadcast_to(given, sets * (leaves + 1)).reshape(sets, leaves + 1)
            more[:, a] = (shares * rows[:, :-1]).sum(axis=1) / rows[:, -1]
            log_states[:, a] = np.log(rows[:, -1])
        more = np.where(seen, mean[:, None], more)
        return mean[None], more[None], np.where(seen, 0.0, log_states)[None]

    def _asked(self, seen: Bools) -> dict[int, Floats]:
        """Return what each set with each leaf, and with none, asks of the attributes."""
        asked = {}
        for a, (leads, size) in enumerate(zip(self._leads, self.distribution.cardinalities)):
            known = seen[:, a]
            if leads is None and not known.any():
                continue
            state = np.where(known[:, None], np.arange(size) == self.codes[a], True).astype(float)
            whole = np.ones((len(self.values) + 1, size)) if leads is None else leads
            asked[a] = (state[:, None, :] * whole).reshape(-1, size)
        return asked
