"""Distributions fitted to background rows, from which whole new rows are drawn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.background import Background, OnBackground
from cpx.data.base import Batch
from cpx.data.fitted.mixture_choice import choose_mixture
from cpx.data.fitted.mixture_fit import fit_mixture, structure_of
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.support.validation import positive_integer

__all__ = ["ChowLiu", "Factorised", "Fitted", "Mixture"]

IntArray = npt.NDArray[np.int64]


class FittedToStates(OnBackground):
    """What the fitted distributions have in common.

    The state of an attribute is what its features say of it: the bin of a number, a category, or
    that it is missing. So the features of one attribute exclude each other in all samples. A
    distribution of states is fitted to the background; a sample takes, for each state drawn, the
    value of a random background row that has it. Every combination of states of the background
    has some probability.

    Attributes
    ----------
    mixture : TreeMixture
        The distribution of states.
    """

    def __init__(self, background: Background, smoothing: float, seed: int) -> None:
        super().__init__(background)
        self.smoothing, self.seed = smoothing, seed
        self._features = [
            np.flatnonzero(background.attribute_of == a) for a in range(background.n_attributes)
        ]
        each = [
            np.unique(background.bits[:, mine], axis=0, return_inverse=True)
            for mine in self._features
        ]
        self._states = [states for states, _ in each]
        codes = np.column_stack([codes.reshape(-1) for _, codes in each])
        # The rows that have a state are a stretch of the rows in the order of their states.
        self._rows_by_state = np.argsort(codes, axis=0, kind="stable")
        self._counts = [np.bincount(column) for column in codes.T]
        self.mixture = self._fit(codes, [len(states) for states in self._states])

    @abstractmethod
    def _fit(self, codes: IntArray, cardinalities: Sequence[int]) -> TreeMixture:
        """Return the distribution of the states of background rows."""

    def parameters(self) -> dict[str, Any]:
        """Return what was fitted, and how."""
        return {
            **super().parameters(),
            "structure": self.mixture.structure,
            "components": self.mixture.n_components,
            "smoothing": self.smoothing,
            "seed": self.seed,
        }

    def sample(self, m: int, rng: np.random.Generator, x: Any = None) -> Batch:
        """Draw m rows; x is not looked at."""
        return self._assembled(self.mixture.sample(positive_integer("m", m), rng), rng)

    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw m rows that agree with x on the given features."""
        masks = self.masks(self.encode(x), self.chosen(features))
        return self._assembled(self.mixture.sample_event(m, masks, rng), rng)

    def masks(self, bits: npt.NDArray[np.bool_], chosen: list[int]) -> list[Any]:
        """Return which states of each attribute have the chosen bits; None where all may be had.

        Raises
        ------
        NoMass
            When no state of an attribute has its bits.
        """
        masks: list[Any] = [None] * self.background.n_attributes
        for a, mine in self.by_attribute(chosen).items():
            at = np.searchsorted(self._features[a], mine)
            masks[a] = (self._states[a][:, at] == bits[mine]).all(axis=1)
            if not masks[a].any():
                raise self.no_mass(bits, mine)
        return masks

    @property
    def feature_of_states(self) -> npt.NDArray[np.bool_]:
        """Whether each state of all attributes, one after the other, has a feature; (states, d).

        A feature of another attribute is false.
        """
        sizes = [len(states) for states in self._states]
        table = np.zeros((sum(sizes), self.n_features), dtype=bool)
        first = 0
        for mine, states in zip(self._features, self._states, strict=True):
            table[first : first + len(states), mine] = states
            first += len(states)
        return table

    def _assembled(self, codes: npt.NDArray[np.int32], rng: np.random.Generator) -> Batch:
        return Batch(*self.background.assemble(self.rows_of(codes, rng)))

    def rows_of(self, codes: npt.NDArray[np.int32], rng: np.random.Generator) -> IntArray:
        """Return for each state of each row a background row that has it, drawn at random."""
        index = np.empty(codes.shape, dtype=np.int64)
        for a, counts in enumerate(self._counts):
            first = np.cumsum(counts) - counts
            drawn = first[codes[:, a]] + rng.integers(0, counts[codes[:, a]])
            index[:, a] = self._rows_by_state[drawn, a]
        return index


class Factorised(FittedToStates):
    """All attributes independent, with the smoothed shares of their states.

    Parameters
    ----------
    background : Background
    smoothing : float
        See :func:`cpx.data.fit_mixture`.

    Examples
    --------
    >>> D = Factorised(Background(np.array([[0, 0], [1, 1]])))
    >>> bits = D.sample(100, np.random.default_rng(0)).bits
    >>> sorted({(int(a), int(b)) for a, b in bits})
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """

    name = "factorised"
    options = ("smoothing",)

    def __init__(self, background: Background, smoothing: float = 1.0) -> None:
        super().__init__(background, smoothing, 0)

    def _fit(self, codes: IntArray, cardinalities: Sequence[int]) -> TreeMixture:
        return fit_mixture(codes, cardinalities, structure="factorised", smoothing=self.smoothing)


class _OfComponents(FittedToStates):
    """What the distributions of one or more components have in common."""

    options = ("components", "smoothing", "seed")

    def __init__(
        self, background: Background, components: int, smoothing: float, seed: int
    ) -> None:
        self.components = positive_integer("components", components)
        super().__init__(background, smoothing, seed)

    def _fit(self, codes: IntArray, cardinalities: Sequence[int]) -> TreeMixture:
        return fit_mixture(
            codes,
            cardinalities,
            structure=structure_of(self.name, self.components),
            components=self.components,
            smoothing=self.smoothing,
            seed=self.seed,
        )


class Mixture(_OfComponents):
    """A mixture of kinds of rows, within each of which attributes are independent.

    Parameters
    ----------
    background : Background
    components : int
        Number of kinds.
    smoothing, seed
        See :func:`cpx.data.fit_mixture`.

    Examples
    --------
    >>> rows = np.repeat([[0, 0, 0], [1, 1, 1]], 50, axis=0)
    >>> D = Mixture(Background(rows), components=2)
    >>> D.sample_given(1000, [1, 1, 1], [0], np.random.default_rng(0)).bits.mean(axis=0).round(1)
    array([1., 1., 1.])
    """

    name = "mixture"

    def __init__(
        self,
        background: Background,
        components: int = 10,
        smoothing: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(background, components, smoothing, seed)


class ChowLiu(_OfComponents):
    """Each attribute dependent on one other, along a Chow-Liu tree, or a mixture of such trees.

    Parameters
    ----------
    background : Background
    components : int
        Number of trees.
    smoothing, seed
        See :func:`cpx.data.fit_mixture`.

    Examples
    --------
    >>> rows = np.repeat([[0, 0, 0], [1, 1, 1]], 50, axis=0)
    >>> D = ChowLiu(Background(rows))
    >>> D.mixture.parents.tolist()
    [[-1, 0, 0]]
    """

    name = "chow-liu"

    def __init__(
        self,
        background: Background,
        components: int = 1,
        smoothing: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(background, components, smoothing, seed)


class Fitted(FittedToStates):
    """Of the distributions above, the one that rows kept aside are most probable under.

    Parameters
    ----------
    background : Background
    max_components : int
        The most components that are tried.
    smoothing, seed
        See :func:`cpx.data.choose_mixture`.

    Attributes
    ----------
    trials : tuple of Trial
        All that was tried, and how probable the rows kept aside are under it.

    Examples
    --------
    >>> rows = np.repeat([[0, 0, 0], [1, 1, 1]], 50, axis=0)
    >>> Fitted(Background(rows)).mixture.structure
    'chow-liu'
    """

    name = "fitted"
    options = ("max_components", "smoothing", "seed")

    def __init__(
        self,
        background: Background,
        max_components: int = 16,
        smoothing: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.max_components = positive_integer("max_components", max_components)
        super().__init__(background, smoothing, seed)

    def _fit(self, codes: IntArray, cardinalities: Sequence[int]) -> TreeMixture:
        chosen, self.trials = choose_mixture(
            codes,
            cardinalities,
            max_components=self.max_components,
            smoothing=self.smoothing,
            seed=self.seed,
        )
        return chosen
