"""Expected predictions in words: what was proved, what is likely, what is degenerate."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.claim import Claim, Words, competing, exact
from cpx.answers.explanation import Explanation
from cpx.answers.values import Value, class_words, listed, plural
from cpx.data.coding import Coding
from cpx.data.condition import ColumnCondition, Equals, GroupValues
from cpx.data.fitted.distribution import StateDistribution
from cpx.modelling.base import Problem
from cpx.modelling.claims import claimed
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.exact_scores import ExactScores
from cpx.models.expected_prediction.leaves import LeafForm, Predicted
from cpx.models.expected_prediction.parameters import Number
from cpx.support.shares import at_most, significant
from cpx.support.validation import Share
from cpx.trees.form import Label, TreeModel
from cpx.trees.tree import MISSING

MADE_FROM_DATA = ("naive-bayes", "conformant", "fitted")
"""Names of distributions that do not say which structure comes of them."""

MEASURES = {"sum": "score", "average": "probability", "vote": "share of votes"}
SAME_CLASS = "same-decision probability"
"""What the expectation of the decision is."""
SHARES = ("probability", "share of votes", SAME_CLASS)
"""What the score of a class is, by the rule of the model."""

_DIGITS = 1000


def rounded_down(share: Fraction) -> float:
    """Return a share in thousandths, never more than it is.

    >>> rounded_down(Fraction(2, 3)), rounded_down(Fraction(1))
    (0.666, 1.0)
    """
    return math.floor(share * _DIGITS) / _DIGITS


def measure_of(model: TreeModel, prediction: Predicted = "score") -> str:
    """Say what the score of a class is: an average is a probability where its leaves are."""
    if prediction != "score":
        return SAME_CLASS if prediction == "decision" else "probability"
    if model.rule == "average":
        parts = [model.base, *(tree.values for tree in model.trees)]
        if not all(((values >= 0) & (values <= 1)).all() for values in map(np.asarray, parts)):
            return "average"
    return MEASURES[model.rule]


def words(claim: Claim, found: ExpectedExplanation) -> Words:
    """Return what is said of known values: what was proved, what is likely, how it is counted."""
    fewest, over, figures = claim.problem == "fewest-expected", claim.over, claim.figures
    told = fewest_words(claim, found) if fewest else _greatest_words(claim, found)
    if told and claim.optimal and claim.best_of_ties:
        told += "; of these sets no other one is more likely"
    unit = exact(over, "unit")
    rounding = "their sum is rounded"
    if figures["factorised"]:
        rounding = "each leaf is rounded " + ("down" if fewest else "to the nearest")
        if fewest and figures["within"]:
            lost = at_most(figures["within"] * unit, 1)
            rounding += f", and what lacks {lost} or less counts as reached"
    note = f"scores are counted in units of {float(unit):.3g}: {rounding}"
    notes = [note, *_missing_words(figures["missing"])]
    if "min_probability" in over and figures["structure"] == "factorised":
        notes.append("likelihoods are held against the least one in steps of 2**-20 bit")
    return Words(told, likely_words(claim, found), (*_against_words(figures), *notes))


def sampled_words(claim: Claim, found: ExpectedExplanation) -> Words:
    """Return what is said of known values by which enough rows that are drawn keep their class."""
    over, figures, size = claim.over, claim.figures, plural(len(found.features), "attribute")
    told = f"{size}: {_drawn_words(figures, found)}"
    if figures["minimum"]:
        rival, likeliest = competing(over, "set"), ""
        if claim.optimal:
            likeliest = "; no set of this size that does covers more"
        enough = enough_words(over, _mean_of(found) if figures["soft"] else "")
        told += f"; minimum on these rows: no smaller {rival} {enough}{likeliest}"
    else:
        told += "; not proved minimum"
    notes = _missing_words(figures["missing"])
    return Words(told, likely_words(claim, found), notes)


def greatest_sampled_words(claim: Claim, found: ExpectedExplanation) -> Words:
    """Return what is said of known values by which most rows that are drawn keep their class."""
    over, figures = claim.over, claim.figures
    told = _drawn_words(figures, found)
    size, enough = plural(over["k"], "attribute"), f"covers at least {over['least']} of them"
    greater = f"no {competing(over, f'set of at most {size}', after=[enough])} has more"
    if claim.optimal:
        told += f"; greatest on these rows: {greater}"
    elif claim.bound is not None:
        told += f"; not proved greatest: {greater} than {at_most(exact(vars(claim), 'bound'), 6)}"
    else:
        told += ", without a bound"
    notes = (*_against_words(figures), *_missing_words(figures["missing"]))
    return Words(told, likely_words(claim, found), notes)


def _drawn_words(figures: Mapping[str, Any], found: ExpectedExplanation) -> str:
    """Say how many of the rows drawn have the values, and what is known of these."""
    what = "keep the class in the share"
    if figures["soft"]:
        what = f"have the mean {_mean_of(found)}"
    have = f"{figures['have']} of {figures['drawn']} rows drawn have these values"
    return f"{have}, and {what} {significant(figures['share'], 6)}"


def _mean_of(found: ExpectedExplanation) -> str:
    """Return what is measured at the mean of the rows drawn: of log-odds, what follows."""
    return "probability" if found.measure == "score" else found.measure


def enough_words(over: Mapping[str, Any], mean: str) -> str:
    """Say what a set must do on the rows that are drawn.

    mean: Of what the mean counts; empty where the share of the class does.
    """
    share = Number().words(exact(over, "threshold"))
    what = f"has a mean {mean}" if mean else "keeps the class in a share"
    return f"covers at least {over['least']} of them and {what} of at least {share}"


def reached_words(over: Mapping[str, Any], measure: str) -> str:
    """Say what known values must reach; the measure is what a score is."""
    bounded = over["measure"] == "probability-bound"
    expected = f"a {measure}" if measure == SAME_CLASS else f"an expected {measure}"
    what = "a probability bound" if bounded else expected
    return f"{what} of at least {Number().words(exact(over, 'threshold'))}"


def fewest_words(claim: Claim, found: ExpectedExplanation) -> str:
    """Say whether fewer attributes are enough."""
    if claim.optimal is None:
        return ""
    told = plural(len(found.features), "attribute")
    rival = competing(claim.over, f"set with {reached_words(claim.over, found.measure)}")
    if claim.optimal:
        return f"{told}, minimum: no {rival} is smaller"
    if claim.bound is None:
        return f"{told}, without a bound"
    return f"{told}, not proved minimum: every {rival} has at least {claim.bound}"


def _greatest_words(claim: Claim, found: ExpectedExplanation) -> str:
    """Say whether any set has a greater expectation."""
    over, bound = claim.over, claim.bound
    if claim.optimal is None:
        return ""
    unit, most = exact(over, "unit"), plural(over["k"], "attribute")
    what = found.measure if found.measure == SAME_CLASS else f"expected {found.measure}"
    told = f"{what} {significant(found.expected, 6)} of {found.rule.says}"
    after = [likelihood_words(exact(over, "min_probability"))] if "min_probability" in over else []
    rival = competing(over, f"set of at most {most}", after=[f"has {told}" for told in after])
    if claim.optimal:
        within = at_most(claim.figures["within"] * unit, 1)
        return f"{told}, greatest within {within}: no {rival} has more"
    if bound is None:
        return f"{told}, without a bound"
    greatest = bound * unit
    if found.measure in SHARES:
        greatest = min(greatest, Fraction(1))  # beyond it by the rounding of units
    return f"{told}, not proved greatest: no {rival} has more than {at_most(greatest, 6)}"


def likelihood_words(least: Share) -> str:
    """Say how likely the values must be.

    >>> likelihood_words("1/8")
    'a likelihood of at least 0.125'
    """
    return f"a likelihood of at least {Number().words(Fraction(least))}"


def likely_words(claim: Claim, found: ExpectedExplanation) -> str:
    """Say how many rows with the known values get the class at least, if that is known."""
    if not found.bound:
        return ""
    values = "these values" if found.features else "all values"
    return (
        f"of the rows with {values} at least the share {found.bound:g} gets "
        f"{found.rule.says}, under the {claim.figures['structure']} distribution"
    )


def _against_words(figures: Mapping[str, Any]) -> tuple[str, ...]:
    against = figures.get("against")
    told = f"the score is that of the class less that of {against}, the runner-up"
    return (told,) if against else ()


def _missing_words(missing: str | list[str]) -> tuple[str, ...]:
    """Say which values rows may lack, where the model takes any row that lacks one."""
    if missing == "refused":
        return ()
    if not missing:
        return ("missing values: none; rows that lack a value are left out",)
    return (f"missing values: of {listed([*missing])} only, as often as the distribution says",)


class ExpectationText(Problem):
    """What a problem of expected predictions says of itself and of its answers."""

    tree_model: TreeModel
    coding: Coding
    distribution: StateDistribution
    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    prediction: Predicted
    label: Label | None
    context: Mapping[str, Any]
    unit: Share | None

    _features_are: ClassVar[str] = "Attributes: what is known of x"

    @property
    @abstractmethod
    def leaves(self) -> LeafForm:
        """The leaves of the model, signed for the class of x."""

    @property
    @abstractmethod
    def scores(self) -> ExactScores:
        """Exact expected scores and probabilities of sets of attributes."""

    @property
    @abstractmethod
    def codes(self) -> NDArray[np.int32]:
        """The states of x, shape (A,)."""

    @property
    @abstractmethod
    def rival_index(self) -> int | None:
        """Index of the class whose score is compared with, where there are several."""

    @property
    @abstractmethod
    def by_leaf(self) -> bool:
        """Whether scores are rounded leaf by leaf."""

    @property
    def measured(self) -> str:
        """What the score of the class is."""
        return measure_of(self.tree_model, self.prediction)

    # ------------------------------------------------------------------ what was found

    def figures(self, explanation: Explanation) -> ExpectedExplanation:
        """Return the explanation with its figures, each correctly rounded from its exact value."""
        S, scores = explanation.features, self.scores
        probability = scores.probability(S)
        likely = math.log(probability.numerator) - math.log(probability.denominator)
        return ExpectedExplanation(
            explanation.rule,
            fresh=explanation.fresh,
            measure=self.measured,
            expected=float(scores.expected(S)),
            of_x=float(scores.greatest(range(len(self.codes)))),
            of_nothing=float(scores.expected(())),
            log_likelihood=likely,
            threshold=float(self.leaves.threshold),
            greatest=float(scores.greatest(S)),
            bound=rounded_down(scores.bound(S)),
        )

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with its figures, and with what is claimed of it."""
        figures: dict[str, Any] = {
            "structure": self.distribution.structure,
            "factorised": self.by_leaf,
            "missing": self._may_be_missing(),
            "within": self.within,
        }
        if self.rival_index is not None:
            figures["against"] = str(self.tree_model.classes[self.rival_index])
        return claimed(self, self.figures(explanation), proved, objective, bound, **figures)

    @property
    @abstractmethod
    def within(self) -> int:
        """By how many units rounding may deceive about what is claimed."""

    def _may_be_missing(self) -> str | list[str]:
        """Return which columns may lack a value; ``"refused"`` where no test takes that."""
        model, coding = self.tree_model, self.coding
        if all(model.refuses_missing(c) for c in model.used):
            return "refused"
        return [
            coding.column_names[c]
            for a, columns in enumerate(coding.columns)
            for i, c in enumerate(columns)
            if (coding.states[a][:, i] == MISSING).any()
        ]

    def in_units(self, value: Value) -> str:
        """Return so many units as a score, rounded up."""
        return at_most(value * Fraction(self.unit or 0), 6)

    # ------------------------------------------------------------------ the instance

    def _brief(self) -> list[str]:
        """Return sizes of the model, and the distribution."""
        trees = plural(len(self.tree_model.trees), "tree")
        return [trees, plural(len(self.codes), "attribute"), self._under]

    @property
    def _under(self) -> str:
        """The distribution: its structure, and the name by which it was asked for."""
        asked, structure = self.context.get("distribution"), self.distribution.structure
        return f"{asked} ({structure})" if asked in MADE_FROM_DATA else structure

    def _facts(self) -> dict[str, str]:
        """Return the model, the class, the distribution and the parameters."""
        model, mixture = self.tree_model, self.distribution
        kinds = f"{len(model.trees)} trees, {len(model.classes)} classes, rule {model.rule}"
        parts = plural(mixture.n_components, "component")
        own = float(self.scores.greatest(range(len(self.codes))))
        facts = {
            "model": f"{kinds}, {len(self.leaves.values)} leaves",
            "class": f"{self.label}, {self.measured} {significant(own)}",
            "attributes": f"{len(self.codes)}, {len(self.leaves.used)} tested",
            "distribution": f"{self._under}, {parts}",
            "unit": f"{self.unit}",
        }
        if self.prediction != "score":
            facts["expected"] = f"the {self.prediction} of a row"
        for which in ("required", "forbidden"):
            if chosen := getattr(self, which):
                facts[which] = "{" + ", ".join(map(str, chosen)) + "}"
        return facts

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        found, names = list[str](), self.coding.names
        if both := sorted({*self.required} & {*self.forbidden}):
            found.append(f"required and forbidden contradict: attributes {both} are in both")
        if not self.leaves.used and self.prediction != "posterior":
            found.append("the model tests nothing: every row has the same score")
        idle = [names[a] for a in self.required if a not in self.leaves.used]
        if idle and self.leaves.used and self.distribution.factorised:
            found.append(f"required and never tested by the model: {listed(idle)}")
        constant = [n for n, K in zip(names, self.distribution.cardinalities) if K == 1]
        if constant:
            found.append(f"attributes of one state, which tell nothing: {listed(constant)}")
        own = self.scores.greatest(range(len(self.codes)))
        if self.rival_index is not None:
            found.append(
                "the score is that against the runner-up alone: no expectation bounds the "
                f"probability of {class_words(str(self.label))}"
            )
        elif own <= self.leaves.threshold:
            found.append(
                f"the {self.measured} of x is not above {float(self.leaves.threshold):g}: no "
                f"expectation bounds the probability of {class_words(str(self.label))}"
            )
        return tuple(found)


def state_conditions(
    model: TreeModel, coding: Coding, x: tuple[float, ...], codes: NDArray[np.int32]
) -> tuple[ColumnCondition, ...]:
    """Return for each attribute what is known when the state of x is known.

    A column is said to be between the cuts around its value; to have its value where it is the
    only one listed there, or where nothing is cut. A group of columns is said to have its values.

    coding: Of the columns of the model.
    codes: The states of x.

    >>> from cpx.data.coding import Coding
    >>> from cpx.trees import Attribute, Tree, TreeModel
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> attributes = [Attribute(name) for name in ("size", "hue_red", "hue_blue")]
    >>> model = TreeModel(attributes, [0, 1], [stump], [[2.5], [], []], "sum", "positive", [0])
    >>> rows = np.array([[1.0, 0, 1], [3.0, 1, 0]])
    >>> coding = Coding.fit(rows, names=[a.name for a in attributes], cuts=model.thresholds,
    ...                     groups={"hue": ["hue_red", "hue_blue"]}, max_states=2)
    >>> known = state_conditions(model, coding, (3.0, 1.0, 0.0), coding.codes(rows[1])[0])
    >>> [str(condition) for condition in known]
    ['size > 2.5', 'hue = red']
    """
    found: list[ColumnCondition] = []
    for a, columns in enumerate(coding.columns):
        if len(columns) > 1:
            found.append(group_values(coding, a, x))
            continue
        (c,) = columns
        cell = int(coding.states[a][codes[a], 0])
        found.append(model.between(c, cell, cell, x[c], coding.cuts[c]))
    return tuple(found)


def group_values(coding: Coding, a: int, x: Sequence[float]) -> Equals | GroupValues:
    """Return what a row has in an attribute of several columns."""
    columns = coding.columns[a]
    if any(math.isnan(x[c]) for c in columns):
        return Equals(coding.names[a], None)
    values = tuple((coding.column_names[c], float(x[c])) for c in columns)
    return GroupValues(coding.names[a], values)
