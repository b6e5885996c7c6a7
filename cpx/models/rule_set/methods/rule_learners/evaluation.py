"""Evaluation of rule sets from any source: errors, Hamming loss and price on the same samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.support.shares import share_text

if TYPE_CHECKING:
    from cpx.answers.evaluation import SampleEvaluation
    from cpx.answers.explanation import Explanation
    from cpx.models.rule_set.selection import Loss, RuleSetSelection
    from cpx.support.validation import Share


@dataclass(frozen=True, eq=False)
class FoundRules:
    """Rules that a method found, measured on the samples.

    Attributes
    ----------
    method : str
    rules : tuple of tuples of int
        The literals of each.
    problem : RuleSetSelection
        Its candidates are the rules.
    seconds : float
        Processor time of the method.
    proved : bool
        The method proved that it has what it asks for; most ask for something else than
        the objective here.
    versions : mapping
        Of the packages that were asked.
    """

    method: str
    rules: tuple[tuple[int, ...], ...]
    problem: RuleSetSelection
    seconds: float = 0.0
    proved: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        method: str,
        literals: Literals,
        same: Any,
        rules: Iterable[Iterable[int]],
        penalty: Share,
        **about: Any,
    ) -> FoundRules:
        """Measure rules; equal ones count once.

        Parameters
        ----------
        method : str
            What the table calls it.
        literals : Literals
        same : array of bool, shape (m,)
            Which samples are of the class.
        rules : iterable of iterables of int
            As literals.
        penalty : Fraction, int, float or str
            Price of a rule as a share of the samples, as in :class:`cpx.RuleSetSelection`.
        **about
            ``seconds``, ``proved``, ``versions``.

        Examples
        --------
        >>> import numpy as np
        >>> features = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
        >>> literals = Literals(features, ("a", "not a", "b", "not b"))
        >>> found = FoundRules.of("by hand", literals, [1, 1, 1, 0], [(0,), (2,)], "1/8")
        >>> print(found.explanation)
        a or b => the class
        >>> found.errors, found.objective, found.hamming
        (0, Fraction(1, 1), Fraction(1, 1))
        """
        chosen = tuple(dict.fromkeys(tuple(sorted(set(rule))) for rule in rules))
        # A selection has candidates, be it one that is not selected.
        problem = literals.problem(chosen or ((),), same, penalty=penalty)
        return cls(method, chosen, problem, **about)

    @cached_property
    def explanation(self) -> Explanation:
        """The rules in words, each with its figures."""
        return self.problem.explanation(range(len(self.rules)))

    @property
    def measured(self) -> SampleEvaluation:
        """Covered samples, precision and coverage."""
        return self.problem.evaluate(self.explanation)

    @property
    def errors(self) -> int:
        """Samples that the set puts into the wrong class."""
        return self.problem.error(range(len(self.rules)))

    @property
    def literals(self) -> int:
        """Conditions of all rules together."""
        return sum(map(len, self.rules))

    @property
    def objective(self) -> Fraction:
        """Errors plus the price of the rules."""
        return self._cost("zero-one")

    @property
    def hamming(self) -> Fraction:
        """The Hamming loss of Dash et al. (NeurIPS 2018) plus the price of the rules."""
        return self._cost("hamming")

    def _cost(self, loss: Loss) -> Fraction:
        problem = replace(self.problem, loss=loss)
        return Fraction(problem.selection_form.cost(tuple(range(len(self.rules)))), problem.scale)


def comparison(found: Sequence[FoundRules]) -> str:
    """Return a table with a line for each set of rules.

    Parameters
    ----------
    found : sequence of FoundRules
        On the same samples.

    Examples
    --------
    >>> import numpy as np
    >>> features = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    >>> literals = Literals(features, ("a", "not a", "b", "not b"))
    >>> print(comparison([FoundRules.of("by hand", literals, [1, 1, 1, 0], [(0,)], "1/8")]))
    method   rules  literals  errors  objective  Hamming  precision  coverage  cpu s
    by hand      1         1       1        1.5      1.5      1.000     0.500   0.00
    """
    head = ["method", "rules", "literals", "errors", "objective", "Hamming"]
    rows = [[*head, "precision", "coverage", "cpu s"]]
    for one in found:
        figures = one.measured
        precision = figures.precision
        rows.append(
            [
                one.method,
                str(len(one.rules)),
                str(one.literals),
                str(one.errors),
                f"{float(one.objective):.6g}",
                f"{float(one.hamming):.6g}",
                "none" if precision is None else share_text(precision),
                share_text(figures.coverage),
                f"{one.seconds:.2f}",
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )
