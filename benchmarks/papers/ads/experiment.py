"""The experiment of Lu and Ester, section 5: a decision set for a neural network on Adult."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cpx.support.validation import positive_integer, valid_seed

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.papers.ads.network import Network
    from cpx.methods.active import ActiveDecisionSet
    from cpx.methods.active.decision_set import DecisionSet

__all__ = ["ADS", "PUBLISHED", "Faithfulness", "Settings", "faithfulness", "means", "surrogates"]

ADS = "ADS"
UNASKED = "ADS, beta = 0"

PER_RULE = 10
"""What ADS pays for a rule is the price of so many bounds and values."""

Labels = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Faithfulness:
    """How faithful a surrogate is to a black box on test rows, and how simple.

    Attributes
    ----------
    name : str
    accuracy, f1, recall, precision : float
        Of the surrogate's labels, those of the black box being the truth.
    rules, conditions, longest : float or None
        Number of rules, their mean and their greatest number of conditions.
    queries : float or None
        Synthetic instances that the black box was asked about; None where that is not told.
    seconds : float or None
        Processor time.
    separated : float or None
        Of ADS, the share of iterations that ended because the bounds of the best action were
        separated from those of the others, not at a limit on queries.
    spread : float or None
        Standard deviation of F1 over the splits.
    lead, error : float or None
        By how much F1 is greater than that of ADS on the same split, on average, and the
        standard error of this mean.
    """

    name: str
    accuracy: float
    f1: float
    recall: float
    precision: float
    rules: float | None = None
    conditions: float | None = None
    longest: float | None = None
    queries: float | None = None
    seconds: float | None = None
    separated: float | None = None
    spread: float | None = None
    lead: float | None = None
    error: float | None = None


# Lu, Ester: An Active Approach for Model Interpretation (arXiv:1910.12207), the two tables of
# section 5.
PUBLISHED = (
    Faithfulness(ADS, 0.897, 0.741, 0.688, 0.803, 24, 4.375, 6),
    Faithfulness(UNASKED, 0.884, 0.690, 0.602, 0.809, 29, 2.413, 4, 0),
    Faithfulness("ADS+, beta = 0", 0.895, 0.735, 0.678, 0.802, 28, 2.928, 4),
    Faithfulness("BRS+", 0.882, 0.709, 0.666, 0.757, 57, 3.859, 5),
    Faithfulness("SP-Anchor", 0.807, 0.205, 0.116, 0.877, 24, 7.875, 12),
    Faithfulness("DT-Extract", 0.829, 0.357, 0.221, 0.924, 24, 5.375, 8),
    Faithfulness("CART", 0.910, 0.797, 0.820, 0.775, 4406, 8.869, 12, 0),
    Faithfulness("random forest", 0.929, 0.824, 0.773, 0.882, 44687, 9.571, 12, 0),
)
"""The figures of the paper; CART and forest are those without synthetic instances, and a plus
means that as many were added before learning as ADS generates."""


@dataclass(frozen=True)
class Settings:
    """Parameters of the reproduction.

    Attributes
    ----------
    penalty, beta : float
        Of :class:`~cpx.methods.active.ActiveDecisionSet`.
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

    def __post_init__(self) -> None:
        positive_integer("runs", self.runs)
        positive_integer("epochs", self.epochs)
        if self.rows is not None:
            positive_integer("rows", self.rows)
        valid_seed(self.seed)


def faithfulness(name: str, ours: Labels, theirs: Labels, **more: float | None) -> Faithfulness:
    """Compare the labels of a surrogate with those of the black box.

    Examples
    --------
    >>> ours, theirs = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    >>> found = faithfulness("mine", ours, theirs)
    >>> found.accuracy, found.f1, found.recall, found.precision
    (0.5, 0.5, 0.5, 0.5)
    """
    both, said, true = int((ours & theirs).sum()), int(ours.sum()), int(theirs.sum())
    return Faithfulness(
        name,
        float((ours == theirs).mean()),
        2 * both / (said + true) if said + true else 0.0,
        both / true if true else 0.0,
        both / said if said else 0.0,
        **more,
    )


def surrogates(network: Network, settings: Settings, seed: int) -> Iterator[Faithfulness]:
    """Yield the figures of one surrogate of a network after the other.

    First the label that most rows have; then CART and a random forest, which say how hard the
    network is to imitate; then decision sets, without queries and with them. Learned
    ones get no more rules than ADS has, with queries or without, where it has fewer.
    """
    nothing = np.zeros(len(network.test_labels), dtype=bool)
    yield faithfulness("no rule", nothing, network.test_labels, rules=0, queries=0)
    for name, title in (("tree", "CART"), ("forest", "random forest")):
        yield _yardstick(name, title, network, seed)
    rows = network.train_rows
    if settings.rows is not None and settings.rows < len(rows):
        rows = rows.sample(settings.rows, random_state=seed).reset_index(drop=True)
    unasked = _active(settings, seed, beta=0.0)
    yield _imitation(UNASKED, unasked, network, rows)
    # What Dinkelbach's method weighs for the F1 score that has been reached.
    score = faithfulness("", *_labels(unasked, rows)).f1
    weighted = _active(settings, seed, beta=0.0, weight=(2 - score) / score if score else 1.0)
    yield _imitation("ADS, weights for F1", weighted, network, rows)
    active = _active(settings, seed, beta=settings.beta)
    yield _imitation(ADS, active, network, rows)
    most = max(1, min(len(unasked.rules_), len(active.rules_)))
    for title, model in _learners(settings, seed, most, len(rows)):
        yield _imitation(title, model, network, rows)


def means(runs: Sequence[Sequence[Faithfulness]]) -> list[Faithfulness]:
    """Return for each surrogate its means over splits, with its lead over ADS."""
    theirs = next(
        (np.array([one.f1 for one in same]) for same in zip(*runs) if same[0].name == ADS), None
    )
    return [_mean(list(same), theirs) for same in zip(*runs, strict=True)]


def _active(settings: Settings, seed: int, beta: float, weight: float = 1.0) -> ActiveDecisionSet:
    from cpx.methods.active import ActiveDecisionSet

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
    from cpx.methods.active import ExactDecisionSet, LearnedDecisionSet

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


def _yardstick(name: str, title: str, network: Network, seed: int) -> Faithfulness:
    from cpx.data.classifiers import named_classifier

    start = time.process_time()
    surrogate = named_classifier(name, seed).fit(network.train_rows, network.train_labels)
    seconds = time.process_time() - start
    last = surrogate[-1]
    trees = [one.tree_ for one in getattr(last, "estimators_", [last])]
    # A rule is a leaf of the positive class.
    positive = sum(
        int(((tree.children_left < 0) & (tree.value[:, 0].argmax(axis=1) == 1)).sum())
        for tree in trees
    )
    ours = np.asarray(surrogate.predict(network.test_rows), dtype=bool)
    return faithfulness(
        title, ours, network.test_labels, rules=positive, queries=0, seconds=seconds
    )


def _labels(model: DecisionSet, rows: pd.DataFrame) -> tuple[Labels, Labels]:
    """Return what a decision set and the black box call the rows that it was learned from."""
    theirs = np.asarray(model.labels_ == model.classes_[1], dtype=bool)
    return np.asarray(model.predict(rows), dtype=bool), theirs


def _imitation(
    title: str, model: DecisionSet, network: Network, rows: pd.DataFrame
) -> Faithfulness:
    from cpx.methods.active import ActiveDecisionSet

    start = time.process_time()
    model.fit(rows, network.classifier)
    seconds = time.process_time() - start
    lengths = [len(rule) for rule in model.rules_] or [0]
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
    )


def _mean(runs: list[Faithfulness], theirs: FloatArray | None) -> Faithfulness:
    """Return the means over splits, the spread of F1, and its lead over theirs."""
    kept = ("name", "spread", "lead", "error")
    fields = [f for f in Faithfulness.__dataclass_fields__ if f not in kept]
    told = {f: [getattr(run, f) for run in runs] for f in fields}
    found: dict[str, Any] = {
        f: None if None in values else float(np.mean(values)) for f, values in told.items()
    }
    scores = np.array([run.f1 for run in runs])
    lead = None
    if theirs is not None and runs[0].name != ADS:
        lead = scores - theirs
        found["lead"] = float(lead.mean())
    if len(runs) > 1:
        found["spread"] = float(scores.std(ddof=1))
        if lead is not None:
            found["error"] = float(lead.std(ddof=1) / np.sqrt(len(runs)))
    return Faithfulness(runs[0].name, **found)
