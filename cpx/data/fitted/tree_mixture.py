"""Mixtures of tree-shaped distributions over coded attributes, with exact probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cpx.data.coding import saved_object
from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.exact_distribution import ExactDistribution
from cpx.data.fitted.message_passing import ONE, Forest, log_sum
from cpx.data.fitted.row_checks import checked_codes, checked_masks, checked_observed
from cpx.data.fitted.tree_circuit import circuit_of
from cpx.data.fitted.tree_mixture_checks import parent_array, probabilities
from cpx.errors import DataError, NoMass, shown
from cpx.support.validation import positive_integer

__all__ = ["ONE", "TreeMixture"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

_FORMAT, _VERSION = "cpx-tree-mixture", 1


@dataclass(frozen=True, eq=False)
class TreeMixture(ExactDistribution):
    """A mixture of distributions in which each attribute depends on at most one other.

    With the weight of component c as its probability, attribute a is drawn from a table of its
    own, by the state of its parent in the component's forest::

        Pr(x) = sum_c w_c prod_a T_{c,a}[x_parent(a), x_a]

    Without parents the attributes of a component are independent: one such component is the fully
    factorised distribution, several are a mixture of products; with parents, a Chow-Liu tree and a
    mixture of them. All numbers are integers over 2**30, so that the probability of any event is
    an exact fraction. None of them is 0.

    Parameters
    ----------
    weights : (C,) array of int64
        Positive, with the sum 2**30.
    parents : (C, A) array of int32, or None
        The attribute that each attribute depends on, -1 for none; None for none at all.
    tables : C sequences of A arrays of int64
        Of shape (number of states of the parent, or 1; number of states), positive, with rows
        that sum to 2**30.

    Raises
    ------
    DataError
        Naming the argument that does not fit.

    Examples
    --------
    A coin that shows what an earlier one showed, three times in four:

    >>> half, most = ONE // 2, 3 * ONE // 4
    >>> coins = TreeMixture([ONE], [[-1, 0]],
    ...                     [[[[half, half]], [[most, ONE - most], [ONE - most, most]]]])
    >>> coins.structure, coins.cardinalities
    ('chow-liu', (2, 2))
    >>> coins.exact_marginal([1, 1], [0, 1]), coins.exact_marginal([1, 1], [1])
    (Fraction(3, 8), Fraction(1, 2))
    >>> coins.sample_given(4, [1, 1], [1], np.random.default_rng(0)).tolist()
    [[1, 1], [0, 1], [1, 1], [0, 1]]
    """

    weights: npt.NDArray[np.int64]
    parents: IntArray
    tables: tuple[tuple[npt.NDArray[np.int64], ...], ...]

    def __post_init__(self) -> None:
        weights = probabilities("weights", [self.weights]).reshape(-1)
        if len(self.tables) != len(weights):
            raise DataError(
                f"tables must have {len(weights)} components, as weights has, got "
                f"{len(self.tables)}"
            )
        tables = tuple(
            tuple(probabilities(f"tables[{c}][{a}]", table) for a, table in enumerate(component))
            for c, component in enumerate(self.tables)
        )
        n_attributes = len(tables[0])
        if not n_attributes:
            raise DataError("tables[0] has no attributes")
        parents = parent_array(self.parents, len(weights), n_attributes)
        sizes = [table.shape[1] for table in tables[0]]
        for c, component in enumerate(tables):
            if len(component) != n_attributes:
                raise DataError(
                    f"tables[{c}] must have {n_attributes} attributes, got {len(component)}"
                )
            for a, table in enumerate(component):
                parent = int(parents[c, a])
                expected = (1 if parent < 0 else sizes[parent], sizes[a])
                if table.shape != expected:
                    raise DataError(
                        f"tables[{c}][{a}] must have the shape {expected}, got {table.shape}"
                    )
        for key, value in (("weights", weights), ("parents", parents), ("tables", tables)):
            object.__setattr__(self, key, value)
        object.__setattr__(self, "cardinalities", tuple(sizes))

    # ---------------------------------------------------------------- measure

    @property
    def n_components(self) -> int:
        """Number C of components."""
        return len(self.weights)

    @property
    def n_attributes(self) -> int:
        """Number A of attributes."""
        return len(self.tables[0])

    @cached_property
    def edgeless(self) -> bool:
        """Whether the attributes of each component are independent."""
        return bool((self.parents < 0).all())

    @property
    def factorised(self) -> bool:
        """Whether all attributes are independent: one component without edges."""
        return self.edgeless and self.n_components == 1

    @property
    def structure(self) -> str:
        """Which of the four: factorised, mixture, chow-liu, mixture of chow-liu trees."""
        if self.edgeless:
            return "factorised" if self.n_components == 1 else "mixture"
        return "chow-liu" if self.n_components == 1 else "mixture of chow-liu trees"

    @cached_property
    def forests(self) -> tuple[Forest, ...]:
        """The components, each with its parents and tables."""
        return tuple(
            Forest(parents, tables) for parents, tables in zip(self.parents.tolist(), self.tables)
        )

    @cached_property
    def circuit(self) -> Circuit:
        """The same distribution as a circuit."""
        return circuit_of(self.weights.tolist(), self.forests, self.cardinalities)

    @cached_property
    def log_weights(self) -> FloatArray:
        """Natural logarithms of the weights, shape (C,)."""
        return np.log(self.weights / ONE)

    # ---------------------------------------------------------- probabilities

    def log_likelihood(self, codes: npt.ArrayLike) -> FloatArray:
        """Return the natural logarithm of the probability of whole rows; (n, A) to (n,)."""
        return log_sum(self.component_log_likelihood(codes) + self.log_weights)

    def component_log_likelihood(self, codes: npt.ArrayLike) -> FloatArray:
        """Return the log-probability of whole rows under each component, shape (n, C)."""
        rows = checked_codes(np.asarray(codes), 2, self.cardinalities)
        result = np.empty((len(rows), self.n_components))
        sizes = np.array(self.cardinalities)
        for c, forest in enumerate(self.forests):
            flat = np.log(np.concatenate([table.ravel() for table in forest.shares]))
            start = np.cumsum([0] + [table.size for table in forest.shares[:-1]])
            place = start + rows
            inner = np.flatnonzero(self.parents[c] >= 0)
            place[:, inner] += rows[:, self.parents[c, inner]] * sizes[inner]
            result[:, c] = flat[place].sum(axis=1)
        return result

    def component_log_marginals(self, x: npt.ArrayLike, observed: npt.ArrayLike) -> FloatArray:
        """Return the log-probability of parts of x under each component.

        Parameters
        ----------
        x : (A,) array of int
            Codes of one row.
        observed : (N, A) or (A,) array of bool
            Which attributes have the states of x, in each of N assignments.

        Returns
        -------
        (N, C) array
        """
        row = checked_codes(np.asarray(x), 1, self.cardinalities)
        seen = checked_observed(observed, self.n_attributes)
        if self.edgeless:
            alone = [[t[0, s] for t, s in zip(f.shares, row)] for f in self.forests]
            return np.asarray(seen @ np.log(alone).T)
        asked = {}
        for a in np.flatnonzero(seen.any(axis=0)).tolist():
            allowed = np.repeat(~seen[:, a : a + 1], self.cardinalities[a], axis=1)
            allowed[:, row[a]] = True
            asked[a] = allowed
        return self._events(asked, len(seen))

    def log_marginal(self, x: npt.ArrayLike, observed: npt.ArrayLike) -> FloatArray:
        """Return the log-probability of parts of x, shape (N,).

        Arguments as for :meth:`component_log_marginals`.
        """
        return log_sum(self.component_log_marginals(x, observed) + self.log_weights)

    def posterior(self, x: npt.ArrayLike, observed: npt.ArrayLike) -> FloatArray:
        """Return the probability of each component given parts of x, shape (N, C).

        Arguments as for :meth:`component_log_marginals`.
        """
        joint = self.component_log_marginals(x, observed) + self.log_weights
        return np.asarray(np.exp(joint - log_sum(joint)[:, None]))

    def component_log_events(self, masks: Sequence[Any]) -> FloatArray:
        """Return the log-probability of events under each component, shape (N, C).

        Parameters
        ----------
        masks : sequence of A arrays of bool, or None
            The states that each attribute may have: of shape (K_a,) in all events, of shape
            (N, K_a) in each of N; None for all states.
        """
        asked = checked_masks(masks, self.cardinalities)
        lengths = {len(mask) for mask in asked.values() if mask.ndim == 2}
        if len(lengths) > 1:
            raise DataError(f"masks must have as many rows each, got {sorted(lengths)}")
        return self._events(asked, max(lengths, default=1))

    def event_probability(self, masks: Sequence[Any]) -> Any:
        """Return the probability that every attribute is in its mask.

        Parameters
        ----------
        masks
            As for :meth:`component_log_events`.

        Returns
        -------
        float, or (N,) array where a mask has N rows
        """
        logs = log_sum(self.component_log_events(masks) + self.log_weights)
        several = any(mask is not None and np.ndim(mask) == 2 for mask in masks)
        return np.exp(logs) if several else float(np.exp(logs[0]))

    def _events(self, asked: dict[int, BoolArray], n: int) -> FloatArray:
        """Return the log-probability of n events under each component, shape (n, C)."""
        rows = {a: np.atleast_2d(mask).astype(np.float64) for a, mask in asked.items()}
        result = np.empty((n, self.n_components))
        for c, forest in enumerate(self.forests):
            result[:, c] = forest.upward(rows).logs
        return result

    def _exactly(self, asked: Mapping[int, BoolArray]) -> Fraction:
        total = Fraction(0)
        for weight, forest in zip(self.weights.tolist(), self.forests):
            numerator, power = forest.exact(asked)
            total += Fraction(weight * numerator, ONE ** (power + 1))
        return total

    # --------------------------------------------------------------- sampling

    def sample_event(self, m: int, masks: Sequence[Any], rng: np.random.Generator) -> IntArray:
        """Draw m rows of codes given that every attribute is in its mask.

        The rows are independent, and exactly of the conditional distribution.

        Parameters
        ----------
        m : int
            At least 1.
        masks : sequence of A arrays of bool of shape (K_a,), or None
        rng : numpy.random.Generator

        Raises
        ------
        NoMass
            When a mask has no state.
        """
        asked = checked_masks(masks, self.cardinalities)
        for a, mask in asked.items():
            if not mask.any():
                raise NoMass(f"masks[{a}] has no state, so the event has probability 0")
        rows = {a: mask[None, :].astype(np.float64) for a, mask in asked.items()}
        sums = [forest.upward(rows) for forest in self.forests]
        joint = self.log_weights + [float(np.sum(found.logs)) for found in sums]
        share = np.exp(joint - log_sum(joint[None, :]))
        counts = rng.multinomial(positive_integer("m", m), share / share.sum()).tolist()
        drawn = [
            forest.draw(count, found.below, rng)
            for forest, count, found in zip(self.forests, counts, sums)
            if count
        ]
        return np.asarray(rng.permutation(np.concatenate(drawn)))

    # --------------------------------------------------------------- its file

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution as JSON values, exactly."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "weights": self.weights.tolist(),
            "parents": None if self.edgeless else self.parents.tolist(),
            "tables": [[table.tolist() for table in component] for component in self.tables],
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        DataError
            Naming the key or value that is wrong.
        """
        holder = saved_object(
            "a distribution", data, _FORMAT, _VERSION, ("weights", "parents", "tables")
        )
        tables = holder["tables"]
        if not isinstance(tables, list) or not all(isinstance(t, list) for t in tables):
            raise DataError(f"tables must be a list of lists, got {shown(tables)}")
        return cls(**holder)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeMixture):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        parts = "component" if self.n_components == 1 else "components"
        return (
            f"<TreeMixture: {self.structure}, {self.n_components} {parts}, "
            f"{self.n_attributes} attributes>"
        )
