"""Comparison, the result of a comparison: its runs, best answers, contradictions, files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.answers.html import Shown
from cpx.answers.result import Result, Status
from cpx.answers.text import Block, as_text
from cpx.compare import store
from cpx.compare.records import COLUMNS, Best, Run, Skipped, best_of, contradictions
from cpx.compare.sources import Source, named_sources
from cpx.errors import InvalidInstance, shown
from cpx.modelling.base import Problem
from cpx.support.files import csv_text, write_atomic

if TYPE_CHECKING:
    import pandas as pd

    from cpx.answers.values import Value
    from cpx.compare.cases import Cases

CSV_NAME = "results.csv"


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
    skipped : tuple of Skipped
        What could not be done: an instance, an engine in a setting, and why.
    unsaved : str
        Why some runs could not be written to the store; empty where all were.

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
    skipped: tuple[Skipped, ...] = ()
    unsaved: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", tuple(self.runs))

    @classmethod
    def from_results(
        cls, results: Iterable[tuple[Problem | str | os.PathLike[str], Result]]
    ) -> Comparison:
        """Compare results that were made elsewhere.

        Parameters
        ----------
        results : iterable of tuple
            Pairs: what was asked, a problem or the file of its instance, and the answer.

        Examples
        --------
        >>> from cpx import KMonomial, Samples, solve
        >>> problem = KMonomial(Samples([[1, 1], [1, 0], [0, 1]], [1, 1, 0]), k=1, name="tiny")
        >>> engines = ("cpsat", "search")
        >>> made = [(problem, solve(problem, engine, warm_start=False)) for engine in engines]
        >>> [run.configuration for run in Comparison.from_results(made).runs]
        ['cpsat', 'search']
        """
        results = list(results)
        given: dict[object, Problem | str | os.PathLike[str]] = {}
        for problem, _ in results:
            given.setdefault(_identity(problem), problem)
        named = named_sources(list(given.values()))
        sources: dict[object, Source] = dict(zip(given, named, strict=True))
        runs = []
        for problem, result in results:
            source = sources[_identity(problem)]
            runs.append(source.run(result, {}))
        return cls(tuple(runs))

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
        """Wrong claims by instance, as sentences; empty when all engines agree."""
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
        self,
        *,
        known: Mapping[str, Value] | None = None,
        target: float = 0.01,
        par: float = 2,
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
        par : float
            With a factor other than 2, such as 10: also the columns ``par10`` and ``par10_cpu``,
            where no proof counts as so many times the limit.

        Returns
        -------
        DataFrame
            Indexed by configuration: an engine, with its encoding where it has several.
        """
        from cpx.compare.scores import scores

        return scores(self.cases(known=known, target=target), par)

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

    # ---------------------------------------------------------------- tables

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for runs in self.by_instance().values():
            wrong = contradictions(runs)
            rows += [run.row(i in wrong) for i, run in enumerate(runs)]
        return rows

    def to_frame(self) -> pd.DataFrame:
        """Return one row per run as a DataFrame; see :data:`cpx.compare.records.COLUMNS`."""
        import pandas as pd

        return pd.DataFrame(self._rows(), columns=list(COLUMNS))

    def to_csv(self) -> str:
        """Return one row per run as CSV text with a header.

        A text that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return has a
        single quote in front, since spreadsheets would take it for a formula.
        """
        return csv_text(COLUMNS, self._rows())

    # ----------------------------------------------------------------- files

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write ``runs.jsonl`` and ``results.csv``, each whole or not at all."""
        folder = Path(directory)
        write_atomic(folder / store.NAME, store.as_lines(self.stored()))
        self.save_table(folder)

    def save_table(self, directory: str | os.PathLike[str]) -> None:
        """Write ``results.csv``, whole or not at all."""
        write_atomic(Path(directory) / CSV_NAME, self.to_csv().encode())

    def stored(self) -> store.Stored:
        """Return it as what a store holds."""
        session = {"plan": "saved", "options": dict(self.options)}
        done = {("saved", "1/1")} if self.complete else set()
        return store.Stored(list(enumerate(self.runs)), list(self.skipped), [session], done)

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Comparison:
        """Read the store of a directory; another process may be writing to it."""
        return cls.of(store.read(directory))

    @classmethod
    def of(cls, found: store.Stored) -> Comparison:
        """Return what a store holds."""
        options = found.sessions[-1].get("options", {}) if found.sessions else {}
        if not isinstance(options, dict):
            raise InvalidInstance(f"options must be an object, got {shown(options)}")
        return cls(found.runs, options, found.complete, tuple(found.skipped))

    @classmethod
    def merge(
        cls, directories: Iterable[str | os.PathLike[str]], output: str | os.PathLike[str]
    ) -> Comparison:
        """Put the runs of several directories, such as shards, into a new one.

        Runs of the same experiment are counted once.
        """
        parts = [store.read(directory) for directory in directories]
        store.merge(parts, output)
        found = cls.load(output)
        found.save_table(output)
        return found

    def __str__(self) -> str:
        return as_text(self.blocks(), spaced=True)

    def blocks(self) -> list[Block]:
        """Return what is printed: a table for each instance, what is wrong, and a summary."""
        from cpx.compare.table import blocks

        return blocks(self.by_instance(), self.complete)


def _identity(problem: Problem | str | os.PathLike[str]) -> object:
    return id(problem) if isinstance(problem, Problem) else os.path.abspath(problem)
