"""Comparison, the result of a comparison: its runs, best answers, contradictions, files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.answers.html import Shown
from cpx.answers.result import Status
from cpx.answers.text import Block, as_text
from cpx.compare.records import COLUMNS, Best, Run, best_of, contradictions
from cpx.errors import InvalidInstance, shown
from cpx.support.files import csv_text, parse_json, read_text, write_atomic

if TYPE_CHECKING:
    import pandas as pd

    from cpx.answers.values import Value
    from cpx.compare.cases import Cases

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

    # ---------------------------------------------------------------- scores

    def cases(self, *, known: Mapping[str, Value] | None = None, target: float = 0.01) -> Cases:
        """Return the runs as one table, from which all scores are computed."""
        # pandas takes half a second to import.
        from cpx.compare.cases import cases_of

        return cases_of(self.runs, known=known, target=target)

    def scores(
        self, *, known: Mapping[str, Value] | None = None, target: float = 0.01
    ) -> pd.DataFrame:
        """Return the scores of each configuration, the best one first.

        Each column is defined, with its source, on the documentation's page on scores. A
        configuration with a claim that another answer refutes is marked by ``wrong``, stands last
        and has no rank.

        Parameters
        ----------
        known : mapping of str to int or Fraction, optional
            Best known values by the names of instances, where these runs may not have them.
        target : float
            Relative distance from the best known value that counts for ``to_target``.

        Returns
        -------
        DataFrame
            Indexed by configuration: an engine, with its encoding where it has several.
        """
        from cpx.compare.scores import scores

        return scores(self.cases(known=known, target=target))

    def pairs(self, score: str = "par2") -> pd.DataFrame:
        """Return a row for each two configurations: wins, ties, losses, and a test.

        Parameters
        ----------
        score : str
            The mean score whose differences are tested by Wilcoxon's signed-rank test:
            ``"par2"``, ``"quality"``, ``"gap"``, ``"primal_integral"`` or ``"dual_integral"``.
        """
        from cpx.compare.statistics import pairs

        return pairs(self.cases(), score)

    def intervals(
        self, *, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
    ) -> pd.DataFrame:
        """Return bootstrap intervals of the mean share proved, PAR-2 and quality."""
        from cpx.compare.statistics import intervals

        return intervals(self.cases(), confidence=confidence, resamples=resamples, seed=seed)

    def virtual_best(self) -> pd.DataFrame:
        """Return the best answer to each instance, seed and limit, and who gave it."""
        from cpx.compare.scores import virtual_best

        return virtual_best(self.cases())

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
        return as_text(self.blocks(), spaced=True)

    def blocks(self) -> list[Block]:
        """Return what is printed: a table for each instance, what is wrong, and a summary."""
        from cpx.compare.table import blocks

        return blocks(self.by_instance(), self.complete)
