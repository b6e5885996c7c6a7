"""Linear constraints over what an answer contains, which texts are brought into."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LinearConstraint:
    """A sum of what an answer contains must be at least so much.

    terms: A coefficient, not 0, and indices: it counts, once, when the answer contains one of
        these or more.

    >>> at_most_one = LinearConstraint(((-1, (0,)), (-1, (2, 3))), -1)
    >>> at_most_one.holds([2, 3]), at_most_one.holds([0, 3])
    (True, False)
    """

    terms: tuple[tuple[int, tuple[int, ...]], ...]
    at_least: int

    def holds(self, chosen: Collection[int]) -> bool:
        """Whether an answer of these indices satisfies the constraint."""
        some = chosen if isinstance(chosen, set | frozenset) else frozenset(chosen)
        # Few constraints are about what an answer contains.
        if self.about.isdisjoint(some):
            return self.at_least <= 0
        total = sum(factor for factor, any_of in self.terms if not some.isdisjoint(any_of))
        return total >= self.at_least

    @cached_property
    def about(self) -> frozenset[int]:
        """All indices in its terms."""
        return frozenset(j for _, any_of in self.terms for j in any_of)

    @cached_property
    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Index and coefficient for each index in each term."""
        pairs = [(j, factor) for factor, any_of in self.terms for j in any_of]
        indices, factors = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
        return indices, factors

    @cached_property
    def lowest(self) -> int:
        """The least that the sum can be, where any set of its indices may be contained."""
        return sum(min(factor, 0) for factor, _ in self.terms)

    @cached_property
    def is_simple(self) -> bool:
        """Whether each of its terms has one index."""
        return all(len(any_of) == 1 for _, any_of in self.terms)

    @cached_property
    def decides(self) -> tuple[set[int], set[int]] | None:
        """What it requires and forbids by itself; None where it cannot hold."""
        return _decided(self, frozenset(), frozenset())

    @cached_property
    def is_clause(self) -> bool:
        """Whether it asks for one of its positive terms, or the lack of one of the others."""
        negative = sum(factor < 0 for factor, _ in self.terms)
        unit = all(abs(factor) == 1 for factor, _ in self.terms)
        return unit and self.at_least == 1 - negative


@dataclass(frozen=True)
class SideConstraint:
    """A constraint as it was written, and what it means.

    means: All of them must hold.
    untrue: Conditions in the text that no answer can contain, since they are not true of x.
    """

    text: str
    means: tuple[LinearConstraint, ...]
    untrue: tuple[str, ...] = ()


class SideConstraints(tuple[SideConstraint, ...]):
    """The constraints that the user adds to a problem; all of them must hold.

    >>> either = SideConstraint("a or b", (LinearConstraint(((1, (0,)), (1, (1,))), 1),))
    >>> side = SideConstraints((either,))
    >>> side.allow([1, 4]), side.allow([4]), bool(side)
    (True, False, True)
    """

    @property
    def texts(self) -> tuple[str, ...]:
        """The constraints as they were written."""
        return tuple(constraint.text for constraint in self)

    @cached_property
    def linear(self) -> tuple[LinearConstraint, ...]:
        """All linear constraints, each once."""
        found = (linear for constraint in self for linear in constraint.means)
        return tuple(dict.fromkeys(found))

    def allow(self, features: Iterable[int]) -> bool:
        """Whether an answer of these features satisfies all of them."""
        terms_of, adds, slack = self._terms
        left = list(slack)
        for term in {term for j in set(features) for term in terms_of.get(j, ())}:
            constraint, factor = adds[term]
            left[constraint] += factor
        return min(left, default=0) >= 0

    @cached_property
    def _terms(self) -> tuple[dict[int, list[int]], list[tuple[int, int]], list[int]]:
        """The terms of each feature, what each adds to which constraint, and where all begin."""
        terms_of, adds = dict[int, list[int]](), list[tuple[int, int]]()
        for constraint, linear in enumerate(self.linear):
            for factor, any_of in linear.terms:
                for j in any_of:
                    terms_of.setdefault(j, []).append(len(adds))
                adds.append((constraint, factor))
        return terms_of, adds, [-linear.at_least for linear in self.linear]

    @cached_property
    def wanted(self) -> frozenset[int]:
        """Indices that an answer may need for the sake of a constraint."""
        return frozenset(j for linear in self.linear for a, T in linear.terms if a > 0 for j in T)

    @cached_property
    def avoided(self) -> frozenset[int]:
        """Indices that an answer may have to do without for the sake of a constraint."""
        return frozenset(j for linear in self.linear for a, T in linear.terms if a < 0 for j in T)


NO_SIDE_CONSTRAINTS = SideConstraints()


def propagated(
    side: SideConstraints, required: Iterable[int], forbidden: Iterable[int]
) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return what is required and forbidden with all that follows; None where that clashes.

    A feature without which some constraint cannot hold is required, one with which it cannot
    is forbidden, until no more follows.

    >>> from cpx.modelling.side_constraints.text import parsed
    >>> from cpx.modelling.side_constraints.vocabulary import Vocabulary
    >>> names = Vocabulary([("a", [0]), ("b", [1]), ("c", [2])])
    >>> texts = ("implies(a, b)", "not (b and c)")
    >>> side = SideConstraints(tuple(parsed(text, names) for text in texts))
    >>> [sorted(some) for some in propagated(side, [0], [])]
    [[0, 1], [2]]
    >>> propagated(side, [0, 2], []) is None
    True
    """
    chosen, excluded = set(required), set(forbidden)
    if not chosen.isdisjoint(excluded):
        return None
    # A constraint is looked at again when one of its features is decided.
    rows, open_ = side.linear, list(range(len(side.linear)))
    while open_:
        row = rows[open_.pop()]
        alone = row.about.isdisjoint(chosen) and row.about.isdisjoint(excluded)
        decided = row.decides if alone else _decided(row, chosen, excluded)
        if decided is None:
            return None
        asked, refused = decided
        chosen |= asked
        excluded |= refused
        if new := asked | refused:
            open_ += [i for i, row in enumerate(rows) if not row.about.isdisjoint(new)]
            open_ = list(dict.fromkeys(open_))
    if not chosen.isdisjoint(excluded):
        return None
    return frozenset(chosen), frozenset(excluded)


def _decided(
    row: LinearConstraint, chosen: Set[int], excluded: Set[int]
) -> tuple[set[int], set[int]] | None:
    """Return what a constraint requires and forbids besides; None where it cannot hold.

    The sum may be ``spare`` less than the most it can be. A feature that takes more when it is
    chosen is forbidden, one that takes more when it is not is required.
    """
    most, with_it, without_it = 0, dict[int, int](), dict[int, int]()
    for factor, any_of in row.terms:
        holds = not chosen.isdisjoint(any_of)
        left = [j for j in any_of if j not in excluded]
        if factor > 0 and left:
            most += factor
            if not holds and len(left) == 1:
                without_it[left[0]] = without_it.get(left[0], 0) + factor
        elif factor < 0 and holds:
            most += factor
        elif factor < 0:
            for j in left:
                with_it[j] = with_it.get(j, 0) - factor
    spare = most - row.at_least
    if spare < 0:
        return None
    asked = {j for j, loss in without_it.items() if loss > spare}
    return asked, {j for j, loss in with_it.items() if loss > spare}
