"""Linear constraints over what an answer contains: the form that texts are brought into."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

__all__ = [
    "KEEPS_SIDE_CONSTRAINTS",
    "NO_SIDE_CONSTRAINTS",
    "LinearConstraint",
    "SideConstraint",
    "SideConstraints",
]


@dataclass(frozen=True)
class LinearConstraint:
    """A sum of what an answer contains must be at least so much.

    Attributes
    ----------
    terms : tuple of (int, tuple of int)
        A coefficient, not 0, and indices: it counts, once, when the answer contains one of
        these or more.
    at_least : int

    Examples
    --------
    >>> at_most_one = LinearConstraint(((-1, (0,)), (-1, (2, 3))), -1)
    >>> at_most_one.holds([2, 3]), at_most_one.holds([0, 3])
    (True, False)
    """

    terms: tuple[tuple[int, tuple[int, ...]], ...]
    at_least: int

    def holds(self, chosen: Collection[int]) -> bool:
        """Whether an answer of these indices satisfies the constraint."""
        total = sum(factor for factor, any_of in self.terms if not _apart(any_of, chosen))
        return total >= self.at_least

    @cached_property
    def is_clause(self) -> bool:
        """Whether it asks for one of its positive terms, or the lack of one of the others."""
        negative = sum(factor < 0 for factor, _ in self.terms)
        unit = all(abs(factor) == 1 for factor, _ in self.terms)
        return unit and self.at_least == 1 - negative


def _apart(some: tuple[int, ...], others: Collection[int]) -> bool:
    return not any(j in others for j in some)


@dataclass(frozen=True)
class SideConstraint:
    """A constraint as it was written, and what it means.

    Attributes
    ----------
    text : str
    means : tuple of LinearConstraint
        All of them must hold.
    untrue : tuple of str
        Conditions in the text that no answer can contain, since they are not true of x.
    """

    text: str
    means: tuple[LinearConstraint, ...]
    untrue: tuple[str, ...] = ()


@dataclass(frozen=True)
class SideConstraints:
    """The constraints that the user adds to a problem; all of them must hold.

    Examples
    --------
    >>> either = SideConstraint("a or b", (LinearConstraint(((1, (0,)), (1, (1,))), 1),))
    >>> side = SideConstraints((either,))
    >>> side.allow([1, 4]), side.allow([4]), bool(side)
    (True, False, True)
    """

    constraints: tuple[SideConstraint, ...] = ()

    def __len__(self) -> int:
        return len(self.constraints)

    def __iter__(self) -> Iterator[SideConstraint]:
        return iter(self.constraints)

    @property
    def texts(self) -> tuple[str, ...]:
        """The constraints as they were written."""
        return tuple(constraint.text for constraint in self.constraints)

    @cached_property
    def linear(self) -> tuple[LinearConstraint, ...]:
        """All linear constraints, each once."""
        found = (linear for constraint in self.constraints for linear in constraint.means)
        return tuple(dict.fromkeys(found))

    def allow(self, features: Iterable[int]) -> bool:
        """Whether an answer of these features satisfies all of them."""
        if not self.constraints:
            return True
        chosen = frozenset(features)
        return all(linear.holds(chosen) for linear in self.linear)

    @cached_property
    def wanted(self) -> frozenset[int]:
        """Indices that an answer may need for the sake of a constraint."""
        return frozenset(j for linear in self.linear for a, T in linear.terms if a > 0 for j in T)

    @cached_property
    def avoided(self) -> frozenset[int]:
        """Indices that an answer may have to do without for the sake of a constraint."""
        return frozenset(j for linear in self.linear for a, T in linear.terms if a < 0 for j in T)


NO_SIDE_CONSTRAINTS = SideConstraints()

KEEPS_SIDE_CONSTRAINTS = "keeps the side constraints"
"""What is said of the answers that compete, where there are some."""
