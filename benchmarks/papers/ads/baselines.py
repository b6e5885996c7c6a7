"""The methods that Lu and Ester compare ADS with, in as far as they are not cpx's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

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
    from cpx.methods.active import ActiveDecisionSet

__all__ = ["EXPLAINED", "Bayesian", "baselines", "enlarged"]

EXPLAINED = 100
"""Positive rows that SP-Anchor finds anchors for."""

BRS_ROWS = 2000
"""Rows that BRS+ is given, synthetic ones among them: the package goes through a table of these
rows and 2000 candidate rules in each step of its search."""

_BRS_LENGTH = 2
"""Conditions of a rule of BRS+, at most; the paper's have up to five, for which the package grows
16,000 trees in place of 4000."""

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
) -> Iterator[Faithfulness]:
    """Yield the figures of ADS+, BRS+, SP-Anchor and DT-Extract, of those that are installed.

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
    """

    def labels(table: pd.DataFrame) -> Labels:
        return np.asarray(network.classifier.predict(table), dtype=bool)

    more = enlarged(rows, queries, seed)

    def active() -> _Rules:
        return _Active(unasked().fit(more, network.classifier), queries)

    def bayesian() -> _Rules:
        return Bayesian(more, labels, queries, seed)

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
        ("SP-Anchor", anchors),
        ("DT-Extract", tree),
    ):
        # BRS+ is learned in another process.
        start = sum(os.times()[:4])
        try:
            model = learn()
        except EngineMissing as error:
            note(f"{title} is left out: {error}")
            continue
        seconds = sum(os.times()[:4]) - start
        lengths = model.lengths or [0]
        yield faithfulness(
            title,
            model.predict(network.test_rows),
            network.test_labels,
            rules=len(model.lengths),
            conditions=float(np.mean(lengths)),
            longest=max(lengths),
            queries=model.queries,
            seconds=seconds,
        )


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
    """A Bayesian rule set by imodels, over thresholds and categories."""

    def __init__(
        self, rows: pd.DataFrame, labels: Callable[[pd.DataFrame], Labels], queries: int, seed: int
    ) -> None:
        from benchmarks.peers.rule_learners import bayesian_rules
        from cpx.data.binarizer import Binarizer
        from cpx.methods.candidates.literals import Literals

        part = rows.sample(min(len(rows), BRS_ROWS), random_state=seed)
        # The synthetic rows are the last ones.
        self.queries = int((part.index >= len(rows) - queries).sum())
        part = part.reset_index(drop=True)
        self._binarizer: Any = Binarizer(n_bins=5).fit(part)
        literals = Literals.of_bits(self._binarizer.transform(part), self._binarizer)
        found = bayesian_rules(literals, labels(part), k=_BRS_LENGTH, seed=seed)
        self._rules = found.rules

    @property
    def lengths(self) -> list[int]:
        return [len(rule) for rule in self._rules]

    def predict(self, rows: pd.DataFrame) -> Labels:
        from cpx.methods.candidates.literals import Literals

        if not self._rules:
            return np.zeros(len(rows), dtype=bool)
        literals = Literals.of_bits(self._binarizer.transform(rows), self._binarizer)
        return np.asarray(literals.covers(self._rules).any(axis=0))
