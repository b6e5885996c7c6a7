"""The methods that Lu and Ester compare ADS with, in as far as they are not cpx's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchmarks.papers.ads import bayesian_rule_list
from benchmarks.papers.ads.bayesian_rule_set import annealed, frequent
from benchmarks.papers.ads.faithfulness import Faithfulness, Labels, faithfulness
from benchmarks.papers.ads.mixtures import Mixtures
from benchmarks.papers.ads.picked_anchors import AnchorRules
from benchmarks.papers.ads.synthetic import swapped
from benchmarks.papers.ads.tree_extraction import ExtractedTree
from benchmarks.papers.anchor_package import installed
from cpx.cli.output import note
from cpx.errors import EngineMissing

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.papers.ads.network import Network
    from benchmarks.papers.ads.records import Measured
    from cpx.models.decision_set import ActiveDecisionSet

__all__ = ["EXPLAINED", "Bayesian", "baselines", "enlarged"]

EXPLAINED = 100
"""Positive rows that SP-Anchor finds anchors for."""

_BRS_LENGTH = 5
"""Conditions of a rule of BRS+, at most, as in the paper."""

_PER_NODE = 200
"""Synthetic rows at each node of DT-Extract."""


class _Rules(Protocol):
    """A decision set of a method that is not cpx's own."""

    queries: int

    @property
    def lengths(self) -> list[int]:
        """Numbers of conditions."""

    def predict(self, rows: pd.DataFrame) -> Labels:
        """Return which rows a rule covers."""


def enlarged(rows: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """Return real rows and n synthetic ones, by which a method that asks nothing is helped."""
    import pandas as pd

    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3,)))
    return pd.concat([rows, swapped(rows, n, rng)], ignore_index=True)


def baselines(
    network: Network,
    rows: pd.DataFrame,
    most: int,
    queries: int,
    seed: int,
    unasked: Callable[[], ActiveDecisionSet],
    measured: Measured,
) -> Iterator[Faithfulness]:
    """Yield the figures of ADS+, BRS, SBRL, SP-Anchor and DT-Extract, of those that are installed.

    Parameters
    ----------
    network : Network
    rows : data frame
        Real rows that they are given.
    most : int
        Rules of SP-Anchor and DT-Extract, at most; the paper gives them as many as ADS has.
    queries : int
        Synthetic rows of ADS+ and BRS+.
    seed : int
    unasked : callable
        Makes ADS with beta = 0.
    measured : callable
        Returns the figures of a name that are kept, or calls for them.
    """

    def labels(table: pd.DataFrame) -> Labels:
        return np.asarray(network.classifier.predict(table), dtype=bool)

    more = enlarged(rows, queries, seed)

    def active() -> _Rules:
        return _Active(unasked().fit(more, network.classifier), queries)

    def bayesian() -> _Rules:
        return Bayesian(more, labels, queries, seed)

    def bayesian_alone() -> _Rules:
        return Bayesian(rows, labels, 0, seed)

    def listed(table: pd.DataFrame, added: int) -> _Rules:
        if not bayesian_rule_list.installed():
            raise EngineMissing("pip install --no-build-isolation pysbrl pyfim")
        return bayesian_rule_list.RuleList(table, labels, added, seed)

    def anchors() -> _Rules:
        if not installed():
            raise EngineMissing("pip install 'cpx-explain[anchors]'")
        mixtures = Mixtures(network.classifier, rows)
        return AnchorRules(most, EXPLAINED, seed).fit(rows, mixtures)

    def tree() -> _Rules:
        return ExtractedTree(most, _PER_NODE, seed).fit(rows, labels)

    for title, learn in (
        ("ADS+, beta = 0", active),
        ("BRS+", bayesian),
        ("BRS", bayesian_alone),
        ("SBRL+", lambda: listed(more, queries)),
        ("SBRL", lambda: listed(rows, 0)),
        ("SP-Anchor", anchors),
        ("DT-Extract", tree),
    ):
        try:
            found = measured(title, partial(_faithful, title, learn, network))
        except EngineMissing as error:
            note(f"{title} is left out: {error}")
        else:
            yield found


def _faithful(title: str, learn: Callable[[], _Rules], network: Network) -> Faithfulness:
    """Learn rules and measure them."""
    start = _processor_seconds()
    model = learn()
    seconds = _processor_seconds() - start
    lengths = model.lengths or [0]
    return faithfulness(
        title,
        model.predict(network.test_rows),
        network.test_labels,
        rules=len(model.lengths),
        conditions=float(np.mean(lengths)),
        longest=max(lengths),
        queries=model.queries,
        seconds=seconds,
    )


def _processor_seconds() -> float:
    """Return those of this process and of the processes that it has waited for."""
    return sum(os.times()[:4])


class _Active:
    """A decision set of ADS on an enlarged table."""

    def __init__(self, model: ActiveDecisionSet, queries: int) -> None:
        self._model, self.queries = model, queries

    @property
    def lengths(self) -> list[int]:
        return [len(rule) for rule in self._model.rules_]

    def predict(self, rows: pd.DataFrame) -> Labels:
        return np.asarray(self._model.predict(rows), dtype=bool)


class Bayesian:
    """A Bayesian rule set over thresholds and categories.

    Rules say that a number is below or above a limit, and that a column has a value or none: not
    that a column has another value, or any, which is true of most rows.
    """

    def __init__(
        self, rows: pd.DataFrame, labels: Callable[[pd.DataFrame], Labels], queries: int, seed: int
    ) -> None:
        from cpx.data.binarizer import Binarizer

        self.queries = queries
        self._binarizer: Any = Binarizer(n_bins=5).fit(rows)
        names, literals = self._literals(rows)
        self._kept = [
            j for j, name in enumerate(names) if " != " not in name and "is known" not in name
        ]
        found = frequent(literals[:, self._kept], labels(rows), _BRS_LENGTH)
        self._rules = annealed(found, len(self._kept), _BRS_LENGTH, seed)

    def _literals(self, rows: pd.DataFrame) -> tuple[tuple[str, ...], Labels]:
        """Return the literals in words, and which are true of each row."""
        from cpx.models.rule_set.methods.candidates.literals import Literals

        found = Literals.of_bits(self._binarizer.transform(rows), self._binarizer)
        return found.names, found.matrix

    @property
    def lengths(self) -> list[int]:
        return [len(rule) for rule in self._rules]

    def predict(self, rows: pd.DataFrame) -> Labels:
        literals = self._literals(rows)[1][:, self._kept]
        covered = [literals[:, list(rule)].all(axis=1) for rule in self._rules]
        return np.asarray(np.any(covered, axis=0))
