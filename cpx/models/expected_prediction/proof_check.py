"""Proofs about expected predictions: branching, bounds by prices, and enumeration of sets.

What a model is expected to say of a set of attributes is a constant and a sum of *terms*, each
over a few attributes (:class:`Terms`), under each component of a distribution without edges, and
a mean of these (:mod:`~cpx.models.expected_prediction.proof_mixtures`). A claim says that no set
of at most k attributes is worth more than some value. A proof begins with lines

- ``prices t j u t j u ...``: attribute j pays the whole number u, which may be negative, to
  term t. They are numbered from 0.

Then comes a tree of :mod:`~cpx.check.proofs.branching`, with these rules:

- ``bound i ...``: with prices i of each component, no set of the part is worth more than the
  claim;
- ``decide i``: with prices i, some attributes are in all sets, or in none, that are worth more
  than the goal;
- ``idle``: attributes that add nothing to any term, whatever the set, are left out;
- ``counted``: all sets of the part are looked at, and none is worth more;
- ``full``: the same where no attribute may be added, or none is free.

The second and third are for independent attributes only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part, SideConstraints, root_part, walk
from cpx.check.proofs.document import (
    Claim,
    Document,
    Refused,
    Undecided,
    refuse_unknown,
    signed_number,
    whole_numbers,
)
from cpx.models.expected_prediction.judge import KINDS, Fewest, Greatest
from cpx.models.expected_prediction.judge_scores import TooLong
from cpx.models.expected_prediction.proof_mixtures import (
    Mixture,
    greatest_mean,
    most_added,
    number_of_sets,
)
from cpx.models.expected_prediction.proof_terms import LARGEST, Terms, terms_of

__all__ = [
    "KINDS", "MOST_PRICES", "MOST_SETS", "NAME", "Bound", "JudgedQuestion", "Question", "check"
]  # fmt: skip

NAME = "expected-prediction"

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_INSTANCE = {"x", "class", "model", "coding", "distribution", "where"}
_PARAMETERS = {"k", "unit", "threshold", "measure", "required", "forbidden"}
_PARAMETERS |= {"prediction", "min_probability"}

MOST_PRICES = 2**26
"""Of all lines of prices together, one for each attribute of each term: half a gigabyte."""
MOST_SETS = 2**20
"""Counted for one line."""
# Beyond all values.
_FAR = 2**62


class Question:
    """A problem with a claim: that no set of at most ``k`` attributes is worth more than ``most``.

    instance: A saved instance.
    components: Of each component, or a single one where attributes depend on each other.
    independent: Whether a set is worth what the terms say.
    root: All sets, None where what is required is forbidden.
    """

    def __init__(
        self,
        instance: Mapping[str, Any],
        claim: Claim,
        components: list[Terms],
        independent: bool = True,
    ) -> None:
        self._instance, self.components, self.independent = instance, components, independent
        self.side, self.terms = SideConstraints(instance), components[0]
        self.root = root_part(self.terms.n, instance["parameters"])
        self._ask(claim.bound)

    def _ask(self, bound: int | Fraction | None) -> None:
        if isinstance(bound, Fraction):
            raise Refused("header: the objective is an integer")
        if self._instance["problem"] == "mlse":
            self.k = int(self._instance["parameters"]["k"])
            # What is beyond all values bounds the same sets, and is a float.
            most = -_FAR if bound is None else bound + self.terms.tolerance
            self.most = max(-_FAR, min(most, _FAR))
        else:
            self.k = self.terms.n if bound is None else bound - 1
            self.most = self.terms.needed - 1

    def asking(self, claim: Claim) -> Self:
        """Return the same problem with another claim."""
        other = copy(self)
        other._ask(claim.bound)
        return other

    def room(self, part: Part) -> int:
        """Return how many attributes may be added."""
        return min(self.k - int(part.kept.sum()), int(part.free.sum()))

    def bound(self, part: Part, prices: Sequence[Ints]) -> int:
        """Return what no set of a part is worth more than, by prices for each component."""
        return Bound(self, part, prices[0]).total

    def without_idle(self, part: Part) -> Part:
        """Leave out the free attributes that add nothing to any term, whatever the set.

        Proof. A set with them is worth no more than without them, and has more attributes. Where
        there are side constraints it may be the one that keeps them.
        """
        if len(self.side) or not self.independent:
            raise Refused("attributes that add nothing may be needed")
        terms, allowed = self.terms, self.terms.allowed(part)
        gains = np.zeros(terms.n, dtype=np.int64)
        for i, (entries, _) in enumerate(terms.bits):
            lower = entries - (1 << i)
            added = np.where(allowed[entries], terms.values[entries] - terms.values[lower], -_FAR)
            seen, most = terms.greatest(added, i)
            free = part.free[terms.of[seen]]
            np.add.at(gains, terms.of[seen[free]], most[free])
        return Part(part.kept, part.out | (part.free & (gains <= 0)))


class JudgedQuestion(Question):
    """A question of which every set can be looked at.

    instance: A saved instance.
    most_sets: Counted for one line; fewer where the terms do not say which need a closer look.
    """

    def __init__(self, instance: Mapping[str, Any], claim: Claim) -> None:
        refuse_unknown(instance, _INSTANCE, _PARAMETERS)
        try:
            self._scores = (Greatest if instance["problem"] == "mlse" else Fewest)(instance)
            if broken := self._scores.broken():
                raise Refused(f"instance: {broken[0]}")
            chances = self._scores.chances
            several = range(len(chances.weights) if chances.edgeless else 1)
            components = [terms_of(self._scores, c) for c in several]
        except TooLong:
            raise Undecided("instance: the states are too many for the checker") from None
        super().__init__(instance, claim, components, self._scores.by_leaf)
        self._mixture = Mixture(self._scores, components)
        self.most_sets = MOST_SETS
        if not any(terms.attributes for terms in components):
            self.most_sets //= 1 + len(self._scores.leaves) // 16

    def room(self, part: Part) -> int:
        """Return how many attributes may be added, also for how likely the set must be.

        Where the kept ones are not likely enough, that is none: no set of the part is.
        """
        room, scores = super().room(part), self._scores
        if room <= 0 or isinstance(scores, Fewest) or not scores.least:
            return room
        kept, free = (np.flatnonzero(some).tolist() for some in (part.kept, part.free))
        if not scores.likely(frozenset(kept)):
            return 0
        return min(room, most_added(scores, kept, free))

    @property
    def posterior(self) -> bool:
        """Whether the probability of the component of the class is asked about."""
        return bool(self._scores.prediction == "posterior")

    def most_probable(self, part: Part) -> NDArray[np.float64]:
        """Return how much the sets of a part that are worth most have each attribute, or may."""
        return self._mixture.most_probable(part, max(0, self.room(part)))[1]

    def full(self, part: Part) -> bool:
        """Whether nothing may be added, and what is kept is not worth more, or not allowed."""
        return self.room(part) <= 0 and self.counted(part)

    def counted(self, part: Part) -> bool:
        """Whether no set of a part is worth more, or all of them are too many to look at."""
        room = self.room(part)
        if number_of_sets(part, room) > self.most_sets:
            return False
        return not any(map(self._better, self._mixture.near(part, room, self.most)))

    def _better(self, held: frozenset[int]) -> bool:
        """Whether a set is allowed and worth more, in exact numbers."""
        scores = self._scores
        if isinstance(scores, Fewest):
            return scores.feasible(held)
        return scores.feasible(held) and scores.objective(held) > self.most

    def bound(self, part: Part, prices: Sequence[Ints]) -> int:
        """Return what no set of a part is worth more than, by prices for each component.

        Proof. What a set is worth is a mean of what it is under the components, which are bounded
        by their prices, with shares that are not beyond their limits.
        """
        if self.independent:
            return super().bound(part, prices)
        totals = [Bound(self, part, some, c).total for c, some in enumerate(prices)]
        mean = greatest_mean(totals, self._mixture.limits(part, max(0, self.room(part))))
        return math.floor(mean + self.terms.slack)


class Bound:
    """What prices say of the sets of a part.

    total: No set of the part is worth more.
    worth: What all terms together pay each attribute.

    Proof. Let each free attribute of a set pay its price u to each term that has it, and get the
    sum of them back: nothing changes. A term gives at most the greatest of its values, less what
    is paid to it, over the sets of the part. The attributes get at most the sum of the r greatest
    of what they are worth, those above 0, if r may be added.
    """

    def __init__(self, question: Question, part: Part, prices: Ints, component: int = 0) -> None:
        terms = self._terms = question.components[component]
        self._part = part
        paid = np.where(part.free[terms.of], prices, 0)
        self._left = np.where(terms.allowed(part), terms.values - terms.sums(paid), -_FAR)
        self._best = self._left[:0]
        if self._left.size:
            self._best = np.maximum.reduceat(self._left, terms.start)
        self.worth = np.zeros(terms.n, dtype=np.int64)
        np.add.at(self.worth, terms.of, paid)
        free = np.flatnonzero(part.free)
        order = free[np.argsort(-self.worth[free], kind="stable")]
        room = max(0, question.room(part))
        self._first, self._others = order[:room], order[room:]
        gained = int(np.maximum(self.worth[self._first], 0).sum())
        self.total = terms.constant + int(self._best.sum()) + gained

    def decided(self, most: int) -> Part:
        """Decide what all sets of the part have, or have not, that are worth more than ``most``.

        Proof. With an attribute each of its terms gives at most the greatest value of the sets
        that have it, without it the greatest of the others. Prices: without one of the r that are
        worth the most, the next one may gain; with another one, the last of the r cannot.
        """
        worth, first, others, terms = self.worth, self._first, self._others, self._terms
        lost = np.zeros((2, terms.n), dtype=np.int64)
        for has in (False, True):
            best = np.zeros_like(terms.of)
            for i, (entries, _) in enumerate(terms.bits):
                some = entries if has else entries - (1 << i)
                seen, found = terms.greatest(self._left[some], i)
                best[seen] = found
            places = np.flatnonzero(self._part.free[terms.of])
            less = self._best[terms.owner[places]] - best[places]
            np.add.at(lost[int(has)], terms.of[places], less)
        following = max(0, int(worth[others[0]])) if others.size else 0
        last = max(0, int(worth[first[-1]])) if first.size else 0
        lost[0, first] += np.maximum(worth[first], 0) - following * (worth[first] > 0)
        lost[1, first] -= np.minimum(worth[first], 0)
        lost[1, others] += last - worth[others]
        free = self._part.free
        kept = free & (self.total - lost[0] <= most)
        out = free & (self.total - lost[1] <= most) & ~kept
        return Part(self._part.kept | kept, self._part.out | out)


def check(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse a proof that does not prove its claim about an instance."""
    question = JudgedQuestion(instance, document.claim)
    beyond = question.asking(document.goal).most
    if beyond > question.most:
        raise Refused("header: the claim does not follow from the goal")
    prices: list[Ints] = []

    def leaf(part: Part, rule: str, words: list[str]) -> Part | None:
        numbers = whole_numbers(words)
        if rule in ("full", "counted") and not numbers:
            if not (question.full if rule == "full" else question.counted)(part):
                raise Refused("attributes may be added, too many, or a set is worth more")
            return None
        if rule == "idle" and not numbers:
            return question.without_idle(part)
        count = len(question.components)
        if len(numbers) != count or any(i >= len(prices) for i in numbers):
            raise Refused(f"{rule[:20]!r} is no rule, or there are no such prices")
        if rule == "decide" and question.independent:
            return Bound(question, part, prices[numbers[0]]).decided(beyond)
        if rule != "bound":
            raise Refused(f"no rule is called {rule[:20]!r}")
        if (reached := question.bound(part, [prices[i] for i in numbers])) > question.most:
            raise Refused(f"the bound is {reached}")
        return None

    if question.root is not None:
        while (words := document.line())[0] == "prices":
            with document.named():
                if (len(prices) + 1) * question.terms.of.size > MOST_PRICES:
                    raise Refused(f"there are more than {MOST_PRICES} prices")
                prices.append(_prices(question.terms, words[1:]))
        walk(question.root, words, document, question.side, leaf)
    document.end()


def _prices(terms: Terms, words: list[str]) -> Ints:
    """Read triples of a term, an attribute and a number, which may have a minus."""
    if len(words) % 3:
        raise Refused("not all prices have three numbers")
    out = np.zeros(terms.of.size, dtype=np.int64)
    for at in range(0, len(words), 3):
        t, j = whole_numbers(words[at : at + 2])
        if t >= len(terms.attributes) or j not in terms.attributes[t]:
            raise Refused(f"there is no term {t}, or it does not have the attribute {j}")
        place = terms.first[t] + terms.attributes[t].index(j)
        out[place] = signed_number(words[at + 2])
    if sum(map(abs, out.tolist())) >= LARGEST:
        raise Undecided("numbers are too large for the checker")
    return out
