"""Expected predictions as sums of tables of integers, one for each tree or group of leaves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part
from cpx.check.proofs.document import Undecided
from cpx.models.expected_prediction.judge_scores import ExactScores
from cpx.models.expected_prediction.judge_states import Event

__all__ = ["LARGEST", "TOGETHER", "Terms", "require_small", "terms_of"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

# Sets times leaves that are looked at together.
_AT_ONCE = 2**18
# Of a term.
_MOST_ATTRIBUTES = 12
_MOST_ENTRIES = 2**20
TOGETHER = 8
"""Attributes of a tree whose leaves are one term."""
LARGEST = 2**60
"""Of all numbers together."""


class Terms:
    """The terms of a component: values of all sets of a few attributes.

    n: Number of attributes.
    tables: Of each term: its attributes, in rising order, and its values.
    needed: What a set must be worth at least, where the fewest attributes are asked for.
    slack: A set is expected to be worth less than what all terms say and this together; what is
        rounded then is at most that, rounded down. Without it they are for prices alone.
    tolerance: A bound says that no set is worth more by more than this.
    attributes: Of each term.
    start, first: Where the values of a term begin, and where its attributes do in ``of``.
    of, owner: The attributes of all terms, and the term of each.
    values: Bit i of a place within a term says that its attribute i is in the set.
    term: Of each value.
    """

    def __init__(
        self,
        n: int,
        tables: Sequence[tuple[Sequence[int], Ints]],
        constant: int,
        needed: int,
        slack: Fraction = Fraction(0),
        tolerance: int = 0,
    ) -> None:
        self.n, self.constant, self.needed, self.slack = n, constant, needed, slack
        self.tolerance = tolerance
        self.attributes = [list(attributes) for attributes, _ in tables]
        sizes = [len(attributes) for attributes in self.attributes]
        spread = abs(constant) + sum(int(np.abs(values).max()) for _, values in tables)
        if max(spread, abs(needed)) >= LARGEST:
            raise Undecided("numbers are too large for the checker")
        size = np.array(sizes, dtype=np.int64)
        self.start = np.cumsum(1 << size) - (1 << size)
        self.first = np.cumsum(size) - size
        self.of = np.array([a for one in self.attributes for a in one], dtype=np.int64)
        self.owner = np.repeat(np.arange(size.size), size)
        self.values = np.concatenate([np.zeros(0, dtype=np.int64), *(v for _, v in tables)])
        self.term = np.repeat(np.arange(size.size), 1 << size)
        places = np.arange(self.values.size) - self.start[self.term]
        self.bits = []
        for i in range(int(size.max(initial=0))):
            entries = np.flatnonzero((places >> i) & 1)
            self.bits.append((entries, self.first[self.term[entries]] + i))
        # Terms of the same number of attributes: their entries, their places in ``of``, and which
        # of these each entry has.
        self._alike = [
            (
                self.start[same][:, None] + np.arange(1 << n),
                self.first[same][:, None] + np.arange(n),
                np.arange(1 << n) >> np.arange(n)[:, None] & 1,
            )
            for n in range(1, int(size.max(initial=0)) + 1)
            if (same := np.flatnonzero(size == n)).size
        ]

    def sums(self, numbers: Ints) -> Ints:
        """Return for each entry the sum of what its attributes have in its term."""
        out = np.zeros(self.values.size, dtype=np.int64)
        for entries, places, having in self._alike:
            out[entries] = numbers[places] @ having
        return out

    def greatest(self, numbers: Ints, bit: int) -> tuple[Ints, Ints]:
        """Return places in ``of``, and the greatest of the numbers of their entries of a bit."""
        places = self.bits[bit][1]
        # Those of a place are next to each other.
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        return places[starts], np.maximum.reduceat(numbers, starts)

    def allowed(self, part: Part) -> Bools:
        """Return the entries that sets of a part may have."""
        kept = part.kept[self.of].astype(np.int64)
        all_kept = np.zeros(self.start.size, dtype=np.int64)
        np.add.at(all_kept, self.owner, kept)
        # All that are kept, and none that is out.
        counted = self.sums((kept << _MOST_ATTRIBUTES) + part.out[self.of])
        return np.asarray(counted == (all_kept << _MOST_ATTRIBUTES)[self.term])

    def value(self, held: Bools) -> int:
        """Return what a set is worth."""
        entry = self.allowed(Part(held, ~held))
        return self.constant + int(self.values[entry].sum())


def require_small(sizes: Sequence[int]) -> None:
    """Refuse terms of so many attributes each where their values would be too many."""
    if max(sizes, default=0) > _MOST_ATTRIBUTES or sum(1 << n for n in sizes) > _MOST_ENTRIES:
        raise Undecided(f"a tree tests more than {_MOST_ATTRIBUTES} attributes together")


def terms_of(scores: ExactScores, component: int = 0) -> Terms:
    """Return the terms of a component of the distribution.

    The leaves of a tree are one term where they test at most 8 attributes together; otherwise
    those that test the same attributes are. Where the attributes of a component depend on each
    other, each tree is one term, and counts as much as the greatest leaf that is reached. Of the
    slack, each of the numbers that add up is off by less than 1, by a half at most where it is
    rounded to the nearest integer.
    """
    parameters, unit = scores.parameters, scores.unit
    least = scores.instance["problem"] != "mlse"
    bounded = least and parameters["measure"] == "probability-bound"
    tau = Fraction(parameters["threshold"]) if least else Fraction(0)
    base, needed = scores.base, math.ceil(tau / unit)
    if bounded:
        base, needed = (1 - tau) * base, math.ceil((1 - tau) * scores.threshold / unit)
    if (most := _constant(scores, component, 1 - tau if bounded else Fraction(1))) is not None:
        # A value is rounded to the nearest, or what is needed up.
        return Terms(scores.n, [], most, needed, Fraction(1, 1 if least else 2))
    trees: dict[int, list[int]] = {}
    for i, leaf in enumerate(scores.leaves):
        trees.setdefault(leaf.tree, []).append(i)
    rounded = 2 + len(scores.leaves) + bounded * len(trees)
    whole = bounded or not scores.chances.edgeless
    grouped: list[tuple[tuple[int, ...], list[int]]] = []
    for leaves in trees.values():
        tests = [scores.leaves[i].tests for i in leaves]
        every = tuple(sorted({a for one in tests for a in one}))
        if whole or len(every) <= TOGETHER:
            grouped.append((every, leaves))
            continue
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, one in zip(leaves, tests, strict=True):
            alike.setdefault(tuple(sorted(one)), []).append(i)
        grouped += alike.items()
    require_small([len(attributes) for attributes, _ in grouped])
    return Terms(
        scores.n,
        [
            (attributes, _table(scores, attributes, leaves, component, tau if bounded else None))
            for attributes, leaves in grouped
        ],
        math.floor(base / unit) if least else round(base / unit),
        needed - scores.forgiven if least else needed,
        Fraction(rounded, 1 if least or not scores.chances.edgeless else 2),
        0 if least else 2 * scores.forgiven,
    )


def _constant(scores: ExactScores, component: int, share: Fraction) -> int | None:
    """Return what no set is worth more than under a component, where that is all that is said.

    Of the probability of the component of the class that is 1 for it, and 0 for the other. Of
    regions that test many attributes together it is the greatest value that a row has.
    """
    if scores.prediction == "posterior":
        most = Fraction(component == scores.label)
    elif (
        scores.prediction == "score"
        or len({a for leaf in scores.leaves for a in leaf.tests}) <= TOGETHER
    ):
        return None
    else:
        most = scores.greatest(frozenset())
    return math.ceil(share * most / scores.unit)


def _table(
    scores: ExactScores,
    attributes: tuple[int, ...],
    leaves: list[int],
    component: int,
    tau: Fraction | None,
) -> Ints:
    """Return what leaves add, in units, for each set of attributes; see :mod:`expected_scores`.

    With a probability tau, less tau times the greatest leaf that is reached; and that leaf in
    place of what is expected where attributes depend on each other.
    """
    own, expects = scores.states.own, scores.chances.edgeless
    masks, place = np.arange(1 << len(attributes)), {a: i for i, a in enumerate(attributes)}
    down = scores.instance["problem"] != "mlse"
    out, most = np.zeros(masks.size, dtype=np.int64), 0
    ranked = tau is not None or not expects
    ranks = sorted({scores.leaf_values[i] for i in leaves})
    greatest = np.zeros(masks.size, dtype=np.int64)
    tests = [scores.leaves[i].tests for i in leaves]
    # Attributes of x that lead elsewhere must not be known.
    away = np.array(
        [sum(1 << place[a] for a, some in one.items() if not some >> own[a] & 1) for one in tests]
    )
    step = _AT_ONCE // masks.size  # far more than 1: of a term there are 12 attributes at most
    for first in range(0, len(leaves), step):
        some = leaves[first : first + step]
        reached = masks & away[first : first + step, None] == 0
        if expects:
            adds = [scores.all_in_units(i, down, component) for i in some]
            if (most := most + sum(max(map(abs, one)) for one in adds)) >= LARGEST:
                raise Undecided("numbers are too large for the checker")
            added = _entries(masks, place, tests[first : first + step], adds)
            out += np.where(reached, added, 0).sum(axis=0)
        if ranked:
            own_ranks = np.array([ranks.index(scores.leaf_values[i]) for i in some])
            most_of = np.where(reached, own_ranks[:, None], 0).max(axis=0)
            greatest = np.maximum(greatest, most_of)
    if ranked:
        share = (0 if expects else 1) - (tau or 0)
        of_rank = [math.floor(share * Fraction(v, scores.divisor) / scores.unit) for v in ranks]
        if most + max(map(abs, of_rank)) >= LARGEST:
            raise Undecided("numbers are too large for the checker")
        out += np.array(of_rank, dtype=np.int64)[greatest]
    return out


def _entries(
    masks: Ints, place: Mapping[int, int], tests: Sequence[Event], adds: list[list[int]]
) -> Ints:
    """Return what each of some leaves adds for each set, by which of its tests the set has."""
    begin = np.cumsum([0, *map(len, adds[:-1])])
    # A test that a leaf does not have is of the last bit, which no set has.
    bits = np.full((len(tests), max(map(len, tests))), 62)
    for row, one in zip(bits, tests, strict=True):
        row[: len(one)] = [place[a] for a in one]
    which = np.repeat(begin[:, None], masks.size, axis=1)
    for j, bit in enumerate(bits.T):
        which += (masks >> bit[:, None] & 1) << j
    added: Ints = np.array([add for one in adds for add in one], dtype=np.int64)
    return np.asarray(added[which])
