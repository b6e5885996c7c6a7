"""Parameters of problems, declared once: how each is checked, saved and described.

A problem is a frozen dataclass, and every field of it is declared::

    k: int = field(metadata=parameter(Integer(0, "n_features"), "maximum number of features"))

What :func:`parameter` returns says all there is to know of the field. From it come the checks when
a problem is made, the saved form (:mod:`cpx.modelling.saved`), its JSON Schema, the table of
parameters in the documentation and what ``cpx show`` says of an instance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from cpx.answers.values import exact_percent
from cpx.errors import InvalidInstance, shown
from cpx.support.validation import feature_list, index, share, weight_list

__all__ = [
    "CONTEXT",
    "NAME",
    "Choice",
    "Context",
    "Flag",
    "Indices",
    "Integer",
    "Kind",
    "ListKind",
    "Parameter",
    "ShareOf",
    "Text",
    "Weights",
    "check_parameters",
    "given_parameters",
    "parameter",
    "parameters_of",
]

Json = dict[str, Any]

_MOST = {"n_features": "the number of features", "d": "the number of features"}
"""What attributes of problems are that limit an integer."""


class Kind(ABC):
    """What a parameter can be: a number, a choice, a list of features, ...

    A subclass says how a value is checked, and what it is as JSON.
    """

    keeps_empty: ClassVar[bool] = False
    """Whether an empty default of a field stays as it is, unchecked."""

    # A subclass has attributes of the class where these are always the same.

    @property
    def schema(self) -> Json:
        """JSON Schema of a value."""
        return {}

    @property
    def range(self) -> str:
        """What values there are, for tables of parameters."""
        return ""

    @abstractmethod
    def check(self, name: str, value: Any, problem: Any) -> Any:
        """Return the value as the problem keeps it, or raise InvalidInstance naming it.

        The fields that are declared before this one are checked already, and may be read.
        """

    def saved(self, value: Any) -> Any:
        """Return a checked value that says something as JSON; None to leave it out of files."""
        return value

    def words(self, value: Any) -> str:
        """Return a checked value in words, for people."""
        return str(value)

    # Of a field that stands in a file under more keys than its own:

    def entries(self, key: str, value: Any, arrays: bool) -> Json:
        """Return what a file has of a checked value: a key with its value, or more, or none.

        Parameters
        ----------
        key : str
        value
        arrays : bool
            Whether large arrays may stay arrays.
        """
        saved = self.saved(value)
        return {} if saved is None else {key: saved}

    def read(self, key: str, holder: Mapping[str, Any]) -> Any:
        """Return the argument that a file gives; its key is there, or is not needed."""
        return holder[key]

    def properties(self, key: str) -> Json:
        """Return the schemas of the keys that a file can have."""
        return {key: self.schema}

    def needed(self, key: str) -> tuple[str, ...]:
        """Return the keys that a file must have."""
        return (key,)


@dataclass(frozen=True)
class Parameter:
    """One declared field of a problem; see :func:`parameter`."""

    kind: Kind
    meaning: str
    key: str | None
    needed: bool | None
    place: int
    name: str = ""
    default: Any = None

    @property
    def required(self) -> bool:
        """Whether a file must have it."""
        return self.default is MISSING if self.needed is None else self.needed


def parameter(
    kind: Kind,
    meaning: str,
    *,
    key: str | None = None,
    needed: bool | None = None,
    place: int = 0,
) -> dict[str, Parameter]:
    """Declare a field of a problem: the ``metadata`` of :func:`dataclasses.field`.

    Parameters
    ----------
    kind : Kind
    meaning : str
        What it means, in some words.
    key : str, optional
        The key of files under which it stands beside ``parameters``. Default: it is one of the
        ``parameters``, under the name of the field.
    needed : bool, optional
        Whether files must have it. Default: whether the field has no default.
    place : int
        Where it stands in files: those of a lower place come first, others in the order of the
        fields; what is beside ``parameters`` and below 0 comes before them.
    """
    return {"parameter": Parameter(kind, meaning, key, needed, place)}


_known: dict[type, dict[str, Parameter]] = {}


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Return the declared fields of a class of problems, in their order.

    A subclass that gives a field another default need not declare it again.

    Raises
    ------
    TypeError
        For a field that is not declared: it would be lost when the problem is saved.
    """
    if cls in _known:
        return _known[cls]
    found = {}
    for field in fields(cls):
        declared = _declaration(cls, field)
        if declared is None:
            raise TypeError(
                f"{cls.__name__}.{field.name} is not declared: "
                "field(metadata=cpx.modelling.parameters.parameter(...))"
            )
        default = field.default_factory() if callable(field.default_factory) else field.default
        found[field.name] = replace(declared, name=field.name, default=default)
    _known[cls] = found
    return found


def check_parameters(problem: Any) -> None:
    """Check the declared fields of a problem in their order, and set what the checks return."""
    for name, declared in parameters_of(type(problem)).items():
        value = getattr(problem, name)
        if declared.kind.keeps_empty and value is declared.default and _is_empty(value):
            continue
        object.__setattr__(problem, name, declared.kind.check(name, value, problem))


def given_parameters(problem: Any) -> list[tuple[Parameter, Any]]:
    """Return the declared fields that say something, with their values.

    An optional one that is None, false or empty says nothing, and is left out of files.
    """
    given = [(p, getattr(problem, name)) for name, p in parameters_of(type(problem)).items()]
    return [(p, value) for p, value in given if p.required or not _is_empty(value)]


def _is_empty(value: Any) -> bool:
    return value is None or value is False or (hasattr(value, "__len__") and not len(value))


def _declaration(cls: type, field: Field[Any]) -> Parameter | None:
    for base in cls.__mro__:
        known = vars(base).get("__dataclass_fields__", {}).get(field.name)
        if known is not None and "parameter" in known.metadata:
            return cast(Parameter, known.metadata["parameter"])
    return None


# --------------------------------------------------------------------- kinds


@dataclass(frozen=True)
class Integer(Kind):
    """An integer of at least ``least``; at most the attribute ``most`` of the problem.

    With ``optional``, None stands for no value.
    """

    least: int = 0
    most: str | None = None
    optional: bool = False

    def check(self, name: str, value: Any, problem: Any) -> int | None:
        """Return the integer, or None where it is optional."""
        if value is None and self.optional:
            return None
        number = index(name, value)
        most = None if self.most is None else int(getattr(problem, self.most))
        if number < self.least or (most is not None and number > most):
            raise InvalidInstance(f"{name} must {self._limits(most)}, got {shown(number)}")
        return number

    def _limits(self, most: int | None) -> str:
        if most is not None:
            return f"be between {self.least} and {self._most} {most}"
        return f"be at least {self.least}" if self.least else "not be negative"

    @property
    def schema(self) -> Json:
        """JSON Schema of a value."""
        return {"type": "integer", "minimum": self.least}

    @property
    def range(self) -> str:
        """What values there are."""
        return f"{self.least} to {self._most}" if self.most else f"at least {self.least}"

    @property
    def _most(self) -> str:
        return _MOST.get(str(self.most), str(self.most))


class Flag(Kind):
    """True or false."""

    keeps_empty = True
    range: ClassVar[str] = "true or false"
    schema: ClassVar[Json] = {"type": "boolean"}

    def check(self, name: str, value: Any, problem: Any) -> bool:
        """Return the truth value."""
        if not isinstance(value, bool | np.bool_):
            raise InvalidInstance(f"{name} must be true or false, got {shown(value)}")
        return bool(value)


@dataclass(frozen=True)
class ShareOf(Kind):
    """An exact share from 0 to 1; with ``optional``, None stands for the default of the class."""

    optional: bool = False

    range: ClassVar[str] = "0 to 1"
    schema: ClassVar[Json] = {
        "type": ["string", "number"],
        "pattern": "^([0-9]+/[0-9]*[1-9][0-9]*|[0-9]+(\\.[0-9]*)?|\\.[0-9]+)$",
        "minimum": 0,
        "maximum": 1,
    }

    def check(self, name: str, value: Any, problem: Any) -> Fraction | None:
        """Return the share as a fraction."""
        if value is None and self.optional:
            value = parameters_of(type(problem))[name].default
            if value is None:
                return None
        return share(name, value)

    def saved(self, value: Fraction) -> str:
        """Return the fraction as text."""
        return str(value)

    def words(self, value: Fraction) -> str:
        """Return percents where they are exact."""
        return exact_percent(value)

    def read(self, key: str, holder: Mapping[str, Any]) -> Fraction:
        """Return the share; ``null`` is none, since a class may have another default."""
        return share(key, holder[key])


@dataclass(frozen=True)
class Choice(Kind):
    """One of some names; ``unsaved`` is left out of files."""

    known: tuple[str, ...]
    unsaved: str | None = None

    def check(self, name: str, value: Any, problem: Any) -> str:
        """Return the name."""
        if value not in self.known:
            raise InvalidInstance(
                f"{name} must be one of {', '.join(self.known)}, got {shown(value)}"
            )
        return str(value)

    def saved(self, value: str) -> str | None:
        """Return the name, or None for the one that is left out."""
        return None if value == self.unsaved else value

    @property
    def schema(self) -> Json:
        """JSON Schema of a value."""
        return {"enum": list(self.known)}

    @property
    def range(self) -> str:
        """What values there are."""
        return ", ".join(f"`{name}`" for name in self.known)


class ListKind(Kind):
    """Something whose values are tuples, or None."""

    def saved(self, value: tuple[Any, ...] | None) -> list[Any]:
        """Return a list."""
        return list(value or ())

    def words(self, value: tuple[Any, ...]) -> str:
        """Return them with commas."""
        return ", ".join(map(str, value))


@dataclass(frozen=True)
class Indices(ListKind):
    """Different indices below the attribute ``n_features`` of the problem, increasing."""

    what: str = "feature"

    keeps_empty: ClassVar[bool] = True
    schema: ClassVar[Json] = {
        "type": "array",
        "items": {"type": "integer", "minimum": 0},
        "uniqueItems": True,
    }

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, ...]:
        """Return the indices in order."""
        return feature_list(name, value, problem.n_features, self.what)

    def words(self, value: tuple[int, ...]) -> str:
        """Return them as a set."""
        return "{" + ", ".join(map(str, value)) + "}"

    @property
    def range(self) -> str:
        """What values there are."""
        return f"{self.what} indices"


class Weights(ListKind):
    """A positive integer for each feature, or None."""

    range: ClassVar[str] = "a positive integer per feature"
    schema: ClassVar[Json] = {"type": "array", "items": {"type": "integer", "minimum": 1}}

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, ...] | None:
        """Return the integers."""
        return None if value is None else weight_list(name, value, problem.n_features)


class Text(Kind):
    """A string."""

    keeps_empty = True
    schema: ClassVar[Json] = {"type": "string"}

    def check(self, name: str, value: Any, problem: Any) -> str:
        """Return the string."""
        if not isinstance(value, str):
            raise InvalidInstance(f"{name} must be a string, got {shown(value)}")
        return value


class Context(Kind):
    """Where an instance comes from: a mapping without influence on solutions."""

    schema: ClassVar[Json] = {"type": "object"}

    def check(self, name: str, value: Any, problem: Any) -> Mapping[str, Any]:
        """Return the mapping."""
        if not isinstance(value, Mapping):
            raise InvalidInstance(f"{name} must be an object, got {shown(value)}")
        return value

    def saved(self, value: Mapping[str, Any]) -> Json:
        """Return a dict."""
        return dict(value)


NAME = parameter(Text(), "name of the instance, free", key="name", place=-1)
CONTEXT = parameter(Context(), "where the instance comes from; free", key="context", place=9)
