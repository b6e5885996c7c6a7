"""Literals and rules: what a person reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cpx.answers.html import Shown
from cpx.answers.text import Block, Implication

__all__ = ["Literal", "Rule"]


@dataclass(frozen=True, order=True)
class Literal:
    """One condition of a rule: Boolean feature ``feature`` has the value it has in x.

    Attributes
    ----------
    feature : int
        Index of the Boolean feature, from 0.
    text : str
        The condition in words, true for the explained instance, such as
        ``"worst radius <= 14.9"``.
    """

    feature: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Rule(Shown):
    """A conjunction of literals and the class it stands for.

    Attributes
    ----------
    literals : tuple of Literal
        By increasing feature.
    conclusion : str
        The class.
    conditions : tuple of str
        The same conjunction as it is printed, with the literals of one column joined;
        empty when the literals are printed themselves.

    Examples
    --------
    >>> print(Rule.of([3, 0], ["a <= 1", "b", "c", "d > 2"], "yes"))
    a <= 1 and d > 2 => yes
    >>> print(Rule.of([], ["a"], "yes"))
    (always) => yes
    """

    literals: tuple[Literal, ...]
    conclusion: str = "same class as x"
    conditions: tuple[str, ...] = ()

    joint: ClassVar[str] = "and"
    empty: ClassVar[str] = "(always)"

    @classmethod
    def of(
        cls, features: Iterable[int], names: tuple[str, ...] | list[str], conclusion: str
    ) -> Rule:
        """Build the rule of the given feature indices, in increasing order."""
        return cls(tuple(Literal(j, names[j]) for j in sorted(set(features))), conclusion)

    @property
    def features(self) -> tuple[int, ...]:
        """Indices of the features, increasing."""
        return tuple(literal.feature for literal in self.literals)

    def __len__(self) -> int:
        return len(self.literals)

    def __str__(self) -> str:
        return str(self._implication)

    @property
    def _implication(self) -> Implication:
        return Implication(self.words, self.joint, self.empty, self.conclusion)

    def blocks(self) -> list[Block]:
        """Return what is printed and shown."""
        return [self._implication]

    @property
    def words(self) -> tuple[str, ...]:
        """The conditions as they are printed."""
        return self.conditions or tuple(literal.text for literal in self.literals)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain JSON values."""
        return {
            "literals": [[literal.feature, literal.text] for literal in self.literals],
            "conclusion": self.conclusion,
            "conditions": list(self.conditions),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Rule:
        """Read what :meth:`to_dict` wrote."""
        literals = tuple(Literal(int(j), str(text)) for j, text in data["literals"])
        return cls(literals, str(data["conclusion"]), tuple(data["conditions"]))
