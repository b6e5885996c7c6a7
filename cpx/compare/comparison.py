"""The runs of a comparison together: files, the best answers, contradictions."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cpx.answers.html import Shown
from cpx.answers.result import Status
from cpx.answers.text import Block
from cpx.compare.records import COLUMNS, Best, Run, best_of, contradictions
from cpx.errors import InvalidInstance, shown
from cpx.support.files import csv_text, parse_json, read_text, write_atomic

__all__ = ["CSV_NAME", "JSON_NAME", "Comparison"]

CSV_NAME, JSON_NAME = "results.csv", "results.json"


@dataclass(frozen=True)
class Comparison(Shown):
    """The answers of many engines to the same instances.

    Attributes
    ----------
    runs : tuple of Run
        In the order they were asked for.
    options : dict
        What all runs share: ``jobs``, ``memory``.
    complete : bool
        False after Ctrl-C, when runs are missing or were cut short.

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import KMonomial, Samples
    >>> from cpx.compare import compare
    >>> samples = Samples(np.array([[1, 1], [1, 0], [0, 1]], dtype=bool), [1, 1, 0])
    >>> comparison = compare({"tiny": KMonomial(samples, k=1)}, ["cpsat"], time_limit=20)
    >>> comparison.best("tiny").objective, comparison.best("tiny").proved
    (0, True)
    """

    runs: tuple[Run, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", tuple(self.runs))

    def by_instance(self) -> dict[str, list[Run]]:
        """Return the runs of each instance, in the order of the comparison."""
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            groups.setdefault(run.instance, []).append(run)
        return groups

    def best(self, instance: str) -> Best:
        """Return what all trusted runs on an instance say together."""
        runs = self.by_instance()[instance]
        return best_of(runs, contradictions(runs))

    @property
    def contradictions(self) -> dict[str, list[str]]:
        """Refuted proofs by instance, as sentences; empty when all engines agree."""
        found = {name: contradictions(runs) for name, runs in self.by_instance().items()}
        return {name: list(wrong.values()) for name, wrong in found.items() if wrong}

    @property
    def failed(self) -> bool:
        """Whether a run ended in an error or a proof was refuted."""
        errors = any(run.result.status is Status.ERROR for run in self.runs)
        return errors or bool(self.contradictions)

    # ----------------------------------------------------------------- files

    def to_csv(self) -> str:
        """Return one row per run as CSV text with a header.

        A text that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return has a
        single quote in front, since spreadsheets would take it for a formula.
        """
        rows = []
        for runs in self.by_instance().values():
            wrong = contradictions(runs)
            rows += [run.row(i in wrong) for i, run in enumerate(runs)]
        return csv_text(COLUMNS, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, traces included, as plain JSON values."""
        return {
            "format": "cpx-comparison",
            "version": 1,
            "complete": self.complete,
            "options": dict(self.options),
            "contradictions": self.contradictions,
            "runs": [run.to_dict() for run in self.runs],
        }

    @classmethod
    def from_dict(cls, data: object) -> Comparison:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        InvalidInstance
            When the object is no comparison of a known version.
        """
        if not isinstance(data, Mapping) or data.get("format") != "cpx-comparison":
            raise InvalidInstance("not a comparison: 'format' must be 'cpx-comparison'")
        if data.get("version") != 1:
            raise InvalidInstance(
                f"comparison version {shown(data.get('version'))} is not known; known: 1"
            )
        runs, options = data.get("runs"), data.get("options", {})
        if not isinstance(runs, list) or not isinstance(options, Mapping):
            raise InvalidInstance("comparison cannot be read: 'runs' must be a list")
        return cls(
            tuple(Run.from_dict(run) for run in runs), dict(options), bool(data.get("complete"))
        )

    def to_json(self, indent: int | None = 1) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Read what :meth:`to_json` wrote."""
        return cls.from_dict(parse_json(text, InvalidInstance))

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write ``results.json`` and ``results.csv``, each whole or not at all."""
        folder = Path(directory)
        # No indent: the traces of many runs would be mostly white space.
        write_atomic(folder / JSON_NAME, self.to_json(indent=None).encode() + b"\n")
        write_atomic(folder / CSV_NAME, self.to_csv().encode())

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Comparison:
        """Read the ``results.json`` of a directory."""
        source = Path(directory) / JSON_NAME
        text = read_text(source, InvalidInstance)
        try:
            return cls.from_json(text)
        except InvalidInstance as error:
            raise InvalidInstance(f"{source}: {error}") from error

    def __str__(self) -> str:
        from cpx.compare.table import as_text

        return as_text(self.by_instance(), self.complete)

    def blocks(self) -> list[Block]:
        """Return what notebooks show: per instance a table, and what is wrong."""
        from cpx.compare.table import blocks

        return blocks(self.by_instance(), self.complete)
