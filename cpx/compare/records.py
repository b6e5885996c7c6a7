"""Records of runs, and the best values, bounds and contradictions among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cpx.answers.result import Result, Status, Termination, relative_gap
from cpx.answers.values import Value
from cpx.backends.engine_options import engine_text
from cpx.errors import InvalidInstance, shown

__all__ = ["COLUMNS", "Best", "Run", "best_of", "contradictions"]

_COLUMNS = """
    instance fingerprint problem backend solver encoding seed threads time_limit status
    termination raw_status objective bound gap seconds seconds_to_best state compile solve cpu
    memory verified contradicted rule warnings
"""
COLUMNS = tuple(_COLUMNS.split())
"""Columns of the CSV file, in their order."""


@dataclass(frozen=True)
class Run:
    """The answer of one engine to one instance.

    Attributes
    ----------
    instance : str
        Name of the instance in this comparison.
    fingerprint : str
        :func:`cpx.instances.fingerprint` of it: what decides the answer.
    statement : str
        Kind and sizes in words, such as ``"k-monomial, 1000 samples, 90 features, k = 5"``.
    sense : {"min", "max"}
        Direction of the objective.
    result : Result
        The whole result.
    machine : mapping of str to value
        Where it was made: ``host``, ``cpu``, ``cores``, ``memory``, ``system``, ``python``, and
        ``load`` before it began. Empty in results of earlier versions.
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
        options = self.result.options
        settings = dict(options.get("engine") or {})
        if not options.get("warm_start", True):
            settings["warm_start"] = False
        name = engine_text(self.engine, settings)
        return f"{name} {options['encoding']}" if options.get("encoding") else name

    @property
    def host(self) -> str:
        """Name of the machine; ``""`` where it was not recorded."""
        return str(self.machine.get("host", ""))

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.result.options.get("seed", 0))

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run."""
        return self.result.termination is Termination.INTERRUPTED

    @property
    def seconds_to_best(self) -> float | None:
        """Seconds after which the final value was first reached; None without a value."""
        value = self.result.objective
        if value is None:
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
        return cls(**texts, result=Result.from_dict(result), machine=machine)

    def row(self, contradicted: bool) -> dict[str, Any]:
        """Return the run as one row of the CSV file, see :data:`COLUMNS`."""
        result, times, options = self.result, self.result.times, self.result.options
        row = {
            "instance": self.instance,
            "fingerprint": self.fingerprint,
            "problem": self.statement,
            "seed": self.seed,
            "threads": options.get("threads"),
            "time_limit": options.get("time_limit"),
            "seconds": round(times.total, 4),
            "seconds_to_best": _rounded(self.seconds_to_best),
            "contradicted": contradicted,
            "rule": "" if result.explanation is None else str(result.explanation),
            "warnings": " | ".join(result.warnings),
        }
        for name in ("state", "compile", "solve", "cpu"):
            row[name] = round(getattr(times, name), 4)
        for name in COLUMNS:
            if name not in row:
                row[name] = getattr(result, name)
        return {name: row[name] for name in COLUMNS}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 4)


@dataclass(frozen=True)
class Best:
    """What all runs on one instance say together ("virtual best").

    Attributes
    ----------
    objective, bound : int, Fraction or None
        Best value and best bound of any trusted run.
    proved : bool
        Whether they meet, or infeasibility was proved.
    infeasible : bool
        Whether infeasibility was proved.
    seconds : float or None
        The fastest single run that closed the question by itself; None when none did.
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
    """Find the runs whose proofs a solution of another run refutes.

    Parameters
    ----------
    runs : sequence of Run
        Runs on one instance (one fingerprint).

    Returns
    -------
    dict of int to str
        Position of a wrong run -> what is wrong with it.

    Notes
    -----
    Values are recomputed from the data and checked, so a solution is a fact. A bound, and
    with it a proof of optimality or of infeasibility, is an engine's word. Whenever two
    runs disagree, the one whose bound lies beyond a known solution is the wrong one.
    """
    wrong: dict[int, str] = {}
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
    return f"{run.engine} ({form}seed {run.seed})"
