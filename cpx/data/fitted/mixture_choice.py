"""Choice of a distribution's structure and number of components by rows kept aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.held_out import HeldOut, kept_aside
from cpx.data.fitted.mixture_fit import STRUCTURES, Structure, checked_codes, fit_mixture
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import DataError
from cpx.support.validation import choice, open_unit, positive_integer, valid_seed

FloatArray = npt.NDArray[np.float64]

_ENOUGH = 250

CANDIDATES: dict[tuple[Structure, int], str] = {
    ("mixture", 10): "mixture of 10 products",
    ("chow-liu", 1): "Chow-Liu tree",
    ("mixture of chow-liu trees", 4): "mixture of 4 Chow-Liu trees",
}
"""What is tried without a name, in words: structures, with their numbers of components."""

_MOST_WORK, _AS_LONG = 1.5e10, 3000
"""Pairs of attributes times rows times trees, some three seconds; all else that a fit does takes
as long as so many rows."""


@dataclass(frozen=True)
class Trial:
    """What was tried, and the mean logarithm of the probability of rows kept aside under it."""

    structure: Structure
    components: int
    held_out: float


def choose_mixture(
    codes: npt.ArrayLike,
    cardinalities: Sequence[int],
    *,
    structures: Sequence[Structure] = STRUCTURES,
    max_components: int = 16,
    share: float = 0.2,
    seed: int = 0,
    **options: Any,
) -> tuple[TreeMixture, tuple[Trial, ...]]:
    """Fit distributions to some of the rows, and the one best on the others to all rows.

    A share of the rows is kept aside, and where that is less than 250 rows other ones in turn.
    Mixtures are tried with 2, 4, 8, ... components, while more of them make the rows kept aside
    more probable. Of two distributions the simpler one is taken, unless the logarithm of the
    probability of these rows is higher under the other by more than the standard error of that
    difference.

    Parameters
    ----------
    codes, cardinalities
        As for :func:`fit_mixture`.
    structures : sequence of str
        The structures that are tried.
    max_components : int
        The most components that are tried.
    share : float
        Share of the rows kept aside at a time, between 0 and 1.
    seed : int
        Of the rows kept aside and of the fits.
    **options
        Other options of :func:`fit_mixture`.

    Returns
    -------
    distribution : TreeMixture
    trials : tuple of Trial

    Raises
    ------
    DataError
        When there are too few rows to keep some aside.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> kind = rng.integers(0, 3, size=(600, 1))
    >>> codes = np.where(rng.random((600, 5)) < 0.8, kind, rng.integers(0, 3, size=(600, 5)))
    >>> chosen, trials = choose_mixture(codes, [3] * 5)
    >>> chosen
    <TreeMixture: mixture, 4 components, 5 attributes>
    """
    rows = checked_codes(codes, cardinalities)
    for structure in structures:
        choice("structures", structure, STRUCTURES)
    most = positive_integer("max_components", max_components)
    aside = int(np.ceil(open_unit("share", share) * len(rows)))
    if not structures or aside >= len(rows):
        raise DataError(
            f"choosing a distribution needs structures and at least 2 rows, got {len(rows)} rows "
            f"and {len(structures)} structures"
        )
    order = np.random.default_rng(valid_seed(seed)).permutation(len(rows))
    turns = max(1, min(len(rows) // aside, -(-_ENOUGH // aside)))
    parts = [order[i * aside : (i + 1) * aside] for i in range(turns)]

    def fit(some: npt.NDArray[np.int64], structure: Structure, components: int) -> TreeMixture:
        return fit_mixture(
            some, cardinalities, structure=structure, components=components, seed=seed, **options
        )

    trials: list[Trial] = []
    best: tuple[Trial, FloatArray] | None = None
    for structure in structures:
        several = "mixture" in structure
        components = 2 if several else 1
        before: FloatArray | None = None
        while components <= most:
            held_out = np.concatenate(
                [
                    fit(np.delete(rows, part, axis=0), structure, components).log_likelihood(
                        rows[part]
                    )
                    for part in parts
                ]
            )
            trials.append(Trial(structure, components, float(held_out.mean())))
            if best is None or _surely_better(held_out, best[1]):
                best = (trials[-1], held_out)
            if not several or (before is not None and not _surely_better(held_out, before)):
                break
            before, components = held_out, 2 * components
    if best is None:
        raise DataError("choosing among mixtures needs max_components of at least 2")
    return fit(rows, best[0].structure, best[0].components), tuple(trials)


def best_of_few(
    codes: npt.ArrayLike, cardinalities: Sequence[int], *, smoothing: float = 1.0, seed: int = 0
) -> tuple[TreeMixture, tuple[Trial, ...], HeldOut]:
    """Fit a mixture of 10, a Chow-Liu tree and 4 of these to some rows, and the best to all.

    As :func:`choose_mixture` compares them, on the rows that :func:`held_out` keeps aside; trees
    are left out where there are so many attributes and rows that fitting them took long.

    Parameters
    ----------
    codes, cardinalities, smoothing, seed
        As for :func:`fit_mixture`; at least ten rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = np.repeat(rng.integers(0, 2, size=(300, 4)), 2, axis=1)
    >>> found, trials, fit = best_of_few(codes, [2] * 8)
    >>> found, len(trials), fit.rows
    (<TreeMixture: chow-liu, 1 component, 8 attributes>, 3, 60)
    """
    rows = checked_codes(codes, cardinalities)
    aside, others = kept_aside(len(rows), seed)

    def fit(some: npt.NDArray[np.int64], structure: Structure, components: int) -> TreeMixture:
        options: dict[str, Any] = {"smoothing": smoothing, "seed": seed, "restarts": 1}
        return fit_mixture(
            some, cardinalities, structure=structure, components=components, **options
        )

    alone = fit(rows[others], "factorised", 1).log_likelihood(rows[aside])
    trials, best, logs = list[Trial](), next(iter(CANDIDATES)), None
    for structure, components in CANDIDATES:
        counted = len(rows) + len(others) + 2 * _AS_LONG
        work = len(cardinalities) ** 2 * counted * components
        if "chow-liu" in structure and work > _MOST_WORK:
            continue
        own = fit(rows[others], structure, components).log_likelihood(rows[aside])
        trials.append(Trial(structure, components, float(own.mean())))
        if logs is None or _surely_better(own, logs):
            best, logs = (structure, components), own
    assert logs is not None
    measured = HeldOut(float(logs.mean()), float((logs - alone).mean()), len(aside))
    return fit(rows, *best), tuple(trials), measured


def _surely_better(new: FloatArray, old: FloatArray) -> bool:
    """Say whether rows are more probable by more than the standard error of their mean gain."""
    gain = new - old
    return bool(gain.mean() > 0 and gain.mean() ** 2 * len(gain) > gain.var())
