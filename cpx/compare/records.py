"""Records of runs, and the best values, bounds and contradictions among them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cpx.answers.claim import source_words
from cpx.answers.result import Result, Status, Termination, relative_gap
from cpx.answers.statistics import NAMES
from cpx.answers.values import Value, from_json
from cpx.backends import backend
from cpx.errors import CpxError, InvalidInstance, shown
from cpx.options import named_text

_COLUMNS = """
    instance fingerprint problem configuration backend solver engine_options warm_start start
    start_value encoding own_encoding seed threads time_limit cpu_limit
    status termination raw_status error contradicted verified
    objective objective_numerator objective_denominator bound bound_numerator bound_denominator
    gap seconds seconds_to_best state compile solve cpu memory
    variables constraints clauses soft nonzeros STATISTICS
    precision coverage precision_unseen coverage_unseen rule
    host processor processor_cores load system python git started versions warnings
"""
COLUMNS = tuple(_COLUMNS.replace("STATISTICS", " ".join(NAMES)).split())
"""Columns of the CSV file, in their order; with :data:`cpx.answers.statistics.NAMES`."""


@dataclass(frozen=True)
class Run:
    """The answer of one engine to one instance.

    Attributes
    ----------
    instance : str
        Name of the instance in this comparison.
    fingerprint : str
        :func:`cpx.modelling.instances.fingerprint` of it: what decides the answer.
    statement : str
        Kind and sizes in words, such as ``"k-monomial, 1000 samples, 90 features, k = 5"``.
    sense : {"min", "max"}
        Direction of the objective.
    result : Result
        The whole result.
    machine : mapping of str to value
        Where it was made: ``host``, ``cpu``, ``cores``, ``memory``, ``system``, ``python``, and
        ``load`` before it began. Empty for results that were made elsewhere.
    """

    instance: str
    fingerprint: str
    statement: str
    sense: str
    result: Result
    machine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def engine(self) -> str:
        """Backend and solver as one name, such as ``"milp:highs"``."""
        return self.result.engine

    @property
    def configuration(self) -> str:
        """Engine with its options, and the encoding where one was chosen, in one text.

        Such as ``"cpsat{linearization_level=2} channelling"``. Runs of equal configurations
        differ in instance, seed, threads and limits only.
        """
        return configuration(self.engine, self.result.options)

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two runs the same experiment."""
        options = self.result.options
        rest = (options.get(name) for name in ("time_limit", "threads", "seed", "gap"))
        own = (
            json.dumps(options.get("engine", {})),
            options.get("warm_start", True),
            options.get("cpu_limit"),
        )
        return (self.instance, self.fingerprint, self.engine, self.result.encoding, *rest, *own)

    @property
    def host(self) -> str:
        """Name of the machine; ``""`` where it was not recorded."""
        return str(self.machine.get("host", ""))

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.result.options.get("seed", 0))

    @property
    def heeds_seed(self) -> bool:
        """Whether another seed may lead to another answer or time."""
        return heeds_seed(self.engine, bool(self.result.options.get("warm_start", True)))

    @property
    def from_start(self) -> bool:
        """Whether the value is that of the start that the engine was given."""
        start = self.result.start
        return (
            start is not None and from_json("start", start.get("value")) == self.result.objective
        )

    @property
    def finished(self) -> bool:
        """Whether it need not be run again: it was neither interrupted nor an error."""
        return not self.interrupted and self.result.status is not Status.ERROR

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run."""
        return self.result.termination is Termination.INTERRUPTED

    @property
    def seconds_to_best(self) -> float | None:
        """Seconds after which the engine first had the final value; None if it never did."""
        value = self.result.objective
        if value is None or self.from_start:
            return None
        return next((p.seconds for p in self.result.trace if p.objective == value), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain JSON values."""
        return {
            "instance": self.instance,
            "fingerprint": self.fingerprint,
            "statement": self.statement,
            "sense": self.sense,
            "result": self.result.to_dict(),
            "machine": dict(self.machine),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Run:
        """Read what :meth:`to_dict` wrote."""
        if not isinstance(data, Mapping):
            raise InvalidInstance(f"a run must be an object, got {shown(data)}")
        try:
            texts = {key: data[key] for key in ("instance", "fingerprint", "statement", "sense")}
            result = data["result"]
        except KeyError as error:
            raise InvalidInstance(f"a run lacks the key {shown(error.args[0])}") from error
        known_sense = texts["sense"] in ("min", "max")
        if not known_sense or not all(isinstance(text, str) for text in texts.values()):
            raise InvalidInstance(f"a run cannot be read: {shown(texts)}")
        machine = data.get("machine", {})
        if not isinstance(machine, Mapping):
            raise InvalidInstance(f"the machine of a run must be an object, got {shown(machine)}")
        for name in ("load", "cores", "memory"):
            value = machine.get(name, 0)
            if value is not None and type(value) not in (int, float):
                told = f"the {name} of a machine must be a number, got {shown(value)}"
                raise InvalidInstance(told)
        result = Result.from_dict(result)
        _check_options(result.options)
        return cls(**texts, result=result, machine=machine)

    def row(self, contradicted: bool) -> dict[str, Any]:
        """Return the run as one row of the CSV file, see :data:`COLUMNS`."""
        result, times, options = self.result, self.result.times, self.result.options
        found, machine = result.explanation, self.machine
        unseen = getattr(found, "unseen", None)
        row = {
            "problem": self.statement,
            "engine_options": named_text("", options.get("engine") or {}),
            "warm_start": options.get("warm_start", True),
            "start": None if result.start is None else result.start.get("method"),
            "start_value": None if result.start is None else str(result.start.get("value")),
            "own_encoding": source_words(result.statement) if result.statement else "",
            "contradicted": contradicted,
            "seconds": round(times.total, 4),
            "seconds_to_best": _rounded(self.seconds_to_best),
            "processor": machine.get("cpu"),
            "processor_cores": machine.get("cores"),
            "precision": _number(getattr(found, "precision", None)),
            "coverage": _number(getattr(found, "coverage", None)),
            "precision_unseen": _number(getattr(unseen, "precision", None)),
            "coverage_unseen": _number(getattr(unseen, "coverage", None)),
            "rule": "" if found is None else str(found),
            "versions": " ".join(f"{name}={v}" for name, v in result.versions.items()),
            "warnings": " | ".join(result.warnings),
        }
        for name in ("objective", "bound"):
            value = getattr(result, name)
            row[name] = _number(value)
            row[f"{name}_numerator"] = None if value is None else value.numerator
            row[f"{name}_denominator"] = None if value is None else value.denominator
        for name in ("state", "compile", "solve", "cpu"):
            row[name] = round(getattr(times, name), 4)
        for name in ("seed", "threads", "time_limit", "cpu_limit"):
            row[name] = options.get(name)
        for name in ("variables", "constraints", "clauses", "soft", "nonzeros"):
            row[name] = result.sizes.get(name)
        for name in NAMES:
            row[name] = result.statistics.get(name)
        for name in ("host", "load", "system", "python", "git", "started"):
            row[name] = machine.get(name)
        for name in COLUMNS:
            if name not in row:
                row[name] = getattr(result if hasattr(result, name) else self, name)
        return {name: row[name] for name in COLUMNS}


def _number(value: Value | None) -> int | float | None:
    """Return an integer as it is, and a fraction as the nearest float."""
    return value if value is None or isinstance(value, int) else float(value)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 4)


# What the options of a result must be, where they are used.
_OPTIONS: dict[str, Any] = {
    "seed": int,
    "threads": int,
    "time_limit": int | float | None,
    "cpu_limit": int | float | None,
    "gap": int | float | None,
    "encoding": str | None,
    "engine": Mapping | None,
    "warm_start": bool,
}


def _check_options(options: Mapping[str, Any]) -> None:
    for name, kind in _OPTIONS.items():
        if name in options and not isinstance(options[name], kind):
            raise InvalidInstance(f"a run cannot be read: {name} is {shown(options[name])}")


@dataclass(frozen=True)
class Skipped:
    """A pair that cannot be done: an instance, and an engine in a setting; or a foreign file.

    configuration: As in :attr:`Run.configuration`; ``""`` where a file is no instance.
    """

    instance: str
    configuration: str
    reason: str

    @classmethod
    def from_dict(cls, data: object) -> Skipped:
        """Read what ``dataclasses.asdict`` made of one."""
        names = {"instance", "configuration", "reason"}
        if not isinstance(data, Mapping) or set(data) != names:
            raise InvalidInstance(f"a skipped pair cannot be read: {shown(data)}")
        if not all(isinstance(text, str) for text in data.values()):
            raise InvalidInstance(f"a skipped pair cannot be read: {shown(data)}")
        return cls(**data)


def configuration(engine: str, options: Mapping[str, Any]) -> str:
    """Return engine, its options, and the encoding where one was chosen, in one text."""
    settings = dict(options.get("engine") or {})
    # Comparisons are without, unless asked for.
    if options.get("warm_start"):
        settings["warm_start"] = True
    name = named_text(engine, settings)
    return f"{name} {options['encoding']}" if options.get("encoding") else name


@dataclass(frozen=True)
class Best:
    """What all runs on one instance say together ("virtual best").

    objective, bound: Best value and best bound of any trusted run.
    proved: Whether they meet, or infeasibility was proved.
    infeasible: Whether infeasibility was proved.
    seconds: The fastest single run that closed the question by itself; None when none did.
    """

    objective: Value | None
    bound: Value | None
    proved: bool
    infeasible: bool
    seconds: float | None

    @property
    def gap(self) -> float | None:
        """Relative gap of best value and best bound."""
        return relative_gap(self.objective, self.bound)


def contradictions(runs: Sequence[Run]) -> dict[int, str]:
    """Find the runs that claim what is not so.

    Either the check of the run itself says so, or a solution of another run refutes its proof.

    runs: Runs on one instance (one fingerprint).
    Returns: Position of a wrong run -> what is wrong with it.

    Values are recomputed from the data and checked, so a solution is a fact. A bound, and
    with it a proof of optimality or of infeasibility, is an engine's word. Whenever two
    runs disagree, the one whose bound lies beyond a known solution is the wrong one.
    """
    wrong: dict[int, str] = {}
    for i, run in enumerate(runs):
        result = run.result
        if result.refuted:
            wrong[i] = f"{_label(run)}: {result.error}"
    solved = [run for run in runs if _holds_solution(run)]
    if not solved:
        return wrong
    sign = 1 if solved[0].sense == "min" else -1
    best = min(solved, key=lambda run: sign * _value(run))
    for i, run in enumerate(runs):
        result = run.result
        if result.status is Status.ERROR:
            continue
        if result.status is Status.INFEASIBLE:
            wrong[i] = (
                f"{_label(run)} claims infeasibility, but {_label(best)} has a solution "
                f"of value {best.result.objective}"
            )
        elif result.bound is not None and sign * result.bound > sign * _value(best):
            claim = "optimum" if result.status is Status.OPTIMAL else "bound"
            wrong[i] = (
                f"{_label(run)} claims the {claim} {result.bound}, but {_label(best)} has a "
                f"checked solution of value {best.result.objective}"
            )
    return wrong


def best_of(runs: Sequence[Run], wrong: Iterable[int] = ()) -> Best:
    """Combine the runs on one instance, without those at the positions in ``wrong``."""
    out = set(wrong)
    trusted = [
        run for i, run in enumerate(runs) if i not in out and run.result.status is not Status.ERROR
    ]
    sign = -1 if any(run.sense == "max" for run in trusted) else 1
    values = [sign * _value(run) for run in trusted if _holds_solution(run)]
    bounds = [sign * run.result.bound for run in trusted if run.result.bound is not None]
    objective = sign * min(values) if values else None
    bound = sign * max(bounds) if bounds else None
    infeasible = any(run.result.status is Status.INFEASIBLE for run in trusted)
    closed = [run.result.times.total for run in trusted if run.result.proved]
    return Best(
        objective=objective,
        bound=bound,
        proved=infeasible or (objective is not None and objective == bound),
        infeasible=infeasible,
        seconds=min(closed, default=None),
    )


def _holds_solution(run: Run) -> bool:
    return run.result.verified and run.result.objective is not None


def _value(run: Run) -> Value:
    assert run.result.objective is not None
    return run.result.objective


def _label(run: Run) -> str:
    form = f"encoding {run.result.encoding}, " if run.result.encoding else ""
    engine = configuration(run.engine, {**run.result.options, "encoding": None})
    return f"{engine} ({form}seed {run.seed})"


@cache
def heeds_seed(engine: str, warm_start: bool) -> bool:
    """Say whether the seed may matter; it may to an engine that is not known here."""
    try:
        known = backend(engine)
    except CpxError:
        return True
    # The method that finds the start may use it.
    started = warm_start and known.exact and known._start != "own"
    return started or "seed" in known.supported_options
