"""The distribution of an explainer over states: given, fitted by name, or conformant."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from cpx.data.coding import Coding
from cpx.data.fitted.conformant import fit_conformant
from cpx.data.fitted.distribution import StateDistribution
from cpx.data.fitted.held_out import HeldOut, held_out
from cpx.data.fitted.mixture_fit import Structure, fit_mixture
from cpx.data.fitted.naive_bayes import fit_naive_bayes
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import InvalidOption
from cpx.explainers.background import (
    default_distribution,
    fitted_distribution,
    given_distribution,
)
from cpx.models.expected_prediction.posterior import log_odds_terms
from cpx.models.expected_prediction.text import MADE_FROM_DATA
from cpx.options import read_named
from cpx.processes.interrupts import interruptible
from cpx.support.shares import at_most
from cpx.trees.form import TreeModel

if TYPE_CHECKING:
    from cpx.data.fitted.mixture_choice import Trial

CONFORMANT = "conformant"
"""The distribution of a classifier that is naive Bayes."""

_MOST_OFF = 0.01
"""Log-odds under a conformant distribution are no further from those of the model."""

Asked = str | PathLike[str] | StateDistribution | None


def given_states(distribution: Asked) -> StateDistribution | None:
    """Return a distribution that is there already, read from its file; None for a name."""
    return (
        None
        if isinstance(distribution, str) and distribution == CONFORMANT
        else given_distribution(distribution)
    )


class FittedStates:
    """A distribution, and how probable rows kept aside are under it.

    asked: The distribution itself, or the name of what is fitted; None for the default.
    given: Whether it was there already.
    name: What it is called by who asked, where the name does not say which structure it has.
    trials: What was tried, where the best of some was taken.
    """

    def __init__(
        self,
        model: TreeModel,
        coding: Coding,
        rows: NDArray[Any],
        asked: Asked,
        components: int | None,
        smoothing: float,
        seed: int,
    ) -> None:
        self._model, self._coding, self._rows, self._seed = model, coding, rows, seed
        self._smoothing = smoothing
        self.trials: tuple[Trial, ...] = ()
        self.name: str | None = None
        self.notes: tuple[str, ...] = ()
        self.given = asked is not None and not isinstance(asked, str)
        if components is not None and (self.given or asked == CONFORMANT):
            fitted = "a distribution that is fitted, by its name"
            raise InvalidOption(f"components is for {fitted}, and not for {CONFORMANT}")
        if self.given:
            self.distribution = cast(StateDistribution, asked)
        elif asked == CONFORMANT:
            self.name = CONFORMANT
            self._terms = log_odds_terms(model, coding)
            self.distribution, off = self._conformant(coding.codes(rows))
            if off > _MOST_OFF:
                raise InvalidOption(
                    "distribution conformant: probabilities over 2**30 miss log-odds of the model "
                    f"by {off:.2g}"
                )
            near = at_most(Fraction(off) / 4, 1)
            self.notes = (
                f"the distribution says the probability of the model, but for {near} at most",
            )
        elif (
            asked is None
            and components is None
            and (chosen := default_distribution(coding, rows, smoothing, seed))
        ):
            self.distribution, self.trials, self.held_out, note = chosen
            self.notes = (note,)
        else:
            self._fit(str(asked or "mixture"), components)

    def _fit(self, asked: str, components: int | None) -> None:
        """Fit a distribution by its name."""
        self.distribution, self.trials = fitted_distribution(
            *(asked, self._model, self._coding, self._rows, components),
            *(self._smoothing, self._seed),
        )
        name, options = read_named("distribution", asked)
        self._smoothing = options.get("smoothing", self._smoothing)
        if name in MADE_FROM_DATA:
            self.name = name

    def _conformant(self, codes: NDArray[Any]) -> tuple[TreeMixture, float]:
        """Fit the naive Bayes distribution that conforms to the model to some rows."""
        sizes = self._coding.cardinalities
        return fit_conformant(codes, sizes, *self._terms, smoothing=self._smoothing)

    @cached_property
    def held_out(self) -> HeldOut | None:
        """How probable rows kept aside are under the distribution; None for fewer than ten.

        It is fitted anew to others. One that was given is measured as it is.
        """
        sizes, own = self._coding.cardinalities, self.distribution
        codes = self._coding.codes(self._rows)

        def fit(some: NDArray[np.int64]) -> StateDistribution:
            if self.given:
                return own
            part = codes[some]
            if self.name == CONFORMANT:
                return self._conformant(part)[0]
            if self.name == "naive-bayes":
                rows = np.asarray(self._rows, dtype=np.float64)[some]
                labels = self._model.predict_index(rows)
                return fit_naive_bayes(part, sizes, labels, smoothing=self._smoothing)
            return fit_mixture(
                part,
                sizes,
                structure=cast(Structure, own.structure),
                components=own.n_components,
                smoothing=self._smoothing,
                seed=self._seed,
                restarts=1,
            )

        with interruptible():
            return held_out(codes, sizes, fit, self._smoothing, self._seed)
