"""Fitting mixtures of trees to coded rows by expectation-maximisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.chow_liu import chow_liu_parents, mutual_information
from cpx.data.fitted.message_passing import ONE, log_sum
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import DataError, InvalidOption, shown
from cpx.support.validation import choice, integer_in, positive_integer, real, valid_seed

FloatArray = npt.NDArray[np.float64]
Structure = Literal["factorised", "mixture", "chow-liu", "mixture of chow-liu trees"]

STRUCTURES: tuple[Structure, ...] = (
    "factorised",
    "mixture",
    "chow-liu",
    "mixture of chow-liu trees",
)
"""The structures of distributions, from the simplest on."""

_FIRST_STEPS = 5
_DENSE = 2**22
_ROUNDS = 2


def structure_of(distribution: str, components: int) -> Structure:
    """Return what is fitted for a name of a distribution: several Chow-Liu trees are a mixture.

    >>> structure_of("chow-liu", 1), structure_of("chow-liu", 3)
    ('chow-liu', 'mixture of chow-liu trees')
    """
    if distribution == "chow-liu" and components > 1:
        return "mixture of chow-liu trees"
    return cast(Structure, distribution)


def fit_mixture(
    codes: npt.ArrayLike,
    cardinalities: Sequence[int],
    *,
    structure: Structure = "mixture",
    components: int = 10,
    smoothing: float = 1.0,
    seed: int = 0,
    restarts: int = 3,
    tolerance: float = 1e-3,
    max_steps: int = 200,
) -> TreeMixture:
    """Fit a distribution to coded rows.

    Parameters
    ----------
    codes : (n, A) array of int
        Rows, as :meth:`Coding.codes` returns them.
    cardinalities : sequence of A int
        Number of states of each attribute.
    structure : {"factorised", "mixture", "chow-liu", "mixture of chow-liu trees"}
        All attributes independent; a mixture of such distributions; each attribute dependent on
        one other, along the tree of Chow and Liu; a mixture of such trees.
    components : int
        Number of components of a mixture; the other two structures have one.
    smoothing : float
        Above 0. Every component is fitted as if it had so many rows more, in which attributes
        are independent: half of them with the shares that states have in all rows, half of them
        with equal shares.
    seed : int
    restarts : int
        How many starts are tried for a few steps; the best of them is gone on with.
    tolerance : float
        Expectation-maximisation stops when a step gains no more than this in the logarithm of
        the likelihood per row.
    max_steps : int
        The most steps.

    Returns
    -------
    TreeMixture

    Raises
    ------
    DataError
        When codes are no rows with these states.
    InvalidOption
        Naming an option that is out of its range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> kind = rng.integers(0, 2, size=(500, 1))
    >>> codes = (rng.random((500, 6)) < np.where(kind, 0.9, 0.1)).astype(int)
    >>> fitted = fit_mixture(codes, [2] * 6, components=2)
    >>> fitted
    <TreeMixture: mixture, 2 components, 6 attributes>
    >>> all_zero = fitted.log_marginal([0] * 6, [True] * 6)
    >>> np.exp(all_zero).round(2).tolist(), float((codes.sum(axis=1) == 0).mean())
    ([0.24], 0.234)
    """
    choice("structure", structure, STRUCTURES)
    trees = "chow-liu" in structure
    several = "mixture" in structure
    n_components = positive_integer("components", components) if several else 1
    for name, value in (("smoothing", smoothing), ("tolerance", tolerance)):
        number = real(value)
        if number is None or not 0 < number < np.inf:
            raise InvalidOption(f"{name} must be a finite number above 0, got {shown(value)}")
    rows = _Rows(codes, cardinalities, float(smoothing))
    rng = np.random.default_rng(valid_seed(seed))
    steps = positive_integer("max_steps", max_steps)
    starts = positive_integer("restarts", restarts) if several else 1
    alone = _Layout(rows, np.full(len(rows.sizes), -1, dtype=np.int32))
    fits = []
    for _ in range(starts):
        fit = _Fit(rows, [alone] * n_components, rows.spread(n_components, rng))
        fit.improve(_FIRST_STEPS, tolerance)
        fits.append(fit)
    best = max(fits, key=lambda fit: fit.history[-1])
    best.improve(steps, tolerance)
    if trees:
        best.grow_trees(steps, tolerance)
    return best.distribution()


class _Layout:
    """All tables of a component as one array, for the parents that its attributes have.

    shapes: Shapes of the tables, which follow each other.
    prior: What the pseudo-rows add to each entry.
    indicator: Which entry of each table each row has.
    """

    def __init__(self, rows: _Rows, parents: npt.NDArray[np.int32]) -> None:
        from scipy.sparse import csr_array

        self.parents = parents
        inner = parents >= 0
        heights = np.where(inner, rows.sizes[parents], 1)
        self.shapes = list(zip(heights.tolist(), rows.sizes.tolist()))
        lengths = heights * rows.sizes
        first = np.cumsum(lengths) - lengths
        place = first + rows.codes
        place[:, inner] += rows.codes[:, parents[inner]] * rows.sizes[inner]
        n, n_attributes = place.shape
        indicator = csr_array(
            (np.ones(place.size), place.ravel(), np.arange(n + 1) * n_attributes),
            shape=(n, int(lengths.sum())),
        )
        self.indicator: Any = indicator if n * lengths.sum() > _DENSE else indicator.toarray()
        own = np.split(rows.prior, rows.starts[1:])
        self.prior = rows.pseudo_rows * np.concatenate(
            [
                own[a] if parent < 0 else np.outer(own[parent], own[a]).ravel()
                for a, parent in enumerate(parents.tolist())
            ]
        )
        widths = np.repeat(rows.sizes, heights)
        self._widths = widths
        self._firsts = np.cumsum(widths) - widths

    def shares(self, counts: FloatArray) -> FloatArray:
        """Return the entries, rows of tables summing to 1, for weights of rows that have them."""
        entries = counts + self.prior
        totals = np.add.reduceat(entries, self._firsts)
        return np.asarray(entries / np.repeat(totals, self._widths))

    def tables(self, shares: FloatArray) -> list[FloatArray]:
        """Return the entries as one table for each attribute."""
        sizes = [height * width for height, width in self.shapes]
        parts = np.split(shares, np.cumsum(sizes)[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes)]


class _Rows:
    """The rows that a distribution is fitted to, and the pseudo-rows."""

    def __init__(self, codes: npt.ArrayLike, cardinalities: Any, pseudo_rows: float) -> None:
        self.codes = checked_codes(codes, cardinalities)
        self.sizes = np.array(cardinalities, dtype=np.int64)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.states = self.starts + self.codes
        n_states = int(self.sizes.sum())
        counts = np.bincount(self.states.ravel(), minlength=n_states)
        even = np.repeat(1.0 / self.sizes, self.sizes)
        self.prior: FloatArray = (counts / self.n + even) / 2
        self.pseudo_rows = pseudo_rows

    @property
    def n(self) -> int:
        return len(self.codes)

    def spread(self, k: int, rng: np.random.Generator) -> FloatArray:
        """Return each row's membership of k groups around rows far from each other."""
        distance = np.full((self.n, k), np.inf)
        for c in range(k):
            nearest = distance.min(axis=1)
            far = nearest if 0 < nearest.sum() < np.inf else np.ones(self.n)
            centre = rng.choice(self.n, p=far / far.sum())
            distance[:, c] = (self.codes != self.codes[centre]).sum(axis=1)
        return np.asarray(np.eye(k)[distance.argmin(axis=1)], dtype=np.float64)

    def trees(self, memberships: FloatArray) -> list[_Layout]:
        """Return the Chow-Liu tree of each component's rows."""
        return [
            _Layout(
                self,
                chow_liu_parents(
                    mutual_information(
                        self.states, weights, self.starts, self.prior, self.pseudo_rows
                    )
                ),
            )
            for weights in memberships.T
        ]


class _Fit:
    """Expectation-maximisation on the likelihood of rows and pseudo-rows.

    ``history`` has the logarithm of that likelihood after each step, which never falls.
    """

    def __init__(self, rows: _Rows, layouts: list[_Layout], memberships: FloatArray) -> None:
        self.rows = rows
        self.history: list[float] = []
        self.maximise(memberships, layouts)

    def maximise(self, memberships: FloatArray, layouts: list[_Layout]) -> None:
        """Fit weights and tables to the rows' memberships, and find these anew."""
        self.layouts = layouts
        weights = memberships.sum(axis=0) + self.rows.pseudo_rows
        self.weights = weights / weights.sum()
        if all(layout is layouts[0] for layout in layouts):
            counts = list((layouts[0].indicator.T @ memberships).T)
        else:
            counts = [
                layout.indicator.T @ np.ascontiguousarray(member)
                for layout, member in zip(layouts, memberships.T)
            ]
        self.shares = [layout.shares(count) for layout, count in zip(layouts, counts)]
        logs = [np.log(share) for share in self.shares]
        if all(layout is layouts[0] for layout in layouts):
            parts = layouts[0].indicator @ np.array(logs).T
        else:
            parts = np.column_stack([lay.indicator @ log for lay, log in zip(layouts, logs)])
        joint = parts + np.log(self.weights)
        likelihood = log_sum(joint)
        self.memberships = np.exp(joint - likelihood[:, None])
        pseudo = self.rows.pseudo_rows * float(np.log(self.weights).sum())
        # Not by BLAS, whose threads take much longer than so short a sum on a busy machine.
        pseudo += sum(float(np.einsum("i,i", lay.prior, log)) for lay, log in zip(layouts, logs))
        self.history.append(float(likelihood.sum()) + pseudo)

    def improve(self, steps: int, tolerance: float) -> None:
        """Take steps until they gain little."""
        for _ in range(steps if len(self.layouts) > 1 else 0):
            self.maximise(self.memberships, self.layouts)
            if self.gained() <= tolerance:
                break

    def gained(self) -> float:
        """Return what the last step gained per row."""
        return (self.history[-1] - self.history[-2]) / self.rows.n

    def grow_trees(self, steps: int, tolerance: float) -> None:
        """Find the tree of each component, in turn with the rows' memberships."""
        for _ in range(_ROUNDS):
            before = self.history[-1]
            layouts = self.rows.trees(self.memberships)
            same = all(
                np.array_equal(new.parents, old.parents) for new, old in zip(layouts, self.layouts)
            )
            if same:
                return
            self.maximise(self.memberships, layouts)
            self.improve(steps, tolerance)
            alone = len(layouts) == 1  # whose rows stay the same
            if alone or (self.history[-1] - before) / self.rows.n <= tolerance:
                return

    def distribution(self) -> TreeMixture:
        """Return what was found, rounded to integers over 2**30."""
        return TreeMixture(
            quantised(self.weights[None, :])[0],
            np.array([layout.parents for layout in self.layouts]),
            tuple(
                tuple(quantised(table) for table in layout.tables(share))
                for layout, share in zip(self.layouts, self.shares)
            ),
        )


def quantised(rows: FloatArray) -> npt.NDArray[np.int64]:
    """Return rows of probabilities as positive integers that sum to 2**30.

    >>> quantised(np.array([[0.25, 0.75], [1.0, 0.0]])).tolist()
    [[268435456, 805306368], [1073741823, 1]]
    """
    result = np.maximum(np.rint(np.asarray(rows) * ONE), 1).astype(np.int64)
    # The few units that rounding left go to the largest, where they change least.
    rest = ONE - result.sum(axis=1)
    result[np.arange(len(result)), result.argmax(axis=1)] += rest
    return result


def checked_codes(codes: npt.ArrayLike, cardinalities: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return rows of codes of attributes with these numbers of states, or raise DataError."""
    sizes = [integer_in("cardinalities", k, 1, error=DataError) for k in cardinalities]
    array = np.asarray(codes)
    if array.ndim != 2 or array.shape[1] != len(sizes) or array.dtype.kind not in "iu":
        raise DataError(
            f"codes must be an (n, {len(sizes)}) array of integers, got {array.dtype} of shape "
            f"{array.shape}"
        )
    if not len(array):
        raise DataError("there are no rows to fit a distribution to")
    wrong = (array < 0) | (array >= np.array(sizes))
    if wrong.any():
        row, a = (int(i) for i in np.argwhere(wrong)[0])
        raise DataError(
            f"row {row} has the state {int(array[row, a])} of attribute {a}, its states go from 0 "
            f"to {sizes[a] - 1}"
        )
    return array.astype(np.int64)
