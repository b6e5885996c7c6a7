"""The result of a solve: status, value, bound, explanation and times, as JSON and as text.

The three questions are kept apart: :class:`Termination` says why the engine
stopped, :class:`Status` what was proved about the answer, and
``Result.raw_status`` repeats the engine's own words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from cpx.answers.claim import OUTCOME, source_words
from cpx.answers.explanation import Explanation, explanation_of
from cpx.answers.html import Shown
from cpx.answers.proof import Proof
from cpx.answers.text import Block, Fact, Facts, Paragraph, Tone, as_text, figures
from cpx.answers.values import (
    TracePoint,
    Value,
    from_json,
    relative_gap,
    to_json,
    trace_to_json,
)
from cpx.errors import InvalidInstance, shown
from cpx.support.files import parse_json

__all__ = ["Result", "Status", "Termination", "Times", "TracePoint", "relative_gap"]


class Status(StrEnum):
    """What was proved.

    ``OPTIMAL`` is never reported without a bound that meets the objective, and
    ``INFEASIBLE`` never after an interrupted or timed-out search.
    """

    OPTIMAL = "OPTIMAL"
    FEASIBLE = "FEASIBLE"
    INFEASIBLE = "INFEASIBLE"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


class Termination(StrEnum):
    """Why the engine stopped."""

    COMPLETED = "COMPLETED"
    TIME_LIMIT = "TIME_LIMIT"
    MEMORY_LIMIT = "MEMORY_LIMIT"
    INTERRUPTED = "INTERRUPTED"
    SOLVER_ERROR = "SOLVER_ERROR"


@dataclass(frozen=True)
class Times:
    """Seconds spent, by phase; ``cpu`` is processor time of the solving process.

    ``total`` covers stating, compiling, solving and checking.
    """

    state: float = 0.0
    compile: float = 0.0
    solve: float = 0.0
    total: float = 0.0
    cpu: float = 0.0


_TONES: dict[Status, Tone] = {
    Status.OPTIMAL: "good",
    Status.INFEASIBLE: "good",
    Status.ERROR: "bad",
}
_NOTHING = {
    Status.INFEASIBLE: "Nothing satisfies the constraints; this is proved.",
    Status.UNKNOWN: "Nothing was found within the limits.",
}

# Seconds and counts are smaller.
_LARGEST = 1e300

# Types of the JSON values that are taken over as they are.
_KINDS: dict[str, Any] = {
    "raw_status": str,
    "sizes": Mapping,
    "statistics": Mapping,
    "backend": str,
    "solver": str,
    "encoding": str,
    "versions": Mapping,
    "options": Mapping,
    "warnings": list,
    "memory": int | None,
    "verified": bool,
    "error": str,
    "clash": list,
    "statement": Mapping,
    "start": Mapping | None,
    "prediction": Mapping | None,
}


# Which results have only where there is something to say.
_ABSENT: dict[str, Any] = {
    "error": "",
    "clash": [],
    "statement": {},
    "start": None,
    "prediction": None,
    "statistics": {},
}


def _numbers(values: Iterable[object]) -> Iterator[object]:
    """Yield the values, of lists their entries."""
    for value in values:
        yield from value if isinstance(value, list) else [value]


def _predicted(of: Mapping[str, Any]) -> Iterator[object]:
    """Yield the seconds and megabytes of a prediction."""
    for cost in (of, *of.get("passed_over", {}).values()):
        yield from (cost["seconds"], cost["megabytes"])


def _require(key: str, kind: type, values: Iterable[object]) -> None:
    """Refuse values that are not of a kind; numbers must be finite."""
    for value in values:
        if kind is str:
            good = isinstance(value, str)
        else:
            wanted = kind is float or isinstance(value, int)
            good = wanted and isinstance(value, int | float) and abs(value) < _LARGEST
        if not good:
            raise InvalidInstance(f"result: {key} has a wrong value, got {shown(value)}")


@dataclass(frozen=True)
class Result(Shown):
    """The answer of one backend to one problem.

    Attributes
    ----------
    status : Status
        What was proved.
    termination : Termination
        Why the engine stopped.
    raw_status : str
        The engine's own word for it.
    objective : int, Fraction or None
        Value of ``explanation``, recomputed from the data, never the engine's claim; a
        fraction where the problem's objective is a ratio.
    bound : int, Fraction or None
        Proven bound: no solution is better than this. For a minimisation,
        ``bound <= optimum <= objective``, for a maximisation the reverse.
    explanation : Explanation or None
        The best solution found.
    trace : tuple of TracePoint
        Events in the order of their time.
    times : Times
        Seconds by phase.
    sizes : dict of str to int
        ``variables``, ``constraints``, ``clauses``, ``soft``, ``nonzeros`` of the
        compiled form, those that apply.
    statistics : dict of str to int, or to list of int
        What the search did: ``nodes``, ``conflicts``, ``lp_iterations`` and more, as far as the
        engine tells; :data:`cpx.answers.statistics.NAMES` says what they mean.
    backend, solver, encoding : str
        Who answered and in which encoding the problem was stated.
    versions : dict of str to str
        Versions of cpx and of the packages the engine uses.
    options : dict
        The options of the solve.
    warnings : tuple of str
        What the user should know: degenerate data, options not honoured.
    memory : int or None
        Peak resident memory of the worker process in bytes; None for a solve in process.
    verified : bool
        Whether the independent checker confirmed objective and constraints. A bound is the
        engine's word unless a proof comes with it.
    error : str
        What went wrong, where the status is ERROR. Such a result claims nothing: it has no bound,
        and its explanation no claim.
    statement : mapping
        Where the statement that was solved came from and what is known of it, unless it is in an
        encoding of cpx: see :func:`cpx.answers.claim.source_words`.
    clash : tuple of str
        A smallest set of side constraints that no answer satisfies together, where that is why
        there is none.
    start : mapping or None
        The solution of another method that the engine began with, where it was given one:
        ``method``, ``value`` and the ``seconds`` after which it was there.
    prediction : mapping or None
        Where the engine chose the encoding by what it was predicted to take: ``seconds`` of
        processor time and ``megabytes`` to state and to compile it, and, by name, those of the
        encodings ``passed_over`` because they would have taken too long.
    proof : Proof or None
        What shows bound or infeasibility to who does not trust the engine, where it was asked
        for; it is saved in a file of its own.
    """

    status: Status
    termination: Termination
    raw_status: str = ""
    objective: Value | None = None
    bound: Value | None = None
    explanation: Explanation | None = None
    trace: tuple[TracePoint, ...] = ()
    times: Times = field(default_factory=Times)
    sizes: Mapping[str, int] = field(default_factory=dict)
    statistics: Mapping[str, int | list[int]] = field(default_factory=dict)
    backend: str = ""
    solver: str = ""
    encoding: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    memory: int | None = None
    verified: bool = False
    error: str = ""
    clash: tuple[str, ...] = ()
    statement: Mapping[str, Any] = field(default_factory=dict)
    start: Mapping[str, Any] | None = None
    prediction: Mapping[str, Any] | None = None
    proof: Proof | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Let nothing that was refuted be claimed, whoever makes the result or reads it."""
        if self.status is not Status.ERROR:
            return
        points = (TracePoint(seconds, value, None) for seconds, value, _ in self.trace)
        claimless: dict[str, Any] = {"bound": None, "trace": tuple(points), "proof": None}
        if self.explanation is not None:
            claimless["explanation"] = replace(self.explanation, claim=None)
        for name, value in claimless.items():
            object.__setattr__(self, name, value)

    @property
    def gap(self) -> float | None:
        """Relative gap between objective and bound, ``None`` when one is missing."""
        return relative_gap(self.objective, self.bound)

    @property
    def proved(self) -> bool:
        """Whether the question is closed: an optimum or infeasibility was proved."""
        return self.status in (Status.OPTIMAL, Status.INFEASIBLE)

    @property
    def refuted(self) -> bool:
        """Whether the engine ended with an answer, and the answer is wrong.

        Its value is not that of its rule, its bound is beyond the value of a known solution, or
        the independent checker found a fault.
        """
        wrong = self.termination is not Termination.SOLVER_ERROR and bool(self.error)
        return self.status is Status.ERROR and wrong

    @property
    def engine(self) -> str:
        """Backend and solver as one name, such as ``"milp:highs"``."""
        return f"{self.backend}:{self.solver}" if self.solver else self.backend

    @property
    def remarks(self) -> tuple[str, ...]:
        """The warnings, and which side constraints clash, for messages."""
        clash = " and ".join(map(repr, self.clash))
        return (*self.warnings, *([f"side constraints clash: {clash}"] if clash else []))

    def with_warnings(self, *warnings: str) -> Result:
        """Return a copy with further warnings, each kept once."""
        return replace(self, warnings=tuple(dict.fromkeys((*self.warnings, *warnings))))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; ``gap`` is added for readers."""
        data: dict[str, Any] = {"format": "cpx-result", "version": 1}
        data["status"], data["termination"] = str(self.status), str(self.termination)
        data["raw_status"] = self.raw_status
        data["objective"], data["bound"] = to_json(self.objective), to_json(self.bound)
        data["gap"] = self.gap
        data["explanation"] = None if self.explanation is None else self.explanation.to_dict()
        for name in OUTCOME:
            # The claim has them from here, so that a file cannot say two things.
            ((data["explanation"] or {}).get("claim") or {}).pop(name, None)
        data["trace"] = trace_to_json(self.trace)
        data["times"] = dict(vars(self.times))
        data["sizes"] = dict(self.sizes)
        if self.statistics:
            data["statistics"] = dict(self.statistics)
        for name in ("backend", "solver", "encoding"):
            data[name] = getattr(self, name)
        data["versions"], data["options"] = dict(self.versions), dict(self.options)
        data["warnings"] = list(self.warnings)
        data["memory"], data["verified"] = self.memory, self.verified
        if self.error:
            data["error"] = self.error
        if self.clash:
            data["clash"] = list(self.clash)
        if self.statement:
            data["statement"] = dict(self.statement)
        for name in ("start", "prediction"):
            if getattr(self, name) is not None:
                data[name] = dict(getattr(self, name))
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """Read a result written by :meth:`to_dict`.

        Raises
        ------
        InvalidInstance
            When the object is no result of a known version or lacks a key.
        """
        if not isinstance(data, Mapping) or data.get("format") != "cpx-result":
            raise InvalidInstance("not a result: 'format' must be 'cpx-result'")
        if data.get("version") != 1:
            raise InvalidInstance(
                f"result version {shown(data.get('version'))} is not known; known: 1"
            )
        try:
            data = {**_ABSENT, **data}
            for key, kinds in _KINDS.items():
                if isinstance(data[key], bool) != (kinds is bool) or not isinstance(
                    data[key], kinds
                ):
                    raise InvalidInstance(
                        f"result: {key} has a wrong type, got {shown(data[key])}"
                    )
            for key, kind, values in (
                ("times", float, data["times"].values()),
                ("trace", float, (point[0] for point in data["trace"])),
                ("sizes", int, data["sizes"].values()),
                ("statistics", int, _numbers(data["statistics"].values())),
                ("versions", str, data["versions"].values()),
                ("warnings", str, data["warnings"]),
                ("clash", str, data["clash"]),
            ):
                _require(key, kind, values)
            if data["start"] is not None:
                from_json("start", data["start"].get("value"))
            if data["prediction"] is not None:
                _require("prediction", float, _predicted(data["prediction"]))
            status, statement = Status(data["status"]), data["statement"]
            _require("statement", str, [statement["encoding"]] if statement else [])
            found = data["explanation"]
            if found is not None and "claim" in found:
                shared = (status is Status.OPTIMAL, data["objective"], data["bound"], statement)
                claim = {**found["claim"], **dict(zip(OUTCOME, shared, strict=True))}
                found = {**found, "claim": claim}
            return cls(
                status=status,
                termination=Termination(data["termination"]),
                raw_status=data["raw_status"],
                objective=from_json("objective", data["objective"]),
                bound=from_json("bound", data["bound"]),
                explanation=None if found is None else explanation_of(found),
                trace=tuple(map(TracePoint.from_json, data["trace"])),
                times=Times(**data["times"]),
                sizes=data["sizes"],
                statistics=data["statistics"],
                backend=data["backend"],
                solver=data["solver"],
                encoding=data["encoding"],
                versions=data["versions"],
                options=data["options"],
                warnings=tuple(data["warnings"]),
                memory=data["memory"],
                verified=data["verified"],
                error=data["error"],
                clash=tuple(data["clash"]),
                statement=statement,
                start=data["start"],
                prediction=data["prediction"],
            )
        except KeyError as error:
            raise InvalidInstance(f"result lacks the key {shown(error.args[0])}") from error
        except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
            raise InvalidInstance(f"result cannot be read: {error}") from error

    def to_json(self, indent: int | None = None) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read what :meth:`to_json` wrote."""
        return cls.from_dict(parse_json(text, InvalidInstance))

    def __str__(self) -> str:
        return as_text(self.blocks(), spaced=True)

    def blocks(self) -> list[Block]:
        """Return the explanation, the figures of the solve, and the warnings."""
        found = self.explanation
        nothing = _NOTHING.get(self.status, "The engine failed.")
        head = [Paragraph(nothing, "strong")] if found is None else found.headline()
        facts = [] if found is None else [*found.about(), *found.facts()]
        if self.status is Status.ERROR and found is not None:
            why = self.error or self.raw_status or "the engine failed"
            facts.append(Fact("proved", f"nothing: {why}"))
        told = (
            [] if self.proof is None or self.proof.rows is None else self.proof.rows.blocks()[1:]
        )
        return [*head, Facts.of([*facts, *self.facts()]), *told]

    def _checked(self) -> str:
        """Say what was recomputed, and what is taken on trust."""
        if not self.verified:
            return "no"
        proved = self.proof is not None and self.proof.complete
        if self.status is Status.INFEASIBLE:
            return "it has a proof" if proved else "the data say nothing against it"
        told = "the value, recomputed from the data"
        if self.bound is None:
            return told
        if proved:
            return f"{told}; the bound has a proof"
        if self.explanation is not None and self.explanation.bound_checked:
            return f"{told}, and the bound"
        return f"{told}; the bound is the engine's word"

    def _stated(self) -> list[str]:
        """Say in which encoding, what that was predicted to take, and which ones would take."""
        if self.prediction is None:
            return [self.encoding]
        each = {self.encoding: self.prediction, **self.prediction.get("passed_over", {})}
        return [
            f"{name}, predicted to take {cost['seconds']:.2g} s and {cost['megabytes']:.0f} MB"
            for name, cost in each.items()
        ]

    def facts(self) -> list[Fact]:
        """Return the figures of the solve, and the warnings."""
        times = self.times
        reason = str(self.termination).lower().replace("_", " ")
        if self.raw_status:
            reason += f"; the engine said {self.raw_status!r}"
        stated, *passed_over = self._stated()
        engine = self.engine + (f", encoding {stated}" if stated else "")
        named = {name: value for name, value in self.versions.items() if " " not in name}
        versions = ", ".join(f"{name} {number}" for name, number in named.items())
        return [
            Fact("value", figures(self.objective, self.bound, self.gap)),
            Fact("status", f"{self.status} ({reason})", _TONES.get(self.status, "open")),
            Fact(
                "time",
                f"{times.total:.2f} s: stating {times.state:.2f}, "
                f"compiling {times.compile:.2f}, solving {times.solve:.2f}",
            ),
            Fact("engine", engine + (f" ({versions})" if versions else "")),
            *(Fact("not taken", f"encoding {text}: too long") for text in passed_over),
            *(
                Fact("program", f"{name} {value}")
                for name, value in self.versions.items()
                if name not in named
            ),
            Fact("checked", self._checked()),
            *([Fact("statement", source_words(self.statement))] if self.statement else []),
            *(Fact("clash", text) for text in self.clash),
            *([] if self.proof is None else [Fact("proof", str(self.proof))]),
            *(Fact("warning", text) for text in self.warnings),
        ]
