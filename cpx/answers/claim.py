"""What is claimed of an answer, as data, and the words that are made of it when it is printed.

A saved answer has no sentences: what is printed follows from numbers that the checker recomputes.
The words of a kind of problem are in the ``text`` of its family, which registers them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from cpx.answers.values import Value, from_json, plural, to_json
from cpx.errors import InvalidInstance, shown
from cpx.support.families import families
from cpx.support.lazy_imports import named_object

__all__ = ["OUTCOME", "Claim", "Words", "competing", "exact", "source_words", "words_of"]

OUTCOME = ("optimal", "value", "bound", "statement")
"""What a claim shares with the result that it belongs to, and is saved there."""


class Words(NamedTuple):
    """What is said of an answer: what was proved, what it means for other rows, and notes."""

    proved: str = ""
    guarantee: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """What is claimed of an answer; all values are those of JSON, but value and bound.

    problem: The kind of the problem.
    over: Which answers compete: the parameters of the problem, of a list its length. ``where`` is
        the number of side constraints.
    figures: What else the words have, by the kind: counts of samples, units, ...
    optimal: Whether no answer is better; None where nothing is said of that.
    value, bound: As in the result.
    statement: As in the result: where the statement came from, unless it is one of cpx.
    best_of_ties: Whether, of the optimal answers, none is better by what decides ties.
    beyond: What holds of more than the samples, and with which probability.

    >>> claim = Claim("unknown", {"k": 2}, optimal=True, value=3, bound=3)
    >>> words_of(claim, None).proved
    'value 3 is optimal'
    >>> Claim.from_dict(claim.to_dict()) == claim
    True
    """

    problem: str
    over: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    optimal: bool | None = None
    value: Value | None = None
    bound: Value | None = None
    statement: Mapping[str, Any] = field(default_factory=dict)
    best_of_ties: bool = False
    beyond: Mapping[str, Any] | None = None

    def without_outcome(self) -> Claim:
        """Return what is claimed of the answer whatever was proved of its value."""
        return Claim(self.problem, self.over, self.figures)

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as JSON values; what says nothing is left out."""
        data = {name: value for name, value in vars(self).items() if value not in ({}, None)}
        data |= {"over": dict(self.over), "figures": dict(self.figures)}
        data |= {name: to_json(data[name]) for name in ("value", "bound") if name in data}
        if not self.best_of_ties:
            del data["best_of_ties"]
        return data

    @classmethod
    def from_dict(cls, data: Any) -> Claim:
        """Read what :meth:`to_dict` wrote.

        Raises InvalidInstance: For what is no claim.
        """
        if not isinstance(data, Mapping) or not isinstance(data.get("problem"), str):
            raise InvalidInstance(f"claim must name a problem, got {shown(data)}")
        for name in ("over", "figures", "statement", "beyond"):
            if not isinstance(data.get(name, {}), Mapping):
                raise InvalidInstance(f"claim: {name} must be an object, got {shown(data[name])}")
        known = {name: data[name] for name in vars(cls("")) if name in data}
        known |= {name: from_json(name, data.get(name)) for name in ("value", "bound")}
        return cls(**known)


def words_of(claim: Claim, found: Any) -> Words:
    """Return what is said of an explanation of which something is claimed."""
    name = next((f.words[claim.problem] for f in families() if claim.problem in f.words), None)
    try:
        said = _plain(claim) if name is None else _named(name)(claim, found)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # A file that was altered: figures are missing, or are none.
        return Words("what is claimed cannot be read")
    if said.proved and claim.statement:
        return said._replace(proved=f"{said.proved}; {source_words(claim.statement)}")
    return said


def _named(name: str) -> Callable[[Claim, Any], Words]:
    found: Callable[[Claim, Any], Words] = named_object(name, "words of a claim", InvalidInstance)
    return found


def _plain(claim: Claim) -> Words:
    """Return the words of kinds that have none of their own."""
    value, bound = claim.value, claim.bound
    if claim.optimal is None:
        return Words()
    if claim.optimal:
        return Words(f"value {value} is optimal")
    if bound is None:
        return Words(f"value {value}, without a bound")
    return Words(f"value {value}, not proved optimal: the bound is {bound}")


def exact(data: Mapping[str, Any], name: str) -> Fraction:
    """Return a number of a claim, 0 for none; raise InvalidInstance for what is no number.

    That a file says so is not believed: the powers of ten that a fraction reads may be huge.
    """
    return Fraction(from_json(name, data.get(name)) or 0)


_ASKED = {
    "required": "has what is required",
    "forbidden": "has nothing forbidden",
    "one_per_group": "has at most one condition of each group",
    "where": "keeps the side constraints",
}
"""What is said of all answers that compete where a parameter is given."""


def competing(
    over: Mapping[str, Any], what: str, before: Iterable[str] = (), after: Iterable[str] = ()
) -> str:
    """Return what an answer is compared with: ``"set that has nothing forbidden"``.

    over: As in a claim.
    before, after: What else is said of it, before and after what all kinds of problems have.
    """
    parts = [*before, *(told for name, told in _ASKED.items() if over.get(name)), *after]
    return f"{what} that {' and '.join(parts)}" if parts else what


def source_words(statement: Mapping[str, Any]) -> str:
    """Return what is known of a statement that is none of cpx, in words.

    statement: ``encoding``; ``marked`` where it is marked as another problem; ``wrong``, where it
        was seen to be one; ``sets``, how many sets of features of this instance it was compared
        on, and ``whole``, whether these are all; ``cases``, how many tiny instances it agrees on.

    >>> source_words({"encoding": "mine", "marked": True})
    "the statement is your encoding 'mine', which is marked as another problem"
    """
    told, sets = f"the statement is your encoding {statement['encoding']!r}", statement.get("sets")
    if statement.get("marked"):
        return f"{told}, which is marked as another problem"
    if wrong := statement.get("wrong"):
        return f"{told}, which is another problem: {wrong}"
    agrees = "it agrees with the definition on"
    if statement.get("whole"):
        return f"{told}: {agrees} all {sets} sets of this instance"
    cases = statement.get("cases")
    parts = [plural(cases, "tiny instance")] if cases else []
    parts += [f"{sets} sets of this instance"] if sets else []
    known = f"{agrees} {' and on '.join(parts)}" if parts else "it is held against no definition"
    return f"{told}, and proofs are of it: {known}"
