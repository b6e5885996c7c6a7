"""What was chosen for the rules of a classifier and all that was validated, with a plot."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cpx.answers.values import plural
from cpx.support.shares import share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Choice", "Validated"]


@dataclass(frozen=True)
class Validated:
    """How rules of one price, length and class did on rows that they were not learned from.

    Attributes
    ----------
    positive : label
        Class that the rules describe.
    penalty : Fraction
        Price of a rule, as a share of the rows.
    k : int
        Most conditions of a rule.
    rules : float
        Number of rules, in the mean of the folds.
    accuracy : float
        Share of the rows held out that get the right class; with ``class_weights``, of what an
        error on them would weigh.
    error : float
        Standard error of the accuracy, over the rows held out.
    self_confidence : bool
        Whether rows weighed by their self-confidence when the rules were learned.
    """

    positive: Any
    penalty: Fraction
    k: int
    rules: float
    accuracy: float
    error: float
    self_confidence: bool = False

    @property
    def asked(self) -> tuple[Any, Fraction, int, bool]:
        """What was validated, without what was found."""
        return self.positive, self.penalty, self.k, self.self_confidence


@dataclass(frozen=True)
class Choice:
    """What was chosen, and all that was validated.

    Attributes
    ----------
    positive : label
    penalty : Fraction
    k : int
    validated : tuple of Validated
        The highest price first; empty where nothing could be validated and the penalty is 0.01.
    self_confidence : bool
        Whether errors on rows weigh by their self-confidence.
    finished : bool
        Whether all was validated that had to be: the time was enough.
    """

    positive: Any
    penalty: Fraction
    k: int
    validated: tuple[Validated, ...]
    self_confidence: bool = False
    finished: bool = True

    @property
    def chosen(self) -> Validated | None:
        """What was validated of what is chosen."""
        wanted = self.positive, self.penalty, self.k, self.self_confidence
        return next((one for one in self.validated if one.asked == wanted), None)

    def __str__(self) -> str:
        share, one = f"{float(self.penalty):g}", self.chosen
        if one is None:
            why = "too few rows" if self.finished else "no time"
            return f"{share}, not chosen: {why} to hold some out"
        return (
            f"{share} and at most {plural(self.k, 'condition')}, chosen: accuracy "
            f"{share_text(one.accuracy)} on rows held out"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw accuracy on rows held out against the number of rules.

        There is a line for each k, and for each class where it was chosen; dashed ones are of
        rows that all weigh the same, where others weigh by their self-confidence.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; those of a new figure of pyplot when not given.

        Returns
        -------
        matplotlib axes
        """
        from cpx.answers.axes import require_matplotlib

        require_matplotlib()
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
        lines: dict[tuple[Any, int], dict[bool, list[Validated]]] = {}
        for one in sorted(self.validated, key=lambda one: (one.k, one.rules)):
            families = lines.setdefault((one.positive, one.k), {True: [], False: []})
            families[one.self_confidence].append(one)
        several = len({positive for positive, _ in lines}) > 1
        both = len({one.self_confidence for one in self.validated}) > 1
        for color, ((positive, k), families) in enumerate(lines.items()):
            for confident, mine in families.items():
                told = f"at most {plural(k, 'condition')}" + several * f", for {positive}"
                dashed = both and not confident
                ax.errorbar(
                    [one.rules for one in mine],
                    [one.accuracy for one in mine],
                    [one.error for one in mine],
                    marker="o",
                    color=f"C{color}",
                    linestyle="--" if dashed else "-",
                    capsize=3,
                    label="_" if dashed and families[True] else told,
                )
        if (chosen := self.chosen) is not None:
            ax.plot(
                chosen.rules, chosen.accuracy, "o", ms=14, mfc="none", mec="black", label="chosen"
            )
        ax.set_xlabel("rules")
        ax.set_ylabel("accuracy on rows held out")
        ax.legend()
        return ax
