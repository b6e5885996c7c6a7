"""The example oracle EX(f, D) at x: a classifier and a distribution, sampled on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cpx.data.classifiers import labels

if TYPE_CHECKING:
    from cpx.data.uniform import Distribution

__all__ = ["Oracle"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Oracle:
    """A classifier, the instance x it is asked about, and the distribution of the rows.

    A problem is stated on samples, and that is all that is saved and all that exact engines
    see. A method that draws samples of its own needs what they come from;
    :class:`cpx.Explainer` attaches it to the problems it states, see
    :meth:`cpx.models.Problem.with_oracle`.

    Parameters
    ----------
    classifier : object with ``predict``, or callable
        f, on rows as the distribution makes them.
    x : one row
        In any form that ``distribution.encode`` takes.
    distribution : Distribution
        D.

    Examples
    --------
    >>> from cpx.data import Uniform
    >>> oracle = Oracle(lambda z: z[:, 0], [1, 0], Uniform(2))
    >>> rows, agreement = oracle.draw(100, [0], np.random.default_rng(0))
    >>> agreement.shape, bool(agreement[:, 0].all()), bool(oracle.same(rows).all())
    ((100, 2), True, True)
    """

    classifier: Any
    x: Any
    distribution: Distribution

    @cached_property
    def bits(self) -> BoolArray:
        """Boolean features of x, shape (d,)."""
        return self.distribution.encode(self.x)

    @cached_property
    def label(self) -> Any:
        """The class f(x)."""
        return labels(self.classifier, self.distribution.row(self.x))[0]

    def same(self, rows: Any) -> BoolArray:
        """Return which rows have the class of x, shape (m,).

        Raises
        ------
        ClassifierError
            When f raises or does not answer with one label per row.
        """
        return np.asarray(labels(self.classifier, rows) == self.label, dtype=bool)

    def draw(
        self, m: int, features: Sequence[int], rng: np.random.Generator
    ) -> tuple[Any, BoolArray]:
        """Draw samples that agree with x on the given features.

        Parameters
        ----------
        m : int
        features : sequence of int
            S; empty for samples of D itself.
        rng : numpy.random.Generator

        Returns
        -------
        rows : table of m rows
            As the classifier takes them.
        agreement : (m, d) array of bool
            Where they have the value of x.

        Raises
        ------
        DataError
            When D gives z_S = x_S no mass.
        """
        D = self.distribution
        batch = D.sample_given(m, self.x, features, rng) if features else D.sample(m, rng, self.x)
        return batch.rows, batch.bits == self.bits
