"""How problems declare their side constraints: what is accepted, and what files have of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from cpx.errors import InvalidInstance, shown
from cpx.modelling.parameters import Json, Kind, parameter
from cpx.modelling.side_constraints.form import (
    NO_SIDE_CONSTRAINTS,
    LinearConstraint,
    SideConstraint,
    SideConstraints,
)
from cpx.modelling.side_constraints.text import parsed

_INDICES: Json = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}
_LINEAR: Json = {
    "type": "object",
    "required": ["terms", "at_least"],
    "additionalProperties": False,
    "properties": {
        "terms": {
            "type": "array",
            "items": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, _INDICES],
                "minItems": 2,
                "maxItems": 2,
            },
        },
        "at_least": {"type": "integer"},
    },
}
_MOST = 1000


class Where(Kind):
    """Constraints as texts; a file has what each means as well, which must agree."""

    keeps_empty = True
    range: ClassVar[str] = "texts, see the page on side constraints"
    schema: ClassVar[Json] = {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["text"],
            "additionalProperties": False,
            "properties": {
                "text": {"type": "string"},
                "means": {"type": "array", "items": _LINEAR},
                "untrue": {"type": "array", "items": {"type": "string"}},
            },
        },
    }

    def check(self, name: str, value: Any, problem: Any) -> SideConstraints:
        """Return the constraints with what they mean; a text is parsed by the problem's names."""
        given = [] if value is None else texts_of(value)
        if not given:
            return NO_SIDE_CONSTRAINTS
        if len(given) > _MOST:
            raise InvalidInstance(f"where has at most {_MOST} constraints, got {len(given)}")
        untrue = {n for c in given if isinstance(c, SideConstraint) for n in c.untrue}
        vocabulary = problem._vocabulary(untrue)
        return SideConstraints(tuple(self._checked(c, vocabulary) for c in given))

    def _checked(self, given: Any, vocabulary: Any) -> SideConstraint:
        if not isinstance(given, SideConstraint):
            return parsed(given, vocabulary)
        if given.means and not given.text:
            return given  # of code, in numbers alone
        found = parsed(given.text, vocabulary)
        if given.means and given.means != found.means:
            raise InvalidInstance(
                f"where {shown(given.text)}: what the file says it means is not what it means"
            )
        return found

    def saved(self, value: SideConstraints) -> list[Any]:
        """Return texts, and what they mean."""
        return [_written(constraint) for constraint in value]

    def read(self, key: str, holder: Mapping[str, Any]) -> SideConstraints:
        """Return the constraints of a file, to be checked."""
        given = holder[key]
        if not isinstance(given, list):
            raise InvalidInstance(f"{key} must be a list, got {shown(given)}")
        return SideConstraints(tuple(_read(f"{key}[{i}]", entry) for i, entry in enumerate(given)))

    def words(self, value: SideConstraints) -> str:
        """Return the texts."""
        return "; ".join(value.texts)


def texts_of(given: object) -> list[Any]:
    """Return one text or several as a list."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Iterable):
        return list(given)
    raise InvalidInstance(f"where must be a text or a list of texts, got {shown(given)}")


def _written(constraint: SideConstraint) -> Json:
    means = [
        {"terms": [[factor, list(any_of)] for factor, any_of in linear.terms]}
        | {"at_least": linear.at_least}
        for linear in constraint.means
    ]
    untrue = {"untrue": list(constraint.untrue)} if constraint.untrue else {}
    return {"text": constraint.text, "means": means, **untrue}


def _read(name: str, entry: Any) -> SideConstraint:
    if not isinstance(entry, Mapping) or not {"text"} <= set(entry) <= {"text", "means", "untrue"}:
        raise InvalidInstance(f"{name} must have a text, and may have means, got {shown(entry)}")
    text, means, untrue = entry["text"], entry.get("means", []), entry.get("untrue", [])
    if not isinstance(text, str) or not text or not isinstance(means, list):
        raise InvalidInstance(f"{name} must have a text, got {shown(entry)}")
    if not isinstance(untrue, list) or not all(isinstance(n, str) for n in untrue):
        raise InvalidInstance(f"{name}: untrue must be a list of texts, got {shown(untrue)}")
    linear = tuple(_linear(f"{name}.means[{i}]", part) for i, part in enumerate(means))
    return SideConstraint(text, linear, tuple(untrue))


def _linear(name: str, part: Any) -> LinearConstraint:
    try:
        if set(part) != {"terms", "at_least"} or type(part["at_least"]) is not int:
            raise TypeError
        terms = tuple((_integer(f), tuple(map(_integer, any_of))) for f, any_of in part["terms"])
    except (TypeError, ValueError):
        raise InvalidInstance(
            f"{name} must have terms, each an integer and indices, and an integer at_least, got "
            + shown(part)
        ) from None
    return LinearConstraint(terms, part["at_least"])


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


SIDE_CONSTRAINTS = parameter(
    Where(), "further constraints on what an answer contains, as texts", key="where", place=1
)
"""The declaration of the side constraints of a problem."""
