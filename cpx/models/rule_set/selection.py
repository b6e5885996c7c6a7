"""Rule sets selected from candidates: few rules with few errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.data.bits import by_column
from cpx.data.samples import Samples
from cpx.modelling.parameters import NAME, Indices, Integer, ShareOf, parameter
from cpx.modelling.saved import SAMPLES
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.side_constraints.vocabulary import Vocabulary
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.problem import (
    CLASS_WEIGHTS,
    LOSS,
    PRICE,
    Candidates,
    Lengths,
    Loss,
    RuleSetProblem,
)
from cpx.models.rule_set.text import SelectionText
from cpx.support.validation import Share

__all__ = ["Loss", "RuleSetSelection"]


@dataclass(frozen=True, eq=False)
class RuleSetSelection(SelectionText, RuleSetProblem):
    """Select rules from candidates: few errors, and few rules.

    A rule is a conjunction of literals and covers the samples that satisfy all of them. A set
    of rules S says "of the class" of the samples that one of its rules covers or more, and "of
    another class" of all others. With M the weight of all samples, minimise::

        error(S)  +  penalty * M * |S|

    where error(S) is the weight of the samples that S is wrong about. For candidates and
    labels of a black box this is fidelity with a price on rules, the quality of Lu and
    Ester [2]_. The objective is an integer: it is counted in units of 1 / :attr:`scale`, with
    the smallest ``scale`` for which the price of a rule is an integer.

    Parameters
    ----------
    samples : Samples
        ``agreement`` says which literals are true of a sample, ``same`` which samples are of
        the class; literals in words are ``features``.
    rules : sequence of sequences of int
        The candidates, as sets of literals. One without literals covers everything.
    penalty : Fraction, int, float or str
        Price of a rule as a share of M, from 0 to 1; exact, a float means the decimal number
        it is printed as.
    loss : {"zero-one", "hamming"}
        What error(S) counts. With ``"hamming"``, every rule pays for each sample of another
        class that it covers [1]_: an upper bound of the zero-one loss, a problem of its own.
    max_rules, max_literals, max_overlap : int, optional
        Maximum number of rules, of literals in all of them, and weight of the samples that
        two rules or more cover.
    required, forbidden : sequence of int
        Candidates that must, and must not, be selected. A contradiction between them, or with
        a limit, makes a valid problem without a solution.
    class_weights : pair of int, optional
        What an error on a sample of another class, and on one of the class, weighs: the
        weights of samples are multiplied by it, also in M.
    lengths : sequence of int, optional
        Literals each candidate counts as. Default: as many as it has.
    name : str
        Name of the instance, free.

    Raises
    ------
    InvalidInstance
        Naming the argument and its value.

    References
    ----------
    .. [1] S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS
       2018 (the Hamming loss of a set of rules).
    .. [2] J. Lu, M. Ester: An Active Approach for Model Interpretation, 2019 (the objective Q).

    Examples
    --------
    >>> from cpx import RuleSetSelection, Samples, solve
    >>> samples = Samples([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [1, 0, 1, 0],
    ...                   features=("a", "b", "c"))
    >>> problem = RuleSetSelection(samples, rules=[(0,), (0, 1), (2,)], penalty="1/10")
    >>> print(solve(problem).explanation)
    (a and b) or c => the class
    """

    samples: Samples = field(metadata=SAMPLES)
    rules: tuple[tuple[int, ...], ...] = field(
        metadata=parameter(
            Candidates(),
            "the candidates, each by its features, which are the literals",
            place=1,
        )
    )
    penalty: Share = field(default=0, metadata=parameter(ShareOf(), PRICE))
    loss: Loss = field(default="zero-one", metadata=LOSS)
    max_rules: int | None = field(
        default=None, metadata=parameter(Integer(0, optional=True), "maximum number of rules")
    )
    max_literals: int | None = field(
        default=None,
        metadata=parameter(Integer(0, optional=True), "maximum number of literals of all rules"),
    )
    max_overlap: int | None = field(
        default=None,
        metadata=parameter(
            Integer(0, optional=True), "maximum weight covered by two rules or more"
        ),
    )
    required: tuple[int, ...] = field(
        default=(), metadata=parameter(Indices("rule"), "rules that must be selected")
    )
    forbidden: tuple[int, ...] = field(
        default=(), metadata=parameter(Indices("rule"), "rules that must not be selected")
    )
    class_weights: tuple[int, int] | None = field(default=None, metadata=CLASS_WEIGHTS)
    lengths: tuple[int, ...] | None = field(
        default=None,
        metadata=parameter(Lengths(), "literals each rule counts as; absent: as many as it has"),
    )
    name: str = field(default="", metadata=NAME)
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )

    kind: ClassVar[str] = "rule-set"
    _features_are: ClassVar[str] = "Candidates r: literals"

    def _validate(self) -> None:
        """Refuse values that do not fit 64 bits."""
        super()._validate()
        self._refuse_large(len(self.rules))

    @classmethod
    def of_coverage(
        cls, covers: Any, same: Any, *, texts: Sequence[str], **more: Any
    ) -> RuleSetSelection:
        """State the problem of candidates that are known by what they cover.

        Parameters
        ----------
        covers : array of bool, shape (R, m)
            Whether candidate r covers sample i.
        same : array of bool, shape (m,)
            Which samples are of the class.
        texts : sequence of R str
            The candidates in words.
        **more
            ``weights`` and ``context`` of the samples, and parameters of the class.

        Examples
        --------
        >>> problem = RuleSetSelection.of_coverage([[1, 0, 1]], [1, 0, 1], texts=["a"])
        >>> problem.evaluate(problem.explanation([0])).objective
        0
        """
        about = {key: more.pop(key) for key in ("weights", "context") if key in more}
        samples = Samples(np.asarray(covers).T, same, features=tuple(texts), **about)
        return cls(samples, tuple((r,) for r in range(samples.d)), **more)

    # ---------------------------------------------------------------- rules

    @property
    def n_features(self) -> int:
        """Number R of candidates."""
        return len(self.rules)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The candidates in words."""
        return tuple(map(self.in_words, self.rules))

    def _vocabulary(self, untrue: Iterable[str] = ()) -> Vocabulary:
        """Return what names stand for: a candidate, or those that have a literal or column."""
        names = ((name, (r,)) for r, name in enumerate(self.feature_names))
        parts = (
            (self.samples.features[j], (r,)) for r, rule in enumerate(self.rules) for j in rule
        )
        return Vocabulary(names, parts, untrue=untrue, what="rule or literal")

    @cached_property
    def covers(self) -> NDArray[np.bool_]:
        """Whether candidate r covers sample i, shape (R, m)."""
        used = sorted({j for rule in self.rules for j in rule})
        place = {j: row for row, j in enumerate(used)}
        literals = by_column(self.samples.agreement[:, used])
        return np.array([literals[[place[j] for j in rule]].all(axis=0) for rule in self.rules])

    @cached_property
    def rule_lengths(self) -> NDArray[np.int64]:
        """Literals each candidate counts as, shape (R,)."""
        given = self.lengths or tuple(map(len, self.rules))
        return np.array(given, dtype=np.int64)

    @cached_property
    def selection_form(self) -> RuleSelection:
        """The problem as plain arrays."""
        same, weights = self.samples.same, self.scale * self.error_weights
        prices = np.full(self.n_features, self.price, dtype=np.int64)
        signed = np.where(same, weights, -weights)
        if self.loss == "hamming":
            prices += self.covers @ np.where(same, 0, weights)
            signed = np.where(same, weights, 0)
        return RuleSelection(
            self.covers,
            signed,
            prices,
            0,
            self.required,
            self.forbidden,
            self.rule_lengths,
            self.samples.weights,
            _capped(self.max_rules, self.n_features),
            _capped(self.max_literals, int(self.rule_lengths.sum())),
            _capped(self.max_overlap, self.samples.total),
            self.side_constraints,
        )

    def cover(self, rule: int) -> NDArray[np.bool_]:
        """Return which samples a candidate covers, shape (m,)."""
        return np.asarray(self.covers[rule])

    def length(self, rule: int) -> int:
        """Return the number of literals that a candidate counts as."""
        return int(self.rule_lengths[rule])

    def literals(self, rule: int) -> tuple[int, ...]:
        """Return the literals of a candidate, increasing."""
        return self.rules[rule]

    def allows(self, chosen: Iterable[int]) -> bool:
        """Say whether a set keeps the limits and has what it must, and nothing it must not."""
        return self.selection_form.allows(chosen)

    def with_loss(self, loss: Loss) -> RuleSetSelection:
        """Return the same problem with another loss."""
        return replace(self, loss=loss)


def _capped(limit: int | None, most: int) -> int | None:
    """Return a limit as one that says the same and fits a machine word."""
    return None if limit is None else min(limit, most)
