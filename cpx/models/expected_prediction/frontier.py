"""Explanations of all sizes: what more known values add to the expectation, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cpx.answers.axes import axes_or_new
from cpx.answers.html import Shown
from cpx.answers.text import Block, Table, as_text
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.support.shares import share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EXPECTED, _LIKELY = "#0072B2", "#D55E00"  # Okabe, Ito


@dataclass(frozen=True)
class Frontier(Shown, Sequence[ExpectedExplanation]):
    """The explanation of each size, with its expectation and its likelihood.

    Attributes
    ----------
    explanations : tuple of ExpectedExplanation
        With at most 0, 1, 2, ... attributes.
    proved : tuple of bool
        Of each, whether no set of so many attributes has a greater expectation.

    Examples
    --------
    >>> from cpx.answers.rule import Rule
    >>> empty = ExpectedExplanation(Rule((), "yes"), measure="score", expected=-1.0)
    >>> known = ExpectedExplanation(Rule.of([0], ["a > 1"], "yes"), measure="score", expected=1.5,
    ...                             log_likelihood=-0.7, bound=0.6)
    >>> print(Frontier((empty, known), (True, True)).summary())
    size   score  likelihood  same class at least  proved  known
       0  -1.000           1                    0  yes     (nothing)
       1   1.500       0.497                  0.6  yes     a > 1
    """

    explanations: tuple[ExpectedExplanation, ...]
    proved: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.explanations)

    def __getitem__(self, place: Any) -> Any:
        return self.explanations[place]

    def __iter__(self) -> Iterator[ExpectedExplanation]:
        return iter(self.explanations)

    def summary(self) -> str:
        """Return the table as text."""
        return as_text(self.blocks())

    def blocks(self) -> list[Block]:
        """Return what is printed and shown."""
        rows = tuple(
            (
                str(len(found.features)),
                share_text(found.expected),
                f"{math.exp(found.log_likelihood):.3g}",
                f"{found.bound:g}",
                "yes" if proved else "no",
                " and ".join(found.rule.words) or "(nothing)",
            )
            for found, proved in zip(self.explanations, self.proved, strict=True)
        )
        measure = self.explanations[0].measure
        head = ("size", measure, "likelihood", "same class at least", "proved", "known")
        return [Table(head, rows, left=(4, 5))]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw expectation and likelihood against the number of attributes.

        Proved points are filled. The scale of the likelihood, on the right, is logarithmic.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; those of a new figure of pyplot when not given.

        Returns
        -------
        matplotlib axes
            Those of the expectation.

        Raises
        ------
        EngineMissing
            When matplotlib is not installed; with the pip line.
        """
        ax = axes_or_new(ax, 5.5, 3.4)
        sizes = [len(found.features) for found in self]
        first = self.explanations[0]
        faces = [_EXPECTED if proved else "none" for proved in self.proved]
        expected = [found.expected for found in self]
        ax.plot(sizes, expected, color=_EXPECTED, linewidth=1.5, zorder=2)
        ax.scatter(sizes, expected, s=24, facecolors=faces, edgecolors=_EXPECTED, zorder=3)
        ax.axhline(first.of_x, color=_EXPECTED, linewidth=0.8, linestyle=":")
        ax.set_xlabel("known attributes")
        ax.set_ylabel(f"expected {first.measure} of {first.rule.says}", color=_EXPECTED)
        right = ax.twinx()
        right.plot(
            sizes,
            [math.exp(found.log_likelihood) for found in self],
            color=_LIKELY,
            linewidth=1.5,
            linestyle="--",
        )
        right.set_yscale("log")
        right.set_ylabel("their likelihood", color=_LIKELY)
        ax.spines["top"].set_visible(False)
        right.spines["top"].set_visible(False)
        return ax
