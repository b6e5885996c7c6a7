"""Binary trees of sets of features: what proofs by branching share, and side constraints.

A *part* has features that are kept, features that are left out, and free ones: it stands for the
sets of the kept and any free features. A tree of parts is written one line for each, a part before
its own:

- ``split j``: the sets with the free feature j follow, then those without it;
- ``breaks i``: side constraint i of the instance holds for no set of the part;
- what else a kind of proof has: it closes the part, or leaves less of it to the next line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.document import Document, Refused, Undecided, whole_numbers

__all__ = ["Part", "SideConstraints", "root_part", "walk"]

Bools = NDArray[np.bool_]

_MOST_WAITING = 2**28
"""Features of all parts together whose lines are still to come; each takes up two bytes."""


@dataclass(frozen=True)
class Part:
    """The sets that have all ``kept`` features, and none that is ``out``."""

    kept: Bools
    out: Bools

    @property
    def free(self) -> Bools:
        """The features that are neither kept nor left out."""
        return np.asarray(~(self.kept | self.out))

    def halves(self, j: int) -> tuple[Part, Part]:
        """Return the sets with a feature, and those without it."""
        one = np.arange(self.kept.size) == j
        return Part(self.kept | one, self.out), Part(self.kept, self.out | one)


def root_part(n: int, parameters: Mapping[str, Any]) -> Part | None:
    """Return all allowed sets of n features; None where what is required is forbidden."""
    kept, out = np.zeros((2, n), dtype=np.bool_)
    kept[list(parameters.get("required") or ())] = True
    out[list(parameters.get("forbidden") or ())] = True
    return None if (kept & out).any() else Part(kept, out)


class SideConstraints:
    """The side constraints of an instance: each is linear inequalities that a set must satisfy.

    A term of an inequality counts its factor for a set that has one of its features.
    """

    def __init__(self, instance: Mapping[str, Any]) -> None:
        self._each = instance.get("where") or []
        if any("means" not in constraint for constraint in self._each):
            raise Undecided("instance: a side constraint is known by its text only")

    def __len__(self) -> int:
        return len(self._each)

    def breaks(self, number: int, part: Part) -> bool:
        """Whether a constraint holds for no set of a part.

        Proof. A term with a factor above 0 counts at most where the kept and the free features
        have one of its own, one below 0 at least where the kept ones do. The sum of the greatest
        terms is below what one of its inequalities asks for.
        """
        return not _possible(self._each[number], part.kept[None], ~part.out[None])[0]

    def possible(self, kept: Bools, some: Bools) -> Bools:
        """Return which of some parts none of the constraints is broken by, as above.

        Each row has the features that a part keeps, or these and the free ones.
        """
        out = np.ones(len(kept), dtype=np.bool_)
        for constraint in self._each:
            out &= _possible(constraint, kept, some)
        return out

    def refuse_kept(self, words: list[str], part: Part) -> None:
        """Refuse a line that says that no set of a part keeps a constraint, where one may."""
        if not self.breaks(_place(words, len(self)), part):
            raise Refused("the constraint is not broken by all sets")

    def kept_by(self, sets: NDArray[np.int64]) -> Bools:
        """Return which sets keep all constraints; each row has the features of one."""
        out = np.ones(len(sets), dtype=np.bool_)
        for constraint in self._each:
            for linear in constraint["means"]:
                total = np.zeros(len(sets), dtype=object)
                for factor, any_of in linear["terms"]:
                    total += factor * np.isin(sets, any_of).any(axis=1).astype(object)
                out &= total >= linear["at_least"]
        return out

    def features(self, number: int) -> list[int]:
        """Return the features that a constraint is about."""
        terms = (term for linear in self._each[number]["means"] for term in linear["terms"])
        return sorted({j for _, any_of in terms for j in any_of})

    def named(self, n: int, sign: int) -> Bools:
        """Return which of n features are in a term of a factor of some sign."""
        out = np.zeros(n, dtype=np.bool_)
        for constraint in self._each:
            for linear in constraint["means"]:
                for factor, any_of in linear["terms"]:
                    out[any_of] |= factor * sign > 0
        return out

    def which(self, part: Part) -> int | None:
        """Return the first constraint that no set of a part keeps; None if there is none."""
        return next((i for i in range(len(self)) if self.breaks(i, part)), None)


def walk(
    root: Part,
    words: list[str] | None,
    document: Document,
    side: SideConstraints,
    leaf: Callable[[Part, str, list[str]], Part | None],
) -> None:
    """Read a tree of parts.

    words: The first line, if it was read before.
    leaf: Told a part, the rule of its line, and the words that follow. It raises Refused, or
        returns what it leaves of the part to the next line.
    """
    left = [root]
    while left:
        part = left.pop()
        rule, *others = document.line() if words is None else words
        words = None
        with document.named():
            if rule == "split":
                j = _place(others, part.kept.size)
                if not part.free[j]:
                    raise Refused(f"{j} is decided")
                left += reversed(part.halves(j))
                if len(left) * part.kept.size > _MOST_WAITING:
                    raise Refused(f"parts of more than {_MOST_WAITING} features wait")
            elif rule == "breaks":
                side.refuse_kept(others, part)
            elif (rest := leaf(part, rule, others)) is not None:
                left.append(rest)


def _possible(constraint: Mapping[str, Any], kept: Bools, some: Bools) -> Bools:
    out = np.ones(len(kept), dtype=np.bool_)
    for linear in constraint["means"]:
        most = np.zeros(len(kept), dtype=object)
        for factor, any_of in linear["terms"]:
            counts = some if factor > 0 else kept
            most += factor * counts[:, any_of].any(axis=1).astype(object)
        out &= most >= linear["at_least"]
    return out


def _place(words: list[str], size: int) -> int:
    numbers = whole_numbers(words)
    if len(numbers) != 1 or numbers[0] >= size:
        raise Refused(f"a number below {size} is wanted")
    return numbers[0]
