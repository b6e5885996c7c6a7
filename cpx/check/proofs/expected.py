"""Proofs about expected predictions under independent attributes: prices of attributes in terms.

What a model is expected to say of a set of attributes is a constant and a sum of *terms*, each
over a few attributes (:class:`Terms`). A claim says that no set of at most k attributes is worth
more than some value. A proof begins with lines

- ``prices t j u t j u ...``: attribute j pays the whole number u, which may be negative, to
  term t. They are numbered from 0.

Then comes a tree of :mod:`~cpx.check.proofs.parts`, with these rules:

- ``bound i``: with prices i, no set of the part is worth more than the claim;
- ``decide i``: with prices i, some attributes are in all sets, or in none, that are worth more
  than the goal;
- ``idle``: attributes that add nothing to any term, whatever the set, are left out;
- ``full``: no attribute may be added, or none is free, and the kept ones are not worth more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.expected_prediction import KINDS
from cpx.check.expected_scores import ExactScores, TooLong
from cpx.check.proofs.document import (
    Claim,
    Document,
    Refused,
    Undecided,
    refuse_unknown,
    signed_number,
    whole_numbers,
)
from cpx.check.proofs.parts import Part, SideConstraints, root_part, walk

__all__ = ["KINDS", "MOST_PRICES", "NAME", "Bound", "Question", "Terms", "check"]

NAME = "expected-prediction"

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_INSTANCE = {"x", "class", "model", "coding", "distribution", "where"}
_PARAMETERS = {"k", "unit", "threshold", "measure", "required", "forbidden"}

# Attributes of a term, and of the leaves of a tree that are one term.
_MOST_ATTRIBUTES, _TOGETHER = 12, 8
_MOST_ENTRIES = 2**20
_LARGEST = 2**60
MOST_PRICES = 2**26
"""Of all lines of prices together, one for each attribute of each term: half a gigabyte."""
# Beyond all values.
_FAR = 2**62


class Terms:
    """The terms: values of all sets of a few attributes.

    The leaves of a tree are one term where they test at most 8 attributes together; otherwise
    those that test the same attributes are.

    Attributes
    ----------
    attributes : list of list of int
        Of each term, in rising order.
    constant : int
    start, first : ndarray of int
        Where the values of a term begin, and where its attributes do in ``of``.
    of, owner : ndarray of int
        The attributes of all terms, and the term of each.
    values : ndarray of int
        Bit i of a place within a term says that its attribute i is in the set.
    term : ndarray of int
        Of each value.
    needed : int
        What a set must be worth at least, where the fewest attributes are asked for.
    """

    def __init__(self, instance: Mapping[str, Any]) -> None:
        try:
            self._read(instance)
        except TooLong:
            raise Undecided("instance: the states are too many for the checker") from None

    def _read(self, instance: Mapping[str, Any]) -> None:
        scores = ExactScores(instance)
        if broken := scores.broken():
            raise Refused(f"instance: {broken[0]}")
        if not scores.chances.factorised:
            raise Undecided("instance: the attributes are not independent")
        self.n, parameters, unit = scores.n, instance["parameters"], scores.unit
        least = instance["problem"] != "mlse"
        bounded = least and parameters["measure"] == "probability-bound"
        tau = Fraction(parameters["threshold"]) if least else Fraction(0)
        others, self.needed = [scores.base], math.ceil(tau / unit)
        if bounded:
            others = [(1 - tau) * scores.base]
            self.needed = math.ceil((1 - tau) * scores.threshold / unit)
        self.constant = math.floor(others[0] / unit) if least else round(scores.base / unit)
        trees: dict[int, list[int]] = {}
        for i, leaf in enumerate(scores.states.leaves):
            trees.setdefault(leaf.tree, []).append(i)
        grouped: list[tuple[tuple[int, ...], list[int]]] = []
        for leaves in trees.values():
            tests = [scores.states.leaves[i].tests for i in leaves]
            every = tuple(sorted({a for one in tests for a in one}))
            if bounded or len(every) <= _TOGETHER:
                grouped.append((every, leaves))
                continue
            alike: dict[tuple[int, ...], list[int]] = {}
            for i, one in zip(leaves, tests, strict=True):
                alike.setdefault(tuple(sorted(one)), []).append(i)
            grouped += alike.items()
        sizes = [len(attributes) for attributes, _ in grouped]
        if max(sizes, default=0) > _MOST_ATTRIBUTES or sum(1 << n for n in sizes) > _MOST_ENTRIES:
            raise Undecided(f"a tree tests more than {_MOST_ATTRIBUTES} attributes together")
        self.attributes = [list(attributes) for attributes, _ in grouped]
        values = [
            _table(scores, attributes, leaves, least, tau if bounded else None)
            for attributes, leaves in grouped
        ]
        spread = abs(self.constant) + sum(max(map(abs, table)) for table in values)
        if max(spread, abs(self.needed)) >= _LARGEST:
            raise Undecided("numbers are too large for the checker")
        size = np.array(sizes, dtype=np.int64)
        self.start = np.cumsum(1 << size) - (1 << size)
        self.first = np.cumsum(size) - size
        self.of = np.array([a for one in self.attributes for a in one], dtype=np.int64)
        self.owner = np.repeat(np.arange(size.size), size)
        self.values = np.array([v for table in values for v in table], dtype=np.int64)
        self.term = np.repeat(np.arange(size.size), 1 << size)
        places = np.arange(self.values.size) - self.start[self.term]
        self.bits = []
        for i in range(int(size.max(initial=0))):
            entries = np.flatnonzero((places >> i) & 1)
            self.bits.append((entries, self.first[self.term[entries]] + i))

    def sums(self, numbers: Ints) -> Ints:
        """Return for each entry the sum of what its attributes have in its term."""
        out = np.zeros(self.values.size, dtype=np.int64)
        for entries, places in self.bits:
            out[entries] += numbers[places]
        return out

    def allowed(self, part: Part) -> Bools:
        """Return the entries that sets of a part may have."""
        kept = part.kept[self.of].astype(np.int64)
        all_kept = np.zeros(self.start.size, dtype=np.int64)
        np.add.at(all_kept, self.owner, kept)
        out = self.sums(part.out[self.of].astype(np.int64))
        return np.asarray((self.sums(kept) == all_kept[self.term]) & (out == 0))

    def value(self, held: Bools) -> int:
        """Return what a set is worth."""
        entry = self.allowed(Part(held, ~held))
        return self.constant + int(self.values[entry].sum())


def _table(
    scores: ExactScores,
    attributes: tuple[int, ...],
    leaves: list[int],
    down: bool,
    tau: Fraction | None,
) -> list[int]:
    """Return what leaves add, in units, for each set of attributes; see :mod:`expected_scores`.

    With a probability tau, less tau times the greatest leaf that is reached.
    """
    own, out = scores.states.own, [0] * (1 << len(attributes))
    greatest: list[int | None] = [None] * len(out)
    place = {a: i for i, a in enumerate(attributes)}
    for i in leaves:
        tests = scores.states.leaves[i].tests
        # Attributes of x that lead elsewhere must not be known.
        barred = sum(1 << place[a] for a, some in tests.items() if not some >> own[a] & 1)
        inside = sum(1 << place[a] for a in tests)
        adds: dict[int, int] = {}
        for mask in range(len(out)):
            if mask & barred:
                continue
            if (part := mask & inside) not in adds:
                known = frozenset(a for a in tests if mask >> place[a] & 1)
                adds[part] = scores.in_units(i, known, down)
            out[mask] += adds[part]
            found, value = greatest[mask], scores.leaf_values[i]
            greatest[mask] = value if found is None else max(found, value)
    if tau is not None:
        for mask, most in enumerate(greatest):
            assert most is not None  # some leaf is reached
            out[mask] += math.floor(-tau * Fraction(most, scores.divisor) / scores.unit)
    return out


class Question:
    """A problem with a claim: that no set of at most ``k`` attributes is worth more than ``most``.

    Attributes
    ----------
    root : Part or None
        All sets, None where what is required is forbidden.
    """

    def __init__(
        self, instance: Mapping[str, Any], claim: Claim, terms: Terms | None = None
    ) -> None:
        refuse_unknown(instance, _INSTANCE, _PARAMETERS)
        if isinstance(claim.bound, Fraction):
            raise Refused("header: the objective is an integer")
        self.terms = terms or Terms(instance)
        self.side = SideConstraints(instance)
        parameters, bound = instance["parameters"], claim.bound
        self.root = root_part(self.terms.n, parameters)
        if instance["problem"] == "mlse":
            self.k = int(parameters["k"])
            self.most = -_FAR if bound is None else bound
        else:
            self.k = self.terms.n if bound is None else bound - 1
            self.most = self.terms.needed - 1

    def room(self, part: Part) -> int:
        """Return how many attributes may be added."""
        return min(self.k - int(part.kept.sum()), int(part.free.sum()))

    def full(self, part: Part) -> bool:
        """Whether nothing may be added, and what is kept is not worth more, or not allowed."""
        if self.room(part) > 0:
            return False
        kept = Part(part.kept, ~part.kept)
        small = int(part.kept.sum()) <= self.k and self.side.which(kept) is None
        return not small or self.terms.value(part.kept) <= self.most

    def without_idle(self, part: Part) -> Part:
        """Leave out the free attributes that add nothing to any term, whatever the set.

        Proof. A set with them is worth no more than without them, and has more attributes. Where
        there are side constraints it may be the one that keeps them.
        """
        if len(self.side):
            raise Refused("side constraints may need attributes that add nothing")
        terms, allowed = self.terms, self.terms.allowed(part)
        gains = np.zeros(terms.n, dtype=np.int64)
        for i, (entries, places) in enumerate(terms.bits):
            lower = entries - (1 << i)
            added = np.where(allowed[entries], terms.values[entries] - terms.values[lower], -_FAR)
            most = np.full(terms.of.size, -_FAR)
            np.maximum.at(most, places, added)
            seen = np.unique(places)
            free = seen[part.free[terms.of[seen]]]
            np.add.at(gains, terms.of[free], most[free])
        return Part(part.kept, part.out | (part.free & (gains <= 0)))


class Bound:
    """What prices say of the sets of a part.

    Attributes
    ----------
    total : int
        No set of the part is worth more.
    worth : ndarray of int
        What all terms together pay each attribute.

    Notes
    -----
    Proof. Let each free attribute of a set pay its price u to each term that has it, and get the
    sum of them back: nothing changes. A term gives at most the greatest of its values, less what
    is paid to it, over the sets of the part. The attributes get at most the sum of the r greatest
    of what they are worth, those above 0, if r may be added.
    """

    def __init__(self, question: Question, part: Part, prices: Ints) -> None:
        terms = self._terms = question.terms
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
            best = np.full(terms.of.size, -_FAR)
            for i, (entries, owners) in enumerate(terms.bits):
                np.maximum.at(best, owners, self._left[entries if has else entries - (1 << i)])
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
    question = Question(instance, document.claim)
    beyond = question.most
    if instance["problem"] == "mlse" and document.goal != document.claim:
        beyond = Question(instance, document.goal, question.terms).most
        if beyond > question.most:
            raise Refused("header: the claim does not follow from the goal")
    prices: list[Ints] = []

    def leaf(part: Part, rule: str, words: list[str]) -> Part | None:
        numbers = whole_numbers(words)
        if rule == "full" and not numbers:
            if not question.full(part):
                raise Refused("attributes may be added, or what is kept is worth more")
            return None
        if rule == "idle" and not numbers:
            return question.without_idle(part)
        if rule not in ("bound", "decide") or len(numbers) != 1 or numbers[0] >= len(prices):
            raise Refused(f"{rule[:20]!r} is no rule, or there are no such prices")
        bound = Bound(question, part, prices[numbers[0]])
        if rule == "decide":
            return bound.decided(beyond)
        if bound.total > question.most:
            raise Refused(f"the bound is {bound.total}")
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
    if sum(map(abs, out.tolist())) >= _LARGEST:
        raise Undecided("numbers are too large for the checker")
    return out
