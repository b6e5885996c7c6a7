"""Rule sets selected from candidates: few rules with few errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from cpx.data.samples import Samples
from cpx.errors import InvalidInstance
from cpx.explanation import Explanation, SampleEvaluation
from cpx.models import saved, wording
from cpx.models.arguments import Share, feature_list, share
from cpx.models.base import Encoding, Problem, Statement, Values
from cpx.models.rulesets import arguments, sentences
from cpx.models.rulesets.encodings import channelling, hamming, signature
from cpx.models.rulesets.form import RuleSelection
from cpx.rule_sets import RuleFigures, RuleSet
from cpx.rules import Literal as Condition
from cpx.values import Value

__all__ = ["LIMITS", "Loss", "RuleSetSelection"]

Loss = Literal["zero-one", "hamming"]

LIMITS = ("max_rules", "max_literals", "max_overlap")
"""Parameters that limit a set; none when not given."""

_LARGEST = 2**62


def _stand_in(problem: Problem) -> Problem:
    """Return the problem with the Hamming loss, which its encoding states."""
    assert isinstance(problem, RuleSetSelection)
    return problem if problem.loss == "hamming" else replace(problem, loss="hamming")


@dataclass(frozen=True, eq=False)
class RuleSetSelection(Problem):
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
        Greatest number of rules, of literals in all of them, and weight of the samples that
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

    samples: Samples
    rules: tuple[tuple[int, ...], ...]
    penalty: Share = 0
    loss: Loss = "zero-one"
    max_rules: int | None = None
    max_literals: int | None = None
    max_overlap: int | None = None
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    class_weights: tuple[int, int] | None = None
    lengths: tuple[int, ...] | None = None
    name: str = ""

    kind: ClassVar[str] = "rule-set"
    features_are: ClassVar[str] = "Candidates r: literals"
    encodings: ClassVar[tuple[Encoding[RuleSelection], ...]] = (
        Encoding("signature", signature),
        Encoding("channelling", channelling),
        Encoding("hamming", hamming, faithful=False, stand_in=_stand_in),
    )

    def __post_init__(self) -> None:
        if not isinstance(self.samples, Samples):
            raise InvalidInstance(f"samples must be Samples, got {type(self.samples).__name__}")

        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("rules", arguments.rules(self.rules, self.samples.d))
        put("penalty", share("penalty", self.penalty))
        if self.loss not in get_args(Loss):
            raise InvalidInstance(
                f"loss must be one of {', '.join(get_args(Loss))}, got {self.loss!r}"
            )
        for name in LIMITS:
            if getattr(self, name) is not None:
                put(name, arguments.count(name, getattr(self, name)))
        for name in ("required", "forbidden"):
            put(name, feature_list(name, getattr(self, name), len(self.rules), "rule"))
        if self.class_weights is not None:
            put("class_weights", arguments.class_weights(self.class_weights))
        if self.lengths is not None:
            put("lengths", arguments.lengths(self.lengths, len(self.rules)))
        if not isinstance(self.name, str):
            raise InvalidInstance(f"name must be a string, got {self.name!r}")
        self._refuse_large()

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

    # ------------------------------------------------------------ arguments

    def _refuse_large(self) -> None:
        # The Hamming loss may count every sample once for each rule.
        times = len(self.rules) + 1
        if (self.scale * self.total + self.price) * times >= _LARGEST:
            raise InvalidInstance(
                f"penalty {self.penalty} of a weight of {self.total} is no multiple of a number "
                "that fits 64 bits: give it fewer digits"
            )

    # ---------------------------------------------------------- the problem

    @cached_property
    def error_weights(self) -> NDArray[np.int64]:
        """What an error on each sample weighs, shape (m,)."""
        if self.class_weights is None:
            return self.samples.weights
        other, own = self.class_weights
        return self.samples.weights * np.where(self.samples.same, own, other)

    @cached_property
    def total(self) -> int:
        """Weight M of all samples, with those of their classes."""
        return sum(map(int, self.error_weights))

    @property
    def scale(self) -> int:
        """The objective is counted in units of 1 / ``scale`` of the samples' weight."""
        return (Fraction(self.penalty) * self.total).denominator

    @property
    def price(self) -> int:
        """What a rule costs, in the units of the objective."""
        return (Fraction(self.penalty) * self.total).numerator

    @property
    def n_features(self) -> int:
        """Number R of candidates."""
        return len(self.rules)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The candidates in words."""
        names = self.samples.features
        return tuple(" and ".join(names[j] for j in rule) or "(always)" for rule in self.rules)

    @cached_property
    def covers(self) -> NDArray[np.bool_]:
        """Whether candidate r covers sample i, shape (R, m)."""
        literals = np.ascontiguousarray(self.samples.agreement.T)
        return np.array([literals[list(rule)].all(axis=0) for rule in self.rules])

    @cached_property
    def rule_lengths(self) -> NDArray[np.int64]:
        """Literals each candidate counts as, shape (R,)."""
        given = self.lengths or tuple(map(len, self.rules))
        return np.array(given, dtype=np.int64)

    @cached_property
    def form(self) -> RuleSelection:
        """The problem as plain arrays."""
        same, weights = self.samples.same, self.scale * self.error_weights
        prices = np.full(self.n_features, self.price, dtype=np.int64)
        worth = np.where(same, weights, -weights)
        if self.loss == "hamming":
            prices += self.covers @ np.where(same, 0, weights)
            worth = np.where(same, weights, 0)
        return RuleSelection(
            self.covers,
            worth,
            prices,
            0,
            self.required,
            self.forbidden,
            self.rule_lengths,
            self.samples.weights,
            self.max_rules,
            self.max_literals,
            self.max_overlap,
        )

    def search_form(self) -> RuleSelection:
        """Return the problem as plain arrays."""
        return self.form

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding (default: ``signature``)."""
        chosen = self.stated_in(encoding)
        stated = chosen.stand_in(self) if chosen.stand_in else self
        assert isinstance(stated, RuleSetSelection)
        statement: Statement = chosen.build(stated.form)
        return statement

    def stated_in(self, name: str | None = None) -> Encoding[Any]:
        """Return the encoding; that of the Hamming loss is faithful to it."""
        encoding = self.encoding(name)
        if encoding.stand_in is not None and self.loss == "hamming":
            return replace(encoding, faithful=True, stand_in=None)
        return encoding

    def decode(self, values: Values) -> Explanation:
        """Read the selected rules off the array ``X``."""
        return self.explanation(np.flatnonzero(np.asarray(values["X"]) > 0).tolist())

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the set of these candidates, each with its figures on the samples."""
        chosen = tuple(sorted(set(features)))
        found = self._measure(chosen)
        words = [Condition(r, self.feature_names[r]) for r in chosen]
        rules = RuleSet(
            tuple(words),
            wording.class_words(str(self.samples.context.get("class", "the class"))),
            figures=self._figures(chosen),
            total=self.samples.total,
        )
        return Explanation(rules, precision=found.precision, coverage=found.coverage)

    def _figures(self, chosen: tuple[int, ...]) -> tuple[RuleFigures, ...]:
        weights, same = self.samples.weights, self.samples.same
        alone = self.form.times_covered(chosen) == 1
        figures = []
        for r in chosen:
            own = self.covers[r]
            signed = np.where(same, self.error_weights, -self.error_weights)
            figures.append(
                RuleFigures(
                    int(self.rule_lengths[r]),
                    int(weights[own].sum()),
                    int(weights[own & same].sum()),
                    int(signed[own & alone].sum()),
                )
            )
        return tuple(figures)

    def evaluate(self, explanation: Explanation) -> SampleEvaluation:
        """Return the exact figures of a set; see :class:`SampleEvaluation`."""
        return self._measure(explanation.features)

    def _measure(self, chosen: tuple[int, ...]) -> SampleEvaluation:
        samples = self.samples
        covered = self.form.times_covered(chosen) > 0
        return SampleEvaluation(
            objective=self.form.cost(chosen),
            covered=int(samples.weights[covered].sum()),
            agreeing_covered=int(samples.weights[covered & samples.same].sum()),
            agreeing=samples.agreeing,
            total=samples.total,
            feasible=self.form.allows(chosen),
        )

    def error(self, chosen: Iterable[int]) -> int:
        """Return the weight of the errors of a set, by the loss."""
        rules = list(chosen)
        return (self.form.cost(rules) - self.price * len(rules)) // self.scale

    def shortened(self, explanation: Explanation) -> Explanation:
        """Drop rules, the last first, whose removal leaves the objective as it is."""
        kept = explanation.features
        value = self.form.cost(kept)
        for rule in reversed(kept):
            rest = tuple(r for r in kept if r != rule)
            if self.form.allows(rest) and self.form.cost(rest) == value:
                kept = rest
        return explanation if kept == explanation.features else self.explanation(kept)

    # ------------------------------------------------------------ sentences

    def conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with the sentence that says what was proved of it."""
        told = sentences.conclusion(self, explanation.features, proved, bound)
        return replace(explanation, proved=told)

    def brief(self) -> list[str]:
        """Return samples, candidates, the price of a rule and limits."""
        return sentences.brief(self)

    def facts(self) -> dict[str, str]:
        """Return samples, candidates, objective and limits."""
        return sentences.facts(self)

    def notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        return sentences.warnings(self)

    # -------------------------------------------------------------- its file

    def to_dict(self) -> dict[str, Any]:
        """Return the saved form, version 1."""
        parameters: dict[str, Any] = {"penalty": str(self.penalty)}
        if self.loss != "zero-one":
            parameters["loss"] = self.loss
        for key in LIMITS:
            if getattr(self, key) is not None:
                parameters[key] = getattr(self, key)
        for key in ("required", "forbidden", "class_weights", "lengths"):
            if value := getattr(self, key):
                parameters[key] = list(value)
        parameters["rules"] = [list(rule) for rule in self.rules]
        return saved.with_samples(self.kind, self.name, parameters, self.samples)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the saved form; unknown keys and parameters are refused by name."""
        known = ("penalty", "loss", "required", "forbidden", "class_weights", "lengths", "rules")
        return cls(**saved.read(data, frozenset((*known, *LIMITS)), needed="rules"))
