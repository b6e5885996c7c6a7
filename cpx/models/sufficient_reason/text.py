"""Sufficient reasons in words: what is forced, in what sense, what is degenerate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cpx.answers.claim import Claim, Words, competing, exact
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value, listed, plural
from cpx.modelling.claims import asked, claimed
from cpx.models.sufficient_reason.features import UNITS, Features, Level
from cpx.models.sufficient_reason.form import Definition, votes_needed
from cpx.models.sufficient_reason.minimum_subset.problem import MinimumSubset
from cpx.support.validation import Share
from cpx.trees.form import Label, TreeModel

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.contrast_answer import Contrast

_LEVELS = {
    "attributes": "attributes: a column counts once, however narrow its interval; the others "
    "take any value they can have",
    "intervals": "intervals: each end of the interval of a column counts; the other columns take "
    "any value they can have",
    "conditions": "conditions: each test of the model is free, also where tests of a column "
    "contradict each other",
}


def sought(over: Mapping[str, Any]) -> str:
    """Name the definition: ``"sufficient reason"``, ``"majoritary reason"``."""
    return f"{over['definition']} reason{' by the rounded losses' * _rounded(over)}"


def _rounded(over: Mapping[str, Any]) -> bool:
    return exact(over, "unit") != 0


def words(claim: Claim, found: Explanation) -> Words:
    """Return what is said of a reason: what was proved, what it forces, and in what sense."""
    over, figures = claim.over, claim.figures
    unit = UNITS[over["level"]]
    told = least_weight(claim, sought(over), unit, len(found.features))
    told_ties = ties(figures["decision"], figures.get("second", ""))
    notes = _definition(claim), f"level {_LEVELS[over['level']]}", f"ties: {told_ties}"
    return Words(told, forces(found.rule, figures, over["level"]), notes)


def contrast_words(claim: Claim, found: Contrast) -> Words:
    """Return what is said of a change that gives another class."""
    over = claim.over
    if claim.optimal is None:
        return Words()
    weighted = "weights" in over
    told = f"weight {claim.value}" if weighted else plural(int(claim.value or 0), "column")
    if claim.bound is None:
        return Words(f"{told}, found by a search on rows: that none is smaller is not proved")
    gives = found.rule.says if over.get("target") is not None else "another class"
    limits = [word for word in ("ranges", "plausible", "others") if over.get(word)]
    which = "".join(f" {_LIMITS[word]}" for word in limits)
    if claim.optimal:
        by = ""
        if found.sets:
            sets = f"{plural(len(found.sets), 'set')} of columns"
            by = f"; checked by {sets}, in each of which one must change"
        elif found.gains:
            by = "; checked: added up, smaller ones gain too little"
        less = "lighter" if weighted else "smaller"
        return Words(f"{told}: no {less} change{which} gives {gives}{by}")
    if weighted:
        return Words(f"{told}: not shown to be the least, at least {claim.bound} is needed")
    return Words(f"{told}: not shown to be the fewest, at least {claim.bound} are needed")


_LIMITS = {
    "ranges": "within the ranges",
    "plausible": "that is as plausible",
    "others": "without all columns of one before",
}
"""What is said of the changes that compete."""


def least_weight(claim: Claim, what: str, unit: str, size: int) -> str:
    """Return what was proved of a subset of least weight, of features that are such units."""
    over, bound, weighted = claim.over, claim.bound, "weights" in claim.over
    if claim.optimal is None:
        return ""
    told = plural(size, unit) + f" of weight {claim.value}" * weighted
    rival = competing(over, what)
    if claim.optimal:
        return f"{told}, minimum: no {rival} is {'lighter' if weighted else 'smaller'}"
    if bound is None:
        return f"{told}, without a bound"
    measure = "weight" if weighted else "size"
    return f"{told}, not proved minimum: every {rival} has at least {measure} {bound}"


def forces(rule: Rule, figures: Mapping[str, Any], level: str) -> str:
    """Say what holds of every row with the values of the reason."""
    words, rest = rule.words, figures["features"] - len(rule)
    columns = level != "conditions"
    if level == "intervals":
        rest = figures["others"]
    lacking = _lacking(figures["missing"], columns, rest)
    ranged = ", within their ranges" * bool(figures.get("ranged"))
    if not words:
        case = "in every case"
        if lacking or ranged:
            case += f", whatever the columns are{ranged}{lacking}"
        return f"{rule.says} {case}: no other class is ever given"
    text = f"{' and '.join(words)} force{'s' * (len(words) == 1)} {rule.says}"
    if not rest:
        return text
    unit = "column" if columns else "condition"
    others = unit if rest == 1 else plural(rest, unit)
    if rest == 1:
        ranged = ranged.replace("their ranges", "its range")
    free = f"the other {others} {'are' if rest != 1 else 'is'}{ranged}"
    return f"{text}, whatever {free}{'' if columns else ', each free'}{lacking}"


def _lacking(missing: str | list[str], columns: bool, rest: int) -> str:
    """Say which columns that are not chosen may be missing."""
    if isinstance(missing, str):
        return {"refused": "", "all": ", missing or not"}[missing]
    if not columns:
        return ", no column missing"
    if missing:
        return f", of which only {listed(missing)} may be missing"
    return ", none of them missing" if rest > 1 else ", not missing"


def _definition(claim: Claim) -> str:
    over, figures = claim.over, claim.figures
    if over["definition"] == "sufficient":
        return "sufficient: every such row gets the class, by the exact sums of the model"
    if over["definition"] == "majoritary":
        return (
            f"majoritary: the same {figures['votes']} of {figures['trees']} trees vote for the "
            "class on every such row, and win whatever the others vote for"
        )
    told = (
        "tree-specific: the class wins even if every tree is at the worst of its leaves that "
        "such a row can reach, each tree by itself"
    )
    if not _rounded(over):
        return told
    return f"{told}; losses of leaves are rounded up to multiples of {over['unit']}"


def ties(decision: str, second: str) -> str:
    """Say which class is given when scores are equal."""
    if decision == "first":
        return "of classes with equal scores the first one is given"
    return f"a score {'above 0' if decision == 'positive' else 'of 0 or more'} is {second}"


class ReasonText(MinimumSubset):
    """What a sufficient reason says of itself and of its answers."""

    tree_model: TreeModel
    level: Level
    definition: Definition | None
    label: Label | None
    unit: Share | None

    @property
    @abstractmethod
    def features(self) -> Features:
        """What a reason is made of."""

    @property
    @abstractmethod
    def label_index(self) -> int:
        """Index of the class of x."""

    def candidate(self) -> str:
        """Name what competes: the same, with what is required and nothing forbidden."""
        over = asked(self)
        return competing(over, sought(over))

    def _brief(self) -> list[str]:
        """Return definition, level and sizes of the model."""
        trees = len(self.tree_model.trees)
        size = [f"{trees} tree{'s' * (trees != 1)}", self.units(self.n_features)]
        return [str(self.definition), *size]

    def _facts(self) -> dict[str, str]:
        """Return the model, x, definition, level and ties."""
        model = self.tree_model
        kinds = f"{len(model.trees)} trees, {len(model.classes)} classes, rule {model.rule}"
        return {
            "model": f"{kinds}, {model.n_attributes} attributes, {len(model.used)} tested",
            "class": str(self.label),
            "definition": str(self.definition),
            "level": f"{self.level}, {self.units(self.n_features)}",
            "unit": f"{self.unit}" if self.unit else "0, exact",
            "ties": ties(model.decision, str(model.classes[1])),
            **self.choice_facts(),
        }

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what is claimed of it, and in what sense it is a reason."""
        model = self.tree_model
        figures: dict[str, Any] = {"features": self.n_features, "decision": model.decision}
        columns = self.features.columns(explanation.features)
        figures["missing"] = self._may_be_missing(columns)
        if self._ranged(columns):
            figures["ranged"] = True
        if self.level == "intervals":
            figures["others"] = model.n_attributes - len(columns)
        if model.decision != "first":
            figures["second"] = str(model.classes[1])
        if self.definition == "majoritary":
            figures["votes"] = votes_needed(model, self.label_index)
            figures["trees"] = len(model.trees)
        return claimed(self, explanation, proved, objective, bound, **figures)

    def _ranged(self, chosen: Sequence[int]) -> bool:
        """Whether a column that may vary, and is tested, has a range that is stated."""
        model = self.tree_model
        kept = () if self.level == "conditions" else chosen
        own = [one for a, one in enumerate(model.attributes) if a in model.used and a not in kept]
        return any(
            one.kind in ("real", "integer")
            and not (one.lower is None and one.upper is None and one.values is None)
            for one in own
        )

    def _may_be_missing(self, chosen: Sequence[int]) -> str | list[str]:
        """Return which columns may be missing of those that the model may test: names, or words.

        ``"refused"`` where no test takes a missing value, ``"all"`` where all may be missing.
        """
        model = self.tree_model
        if self.level == "conditions":
            chosen = ()
        rest = [a for a in range(model.n_attributes) if a not in chosen]
        tested = [a for a in rest if a in model.used]
        if all(model.refuses_missing(a) for a in tested):
            return "refused"
        if self.level == "conditions":
            return []
        if all(model.attributes[a].missing for a in tested):
            return "all"
        return [model.attributes[a].name for a in rest if model.attributes[a].missing]

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        found, used = self.base_notes(), {*self.tree_model.used}
        model = self.tree_model
        if not used:
            found.append("the model tests nothing: every row has the same class")
        elif self.level == "attributes":
            idle = [model.attributes[a].name for a in self.required if a not in used]
            if idle:
                found.append(f"required and never tested by the model: {', '.join(idle)}")
        if not self._unstated and any(slack < 0 for slack in self.losses.slacks):
            found.append(
                f"x has the class {self.label} without a majority of the votes that wins "
                "whatever the others vote for: there is no majoritary reason"
            )
        if self.unit:
            found.append(
                f"losses of leaves are rounded up to multiples of {self.unit}: the answer is a "
                "reason of the exact model, and a minimum of the rounded one"
            )
        return tuple(found)
