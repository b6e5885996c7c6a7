"""The experiment of Lu and Ester, section 5: a decision set for a neural network on Adult."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers.ads.faithfulness import ADS, UNASKED, Faithfulness, Labels, faithfulness
from cpx.support.validation import positive_integer, valid_seed

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.papers.ads.network import Network
    from benchmarks.papers.ads.records import Measured
    from cpx.models.decision_set import ActiveDecisionSet
    from cpx.models.decision_set.decision_set import DecisionSet

__all__ = ["Settings", "active_set", "imitation", "surrogates"]


PER_RULE = 10
"""What ADS pays for a rule is the price of so many bounds and values."""


@dataclass(frozen=True)
class Settings:
    """Parameters of the reproduction.

    Attributes
    ----------
    penalty, beta : float
        Of :class:`~cpx.models.decision_set.ActiveDecisionSet`.
    queries, iterations : int
        Its greatest numbers of them.
    per_iteration : int
        Its greatest number of queries in one iteration; the paper names no limit.
    runs : int
        Splits of the table, each with a network, that the figures are means of.
    epochs : int
        Passes over the training rows in which a network is trained, at most.
    seed : int
        Of the first split and all that is learned on it; the others have the following ones.
    rows : int or None
        Training rows, drawn at random, that decision sets are given; None for all.
    exact : bool
        Whether the exact loop is asked as well, with as many queries.
    others : bool
        Whether the other methods that the paper compares with are run as well.
    """

    penalty: float = 0.0005
    beta: float = 0.02
    queries: int = 2000
    iterations: int = 200
    per_iteration: int = 20
    runs: int = 5
    epochs: int = 30
    seed: int = 0
    rows: int | None = None
    exact: bool = False
    others: bool = False

    def __post_init__(self) -> None:
        positive_integer("runs", self.runs)
        positive_integer("epochs", self.epochs)
        if self.rows is not None:
            positive_integer("rows", self.rows)
        valid_seed(self.seed)


def surrogates(
    network: Network, settings: Settings, seed: int, measured: Measured = lambda _, make: make()
) -> Iterator[Faithfulness]:
    """Yield the figures of one surrogate of a network after the other.

    ``measured`` returns those of a name: what is kept of them, or what is called for them. First
    the label that most rows have; then CART and a random forest, which say how hard the network
    is to imitate; then decision sets, without queries and with them. Learned ones get no more
    rules than ADS has, with queries or without, where it has fewer.
    """
    nothing = np.zeros(len(network.test_labels), dtype=bool)
    yield faithfulness("no rule", nothing, network.test_labels, rules=0, queries=0)
    for name, title in (("tree", "CART"), ("forest", "random forest")):
        yield measured(title, partial(yardstick, name, title, network, seed))
    rows = network.train_rows
    if settings.rows is not None and settings.rows < len(rows):
        rows = rows.sample(settings.rows, random_state=seed).reset_index(drop=True)

    def imitated(title: str, model: DecisionSet) -> Faithfulness:
        return measured(title, partial(imitation, title, model, network, rows))

    yield (unasked := imitated(UNASKED, active_set(settings, seed, beta=0.0)))
    # What Dinkelbach's method weighs for the F1 score that has been reached.
    score = unasked.trained
    weighted = active_set(settings, seed, beta=0.0, weight=(2 - score) / score if score else 1.0)
    yield imitated("ADS, weights for F1", weighted)
    yield (active := imitated(ADS, active_set(settings, seed, beta=settings.beta)))
    rules = max(1, int(active.rules or 0))
    for title, model in _learners(
        settings, seed, max(1, min(rules, int(unasked.rules or 0))), len(rows)
    ):
        yield imitated(title, model)
    if settings.others:
        from benchmarks.papers.ads.baselines import baselines

        yield from enlarging(network, rows, settings.queries, seed, measured)
        yield from baselines(
            *(network, rows, rules, settings.queries, seed),
            *(lambda: active_set(settings, seed, 0.0), measured),
        )


def enlarging(
    network: Network, rows: pd.DataFrame, queries: int, seed: int, measured: Measured
) -> Iterator[Faithfulness]:
    """Yield the paper's passive classifiers: on more rows, and those not yet there on these."""
    from benchmarks.papers.ads.baselines import enlarged

    more = enlarged(rows, queries, seed)
    own = rows, np.asarray(network.classifier.predict(rows))
    plus = more, np.asarray(network.classifier.predict(more))
    for name, title, given in (
        ("tree", "CART+", plus),
        ("forest", "random forest+", plus),
        ("svm", "SVM", own),
        ("svm", "SVM+", plus),
        ("mlp", "DNN", own),
        ("mlp", "DNN+", plus),
    ):
        added = queries if title.endswith("+") else 0
        yield measured(title, partial(yardstick, name, title, network, seed, given, added))


def active_set(
    settings: Settings, seed: int, beta: float, weight: float = 1.0
) -> ActiveDecisionSet:
    """Return ADS, not fitted yet."""
    from cpx.models.decision_set import ActiveDecisionSet

    return ActiveDecisionSet(
        penalty=settings.penalty,
        beta=beta,
        max_iterations=settings.iterations,
        max_queries=settings.queries,
        queries_per_iteration=settings.per_iteration,
        # A network answers ten rows about as fast as two.
        batch_size=5,
        positive_weight=weight,
        seed=seed,
    )


def _learners(
    settings: Settings, seed: int, most: int, n_rows: int
) -> Iterator[tuple[str, DecisionSet]]:
    """Yield names and learners of decision sets of at most so many rules."""
    from cpx.models.decision_set import ExactDecisionSet, LearnedDecisionSet

    def learned(objective: str, queries: int) -> DecisionSet:
        return LearnedDecisionSet(
            penalty=0.0,
            condition_penalty=settings.penalty / PER_RULE,
            objective=objective,
            max_rules=most,
            max_queries=queries,
            seed=seed,
        )

    yield "learned, no queries", learned("fidelity", 0)
    yield "learned for F1, no queries", learned("f1", 0)
    if settings.queries:
        # Near rows are not asked one by one, and cost little.
        yield "learned for F1", learned("f1", max(settings.queries, n_rows // 2))
    if settings.exact:
        # On so many rows, rivals that differ little are worth asking about, too.
        yield (
            "exact loop",
            ExactDecisionSet(
                penalty=settings.penalty,
                max_queries=settings.queries,
                queries_per_round=100,
                tolerance=0.0,
                starts=2,
                time_limit=1.0,
                seed=seed,
            ),
        )


def yardstick(
    name: str,
    title: str,
    network: Network,
    seed: int,
    more: tuple[pd.DataFrame, Labels] | None = None,
    queries: int = 0,
) -> Faithfulness:
    """Measure a classifier that imitates the network; on its rows, or on these with labels."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC
    from threadpoolctl import threadpool_limits

    from cpx.data.classifiers import named_classifier

    rows, labels = (network.train_rows, network.train_labels) if more is None else more
    start = time.process_time()
    # The paper's second network has the weights of the one that is imitated.
    surrogate = (
        clone(network.classifier) if name in {"mlp", "svm"} else named_classifier(name, seed)
    )
    if name == "svm":
        surrogate.set_params(classifier=SVC())
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        surrogate.fit(rows, labels)
    seconds = time.process_time() - start
    last = surrogate[-1]
    trees = [one.tree_ for one in getattr(last, "estimators_", [last]) if hasattr(one, "tree_")]
    # A rule is a leaf of the positive class.
    positive = sum(
        int(((tree.children_left < 0) & (tree.value[:, 0].argmax(axis=1) == 1)).sum())
        for tree in trees
    )
    ours = np.asarray(surrogate.predict(network.test_rows), dtype=bool)
    return faithfulness(
        title,
        ours,
        network.test_labels,
        rules=positive if trees else None,
        queries=queries,
        seconds=seconds,
    )


def _labels(model: DecisionSet, rows: pd.DataFrame) -> tuple[Labels, Labels]:
    """Return what a decision set and the black box call the rows that it was learned from."""
    theirs = np.asarray(model.labels_ == model.classes_[1], dtype=bool)
    return np.asarray(model.predict(rows), dtype=bool), theirs


def imitation(
    title: str, model: DecisionSet, network: Network, rows: pd.DataFrame
) -> Faithfulness:
    """Fit a decision set and measure it."""
    from cpx.models.decision_set import ActiveDecisionSet

    start = time.process_time()
    model.fit(rows, network.classifier)
    seconds = time.process_time() - start
    lengths = [len(rule) for rule in model.rules_] or [0]
    active = isinstance(model, ActiveDecisionSet)
    steps = model.history_ if isinstance(model, ActiveDecisionSet) else ()
    return faithfulness(
        title,
        np.asarray(model.predict(network.test_rows), dtype=bool),
        network.test_labels,
        rules=len(model.rules_),
        conditions=float(np.mean(lengths)),
        longest=max(lengths),
        queries=model.queries_,
        seconds=seconds,
        separated=fmean(step.separated for step in steps) if steps else None,
        trained=faithfulness("", *_labels(model, rows)).f1 if active else None,
    )
