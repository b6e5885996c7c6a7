"""The methods compared by Koriche et al.: the columns of Table 2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from cpx.backends.base import versions_of
from cpx.errors import EngineError, EngineMissing, InvalidOption, UnknownName

__all__ = ["METHODS", "Method", "choose_methods"]


@dataclass(frozen=True, eq=False)
class Method:
    """How an instance is explained.

    Attributes
    ----------
    name, title : str
        Name on the command line, and at the head of its column.
    kind : str
        The problem.
    backend : str
        Who solves it.
    encoding : str or None
        In which encoding; None for the default, or for a backend that needs none.
    m : int
        On how many samples it finds the rules of the table, unless told otherwise.
    parameters : mapping
        Further parameters of the problem.
    published : str or None
        Which of the paper's columns is its like: ``"cop"``, ``"sat"``, ``"anchors"``.
    samples : bool
        Whether it solves a problem on drawn samples; otherwise it asks the classifier itself.
    exact : bool
        Whether a k-monomial must have k features, not at most k.
    """

    name: str
    title: str
    kind: str
    backend: str
    encoding: str | None = None
    m: int = 1000
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    published: str | None = None
    samples: bool = True
    exact: bool = False

    def absent(self) -> str | None:
        """Say why the method cannot be used here; None when it can.

        Examples
        --------
        >>> METHODS["cop"].absent() is None
        True
        """
        from cpx.backends import backend_class
        from cpx.backends.base import require
        from cpx.models import problem_class

        try:
            if self.samples:
                problem_class(self.kind)
            require(backend_class(self.backend.partition(":")[0]))
        except EngineMissing as error:
            return f"not installed: {error}"
        except (UnknownName, EngineError) as error:
            return f"not available: {error}"
        return None

    def describe(self) -> str:
        """Return problem, engine, encoding and parameters in words.

        Examples
        --------
        >>> METHODS["cop"].describe()
        'k-monomial by cpsat, encoding channelling'
        """
        parts = [f"{self.kind} by {self.backend}" if self.samples else self.backend]
        if self.exact:
            parts.append("exactly k features")
        if self.encoding is not None:
            parts.append(f"encoding {self.encoding}")
        parts += [f"{name} = {value}" for name, value in self.parameters.items()]
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the answer, versions included, as plain JSON values."""
        return {
            "method": self.name,
            "problem": self.kind,
            "backend": self.backend,
            "encoding": self.encoding,
            "parameters": dict(self.parameters) | ({"exact": True} if self.exact else {}),
            "versions": _versions(self.backend),
        }


@cache
def _versions(backend: str) -> dict[str, str]:
    from importlib.metadata import version

    from cpx.backends import backend_class

    found = versions_of(backend_class(backend.partition(":")[0]))
    return {"scikit-learn": version("scikit-learn"), **found}


_ALL = (
    # Section 4.1: "Cop" has the channelling constraints of Table 1, "Sat" clauses.
    Method("cop", "Cop", "k-monomial", "cpsat", "channelling", published="cop"),
    Method("sat", "Sat", "negative-only", "cpsat", "clausal", published="sat"),
    Method("anchors", "Anchors", "anchors", "anchors", published="anchors", samples=False),
    Method("loss", "search loss", "k-monomial", "search"),
    Method("exact", "search |S|=k", "k-monomial", "search", exact=True),
    Method(
        "precision",
        "search precision",
        "max-precision",
        "search",
        m=10_000,
        # Five fair bits are met by one sample in 32: the floor lets rules of five features in,
        # and keeps out those that are judged by a few samples.
        parameters=MappingProxyType({"min_coverage": "1/40"}),
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
"""The methods by name, in the order of the columns: three of the paper, three of cpx."""


def choose_methods(
    names: Iterable[str] | None = None, known: Mapping[str, Method] = METHODS
) -> tuple[Method, ...]:
    """Return the named methods, each once, in the order of the columns; all for None.

    Raises
    ------
    UnknownName
        With the nearest name.
    InvalidOption
        When the list is empty.

    Examples
    --------
    >>> [method.name for method in choose_methods(["loss", "cop"])]
    ['cop', 'loss']
    """
    wanted = set(known if names is None else names)
    for name in wanted:
        if name not in known:
            raise UnknownName("method", name, known)
    if not wanted:
        raise InvalidOption("methods must name at least one method")
    return tuple(method for method in known.values() if method.name in wanted)
